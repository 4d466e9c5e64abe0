/* SPDX-License-Identifier: MIT */
/* Builds the sieve, with which GPUs search for windows. */
#include <stdlib.h>

#include "gram_build.h"

enum {
    WORDS_MIN = 1024,
    WORDS_A_WINDOW = 8,      /* beyond that next to nothing less passes */
    WORDS_ENOUGH = 16 << 10, /* beyond that the first-level cache is worth more, */
    SLOTS_A_KEY = 4,         /* up to a word a window */
    COUNTERS_LOG = 20
};

struct gram_sieve_draft {
    uint32_t key;
    uint32_t order; /* within a key */
    uint32_t first; /* bytes 0 to 3 of the window, coarsely folded, */
    uint32_t next;  /* and 4 to 7, */
    uint32_t mask;  /* as far as the literal has them */
    struct gram_entry entry;
};

/* ---- windows --------------------------------------------------------------------------------- */

/* The first eight bytes from `at` on that the literal has. */
static uint64_t bytes_from(const struct mpm_key *key, uint32_t at, uint64_t *mask)
{
    uint64_t bytes = 0;

    *mask = 0;
    for (uint32_t i = 0; i < GRAM_SIEVE_LONG && at + i < key->len; i++) {
        bytes |= (uint64_t)key->folded[at + i] << 8 * i;
        *mask |= UINT64_C(0xFF) << 8 * i;
    }
    return gram_fold8(bytes);
}

/* Windows of which kinds are chosen already. */
struct choice {
    const struct gram_model *model;
    bool is_long;
    uint32_t *n_chosen; /* by hash of the key; keys that share one count together */
};

static uint32_t *chosen(const struct choice *choice, uint64_t bytes)
{
    const uint64_t key = choice->is_long ? bytes : bytes & UINT32_MAX;

    return &choice
                ->n_chosen[(key ^ key >> 29) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - COUNTERS_LOG)];
}

/* A window in the dictionary costs a few times one that only passes, for each entry of the key.
 * Bytes that the sample lacks may occur all the same. */
static double cost_of(const struct choice *choice, uint64_t bytes, uint32_t known)
{
    const double verification = 4, unseen = 0.5;
    const int gram = known >= 7 ? GRAM_MODEL_7 : known >= 5 ? GRAM_MODEL_5 : GRAM_MODEL_4;
    const double passing =
        choice->is_long ? 0 : gram_model_occurrences(choice->model, bytes, GRAM_MODEL_4);

    return passing + verification * (gram_model_occurrences(choice->model, bytes, gram) + unseen) *
                         (1 + *chosen(choice, bytes));
}

/* The cheapest window whose hashed bytes are no run: a run would be met all along runs in the text.
 * A literal that is no run has one, where it is long only by a change not too near its end; else
 * the first. */
static uint32_t choose_window(const struct choice *choice, const struct mpm_key *key)
{
    const uint32_t len = choice->is_long ? GRAM_SIEVE_LONG : GRAM_SIEVE_SHORT;
    uint32_t window = 0;
    bool found = false;
    double best = 0;

    for (uint32_t at = 0; at + len <= key->len; at++) {
        uint64_t mask;
        const uint64_t bytes = bytes_from(key, at, &mask);

        if (gram_is_run(key->folded + at, len))
            continue;
        const double cost = cost_of(choice, bytes, key->len - at);
        if (!found || cost < best) {
            found = true;
            best = cost;
            window = at;
        }
    }
    return window;
}

/* Whether each literal has at least the bytes that a long sieve hashes. */
static bool is_long_set(const struct mpm_set *set, const struct gram_windowed *windowed, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (gram_share_key(set, &windowed[i].share)->len < GRAM_SIEVE_LONG)
            return false;
    return true;
}

