/* SPDX-License-Identifier: MIT */
#include "rule_memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_LEN = 65536, ALIGN = alignof(max_align_t) };

struct rule_chunk {
    struct rule_chunk *before;
    size_t used;
    size_t cap;
    alignas(max_align_t) unsigned char bytes[];
};

static struct rule_chunk *add_chunk(struct rule_arena *arena, size_t len)
{
    const size_t cap = len > CHUNK_LEN ? len : CHUNK_LEN;

    if (cap > SIZE_MAX - sizeof(struct rule_chunk))
        return NULL;

    struct rule_chunk *chunk = malloc(sizeof *chunk + cap);

    if (chunk == NULL)
        return NULL;
    *chunk = (struct rule_chunk){.before = arena->chunk, .cap = cap};
    arena->chunk = chunk;
    return chunk;
}

void *rule_arena_alloc(struct rule_arena *arena, size_t len)
{
    struct rule_chunk *chunk = arena->chunk;

    if (len > SIZE_MAX - ALIGN)
        return NULL;
    len = (len + ALIGN - 1) / ALIGN * ALIGN;
    if (chunk == NULL || chunk->cap - chunk->used < len) {
        chunk = add_chunk(arena, len);
        if (chunk == NULL)
            return NULL;
    }

    void *bytes = chunk->bytes + chunk->used;

    chunk->used += len;
    return memset(bytes, 0, len);
}

void *rule_arena_copy(struct rule_arena *arena, const void *bytes, size_t len)
{
    void *copy = rule_arena_alloc(arena, len);

    if (copy != NULL && len != 0)
        memcpy(copy, bytes, len);
    return copy;
}

char *rule_arena_text(struct rule_arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? rule_arena_alloc(arena, len + 1) : NULL;

    if (copy != NULL && len != 0)
        memcpy(copy, text, len);
    return copy;
}

struct rule_mark rule_arena_mark(const struct rule_arena *arena)
{
    return (struct rule_mark){arena->chunk, arena->chunk != NULL ? arena->chunk->used : 0};
}

void rule_arena_release(struct rule_arena *arena, struct rule_mark mark)
{
    while (arena->chunk != mark.chunk) {
        struct rule_chunk *before = arena->chunk->before;

        free(arena->chunk);
        arena->chunk = before;
    }
    if (arena->chunk != NULL)
        arena->chunk->used = mark.used;
}

void rule_arena_free(struct rule_arena *arena)
{
    rule_arena_release(arena, (struct rule_mark){NULL, 0});
}

void *rule_grow(void *array, size_t *cap, size_t n, size_t element_len)
{
    if (n < *cap)
        return array;

    const size_t more = *cap == 0 ? 16 : *cap * 2;
    if (more > SIZE_MAX / 2 / element_len)
        return NULL;

    void *grown = realloc(array, more * element_len);
    if (grown != NULL)
        *cap = more;
    return grown;
}

struct rule_slot {
    const void *key; /* NULL: free */
    size_t key_len;
    uint64_t hash;
    void *value;
};

/* FNV-1a with a final mix, as the low bits choose the slot. */
static uint64_t hash_of(const void *key, size_t key_len)
{
    const unsigned char *at = key;
    uint64_t hash = 0xCBF29CE484222325u;

    for (size_t i = 0; i < key_len; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

/* The key's slot, or the free one where it belongs. The map has a free slot. */
static struct rule_slot *slot_of(const struct rule_map *map, const void *key, size_t key_len,
                                 uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct rule_slot *slot = &map->slot[i & (map->n_slots - 1)];

        if (slot->key == NULL || (slot->hash == hash && slot->key_len == key_len &&
                                  memcmp(slot->key, key, key_len) == 0))
            return slot;
    }
}

void *rule_map_get(const struct rule_map *map, const void *key, size_t key_len)
{
    if (map->n_slots == 0)
        return NULL;
    return slot_of(map, key, key_len, hash_of(key, key_len))->value;
}

static bool widen(struct rule_map *map)
{
    struct rule_map wide = {.n_slots = map->n_slots == 0 ? 64 : map->n_slots * 2,
                            .n_used = map->n_used};

    wide.slot = calloc(wide.n_slots, sizeof *wide.slot);
    if (wide.slot == NULL)
        return false;
    for (size_t i = 0; i < map->n_slots; i++) {
        const struct rule_slot *slot = &map->slot[i];

        if (slot->key != NULL)
            *slot_of(&wide, slot->key, slot->key_len, slot->hash) = *slot;
    }
    free(map->slot);
    *map = wide;
    return true;
}

bool rule_map_put(struct rule_map *map, const void *key, size_t key_len, void *value)
{
    if (map->n_used >= map->n_slots / 2 && !widen(map))
        return false;

    const uint64_t hash = hash_of(key, key_len);
    struct rule_slot *slot = slot_of(map, key, key_len, hash);

    map->n_used += slot->key == NULL;
    *slot = (struct rule_slot){key, key_len, hash, value};
    return true;
}

void rule_map_free(struct rule_map *map)
{
    free(map->slot);
    *map = (struct rule_map){NULL, 0, 0};
}
