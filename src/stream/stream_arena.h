/* SPDX-License-Identifier: MIT */
/* Memory of blocks of one size. A chain of blocks holds bytes. */
#ifndef STREAM_STREAM_ARENA_H
#define STREAM_STREAM_ARENA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STREAM_BLOCK_LEN = 256, /* bytes */
    STREAM_HEAD_LEN = 32,   /* bytes of a chain's first block that are no data */
    STREAM_NEXT_LEN = 8     /* of those behind it */
};

/* The head of a chain. Its holder lays its own over it, and keeps the first field. */
struct stream_head {
    uint32_t next_block; /* 0: none */
    uint8_t own[STREAM_HEAD_LEN - 4];
};

union stream_block {
    struct stream_head head;
    uint32_t next_block;
    uint8_t all[STREAM_BLOCK_LEN];
};

struct stream_arena {
    union stream_block *block; /* block 0 is none */
    uint32_t n_blocks;         /* that may be counted as taken, and block 0 */
    uint32_t n_all;            /* with those that are drawn beside them */
    uint32_t n_used;           /* that were ever used */
    uint32_t n_free;           /* of n_blocks, but for those that are counted as taken */
    uint32_t *given; /* blocks that were given back: the last is taken next. A list through the
                        blocks would wait for each of them, as they left caches */
    uint32_t n_given;
};

/* False: no memory. Pages are touched when they are used. */
bool stream_arena_open(struct stream_arena *arena, uint32_t n_blocks, uint32_t n_more);
void stream_arena_close(struct stream_arena *arena);

static inline uint64_t stream_arena_held(const struct stream_arena *arena)
{
    return (uint64_t)(arena->n_blocks - 1 - arena->n_free) * STREAM_BLOCK_LEN;
}

/* The head of a chain, or the whole of its first block. */
static inline void *stream_block_at(const struct stream_arena *arena, uint32_t index)
{
    return &arena->block[index];
}

/* Blocks of n bytes. */
static inline uint32_t stream_blocks_of(uint32_t n)
{
    const uint32_t first = STREAM_BLOCK_LEN - STREAM_HEAD_LEN;
    const uint32_t more = STREAM_BLOCK_LEN - STREAM_NEXT_LEN;

    return n <= first ? 1 : 1 + (n - first + more - 1) / more;
}

/* Takes n blocks, linked and with a zeroed head; 0: there are not so many. */
uint32_t stream_blocks_take(struct stream_arena *arena, uint32_t n);

/* Counts n blocks as taken, of which there are as many. Whoever takes them uncounts them first, or
 * draws them. */
static inline void stream_blocks_count(struct stream_arena *arena, uint32_t n)
{
    arena->n_free -= n;
}

static inline void stream_blocks_uncount(struct stream_arena *arena, uint32_t n)
{
    arena->n_free += n;
}

/* Gives a chain back. */
void stream_blocks_give(struct stream_arena *arena, uint32_t first);

/* Draws a block, which was counted, or which n_more has. It is in no chain. */
uint32_t stream_block_draw(struct stream_arena *arena);

/* Gives a block back that was drawn. It stays counted. */
static inline void stream_block_return(struct stream_arena *arena, uint32_t block)
{
    arena->given[arena->n_given++] = block;
}

/* A place among the bytes of a chain. */
struct stream_cursor {
    uint32_t block;
    uint32_t at; /* bytes from the block's first */
};

struct stream_cursor stream_cursor_at(const struct stream_arena *arena, uint32_t first,
                                      uint32_t at);

/* The next bytes that lie together, at most max_len; *len is their number. Moves the cursor. */
uint8_t *stream_cursor_next(const struct stream_arena *arena, struct stream_cursor *cursor,
                            uint32_t max_len, uint32_t *len);

void stream_blocks_write(const struct stream_arena *arena, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len);
void stream_blocks_read(const struct stream_arena *arena, uint32_t first, uint32_t at,
                        uint8_t *bytes, uint32_t len);
bool stream_blocks_equal(const struct stream_arena *arena, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len);

#endif
