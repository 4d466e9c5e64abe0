/* SPDX-License-Identifier: MIT */
#include "app_arena.h"

#include <stdlib.h>

enum { CHUNK_MIN = 16 << 10, CHUNK_MAX = 1 << 20 };

struct app_chunk {
    struct app_chunk *next;
    size_t len, max;
    uint64_t bytes[];
};

/* Each chunk is twice the one before, up to a bound. */
static struct app_chunk *add_chunk(struct app_arena *arena, size_t len)
{
    size_t max = arena->now != NULL ? 2 * arena->now->max : CHUNK_MIN;

    max = max < CHUNK_MAX ? max : CHUNK_MAX;
    max = max < len ? len : max;
    struct app_chunk *chunk = malloc(sizeof *chunk + max);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct app_chunk){.max = max};
    if (arena->now != NULL) {
        chunk->next = arena->now->next;
        arena->now->next = chunk;
    } else {
        arena->first = chunk;
    }
    return chunk;
}

void *app_arena_take(struct app_arena *arena, size_t len)
{
    struct app_chunk *chunk = arena->now;

    len = (len + 7) & ~(size_t)7;
    while (chunk != NULL && chunk->max - chunk->len < len)
        chunk = chunk->next;
    if (chunk == NULL)
        chunk = add_chunk(arena, len);
    if (chunk == NULL)
        return NULL;
    arena->now = chunk;
    chunk->len += len;
    return (uint8_t *)chunk->bytes + chunk->len - len;
}

void app_arena_reset(struct app_arena *arena)
{
    for (struct app_chunk *chunk = arena->first; chunk != NULL; chunk = chunk->next) {
        chunk->len = 0;
        if (chunk == arena->now)
            break;
    }
    arena->now = arena->first;
}

void app_arena_free(struct app_arena *arena)
{
    while (arena->first != NULL) {
        struct app_chunk *next = arena->first->next;

        free(arena->first);
        arena->first = next;
    }
    arena->now = NULL;
}
