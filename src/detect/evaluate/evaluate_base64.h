/* SPDX-License-Identifier: MIT */
/* Base64 in a buffer, for the steps that inspect the decoded bytes. */
#ifndef DETECT_EVALUATE_BASE64_H
#define DETECT_EVALUATE_BASE64_H

#include "detect/transform/base64.h"
#include "rule_work.h"

/* A text in a buffer. */
struct base64_text {
    const uint8_t *at;
    uint32_t len; /* 0: there is none */
    enum base64_mode mode;
};

/* The text that a step of RULE_BASE64 is about, from a cursor on. */
struct base64_text rule_base64_find(const struct rule_bytes *base64, const struct rule_scan *scan,
                                    uint32_t cursor);

/* Decodes a text. False: it holds no byte, or there is no memory. */
bool rule_base64_decode(struct base64_text text, struct rule_decoded *decoded);

#endif
