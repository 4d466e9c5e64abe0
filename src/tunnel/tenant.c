/* SPDX-License-Identifier: MIT */
#include "tenant.h"

enum { STEP_MAX = 1 << 20, STEPS = 16 /* bytes that are given back at once; steps of a cache */ };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct pair *holds_most(struct pair *const *pairs, size_t n, enum pair_cache cache,
                               uint64_t *sum)
{
    struct pair *most = pairs[0];

    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        *sum += pair_held(pairs[i], cache);
        most = pair_held(pairs[i], cache) > pair_held(most, cache) ? pairs[i] : most;
    }
    return most;
}

void tenant_settle(struct pair *const *pairs, size_t n, uint64_t cache_len)
{
    const uint64_t step = least(cache_len / STEPS, STEP_MAX);

    for (enum pair_cache cache = PAIR_SENT; cache <= PAIR_CAME; cache++) {
        uint64_t sum;
        struct pair *most = holds_most(pairs, n, cache, &sum);

        for (; sum > cache_len; most = holds_most(pairs, n, cache, &sum))
            pair_forget(most, cache, least(step, pair_held(most, cache)));
    }
}
