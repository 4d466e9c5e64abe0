/* SPDX-License-Identifier: MIT */
/* The plane of multiple aligned transition arrays: giving states their numbers, and changing it
 * under look-ups. See fib_mata_core.h. */
#include "fib_mata_core.h"

#include <stdlib.h>

#include "base/diag.h"
#include "names/fib/fib_internal.h"
#include "names/fib/fib_states.h"

enum {
    FULL_NEW = 87,   /* per cent of array 0 in a new plane */
    FULL_MAX = 95,   /* and of one that grows; a state's number is then still found soon */
    BEHIND_MAX = 60, /* of the last array */
    BEHIND_ROOM = 509,
    MORE_NEW = 256,    /* one transition in so many more will find room behind, in a new plane, */
    MORE_GROWING = 16, /* and in one that inserts have filled */
    TRIES_MANY = 2000, /* places tried for a state of few transitions, */
    TRIES_WIDE = 8,    /* and for one of thousands */
    TRIES_TWO = 64,    /* under look-ups */
    TRIES_MAX = 4096,  /* before a state's first transition goes behind as well */
    MAX_STRIDES = SL_NAME_LEN_MAX / 2 + 1,
    MORE_HOPS = 1 << 16 /* next hops that updates may bring before the plane is built anew */
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
    uint32_t words[MAX_STRIDES];
    uint64_t *path[MAX_STRIDES]; /* the transitions of a name */
    uint32_t from[MAX_STRIDES];  /* what led to the state that each begins at */
};

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_prime(uint64_t n)
{
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return n % 2 != 0 && n > 1;
}

static uint32_t prime_from(uint64_t n)
{
    for (n |= 1; !is_prime(n); n += 2)
        ;
    return (uint32_t)n;
}

static bool bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

static void flip_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] ^= UINT64_C(1) << i % 64;
}

/* One that no state has, whatever is in the way of its transitions. has_room sees to it that there
 * is one; when building there are fewer states than slots. */
static uint32_t any_number(struct mata *mata)
{
    do
        mata->cursor = mata->cursor + 1 < mata->view->n_places[0] ? mata->cursor + 1 : 2;
    while (bit(mata->given, mata->cursor));
    return mata->cursor;
}

static uint32_t hop_place(const struct mata *mata, uint32_t hop)
{
    uint32_t place = (uint32_t)(hop * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (mata->hop_places - 1);

    while (mata->hop_index[place] != 0 && mata->hop_index[place] >> 32 != hop)
        place = (place + 1) & (mata->hop_places - 1);
    return place;
}

static bool grow_hops(struct mata *mata)
{
    const uint32_t n_old = mata->hop_places;
    uint64_t *old = mata->hop_index;

    if (mata->n_hops < n_old / 2)
        return true;
    mata->hop_places = n_old != 0 ? n_old * 2 : 64;
    mata->hop_index = (uint64_t *)calloc(mata->hop_places, sizeof *mata->hop_index);
    if (mata->hop_index == NULL) {
        mata->hop_index = old;
        mata->hop_places = n_old;
        return false;
    }
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i] != 0)
            mata->hop_index[hop_place(mata, (uint32_t)(old[i] >> 32))] = old[i];
    free(old);
    return true;
}

static bool has_hop_room(const struct mata *mata)
{
    return (mata->n_hops + 1) * sizeof *mata->hops <= mata->hops_len;
}

/* The leaf of a next hop, where there is room for one; 0: no memory. */
static uint32_t leaf_of(struct mata *mata, uint32_t hop)
{
    if (!grow_hops(mata))
        return 0;

    const uint32_t place = hop_place(mata, hop);
    if (mata->hop_index[place] == 0) {
        fib_store32(&mata->hops[mata->n_hops], hop);
        mata->hop_index[place] = (uint64_t)hop << 32 | ++mata->n_hops;
        mata->view->part_len[MATA_HOPS] = mata->n_hops * sizeof(uint32_t);
    }
    return MATA_LEAF | MATA_ENTRY | ((uint32_t)mata->hop_index[place] - 1);
}

