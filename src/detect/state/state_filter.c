/* SPDX-License-Identifier: MIT */
#include "state_filter.h"

#include <string.h>

#include "base/bytes.h"

/* A flow that raises no alert for a day has ended: it counts anew. */
enum { BACKOFF_SECONDS = 86400 };

static void put_address(uint64_t owner[2], const struct sl_addr *addr)
{
    owner[0] = load_be64(addr->byte);
    owner[1] = load_be64(addr->byte + 8);
}

bool state_owner(struct state_key *key, enum state_scope scope, const struct state_packet *packet)
{
    const struct sl_addr *first = &packet->tuple.src, *second = &packet->tuple.dst;

    memset(key->owner, 0, sizeof key->owner);
    if (scope == STATE_ALL)
        return true;
    if (scope == STATE_FLOW) {
        key->owner[0] = packet->flow;
        return packet->flow != 0;
    }
    if (scope == STATE_DST || (scope == STATE_PAIR && memcmp(first, second, sizeof *first) > 0)) {
        first = &packet->tuple.dst;
        second = &packet->tuple.src;
    }
    put_address(key->owner, first);
    if (scope == STATE_PAIR)
        put_address(key->owner + 2, second);
    return packet->has_tuple;
}

static bool contains(const struct rule_ranges *ranges, const struct sl_addr *addr)
{
    const unsigned __int128 value =
        (unsigned __int128)load_be64(addr->byte) << 64 | load_be64(addr->byte + 8);

    return rule_ranges_contain(ranges, value);
}

static bool is_suppressed(const struct state_filter *filter, const struct state_packet *packet)
{
    if (filter->addresses == NULL)
        return true;
    if (!packet->has_tuple)
        return false;
    return (filter->scope != STATE_DST && contains(filter->addresses, &packet->tuple.src)) ||
           (filter->scope != STATE_SRC && contains(filter->addresses, &packet->tuple.dst));
}

/* Whether new alerts are held back since there were too many. */
static bool is_over_rate(struct state_table *table, const struct state_filter *filter,
                         struct state_key key, uint32_t n, int64_t now)
{
    struct state_entry *entry;

    key.what = ~key.what; /* of the time-out */
    entry = state_table_find(table, &key, now);
    if (n > filter->count && entry == NULL)
        entry = state_table_add(table, &key, now, filter->timeout);
    if (n > filter->count)
        entry->since = now;
    return entry != NULL;
}

/* Whether the number is the count, or that times a power of the multiplier. */
static bool is_step(const struct state_filter *filter, uint32_t n)
{
    uint64_t step = filter->count;

    while (step < n && filter->multiplier > 1)
        step *= filter->multiplier;
    return step == n;
}

/* Counts the port of a packet, unless the window has it. No more ports than decide are kept. */
static void count_port(struct state_table *table, const struct state_filter *filter,
                       struct state_entry *window, const struct state_packet *packet)
{
    const struct sl_tuple *tuple = &packet->tuple;
    const uint16_t port = filter->unique == STATE_SRC_PORTS ? tuple->src_port : tuple->dst_port;
    struct state_key key = window->key;

    if (window->value > filter->count)
        return;
    key.what += 1 + (uint64_t)port; /* a hash: no other filter comes that near */

    struct state_entry *known = state_table_find(table, &key, packet->now);

    if (known != NULL && known->since == window->since)
        return;
    if (known == NULL)
        known = state_table_add(table, &key, packet->now, filter->seconds);
    known->since = window->since;
    window->value++;
}

static bool passes(struct state_table *table, const struct state_filter *filter,
                   const struct state_packet *packet)
{
    struct state_key key = {.what = filter->key};

    if (filter->kind == STATE_SUPPRESS)
        return !is_suppressed(filter, packet);
    if (!state_owner(&key, filter->scope, packet))
        return true;

    struct state_entry *entry = state_table_find(table, &key, packet->now);

    if (entry == NULL)
        entry = state_table_add(table, &key, packet->now,
                                filter->kind == STATE_BACKOFF ? BACKOFF_SECONDS : filter->seconds);
    if (filter->kind == STATE_BACKOFF)
        entry->since = packet->now;
    if (filter->unique != STATE_ALERTS)
        count_port(table, filter, entry, packet);
    else
        entry->value += entry->value != UINT32_MAX;

    const uint32_t n = entry->value;

    switch (filter->kind) {
    case STATE_LIMIT:
        return n <= filter->count;
    case STATE_THRESHOLD:
        if (n >= filter->count)
            entry->value = 0;
        return n >= filter->count;
    case STATE_BOTH:
        return n == filter->count;
    case STATE_DETECTION:
        return n > filter->count;
    case STATE_BACKOFF:
        return is_step(filter, n);
    default:
        return !is_over_rate(table, filter, key, n, packet->now);
    }
}

bool state_filters_pass(struct state_table *table, const struct rule_state *rule,
                        const struct state_packet *packet, bool *drops)
{
    for (size_t i = 0; i < rule->n_filters; i++) {
        const bool passed = passes(table, &rule->filter[i], packet);

        if (!passed && !rule->filter[i].drops)
            return false;
        *drops |= !passed;
    }
    return true;
}
