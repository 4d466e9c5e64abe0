/* SPDX-License-Identifier: MIT */
/* Runs of packets of one flow. Any thread reads them before flows are tracked in order. */
#ifndef DISSECT_FLOW_RUNS_H
#define DISSECT_FLOW_RUNS_H

#include "flow_table.h"
#include "sluice/dissect.h"

/* Packets, or runs of them, that are fetched from memory ahead of their use. */
enum { FLOW_BLOCK = 16 };

enum {
    FLOW_TCP_FIN = 0x01,
    FLOW_TCP_SYN = 0x02,
    FLOW_TCP_RST = 0x04,
    FLOW_TCP_ACK = 0x10,
    FLOW_TCP_URG = 0x20,
    FLOW_TCP_ENDS = FLOW_TCP_SYN | FLOW_TCP_FIN | FLOW_TCP_RST
};

/* A run: packets of one flow, or of none, that follow one another in a batch. It has their common
 * properties, and the result of tracking. */
struct flow_run {
    _Alignas(64) struct flow_key key;
    uint32_t hash;
    uint32_t first, end; /* items */
    uint8_t protocol;
    uint8_t senders; /* bit n: end n of the key sent some */
    bool has_flow : 1;
    bool plain : 1;             /* none is a TCP segment with SYN, FIN or RST */
    bool is_new : 1;            /* tracking: the first began the flow */
    bool one_by_one : 1;        /* tracking: they were tracked one by one */
    uint8_t new_senders : 2;    /* tracking: those of `senders` that had sent none before; 0 where
                                   packets were tracked one by one */
    uint8_t tcp_flags[2];       /* of all packets of an end together */
    uint8_t flags[2];           /* tracking: flow_flags, by sender */
    uint32_t n_of_end_1;        /* packets that end 1 of the key sent */
    uint64_t bytes[2];          /* on the wire, of packets of an end */
    int64_t min_time, max_time; /* of known times; 0: no time is known */
    uint64_t flow;              /* tracking: of all packets, unless they were tracked one by one */
};

_Static_assert(sizeof(struct flow_run) == 128, "a run is no more than two cache lines");

/* A flow that ended, as it was. */
struct flow_end {
    struct flow flow;
    int64_t time;   /* the clock then */
    uint32_t item;  /* the packet whose time, or whose flow, ended it */
    uint32_t entry; /* of the flow in its shard */
    enum sl_flow_reason reason;
    struct flow_settled settled; /* settling */
};

/* Facts that a packet adds to its flow when it is settled. */
struct flow_mark {
    struct sl_flow_mark mark;
    uint32_t entry; /* the flow's in its shard */
};

/* An end in the order of ends. */
struct flow_order {
    int64_t first_ns;
    uint64_t id;
    const struct flow_end *end;
    uint32_t item;
};

struct flow_ends {
    struct flow_end *end;
    size_t n, max;
    bool no_memory; /* for some of them */
};

struct sl_flow_keys {
    struct flow_run *run;
    struct flow_clock *before;     /* each run, as flow_clock_before has it: who searches for a time
                                      touches few cache lines */
    struct sl_flow_packet *packet; /* of items, from first_item on */
    uint32_t n_runs;
    uint32_t first_item;
    int64_t min_time, max_time; /* of the runs' */
    bool goes_back; /* a time is further before an earlier packet's than flows are kept */

    /* The runs with a flow, by shard: those of shard s are by_shard[first_of[s]] and following. */
    uint8_t *shard; /* of each run; FLOW_SHARDS_MAX where it has no flow */
    uint32_t *by_shard;
    uint32_t first_of[FLOW_SHARDS_MAX + 1];

    /* Dealt: */
    struct flow_clock begin, after; /* the clock before the batch, and after it */
    bool set_back;                  /* a packet of the batch sets the clock back */

    struct sl_flow_stats added[FLOW_SHARDS_MAX]; /* tracking: what the batch added to a shard's */

    /* The flows that ended, by shard; in their order once they are sorted. */
    struct flow_ends ends[FLOW_SHARDS_MAX];
    struct flow_order *sorted;
    size_t n_sorted, max_sorted;

    /* The marks of packets, as runs are by shard. */
    struct flow_mark *mark;
    uint32_t first_mark[FLOW_SHARDS_MAX + 1];
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
