/* SPDX-License-Identifier: MIT */
#include "flow_bits.h"

#include <stdlib.h>

bool flow_bits_open(struct flow_bits_pool *pool, uint32_t max)
{
    pool->bit = malloc(((size_t)max + 1) * sizeof *pool->bit);
    pool->max = max;
    pool->n_used = 0;
    pool->free = 0;
    return pool->bit != NULL;
}

void flow_bits_close(struct flow_bits_pool *pool)
{
    free(pool->bit);
}

struct flow_bit *flow_bits_find(const struct flow_bits_pool *pool, const struct flow_bits *bits,
                                uint64_t key)
{
    uint32_t index = bits->first;

    while (index != 0 && pool->bit[index].key != key)
        index = pool->bit[index].next;
    return index != 0 ? &pool->bit[index] : NULL;
}

/* Only the thread that has the shard writes the counters. */
static void count(atomic_uint_fast64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* An entry that no flow has; 0: there is none. */
static uint32_t take(struct flow_bits_pool *pool)
{
    const uint32_t index = pool->free;

    if (index == 0)
        return pool->n_used < pool->max ? ++pool->n_used : 0;
    pool->free = pool->bit[index].next;
    return index;
}

void flow_bits_set(struct flow_bits_pool *pool, struct flow_bits *bits, uint64_t key,
                   uint32_t value)
{
    struct flow_bit *known = flow_bits_find(pool, bits, key);

    if (known != NULL) {
        known->value = value;
        return;
    }

    const uint32_t index = bits->n < FLOW_BITS_MAX ? take(pool) : 0;

    if (index == 0) {
        count(&pool->refused, 1);
        return;
    }
    pool->bit[index] = (struct flow_bit){.key = key, .value = value, .next = bits->first};
    bits->first = index;
    bits->n++;
    count(&pool->active, 1);
}

static void give_back(struct flow_bits_pool *pool, uint32_t index)
{
    pool->bit[index].next = pool->free;
    pool->free = index;
    count(&pool->active, (uint64_t)-1);
}

void flow_bits_unset(struct flow_bits_pool *pool, struct flow_bits *bits, uint64_t key)
{
    uint32_t *link = &bits->first;

    while (*link != 0 && pool->bit[*link].key != key)
        link = &pool->bit[*link].next;
    if (*link == 0)
        return;

    const uint32_t index = *link;

    *link = pool->bit[index].next;
    bits->n--;
    give_back(pool, index);
}

void flow_bits_release(struct flow_bits_pool *pool, struct flow_bits *bits)
{
    while (bits->first != 0) {
        const uint32_t index = bits->first;

        bits->first = pool->bit[index].next;
        give_back(pool, index);
    }
    bits->n = 0;
}
