/* SPDX-License-Identifier: MIT */
/* Multiple aligned transition arrays (sections 2.3 and 2.4). Compiled by C and by nvcc.
 *
 * A stride is a word of up to four bytes that ends where its component ends. An ordinary component
 * of up to 252 bytes begins with the stride of its length and its first three bytes. Any other
 * begins with 255 and the first three bytes of its encoding. So the strides give a component's
 * length. No stride but a component's first begins with 253 at a border, so MATA_END is free there.
 * It is the stride to the next hop of a state that has further transitions.
 *
 * Array 0: a state is a unique number below the array's prime length. Its transition on a word is
 * in the slot of state + word modulo the length. Slot and word determine the state, so the word
 * alone is compared. Colliding transitions move to later arrays, whose slots hold the state too.
 * Each takes the first array where its slot is free. In the last array it takes the next free slot
 * in steps of its own. States of such transitions are marked. Other primes separate words that one
 * cannot.
 *
 * A transition is its word and, in the upper half, where it leads: a state, or for a leaf an index
 * of a next hop. */
#ifndef FIB_MATA_CORE_H
#define FIB_MATA_CORE_H

#include "names/fib/fib_view.h"

enum { MATA_ARRAYS = 3, MATA_HOPS = 3 /* the part behind the arrays */ };

#define MATA_ENTRY (UINT32_C(1) << 31)   /* an entry ends here */
#define MATA_SPILLED (UINT32_C(1) << 30) /* the state has transitions behind array 0 */
#define MATA_LEAF (UINT32_C(1) << 29)    /* nothing goes on from here */
#define MATA_VALUE (MATA_LEAF - 1)       /* the state, or the next hop's index */
#define MATA_END UINT32_C(253)
#define MATA_TAKEN_BACK                                                         \
    (UINT64_C(1) << 32) /* a slot of the last array that search goes on behind: \
                           no leaf, and state 1, which is never given */

struct mata_slot { /* of the arrays behind */
    uint64_t transition;
    uint64_t state;
};

FIB_CORE uint64_t mata_transition(uint32_t word, uint32_t to)
{
    return (uint64_t)to << 32 | word;
}

/* word % n by a multiplication, exact for 32 bits (Lemire, Kaser and Kurz 2019): the reciprocal is
 * the ceiling of 2^64 / n. */
FIB_CORE uint32_t mata_modulo(uint32_t word, uint32_t n, uint64_t reciprocal)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__umul64hi(reciprocal * word, n);
#else
    return (uint32_t)((unsigned __int128)(reciprocal * word) * n >> 64);
#endif
}

FIB_CORE uint32_t mata_place(const struct fib_view *view, uint32_t array, uint32_t state,
                             uint32_t word)
{
    const uint32_t n = view->n_places[array];
    const uint32_t place = mata_modulo(word, n, view->reciprocal[array]) +
                           (array == 0 ? state : mata_modulo(state, n, view->reciprocal[array]));

    return place >= n ? place - n : place;
}

/* Where search in the last array goes on. Words of a wide state differ by one in their length and
 * by a few in each letter. In steps of one they would collide over thousands of slots. As the
 * length is prime each step comes to all of them. */
FIB_CORE uint32_t mata_next(const struct fib_view *view, uint32_t place, uint32_t state,
                            uint32_t word)
{
    const uint32_t n = view->n_places[2];
    const uint32_t mixed = (word ^ state * UINT32_C(0x85EBCA6B)) * UINT32_C(0x9E3779B1);
    const uint32_t step = 1 + (uint32_t)((uint64_t)mixed * (n - 1) >> 32);

    return place < n - step ? place + step : place - (n - step);
}

FIB_CORE const uint64_t *mata_main(const struct fib_view *view, uint32_t place)
{
    return (const uint64_t *)view->part[0] + place;
}

FIB_CORE const struct mata_slot *mata_behind(const struct fib_view *view, uint32_t array,
                                             uint32_t place)
{
    return (const struct mata_slot *)view->part[array] + place;
}

