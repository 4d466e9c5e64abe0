/* SPDX-License-Identifier: MIT */
#include "flow_bypass.h"

#include <string.h>
#include <xxhash.h>

static bool is_same(const struct inner_tuple *a, const struct inner_tuple *b)
{
    return a->source_port == b->source_port && a->destination_port == b->destination_port &&
           a->protocol == b->protocol && memcmp(a->source, b->source, sizeof a->source) == 0 &&
           memcmp(a->destination, b->destination, sizeof a->destination) == 0;
}

struct flow *flow_of(struct flow_bypass *bypass, const struct inner_tuple *tuple)
{
    uint8_t key[37];

    memcpy(key, tuple->source, 16);
    memcpy(key + 16, tuple->destination, 16);
    memcpy(key + 32, &tuple->source_port, 2);
    memcpy(key + 34, &tuple->destination_port, 2);
    key[36] = tuple->protocol;

    const uint64_t hash =
        XXH3_64bits_withSeed(key, sizeof key, bypass->secret[0]) ^ bypass->secret[1];
    struct flow *const flow = &bypass->flows[hash % FLOWS];
    if (flow->packets == 0 || !is_same(&flow->tuple, tuple))
        *flow = (struct flow){.tuple = *tuple};
    return flow;
}

bool flow_passes(struct flow *flow)
{
    if (flow->in_vain < FLOW_TRIALS)
        return false;
    if (++flow->passed < FLOW_PROBE_EACH)
        return true;
    flow->passed = 0;
    return false;
}

bool flow_packs(struct flow *flow)
{
    if (flow->hard < PACK_TRIALS)
        return true;
    if (++flow->not_tried < FLOW_PROBE_EACH)
        return false;
    flow->not_tried = 0;
    return true;
}

void flow_packed(struct flow *flow, bool shorter)
{
    if (shorter)
        flow->hard = 0;
    else if (flow->hard < PACK_TRIALS)
        flow->hard++;
}

void flow_count(struct flow *flow, uint32_t len, uint32_t sent, bool encoded, bool found)
{
    flow->packets++;
    flow->bytes += len;
    flow->sent += sent;
    if (found)
        flow->in_vain = 0;
    else if (encoded && flow->in_vain < FLOW_TRIALS)
        flow->in_vain++;
}
