/* SPDX-License-Identifier: MIT */
#include "seam_look.h"

static inline struct seam_near near_at(const struct seam_places *places, uint32_t i)
{
    return (struct seam_near){places->before[i], places->behind[i]};
}

/* Those that the nearest byte on either side passes. */
static uint32_t pass_any(const struct seam_set *set, struct seam_places *places, uint32_t asked)
{
    uint32_t passed = 0;

    for (; asked != 0; asked &= asked - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(asked);

        places->before[i] = seam_fold(places->before[i]);
        places->behind[i] = seam_fold(places->behind[i]);
        places->ways[i] = seam_ways_any(set, near_at(places, i));
        passed |= (uint32_t)(places->ways[i] != 0) << i;
    }
    return passed;
}

/* The slot of a way; the first, which caches have, where nothing is asked of it. */
static inline const struct seam_slot *slot_of(const struct seam_set *set, enum seam_way way,
                                              struct seam_near near, uint32_t ways)
{
    return &set->slot[seam_slot_of(set, way, near) & (0 - (ways >> way & 1))];
}

/* Inlined by force: gcc drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void fetch(const struct seam_set *set,
                                                        struct seam_near near, uint32_t ways)
{
#pragma GCC unroll 4
    for (enum seam_way way = SEAM_BOTH; way < SEAM_FEW; way++)
        __builtin_prefetch(slot_of(set, way, near, ways));
}

/* Those of the ways that the next bytes pass, too. */
static inline uint32_t pass_next(const struct seam_set *set, struct seam_near near, uint32_t ways)
{
    uint32_t passed = 0;

#pragma GCC unroll 4
    for (enum seam_way way = SEAM_BOTH; way < SEAM_WAYS; way++) {
        const uint32_t next = seam_next(way, near);

        passed |= (uint32_t)((slot_of(set, way, near, ways)->next & next) == next) << way;
    }
    return passed & ways;
}

uint32_t seam_look_scalar(const struct seam_set *set, struct seam_places *places, uint32_t asked)
{
    const uint32_t some = pass_any(set, places, asked);
    uint32_t passed = 0;

    for (uint32_t rest = some; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);

        fetch(set, near_at(places, i), places->ways[i]);
    }
    for (uint32_t rest = some; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);

        places->ways[i] = pass_next(set, near_at(places, i), places->ways[i]);
        passed |= (uint32_t)(places->ways[i] != 0) << i;
    }
    return passed;
}
