/* SPDX-License-Identifier: MIT */
#include "state_tags.h"

enum { SILENCE = 600 }; /* seconds without a packet, after which tags without seconds end */

static int64_t seconds_of(int64_t time_ns)
{
    return time_ns / 1000000000;
}

static bool has(unsigned set, enum state_tag_metric metric)
{
    return (set >> metric & 1) != 0;
}

static unsigned set_of(const struct state_tag *tag)
{
    unsigned set = 0;

    for (unsigned metric = 0; metric < STATE_N_TAG_METRICS; metric++)
        set |= (unsigned)(tag->limit[metric] != 0) << metric;
    return set;
}

/* Limits in seconds count whole ones, as in Suricata. */
static int64_t clock_of(unsigned set, int64_t now)
{
    return has(set, STATE_TAG_SECONDS) ? seconds_of(now) * 1000000000 : now;
}

/* False: the packet has no such owner. */
static bool key_of(struct state_key *key, enum state_scope scope, unsigned set,
                   const struct state_packet *packet)
{
    key->what = set; /* no name has these keys */
    key->what += scope == STATE_FLOW ? STATE_TAG_SETS : 0;
    return state_owner(key, scope, packet);
}

static void extend(struct state_tags *tags, enum state_scope scope, unsigned set,
                   const struct state_entry *entry)
{
    const int64_t end = seconds_of(entry->since) + (int64_t)entry->seconds + 1;
    int64_t *of_all = &tags->end[scope == STATE_FLOW][set];

    *of_all = *of_all > end ? *of_all : end;
    tags->last = tags->last > end ? tags->last : end;
}

static void raise_to(uint32_t *left, uint32_t limit, uint32_t used)
{
    if (limit > used && *left < limit - used)
        *left = limit - used;
}

static void start(struct state_tags *tags, struct state_table *table, const struct state_tag *tag,
                  const struct state_packet *packet)
{
    const unsigned set = set_of(tag);
    const int64_t now = clock_of(set, packet->now);
    const uint64_t seconds = has(set, STATE_TAG_SECONDS) ? tag->limit[STATE_TAG_SECONDS] : SILENCE;
    struct state_key key;

    if (tag->limit[STATE_TAG_PACKETS] == 1 ||
        (has(set, STATE_TAG_BYTES) && tag->limit[STATE_TAG_BYTES] <= packet->len) ||
        !key_of(&key, tag->scope, set, packet))
        return;

    struct state_entry *entry = state_table_find(table, &key, now);

    if (entry == NULL)
        entry = state_table_add(table, &key, now, seconds);
    if (seconds_of(entry->since) + (int64_t)entry->seconds <= seconds_of(now) + (int64_t)seconds) {
        entry->since = now;
        entry->seconds = seconds;
    }
    raise_to(&entry->value, tag->limit[STATE_TAG_PACKETS], 1);
    raise_to(&entry->bytes, tag->limit[STATE_TAG_BYTES], packet->len);
    extend(tags, tag->scope, set, entry);
}

void state_tags_start(struct state_tags *tags, struct state_table *table,
                      const struct rule_state *rule, const struct state_packet *packet)
{
    for (const struct state_tag *tag = rule->tag; tag != NULL; tag = tag->next)
        start(tags, table, tag, packet);
}

/* Takes a packet off what a tag leaves. False: it leaves less. */
static bool spend(struct state_entry *entry, unsigned set, const struct state_packet *packet)
{
    const uint32_t packets = has(set, STATE_TAG_PACKETS) ? 1 : 0;
    const uint32_t bytes = has(set, STATE_TAG_BYTES) ? packet->len : 0;

    if (packets > entry->value || bytes > entry->bytes)
        return false;
    entry->value -= packets;
    entry->bytes -= bytes;
    return true;
}

static bool take(struct state_tags *tags, struct state_table *table, enum state_scope scope,
                 unsigned set, const struct state_packet *packet)
{
    const int64_t now = clock_of(set, packet->now);
    struct state_key key;

    if (tags->end[scope == STATE_FLOW][set] < seconds_of(now) || !key_of(&key, scope, set, packet))
        return false;

    struct state_entry *entry = state_table_find(table, &key, now);

    if (entry == NULL)
        return false;
    if (!spend(entry, set, packet)) {
        state_table_remove(table, entry);
        return false;
    }
    if (!has(set, STATE_TAG_SECONDS)) {
        entry->since = now;
        extend(tags, scope, set, entry);
    }
    return true;
}

bool state_tags_take(struct state_tags *tags, struct state_table *table,
                     const struct state_packet *packet)
{
    static const enum state_scope scopes[] = {STATE_FLOW, STATE_SRC, STATE_DST};
    bool tagged = false;

    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        for (unsigned set = 1; set < STATE_TAG_SETS; set++)
            tagged |= take(tags, table, scopes[i], set, packet);
    return tagged;
}
