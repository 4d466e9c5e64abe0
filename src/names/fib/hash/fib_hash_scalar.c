/* SPDX-License-Identifier: MIT */
/* The hash plane on any CPU: name after name, and interleaved. */
#include "fib_hash_core.h"

static uint32_t lanes_match(const uint64_t *bucket, uint64_t tag, uint64_t *first)
{
    uint32_t match = 0;

    *first = 0;
    for (uint32_t i = HASH_SLOTS; i-- > 0;) {
        const uint64_t slot = fib_load64(&bucket[i]);
        const bool has_tag = hash_has_tag(slot, tag);

        match |= (uint32_t)has_tag << i;
        *first = has_tag ? slot : *first;
    }
    return match;
}

static bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    return hash_key_is(record, name, len);
}

#include "fib_hash_lanes.h"

static void scalar_lookup(const struct fib_view *view, const struct sl_batch *batch,
                          uint32_t *next_hop, uint32_t *prefix_len)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct fib_reader name = fib_item(batch, i, 1);
        const struct fib_answer answer = hash_lookup(view, &name);

        next_hop[i] = answer.next_hop;
        if (prefix_len != NULL)
            prefix_len[i] = answer.len;
    }
}

static void interleaved_lookup(const struct fib_view *view, const struct sl_batch *batch,
                               uint32_t *next_hop, uint32_t *prefix_len)
{
    lanes_lookup(view, batch, next_hop, prefix_len, hash_lanes);
}

FIB_CPU_BACKEND(fib_hash_scalar, "scalar", fib_cpu_usable, scalar_lookup);
FIB_CPU_BACKEND(fib_hash_interleaved, "interleaved", fib_cpu_usable, interleaved_lookup);
