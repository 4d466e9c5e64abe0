/* SPDX-License-Identifier: MIT */
/* Building the hash sets of Rabin-Karp, and its backends. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"
#include "rk_core.h"

static const char name[] = "rk";

/* The window of a literal is the longest of these that it fills. Half a length at least is hashed
 * up to 64 bytes; short literals, of which text is full, are hashed whole or nearly. */
static const uint32_t window_lens[RK_SETS] = {1, 2, 3, 4, 6, 8, 16, RK_WINDOW};

/* Filter bits for each hash, rounded up to a power of two: one of 32 to 64 other windows passes. */
enum { FILTER_BITS = 32 };

/* A group to sort by. */
struct entry {
    uint32_t window; /* index into window_lens */
    uint32_t hash;   /* of the window */
    uint32_t group;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = (const struct entry *)left;
    const struct entry *b = (const struct entry *)right;

    if (a->window != b->window)
        return a->window < b->window ? -1 : 1;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

static struct entry *sort_groups(const struct mpm_set *set)
{
    struct entry *entries = (struct entry *)malloc((set->n_groups + (size_t)1) * sizeof *entries);

    if (entries == NULL)
        return NULL;
    for (uint32_t group = 0; group < set->n_groups; group++) {
        const struct mpm_key *key = &set->keys[set->groups[group]];
        uint32_t window = 0;

        while (window + 1 < RK_SETS && window_lens[window + 1] <= key->len)
            window++;
        entries[group] = (struct entry){
            .window = window, .hash = rk_hash(key->folded, window_lens[window]), .group = group};
    }
    qsort(entries, set->n_groups, sizeof *entries, compare_entries);
    return entries;
}

/* Different groups of one hash, or equal beginnings: they share a slot. */
static bool same_slot(const struct entry *a, const struct entry *b)
{
    return a->window == b->window && a->hash == b->hash;
}

static uint32_t bits_for(uint64_t n)
{
    uint32_t bits = 5; /* a word of a filter */

    while (UINT64_C(1) << bits < n)
        bits++;
    return bits;
}

static void place_set(struct rk_set *set, uint32_t window, uint64_t n_hashes, uint64_t *end)
{
    const uint32_t slot_bits = bits_for(2 * n_hashes);
    const uint32_t filter_bits = bits_for(FILTER_BITS * n_hashes);

    set->len = window_lens[window];
    set->weight = 1;
    for (uint32_t i = 0; i < set->len; i++)
        set->weight *= RK_BASE;
    set->slot_shift = 32 - slot_bits;
    set->filter_shift = 32 - filter_bits;
    set->filter = mpm_place(end, (UINT64_C(1) << filter_bits) / 8);
    set->slots = mpm_place(end, sizeof(struct rk_slot) << slot_bits);
}

/* Lays out one set for each window length that occurs. */
static void place_sets(struct rk_table *head, const struct entry *entries, uint64_t *end)
{
    for (uint32_t i = 0; i < head->n_groups;) {
        const uint32_t window = entries[i].window;
        uint64_t n_hashes = 0;

        for (; i < head->n_groups && entries[i].window == window; i++)
            n_hashes += i == 0 || !same_slot(&entries[i], &entries[i - 1]);
        place_set(&head->sets[head->n_sets++], window, n_hashes, end);
    }
}

static void add_slot(uint8_t *body, const struct rk_set *set, uint32_t hash, uint32_t first,
                     uint32_t end)
{
    uint32_t *filter = (uint32_t *)(body + set->filter);
    struct rk_slot *slots = (struct rk_slot *)(body + set->slots);
    const uint32_t bit = hash >> set->filter_shift;
    const uint32_t mask = UINT32_MAX >> set->slot_shift;
    uint32_t at = hash >> set->slot_shift;

    filter[bit / 32] |= UINT32_C(1) << bit % 32;
    while (slots[at].end != 0)
        at = (at + 1) & mask;
    slots[at] = (struct rk_slot){.hash = hash, .first = first, .end = end};
}

static void fill_sets(uint8_t *body, const struct rk_table *head, const struct entry *entries)
{
    const struct rk_set *set = head->sets;

    for (uint32_t first = 0, end; first < head->n_groups; first = end) {
        for (end = first + 1; end < head->n_groups; end++)
            if (!same_slot(&entries[first], &entries[end]))
                break;
        if (set->len != window_lens[entries[first].window])
            set++;
        add_slot(body, set, entries[first].hash, first, end);
    }
}

static struct sl_mpm_table *make_table(const struct mpm_set *set, const struct entry *entries)
{
    struct rk_table head = {.n_groups = set->n_groups};
    uint64_t end = sizeof head;

    head.order = mpm_place(&end, set->n_groups * sizeof(uint32_t));
    head.wholes = mpm_place(&end, set->n_groups * sizeof(struct rk_whole));
    place_sets(&head, entries, &end);

