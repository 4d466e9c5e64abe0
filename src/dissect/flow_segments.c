/* SPDX-License-Identifier: MIT */
/* The TCP segments and datagrams of a shard, after it was tracked. */
#include "base/least.h"
#include "flow_ends.h"

enum { AHEAD = 4 /* packets, or runs */, LINE = 64, TCP_LEN = 20 };

_Static_assert((int)N_LISTS <= (int)SL_FLOW_ENTRIES_MORE, "the lists' ends are no flows");

/* Calls for the ends from *next on that come before the item. Apart, as most packets have none. */
__attribute__((noinline)) static void visit_ends(const struct flow_ends *ends, size_t *next,
                                                 uint32_t item,
                                                 const struct sl_flow_visitor *visitor)
{
    for (; *next < ends->n && ends->end[*next].item <= item; ++*next) {
        const struct flow_end *end = &ends->end[*next];

        visitor->ended(visitor->user, &(struct sl_flow_ended){.flow = end->flow.id,
                                                              .entry = end->entry,
                                                              .item = end->item,
                                                              .index = *next});
    }
}

static struct sl_flow_segment segment_of(const struct sl_batch *batch,
                                         const struct sl_flow_keys *keys,
                                         const struct flow_run *run, uint32_t item)
{
    const struct sl_flow_packet *packet = &keys->packet[item - keys->first_item];

    if (run->one_by_one)
        return (struct sl_flow_segment){batch->origin[item].flow, packet->entry, item,
                                        batch->origin[item].flow_flags};
    return (struct sl_flow_segment){run->flow, keys->packet[run->first - keys->first_item].entry,
                                    item, run->flags[packet->sender]};
}

/* Fetches what the headers of a packet are found by, then, some packets later, the headers, both
 * ends of a usual payload and the memory of its flow. Inlined by force: gcc drops calls to
 * functions that only prefetch. */
__attribute__((always_inline)) static inline void
fetch_columns(const struct sl_batch *batch, const struct sl_flow_keys *keys, uint32_t item)
{
    __builtin_prefetch(&batch->packet[item]);
    __builtin_prefetch(&batch->payload[item]);
    __builtin_prefetch(&keys->packet[item - keys->first_item]);
}

__attribute__((always_inline)) static inline void fetch_headers(const struct sl_batch *batch,
                                                                uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const struct sl_span payload = batch->payload[item];

    __builtin_prefetch(batch->bytes + packet->offset + packet->network);
    __builtin_prefetch(batch->bytes + packet->offset + packet->transport + TCP_LEN);
    __builtin_prefetch(batch->bytes + payload.offset + (payload.len != 0 ? payload.len - 1 : 0));
}

/* Of the flow of a run's first packet. */
static uint32_t entry_of(const struct sl_flow_keys *keys, const struct flow_run *run)
{
    return keys->packet[run->first - keys->first_item].entry;
}

__attribute__((always_inline)) static inline void fetch_run(const struct sl_batch *batch,
                                                            const struct sl_flow_keys *keys,
                                                            const struct flow_run *run,
                                                            const struct sl_flow_visitor *visitor)
{
    const uint32_t entry = entry_of(keys, run);
    const char *memory = visitor->memory;

    for (size_t at = 0; memory != NULL && at < visitor->memory_len; at += LINE)
        __builtin_prefetch(memory + entry * visitor->memory_len + at, 1);
    /* Trains need no headers. */
    for (uint32_t item = run->first; item < run->end && item < run->first + AHEAD; item++)
        if (visitor->train == NULL || !keys->packet[item - keys->first_item].is_usual)
            fetch_headers(batch, item);
}

/* The segments of a run from an item on, up to the next flow that ends. */
static struct sl_flow_train train_of(const struct sl_batch *batch, const struct sl_flow_keys *keys,
                                     const struct flow_run *run, uint32_t item, uint32_t end)
{
    const struct sl_flow_segment first = segment_of(batch, keys, run, item);
    const struct sl_flow_packet *packet = &keys->packet[item - keys->first_item];
    const bool is_client = (first.flow_flags & SL_FLOW_TO_SERVER) != 0;

    return (struct sl_flow_train){.flow = first.flow,
                                  .entry = first.entry,
                                  .first = item,
                                  .n = end - item,
                                  .client = is_client ? packet->sender : packet->sender ^ 1,
                                  .packet = packet};
}

/* How many packets of the run, from the item on, the visitor takes at once. Ends say where a flow
 * begins anew, which it does only in a run whose packets were tracked one by one. */
static uint32_t visit_train(const struct sl_batch *batch, const struct sl_flow_keys *keys,
                            const struct flow_run *run, const struct flow_ends *ends, size_t next,
                            uint32_t item, const struct sl_flow_visitor *visitor)
{
    const uint32_t end =
        next < ends->n ? (uint32_t)least(run->end, ends->end[next].item) : run->end;
    const bool knows_ends = ends->end != NULL && !ends->no_memory;

    if (visitor->train == NULL || run->protocol != SL_IP_TCP || (run->one_by_one && !knows_ends))
        return 0;
    const struct sl_flow_train train = train_of(batch, keys, run, item, end);

    return visitor->train(visitor->user, &train);
}

static void visit_run(const struct sl_batch *batch, const struct sl_flow_keys *keys,
                      const struct flow_run *run, const struct flow_ends *ends, size_t *next,
                      const struct sl_flow_visitor *visitor)
{
    void (*const call)(void *user, const struct sl_flow_segment *segment) =
        run->protocol == SL_IP_TCP   ? visitor->segment
        : run->protocol == SL_IP_UDP ? visitor->datagram
                                     : NULL;

    for (uint32_t item = run->first, taken; call != NULL && item < run->end; item += taken) {
        if (*next < ends->n && ends->end[*next].item <= item)
            visit_ends(ends, next, item, visitor);
        taken = visit_train(batch, keys, run, ends, *next, item, visitor);
        if (taken != 0)
            continue;

        const struct sl_flow_segment segment = segment_of(batch, keys, run, item);

        if (item + AHEAD < run->end)
            fetch_headers(batch, item + AHEAD);
        call(visitor->user, &segment);
        taken = 1;
    }
}

void sl_flow_visit_shard(const struct sl_flow_table *table, const struct sl_batch *batch,
                         const struct sl_flow_keys *keys, uint32_t shard,
                         const struct sl_flow_visitor *visitor)
{
    static const struct flow_ends none;
    const struct flow_ends *ends = table->slots.len != 0 ? &keys->ends[shard] : &none;
    const uint32_t end = keys->first_of[shard + 1];
    size_t next = 0;

    for (uint32_t i = keys->first_of[shard]; i < end; i++) {
        if (i + 2 * AHEAD < end)
            fetch_columns(batch, keys, keys->run[keys->by_shard[i + 2 * AHEAD]].first);
        if (i + AHEAD < end)
            fetch_run(batch, keys, &keys->run[keys->by_shard[i + AHEAD]], visitor);
        if (i + AHEAD / 2 < end && visitor->ahead != NULL)
            visitor->ahead(visitor->user,
                           entry_of(keys, &keys->run[keys->by_shard[i + AHEAD / 2]]));
        visit_run(batch, keys, &keys->run[keys->by_shard[i]], ends, &next, visitor);
    }
    visit_ends(ends, &next, UINT32_MAX, visitor);
}

void sl_flow_ended_record(const struct sl_flow_keys *keys, uint32_t shard, size_t index,
                          struct sl_flow_record *record)
{
    const struct flow_end *end = &keys->ends[shard].end[index];

    flow_record_fill(record, &end->flow, end->reason, end->time, end->settled);
}
