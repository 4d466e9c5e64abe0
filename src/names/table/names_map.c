/* SPDX-License-Identifier: MIT */
/* The names of a table while it is filled: entries for the engine, found again by a hash. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "names_internal.h"

enum { FIRST_SLOTS = 1 << 12 };

/* Half of the hash beside the index: names are compared where they are most likely equal. */
struct slot {
    uint32_t hash;
    uint32_t entry; /* index + 1; 0: free */
};

struct names_map {
    struct sl_fib_entry *entries;
    size_t n, max;
    struct slot *slots;
    size_t n_slots; /* a power of two */
    struct names_arena names;
    uint64_t seed; /* names come from outside: where they collide must not be known */
};

struct names_map *names_map_create(void)
{
    struct names_map *map = calloc(1, sizeof *map);

    if (map == NULL)
        return NULL;
    map->n_slots = FIRST_SLOTS;
    map->slots = calloc(map->n_slots, sizeof *map->slots);
    if (map->slots == NULL || getrandom(&map->seed, sizeof map->seed, 0) != sizeof map->seed) {
        free(map->slots);
        free(map);
        return NULL;
    }
    return map;
}

void names_map_free(struct names_map *map)
{
    if (map == NULL)
        return;
    names_arena_free(&map->names);
    free(map->slots);
    free(map->entries);
    free(map);
}

/* The 32 bits that slots keep choose the slot too, so that growing reads no names: tables have at
 * most 2^32 slots. */
static bool grow_slots(struct names_map *map)
{
    const size_t n_slots = map->n_slots * 2;
    struct slot *slots = calloc(n_slots, sizeof *slots);

    if (slots == NULL)
        return false;
    for (size_t i = 0; i < map->n_slots; i++) {
        size_t to = map->slots[i].hash & (n_slots - 1);

        if (map->slots[i].entry == 0)
            continue;
        while (slots[to].entry != 0)
            to = (to + 1) & (n_slots - 1);
        slots[to] = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return true;
}

static bool grow_entries(struct names_map *map)
{
    const size_t max = map->max == 0 ? 1024 : map->max + map->max / 2;
    struct sl_fib_entry *entries = realloc(map->entries, max * sizeof *entries);

    if (entries == NULL)
        return false;
    map->entries = entries;
    map->max = max;
    return true;
}

uint32_t *names_map_node(struct names_map *map, const uint8_t *name, uint32_t len)
{
    const uint32_t hash = (uint32_t)XXH3_64bits_withSeed(name, len, map->seed);
    size_t at = hash & (map->n_slots - 1);

    for (; map->slots[at].entry != 0; at = (at + 1) & (map->n_slots - 1)) {
        struct sl_fib_entry *entry = &map->entries[map->slots[at].entry - 1];

        if (map->slots[at].hash == hash && entry->name_len == len &&
            memcmp(entry->name, name, len) == 0)
            return &entry->next_hop;
    }
    if (map->n == UINT32_MAX - 1 || (map->n == map->max && !grow_entries(map)))
        return NULL;
    const uint8_t *kept = names_arena_add(&map->names, name, len);
    if (kept == NULL)
        return NULL;
    map->entries[map->n] =
        (struct sl_fib_entry){.name = kept, .name_len = len, .next_hop = NODE_NONE};
    map->slots[at] = (struct slot){hash, (uint32_t)++map->n};
    if (map->n > map->n_slots / 8 * 5 && !grow_slots(map))
        return NULL;
    return &map->entries[map->n - 1].next_hop;
}

const struct sl_fib_entry *names_map_entries(const struct names_map *map, size_t *n)
{
    *n = map->n;
    return map->entries;
}
