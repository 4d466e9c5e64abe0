/* SPDX-License-Identifier: MIT */
/* The benchmarks, one file each. False: an error was printed. */
#ifndef BENCH_BENCHMARKS_H
#define BENCH_BENCHMARKS_H

#include "bench.h"

/* The bench of a command line without a name. */
bool bench_whole(const struct bench *bench);

/* Whether there are the engines whose variants are wanted. False: an error was printed. */
bool bench_whole_check(const struct bench *bench);

bool bench_capture(const struct bench *bench);
bool bench_flow(const struct bench *bench);
bool bench_stream(const struct bench *bench);
bool bench_stream_runs(const struct bench *bench); /* the rest of it: bench_stream_run.c */
bool bench_header(const struct bench *bench);
bool bench_mpm(const struct bench *bench);
bool bench_scan(const struct bench *bench);
bool bench_scan_trees(const struct bench *bench); /* where no file is named */
bool bench_sampling(const struct bench *bench);
bool bench_redundancy(const struct bench *bench);
bool bench_batch_encoder(const struct bench *bench); /* a part of it, for GPUs */
bool bench_runs(const struct bench *bench);
bool bench_app(const struct bench *bench);

/* Measures before this process touches a device, as its children need contexts of their own. Then
 * bench_start prints. */
bool bench_start_measure(const struct bench *bench);
bool bench_start(const struct bench *bench);

bool bench_tunnel(const struct bench *bench);
bool bench_tunnel_peers(const struct bench *bench);
bool bench_tunnel_times(const struct bench *bench);
bool bench_tunnel_losses(const struct bench *bench);
bool bench_fib(const struct bench *bench);
bool bench_packet_names(const struct bench *bench);
bool bench_all_together(const struct bench *bench);

/* The bytes of the file that crosses a thin link. */
static inline size_t bench_tunnel_len(const struct bench *bench)
{
    return bench->bytes != 0 ? bench->bytes : 60000000;
}

/* Whether this build has a sampler of this name. bench_sampling.c */
bool bench_is_sampler(const char *name);

#endif
