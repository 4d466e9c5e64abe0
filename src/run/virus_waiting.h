/* SPDX-License-Identifier: MIT */
/* What waits for later bytes of a stream: hits, and matches of packets that wait themselves. */
#ifndef RUN_VIRUS_WAITING_H
#define RUN_VIRUS_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIRUS_SIDE_MAX = 32, VIRUS_WAITING_MAX = 4096 };

/* A hit that waits for bytes of its stream; or the name of a match. */
struct virus_node {
    union {
        uint64_t end; /* offset in the stream behind the literal */
        const char *name;
    };
    uint32_t literal : 31, matches : 1; /* its body was found: an expression waits for others */
    uint32_t next;                      /* 0: none */
};

/* A flow that has nodes, or is at hand. 0: none. */
struct virus_flow {
    uint64_t flow, entry;
    uint32_t first[2]; /* of its halves: hits that wait */
    uint32_t told[2];  /* matches in packets that waited for others: nodes of their names */
    uint32_t next;     /* of its bucket, or that is free */
};

/* Of nodes and flows 0 is none, and those behind n_used were not touched so far. */
struct virus_shard {
    struct virus_node *node;
    uint32_t free, n_used, n_waiting;
    struct virus_flow *flow;
    uint32_t *bucket; /* by entry: the first of its flows */
    uint32_t free_flow, n_used_flows;
    uint64_t left_out; /* hits and parts that were not followed */
};

/* Zeroed at first. False: no memory; what there is of it is for virus_shard_close. */
bool virus_shard_open(struct virus_shard *shard);
void virus_shard_close(struct virus_shard *shard);

/* The flow of this entry; an earlier one is over. The caller lets it go. */
struct virus_flow *virus_flow_of(struct virus_shard *shard, size_t entry, uint64_t id);

/* A flow without nodes needs no memory. */
void virus_flow_let_go(struct virus_shard *shard, struct virus_flow *flow);

/* Adds a node to those of a half. NULL: there are too many. */
struct virus_node *virus_keep(struct virus_shard *shard, uint32_t *first);

/* Frees the nodes of a half. */
void virus_drop(struct virus_shard *shard, uint32_t *first);

#endif
