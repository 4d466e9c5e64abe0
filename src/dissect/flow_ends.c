/* SPDX-License-Identifier: MIT */
/* The ends of flows. A flow ends at a packet: the one whose time is behind the flow's timeout, or
 * the one that took its place. A shard notices a timeout at its own next packet, and then searches
 * for that packet. It does not depend on how packets were cut into batches. */
#include "flow_ends.h"

#include <stdlib.h>

#include "base/least.h"
#include "flow_clock.h"

enum { ENDS_MIN = 256 }; /* for which memory is taken, and kept */

/* ---- tracking -------------------------------------------------------------------------------- */

static bool make_room(struct flow_ends *ends)
{
    if (ends->n < ends->max)
        return true;
    const size_t max = ends->max == 0 ? ENDS_MIN : 2 * ends->max;
    struct flow_end *end = (struct flow_end *)realloc(ends->end, max * sizeof *end);

    if (end == NULL)
        return false;
    ends->end = end;
    ends->max = max;
    return true;
}

/* Gives back memory that the batch before did not need: of all batches in flight, ends take no more
 * than a few times what the flows of the table do. */
static void forget(struct flow_ends *ends)
{
    if (ends->max > ENDS_MIN && ends->n < ends->max / 4) {
        free(ends->end);
        ends->end = NULL;
        ends->max = 0;
    }
    ends->n = 0;
    ends->no_memory = false;
}

void flow_ends_begin(struct flow_shard *shard, const struct sl_batch *batch,
                     struct sl_flow_keys *keys, uint32_t index)
{
    forget(&keys->ends[index]);
    if (shard->slots != NULL)
        (void)make_room(&keys->ends[index]); /* no later batch is to wait for memory */
    shard->batch = shard->slots != NULL ? batch : NULL;
    shard->keys = keys;
    for (uint32_t list = 0; list < N_LISTS; list++)
        shard->found[list].run = FLOW_NOT_FOUND;
}

/* Whether a flow of the shard has timed out by this clock. Eras may wrap around. */
static bool is_past(const struct flow_shard *shard, const struct flow *flow,
                    struct flow_clock clock)
{
    if (clock.era != shard->clock.era)
        return (int32_t)(clock.era - shard->clock.era) > 0;
    return clock.now > flow->last_time &&
           (uint64_t)clock.now - (uint64_t)flow->last_time >
               shard->table->timeout_ns[flow_list_of(flow->state, (uint8_t)flow->kind)];
}

static bool is_past_before(const struct flow_shard *shard, const struct flow *flow, uint32_t run)
{
    return is_past(shard, flow, flow_clock_before(shard->keys, &shard->keys->run[run]));
}

/* The run in which a flow times out: the last one before which it has not. It lies behind `from`,
 * and mostly near. */
