/* SPDX-License-Identifier: MIT */
/* The plane of multiple aligned transition arrays: changing it under look-ups, and checking one
 * from a file. See fib_mata_core.h. */
#include "fib_mata_plane.h"
#include "names/fib/fib_states.h"

enum {
    FULL_MAX = 95,   /* per cent of array 0 that grows; a state's number is then still found soon */
    BEHIND_MAX = 60, /* of the last array */
    TRIES_TWO = 64   /* places tried for a state under look-ups */
};

/* ---- transitions ----------------------------------------------------------------------------- */

static void lead(uint64_t *transition, uint32_t to)
{
    fib_store64(transition, mata_transition((uint32_t)*transition, to));
}

/* A slot of array 0 may be used again at once: only the same state would take its word for its
 * own, and numbers wait. A slot behind has two words, so it waits itself. */
static void erase(struct sl_fib *fib, uint64_t *transition)
{
    struct mata *mata = (struct mata *)fib->plane;
    const uint64_t *begin = mata_main_at(mata, 0);

    if (transition >= begin && transition < begin + mata->view->n_places[0]) {
        mata->n_main--;
        fib_store64(transition, 0);
        return;
    }
    struct mata_slot *slot = (struct mata_slot *)(void *)transition;
    const uint32_t array = slot >= mata_behind_at(mata, 2, 0) &&
                                   slot < mata_behind_at(mata, 2, mata->view->n_places[2])
                               ? 2
                               : 1;

    fib_store64(transition, MATA_TAKEN_BACK);
    fib_waiting_add(&mata->slots,
                    &(struct fib_retired){.mark = fib_retire(fib),
                                          .what = (uint64_t)(slot - mata_behind_at(mata, array, 0)),
                                          .len = array});
}

static void give_back(struct sl_fib *fib, uint32_t number)
{
    struct mata *mata = (struct mata *)fib->plane;

    fib_waiting_add(&mata->numbers, &(struct fib_retired){.mark = fib_retire(fib), .what = number});
}

static void mata_collect(struct sl_fib *fib, uint64_t oldest)
{
    struct mata *mata = (struct mata *)fib->plane;
    struct fib_retired retired;

    while (fib_waiting_take(&mata->numbers, oldest, &retired)) {
        mata_flip_bit(mata->given, (uint32_t)retired.what);
        mata->n_given--;
    }
    while (fib_waiting_take(&mata->slots, oldest, &retired)) {
        struct mata_slot *slot =
            mata_behind_at(mata, (uint32_t)retired.len, (uint32_t)retired.what);

        /* In the last array search goes on behind it. */
        fib_store64(&slot->state, 0);
        if (retired.len == 1)
            fib_store64(&slot->transition, 0);
    }
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
        if (tries == MATA_TRIES_MAX) {
            number = mata_any_number(mata);
            break;
        }
        do
            mata->cursor = mata->cursor + 1 < view->n_places[0] ? mata->cursor + 1 : 0;
        while (*mata_main_at(mata, mata->cursor) != 0);
        number =
            mata->cursor >= shift ? mata->cursor - shift : mata->cursor + view->n_places[0] - shift;
        if (number < 2 || mata_bit(mata->given, number))
            continue;
        if (n == 1 || tries > TRIES_TWO ||
            *mata_main_at(mata, mata_place(view, 0, number, words[1])) == 0)
            break;
    }
    mata_flip_bit(mata->given, number);
    mata->n_given++;
    mata->n_out[number] = n;

    bool spilled = false;
    for (uint32_t i = 0; i < n; i++)
        spilled |= !mata_put(mata, number, words[i], tos[i]);
    return number | (spilled ? MATA_SPILLED : 0);
}

/* The word that leads to the strides from `at` on, which end in a leaf. */
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
        mata->path[i] = mata_locate(mata, from, mata->words[i]);
        if (mata->path[i] == NULL)
            return i;
        from = (uint32_t)(*mata->path[i] >> 32);
    }
    return n;
}

/* The word that leads to the state of stride i gets another mark or place. */
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
    if (!mata_put(mata, from & MATA_VALUE, word, to) && (from & MATA_SPILLED) == 0)
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
    if (!mata_put(mata, to & MATA_VALUE, MATA_END, leaf))
        to |= MATA_SPILLED;
    lead(last, to | MATA_ENTRY);
}

static bool mata_add(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    const struct fib_node *node = &fib->tree.nodes[at];
    struct mata *mata = (struct mata *)fib->plane;

    uint32_t n = split(mata, name, len);
    if (!has_room(mata, n) || !mata_has_hop_room(mata)) {
        if (mata_build_anew(fib, MATA_MORE_GROWING, NULL) != SL_OK)
            return false;
        if (fib_in_plane(node))
            return true;
        mata = (struct mata *)fib->plane;
        n = split(mata, name, len);
    }
    const uint32_t leaf = mata_leaf_of(mata, node->next_hop);
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

/* Takes out transition i of the path, and all that led to nothing but it. */
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
            uint64_t *end = mata_locate(mata, from, MATA_END);

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
        erase(fib, mata_locate(mata, to, MATA_END));
        mata->n_out[to & MATA_VALUE]--;
    }
    return true;
}

static bool mata_change(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct mata *mata = (struct mata *)fib->plane;
    const uint32_t next_hop = fib->tree.nodes[at].next_hop;

    if (!mata_has_hop_room(mata)) /* it takes the next hop of the tree */
        return mata_build_anew(fib, MATA_MORE_GROWING, NULL) == SL_OK;
    const uint32_t leaf = mata_leaf_of(mata, next_hop);
    if (leaf == 0)
        return false;

    const uint32_t n = split(mata, name, len);
    (void)follow(mata, n);
    uint64_t *last = mata->path[n - 1];
    const uint32_t to = (uint32_t)(*last >> 32);
    lead((to & MATA_LEAF) != 0 ? last : mata_locate(mata, to, MATA_END), leaf);
    return true;
}

static size_t mata_control_len(const struct sl_fib *fib)
{
    const struct mata *mata = (const struct mata *)fib->plane;

    return sizeof *mata + mata->view->n_places[0] * (sizeof *mata->n_out) +
           mata->view->n_places[0] / 8 + mata->hop_places * sizeof *mata->hop_index +
           (mata->numbers.cap + mata->slots.cap) * sizeof(struct fib_retired);
}

static enum sl_status mata_build(struct sl_fib *fib, struct sl_diag *diag)
{
    return mata_build_anew(fib, MATA_MORE_NEW, diag);
}

/* ---- tables from files ----------------------------------------------------------------------- */

/* The target of each word must exist: a state below the array's length, or a next hop. An entry's
 * transition on MATA_END must exist too, else look-ups would seek it forever. */
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
    if (!mata_is_prime(view->n_places[2]))
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
