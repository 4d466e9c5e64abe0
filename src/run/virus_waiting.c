/* SPDX-License-Identifier: MIT */
#include "virus_waiting.h"

#include <stdlib.h>

enum { BUCKETS = VIRUS_WAITING_MAX };

/* Pages that are not used are not touched. */
bool virus_shard_open(struct virus_shard *shard)
{
    shard->node = calloc(VIRUS_WAITING_MAX + 1, sizeof *shard->node);
    shard->flow = calloc(VIRUS_WAITING_MAX + 2, sizeof *shard->flow);
    shard->bucket = calloc(BUCKETS, sizeof *shard->bucket);
    return shard->node != NULL && shard->flow != NULL && shard->bucket != NULL;
}

void virus_shard_close(struct virus_shard *shard)
{
    free(shard->node);
    free(shard->flow);
    free(shard->bucket);
}

void virus_drop(struct virus_shard *shard, uint32_t *first)
{
    for (uint32_t at = *first, next; at != 0; at = next) {
        next = shard->node[at].next;
        shard->node[at].next = shard->free;
        shard->free = at;
        shard->n_waiting--;
    }
    *first = 0;
}

struct virus_flow *virus_flow_of(struct virus_shard *shard, size_t entry, uint64_t id)
{
    uint32_t *const bucket = &shard->bucket[entry % BUCKETS];
    uint32_t at = *bucket;

    while (at != 0 && shard->flow[at].entry != entry)
        at = shard->flow[at].next;
    struct virus_flow *flow = &shard->flow[at];
    if (at == 0) {
        at = shard->free_flow != 0 ? shard->free_flow : ++shard->n_used_flows;
        flow = &shard->flow[at];
        if (shard->free_flow != 0)
            shard->free_flow = flow->next;
        *flow = (struct virus_flow){.flow = id, .entry = entry, .next = *bucket};
        *bucket = at;
    }
    for (uint32_t half = 0; half < 2 && flow->flow != id; half++) {
        virus_drop(shard, &flow->first[half]);
        virus_drop(shard, &flow->told[half]);
    }
    flow->flow = id;
    return flow;
}

void virus_flow_let_go(struct virus_shard *shard, struct virus_flow *flow)
{
    const uint32_t at = (uint32_t)(flow - shard->flow);
    uint32_t *link = &shard->bucket[flow->entry % BUCKETS];

    if ((flow->first[0] | flow->first[1] | flow->told[0] | flow->told[1]) != 0)
        return;
    while (*link != at)
        link = &shard->flow[*link].next;
    *link = flow->next;
    flow->next = shard->free_flow;
    shard->free_flow = at;
}

struct virus_node *virus_keep(struct virus_shard *shard, uint32_t *first)
{
    uint32_t n = 0;

    for (uint32_t at = *first; at != 0; at = shard->node[at].next)
        n++;
    if (n >= VIRUS_SIDE_MAX || shard->n_waiting == VIRUS_WAITING_MAX)
        return NULL;
    const uint32_t at = shard->free != 0 ? shard->free : ++shard->n_used;
    if (shard->free != 0)
        shard->free = shard->node[at].next;
    shard->node[at].next = *first;
    *first = at;
    shard->n_waiting++;
    return &shard->node[at];
}