static int compare_drafts(const void *left, const void *right)
{
    const struct gram_sieve_draft *a = (const struct gram_sieve_draft *)left;
    const struct gram_sieve_draft *b = (const struct gram_sieve_draft *)right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool make_drafts(struct gram_sieve_builder *builder, const struct mpm_set *set,
                        const struct gram_model *model, const struct gram_windowed *windowed,
                        uint32_t n)
{
    const struct choice choice = {
        .model = model,
        .is_long = builder->sieve.next != 0,
        .n_chosen = (uint32_t *)calloc((size_t)1 << COUNTERS_LOG, sizeof *choice.n_chosen)};
    uint32_t window = 0;

    if (choice.n_chosen == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct gram_share *share = &windowed[i].share;
        const struct mpm_key *key = gram_share_key(set, share);
        struct gram_sieve_draft *draft = &builder->drafts[i];
        uint64_t mask;

        if (i == 0 || windowed[i - 1].share.group != share->group)
            window = choose_window(&choice, key);
        const uint64_t bytes = bytes_from(key, window, &mask);
        (*chosen(&choice, bytes))++;
        draft->order = i;
        draft->first = (uint32_t)bytes;
        draft->next = (uint32_t)(bytes >> 32);
        draft->mask = (uint32_t)(mask >> 32);
        draft->key = gram_sieve_key(&builder->sieve, draft->first, draft->next);
        draft->entry = gram_make_entry(set, share, windowed[i].pattern_at, window);
    }
    free(choice.n_chosen);
    builder->at.n_entries = n;
    qsort(builder->drafts, n, sizeof *builder->drafts, compare_drafts);
    return true;
}

/* ---- filter ---------------------------------------------------------------------------------- */

static void fill_words(struct gram_sieve_builder *builder, uint32_t multiplier)
{
    struct gram_sieve *sieve = &builder->sieve;

    sieve->first = multiplier;
    if (sieve->next != 0)
        sieve->next = multiplier * GRAM_HASH_7;
    memset(builder->words, 0xFF, sizeof *builder->words * sieve->n_words);
    for (uint64_t i = 0; i < builder->at.n_entries; i++) {
        const struct gram_sieve_draft *draft = &builder->drafts[i];
        const uint64_t hash = gram_sieve_hash(sieve, draft->first, draft->next);

        builder->words[gram_sieve_word(sieve, hash)] &= ~gram_sieve_bits(hash);
    }
}

static uint32_t choose_n_words(uint64_t n_windows)
{
    uint64_t n = WORDS_A_WINDOW * n_windows;

    if (n > WORDS_ENOUGH)
        n = n_windows > WORDS_ENOUGH ? n_windows : WORDS_ENOUGH;
    if (n < WORDS_MIN)
        return WORDS_MIN;
    return n < GRAM_SIEVE_WORDS_MAX ? (uint32_t)n : (uint32_t)GRAM_SIEVE_WORDS_MAX;
}

/* Collisions of frequent bytes with the begins of windows depend on the multiplier. Of several
 * multipliers, the one that lets the least pass is taken. */
static bool make_words(struct gram_sieve_builder *builder, const struct gram_model *model)
{
    static const uint32_t multipliers[] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du, 0x27D4EB2Fu,
                                           0x165667B1u, 0xD35A2D97u, 0xB5297A4Du, 0x68E31DA5u};
    enum { N = sizeof multipliers / sizeof *multipliers };
    double best = 0;
    int best_at = 0;

    builder->sieve.n_words = choose_n_words(builder->at.n_entries);
    builder->words = (uint32_t *)malloc(sizeof *builder->words * builder->sieve.n_words);
    if (builder->words == NULL)
        return false;
    builder->sieve.words = builder->words;
    for (int i = 0; i < N; i++) {
        fill_words(builder, multipliers[i]);
        const double passing = gram_model_sieve_passing(model, &builder->sieve);
        if (i == 0 || passing < best) {
            best = passing;
            best_at = i;
        }
    }
    fill_words(builder, multipliers[best_at]);
    return true;
}

