/* SPDX-License-Identifier: MIT */
/* Names that come at a given rate. */
#ifndef BENCH_FIB_STREAM_H
#define BENCH_FIB_STREAM_H

#include "bench_fib.h"

/* How long names wait for their answers when 300 million come each second, on several numbers of
 * cores. `trace` is the average one in one batch. False: said. */
bool fib_stream_rows(const struct fib_bench *fib, const struct bench_data *trace,
                     const struct sl_fib_backend *backend);

#endif
