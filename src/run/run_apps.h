/* SPDX-License-Identifier: MIT */
/* Application protocols of a run: the messages of flows, batch by batch. */
#ifndef RUN_APPS_H
#define RUN_APPS_H

#include <pthread.h>

#include "late_packets.h"
#include "run_flow.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

enum { RUN_SHARDS_MAX = 64 };

/* The flows that are read. */
struct run_apps {
    struct app_shard *shards;
    uint32_t n_shards;
    bool reads_quic;

    pthread_mutex_t lock; /* guards: */
    struct sl_app_stats stats;
};

/* For the flows of this table, which keeps ends. SL_ENOMEM. */
enum sl_status run_apps_create(struct run_apps **out, const struct sl_flow_table *flows,
                               const struct app_config *config, struct sl_diag *diag);
void run_apps_free(struct run_apps *apps); /* accepts NULL */

/* Packets that stand for flows that ended. */
struct late_rules {
    struct late_packets packets; /* in one part */
    struct sl_batch *batch;      /* NULL: none was made so far */
    struct sl_late late;         /* for an evaluator; its batch is NULL where there are none */
    uint32_t *before;
};

/* The messages of a batch. Zeroed at first. */
struct app_batch {
    struct sl_app_message *message; /* in the order of items */
    struct late_message *late;      /* in the order of items */
    uint32_t n, max, n_late, max_late;
    struct late_rules rules; /* the packets that rules see of flows that ended */
    bool no_memory;          /* messages are missing: the caller fails with SL_ENOMEM */
    uint32_t *count;         /* of items, while they are listed */
    uint32_t max_items;
    struct app_output shard[RUN_SHARDS_MAX];
};

void app_batch_clear(struct app_batch *mine);

/* Collecting a shard of a batch, whose flows are these. One thread a shard. */
struct app_collecting {
    struct app_shard *shard;
    struct run_flow *of_flow; /* by entry */
    struct app_output *output;
    struct sl_batch *batch;
    bool reads_quic;
};

struct app_collecting app_batch_begin(struct app_batch *mine, const struct run_apps *apps,
                                      struct run_flow *of_flow, struct sl_batch *batch,
                                      uint32_t shard);

/* All of the batch is collected. */
void app_batch_collected(const struct app_collecting *mine);

/* Takes the records of streams from `from` on, which a packet of this flow, or its end, brought
 * about. `late`: see late_message. */
void app_batch_take(const struct app_collecting *mine, const struct stream_output *streams,
                    uint32_t from, uint64_t flow, const struct late_flow *late);

/* Behind the records of a segment: which sides are over, and the packet's protocol. */
void app_batch_segment(const struct app_collecting *mine, const struct sl_flow_segment *seen,
                       const struct stream *stream);

/* Behind it: the protocols of its sides. A side that was found is told with the first packet of its
 * sender from then on. */
void app_batch_sides(const struct app_collecting *mine, const struct sl_flow_segment *seen,
                     struct sl_stream_facts *facts);

void app_batch_datagram(const struct app_collecting *mine, const struct sl_flow_segment *seen);

/* Whether a flow that ended may have something to say. */
bool app_batch_may_speak(const struct app_collecting *mine, const struct sl_flow_ended *ended);

/* The flow ended, and its last records were taken. Notes its protocols, unless `late` is NULL. */
void app_batch_end(const struct app_collecting *mine, const struct sl_flow_ended *ended,
                   struct late_flow *late);

/* Lists the messages, once all shards were collected. */
void app_batch_apply(struct app_batch *mine, const struct sl_batch *batch, uint32_t n_shards);

/* Behind it: makes packets of these flows that ended, for rules. */
void app_batch_stand_in(struct app_batch *mine, struct late_flow *const *flow, uint32_t n_flows,
                        bool has_totals);

/* Appends made items to `to`, as sl_app_make does: values that belong to one of `buffers` where a
 * message says them first, and what it adds to a body. One item serves values of a head that lie in
 * another. Those of late messages have the items of their packets behind the n_items of the batch.
 */
uint64_t app_batch_make(const struct app_batch *mine, struct sl_batch *to, uint32_t n_items,
                        uint32_t buffers, uint64_t from);

/* Draining: adds the counts of the batch. */
void app_batch_count(const struct app_batch *mine, struct run_apps *apps);

/* The counters so far; zeros where `apps` is NULL. Any thread. */
void run_apps_snapshot(struct run_apps *apps, struct sl_app_stats *stats);

#endif
