/* SPDX-License-Identifier: MIT */
/* ata and stt on one core: name after name, as the paper's baselines, interleaved, and in the GPU's
 * tiling. */
#include "fib_ata_core.h"
#include "fib_tile.h"

enum { LANES = 32 };

static void scalar_lookup(const struct fib_view *view, const struct sl_batch *batch,
                          uint32_t *next_hop, uint32_t *prefix_len)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct fib_reader name = fib_item(batch, i, 1);
        const struct fib_answer answer = ata_lookup(view, &name);

        next_hop[i] = answer.next_hop;
        if (prefix_len != NULL)
            prefix_len[i] = answer.len;
    }
}

struct lane {
    struct fib_reader name;
    struct ata_walk walk;
    uint32_t item;
};

static inline uint8_t next_byte(const struct lane *lane)
{
    return ((const uint8_t *)lane->name.words)[lane->walk.at];
}

static inline void end_lane(const struct fib_view *view, const struct lane *lane,
                            uint32_t *next_hop, uint32_t *prefix_len)
{
    struct fib_answer answer;

    if (!ata_answer(view, &lane->walk, &answer))
        answer = ata_lookup(view, &lane->name);
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
        for (; n_lanes < LANES && next < batch->n_items; n_lanes++, next++) {
            lanes[n_lanes].item = next;
            lanes[n_lanes].name = fib_item(batch, next, 1);
            ata_begin(view, &lanes[n_lanes].walk);
        }
        if (n_lanes == 0)
            return;
        for (uint32_t i = 0; i < n_lanes; i++) {
            struct lane *lane = &lanes[i];

            if (lane->walk.at < lane->name.len && ata_step(view, &lane->walk, next_byte(lane)) &&
                lane->walk.at < lane->name.len) {
                __builtin_prefetch(ata_at(view, lane->walk.state, next_byte(lane)));
                continue;
            }
            end_lane(view, lane, next_hop, prefix_len);
            *lane = lanes[--n_lanes];
            i--;
        }
    }
}

FIB_CPU_BACKEND(fib_ata_scalar, "scalar", fib_cpu_usable, scalar_lookup);
FIB_CPU_BACKEND(fib_ata_interleaved, "interleaved", fib_cpu_usable, lanes_lookup);
FIB_TILED_BACKENDS(ata, ata_lookup);
