/* SPDX-License-Identifier: MIT */
/* Names that lie across segments of TCP. Where a name is cut off, the bytes of its stream are kept
 * from that segment on until the name is whole. They become a packet of a batch of their own, and
 * its names are looked up.
 *
 * Per stream at most NAME_JOINED_MAX bytes and NAME_SEGMENTS_MAX segments are kept, and per shard
 * NAME_BLOCKS blocks of NAME_BLOCK_LEN bytes. A name beyond is not found, nor one whose segments
 * waited for others before them. The kept bytes follow from segments alone. */
#ifndef RUN_NAME_SEGMENTS_H
#define RUN_NAME_SEGMENTS_H

#include "app/app_arena.h"
#include "run_apps.h"
#include "sluice/packet_names.h"

enum { NAME_JOINED_MAX = 16384, NAME_SEGMENTS_MAX = 64, NAME_BLOCKS = 1024, NAME_BLOCK_LEN = 252 };
_Static_assert((int)NAME_BLOCKS - 1 <= UINT16_MAX, "see name_side");

struct name_shard;

/* The streams of all flows. */
struct run_names {
    struct name_shard *shard;
    uint32_t n_shards;
};

/* For the flows of this table. SL_ENOMEM. */
enum sl_status run_names_create(struct run_names **out, const struct sl_flow_table *flows,
                                struct sl_diag *diag);
void run_names_free(struct run_names *names); /* accepts NULL */

/* Bytes that were joined. */
struct name_joined {
    struct name_joined *next;
    uint32_t item; /* the packet that made a name whole */
    uint32_t from; /* offset: names before it were found before */
    uint32_t len;
    uint32_t nth;  /* of its shard */
    bool reversed; /* the receiver of the packet sent them */
    uint8_t bytes[];
};

/* Those of a shard. */
struct name_output {
    struct app_arena arena;
    struct name_joined *first, **last;
    uint32_t n;
    uint64_t len; /* of all */
    bool no_memory;
};

/* Those of a batch. Zeroed at first. */
struct name_batch {
    struct name_output shard[RUN_SHARDS_MAX];
    const struct name_joined **joined; /* in the order of packets */
    uint32_t n, max;
    struct sl_batch *batch; /* a packet each; NULL: none was made so far */
    struct sl_hits hits;    /* in it, sorted */
    struct sl_hits others;  /* hits in the packets as they are, but for those that made names whole,
                               as what was joined has all of their names; valid where n is not 0 */
    void *context;          /* of the engine, for batches like this */
};

void name_batch_clear(struct name_batch *mine);

/* Collecting a shard, whose flows are these. One thread a shard. */
struct name_collecting {
    struct name_shard *shard;
    struct run_flow *of_flow; /* by entry */
    struct name_output *output;
    const struct sl_batch *batch;
};

struct name_collecting name_batch_begin(struct name_batch *mine, const struct run_names *names,
                                        struct run_flow *of_flow, const struct sl_batch *batch,
                                        uint32_t shard);

/* Takes the records of streams from `from` on, which this segment brought about. */
void name_batch_take(const struct name_collecting *mine, const struct stream_output *streams,
                     uint32_t from, const struct sl_flow_segment *seen);

/* The flow ended. */
void name_batch_end(const struct name_collecting *mine, uint32_t entry);

/* Digesting: looks the names up. `hits` are those in the packets as they are. SL_ENOMEM. */
enum sl_status name_batch_look_up(struct name_batch *mine, const struct sl_batch *batch,
                                  const struct sl_hits *hits,
                                  const struct sl_packet_names_watch *watch, uint32_t n_shards,
                                  struct sl_diag *diag);

#endif
