/* SPDX-License-Identifier: MIT */
/* mata on one core: name after name, interleaved, and in the GPU's tiling. */
#include "fib_mata_core.h"
#include "fib_tile.h"

enum { LANES = 32 };

static void scalar_lookup(const struct fib_view *view, const struct sl_batch *batch,
                          uint32_t *next_hop, uint32_t *prefix_len)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct fib_reader name = fib_item(batch, i, 1);
        const struct fib_answer answer = mata_lookup(view, &name);

        next_hop[i] = answer.next_hop;
        if (prefix_len != NULL)
            prefix_len[i] = answer.len;
    }
}

struct lane {
    struct fib_reader name;
    struct mata_walk walk;
    uint32_t word;
    uint32_t item;
};

/* The next stride of a lane, and the way to its slot. */
static inline bool advance(const struct fib_view *view, struct lane *lane)
{
    if (!mata_stride(&lane->name, &lane->walk.cursor, &lane->word))
        return false;
    __builtin_prefetch(
        mata_main(view, mata_place(view, 0, lane->walk.from & MATA_VALUE, lane->word)));
    return true;
}

static inline void end_lane(const struct fib_view *view, const struct lane *lane,
                            uint32_t *next_hop, uint32_t *prefix_len)
{
    struct fib_answer answer;

    if (!mata_answer(view, &lane->walk, &answer))
        answer = mata_lookup(view, &lane->name);
    next_hop[lane->item] = answer.next_hop;
    if (prefix_len != NULL)
        prefix_len[lane->item] = answer.len;
}

/* A lane that is done takes the next name. */
static void lanes_lookup(const struct fib_view *view, const struct sl_batch *batch,
                         uint32_t *next_hop, uint32_t *prefix_len)
{
    struct lane lanes[LANES];
    uint32_t n_lanes = 0, next = 0;

    for (;;) {
        while (n_lanes < LANES && next < batch->n_items) {
            struct lane *lane = &lanes[n_lanes];

            if (next + LANES < batch->n_items)
                __builtin_prefetch(batch->bytes + batch->payload[next + LANES].offset);
            lane->item = next;
            lane->name = fib_item(batch, next++, 1);
            mata_begin(view, &lane->walk);
            if (advance(view, lane))
                n_lanes++;
            else
                end_lane(view, lane, next_hop, prefix_len);
        }
        if (n_lanes == 0)
            return;
        for (uint32_t i = 0; i < n_lanes; i++) {
            struct lane *lane = &lanes[i];

            if (mata_go(&lane->walk, mata_find(view, lane->walk.from, lane->word)) &&
                advance(view, lane))
                continue;
            end_lane(view, lane, next_hop, prefix_len);
            *lane = lanes[--n_lanes];
            i--;
        }
    }
}

FIB_CPU_BACKEND(fib_mata_scalar, "scalar", fib_cpu_usable, scalar_lookup);
FIB_CPU_BACKEND(fib_mata_interleaved, "interleaved", fib_cpu_usable, lanes_lookup);
FIB_TILED_BACKENDS(mata, mata_lookup);