static uint32_t find_run(const struct flow_shard *shard, const struct flow *flow, uint32_t from)
{
    const uint32_t n = shard->keys->n_runs;
    uint32_t low = from, high, step = 1; /* past before all runs from `high` on */

    for (; n - low > step && !is_past_before(shard, flow, low + step); step *= 2)
        low += step;
    high = n - low > step ? low + step : n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (is_past_before(shard, flow, middle))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Finds the packet at which a flow times out. Flows of a list time out in order, so the search goes
 * on where the last one of the list ended. */
static const struct flow_moment *find_moment(struct flow_shard *shard, const struct flow *flow)
{
    const struct sl_flow_keys *keys = shard->keys;
    struct flow_moment *found = &shard->found[flow_list_of(flow->state, (uint8_t)flow->kind)];
    const uint32_t index = find_run(shard, flow, found->run == FLOW_NOT_FOUND ? 0 : found->run);
    const struct flow_run *run = &keys->run[index];

    if (found->run != index)
        *found = (struct flow_moment){
            .run = index, .item = run->first, .before = flow_clock_before(keys, run)};
    for (;; found->item++, found->before = found->after) {
        found->after = found->before;
        flow_clock_advance(&found->after, shard->table, shard->batch->origin[found->item].time_ns);
        if (found->item + 1 == run->end || is_past(shard, flow, found->after))
            return found;
    }
}

void flow_ends_add(struct flow_shard *shard, const struct flow *flow, enum sl_flow_reason reason)
{
    struct flow_ends *ends = &shard->keys->ends[shard - shard->table->shards];

    if (!make_room(ends)) {
        ends->no_memory = true;
        return;
    }
    struct flow_end *end = &ends->end[ends->n++];

    *end = (struct flow_end){.flow = *flow,
                             .time = shard->item_time,
                             .item = shard->item,
                             .entry = (uint32_t)(flow - shard->flows),
                             .reason = reason};
    if (reason == SL_FLOW_END_TIMEOUT) {
        const struct flow_moment *moment = find_moment(shard, flow);

        end->item = moment->item;
        end->time = moment->after.now;
    }
}

/* ---- settling -------------------------------------------------------------------------------- */

/* The entry of the item's flow, whose run is this one. */
static uint32_t entry_in(const struct sl_flow_keys *keys, const struct flow_run *run, uint32_t item)
{
    return keys->packet[run->one_by_one ? item : run->first].entry;
}

/* A counting sort, which keeps the order of a shard's marks. */
void sl_flow_keys_mark(struct sl_flow_keys *keys, const struct sl_flow_mark *mark, size_t n)
{
    uint32_t next[FLOW_SHARDS_MAX + 1] = {0}; /* the last takes the packets without a flow */
    uint32_t sum = 0;

    for (size_t i = 0, run = 0; i < n; i++) {
        while (keys->run[run].end <= mark[i].item)
            run++;
        next[keys->shard[run]]++;
    }
    for (uint32_t shard = 0; shard <= FLOW_SHARDS_MAX; shard++) {
        const uint32_t n_here = next[shard];

        keys->first_mark[shard] = next[shard] = sum;
        sum += n_here;
    }
    for (size_t i = 0, index = 0; i < n; i++) {
        while (keys->run[index].end <= mark[i].item)
            index++;
        keys->mark[next[keys->shard[index]]++] = (struct flow_mark){
            .mark = mark[i], .entry = entry_in(keys, &keys->run[index], mark[i].item)};
    }
}

static void keep(struct flow_settled *settled, uint32_t bits)
{
    settled->alerted |= (bits & SL_FLOW_SETTLED_ALERTED) != 0;
    settled->passed |= (bits & SL_FLOW_SETTLED_PASSED) != 0;
    settled->dropped |= (bits & SL_FLOW_SETTLED_DROPPED) != 0;
}

static void settle_packet(const struct sl_flow_table *table, uint32_t shard,
                          const struct sl_flow_mark *mark, uint8_t *slots,
                          const struct sl_flow_settler *settler)
{
    struct flow_settled *settled = flow_slots_settled(slots);
    void *slot[SL_FLOW_SLOTS_MAX];

    settled->alerted |= mark->alerted;
    if (settled->app == 0)
        settled->app = mark->app;
    if (mark->call == 0 || settler == NULL)
        return;
    flow_slots_list(&table->slots, slots, slot);
    keep(settled, settler->packet(settler->user, shard, mark, slot));
}

static void settle_end(const struct sl_flow_table *table, uint32_t shard, size_t index,
                       struct flow_end *end, const struct sl_flow_settler *settler)
{
    uint8_t *slots = flow_slots_of(&table->shards[shard], end->entry);
    void *slot[SL_FLOW_SLOTS_MAX];

    end->settled = *flow_slots_settled(slots);
    if (settler != NULL && settler->ended != NULL) {
        flow_slots_list(&table->slots, slots, slot);
        keep(&end->settled, settler->ended(settler->user, shard, index, slot));
    }
    flow_slots_release(&table->slots, shard, slots);
}

/* The entry of the item's flow. */
static uint32_t entry_of(const struct sl_flow_keys *keys, uint32_t item)
{
    uint32_t from = 0, to = keys->n_runs - 1;

    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;

        if (keys->run[middle].end <= item)
            from = middle + 1;
        else
            to = middle;
    }
    return entry_in(keys, &keys->run[from], item);
}

/* Ends come before the marks of their packet: an entry may be that of the next flow then. */
void sl_flow_settle_shard(struct sl_flow_table *table, struct sl_flow_keys *keys, uint32_t shard,
                          const struct sl_flow_settler *settler)
{
    const struct flow_shard *mine = &table->shards[shard];
    struct flow_ends *ends = &keys->ends[shard];
    const struct flow_mark *mark = keys->mark + keys->first_mark[shard];
    const struct flow_mark *last = keys->mark + keys->first_mark[shard + 1];
    const size_t n_alerted = settler != NULL ? settler->n_alerted : 0;
    size_t e = 0, a = 0;

    while (e < ends->n || mark != last || a < n_alerted) {
        const uint32_t marked = mark != last ? mark->mark.item : UINT32_MAX;
        const uint32_t alerted = a < n_alerted ? settler->alerted[a] : UINT32_MAX;

        if (e < ends->n && ends->end[e].item <= least(marked, alerted)) {
            settle_end(table, shard, e, &ends->end[e], settler);
            e++;
        } else if (marked <= alerted) {
            settle_packet(table, shard, &mark->mark, flow_slots_of(mine, mark->entry), settler);
            mark++;
        } else {
            flow_slots_settled(flow_slots_of(mine, entry_of(keys, alerted)))->alerted = true;
            a++;
        }
    }
}

