/* SPDX-License-Identifier: MIT */
/* The planes of one byte a step: giving states their places, and changing them under look-ups. See
 * fib_ata_core.h. */
#include "fib_ata_core.h"

#include <stdlib.h>

#include "base/diag.h"
#include "names/fib/fib_internal.h"
#include "names/fib/fib_states.h"

enum {
    TRIES = 256,       /* places tried for a state before it goes to the end */
    ROOM = 4 * 65536,  /* slots beyond those of a new plane, and a quarter of them */
    MAX_STT = 1 << 21, /* states: 4.3 GB */
    MOVED = 1          /* a place that waits: its slots are still to be cleared */
};

struct ata {
    struct fib_view *view;
    uint64_t *given;    /* a bit for each place of a state */
    uint32_t head, top; /* slots before head are seldom free; behind top all are */
    uint32_t cap;       /* places a state may have */
    bool has_rows;      /* stt */
    struct fib_waiting places;
    uint64_t *path[SL_NAME_LEN_MAX + 1]; /* the transitions of a name */
    uint32_t state[SL_NAME_LEN_MAX + 1]; /* at which each begins */
};

static bool is_given(const struct ata *ata, uint32_t place)
{
    return (ata->given[place / 64] >> place % 64 & 1) != 0;
}

static void flip_given(struct ata *ata, uint32_t place)
{
    ata->given[place / 64] ^= UINT64_C(1) << place % 64;
}

static uint64_t *slot_at(const struct ata *ata, uint32_t state, uint32_t byte)
{
    return (uint64_t *)ata_at(ata->view, state, byte);
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool fits(const struct ata *ata, uint32_t place, const uint64_t *slots, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (*slot_at(ata, place, slots[i] & ATA_BYTE) != 0)
            return false;
    return true;
}

static uint32_t next_free(const struct ata *ata, uint32_t at)
{
    const uint64_t *slots = (const uint64_t *)ata->view->part[0];

    while (at < ata->top && slots[at] != 0)
        at++;
    return at;
}

static uint32_t find_row(struct ata *ata)
{
    uint32_t place = ata->head;

    while (place < ata->cap && is_given(ata, place))
        place += ATA_ROW;
    return place;
}

/* The first place, from the head on and then near the end, where all these slots are free. */
static uint32_t find_place(struct ata *ata, const uint64_t *slots, uint32_t n)
{
    const uint32_t first = n != 0 ? slots[0] & ATA_BYTE : 0;
    uint32_t at = ata->head;

    if (ata->has_rows)
        return find_row(ata);
    for (uint32_t tries = 0;; tries++) {
        if (tries == TRIES && at + ATA_ROW < ata->top)
            at = ata->top - ATA_ROW;
        at = next_free(ata, at);
        if (at >= first && at - first > 0 && !is_given(ata, at - first) &&
            fits(ata, at - first, slots, n))
            break;
        at++;
    }
    if (ata->head + 2 * TRIES < at) /* few are left there */
        ata->head = next_free(ata, ata->head + 1);
    return at - first;
}

/* A state with these transitions, which nothing leads to yet; there is room. */
static uint32_t make_state(struct ata *ata, const uint64_t *slots, uint32_t n)
{
    const uint32_t place = find_place(ata, slots, n);

    flip_given(ata, place);
    for (uint32_t i = 0; i < n; i++)
        fib_store64(slot_at(ata, place, slots[i] & ATA_BYTE), slots[i]);
    if (place + ATA_ROW > ata->top)
        ata->top = place + ATA_ROW;
    if (ata->has_rows)
        ata->head = place + ATA_ROW;
    return place;
}

static uint32_t transitions(const struct ata *ata, uint32_t state, uint64_t slots[ATA_ROW + 1])
{
    uint32_t n = 0;

    for (uint32_t byte = 0; byte < ATA_ROW; byte++) {
        const uint64_t slot = *slot_at(ata, state, byte);

        if ((slot & (ATA_BYTE | ATA_USED)) == (byte | ATA_USED))
            slots[n++] = slot;
    }
    return n;
}

static void ata_free(void *plane)
{
    struct ata *ata = (struct ata *)plane;

    if (ata == NULL)
        return;
    if (ata->view != NULL)
        fib_memory_give((void *)ata->view->part[0], ata->view->part_len[0]);
    free(ata->view);
    free(ata->given);
    fib_waiting_free(&ata->places);
    free(ata);
}

static void ata_collect(struct sl_fib *fib, uint64_t oldest)
{
    struct ata *ata = (struct ata *)fib->plane;
    uint64_t slots[ATA_ROW + 1];
    struct fib_retired retired;

    while (fib_waiting_take(&ata->places, oldest, &retired)) {
        const uint32_t place = (uint32_t)retired.what;
        const uint32_t n = transitions(ata, place, slots);

        for (uint32_t i = 0; i < n && retired.len == MOVED; i++)
            fib_store64(slot_at(ata, place, slots[i] & ATA_BYTE), 0);
        flip_given(ata, place);
        if (place < ata->head)
            ata->head = place;
    }
}

static void give_back(struct sl_fib *fib, uint32_t place, uint64_t how)
{
    const struct fib_retired retired = {.mark = fib_retire(fib), .what = place, .len = how};

    fib_waiting_add(&((struct ata *)fib->plane)->places, &retired);
}

/* Slots behind the top that new states may take. One of a single transition moves it by about one:
 * it finds a free slot in the last row. */
static uint64_t room_for(uint32_t n_states, bool has_rows)
{
    return has_rows ? ((uint64_t)n_states + 3) * ATA_ROW : (uint64_t)n_states * 4 + 8 * ATA_ROW;
}

/* ---- build ----------------------------------------------------------------------------------- */

/* More slots than the tree's states need, however they lie. */
static uint64_t most_slots(const struct fib_tree *tree, bool has_rows)
{
    uint64_t n = 1; /* states, and transitions but for those on ATA_END */

    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++)
        n += tree->nodes[i].label_len;
    if (has_rows)
        n = (n < MAX_STT ? n : MAX_STT) * ATA_ROW;
    return n * 3 + tree->n + ROOM;
}