bool gram_sieve_build(struct gram_sieve_builder *builder, const struct mpm_set *set,
                      const struct gram_model *model, const struct gram_windowed *windowed,
                      uint32_t n)
{
    builder->drafts = (struct gram_sieve_draft *)malloc(((size_t)n + 1) * sizeof *builder->drafts);
    if (builder->drafts == NULL)
        return false;
    builder->sieve.next = is_long_set(set, windowed, n);
    return make_drafts(builder, set, model, windowed, n) && make_words(builder, model);
}

void gram_sieve_clear(struct gram_sieve_builder *builder)
{
    free(builder->words);
    free(builder->drafts);
}

/* ---- layout ---------------------------------------------------------------------------------- */

uint64_t gram_sieve_place(struct gram_sieve_builder *builder, uint64_t *end)
{
    struct gram_sieve_table *at = &builder->at;
    const uint64_t place = mpm_place(end, sizeof *at);
    uint64_t n_keys = 0;

    for (uint64_t i = 0; i < at->n_entries; i++)
        n_keys += i == 0 || builder->drafts[i - 1].key != builder->drafts[i].key;
    at->n_words = builder->sieve.n_words;
    at->first = builder->sieve.first;
    at->next = builder->sieve.next;
    at->slots_log = gram_log_at_least(SLOTS_A_KEY * n_keys + 2);
    at->words = mpm_place(end, at->n_words * sizeof(uint32_t));
    at->slots = mpm_place(end, sizeof(struct gram_sieve_slot) << at->slots_log);
    at->entries = mpm_place(end, at->n_entries * sizeof(struct gram_entry));
    return place;
}

static void put_slot(struct gram_sieve_slot *slots, uint32_t slots_log,
                     const struct gram_sieve_slot *slot)
{
    uint32_t at = gram_slot_of(slot->key, slots_log) & ~1u;

    for (; slots[at + 1].entry != GRAM_NONE; at = (at + 2) & ((UINT32_C(1) << slots_log) - 1))
        slots[at + 1].entry |= GRAM_MORE;
    slots[slots[at].entry == GRAM_NONE ? at : at + 1] = *slot;
}

/* Slots of the keys, from the last on: a key's first draft comes last, and is what it is put in by.
 */
static void fill_slots(struct gram_sieve_slot *slots, uint32_t slots_log,
                       const struct gram_sieve_draft *drafts, uint64_t n_drafts)
{
    struct gram_sieve_slot slot = {0};

    for (uint64_t i = 0; i < (uint64_t)1 << slots_log; i++)
        slots[i].entry = GRAM_NONE;
    for (uint64_t i = n_drafts; i-- > 0;) {
        const struct gram_sieve_draft *draft = &drafts[i];

        if (i + 1 == n_drafts || draft->key != drafts[i + 1].key)
            slot = (struct gram_sieve_slot){draft->key, 0, draft->next, UINT32_MAX};
        slot.entry = (uint32_t)i;
        slot.mask &= draft->mask & ~(slot.next ^ draft->next);
        if (i == 0 || draft->key != drafts[i - 1].key)
            put_slot(slots, slots_log, &slot);
    }
}

void gram_sieve_write(const struct gram_sieve_builder *builder, struct gram_table *body)
{
    const struct gram_sieve_table *at = &builder->at;
    uint8_t *base = (uint8_t *)body;
    struct gram_entry *entries = (struct gram_entry *)(base + at->entries);

    memcpy(base + body->sieve, at, sizeof *at);
    memcpy(base + at->words, builder->words, at->n_words * sizeof *builder->words);
    fill_slots((struct gram_sieve_slot *)(base + at->slots), at->slots_log, builder->drafts,
               at->n_entries);
    for (uint64_t i = 0; i < at->n_entries; i++) {
        entries[i] = builder->drafts[i].entry;
        if (i + 1 == at->n_entries || builder->drafts[i].key != builder->drafts[i + 1].key)
            entries[i].flags |= GRAM_ENTRY_LAST;
    }
}
