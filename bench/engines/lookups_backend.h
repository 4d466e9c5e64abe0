/* SPDX-License-Identifier: MIT */
/* What has no sl_backend of its own, as one: so that it is measured as engines are. */
#ifndef CLI_BENCH_ADAPTERS_H
#define CLI_BENCH_ADAPTERS_H

#include "bench.h"
#include "sluice/fib.h"

/* Look-ups of names: a hit is a name that a prefix matches. Its address is the table of `backend`;
 * fib outlives it. */
struct bench_lookups {
    struct sl_backend backend;
    const struct sl_fib_backend *real;
    struct sl_fib_table *table;
};

void bench_lookups_init(struct bench_lookups *lookups, const struct sl_fib_backend *real,
                        struct sl_fib *fib);

/* zstd over each batch's bytes, a frame each: as many hits as compressed bytes. The table is the
 * level, an int. */
extern const struct sl_backend bench_zstd;

#endif