/* Only what is written to becomes memory. */
static bool take_memory(struct ata *ata, uint64_t n_slots)
{
    ata->cap = (uint32_t)(n_slots < INT32_MAX ? n_slots : INT32_MAX);
    ata->view->n_places[0] = ata->cap + ATA_ROW;
    ata->view->part_len[0] = (uint64_t)ata->view->n_places[0] * sizeof(uint64_t);
    ata->view->part[0] = fib_memory_take(ata->view->part_len[0]);
    ata->given = (uint64_t *)calloc(ata->cap / 64 + 1, sizeof *ata->given);
    ata->head = ata->has_rows ? 0 : 1;
    return ata->view->part[0] != NULL && ata->given != NULL;
}

/* Slots beyond n_slots are given back. */
static void trim_memory(struct ata *ata, uint64_t n_slots)
{
    const uint64_t len = (n_slots + ATA_ROW) * sizeof(uint64_t);
    void *part = (void *)ata->view->part[0];

    if (n_slots >= ata->cap ||
        (part = fib_memory_resize(part, ata->view->part_len[0], len)) == NULL)
        return;
    ata->cap = (uint32_t)n_slots;
    ata->view->n_places[0] = ata->cap + ATA_ROW;
    ata->view->part_len[0] = len;
    ata->view->part[0] = part;
}

/* A plane that is being built. */
struct placing {
    struct ata *ata;
    uint32_t n_states;
};

/* States come with those before them that they lead to. Of those that are too many for rows only
 * the number is of interest. */
