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
    uint64_t before;  /* bytes of a stream that are before it; 0: of other buffers */
    bool is_open;     /* more of it comes: its end and its length are not known */
    bool is_little;   /* of a call of DCERPC: the lowest byte of its numbers comes first */
    uint32_t max_len; /* that there is room for */
    uint32_t *cursor; /* room for RULE_CURSORS(len) */
    uint64_t *marks;  /* room for RULE_MARKS(len) */
    uint64_t *starts; /* the same: where matches of the step at hand may begin */
};

/* The cursors that are possible: sorted, distinct. */
struct rule_cursors {
    uint32_t *at;
    uint32_t n;
    bool marked; /* they are many: marks of the scan, and not at `at` */
};

/* Makes room for buffers of len bytes. False: no memory. A zeroed scan has none. */
bool rule_scan_reserve(struct rule_scan *scan, uint32_t len);

void rule_scan_free(struct rule_scan *scan);

/* Positions are marked in any order, 0 to len, and taken sorted. `at` has room for len + 1. */
void rule_scan_clear_marks(struct rule_scan *scan);
struct rule_cursors rule_scan_take_marks(const struct rule_scan *scan, uint32_t *at);

/* The first place of `starts` from `at` on that is before `end`; `end`: there is none. */
uint32_t rule_scan_next_start(const struct rule_scan *scan, uint32_t at, uint32_t end);

static inline void rule_scan_mark(struct rule_scan *scan, uint32_t position)
{
    scan->marks[position / 64] |= UINT64_C(1) << position % 64;
}

#endif
