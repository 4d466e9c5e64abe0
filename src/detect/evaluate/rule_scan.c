/* SPDX-License-Identifier: MIT */
#include "rule_scan.h"

#include <stdlib.h>
#include <string.h>

bool rule_scan_reserve(struct rule_scan *scan, uint32_t len)
{
    if (scan->cursor != NULL && len <= scan->max_len)
        return true;
    rule_scan_free(scan);
    scan->cursor = malloc(RULE_CURSORS(len) * sizeof *scan->cursor);
    scan->marks = malloc(RULE_MARKS(len) * sizeof *scan->marks);
    scan->starts = malloc(RULE_MARKS(len) * sizeof *scan->starts);
    if (scan->cursor == NULL || scan->marks == NULL || scan->starts == NULL) {
        rule_scan_free(scan);
        return false;
    }
    scan->max_len = len;
    return true;
}

void rule_scan_free(struct rule_scan *scan)
{
    free(scan->cursor);
    free(scan->marks);
    free(scan->starts);
    *scan = (struct rule_scan){0};
}

void rule_scan_clear_marks(struct rule_scan *scan)
{
    memset(scan->marks, 0, RULE_MARKS(scan->len) * sizeof *scan->marks);
}

struct rule_cursors rule_scan_take_marks(const struct rule_scan *scan, uint32_t *at)
{
    struct rule_cursors cursors = {.at = at};

    for (size_t i = 0; i < RULE_MARKS(scan->len); i++)
        for (uint64_t left = scan->marks[i]; left != 0; left &= left - 1)
            at[cursors.n++] = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(left);
    return cursors;
}

uint32_t rule_scan_next_start(const struct rule_scan *scan, uint32_t at, uint32_t end)
{
    while (at < end) {
        const uint64_t left = scan->starts[at / 64] >> at % 64;

        if (left != 0) {
            at += (uint32_t)__builtin_ctzll(left);
            break;
        }
        at += 64 - at % 64;
    }
    return at < end ? at : end;
}