/* Where a marked state's transition leads, 0: nowhere. */
FIB_CORE uint32_t mata_find_behind(const struct fib_view *view, uint32_t state, uint32_t word)
{
    uint32_t place = mata_place(view, 1, state, word);
    const struct mata_slot *slot = mata_behind(view, 1, place);
    uint64_t transition = fib_load64(&slot->transition);

    if ((uint32_t)transition == word && transition != 0 && transition != MATA_TAKEN_BACK &&
        fib_load64(&slot->state) == state)
        return (uint32_t)(transition >> 32);
    place = mata_place(view, 2, state, word);
    for (;;) {
        slot = mata_behind(view, 2, place);
        transition = fib_load64(&slot->transition);
        if (transition == 0)
            return 0;
        if ((uint32_t)transition == word && transition != MATA_TAKEN_BACK &&
            fib_load64(&slot->state) == state)
            return (uint32_t)(transition >> 32);
        place = mata_next(view, place, state, word);
    }
}

/* Where a transition leads, 0: there is none. `from` is what led to its state. */
FIB_CORE uint32_t mata_find(const struct fib_view *view, uint32_t from, uint32_t word)
{
    const uint32_t state = from & MATA_VALUE;
    const uint64_t transition = fib_load64(mata_main(view, mata_place(view, 0, state, word)));

    if ((uint32_t)transition == word && transition != 0)
        return (uint32_t)(transition >> 32);
    return (from & MATA_SPILLED) != 0 ? mata_find_behind(view, state, word) : 0;
}

/* Where in a name a walk is. */
struct mata_cursor {
    uint32_t at;
    uint32_t end; /* of the component, or `at` at a border */
};

FIB_CORE uint32_t mata_keep(uint32_t word, uint32_t n_bytes)
{
    return n_bytes >= 4 ? word : word & ((UINT32_C(1) << n_bytes * 8) - 1);
}

/* The next stride's word. False: the name ends. */
FIB_CORE bool mata_stride(const struct fib_reader *name, struct mata_cursor *cursor, uint32_t *word)
{
    uint32_t left, n, head;

    if (cursor->at == cursor->end) {
        cursor->end = fib_component_end(name, cursor->at, &head);
        if (cursor->end == cursor->at)
            return false;
        left = cursor->end - cursor->at;
        if (fib_read8(name, cursor->at) == SL_NAME_GENERIC && head == 2) {
            *word = mata_keep(fib_read32(name, cursor->at + 1), left - 1);
            n = 5;
        } else {
            *word = 255 | mata_keep(fib_read32(name, cursor->at), left < 3 ? left : 3) << 8;
            n = 3;
        }
    } else {
        left = cursor->end - cursor->at;
        *word = mata_keep(fib_read32(name, cursor->at), left);
        n = 4;
    }
    cursor->at += n < left ? n : left;
    return true;
}

/* An entry that a walk passed: a leaf, or a state that continues. The transition on MATA_END is
 * looked up for the last one alone. */
struct mata_walk {
    struct mata_cursor cursor;
    uint32_t from; /* the word that led to the state */
    uint32_t entry, entry_len;
};

FIB_CORE void mata_begin(const struct fib_view *view, struct mata_walk *walk)
{
    walk->cursor.at = 0;
    walk->cursor.end = 0;
    walk->from = fib_load32(&view->root);
    walk->entry = 0;
    walk->entry_len = 0;
}

/* The stride before the cursor; false: nothing goes on. */
FIB_CORE bool mata_step(const struct fib_view *view, struct mata_walk *walk, uint32_t word)
{
    const uint32_t to = mata_find(view, walk->from, word);

    if (to == 0)
        return false;
    if ((to & MATA_ENTRY) != 0) {
        walk->entry = to;
        walk->entry_len = walk->cursor.at;
    }
    walk->from = to;
    return (to & MATA_LEAF) == 0;
}

/* False: the entry went while the walk went on; it is to begin anew. */
FIB_CORE bool mata_answer(const struct fib_view *view, const struct mata_walk *walk,
                          struct fib_answer *answer)
{
    uint32_t leaf = walk->entry;

    if (walk->entry == 0) {
        *answer = fib_root_answer(view);
        return true;
    }
    if ((leaf & MATA_LEAF) == 0)
        leaf = mata_find(view, leaf, MATA_END);
    if (leaf == 0)
        return false;
    answer->next_hop = fib_load32((const uint32_t *)view->part[MATA_HOPS] + (leaf & MATA_VALUE));
    answer->len = walk->entry_len;
    return true;
}

FIB_CORE struct fib_answer mata_lookup(const struct fib_view *view, const struct fib_reader *name)
{
    struct fib_answer answer;
    struct mata_walk walk;
    uint32_t word;

    do {
        mata_begin(view, &walk);
        while (mata_stride(name, &walk.cursor, &word) && mata_step(view, &walk, word))
            ;
    } while (!mata_answer(view, &walk, &answer));
    return answer;
}

#endif
