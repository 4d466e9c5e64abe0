/* SPDX-License-Identifier: MIT */
/* Any engine's backend over data: its hits counted, then its rate. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "bench/data/bench_data.h"
#include "bench/frame/row.h"

/* A backend of an engine over data. */
struct bench_work {
    const struct sl_backend *backend;
    const void *table;
    const struct bench_data *data;
    int device;
    unsigned n_threads; /* contexts side by side: 1, or on a CPU more */
    double units;       /* of one pass over the data */
    bool stays;         /* GPU: hits stay there, and its clock is read, not the host's */
    unsigned n_streams; /* GPU: batches in flight; 0: 8, or one where they lie there */

    /* Not 0: the room for a batch's hits; a batch with more loses the others, and its status is
     * an overflow. 0: room for all. */
    uint32_t max_hits;

    /* Called with each batch's hits, or NULL. With one thread only. */
    void (*consume)(void *user, const struct sl_batch *batch, const struct sl_hits *hits);
    void *user;
};

struct bench_result {
    struct bench_rate rate; /* units a second */
    uint64_t hits;          /* of one pass */
    char why[320];          /* not "": the reason why it was not run */
};

/* Counts the hits first, and measures with room for them. False: an error was printed. */
bool bench_run(const struct bench_frame *frame, const struct bench_work *work,
               struct bench_result *result);

/* Runs it and prints the row, or why there is none (result->why). `like` has the row's names, unit
 * and the link's rates. The ceilings are the link's rates for the data beside alignment and
 * columns. False: an error was printed. */
bool bench_run_row(const struct bench_frame *frame, const struct bench_work *work,
                   const struct bench_row *like, struct bench_result *result);

/* The same on each of n numbers of cores, in turn within each run. results[0].why, if not "", is
 * the reason why none of them was run. */
bool bench_run_on_cores(const struct bench_frame *frame, const struct bench_work *work,
                        const unsigned *cores, unsigned n, struct bench_result *results);

#endif
