/* SPDX-License-Identifier: MIT */
/* The bench of the whole machine: ceilings, engines alone, all of them together, peers. */
#ifndef BENCH_WHOLE_H
#define BENCH_WHOLE_H

#include "bench_ceilings.h"
#include "bench_pipeline.h"
#include "contenders.h"
#include "work.h"

/* State that all its rows share. */
struct bench_whole {
    const struct bench *bench;
    bool all; /* else the parts of the one transfer, on the GPU alone where there is one */
    struct bench_ceilings ceilings;
    struct bench_data packets; /* on the host, in batches as a run has them */
    struct bench_data pinned;  /* GPU: the same in batches that it is given, */
    struct bench_data small;   /* and in smaller ones, for latency */
    struct bench_data
        sample; /* the training data of a run; its batch is NULL where there is none */
    struct bench_engine engines[SL_PIPELINE_ENGINES_MAX]; /* those of one transfer, on the CPU */
    struct bench_engine on_gpu[SL_PIPELINE_ENGINES_MAX];
    unsigned n_engines, n_on_gpu;
};

/* bench_whole_rows.c: a row for each number of cores, of an engine or a peer over data on the host.
 * *hits, if not NULL, is the number of its hits. False: an error was printed. */
bool bench_whole_rows(const struct bench_whole *whole, const struct bench_work *work,
                      const char *what, const char *variant, enum bench_role role, uint64_t *hits);

/* "VARIANT, 2 cores". */
void bench_name_cores(char text[96], const char *variant, unsigned cores);

/* bench_together.c: all engines on one transfer. False: an error was printed. */
bool bench_whole_together(const struct bench_whole *whole);

/* bench_peers.c: other programs over the same data. False: an error was printed. */
bool bench_peers(const struct bench_whole *whole);

#endif