    struct sl_mpm_table *table = mpm_table_create(set, name, 0, end);
    if (table == NULL)
        return NULL;
    uint8_t *body = (uint8_t *)table + table->body;
    uint32_t *order = (uint32_t *)(body + head.order);
    struct rk_whole *wholes = (struct rk_whole *)(body + head.wholes);
    *(struct rk_table *)body = head;
    for (uint32_t i = 0; i < set->n_groups; i++) {
        const struct mpm_key *key = &set->keys[set->groups[entries[i].group]];

        order[i] = entries[i].group;
        wholes[i] = (struct rk_whole){.hash = rk_hash(key->folded, key->len), .len = key->len};
    }
    fill_sets(body, &head, entries);
    return table;
}

static enum sl_status rk_build(struct sl_mpm_table **table, const struct mpm_set *set,
                               const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct entry *entries = sort_groups(set);
    struct sl_mpm_table *made = entries == NULL ? NULL : make_table(set, entries);

    (void)config;
    free(entries);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the hashes of %u literals",
                        set->n_literals);
    *table = made;
    return SL_OK;
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool set_fits(const struct sl_mpm_table *table, const struct rk_set *set)
{
    return set->len <= RK_WINDOW && set->filter_shift < 28 && set->slot_shift < 32 &&
           mpm_part_fits(table, set->filter, UINT64_C(1) << (32 - set->filter_shift - 5),
                         sizeof(uint32_t)) &&
           mpm_part_fits(table, set->slots, UINT64_C(1) << (32 - set->slot_shift),
                         sizeof(struct rk_slot));
}

static bool parts_fit(const struct sl_mpm_table *table, const struct rk_table *body)
{
    if (body->n_groups != table->n_groups || body->n_sets > RK_SETS ||
        !mpm_part_fits(table, body->order, body->n_groups, sizeof(uint32_t)) ||
        !mpm_part_fits(table, body->wholes, body->n_groups, sizeof(struct rk_whole)))
        return false;
    for (uint32_t i = 0; i < body->n_sets; i++)
        if (!set_fits(table, &body->sets[i]))
            return false;
    return true;
}

/* An empty slot ends searches. *n_left: groups that have not been in a slot, which bounds the time
 * that this takes. */
static bool slots_fit(const struct rk_view *view, const struct rk_set *set, uint32_t *n_left)
{
    const struct rk_slot *slots = (const struct rk_slot *)mpm_at(view->body, set->slots);
    const uint32_t n_groups = view->table.n_groups;
    bool search_ends = false;

    for (uint64_t at = 0; at < UINT64_C(1) << (32 - set->slot_shift); at++) {
        const struct rk_slot slot = slots[at];

        search_ends |= slot.end == 0;
        if (slot.end == 0)
            continue;
        if (slot.end > n_groups || slot.first >= slot.end || slot.end - slot.first > *n_left ||
            !mpm_order_fits(&view->order, n_groups, slot.first, slot.end))
            return false;
        *n_left -= slot.end - slot.first;
    }
    return search_ends;
}

static const char *rk_check(const struct sl_mpm_table *table)
{
    static const char wrong[] = "its hash sets lead out of the table";
    const struct rk_table *body = (const struct rk_table *)mpm_at(table, table->body);
    uint32_t n_left = table->n_groups;

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || !parts_fit(table, body) ||
        !mpm_groups_ascend(table))
        return wrong;

    const struct rk_view view = rk_view(table, table);
    for (uint32_t i = 0; i < body->n_sets; i++)
        if (!slots_fit(&view, &body->sets[i], &n_left))
            return wrong;
    for (uint32_t i = 0; i < body->n_groups; i++) /* as the thesis' version walks them */
        if (!mpm_order_fits(&view.order, body->n_groups, i, i + 1))
            return wrong;
    return NULL;
}

/* ---- algorithm ------------------------------------------------------------------------------- */

extern const struct sl_backend mpm_rk_cuda;
extern const struct sl_backend mpm_rk_cuda_block;
extern const struct sl_backend mpm_rk_cuda_thread;
extern const struct sl_backend mpm_rk_scalar;
extern const struct sl_backend mpm_rk_tiled;
extern const struct sl_backend mpm_rk_tiled_block;

static const struct sl_backend *const backends[] = {&mpm_rk_cuda,
                                                    &mpm_rk_cuda_block,
                                                    &mpm_rk_cuda_thread,
                                                    &mpm_rk_scalar,
                                                    &mpm_rk_tiled,
                                                    &mpm_rk_tiled_block,
                                                    NULL};

static const struct sl_engine engine = {.name = "mpm.rk", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_rk;
const struct mpm_algorithm mpm_rk = {
    .name = name, .build = rk_build, .check = rk_check, .engine = &engine};
