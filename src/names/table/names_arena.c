/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "names_internal.h"

enum { BLOCK_LEN = 1 << 20 /* bytes; of them only those that are written take memory */ };

struct names_block {
    struct names_block *next;
    uint8_t bytes[];
};

static bool add_block(struct names_arena *arena, size_t least)
{
    const size_t len = least > BLOCK_LEN ? least : BLOCK_LEN;
    struct names_block *block = malloc(sizeof *block + len);

    if (block == NULL)
        return false;
    block->next = arena->blocks;
    *arena = (struct names_arena){block, block->bytes, block->bytes + len};
    return true;
}

const void *names_arena_add(struct names_arena *arena, const void *bytes, size_t len)
{
    if ((arena->blocks == NULL || (size_t)(arena->end - arena->at) < len) && !add_block(arena, len))
        return NULL;
    uint8_t *copy = arena->at;
    if (len != 0)
        memcpy(copy, bytes, len);
    arena->at += len;
    return copy;
}

void names_arena_free(struct names_arena *arena)
{
    while (arena->blocks != NULL) {
        struct names_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
