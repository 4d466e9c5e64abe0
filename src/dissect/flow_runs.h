/* SPDX-License-Identifier: MIT */
/* Runs: what any thread reads of a batch's packets before their flows are tracked in order. */
#ifndef DISSECT_FLOW_RUNS_H
#define DISSECT_FLOW_RUNS_H

#include "flow_key.h"
#include "flow_table.h"
#include "sluice/dissect.h"

/* Packets, or runs of them, that are fetched from memory ahead of their use. */
enum { FLOW_BLOCK = 16 };

enum { FLOW_TCP_FIN = 0x01, FLOW_TCP_SYN = 0x02, FLOW_TCP_RST = 0x04, FLOW_TCP_ACK = 0x10 };

/* The part of a packet's bytes that tracking needs beside its flow's key. */
struct flow_packet {
    uint32_t sequence, acknowledged; /* TCP */
    uint8_t tcp_flags;               /* 0 where it is no TCP */
    uint8_t sender;                  /* which end of the key sent it */
};

/* A run: packets of one flow, or of none, that follow one another in a batch. It has their common
 * properties, and the result of tracking. */
struct flow_run {
    struct flow_key key;
    uint32_t hash;
    uint32_t first, end; /* items */
    uint8_t protocol;
    uint8_t senders; /* bit n: end n of the key sent some */
    bool has_flow;
    bool plain;                 /* none is a TCP segment with SYN, FIN or RST */
    int64_t min_time, max_time; /* of known times; 0: no time is known */
    struct flow_clock before;   /* the clock before the run, as flow_clock_before has it */

    uint64_t flow;    /* of all packets, unless they were tracked one by one */
    uint8_t flags[2]; /* flow_flags, by sender */
    bool is_new;      /* the first began the flow */
    bool one_by_one;
};

_Static_assert(sizeof(struct flow_run) == 112, "a run is no more than two cache lines");

struct sl_flow_keys {
    struct flow_run *run;       /* aligned to a cache line */
    struct flow_packet *packet; /* of items, from first_item on */
    uint32_t n_runs;
    uint32_t first_item;
    int64_t min_time, max_time; /* of the runs' */

    /* The runs with a flow, by shard: those of shard s are by_shard[first_of[s]] and following. */
    uint8_t *shard; /* of each run; FLOW_SHARDS_MAX where it has no flow */
    uint32_t *by_shard;
    uint32_t first_of[FLOW_SHARDS_MAX + 1];

    /* Dealt: */
    struct flow_clock before, after; /* the clock before the batch, and after it */
    bool set_back;                   /* a packet of the batch sets the clock back */

    struct sl_flow_stats added[FLOW_SHARDS_MAX]; /* tracking: what the batch added to a shard's */
};

/* Items of a batch, or runs. */
struct flow_range {
    uint32_t first, end;
};

/* The block of n that begins with `first`, which may lie behind the last. */
static inline struct flow_range flow_block_at(uint32_t n, uint32_t first)
{
    const uint32_t rest = first < n ? n - first : 0;

    return (struct flow_range){first, first + (rest < FLOW_BLOCK ? rest : FLOW_BLOCK)};
}

/* Appends the runs of a range of items. The headers of the block behind it are fetched. */
void flow_keys_read_block(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                          const struct sl_batch *batch, struct flow_range range);

#endif