void sl_flow_keys_amend(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                        bool (*alerted)(void *user, uint64_t flow), void *user)
{
    for (uint32_t shard = 0; shard < table->n_shards; shard++)
        for (size_t i = 0; i < keys->ends[shard].n; i++) {
            struct flow_end *end = &keys->ends[shard].end[i];

            if (!end->settled.alerted)
                end->settled.alerted = alerted(user, end->flow.id);
        }
}

/* ---- records --------------------------------------------------------------------------------- */

static int compare_ends(const void *a, const void *b)
{
    const struct flow_order *left = (const struct flow_order *)a;
    const struct flow_order *right = (const struct flow_order *)b;

    if (left->item != right->item)
        return left->item < right->item ? -1 : 1;
    if (left->first_ns != right->first_ns)
        return left->first_ns < right->first_ns ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static bool make_room_to_sort(struct sl_flow_keys *keys, size_t n)
{
    if (n <= keys->max_sorted)
        return true;
    free(keys->sorted);
    keys->sorted = (struct flow_order *)malloc(n * sizeof *keys->sorted);
    keys->max_sorted = keys->sorted != NULL ? n : 0;
    return keys->sorted != NULL;
}

enum sl_status sl_flow_keys_sort_ends(struct sl_flow_keys *keys, const struct sl_flow_table *table)
{
    size_t n = 0;

    keys->n_sorted = 0;
    for (uint32_t shard = 0; shard < table->n_shards; shard++) {
        if (keys->ends[shard].no_memory)
            return SL_ENOMEM;
        n += keys->ends[shard].n;
    }
    if (!make_room_to_sort(keys, n))
        return SL_ENOMEM;
    for (uint32_t shard = 0; shard < table->n_shards; shard++)
        for (size_t i = 0; i < keys->ends[shard].n; i++) {
            const struct flow_end *end = &keys->ends[shard].end[i];

            keys->sorted[keys->n_sorted++] =
                (struct flow_order){end->flow.first_ns, end->flow.id, end, end->item};
        }
    if (n > 1)
        qsort(keys->sorted, n, sizeof *keys->sorted, compare_ends);
    return SL_OK;
}

size_t sl_flow_keys_n_ends(const struct sl_flow_keys *keys)
{
    return keys->n_sorted;
}

uint32_t sl_flow_keys_end(const struct sl_flow_keys *keys, size_t index,
                          struct sl_flow_record *record)
{
    const struct flow_end *end = keys->sorted[index].end;

    if (record != NULL)
        flow_record_fill(record, &end->flow, end->reason, end->time, end->settled);
    return keys->sorted[index].item;
}

static void finish_shard(const struct flow_shard *shard, struct flow_ends *ends)
{
    forget(ends);
    for (uint32_t list = 0; list < N_LISTS && shard->slots != NULL; list++)
        for (uint32_t i = shard->flows[list].after; i != list; i = shard->flows[i].after) {
            if (!make_room(ends)) {
                ends->no_memory = true;
                return;
            }
            ends->end[ends->n++] =
                (struct flow_end){.flow = shard->flows[i],
                                  .time = shard->table->clock.now,
                                  .entry = i,
                                  .reason = SL_FLOW_END_SHUTDOWN,
                                  .settled = *flow_slots_settled(flow_slots_of(shard, i))};
        }
}

void sl_flow_table_finish(const struct sl_flow_table *table, struct sl_flow_keys *keys)
{
    for (uint32_t shard = 0; shard < table->n_shards; shard++)
        finish_shard(&table->shards[shard], &keys->ends[shard]);
}

void sl_flow_settle_end(const struct sl_flow_table *table, const struct sl_flow_keys *keys,
                        uint32_t shard, size_t index, const struct sl_flow_mark *mark,
                        const struct sl_flow_settler *settler)
{
    const uint32_t entry = keys->ends[shard].end[index].entry;

    settle_packet(table, shard, mark, flow_slots_of(&table->shards[shard], entry), settler);
}