/* ---- transitions ----------------------------------------------------------------------------- */

static uint64_t *main_at(const struct mata *mata, uint32_t place)
{
    return (uint64_t *)mata_main(mata->view, place);
}

static struct mata_slot *behind_at(const struct mata *mata, uint32_t array, uint32_t place)
{
    return (struct mata_slot *)mata_behind(mata->view, array, place);
}

/* A slot behind is free, or was taken back and is waited for no more. */
static bool is_free(const struct mata_slot *slot)
{
    return slot->transition == 0 || (slot->transition == MATA_TAKEN_BACK && slot->state == 0);
}

/* False: it went to an array behind, and the state is to be marked. */
static bool put(struct mata *mata, uint32_t state, uint32_t word, uint32_t to)
{
    uint64_t *first = main_at(mata, mata_place(mata->view, 0, state, word));

    if (*first == 0) {
        mata->n_main++;
        fib_store64(first, mata_transition(word, to));
        return true;
    }
    struct mata_slot *slot = behind_at(mata, 1, mata_place(mata->view, 1, state, word));
    if (!is_free(slot)) {
        uint32_t place = mata_place(mata->view, 2, state, word);

        while (!is_free(slot = behind_at(mata, 2, place)))
            place = mata_next(mata->view, place, state, word);
        mata->n_last += slot->transition == 0;
    }
    fib_store64(&slot->state, state);
    fib_store64(&slot->transition, mata_transition(word, to));
    return false;
}

static uint64_t *locate_behind(const struct mata *mata, uint32_t state, uint32_t word)
{
    struct mata_slot *slot = behind_at(mata, 1, mata_place(mata->view, 1, state, word));
    uint32_t place = mata_place(mata->view, 2, state, word);

    if (slot->transition != 0 && slot->transition != MATA_TAKEN_BACK &&
        (uint32_t)slot->transition == word && slot->state == state)
        return &slot->transition;
    while ((slot = behind_at(mata, 2, place))->transition != 0) {
        if (slot->transition != MATA_TAKEN_BACK && (uint32_t)slot->transition == word &&
            slot->state == state)
            return &slot->transition;
        place = mata_next(mata->view, place, state, word);
    }
    return NULL;
}

static uint64_t *locate(const struct mata *mata, uint32_t from, uint32_t word)
{
    const uint32_t state = from & MATA_VALUE;
    uint64_t *first = main_at(mata, mata_place(mata->view, 0, state, word));

    if (*first != 0 && (uint32_t)*first == word)
        return first;
    return (from & MATA_SPILLED) != 0 ? locate_behind(mata, state, word) : NULL;
}

static void lead(uint64_t *transition, uint32_t to)
{
    fib_store64(transition, mata_transition((uint32_t)*transition, to));
}

/* A slot of array 0 may be used again at once: only the same state would take its word for its
 * own, and numbers wait. A slot behind has two words, so it waits itself. */
static void erase(struct sl_fib *fib, uint64_t *transition)
{
    struct mata *mata = (struct mata *)fib->plane;
    const uint64_t *begin = main_at(mata, 0);

    if (transition >= begin && transition < begin + mata->view->n_places[0]) {
        mata->n_main--;
        fib_store64(transition, 0);
        return;
    }
    struct mata_slot *slot = (struct mata_slot *)(void *)transition;
    const uint32_t array =
        slot >= behind_at(mata, 2, 0) && slot < behind_at(mata, 2, mata->view->n_places[2]) ? 2 : 1;

    fib_store64(transition, MATA_TAKEN_BACK);
    fib_waiting_add(&mata->slots,
                    &(struct fib_retired){.mark = fib_retire(fib),
                                          .what = (uint64_t)(slot - behind_at(mata, array, 0)),
                                          .len = array});
}

