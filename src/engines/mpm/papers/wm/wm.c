/* SPDX-License-Identifier: MIT */
/* Building Wu-Manber's tables, and its backends. */
#include <string.h>

#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"
#include "wm_core.h"

enum {
    MAX_SHIFT_BITS = 18, /* 256 KiB: in a core's second level of cache */
    MIN_SHIFT_BITS = 12,
    MAX_BUCKET_BITS = 21,
    SPARSE = 8, /* shifts for each block of the literals, so that few others have its shift */
    TRIPLES_FROM = 1000 /* long groups: about where blocks of three begin to pay */
};

static const struct mpm_key *group_key(const struct mpm_set *set, uint32_t group)
{
    return &set->keys[set->groups[group]];
}

static bool is_long(const struct mpm_set *set, uint32_t group)
{
    return group_key(set, group)->len >= WM_LONG;
}

static void *part(struct wm_table *body, uint64_t at)
{
    return (uint8_t *)body + at;
}

/* Of all buckets and slots: a slot begins with a group of its own, and may hold that of its first
 * byte besides. */
static uint64_t n_entries(const struct wm_table *body)
{
    return body->n_long + UINT64_C(2) * body->n_short;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void measure(struct wm_table *body, const struct mpm_set *set)
{
    body->window_len = WM_WINDOW_MAX;
    for (uint32_t group = 0; group < set->n_groups; group++) {
        const uint32_t len = group_key(set, group)->len;

        if (is_long(set, group) && len < body->window_len)
            body->window_len = len;
        body->n_long += is_long(set, group);
        body->n_short += !is_long(set, group);
    }
}

/* The bits of an index of at least n entries, between two bounds. */
static uint32_t index_bits(uint64_t n, uint32_t min_bits, uint32_t max_bits)
{
    uint32_t bits = min_bits;

    while (bits < max_bits && UINT64_C(1) << bits < n)
        bits++;
    return bits;
}

/* Returns the length of the body. There is one slot more that is empty, and the end of the last. */
static uint64_t lay_out(struct wm_table *body, const struct mpm_set *set)
{
    const uint64_t n_blocks = (uint64_t)body->n_long * (body->window_len - body->block_len + 1);
    const uint32_t shift_bits =
        body->block_len == 2 ? 16 : index_bits(SPARSE * n_blocks, MIN_SHIFT_BITS, MAX_SHIFT_BITS);
    const uint32_t bucket_bits = index_bits(UINT64_C(2) * body->n_long, 1, MAX_BUCKET_BITS);
    uint64_t end = sizeof *body;

    body->shift_shift = 32 - shift_bits;
    body->bucket_shift = 32 - bucket_bits;
    body->shifts = mpm_place(&end, UINT64_C(1) << shift_bits);
    body->buckets = mpm_place(&end, ((UINT64_C(1) << bucket_bits) + 1) * sizeof(uint32_t));
    body->slots = mpm_place(&end, (body->n_short + UINT64_C(2)) * sizeof(uint32_t));
    body->pairs = mpm_place(&end, body->n_short != 0 ? WM_PAIRS * sizeof(uint16_t) : 0);
    body->entries = mpm_place(&end, n_entries(body) * sizeof(struct wm_entry));
    body->shorter = mpm_place(&end, set->n_groups * sizeof(uint32_t));
    return end;
}

/* ---- long groups ----------------------------------------------------------------------------- */

/* A block's shift is its least distance to the end of a window that it occurs in. */
static void fill_shifts(struct wm_table *body, const struct mpm_set *set)
{
    const uint32_t m = body->window_len;
    const uint32_t b = body->block_len;
    uint8_t *shifts = (uint8_t *)part(body, body->shifts);

    memset(shifts, (int)(m - b + 1), (size_t)1 << (32 - body->shift_shift));
    for (uint32_t group = 0; group < set->n_groups; group++) {
        const uint8_t *window = group_key(set, group)->folded;

        for (uint32_t end = b; end <= m && is_long(set, group); end++) {
            const uint32_t block = wm_block(window + end - b, b);
            uint8_t *shift = &shifts[b == 2 ? block : wm_hash(block) >> body->shift_shift];

            if (m - end < *shift)
                *shift = (uint8_t)(m - end);
        }
    }
    for (uint32_t block = 0; b == 2 && block < WM_PAIRS; block++)
        shifts[block] = shifts[wm_fold4(block)];
}

static uint32_t bucket_of(const struct wm_table *body, const struct mpm_set *set, uint32_t group)
{
    const uint8_t *window = group_key(set, group)->folded;
    const uint32_t block = wm_block(window + body->window_len - body->block_len, body->block_len);

    return wm_bucket(wm_prefix(window), block, body->bucket_shift);
}

/* Sorts the long groups by bucket, and in each by their number. A bucket's word is first the number
 * of its groups, then their end, and at last their first: groups are put in from the last on. */
static void fill_buckets(struct wm_table *body, const struct mpm_set *set)
{
    const uint32_t n_buckets = UINT32_C(1) << (32 - body->bucket_shift);
    uint32_t *buckets = (uint32_t *)part(body, body->buckets);
    struct wm_entry *entries = (struct wm_entry *)part(body, body->entries);

    for (uint32_t group = 0; group < set->n_groups; group++)
        if (is_long(set, group))
            buckets[bucket_of(body, set, group)]++;
    for (uint32_t bucket = 1; bucket <= n_buckets; bucket++)
        buckets[bucket] += buckets[bucket - 1];
    for (uint32_t group = set->n_groups; group-- > 0;)
        if (is_long(set, group))
            entries[--buckets[bucket_of(body, set, group)]] = (struct wm_entry){
                .prefix = wm_prefix(group_key(set, group)->folded), .group = group};
}

/* ---- short groups ---------------------------------------------------------------------------- */

/* Slots being filled, in order of groups. So the groups of a slot come one after another, and the
 * group of a byte comes before the others that begin with it. */
struct slots {
    uint32_t *slots;
    uint16_t *pairs;
    struct wm_entry *entries;
    uint32_t end;      /* of the entries */
    uint32_t slot;     /* the last */
    uint32_t single;   /* the last group of one byte, */
    uint8_t byte;      /* the byte, */
    uint16_t fallback; /* and its slot */
};

static void put_in_slot(struct slots *to, uint32_t group)
{
    to->entries[to->end++].group = group;
    to->slots[to->slot + 1] = to->end;
}

static void add_short(struct slots *to, const struct mpm_key *key, uint32_t group)
{
    const uint8_t byte = key->folded[0];

    if (key->len == 1) {
        to->fallback = (uint16_t)++to->slot;
        to->single = group;
        to->byte = byte;
        for (uint32_t second = 0; second < 256; second++)
            to->pairs[byte | second << 8] = to->fallback;
    } else {
        uint16_t *pair = &to->pairs[wm_pair(key->folded)];
        const bool has_single = to->fallback != 0 && to->byte == byte;

        if (*pair == (has_single ? to->fallback : 0)) {
            *pair = (uint16_t)++to->slot;
            if (has_single)
                put_in_slot(to, to->single);
        }
    }
    put_in_slot(to, group);
}

/* Folded, there are less than 65,536 pairs, so a slot's number has 16 bits. */
static void fill_slots(struct wm_table *body, const struct mpm_set *set)
{
    struct slots to = {.slots = (uint32_t *)part(body, body->slots),
                       .pairs = (uint16_t *)part(body, body->pairs),
                       .entries = (struct wm_entry *)part(body, body->entries),
                       .end = body->n_long};

    to.slots[0] = to.slots[1] = to.end;
    for (uint32_t group = 0; group < set->n_groups; group++)
        if (!is_long(set, group))
            add_short(&to, group_key(set, group), group);
    for (uint32_t pair = 0; body->n_short != 0 && pair < WM_PAIRS; pair++)
        to.pairs[pair] = to.pairs[wm_fold4(pair)];
}

/* ---- prefixes -------------------------------------------------------------------------------- */

static bool begins_with(const struct mpm_key *key, const struct mpm_key *with)
{
    return key->len >= with->len && memcmp(key->folded, with->folded, with->len) == 0;
}

/* A prefix of a group is the group before it, or a prefix of that. */
static void fill_shorter(struct wm_table *body, const struct mpm_set *set)
{
    uint32_t *shorter = (uint32_t *)part(body, body->shorter);

    for (uint32_t group = 0; group < set->n_groups; group++) {
        uint32_t other = group > 0 ? group - 1 : MPM_NONE;

        while (other != MPM_NONE && !begins_with(group_key(set, group), group_key(set, other)))
            other = shorter[other];
        shorter[group] = other;
    }
    for (uint32_t group = 0; group < set->n_groups; group++)
        if (shorter[group] != MPM_NONE && is_long(set, group) && !is_long(set, shorter[group]))
            shorter[group] = MPM_NONE;
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool parts_fit(const struct sl_mpm_table *table, const struct wm_table *body)
{
    const uint64_t n_shifts =
        body->block_len == 2 ? WM_PAIRS : UINT64_C(1) << (32 - body->shift_shift);
    const uint64_t n_buckets = (UINT64_C(1) << (32 - body->bucket_shift)) + 1;

    return mpm_part_fits(table, body->shifts, n_shifts, 1) &&
           mpm_part_fits(table, body->buckets, n_buckets, sizeof(uint32_t)) &&
           mpm_part_fits(table, body->slots, body->n_short + UINT64_C(2), sizeof(uint32_t)) &&
           mpm_part_fits(table, body->pairs, body->n_short != 0 ? WM_PAIRS : 0, sizeof(uint16_t)) &&
           mpm_part_fits(table, body->entries, n_entries(body), sizeof(struct wm_entry)) &&
           mpm_part_fits(table, body->shorter, table->n_groups, sizeof(uint32_t));
}

static bool all_at_most(const uint32_t *numbers, uint64_t n, uint64_t most)
{
    for (uint64_t i = 0; i < n; i++)
        if (numbers[i] > most)
            return false;
    return true;
}

/* Shifts are free: any ends inside the text or behind it. A bucket or slot that begins behind its
 * end is searched like an empty one. */
static bool indices_fit(const struct sl_mpm_table *table, const struct wm_table *body)
{
    const struct wm_view view = wm_view(table);
    const uint64_t n_buckets = (UINT64_C(1) << (32 - body->bucket_shift)) + 1;

    if (!all_at_most(view.buckets, n_buckets, n_entries(body)) ||
        !all_at_most(view.slots, body->n_short + UINT64_C(2), n_entries(body)))
        return false;
    for (uint32_t pair = 0; body->n_short != 0 && pair < WM_PAIRS; pair++)
        if (view.pairs[pair] > body->n_short)
            return false;
    for (uint64_t i = 0; i < n_entries(body); i++)
        if (view.entries[i].group >= table->n_groups)
            return false;
    return true;
}

/* From each group on they become shorter, so that they come to an end, and end inside the text when
 * the first does. */
static bool shorter_fit(const struct sl_mpm_table *table)
{
    const struct wm_view view = wm_view(table);

    for (uint32_t group = 0; group < table->n_groups; group++) {
        const uint32_t other = view.shorter[group];

        if (other != MPM_NONE &&
            (other >= table->n_groups ||
             wm_first_literal(&view, other)->len >= wm_first_literal(&view, group)->len))
            return false;
    }
    return true;
}

static const char *wm_check(const struct sl_mpm_table *table)
{
    const struct wm_table *body = (const struct wm_table *)mpm_at(table, table->body);

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || body->block_len < 2 || body->block_len > 3 ||
        body->window_len < WM_LONG || body->window_len > WM_WINDOW_MAX || body->shift_shift < 1 ||
        body->shift_shift > 31 || body->bucket_shift < 1 || body->bucket_shift > 31 ||
        !parts_fit(table, body) || !indices_fit(table, body) || !shorter_fit(table))
        return "its buckets lead out of the table";
    return NULL;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

/* block_len 0: the better one. */
static enum sl_status build(struct sl_mpm_table **table, const char *name,
                            const struct mpm_set *set, uint32_t block_len, struct sl_diag *diag)
{
    struct wm_table head = {.block_len = block_len};

    measure(&head, set);
    if (block_len == 0)
        head.block_len = head.n_long < TRIPLES_FROM ? 2 : 3;
    *table = mpm_table_create(set, name, 0, lay_out(&head, set));
    if (*table == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u literals", set->n_literals);

    struct wm_table *body = (struct wm_table *)((uint8_t *)*table + (*table)->body);
    *body = head;
    fill_shifts(body, set);
    fill_buckets(body, set);
    fill_slots(body, set);
    fill_shorter(body, set);
    return SL_OK;
}

static enum sl_status wm_build(struct sl_mpm_table **table, const struct mpm_set *set,
                               const struct sl_mpm_config *config, struct sl_diag *diag)
{
    (void)config;
    return build(table, "wm", set, 0, diag);
}

static enum sl_status wm2_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                const struct sl_mpm_config *config, struct sl_diag *diag)
{
    (void)config;
    return build(table, "wm2", set, 2, diag);
}

static enum sl_status wm3_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                const struct sl_mpm_config *config, struct sl_diag *diag)
{
    (void)config;
    return build(table, "wm3", set, 3, diag);
}

extern const struct sl_backend mpm_wm_cuda;
extern const struct sl_backend mpm_wm_scalar;
extern const struct sl_backend mpm_wm_tiled;

static const struct sl_backend *const backends[] = {&mpm_wm_cuda, &mpm_wm_scalar, &mpm_wm_tiled,
                                                    NULL};

static const struct sl_engine engine = {.name = "mpm.wm", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_wm;
extern const struct mpm_algorithm mpm_wm2;
extern const struct mpm_algorithm mpm_wm3;
const struct mpm_algorithm mpm_wm = {
    .name = "wm", .build = wm_build, .check = wm_check, .engine = &engine};
const struct mpm_algorithm mpm_wm2 = {
    .name = "wm2", .build = wm2_build, .check = wm_check, .engine = &engine};
const struct mpm_algorithm mpm_wm3 = {
    .name = "wm3", .build = wm3_build, .check = wm_check, .engine = &engine};
