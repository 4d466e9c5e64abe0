/* SPDX-License-Identifier: MIT */
/* Memory of batches that is pinned while a run's tables are made: pinning takes longer than they
 * do, and GPUs and cores would wait for it when the run begins. */
#ifndef RUN_PINNING_H
#define RUN_PINNING_H

#include <pthread.h>
#include <stdatomic.h>

#include "sluice/pipeline.h"

enum { RUN_PINNING_THREADS_MAX = 4 /* more do not pin faster */ };

/* Zeroed at first. */
struct run_pinning {
    uint32_t device;           /* of the first GPU */
    size_t piece_len;          /* bytes that are pinned at a time */
    _Atomic uint32_t n_pieces; /* to be pinned */
    unsigned n_threads;
    pthread_t thread[RUN_PINNING_THREADS_MAX];
};

/* Begins to pin memory for the batches of `len` bytes of input, at most as many as most runs
 * have in flight, and at most 1 GiB. Without a GPU it does nothing. */
void run_pinning_begin(struct run_pinning *pinning, const struct sl_pipeline_config *pipeline,
                       uint64_t len);

/* The batches are made now: no further piece is begun. */
void run_pinning_stop(struct run_pinning *pinning);

/* Waits for the threads. Frees what no batch has taken. */
void run_pinning_end(struct run_pinning *pinning);

#endif
