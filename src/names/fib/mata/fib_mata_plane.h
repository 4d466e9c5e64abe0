/* SPDX-License-Identifier: MIT */
/* The plane of multiple aligned transition arrays as its builder and its updates share it. */
#ifndef FIB_MATA_PLANE_H
#define FIB_MATA_PLANE_H

#include "fib_mata_core.h"
#include "names/fib/fib_internal.h"

enum {
    MATA_STRIDES_MAX = SL_NAME_LEN_MAX / 2 + 1,
    MATA_MORE_NEW = 256, /* one transition in so many more will find room behind, in a new plane, */
    MATA_MORE_GROWING = 16, /* and in one that inserts have filled */
    MATA_TRIES_MAX = 4096   /* places tried before a state's first transition goes behind as well */
};

struct mata {
    struct fib_view *view;
    uint64_t *given;       /* a bit for each number of a state */
    uint32_t *n_out;       /* transitions of each state, by number */
    size_t n_main, n_last; /* slots in use in array 0 and in the last one */
    size_t n_given;        /* numbers, those that still wait included */
    uint32_t cursor;       /* where the next free slot is looked for */
    uint32_t *hops;
    size_t hops_len; /* bytes at `hops` */
    uint32_t n_hops;
    uint64_t *hop_index; /* next hop, its index + 1; open addressing, a power of two */
    uint32_t hop_places;
    struct fib_waiting numbers; /* of states */
    struct fib_waiting slots;   /* array, place */
    uint32_t words[MATA_STRIDES_MAX];
    uint64_t *path[MATA_STRIDES_MAX]; /* the transitions of a name */
    uint32_t from[MATA_STRIDES_MAX];  /* the word that led to the state of each */
};

/* ---- numbers of states and next hops (fib_mata_numbers.c) ------------------------------------ */

/* Lengths of arrays are primes. */
static inline bool mata_is_prime(uint64_t n)
{
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return n % 2 != 0 && n > 1;
}

static inline bool mata_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void mata_flip_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] ^= UINT64_C(1) << i % 64;
}

/* One that no state has, whatever is in the way of its transitions. There must be one. */
uint32_t mata_any_number(struct mata *mata);

/* Whether there is room for one next hop more. */
bool mata_has_hop_room(const struct mata *mata);

/* The leaf of a next hop, where there is room for one; 0: no memory. */
uint32_t mata_leaf_of(struct mata *mata, uint32_t hop);

/* ---- transitions ----------------------------------------------------------------------------- */

static inline uint64_t *mata_main_at(const struct mata *mata, uint32_t place)
{
    return (uint64_t *)mata_main(mata->view, place);
}

static inline struct mata_slot *mata_behind_at(const struct mata *mata, uint32_t array,
                                               uint32_t place)
{
    return (struct mata_slot *)mata_behind(mata->view, array, place);
}

/* A slot behind is free, or was taken back and is waited for no more. */
static inline bool mata_is_free(const struct mata_slot *slot)
{
    return slot->transition == 0 || (slot->transition == MATA_TAKEN_BACK && slot->state == 0);
}

/* False: it went to an array behind, and the state is to be marked. */
static inline bool mata_put(struct mata *mata, uint32_t state, uint32_t word, uint32_t to)
{
    uint64_t *first = mata_main_at(mata, mata_place(mata->view, 0, state, word));

    if (*first == 0) {
        mata->n_main++;
        fib_store64(first, mata_transition(word, to));
        return true;
    }
    struct mata_slot *slot = mata_behind_at(mata, 1, mata_place(mata->view, 1, state, word));
    if (!mata_is_free(slot)) {
        uint32_t place = mata_place(mata->view, 2, state, word);

        while (!mata_is_free(slot = mata_behind_at(mata, 2, place)))
            place = mata_next(mata->view, place, state, word);
        mata->n_last += slot->transition == 0;
    }
    fib_store64(&slot->state, state);
    fib_store64(&slot->transition, mata_transition(word, to));
    return false;
}

static inline uint64_t *mata_locate_behind(const struct mata *mata, uint32_t state, uint32_t word)
{
    struct mata_slot *slot = mata_behind_at(mata, 1, mata_place(mata->view, 1, state, word));
    uint32_t place = mata_place(mata->view, 2, state, word);

    if (slot->transition != 0 && slot->transition != MATA_TAKEN_BACK &&
        (uint32_t)slot->transition == word && slot->state == state)
        return &slot->transition;
    while ((slot = mata_behind_at(mata, 2, place))->transition != 0) {
        if (slot->transition != MATA_TAKEN_BACK && (uint32_t)slot->transition == word &&
            slot->state == state)
            return &slot->transition;
        place = mata_next(mata->view, place, state, word);
    }
    return NULL;
}

static inline uint64_t *mata_locate(const struct mata *mata, uint32_t from, uint32_t word)
{
    const uint32_t state = from & MATA_VALUE;
    uint64_t *first = mata_main_at(mata, mata_place(mata->view, 0, state, word));

    if (*first != 0 && (uint32_t)*first == word)
        return first;
    return (from & MATA_SPILLED) != 0 ? mata_locate_behind(mata, state, word) : NULL;
}

/* ---- building (fib_mata_build.c) ------------------------------------------------------------- */

/* Builds the plane anew, with room behind for one transition in `more`. SL_ENOMEM. */
enum sl_status mata_build_anew(struct sl_fib *fib, size_t more, struct sl_diag *diag);

/* Frees a plane. Accepts NULL. */
void mata_free(void *plane);

#endif
