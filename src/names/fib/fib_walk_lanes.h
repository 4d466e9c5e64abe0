/* SPDX-License-Identifier: MIT */
/* Planes of states on one core: name after name, and many names at once. The next slot of each is
 * on its way into the cache while the others go a step.
 *
 * The file that includes this has a plane's core, defines WALK(name) as the core's names, and
 *   bool WALK(advance)(view, name, struct WALK(walk) *, uint32_t *word)
 *     fetches the slot of the walk's next stride, which becomes *word; false: the name ends */
#ifndef FIB_WALK_LANES_H
#define FIB_WALK_LANES_H

#include "fib_internal.h"

enum { LANES = 32 };

struct lane {
    struct fib_reader name;
    struct WALK(walk) walk;
    uint32_t word; /* of the stride that comes next */
    uint32_t item;
};

static void scalar_lookup(const struct fib_view *view, const struct sl_batch *batch,
                          uint32_t *next_hop, uint32_t *prefix_len)
{
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct fib_reader name = fib_item(batch, i, 1);
        const struct fib_answer answer = WALK(lookup)(view, &name);

        next_hop[i] = answer.next_hop;
        if (prefix_len != NULL)
            prefix_len[i] = answer.len;
    }
}

static inline void end_lane(const struct fib_view *view, const struct lane *lane,
                            uint32_t *next_hop, uint32_t *prefix_len)
{
    struct fib_answer answer;

    if (!WALK(answer)(view, &lane->walk, &answer))
        answer = WALK(lookup)(view, &lane->name);
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
            WALK(begin)(view, &lane->walk);
            if (WALK(advance)(view, &lane->name, &lane->walk, &lane->word))
                n_lanes++;
            else
                end_lane(view, lane, next_hop, prefix_len);
        }
        if (n_lanes == 0)
            return;
        for (uint32_t i = 0; i < n_lanes; i++) {
            struct lane *lane = &lanes[i];

            if (WALK(step)(view, &lane->walk, lane->word) &&
                WALK(advance)(view, &lane->name, &lane->walk, &lane->word))
                continue;
            end_lane(view, lane, next_hop, prefix_len);
            *lane = lanes[--n_lanes];
            i--;
        }
    }
}

#endif