static bool place_state(void *user, const struct fib_edge *edges, uint32_t n, uint32_t *place)
{
    struct placing *placing = (struct placing *)user;
    struct ata *ata = placing->ata;
    uint64_t slots[ATA_ROW + 1];

    *place = 0;
    if (placing->n_states++ >= MAX_STT && ata->has_rows)
        return true;
    if (ata->top + 2 * ATA_ROW >= ata->cap)
        return false;
    for (uint32_t i = 0; i < n; i++)
        slots[i] = ata_slot(edges[i].word,
                            (edges[i].is_entry ? ATA_ENTRY : 0) | (edges[i].is_leaf ? ATA_LEAF : 0),
                            edges[i].to);
    *place = make_state(ata, slots, n);
    ata->view->root = *place;
    return true;
}

/* With room for n_more states; `n_states` becomes how many there are. NULL: no memory. */
static struct ata *make_ata(const struct sl_fib *fib, bool has_rows, uint32_t n_more,
                            uint32_t *n_states)
{
    struct ata *ata = (struct ata *)calloc(1, sizeof *ata);
    struct placing placing = {.ata = ata};

    if (ata == NULL || (ata->view = fib_view_make()) == NULL) {
        free(ata);
        return NULL;
    }
    ata->has_rows = has_rows;
    if (take_memory(ata, most_slots(&fib->tree, has_rows) + room_for(n_more, has_rows)) &&
        fib_states_each(&fib->tree, &fib_cut_bytes, place_state, &placing)) {
        trim_memory(ata, ata->top + ata->top / 4 + ROOM + room_for(n_more, has_rows));
        *n_states = placing.n_states;
        return ata;
    }
    ata_free(ata);
    return NULL;
}

static enum sl_status build(struct sl_fib *fib, bool has_rows, uint32_t n_more,
                            struct sl_diag *diag)
{
    uint32_t n_states = 0;
    struct ata *made = make_ata(fib, has_rows, n_more, &n_states);

    if (has_rows && n_states > MAX_STT) {
        ata_free(made);
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "a two-dimensional table of %u states needs %.1f GB (at most %.1f are "
                        "taken; the other planes need hundreds of times less)",
                        n_states, (double)n_states * ATA_ROW * 8e-9,
                        (double)MAX_STT * ATA_ROW * 8e-9);
    }
    if (made == NULL || !fib_waiting_reserve(&fib->old, 1)) {
        ata_free(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the transition array of %zu names",
                        fib->n_entries);
    }
    fib_put_plane(fib, made, made->view);
    return SL_OK;
}

static enum sl_status ata_build(struct sl_fib *fib, struct sl_diag *diag)
{
    return build(fib, false, 0, diag);
}

