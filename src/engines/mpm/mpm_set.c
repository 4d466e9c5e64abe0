/* SPDX-License-Identifier: MIT */
#include "mpm_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/diag.h"
#include "mpm_internal.h"

_Static_assert((uint64_t)SL_LITERAL_COUNT_MAX *SL_LITERAL_LEN_MAX < UINT32_MAX,
               "offsets of literal bytes and states of the trie are 32 bits");

/* ---- literals -------------------------------------------------------------------------------- */

uint64_t sl_mpm_literals_check(const struct sl_literal *literals, size_t n_literals)
{
    uint64_t check = n_literals;

    for (size_t id = 0; id < n_literals; id++) {
        const uint32_t head[] = {literals[id].len, literals[id].flags};

        check = XXH3_64bits_withSeed(head, sizeof head, check);
        check = XXH3_64bits_withSeed(literals[id].bytes, literals[id].len, check);
    }
    return check;
}

static enum sl_status check_literals(struct mpm_set *set, const struct sl_literal *literals,
                                     size_t n_literals, struct sl_diag *diag)
{
    if (n_literals > SL_LITERAL_COUNT_MAX)
        return diag_set(diag, SL_EINVAL, NULL, SL_LITERAL_COUNT_MAX + 1,
                        "%zu literals (expected at most %d)", n_literals, SL_LITERAL_COUNT_MAX);
    for (uint32_t id = 0; id < n_literals; id++) {
        const struct sl_literal *literal = &literals[id];

        if (literal->len == 0 || literal->len > SL_LITERAL_LEN_MAX)
            return diag_set(diag, SL_EINVAL, NULL, id + 1,
                            "a literal of %u bytes (expected 1 to %d)", literal->len,
                            SL_LITERAL_LEN_MAX);
        if ((literal->flags & ~(uint32_t)SL_LITERAL_NOCASE) != 0)
            return diag_set(diag, SL_EINVAL, NULL, id + 1, "unknown literal flags 0x%x",
                            literal->flags);
        set->bytes_len += literal->len;
        if (literal->len > set->max_len)
            set->max_len = literal->len;
    }
    set->literals = literals;
    set->n_literals = (uint32_t)n_literals;
    return SL_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const struct mpm_key *a = (const struct mpm_key *)left;
    const struct mpm_key *b = (const struct mpm_key *)right;
    const int order = memcmp(a->folded, b->folded, a->len < b->len ? a->len : b->len);

    if (order != 0)
        return order;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void sort_literals(struct mpm_set *set)
{
    uint8_t *to = set->folded;

    for (uint32_t id = 0; id < set->n_literals; id++) {
        const struct sl_literal *literal = &set->literals[id];

        set->keys[id] = (struct mpm_key){.folded = to, .len = literal->len, .id = id};
        for (uint32_t i = 0; i < literal->len; i++)
            *to++ = mpm_fold(literal->bytes[i]);
    }
    if (set->n_literals > 1)
        qsort(set->keys, set->n_literals, sizeof *set->keys, compare_keys);
    for (uint32_t k = 0; k < set->n_literals; k++)
        set->keys[k].place = k;
}

static uint32_t common_prefix(const struct mpm_key *a, const struct mpm_key *b)
{
    const uint32_t max = a->len < b->len ? a->len : b->len;
    uint32_t len = 0;

    while (len < max && a->folded[len] == b->folded[len])
        len++;
    return len;
}

/* In sorted order a literal adds to the trie what it does not share with the one before. */
static void group_literals(struct mpm_set *set)
{
    set->n_states = 1;
    for (uint32_t k = 0; k < set->n_literals; k++) {
        const struct mpm_key *key = &set->keys[k];
        const uint32_t shared = k == 0 ? 0 : common_prefix(&set->keys[k - 1], key);

        if (k != 0 && shared == key->len && set->keys[k - 1].len == key->len)
            continue;
        set->groups[set->n_groups++] = k;
        set->n_states += key->len - shared;
    }
    set->groups[set->n_groups] = set->n_literals;
}

enum sl_status mpm_set_init(struct mpm_set *set, const struct sl_literal *literals,
                            size_t n_literals, struct sl_diag *diag)
{
    memset(set, 0, sizeof *set);

    const enum sl_status status = check_literals(set, literals, n_literals, diag);
    if (status != SL_OK)
        return status;
    set->folded = (uint8_t *)malloc(set->bytes_len + 1);
    set->keys = (struct mpm_key *)calloc(n_literals + 1, sizeof *set->keys);
    set->groups = (uint32_t *)calloc(n_literals + 1, sizeof *set->groups);
    if (set->folded == NULL || set->keys == NULL || set->groups == NULL) {
        mpm_set_clear(set);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu literals", n_literals);
    }
    sort_literals(set);
    group_literals(set);
    return SL_OK;
}

bool mpm_set_pick(struct mpm_set *part, const struct mpm_set *set, const bool *wanted)
{
    *part = (struct mpm_set){.literals = set->literals};
    part->keys = (struct mpm_key *)calloc(set->n_literals + (size_t)1, sizeof *part->keys);
    part->groups = (uint32_t *)calloc(set->n_groups + (size_t)1, sizeof *part->groups);
    if (part->keys == NULL || part->groups == NULL)
        return false;
    for (uint32_t group = 0; group < set->n_groups; group++)
        for (uint32_t k = set->groups[group]; wanted[group] && k < set->groups[group + 1]; k++) {
            const struct mpm_key *key = &set->keys[k];

            part->keys[part->n_literals++] = *key;
            part->bytes_len += key->len;
            if (key->len > part->max_len)
                part->max_len = key->len;
        }
    group_literals(part);
    return true;
}

void mpm_set_clear(struct mpm_set *set)
{
    free(set->folded);
    free(set->keys);
    free(set->groups);
    memset(set, 0, sizeof *set);
}

/* ---- trie ------------------------------------------------------------------------------------ */

/* The groups that share a state's prefix, which are neighbours. */
struct range {
    uint32_t begin;
    uint32_t end;
};

static const struct mpm_key *group_key(const struct mpm_set *set, uint32_t group)
{
    return &set->keys[set->groups[group]];
}

/* Appends the children of a state at this depth; returns the number of states then. */
static uint32_t add_children(struct mpm_trie *trie, struct range *ranges, const struct mpm_set *set,
                             uint32_t state, uint32_t depth, uint32_t n)
{
    struct range range = ranges[state];

    trie->first_child[state] = n;
    trie->group[state] = MPM_NONE;
    if (range.begin < range.end && group_key(set, range.begin)->len == depth)
        trie->group[state] = range.begin++; /* a prefix of all others here: it sorts first */
    while (range.begin < range.end) {
        const uint8_t byte = group_key(set, range.begin)->folded[depth];
        uint32_t end = range.begin + 1;

        while (end < range.end && group_key(set, end)->folded[depth] == byte)
            end++;
        trie->byte[n] = byte;
        ranges[n++] = (struct range){range.begin, end};
        range.begin = end;
    }
    return n;
}

enum sl_status mpm_trie_init(struct mpm_trie *trie, const struct mpm_set *set, struct sl_diag *diag)
{
    const size_t n_states = set->n_states;
    struct range *ranges = (struct range *)malloc(n_states * sizeof *ranges);

    trie->n_states = set->n_states;
    trie->first_child = (uint32_t *)malloc((n_states + 1) * sizeof *trie->first_child);
    trie->byte = (uint8_t *)calloc(n_states, sizeof *trie->byte);
    trie->group = (uint32_t *)malloc(n_states * sizeof *trie->group);
    if (ranges == NULL || trie->first_child == NULL || trie->byte == NULL || trie->group == NULL) {
        free(ranges);
        mpm_trie_clear(trie);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a trie of %zu states", n_states);
    }

    uint32_t n = 1;
    uint32_t level_end = 1;
    ranges[0] = (struct range){0, set->n_groups};
    for (uint32_t state = 0, depth = 0; state < n; state++) {
        if (state == level_end) {
            level_end = n;
            depth++;
        }
        n = add_children(trie, ranges, set, state, depth, n);
    }
    trie->first_child[n] = n;
    free(ranges);
    return SL_OK;
}

void mpm_trie_clear(struct mpm_trie *trie)
{
    free(trie->first_child);
    free(trie->byte);
    free(trie->group);
    memset(trie, 0, sizeof *trie);
}

/* ---- block ----------------------------------------------------------------------------------- */

static bool has_letter(const struct sl_literal *literal)
{
    for (uint32_t i = 0; i < literal->len; i++)
        if ((uint8_t)((literal->bytes[i] | 0x20) - 'a') < 26)
            return true;
    return false;
}

static void fill_literals(struct sl_mpm_table *table, const struct mpm_set *set)
{
    struct mpm_literal *to = (struct mpm_literal *)((uint8_t *)table + table->literals);
    uint8_t *bytes = (uint8_t *)table + table->bytes;
    uint32_t at = 0;

    for (uint32_t k = 0; k < set->n_literals; k++) {
        const struct sl_literal *from = &set->literals[set->keys[k].id];
        const bool nocase = (from->flags & SL_LITERAL_NOCASE) != 0;

        to[k] = (struct mpm_literal){.bytes = at,
                                     .len = from->len,
                                     .id = set->keys[k].id,
                                     .exact = !nocase && has_letter(from)};
        memcpy(bytes + at, from->bytes, from->len);
        at += from->len;
    }
    memcpy((uint8_t *)table + table->groups, set->groups,
           (set->n_groups + (size_t)1) * sizeof *set->groups);
}

void *mpm_zeroed(size_t len)
{
    enum { HUGE = 2 << 20 };
    size_t zeroed = 0;
    void *memory;

    if (posix_memalign(&memory, len < HUGE ? MPM_ALIGN : HUGE, len) != 0)
        return NULL;
    if (len >= HUGE) {
        const size_t whole = len / HUGE * HUGE;

        (void)madvise(memory, whole, MADV_HUGEPAGE);
        if (madvise(memory, whole, MADV_DONTNEED) == 0) /* zeros, and none in memory yet */
            zeroed = whole;
    }
    memset((uint8_t *)memory + zeroed, 0, len - zeroed);
    return memory;
}

struct sl_mpm_table *mpm_table_create(const struct mpm_set *set, const char *algorithm,
                                      uint32_t n_states, uint64_t body_len)
{
    struct sl_mpm_table head = {.literals_check =
                                    sl_mpm_literals_check(set->literals, set->n_literals),
                                .n_literals = set->n_literals,
                                .n_states = n_states,
                                .n_groups = set->n_groups,
                                .max_len = set->max_len};
    uint64_t end = sizeof head;

    head.literals = mpm_place(&end, set->n_literals * sizeof(struct mpm_literal));
    head.groups = mpm_place(&end, (set->n_groups + (uint64_t)1) * sizeof *set->groups);
    head.bytes = mpm_place(&end, set->bytes_len);
    head.body = mpm_place(&end, body_len);
    const uint64_t len = mpm_place(&end, 0);
    head.head = block_head_make(&mpm_block_kind, len);
    strncpy(head.algorithm, algorithm, MPM_NAME_LEN - 1);

    void *memory = mpm_zeroed(len);
    if (memory == NULL)
        return NULL;
    memcpy(memory, &head, sizeof head);
    fill_literals((struct sl_mpm_table *)memory, set);
    return (struct sl_mpm_table *)memory;
}
