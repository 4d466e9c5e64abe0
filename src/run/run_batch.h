/* SPDX-License-Identifier: MIT */
/* The state of each batch of a run; batch->filler leads to it. */
#ifndef RUN_BATCH_H
#define RUN_BATCH_H

#include "run_digest.h"
#include "run_redundancy.h"
#include "run_streams.h"
#include "source_batch.h"
#include "virus_segments.h"

struct run_batch {
    struct run_batch *next;
    struct source_batch source;
    struct stream_batch streams;
    struct app_batch apps;
    struct run_policy *policy; /* held from the moment the batch is filled until it is drained */
    struct run_digest *digest; /* NULL: none of this batch was digested yet */
    struct virus_batch viruses;
    struct run_savings savings;
};

/* The batch's own record; *all leads to those that were made. NULL: no memory. */
struct run_batch *run_batch_of(struct run_batch **all, struct sl_batch *batch,
                               struct sl_diag *diag);

/* Frees all, and releases the parts of captures that they hold. */
void run_batch_free(struct run_batch *all, struct run_source *source);

#endif