static enum sl_status stt_build(struct sl_fib *fib, struct sl_diag *diag)
{
    return build(fib, true, 0, diag);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* Follows a name as far as it goes; returns the bytes that were found. */
static uint32_t follow(struct ata *ata, const uint8_t *name, uint32_t len)
{
    uint32_t state = ata->view->root;

    for (uint32_t i = 0; i < len; i++) {
        if (i > 0 && (*ata->path[i - 1] & ATA_LEAF) != 0)
            return i;
        ata->state[i] = state;
        ata->path[i] = slot_at(ata, state, name[i]);
        if (ata_find(ata->view, state, name[i]) == 0)
            return i;
        state = (uint32_t)(*ata->path[i] >> 32);
    }
    return len;
}

/* The slot that leads to the state of byte i gets another target. */
static void lead_to(struct ata *ata, uint32_t i, uint32_t state)
{
    if (i == 0)
        fib_store32(&ata->view->root, state);
    else
        fib_store64(ata->path[i - 1], (uint64_t)state << 32 | (uint32_t)*ata->path[i - 1]);
}

/* One more transition for the state of byte i. Where its slot is taken the state moves, and one
 * store leads to all of it. `marks` come to what leads there, which is one store as well. */
static void extend(struct sl_fib *fib, uint32_t i, uint32_t state, uint64_t slot, uint32_t marks)
{
    struct ata *ata = (struct ata *)fib->plane;
    uint64_t slots[ATA_ROW + 1];
    uint64_t *there = slot_at(ata, state, slot & ATA_BYTE);
    uint32_t to = state;

    if (*there == 0) {
        fib_store64(there, slot);
    } else {
        const uint32_t n = transitions(ata, state, slots);

        slots[n] = slot;
        to = make_state(ata, slots, n + 1);
    }
    if (i > 0 && (to != state || marks != 0))
        fib_store64(ata->path[i - 1], (uint64_t)to << 32 | (uint32_t)*ata->path[i - 1] | marks);
    else if (to != state)
        lead_to(ata, 0, to);
    if (to != state)
        give_back(fib, state, MOVED);
}

/* The slot that leads by `byte` to the bytes from `at` on, which end in a leaf. */
static uint64_t make_tail(struct ata *ata, const uint8_t *name, uint32_t at, uint32_t len,
                          uint32_t next_hop)
{
    uint64_t slot = ata_slot(name[len - 1], ATA_ENTRY | ATA_LEAF, next_hop);

    for (uint32_t i = len - 1; i > at; i--)
        slot = ata_slot(name[i - 1], 0, make_state(ata, &slot, 1));
    return slot;
}

static bool has_room(const struct ata *ata, uint32_t n_states)
{
    return ata->top + room_for(n_states, ata->has_rows) < ata->cap;
}

static bool ata_add(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    const struct fib_node *node = &fib->tree.nodes[at];
    struct ata *ata = (struct ata *)fib->plane;

    uint32_t found = follow(ata, name, len);
    if (!has_room(ata, len - found + 1)) {
        if (build(fib, ata->has_rows, len + 1, NULL) != SL_OK)
            return false;
        if (fib_in_plane(node))
            return true;
        ata = (struct ata *)fib->plane;
        found = follow(ata, name, len);
        if (!has_room(ata, len - found + 1))
            return false;
    }
    if (!fib_waiting_reserve(&ata->places, 1))
        return false;
    if (found == len) { /* amid others */
        const uint32_t state = (uint32_t)(*ata->path[len - 1] >> 32);

        extend(fib, len, state, ata_slot(ATA_END, ATA_LEAF | ATA_ENTRY, node->next_hop), ATA_ENTRY);
    } else if (found > 0 && (*ata->path[found - 1] & ATA_LEAF) != 0) { /* behind an end */
        const uint64_t end = *ata->path[found - 1];
        const uint64_t slots[] = {make_tail(ata, name, found, len, node->next_hop),
                                  ata_slot(ATA_END, ATA_LEAF | ATA_ENTRY, (uint32_t)(end >> 32))};

        fib_store64(ata->path[found - 1],
                    ata_slot(end & ATA_BYTE, ATA_ENTRY, make_state(ata, slots, 2)));
    } else {
        extend(fib, found, ata->state[found], make_tail(ata, name, found, len, node->next_hop), 0);
    }
    return true;
}

/* Takes out the transition on byte i, and all that led to nothing but it. */
static void take_out(struct sl_fib *fib, uint32_t i)
{
    struct ata *ata = (struct ata *)fib->plane;
    uint64_t slots[ATA_ROW + 1];

    for (;; i--) {
        fib_store64(ata->path[i], 0);
        if (i == 0)
            return;

        const uint32_t state = ata->state[i], n = transitions(ata, state, slots);
        if (n == 1 && (slots[0] & ATA_BYTE) == ATA_END) { /* only its own entry is left */
            fib_store64(ata->path[i - 1],
                        ata_slot(*ata->path[i - 1] & ATA_BYTE, ATA_LEAF | ATA_ENTRY,
                                 (uint32_t)(slots[0] >> 32)));
            fib_store64(slot_at(ata, state, ATA_END), 0);
        } else if (n != 0) {
            return;
        }
        give_back(fib, state, 0);
        if (n != 0)
            return;
    }
}

static bool ata_drop(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct ata *ata = (struct ata *)fib->plane;

    (void)at;
    if (!fib_waiting_reserve(&ata->places, len))
        return false;
    (void)follow(ata, name, len);

    uint64_t *last = ata->path[len - 1];
    if ((*last & ATA_LEAF) != 0) {
        take_out(fib, len - 1);
    } else { /* look-ups that still know of the entry begin anew */
        fib_store64(last, *last & ~(uint64_t)ATA_ENTRY);
        fib_store64(slot_at(ata, (uint32_t)(*last >> 32), ATA_END), 0);
    }
    return true;
}

static bool ata_change(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct ata *ata = (struct ata *)fib->plane;
    const uint32_t next_hop = fib->tree.nodes[at].next_hop;

    (void)follow(ata, name, len);
    uint64_t *last = ata->path[len - 1];
    if ((*last & ATA_LEAF) == 0)
        last = slot_at(ata, (uint32_t)(*last >> 32), ATA_END);
    fib_store64(last, (uint64_t)next_hop << 32 | (uint32_t)*last);
    return true;
}

static size_t ata_control_len(const struct sl_fib *fib)
{
    const struct ata *ata = (const struct ata *)fib->plane;

    return sizeof *ata + ata->cap / 8 + ata->places.cap * sizeof(struct fib_retired);
}

/* ---- tables from files ----------------------------------------------------------------------- */

/* A state's last slot must be in the array, and an entry's transition on ATA_END be there: look-ups
 * would else seek it forever. */
static const char *ata_check(const struct fib_view *view, uint64_t n_hops)
{
    const uint64_t n = view->n_places[0];

    if (n <= ATA_ROW || view->part_len[0] != n * sizeof(uint64_t))
        return "its array has not the length that it says";
    if (view->root > n - ATA_ROW)
        return "its first state lies outside it";
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t slot = ((const uint64_t *)view->part[0])[i];
        const uint64_t to = slot >> 32;

        if ((slot & ATA_USED) == 0)
            continue;
        if ((slot & ATA_LEAF) != 0 || (slot & ATA_BYTE) == ATA_END) {
            if (to >= n_hops)
                return FIB_NO_SUCH_HOP;
            continue;
        }
        if (to > n - ATA_ROW)
            return "a state lies outside it";
        if ((slot & ATA_ENTRY) != 0 && ata_find(view, (uint32_t)to, ATA_END) == 0)
            return "an entry has no next hop";
    }
    return NULL;
}

