/* SPDX-License-Identifier: MIT */
/* The TCP segments of a shard, after it was tracked. */
#include "flow_runs.h"

_Static_assert((int)N_LISTS <= (int)SL_FLOW_ENTRIES_MORE, "the lists' ends are no flows");

/* Calls for the ends from *next on that come before the item. */
static void visit_ends(const struct flow_ends *ends, size_t *next, uint32_t item,
                       const struct sl_flow_visitor *visitor)
{
    for (; *next < ends->n && ends->end[*next].item <= item; ++*next) {
        const struct flow_end *end = &ends->end[*next];

        visitor->ended(visitor->user, end->entry, end->flow.id, end->item);
    }
}

static struct sl_flow_segment segment_of(const struct sl_batch *batch,
                                         const struct sl_flow_keys *keys,
                                         const struct flow_run *run, uint32_t item)
{
    const struct flow_packet *packet = &keys->packet[item - keys->first_item];

    if (run->one_by_one)
        return (struct sl_flow_segment){batch->origin[item].flow, packet->entry, item,
                                        batch->origin[item].flow_flags};
    return (struct sl_flow_segment){run->flow, keys->packet[run->first - keys->first_item].entry,
                                    item, run->flags[packet->sender]};
}

void sl_flow_visit_shard(const struct sl_flow_table *table, const struct sl_batch *batch,
                         const struct sl_flow_keys *keys, uint32_t shard,
                         const struct sl_flow_visitor *visitor)
{
    static const struct flow_ends none;
    const struct flow_ends *ends = table->slots.len != 0 ? &keys->ends[shard] : &none;
    size_t next = 0;

    for (uint32_t i = keys->first_of[shard]; i < keys->first_of[shard + 1]; i++) {
        const struct flow_run *run = &keys->run[keys->by_shard[i]];

        for (uint32_t item = run->first; run->protocol == SL_IP_TCP && item < run->end; item++) {
            const struct sl_flow_segment segment = segment_of(batch, keys, run, item);

            visit_ends(ends, &next, item, visitor);
            visitor->segment(visitor->user, &segment);
        }
    }
    visit_ends(ends, &next, UINT32_MAX, visitor);
}
