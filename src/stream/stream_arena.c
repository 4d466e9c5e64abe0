/* SPDX-License-Identifier: MIT */
#include "stream_arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

enum { TAKES_AHEAD = 4 }; /* blocks that are fetched */

bool stream_arena_open(struct stream_arena *arena, uint32_t n_blocks, uint32_t n_more)
{
    const size_t n = (size_t)n_blocks + n_more;

    *arena = (struct stream_arena){
        .n_blocks = n_blocks, .n_all = (uint32_t)n, .n_used = 1, .n_free = n_blocks - 1};
    arena->block = (union stream_block *)pages_alloc(n * sizeof *arena->block);
    arena->given = (uint32_t *)malloc(n * sizeof *arena->given);
    return arena->block != NULL && arena->given != NULL;
}

void stream_arena_close(struct stream_arena *arena)
{
    pages_free(arena->block, arena->n_all * sizeof *arena->block);
    free(arena->given);
    arena->block = NULL;
    arena->given = NULL;
}

uint32_t stream_block_draw(struct stream_arena *arena)
{
    const uint32_t block = arena->n_given != 0 ? arena->given[--arena->n_given] : arena->n_used++;

    if (arena->n_given >= TAKES_AHEAD)
        __builtin_prefetch(&arena->block[arena->given[arena->n_given - TAKES_AHEAD]], 1);
    return block;
}

uint32_t stream_blocks_take(struct stream_arena *arena, uint32_t n)
{
    uint32_t first = 0;

    if (n > arena->n_free)
        return 0;
    arena->n_free -= n;
    while (n-- > 0) {
        const uint32_t index = stream_block_draw(arena);

        arena->block[index].next_block = first;
        first = index;
    }

    struct stream_head *head = &arena->block[first].head;

    *head = (struct stream_head){.next_block = head->next_block};
    return first;
}

void stream_blocks_give(struct stream_arena *arena, uint32_t first)
{
    while (first != 0) {
        const uint32_t next = arena->block[first].next_block;

        arena->given[arena->n_given++] = first;
        arena->n_free++;
        first = next;
    }
}

struct stream_cursor stream_cursor_at(const struct stream_arena *arena, uint32_t first, uint32_t at)
{
    uint32_t head = STREAM_HEAD_LEN;

    while (at >= STREAM_BLOCK_LEN - head) {
        at -= STREAM_BLOCK_LEN - head;
        head = STREAM_NEXT_LEN;
        first = arena->block[first].next_block;
    }
    return (struct stream_cursor){first, head + at};
}

uint8_t *stream_cursor_next(const struct stream_arena *arena, struct stream_cursor *cursor,
                            uint32_t max_len, uint32_t *len)
{
    union stream_block *block = &arena->block[cursor->block];
    const uint32_t rest = STREAM_BLOCK_LEN - cursor->at;
    uint8_t *bytes = block->all + cursor->at;

    *len = rest < max_len ? rest : max_len;
    cursor->at += *len;
    if (cursor->at == STREAM_BLOCK_LEN)
        *cursor = (struct stream_cursor){block->next_block, STREAM_NEXT_LEN};
    return bytes;
}

void stream_blocks_write(const struct stream_arena *arena, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(arena, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        uint8_t *to = stream_cursor_next(arena, &cursor, len, &part);

        memcpy(to, bytes, part);
    }
}

void stream_blocks_read(const struct stream_arena *arena, uint32_t first, uint32_t at,
                        uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(arena, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        const uint8_t *from = stream_cursor_next(arena, &cursor, len, &part);

        memcpy(bytes, from, part);
    }
}

bool stream_blocks_equal(const struct stream_arena *arena, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(arena, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        const uint8_t *held = stream_cursor_next(arena, &cursor, len, &part);

        if (memcmp(held, bytes, part) != 0)
            return false;
    }
    return true;
}
