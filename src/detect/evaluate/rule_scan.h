/* SPDX-License-Identifier: MIT */
/* A buffer while a rule walks over it. */
#ifndef DETECT_RULE_SCAN_H
#define DETECT_RULE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULE_CURSORS(len) (4 * ((size_t)(len) + 1))
#define RULE_MARKS(len) ((size_t)(len) / 64 + 1)

/* A payload, or another buffer, and working memory for it. */
struct rule_scan {
    const uint8_t *payload;
    uint32_t len;
    uint32_t max_len; /* that there is room for */
    bool is_folded;
    uint8_t *folded;  /* room for len bytes: the payload in lower case, once it was asked for */
    uint32_t *cursor; /* room for RULE_CURSORS(len) */
    uint64_t *marks;  /* room for RULE_MARKS(len) */
};

/* Makes room for buffers of len bytes. False: no memory. A zeroed scan has none. */
bool rule_scan_reserve(struct rule_scan *scan, uint32_t len);

void rule_scan_free(struct rule_scan *scan);

#endif
