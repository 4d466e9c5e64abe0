/* SPDX-License-Identifier: MIT */
/* Names that come at a given rate. */
#ifndef BENCH_FIB_STREAM_H
#define BENCH_FIB_STREAM_H

#include "bench_fib.h"

/* The latency of look-ups at 300 million names a second, on several numbers of cores. `trace` is
 * the average one in one batch. False: an error was printed. */
bool fib_stream_rows(const struct fib_bench *fib, const struct bench_data *trace,
                     const struct sl_fib_backend *backend);

#endif