/* ---- backends -------------------------------------------------------------------------------- */

extern const struct sl_fib_backend fib_ata_cuda, fib_ata_cuda_interwoven, fib_ata_cuda_persistent;
extern const struct sl_fib_backend fib_ata_interleaved, fib_ata_scalar, fib_ata_tiled,
    fib_ata_tiled_interwoven;

static const struct sl_fib_backend *const backends[] = {
    &fib_ata_cuda,   &fib_ata_cuda_interwoven, &fib_ata_cuda_persistent,  &fib_ata_interleaved,
    &fib_ata_scalar, &fib_ata_tiled,           &fib_ata_tiled_interwoven, NULL};

static const struct sl_fib_engine ata_engine = {"ata", backends};
static const struct sl_fib_engine stt_engine = {"stt", backends};

const struct fib_plane fib_ata_plane = {.name = "ata",
                                        .engine = &ata_engine,
                                        .build = ata_build,
                                        .add = ata_add,
                                        .drop = ata_drop,
                                        .change = ata_change,
                                        .collect = ata_collect,
                                        .control_len = ata_control_len,
                                        .free = ata_free,
                                        .check = ata_check};

const struct fib_plane fib_stt_plane = {.name = "stt",
                                        .engine = &stt_engine,
                                        .build = stt_build,
                                        .add = ata_add,
                                        .drop = ata_drop,
                                        .change = ata_change,
                                        .collect = ata_collect,
                                        .control_len = ata_control_len,
                                        .free = ata_free,
                                        .check = ata_check};
