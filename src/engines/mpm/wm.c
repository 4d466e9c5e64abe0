/* SPDX-License-Identifier: MIT */
/* Building Wu-Manber's tables, and its backends. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "mpm_internal.h"
#include "wm_core.h"

enum {
    MAX_SHIFT_BITS = 18, /* 256 KiB: in a core's second level of cache */
    MIN_SHIFT_BITS = 12,
    MAX_BUCKET_BITS = 20,
    SPARSE = 8 /* shifts for each block of the literals, so that few others have its shift */
};

static const struct mpm_key *group_key(const struct mpm_set *set, uint32_t group)
{
    return &set->keys[set->groups[group]];
}

static bool is_short(const struct mpm_set *set, uint32_t group, uint32_t block_len)
{
    return group_key(set, group)->len < block_len;
}

/* The bits of an index of at least n entries, between two bounds. */
static uint32_t index_bits(uint64_t n, uint32_t min_bits, uint32_t max_bits)
{
    uint32_t bits = min_bits;

    while (bits < max_bits && UINT64_C(1) << bits < n)
        bits++;
    return bits;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* What the lengths alone say. */
struct shape {
    uint32_t n_entries;
    uint32_t window_len;
    bool has_single;
    bool has_pair;
};

static struct shape measure(const struct mpm_set *set, uint32_t block_len)
{
    struct shape shape = {.window_len = WM_WINDOW_MAX};

    for (uint32_t group = 0; group < set->n_groups; group++) {
        const uint32_t len = group_key(set, group)->len;

        if (len >= block_len) {
            shape.n_entries++;
            shape.window_len = len < shape.window_len ? len : shape.window_len;
        }
        shape.has_single |= len < block_len;
        shape.has_pair |= len < block_len && len == 2;
    }
    return shape;
}

/* Lays the body out and returns its length. */
static uint64_t lay_out(struct wm_table *body, const struct mpm_set *set, uint32_t block_len)
{
    const struct shape shape = measure(set, block_len);
    const uint64_t n_blocks = (uint64_t)shape.n_entries * (shape.window_len - block_len + 1);
    const uint32_t shift_bits =
        block_len == 2 ? 16 : index_bits(SPARSE * n_blocks, MIN_SHIFT_BITS, MAX_SHIFT_BITS);
    const uint32_t bucket_bits = index_bits(shape.n_entries, 1, MAX_BUCKET_BITS);
    uint64_t end = sizeof *body;

    *body = (struct wm_table){
        .block_len = block_len,
        .window_len = shape.window_len,
        .prefix_len = shape.window_len < WM_PREFIX ? shape.window_len : WM_PREFIX,
        .shift_shift = 32 - shift_bits,
        .bucket_shift = 32 - bucket_bits,
        .n_entries = shape.n_entries};
    body->shifts = mpm_place(&end, UINT64_C(1) << shift_bits);
    body->buckets = mpm_place(&end, ((UINT64_C(1) << bucket_bits) + 1) * sizeof(uint32_t));
    body->entries = mpm_place(&end, shape.n_entries * sizeof(struct wm_entry));
    body->shorter = mpm_place(&end, set->n_groups * sizeof(uint32_t));
    if (shape.has_single)
        body->singles = mpm_place(&end, WM_SINGLES * sizeof(uint32_t));
    if (shape.has_pair)
        body->pairs = mpm_place(&end, WM_PAIRS * sizeof(uint32_t));
    return end;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void *part(struct wm_table *body, uint64_t at)
{
    return (uint8_t *)body + at;
}

/* A block's shift is its least distance to the end of a window that it occurs in. */
static void fill_shifts(struct wm_table *body, const struct mpm_set *set)
{
    const uint32_t m = body->window_len;
    const uint32_t b = body->block_len;
    const uint32_t shift_bits = 32 - body->shift_shift;
    uint8_t *shifts = (uint8_t *)part(body, body->shifts);

    memset(shifts, (int)(m - b + 1), (size_t)1 << shift_bits);
    for (uint32_t group = 0; group < set->n_groups; group++) {
        const uint8_t *window = group_key(set, group)->folded;

        for (uint32_t end = b; end <= m && !is_short(set, group, b); end++) {
            const uint32_t block = wm_block(window + end - b, b);
            uint8_t *shift = &shifts[b == 2 ? block : wm_hash(block) >> body->shift_shift];

            if (m - end < *shift)
                *shift = (uint8_t)(m - end);
        }
    }
}

/* The bucket of a group by the last block of its window. */
static uint32_t bucket_of(const struct wm_table *body, const struct mpm_set *set, uint32_t group)
{
    const uint8_t *window = group_key(set, group)->folded;
    const uint32_t block = wm_block(window + body->window_len - body->block_len, body->block_len);

    return wm_hash(block) >> body->bucket_shift;
}

/* Sorts the groups by bucket, keeping their order in each. A bucket's number goes from its entries'
 * count, over their end, to their first, as they are put in from the last to the first. */
static void fill_buckets(struct wm_table *body, const struct mpm_set *set)
{
    const uint32_t n_buckets = UINT32_C(1) << (32 - body->bucket_shift);
    uint32_t *buckets = (uint32_t *)part(body, body->buckets);
    struct wm_entry *entries = (struct wm_entry *)part(body, body->entries);

    for (uint32_t group = 0; group < set->n_groups; group++)
        if (!is_short(set, group, body->block_len))
            buckets[bucket_of(body, set, group)]++;
    for (uint32_t bucket = 1; bucket <= n_buckets; bucket++)
        buckets[bucket] += buckets[bucket - 1];
    for (uint32_t group = set->n_groups; group-- > 0;)
        if (!is_short(set, group, body->block_len))
            entries[--buckets[bucket_of(body, set, group)]] = (struct wm_entry){
                .prefix = wm_prefix(group_key(set, group)->folded, body->prefix_len),
                .group = group};
}

static bool begins_with(const struct mpm_key *key, const struct mpm_key *with)
{
    return key->len >= with->len && memcmp(key->folded, with->folded, with->len) == 0;
}

/* The prefixes of a group precede it in order, and all between have them as prefixes too. */
static void fill_shorter(struct wm_table *body, const struct mpm_set *set)
{
    uint32_t *shorter = (uint32_t *)part(body, body->shorter);

    for (uint32_t group = 0; group < set->n_groups; group++) {
        const struct mpm_key *key = group_key(set, group);
        uint32_t other = group > 0 ? group - 1 : MPM_NONE;

        while (other != MPM_NONE && !begins_with(key, group_key(set, other)))
            other = shorter[other];
        shorter[group] = other;
    }
}

/* Short groups are found by themselves: cuts the chains where they would go on into them. */
static void cut_shorter(struct wm_table *body, const struct mpm_set *set)
{
    uint32_t *shorter = (uint32_t *)part(body, body->shorter);

    for (uint32_t group = 0; group < set->n_groups; group++)
        if (shorter[group] != MPM_NONE && !is_short(set, group, body->block_len) &&
            is_short(set, shorter[group], body->block_len))
            shorter[group] = MPM_NONE;
}

static void fill_short(struct wm_table *body, const struct mpm_set *set)
{
    uint32_t *singles = (uint32_t *)part(body, body->singles);
    uint32_t *pairs = (uint32_t *)part(body, body->pairs);

    if (body->singles != 0)
        memset(singles, 0xFF, WM_SINGLES * sizeof *singles);
    if (body->pairs != 0)
        memset(pairs, 0xFF, WM_PAIRS * sizeof *pairs);
    /* In order a group of one byte precedes those of two that begin with it. */
    for (uint32_t group = 0; group < set->n_groups; group++) {
        const struct mpm_key *key = group_key(set, group);

        if (!is_short(set, group, body->block_len))
            continue;
        if (key->len == 2) {
            pairs[wm_block(key->folded, 2)] = group;
            continue;
        }
        singles[key->folded[0]] = group;
        for (uint32_t second = 0; body->pairs != 0 && second < 256; second++)
            pairs[key->folded[0] | second << 8] = group;
    }
}

static enum sl_status build(struct sl_mpm_table **table, const char *name,
                            const struct mpm_set *set, uint32_t block_len, struct sl_diag *diag)
{
    struct wm_table head;
    const uint64_t body_len = lay_out(&head, set, block_len);

    *table = mpm_table_create(set, name, 0, body_len);
    if (*table == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u literals", set->n_literals);

    struct wm_table *body = (struct wm_table *)((uint8_t *)*table + (*table)->body);
    *body = head;
    fill_shifts(body, set);
    fill_buckets(body, set);
    fill_shorter(body, set);
    cut_shorter(body, set);
    fill_short(body, set);
    return SL_OK;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

static uint32_t choose_block_len(const struct mpm_set *set)
{
    return set->n_groups < 100 ? 2 : 3;
}

static enum sl_status wm_build(struct sl_mpm_table **table, const struct mpm_set *set,
                               const struct sl_mpm_config *config, struct sl_diag *diag)
{
    (void)config;
    return build(table, "wm", set, choose_block_len(set), diag);
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

static const struct sl_engine engine = {.name = "mpm.wm", .backends = backends};

extern const struct mpm_algorithm mpm_wm;
extern const struct mpm_algorithm mpm_wm2;
extern const struct mpm_algorithm mpm_wm3;
const struct mpm_algorithm mpm_wm = {.name = "wm", .build = wm_build, .engine = &engine};
const struct mpm_algorithm mpm_wm2 = {.name = "wm2", .build = wm2_build, .engine = &engine};
const struct mpm_algorithm mpm_wm3 = {.name = "wm3", .build = wm3_build, .engine = &engine};
