/* SPDX-License-Identifier: MIT */
#include "state_tags.h"

enum { SILENCE = 600 }; /* seconds without a packet, after which tags of packets and bytes end */

static int64_t seconds_of(int64_t time_ns)
{
    return time_ns / 1000000000;
}

/* Limits in seconds count whole ones, as in Suricata. */
static int64_t clock_of(enum state_tag_metric metric, int64_t now)
{
    return metric == STATE_TAG_SECONDS ? seconds_of(now) * 1000000000 : now;
}

static uint32_t used_of(enum state_tag_metric metric, const struct state_packet *packet)
{
    return metric == STATE_TAG_PACKETS ? 1 : metric == STATE_TAG_BYTES ? packet->len : 0;
}

/* False: the packet has no such owner. */
static bool key_of(struct state_key *key, enum state_scope scope, enum state_tag_metric metric,
                   const struct state_packet *packet)
{
    key->what = 1 + (uint64_t)metric; /* no name has these keys */
    key->what += scope == STATE_FLOW ? STATE_N_TAG_METRICS : 0;
    return state_owner(key, scope, packet);
}

static void extend(struct state_tags *tags, enum state_scope scope, enum state_tag_metric metric,
                   const struct state_entry *entry)
{
    const int64_t end = seconds_of(entry->since) + (int64_t)entry->seconds + 1;
    int64_t *of_all = &tags->end[scope == STATE_FLOW][metric];

    *of_all = *of_all > end ? *of_all : end;
    tags->last = tags->last > end ? tags->last : end;
}

static void start(struct state_tags *tags, struct state_table *table, const struct state_tag *tag,
                  const struct state_packet *packet)
{
    const int64_t now = clock_of(tag->metric, packet->now);
    const uint64_t seconds = tag->metric == STATE_TAG_SECONDS ? tag->count : SILENCE;
    const uint32_t used = used_of(tag->metric, packet);
    struct state_key key;

    if (tag->count <= used || !key_of(&key, tag->scope, tag->metric, packet))
        return;

    struct state_entry *entry = state_table_find(table, &key, now);

    if (entry == NULL)
        entry = state_table_add(table, &key, now, seconds);
    if (seconds_of(entry->since) + (int64_t)entry->seconds <= seconds_of(now) + (int64_t)seconds) {
        entry->since = now;
        entry->seconds = seconds;
    }
    if (entry->value < tag->count - used)
        entry->value = tag->count - used;
    extend(tags, tag->scope, tag->metric, entry);
}

void state_tags_start(struct state_tags *tags, struct state_table *table,
                      const struct rule_state *rule, const struct state_packet *packet)
{
    for (const struct state_tag *tag = rule->tag; tag != NULL; tag = tag->next)
        start(tags, table, tag, packet);
}

static bool take(struct state_tags *tags, struct state_table *table, enum state_scope scope,
                 enum state_tag_metric metric, const struct state_packet *packet)
{
    const int64_t now = clock_of(metric, packet->now);
    const uint32_t used = used_of(metric, packet);
    struct state_key key;

    if (tags->end[scope == STATE_FLOW][metric] < seconds_of(now) ||
        !key_of(&key, scope, metric, packet))
        return false;

    struct state_entry *entry = state_table_find(table, &key, now);

    if (entry == NULL || metric == STATE_TAG_SECONDS)
        return entry != NULL;
    if (used > entry->value) {
        state_table_remove(table, entry);
        return false;
    }
    entry->value -= used;
    entry->since = now;
    extend(tags, scope, metric, entry);
    return true;
}

bool state_tags_take(struct state_tags *tags, struct state_table *table,
                     const struct state_packet *packet)
{
    static const enum state_scope scopes[] = {STATE_FLOW, STATE_SRC, STATE_DST};
    bool tagged = false;

    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        for (enum state_tag_metric metric = 0; metric < STATE_N_TAG_METRICS; metric++)
            tagged |= take(tags, table, scopes[i], metric, packet);
    return tagged;
}
