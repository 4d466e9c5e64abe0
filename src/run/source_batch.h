/* SPDX-License-Identifier: MIT */
/* A batch of a run's source: filled or claimed as a part of a file, dissected, ordered. */
#ifndef RUN_SOURCE_BATCH_H
#define RUN_SOURCE_BATCH_H

#include "run_source.h"

/* The known facts of the packets of a batch in flight. */
struct source_batch {
    struct run_capture *capture; /* whose part the batch is, until it is joined; else NULL */
    bool is_part;                /* it was not filled in order */
    struct sl_capture_part part;
    struct sl_dissect_stats dissected;
    struct sl_flow_keys *keys;
    struct sl_flow_mark *mark; /* of packets, while they are listed */
    uint64_t bytes;            /* captured, of its packets */
    bool joins;                /* it has fragments that are joined */
    struct run_fragment_list fragments;
    struct run_datagrams made; /* packets that were not captured */
};

/* Of a zeroed struct. */
enum sl_status source_batch_init(struct source_batch *part, uint32_t max_items,
                                 struct sl_diag *diag);

/* Releases the capture whose part the batch is; the batch is in flight no more. */
void source_batch_abandon(struct source_batch *part, struct run_source *source);
void source_batch_clear(struct source_batch *part);

/* The pipeline's steps. fill: packets, or a claim on a part of a file; prepare: packets, dissected;
 * order: their place in the capture, and datagrams of fragments; arrange: these as packets; deal:
 * the clock; collect: their flows; apply: each packet's number and flow. Files that cannot be read,
 * or not to their end, are notices, and the next one follows. */
enum sl_status source_batch_fill(struct source_batch *part, struct run_source *source,
                                 struct sl_batch *batch, struct sl_diag *diag);
enum sl_status source_batch_prepare(struct source_batch *part, const struct run_source *source,
                                    struct sl_batch *batch, struct sl_diag *diag);
enum sl_status source_batch_order(struct source_batch *part, struct run_source *source,
                                  struct sl_batch *batch, struct sl_diag *diag);
void source_batch_arrange(struct source_batch *part, const struct run_source *source,
                          struct sl_batch *batch);
void source_batch_deal(const struct source_batch *part, struct run_source *source,
                       const struct sl_batch *batch);
void source_batch_collect(const struct source_batch *part, struct run_source *source,
                          struct sl_batch *batch, uint32_t shard);
void source_batch_apply(const struct source_batch *part, struct run_source *source,
                        struct sl_batch *batch);

/* Puts the flows that ended in a settled batch in order. */
enum sl_status source_batch_sort_ends(const struct source_batch *part,
                                      const struct run_source *source, struct sl_diag *diag);

#endif
