/* SPDX-License-Identifier: MIT */
/* Fetching memory that updates will read into the cache, while those before them are worked on. */
#ifndef FIB_AHEAD_H
#define FIB_AHEAD_H

#include "fib_internal.h"

enum { FIB_N_AHEAD = 32 }; /* a power of two above the entries that are fetched ahead, but names */

/* Fetches one entry more than the call for entry i - 1 did. Entries are `stride` bytes apart. */
void fib_ahead_fetch(const struct sl_fib *fib, const void *entries, size_t stride, size_t n,
                     size_t i, struct fib_ahead ahead[FIB_N_AHEAD]);

#endif
