/* SPDX-License-Identifier: MIT */
#include "rule_scan.h"

#include <stdlib.h>

bool rule_scan_reserve(struct rule_scan *scan, uint32_t len)
{
    if (scan->folded != NULL && len <= scan->max_len)
        return true;
    rule_scan_free(scan);
    scan->folded = malloc((size_t)len + 1);
    scan->cursor = malloc(RULE_CURSORS(len) * sizeof *scan->cursor);
    scan->marks = malloc(RULE_MARKS(len) * sizeof *scan->marks);
    if (scan->folded == NULL || scan->cursor == NULL || scan->marks == NULL) {
        rule_scan_free(scan);
        return false;
    }
    scan->max_len = len;
    return true;
}

void rule_scan_free(struct rule_scan *scan)
{
    free(scan->folded);
    free(scan->cursor);
    free(scan->marks);
    *scan = (struct rule_scan){0};
}
