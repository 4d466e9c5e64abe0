/* SPDX-License-Identifier: MIT */
/* A growing array whose items never move, so that readers need no lock. Chunks of a fixed number of
 * items lie behind a table of pointers, which has its largest size from the begin. Its untouched
 * part costs address space alone. One writer. */
#ifndef NAMES_NAMES_POOL_H
#define NAMES_NAMES_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    POOL_CHUNK_BITS = 16,
    POOL_CHUNK = 1 << POOL_CHUNK_BITS, /* items */
    POOL_CHUNKS = 1 << 16              /* 2^32 items */
};

struct names_pool {
    _Atomic(char *) *chunk;
    uint32_t item_len; /* bytes */
    uint32_t n_lent;   /* leading chunks that are somebody else's memory, */
    uint64_t lent;     /* and the items there are in it */
    uint64_t n;        /* items given away */
};

static inline bool pool_init(struct names_pool *pool, uint32_t item_len)
{
    pool->item_len = item_len;
    pool->chunk = calloc(POOL_CHUNKS, sizeof *pool->chunk);
    return pool->chunk != NULL;
}

static inline void pool_free(struct names_pool *pool)
{
    for (uint32_t i = pool->n_lent; pool->chunk != NULL && i < POOL_CHUNKS; i++) {
        char *chunk = atomic_load_explicit(&pool->chunk[i], memory_order_relaxed);
        if (chunk == NULL)
            break;
        free(chunk);
    }
    free(pool->chunk);
}

static inline void *pool_at(const struct names_pool *pool, uint32_t index)
{
    return atomic_load_explicit(&pool->chunk[index >> POOL_CHUNK_BITS], memory_order_acquire) +
           (size_t)(index & (POOL_CHUNK - 1)) * pool->item_len;
}

/* k items side by side (at most POOL_CHUNK); false: no memory, or the pool is full. */
static inline bool pool_take(struct names_pool *pool, uint32_t k, uint32_t *index)
{
    uint64_t at = pool->n;

    if ((at & (POOL_CHUNK - 1)) + k > POOL_CHUNK)
        at = (at | (POOL_CHUNK - 1)) + 1;
    if (at + k >= (uint64_t)POOL_CHUNKS * POOL_CHUNK)
        return false;
    _Atomic(char *) *slot = &pool->chunk[at >> POOL_CHUNK_BITS];
    if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) {
        char *chunk = calloc(POOL_CHUNK, pool->item_len); /* files hold what was never given */
        if (chunk == NULL)
            return false;
        atomic_store_explicit(slot, chunk, memory_order_release);
    }
    pool->n = at + k;
    *index = (uint32_t)at;
    return true;
}

/* Makes the pool's first n items the ones at `items`, which are lent until the pool is freed. */
static inline void pool_lend(struct names_pool *pool, char *items, uint64_t n)
{
    pool->n_lent = (uint32_t)((n + POOL_CHUNK - 1) >> POOL_CHUNK_BITS);
    for (uint32_t i = 0; i < pool->n_lent; i++)
        atomic_store_explicit(&pool->chunk[i], items + (size_t)i * POOL_CHUNK * pool->item_len,
                              memory_order_release);
    pool->lent = n;
    pool->n = (uint64_t)pool->n_lent << POOL_CHUNK_BITS; /* the next addition begins a chunk */
}

/* Items of the chunk that begins at `index` which there is memory of: behind the lent ones fewer
 * than up to the next chunk. */
static inline uint64_t pool_run(const struct names_pool *pool, uint64_t index)
{
    const uint64_t end = index < pool->lent ? pool->lent : pool->n;

    return end - index < POOL_CHUNK ? end - index : POOL_CHUNK;
}

#endif
