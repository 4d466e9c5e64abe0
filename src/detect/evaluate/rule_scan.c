/* SPDX-License-Identifier: MIT */
#include "rule_scan.h"

#include <stdlib.h>

bool rule_scan_reserve(struct rule_scan *scan, uint32_t len)
{
    const size_t room = (size_t)len + 1;

    if (scan->folded != NULL && len <= scan->max_len)
        return true;
    rule_scan_free(scan);
    scan->folded = malloc(room);
    scan->cursor[0] = malloc(room * sizeof(uint32_t));
    scan->cursor[1] = malloc(room * sizeof(uint32_t));
    if (scan->folded == NULL || scan->cursor[0] == NULL || scan->cursor[1] == NULL) {
        rule_scan_free(scan);
        return false;
    }
    scan->max_len = len;
    return true;
}

void rule_scan_free(struct rule_scan *scan)
{
    free(scan->folded);
    free(scan->cursor[0]);
    free(scan->cursor[1]);
    *scan = (struct rule_scan){0};
}
