/* SPDX-License-Identifier: MIT */
/* The entries of a new table in an order that brings those together that share nodes and places.
 * Memory that planting one fetched into the cache serves the next. */
#ifndef FIB_GROUPS_H
#define FIB_GROUPS_H

#include "fib_tree.h"

struct fib_groups {
    struct sl_fib_entry *entries; /* equal names in the order that they had */
    uint8_t *bytes;               /* of their names */
    size_t n, bytes_len;
    size_t entries_forgotten, bytes_forgotten; /* bytes */
};

/* SL_EINVAL: the fault of the first bad entry, diag->line is its index + 1. SL_ENOMEM. */
enum sl_status fib_groups_make(struct fib_groups *groups, const struct fib_tree *tree,
                               const struct sl_fib_entry *entries, size_t n, struct sl_diag *diag);

/* The first n entries and their names are needed no more. The tree grows by their memory, so the
 * system need not clear other memory for it. */
void fib_groups_forget(struct fib_groups *groups, size_t n);

void fib_groups_free(struct fib_groups *groups);

#endif
