/* SPDX-License-Identifier: MIT */
/* The names of a packet's message, as buffers of rules. */
#ifndef DETECT_EVALUATE_NAMES_H
#define DETECT_EVALUATE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name in the text, with a period before it. */
struct rule_name {
    uint32_t buffers; /* SL_BUFFER_* */
    uint32_t at, len; /* bytes, with the period */
};

/* Zeroed at first; rule_names_free at last. It grows to the largest message. */
struct rule_names {
    struct rule_name *name;
    size_t n, cap;
    uint8_t *text;
    size_t text_len, text_cap;
};

/* Reads the names of a DNS message. False: no memory. */
bool rule_names_read(struct rule_names *names, const uint8_t *message, uint32_t len);

void rule_names_free(struct rule_names *names);

#endif
