/* SPDX-License-Identifier: MIT */
/* Building the plane of multiple aligned transition arrays: giving states their numbers. See
 * fib_mata_core.h. */
#include <stdlib.h>

#include "base/diag.h"
#include "fib_mata_plane.h"
#include "names/fib/fib_states.h"

enum {
    FULL_NEW = 87, /* per cent of array 0 in a new plane */
    BEHIND_ROOM = 509,
    TRIES_MANY = 2000,  /* places tried for a state of few transitions, */
    TRIES_WIDE = 8,     /* and for one of thousands */
    MORE_HOPS = 1 << 16 /* next hops that updates may bring before the plane is built anew */
};

/* ---- what is built --------------------------------------------------------------------------- */

static uint32_t prime_from(uint64_t n)
{
    for (n |= 1; !mata_is_prime(n); n += 2)
        ;
    return (uint32_t)n;
}

static void free_view(struct fib_view *view, size_t hops_len)
{
    if (view == NULL)
        return;
    for (int i = 0; i < MATA_ARRAYS; i++)
        fib_memory_give((void *)view->part[i], view->part_len[i]);
    fib_memory_give((void *)view->part[MATA_HOPS], hops_len);
    free(view);
}

void mata_free(void *plane)
{
    struct mata *mata = (struct mata *)plane;

    if (mata == NULL)
        return;
    free(mata->given);
    free(mata->n_out);
    free(mata->hop_index);
    fib_waiting_free(&mata->numbers);
    fib_waiting_free(&mata->slots);
    free_view(mata->view, mata->hops_len);
    free(mata);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Where the transitions of a new plane go. */
struct placing {
    struct mata *mata;
    const struct fib_states *states;
    uint64_t *taken;  /* a bit for each slot of array 0 */
    uint32_t *number; /* of each state, with its mark */
    uint32_t *spilled;
    size_t n_spilled;
    size_t n_more;   /* transitions behind that there is to be room for */
    uint32_t cursor; /* where the last state went: free places before it did not suit others */
};

static uint32_t next_free(const struct placing *placing, uint32_t at)
{
    const uint32_t n = placing->mata->view->n_places[0];

    for (;;) {
        if (at >= n)
            at = 0;
        const uint64_t free_bits = ~placing->taken[at / 64] & (~UINT64_C(0) << at % 64);
        const uint32_t found =
            at / 64 * 64 + (free_bits != 0 ? (uint32_t)__builtin_ctzll(free_bits) : 64);

        if (free_bits != 0 && found < n)
            return found;
        at = at / 64 * 64 + 64;
    }
}

static uint32_t collisions(const struct placing *placing, uint32_t number, uint32_t first,
                           uint32_t n, uint32_t best)
{
    const struct fib_edge *edges = placing->states->edges + first;
    uint32_t sum = 0;

    for (uint32_t i = 1; i < n && sum < best; i++)
        sum += mata_bit(placing->taken, mata_place(placing->mata->view, 0, number, edges[i].word));
    return sum;
}

/* A number for a state so that its first transition is in a free slot, and few others are not. */
static uint32_t choose_number(struct placing *placing, uint32_t first, uint32_t n)
{
    const struct fib_view *view = placing->mata->view;
    const uint32_t shift =
        mata_modulo(placing->states->edges[first].word, view->n_places[0], view->reciprocal[0]);
    const uint32_t max_tries = n == 1 ? MATA_TRIES_MAX : n > 1000 ? TRIES_WIDE : TRIES_MANY / n + 8;
    uint32_t at = placing->cursor, best = UINT32_MAX, best_number = 0;

    for (uint32_t tries = 0; best != 0 && (tries < max_tries || best_number == 0); tries++) {
        if (tries == MATA_TRIES_MAX)
            return mata_any_number(placing->mata);
        at = next_free(placing, at);

        const uint32_t number = at >= shift ? at - shift : at + view->n_places[0] - shift;
        at += n > 1000 ? view->n_places[0] / 7 : 1;
        if (number < 2 || mata_bit(placing->mata->given, number))
            continue;
        const uint32_t sum = collisions(placing, number, first, n, best);
        if (sum < best) {
            best = sum;
            best_number = number;
            placing->cursor = at;
        }
    }
    return best_number;
}

static void place_state(struct placing *placing, uint32_t state)
{
    const struct fib_states *states = placing->states;
    const uint32_t first = states->first[state], n = states->first[state + 1] - first;
    const uint32_t number =
        n != 0 ? choose_number(placing, first, n) : mata_any_number(placing->mata);

    placing->number[state] = number;
    mata_flip_bit(placing->mata->given, number);
    placing->mata->n_given++;
    placing->mata->n_out[number] = n;
    for (uint32_t i = first; i < first + n; i++) {
        const uint32_t place = mata_place(placing->mata->view, 0, number, states->edges[i].word);

        if (mata_bit(placing->taken, place)) {
            placing->number[state] |= MATA_SPILLED;
            placing->spilled[placing->n_spilled++] = i;
        } else {
            mata_flip_bit(placing->taken, place);
        }
    }
}

/* Wide states first, while there is room for them. */
static bool place_states(struct placing *placing)
{
    const struct fib_states *states = placing->states;
    uint32_t max = 0;

    for (uint32_t s = 0; s < states->n; s++)
        if (states->first[s + 1] - states->first[s] > max)
            max = states->first[s + 1] - states->first[s];

    uint32_t *at = (uint32_t *)calloc((size_t)max + 2, sizeof *at);
    uint32_t *order = (uint32_t *)calloc(((size_t)states->n + 1), sizeof *order);
    const bool good = at != NULL && order != NULL;
    for (uint32_t s = 0; s < states->n && good; s++)
        at[max - (states->first[s + 1] - states->first[s]) + 1]++;
    for (uint32_t i = 0; i < max && good; i++)
        at[i + 1] += at[i];
    for (uint32_t s = 0; s < states->n && good; s++)
        order[at[max - (states->first[s + 1] - states->first[s])]++] = s;
    for (uint32_t i = 0; i < states->n && good; i++)
        place_state(placing, order[i]);
    free(at);
    free(order);
    return good;
}

static bool set_array(struct fib_view *view, uint32_t array, uint64_t n, size_t slot_len)
{
    view->n_places[array] = prime_from(n);
    view->reciprocal[array] = UINT64_MAX / view->n_places[array] + 1;
    view->part_len[array] = view->n_places[array] * slot_len;
    view->part[array] = fib_memory_take(view->part_len[array]);
    return view->part[array] != NULL;
}

/* Everything into its slot. The states' order of placing decides in array 0 as before: where a
 * slot is taken by another one the transition is among the spilled. */
static bool fill(struct placing *placing)
{
    struct mata *mata = placing->mata;
    const struct fib_states *states = placing->states;
    uint8_t *is_spilled = (uint8_t *)calloc(states->n_edges / 8 + 1, 1);

    if (is_spilled == NULL)
        return false;
    for (size_t i = 0; i < placing->n_spilled; i++)
        is_spilled[placing->spilled[i] / 8] |= (uint8_t)(1 << placing->spilled[i] % 8);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t s = 0; s < states->n; s++)
            for (uint32_t e = states->first[s]; e < states->first[s + 1]; e++) {
                const struct fib_edge *edge = &states->edges[e];

                if ((is_spilled[e / 8] >> e % 8 & 1) != pass)
                    continue;
                const uint32_t to =
                    edge->is_leaf ? mata_leaf_of(mata, edge->to)
                                  : placing->number[edge->to] | (edge->is_entry ? MATA_ENTRY : 0);
                if (to == 0) {
                    free(is_spilled);
                    return false;
                }
                (void)mata_put(mata, placing->number[s] & MATA_VALUE, edge->word, to);
            }
    free(is_spilled);
    mata->view->root = placing->number[states->n - 1];
    return true;
}

