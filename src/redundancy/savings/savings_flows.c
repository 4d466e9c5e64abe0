/* SPDX-License-Identifier: MIT */
#include "savings_flows.h"

#include "base/diag.h"
#include "redundancy/match/packet_log.h"

enum {
    SLOTS_MIN = 1024,
    FLOWS_MAX = 1 << 20 /* as sl_savings_flows says */
};

/* Ids may count upwards or be random: the upper bits of the product are as good for both. */
static size_t home_of(const struct savings_flows *flows, uint64_t id)
{
    return (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (flows->n_slots - 1);
}

/* The flow's slot, or the free one where it belongs. */
static struct savings_flow *slot_of(const struct savings_flows *flows, uint64_t id)
{
    size_t slot = home_of(flows, id);

    while (flows->slots[slot].id != 0 && flows->slots[slot].id != id)
        slot = (slot + 1) & (flows->n_slots - 1);
    return &flows->slots[slot];
}

void savings_flows_free(struct savings_flows *flows)
{
    memory_unmap(flows->slots, flows->n_slots * sizeof *flows->slots);
}

enum sl_status savings_flows_reserve(struct savings_flows *flows, size_t n, struct sl_diag *diag)
{
    const size_t wanted = flows->n + n < FLOWS_MAX ? flows->n + n : FLOWS_MAX;
    struct savings_flows grown = {.n_slots = SLOTS_MIN, .n = flows->n};

    if (wanted <= flows->n_slots / 2)
        return SL_OK;
    while (wanted > grown.n_slots / 2)
        grown.n_slots *= 2;
    grown.slots = memory_map(grown.n_slots * sizeof *grown.slots, "a table of flows", diag);
    if (grown.slots == NULL)
        return SL_ENOMEM;
    for (size_t i = 0; i < flows->n_slots; i++)
        if (flows->slots[i].id != 0)
            *slot_of(&grown, flows->slots[i].id) = flows->slots[i];
    savings_flows_free(flows);
    *flows = grown;
    return SL_OK;
}

void savings_flows_prefetch(const struct savings_flows *flows, uint64_t id)
{
    __builtin_prefetch(&flows->slots[home_of(flows, id)], 1);
}

struct savings_flow *savings_flows_find(struct savings_flows *flows, uint64_t id)
{
    struct savings_flow *const flow = slot_of(flows, id);

    if (flow->id != 0)
        return flow;
    if (flows->n == FLOWS_MAX)
        return NULL;
    flows->n++;
    flow->id = id;
    return flow;
}
