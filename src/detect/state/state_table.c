/* SPDX-License-Identifier: MIT */
#include "state_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/pages.h"

bool state_table_open(struct state_table *table, uint32_t max, uint64_t secret)
{
    uint32_t n_buckets = 1;

    while (n_buckets < max)
        n_buckets *= 2;
    table->max = max;
    table->entry = pages_alloc(((size_t)max + 1) * sizeof *table->entry);
    table->bucket = calloc(n_buckets, sizeof *table->bucket);
    if (table->entry == NULL || table->bucket == NULL)
        return false;
    table->mask = n_buckets - 1;
    table->secret = secret;
    table->entry[0] = (struct state_entry){.before = 0, .after = 0};
    return true;
}

void state_table_close(struct state_table *table)
{
    pages_free(table->entry, ((size_t)table->max + 1) * sizeof *table->entry);
    free(table->bucket);
}

static uint32_t *bucket_of(const struct state_table *table, const struct state_key *key)
{
    return &table->bucket[XXH3_64bits_withSeed(key, sizeof *key, table->secret) & table->mask];
}

static uint32_t index_of(const struct state_table *table, const struct state_entry *entry)
{
    return (uint32_t)(entry - table->entry);
}

/* ---- the order of use ------------------------------------------------------------------------ */

static void unlink_entry(const struct state_table *table, const struct state_entry *entry)
{
    table->entry[entry->before].after = entry->after;
    table->entry[entry->after].before = entry->before;
}

static void make_newest(const struct state_table *table, struct state_entry *entry)
{
    struct state_entry *ends = &table->entry[0];

    entry->before = ends->before;
    entry->after = 0;
    table->entry[ends->before].after = index_of(table, entry);
    ends->before = index_of(table, entry);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Time may go back: a packet may be out of order, or of an older capture. */
static bool counts(const struct state_entry *entry, int64_t now)
{
    const uint64_t distance = now > entry->since ? (uint64_t)now - (uint64_t)entry->since
                                                 : (uint64_t)entry->since - (uint64_t)now;

    return distance / 1000000000 < entry->seconds ||
           (distance / 1000000000 == entry->seconds && distance % 1000000000 == 0);
}

/* The table's thread alone writes the counters. */
static void count(atomic_uint_fast64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void state_table_remove(struct state_table *table, struct state_entry *entry)
{
    const uint32_t index = index_of(table, entry);
    uint32_t *link = bucket_of(table, &entry->key);

    while (*link != index)
        link = &table->entry[*link].chain;
    *link = entry->chain;
    unlink_entry(table, entry);
    entry->chain = table->free;
    table->free = index;
    count(&table->active, (uint64_t)-1);
}

void state_table_clear(struct state_table *table)
{
    while (table->entry[0].after != 0)
        state_table_remove(table, &table->entry[table->entry[0].after]);
}

struct state_entry *state_table_find(struct state_table *table, const struct state_key *key,
                                     int64_t now)
{
    uint32_t index = *bucket_of(table, key);

    while (index != 0 && memcmp(&table->entry[index].key, key, sizeof *key) != 0)
        index = table->entry[index].chain;
    if (index == 0)
        return NULL;

    struct state_entry *entry = &table->entry[index];

    if (!counts(entry, now)) {
        state_table_remove(table, entry);
        return NULL;
    }
    unlink_entry(table, entry);
    make_newest(table, entry);
    return entry;
}

/* Frees the oldest entries that count no longer: two for each that is added, so that they do not
 * pile up. In a full table the oldest gives way. */
static void make_room(struct state_table *table, int64_t now)
{
    for (int i = 0; i < 2; i++) {
        struct state_entry *oldest = &table->entry[table->entry[0].after];

        if (oldest == &table->entry[0] || counts(oldest, now))
            break;
        state_table_remove(table, oldest);
    }
    if (table->free == 0 && table->n_used == table->max) {
        state_table_remove(table, &table->entry[table->entry[0].after]);
        count(&table->evicted, 1);
    }
}

struct state_entry *state_table_add(struct state_table *table, const struct state_key *key,
                                    int64_t now, uint64_t seconds)
{
    make_room(table, now);

    const uint32_t index = table->free != 0 ? table->free : ++table->n_used;
    struct state_entry *entry = &table->entry[index];
    uint32_t *bucket = bucket_of(table, key);

    if (index == table->free)
        table->free = entry->chain;
    *entry = (struct state_entry){.key = *key, .since = now, .seconds = seconds, .chain = *bucket};
    *bucket = index;
    make_newest(table, entry);
    count(&table->active, 1);
    return entry;
}