static void give_back(struct sl_fib *fib, uint32_t number)
{
    struct mata *mata = (struct mata *)fib->plane;

    fib_waiting_add(&mata->numbers, &(struct fib_retired){.mark = fib_retire(fib), .what = number});
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

/* ---- a plane and what it was before ---------------------------------------------------------- */

static void mata_free(void *plane)
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

static void mata_collect(struct sl_fib *fib, uint64_t oldest)
{
    struct mata *mata = (struct mata *)fib->plane;
    struct fib_retired retired;

    while (fib_waiting_take(&mata->numbers, oldest, &retired)) {
        flip_bit(mata->given, (uint32_t)retired.what);
        mata->n_given--;
    }
    while (fib_waiting_take(&mata->slots, oldest, &retired)) {
        struct mata_slot *slot = behind_at(mata, (uint32_t)retired.len, (uint32_t)retired.what);

        /* In the last array search goes on behind it. */
        fib_store64(&slot->state, 0);
        if (retired.len == 1)
            fib_store64(&slot->transition, 0);
    }
}

/* ---- build ----------------------------------------------------------------------------------- */

/* Where the transitions of a new plane go. */
struct placing {
    struct mata *mata;
    const struct fib_states *states;
    uint64_t *taken;  /* a bit for each slot of array 0 */
    uint32_t *number; /* of each state, with its mark */
    uint32_t *spilled;
    size_t n_spilled;
    size_t n_more;   /* transitions behind that there is to be room for */
    uint32_t cursor; /* where the last state went: what is free before it did not suit others */
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
        sum += bit(placing->taken, mata_place(placing->mata->view, 0, number, edges[i].word));
    return sum;
}

/* A number for a state so that its first transition is in a free slot, and few others are not. */
static uint32_t choose_number(struct placing *placing, uint32_t first, uint32_t n)
{
    const struct fib_view *view = placing->mata->view;
    const uint32_t shift =
        mata_modulo(placing->states->edges[first].word, view->n_places[0], view->reciprocal[0]);
    const uint32_t max_tries = n == 1 ? TRIES_MAX : n > 1000 ? TRIES_WIDE : TRIES_MANY / n + 8;
    uint32_t at = placing->cursor, best = UINT32_MAX, best_number = 0;

    for (uint32_t tries = 0; best != 0 && (tries < max_tries || best_number == 0); tries++) {
        if (tries == TRIES_MAX)
            return any_number(placing->mata);
        at = next_free(placing, at);

        const uint32_t number = at >= shift ? at - shift : at + view->n_places[0] - shift;
        at += n > 1000 ? view->n_places[0] / 7 : 1;
        if (number < 2 || bit(placing->mata->given, number))
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
    const uint32_t number = n != 0 ? choose_number(placing, first, n) : any_number(placing->mata);

    placing->number[state] = number;
    flip_bit(placing->mata->given, number);
    placing->mata->n_given++;
    placing->mata->n_out[number] = n;
    for (uint32_t i = first; i < first + n; i++) {
        const uint32_t place = mata_place(placing->mata->view, 0, number, states->edges[i].word);

        if (bit(placing->taken, place)) {
            placing->number[state] |= MATA_SPILLED;
            placing->spilled[placing->n_spilled++] = i;
        } else {
            flip_bit(placing->taken, place);
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
                    edge->is_leaf ? leaf_of(mata, edge->to)
                                  : placing->number[edge->to] | (edge->is_entry ? MATA_ENTRY : 0);
                if (to == 0) {
                    free(is_spilled);
                    return false;
                }
                (void)put(mata, placing->number[s] & MATA_VALUE, edge->word, to);
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

static enum sl_status build(struct sl_fib *fib, size_t more, struct sl_diag *diag)
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

static enum sl_status mata_build(struct sl_fib *fib, struct sl_diag *diag)
{
    return build(fib, MORE_NEW, diag);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* The strides of a name into mata->words. */
static uint32_t split(struct mata *mata, const uint8_t *name, uint32_t len)
{
    struct sl_name_component component;
    uint32_t n = 0;

    for (size_t begin = 0, end = 0; sl_name_next(name, len, &end, &component); begin = end)
        for (uint32_t at = 0; at < end - begin;)
            mata->words[n++] = fib_cut_words.stride(name + begin, (uint32_t)(end - begin), &at);
    return n;
}

/* A new state of one or two transitions, which nothing leads to yet; returns what leads to it. */
static uint32_t make_state(struct mata *mata, const uint32_t *words, const uint32_t *tos,
                           uint32_t n)
{
    const struct fib_view *view = mata->view;
    const uint32_t shift = mata_modulo(words[0], view->n_places[0], view->reciprocal[0]);
    uint32_t number = 0;

    for (uint32_t tries = 0;; tries++) {
        if (tries == TRIES_MAX) {
            number = any_number(mata);
            break;
        }
        do
            mata->cursor = mata->cursor + 1 < view->n_places[0] ? mata->cursor + 1 : 0;
        while (*main_at(mata, mata->cursor) != 0);
        number =
            mata->cursor >= shift ? mata->cursor - shift : mata->cursor + view->n_places[0] - shift;
        if (number < 2 || bit(mata->given, number))
            continue;
        if (n == 1 || tries > TRIES_TWO ||
            *main_at(mata, mata_place(view, 0, number, words[1])) == 0)
            break;
    }
    flip_bit(mata->given, number);
    mata->n_given++;
    mata->n_out[number] = n;

    bool spilled = false;
    for (uint32_t i = 0; i < n; i++)
        spilled |= !put(mata, number, words[i], tos[i]);
    return number | (spilled ? MATA_SPILLED : 0);
}

/* What leads to the strides from `at` on, which end in a leaf. */
static uint32_t make_tail(struct mata *mata, uint32_t at, uint32_t n, uint32_t leaf)
{
    uint32_t to = leaf;

    for (uint32_t i = n; i > at; i--)
        to = make_state(mata, &mata->words[i - 1], &to, 1);
    return to;
}

/* Follows a name as far as it goes; returns the strides that were found. */
static uint32_t follow(struct mata *mata, uint32_t n)
{
    uint32_t from = mata->view->root;

    for (uint32_t i = 0; i < n; i++) {
        mata->from[i] = from;
        if ((from & MATA_LEAF) != 0)
            return i;
        mata->path[i] = locate(mata, from, mata->words[i]);
        if (mata->path[i] == NULL)
            return i;
        from = (uint32_t)(*mata->path[i] >> 32);
    }
    return n;
}

/* What leads to the state that stride i begins at gets another mark or place. */
static void lead_to(struct mata *mata, uint32_t i, uint32_t to)
{
    if (i == 0)
        fib_store32(&mata->view->root, to);
    else
        lead(mata->path[i - 1], to);
}

/* A transition more; its state is marked after it is there. */
static void extend(struct mata *mata, uint32_t i, uint32_t word, uint32_t to)
{
    const uint32_t from = mata->from[i];

    mata->n_out[from & MATA_VALUE]++;
    if (!put(mata, from & MATA_VALUE, word, to) && (from & MATA_SPILLED) == 0)
        lead_to(mata, i, from | MATA_SPILLED);
}

static bool has_room(const struct mata *mata, uint32_t n)
{
    const uint64_t max = (uint64_t)mata->view->n_places[0] * FULL_MAX / 100;

    return mata->n_main + n + 4 < max && mata->n_given + n + 4 < max &&
           (mata->n_last + n + 4) * 100 < (uint64_t)mata->view->n_places[2] * BEHIND_MAX;
}

/* The entry of strides that are all there, amid others. */
static void add_amid(struct mata *mata, uint32_t n, uint32_t leaf)
{
    uint64_t *last = mata->path[n - 1];
    uint32_t to = (uint32_t)(*last >> 32);

    mata->n_out[to & MATA_VALUE]++;
    if (!put(mata, to & MATA_VALUE, MATA_END, leaf))
        to |= MATA_SPILLED;
    lead(last, to | MATA_ENTRY);
}

static bool mata_add(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    const struct fib_node *node = &fib->tree.nodes[at];
    struct mata *mata = (struct mata *)fib->plane;

    uint32_t n = split(mata, name, len);
    if (!has_room(mata, n) || !has_hop_room(mata)) {
        if (build(fib, MORE_GROWING, NULL) != SL_OK)
            return false;
        if (fib_in_plane(node))
            return true;
        mata = (struct mata *)fib->plane;
        n = split(mata, name, len);
    }
    const uint32_t leaf = leaf_of(mata, node->next_hop);
    if (leaf == 0)
        return false;

    const uint32_t found = follow(mata, n);
    if (found == n) {
        add_amid(mata, n, leaf);
    } else if ((mata->from[found] & MATA_LEAF) != 0) { /* goes on behind what was an end */
        const uint32_t words[] = {MATA_END, mata->words[found]};
        const uint32_t tos[] = {mata->from[found], make_tail(mata, found + 1, n, leaf)};

        lead_to(mata, found, make_state(mata, words, tos, 2) | MATA_ENTRY);
    } else {
        extend(mata, found, mata->words[found], make_tail(mata, found + 1, n, leaf));
    }
    return true;
}

/* Takes out transition i of the path, and what led to nothing but it. */
static void take_out(struct sl_fib *fib, uint32_t i)
{
    struct mata *mata = (struct mata *)fib->plane;

    for (;; i--) {
        const uint32_t from = mata->from[i], state = from & MATA_VALUE;

        erase(fib, mata->path[i]);
        mata->n_out[state]--;
        if (i == 0)
            return;
        if (mata->n_out[state] == 1 && (from & MATA_ENTRY) != 0) { /* only its own entry is left */
            uint64_t *end = locate(mata, from, MATA_END);

            lead_to(mata, i, (uint32_t)(*end >> 32));
            erase(fib, end);
            mata->n_out[state]--;
            give_back(fib, state);
            return;
        }
        if (mata->n_out[state] != 0)
            return;
        give_back(fib, state);
    }
}

static bool mata_drop(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct mata *mata = (struct mata *)fib->plane;

    (void)at;
    const uint32_t n = split(mata, name, len);
    if (!fib_waiting_reserve(&mata->numbers, n) || !fib_waiting_reserve(&mata->slots, n + 2))
        return false;
    (void)follow(mata, n);

    uint64_t *last = mata->path[n - 1];
    const uint32_t to = (uint32_t)(*last >> 32);
    if ((to & MATA_LEAF) != 0) {
        take_out(fib, n - 1);
    } else { /* look-ups that still know of the entry begin anew */
        lead(last, to & ~MATA_ENTRY);
        erase(fib, locate(mata, to, MATA_END));
        mata->n_out[to & MATA_VALUE]--;
    }
    return true;
}

static bool mata_change(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct mata *mata = (struct mata *)fib->plane;
    const uint32_t next_hop = fib->tree.nodes[at].next_hop;

    if (!has_hop_room(mata)) /* which takes the next hop of the tree */
        return build(fib, MORE_GROWING, NULL) == SL_OK;
    const uint32_t leaf = leaf_of(mata, next_hop);
    if (leaf == 0)
        return false;

    const uint32_t n = split(mata, name, len);
    (void)follow(mata, n);
    uint64_t *last = mata->path[n - 1];
    const uint32_t to = (uint32_t)(*last >> 32);
    lead((to & MATA_LEAF) != 0 ? last : locate(mata, to, MATA_END), leaf);
    return true;
}

static size_t mata_control_len(const struct sl_fib *fib)
{
    const struct mata *mata = (const struct mata *)fib->plane;

    return sizeof *mata + mata->view->n_places[0] * (sizeof *mata->n_out) +
           mata->view->n_places[0] / 8 + mata->hop_places * sizeof *mata->hop_index +
           (mata->numbers.cap + mata->slots.cap) * sizeof(struct fib_retired);
}

/* ---- tables from files ----------------------------------------------------------------------- */

/* Where something leads must exist: a state below the array's length, a next hop that is there,
 * and an entry's transition on MATA_END, which look-ups would else seek forever. */
static bool leads_somewhere(const struct fib_view *view, uint64_t n_hops, uint64_t transition)
{
    const uint32_t *hops = (const uint32_t *)view->part[MATA_HOPS];
    const uint32_t to = (uint32_t)(transition >> 32);

    if ((to & MATA_LEAF) != 0)
        return (to & MATA_ENTRY) != 0 &&
               (to & MATA_VALUE) < view->part_len[MATA_HOPS] / sizeof *hops &&
               hops[to & MATA_VALUE] < n_hops;
    if ((to & MATA_VALUE) >= view->n_places[0])
        return false;
    return (to & MATA_ENTRY) == 0 || (mata_find(view, to, MATA_END) & MATA_LEAF) != 0;
}

static const char *check_sizes(const struct fib_view *view)
{
    if (view->n_arrays != MATA_ARRAYS || view->n_places[0] > MATA_VALUE)
        return "its arrays are not as expected";
    for (int i = 0; i < MATA_ARRAYS; i++) {
        const uint64_t slot_len = i == 0 ? sizeof(uint64_t) : sizeof(struct mata_slot);

        if (view->n_places[i] < 2 || view->part_len[i] != view->n_places[i] * slot_len ||
            view->reciprocal[i] != UINT64_MAX / view->n_places[i] + 1)
            return "an array has not the length that it says";
    }
    if (!is_prime(view->n_places[2]))
        return "its last array's length is not prime";
    return NULL;
}

static const char *mata_check(const struct fib_view *view, uint64_t n_hops)
{
    const char *wrong = check_sizes(view);
    bool ends = false, good = true;

    if (wrong != NULL)
        return wrong;
    for (uint32_t i = 0; i < view->n_places[2]; i++)
        ends |= mata_behind(view, 2, i)->transition == 0;
    if (!ends)
        return "its last array has no end";
    for (uint32_t i = 0; i < view->n_places[0] && good; i++)
        good = *mata_main(view, i) == 0 || leads_somewhere(view, n_hops, *mata_main(view, i));
    for (uint32_t a = 1; a < MATA_ARRAYS; a++)
        for (uint32_t i = 0; i < view->n_places[a] && good; i++) {
            const uint64_t transition = mata_behind(view, a, i)->transition;

            good = transition == 0 || transition == MATA_TAKEN_BACK ||
                   leads_somewhere(view, n_hops, transition);
        }
    if ((view->root & (MATA_LEAF | MATA_ENTRY)) != 0 ||
        (view->root & MATA_VALUE) >= view->n_places[0])
        good = false;
    return good ? NULL : "a transition leads nowhere, or to a next hop that there is none of";
}

/* ---- backends -------------------------------------------------------------------------------- */

extern const struct sl_fib_backend fib_mata_cuda, fib_mata_cuda_direct, fib_mata_cuda_interwoven,
    fib_mata_cuda_persistent;
extern const struct sl_fib_backend fib_mata_interleaved, fib_mata_scalar, fib_mata_tiled,
    fib_mata_tiled_interwoven;

static const struct sl_fib_backend *const backends[] = {&fib_mata_cuda,
                                                        &fib_mata_cuda_direct,
                                                        &fib_mata_cuda_interwoven,
                                                        &fib_mata_cuda_persistent,
                                                        &fib_mata_interleaved,
                                                        &fib_mata_scalar,
                                                        &fib_mata_tiled,
                                                        &fib_mata_tiled_interwoven,
                                                        NULL};

static const struct sl_fib_engine engine = {"mata", backends};

const struct fib_plane fib_mata_plane = {.name = "mata",
                                         .engine = &engine,
                                         .build = mata_build,
                                         .add = mata_add,
                                         .drop = mata_drop,
                                         .change = mata_change,
                                         .collect = mata_collect,
                                         .control_len = mata_control_len,
                                         .free = mata_free,
                                         .check = mata_check};
