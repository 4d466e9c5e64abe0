/* SPDX-License-Identifier: MIT */
/* Look-ups of names as an sl_backend, so that they are measured as engines are. */
#ifndef BENCH_LOOKUPS_BACKEND_H
#define BENCH_LOOKUPS_BACKEND_H

#include "sluice/engine.h"
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

#endif
