/* SPDX-License-Identifier: MIT */
/* TCP streams of a run: the parts that the packets of a batch add to them. */
#ifndef RUN_STREAMS_H
#define RUN_STREAMS_H

#include <pthread.h>
#include <stdatomic.h>

#include "name_segments.h"
#include "run_apps.h"
#include "run_source.h"
#include "sluice/detect.h"
#include "sluice/header.h"
#include "stream_seams.h"

/* The streams of all flows. */
struct run_streams {
    struct stream_shard *shards;
    struct run_flow **of_flow; /* of each shard: by its entries */
    struct run_flow *memory;   /* that they lie in */
    size_t memory_len;
    const struct sl_flow_table *flows;
    const struct run_hosts *hosts;
    struct run_names *names; /* NULL: no names are looked up */
    uint32_t n_shards;

    pthread_mutex_t lock; /* guards: */
    struct sl_stream_stats stats;
};

/* For the flows of this source, whose table keeps ends. Names may be looked up, and somebody may
 * look at parts, which then have the bytes before them of earlier batches. SL_ENOMEM. */
enum sl_status run_streams_create(struct run_streams **out, const struct run_source *source,
                                  bool has_names, bool has_parts, struct sl_diag *diag);
void run_streams_free(struct run_streams *streams); /* accepts NULL */

/* The end of a flow in a shard, and its records. */
struct stream_ended {
    struct stream_ended *next;
    uint32_t begin, behind;
    bool only_syn[2]; /* this half leaves nothing but bytes on its SYN: rules saw their packet */
    struct late_flow flow;
};

/* A packet whose payload waits. */
struct stream_waiting {
    struct stream_waiting *next;
    uint32_t item, entry; /* of its flow */
    uint8_t half;         /* of its sender */
};

/* The parts of a shard. */
struct stream_parts {
    struct stream_output output;
    struct sl_stream_part *part; /* one for each of its records */
    struct sl_stream_part *own;  /* memory for `max` of them, where the batch's room has none */
    uint32_t max;
    struct stream_record *record; /* once collected, valid where they are kept */
    uint64_t unevaluated;         /* bytes of flows that gave way */
    struct stream_ended *ended;   /* in their order: flows that may have something to say */
    struct stream_ended **last;   /* where the next of them belongs */
    uint32_t n_ended;
    struct stream_waiting *waiting, **last_waiting; /* in their order */
    bool no_memory;
    struct app_arena arena; /* that they lie in */
};

enum { STREAM_MAKES_AT_ONCE = 8 }; /* items that are looked at */

/* Memory that many shards at once take some of, until the next batch begins. */
struct stream_room {
    uint8_t *bytes;
    size_t len;
    _Atomic size_t used;
};

/* The parts of a batch. Zeroed at first. */
struct stream_batch {
    const struct sl_stream_part **of_item; /* see sl_evaluator_set_streams; NULL: no streams */
    uint8_t *makes; /* of each item, and of STREAM_MAKES_AT_ONCE behind the last: 0 where no made
                       item is of it */
    struct sl_stream_facts *facts; /* of each item; NULL: no rule asks */
    struct sl_stream_facts *facts_memory;
    const struct run_seams *seams; /* NULL: nobody looks at parts */
    uint32_t *before;              /* the batch's column; NULL: no engine reads it */
    uint32_t max_items, max_facts;
    struct stream_room room; /* of parts, and of records that are kept */
    bool keeps_records;
    uint8_t *copied; /* room of `copied_len` bytes for what the shards' outputs copy */
    size_t copied_len;
    struct late_flow **ended; /* in the order of late_flow_compare */
    uint32_t n_ended, max_ended;
    struct name_batch names;
    bool no_memory; /* parts are missing: the caller fails with SL_ENOMEM */
    struct stream_parts shard[RUN_SHARDS_MAX];
};

void stream_batch_clear(struct stream_batch *mine);

/* Arranging: no packet of the batch is in a stream so far. `seams`, which are lent to the batch,
 * are of those who look at parts; NULL: nobody does. Those with a table have an engine that reads
 * the batch's column `before`. Rules may ask for facts. Records are kept for those who read them
 * later. The flows' table has n_shards, in each batch as many. SL_ENOMEM. */
enum sl_status stream_batch_begin(struct stream_batch *mine, struct sl_batch *batch,
                                  const struct run_seams *seams, bool asks_facts,
                                  bool keeps_records, uint32_t n_shards, struct sl_diag *diag);

/* Collecting, after flows were tracked: lists the parts of each packet and of flows that ended, and
 * fills the batch's column `before`.
 * Segments with a wrong checksum are left out, unless `checks` is NULL. The parts that streams get
 * are given to `apps`, unless it is NULL. One thread a shard. */
void stream_batch_collect(struct stream_batch *mine, struct run_streams *streams,
                          const struct sl_batch *batch, const struct sl_flow_keys *keys,
                          const struct sl_header_table *checks, const struct app_collecting *apps,
                          uint32_t shard);

/* After the last batch: ends the streams of all flows, which are the ends of `keys`, as the end of
 * a batch without packets. `mine` gets their last parts, and `said` what flows say then, where
 * `apps` is not NULL. SL_ENOMEM. */
enum sl_status run_streams_finish(struct run_streams *streams, const struct run_apps *apps,
                                  const struct sl_flow_keys *keys, struct stream_batch *mine,
                                  struct app_batch *said, struct sl_diag *diag);

/* Once all shards were collected: whether parts are missing. */
void stream_batch_apply(struct stream_batch *mine, uint32_t n_shards);

/* Lists the flows that ended. Behind it. */
void stream_batch_list_ended(struct stream_batch *mine, uint32_t n_shards);

/* Appends made items to `to`, as sl_app_make does: seams, which hold the bytes on either side of
 * the place where a part begins, unless an engine has it, and the parts that do not lie in their
 * packet. `of_item` are the first parts of a batch's items, as sl_evaluator_set_streams has them.
 * `makes` is as above; NULL: each item is looked at. Item 0 is `first` in `to`. */
uint64_t run_streams_make(const struct sl_stream_part *const *of_item, const uint8_t *makes,
                          const struct sl_batch *batch, const struct run_seams *seams,
                          uint32_t first, struct sl_batch *to, uint64_t from);

/* The first part that a packet adds in this direction. There is one. */
const struct sl_stream_part *stream_part_first(const struct sl_stream_part *part, bool reversed);

/* Whether the part lies in its packet. */
bool stream_part_in_packet(const struct sl_batch *batch, uint32_t item,
                           const struct sl_stream_part *part);

/* Nobody looks at the parts of the batch from now on. Any thread. */
void stream_batch_release(struct stream_batch *mine, uint32_t n_shards);

/* ---- counters (stream_counts.c) ---------------------------------------------------------------
 */

/* Draining: adds the counts of the batch. */
void stream_batch_count(const struct stream_batch *mine, struct run_streams *streams);

/* The counters so far; zeros where `streams` is NULL. Any thread. */
void run_streams_snapshot(struct run_streams *streams, struct sl_stream_stats *stats);

#endif