static bool make_arrays(struct placing *placing)
{
    struct mata *mata = placing->mata;
    const size_t n_edges = placing->states->n_edges;
    const uint64_t n = (uint64_t)n_edges * 100 / FULL_NEW + BEHIND_ROOM;

    if (n >= MATA_VALUE || !set_array(mata->view, 0, n, sizeof(uint64_t)))
        return false;
    const size_t words = mata->view->n_places[0] / 64 + 1;
    mata->given = (uint64_t *)calloc(words, sizeof *mata->given);
    mata->n_out = (uint32_t *)calloc(mata->view->n_places[0], sizeof *mata->n_out);
    placing->taken = (uint64_t *)calloc(words, sizeof *placing->taken);
    placing->number = (uint32_t *)calloc((placing->states->n + (size_t)1), sizeof(uint32_t));
    placing->spilled = (uint32_t *)malloc((n_edges + 1) * sizeof(uint32_t));
    mata->hops_len = (2 * n_edges + MORE_HOPS) * sizeof *mata->hops;
    mata->view->part[MATA_HOPS] = mata->hops = (uint32_t *)fib_memory_take(mata->hops_len);
    return mata->given != NULL && mata->n_out != NULL && placing->taken != NULL &&
           placing->number != NULL && placing->spilled != NULL && mata->hops != NULL &&
           place_states(placing) &&
           set_array(mata->view, 1, placing->n_spilled + placing->n_more + BEHIND_ROOM,
                     sizeof(struct mata_slot)) &&
           set_array(mata->view, 2, mata->view->n_places[1] + placing->n_spilled / 2 + BEHIND_ROOM,
                     sizeof(struct mata_slot)) &&
           fill(placing);
}

static struct mata *make_mata(const struct fib_states *states, size_t n_more)
{
    struct mata *mata = (struct mata *)calloc(1, sizeof *mata);
    struct placing placing = {.mata = mata, .states = states, .n_more = n_more};

    if (mata == NULL || (mata->view = fib_view_make()) == NULL) {
        free(mata);
        return NULL;
    }
    mata->view->n_arrays = MATA_ARRAYS;
    const bool good = make_arrays(&placing);
    free(placing.taken);
    free(placing.number);
    free(placing.spilled);
    if (good)
        return mata;
    mata_free(mata);
    return NULL;
}

enum sl_status mata_build_anew(struct sl_fib *fib, size_t more, struct sl_diag *diag)
{
    struct fib_states states;
    struct mata *made = NULL;

    if (fib_states_make(&states, &fib->tree, &fib_cut_words)) {
        made = make_mata(&states, states.n_edges / more);
        fib_states_free(&states);
    }
    if (made == NULL || !fib_waiting_reserve(&fib->old, 1)) {
        mata_free(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0,
                        "no memory for the transition arrays of %zu names", fib->n_entries);
    }
    fib_put_plane(fib, made, made->view);
    return SL_OK;
}
