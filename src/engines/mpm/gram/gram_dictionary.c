/* SPDX-License-Identifier: MIT */
/* The filter of windows, and the dictionary behind it. */
#include "gram_draft.h"

#include <stdlib.h>

enum { SLOTS_A_KEY = 3 }; /* so that most keys lie where they are looked for first */

int gram_compare_drafts(const void *left, const void *right)
{
    const struct gram_draft *a = (const struct gram_draft *)left;
    const struct gram_draft *b = (const struct gram_draft *)right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->dear != b->dear)
        return a->dear ? 1 : -1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->share.first < b->share.first ? -1 : a->share.first > b->share.first;
}

/* Whether the entries of a key begin with this draft; drafts are sorted. */
static bool begins_key(const struct gram_builder *builder, size_t i)
{
    return i == 0 || builder->drafts[i - 1].key != builder->drafts[i].key;
}

void gram_count_keys(struct gram_builder *builder)
{
    for (size_t i = 0; i < builder->n_of[GRAM_PLACE_DICTIONARY]; i++)
        builder->n_keys += begins_key(builder, i);
}

uint32_t gram_log_at_least(uint64_t n)
{
    uint32_t log = 0;

    while (UINT64_C(1) << log < n)
        log++;
    return log;
}

/* Words enough that few are shared, within what a core's second-level cache holds. */
static uint32_t choose_words_log(const struct gram_builder *builder)
{
    const uint32_t log = gram_log_at_least(4 * (uint64_t)builder->n_of[GRAM_PLACE_DICTIONARY]);

    if (log < 10)
        return 10;
    return log < GRAM_WORDS_LOG_MAX ? log : GRAM_WORDS_LOG_MAX;
}

/* The bits that a window clears in its word. */
struct cleared {
    uint32_t first, bits;
};

static struct cleared *list_cleared(const struct gram_builder *builder)
{
    const size_t n = builder->n_of[GRAM_PLACE_DICTIONARY];
    struct cleared *cleared = (struct cleared *)malloc((n + 1) * sizeof *cleared);

    for (size_t i = 0; cleared != NULL && i < n; i++) {
        const struct gram_draft *draft = &builder->drafts[i];
        const struct gram_window window =
            gram_window_of(builder->set, &draft->share, draft->window);

        cleared[i].first = window.first;
        cleared[i].bits = gram_bits_of(window.before, window.first, window.rest) |
                          gram_unnamed(window.kind) | (window.known < 5 ? 0x00FF0000 : 0);
    }
    return cleared;
}

static void fill_words(struct gram_builder *builder, const struct cleared *cleared)
{
    uint32_t *words = builder->words;

    memset(words, 0xFF, sizeof *words << builder->words_log);
    for (size_t i = 0; i < builder->n_of[GRAM_PLACE_DICTIONARY]; i++)
        words[gram_word_of(cleared[i].first, builder->multiplier, builder->words_log)] &=
            ~cleared[i].bits;
}

/* Collisions of frequent windows with those of literals depend on the multiplier. Of several
 * multipliers, the one that lets the least pass is taken. */
bool gram_make_filter(struct gram_builder *builder)
{
    static const uint32_t multipliers[] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du, 0x27D4EB2Fu,
                                           0x165667B1u, 0xD35A2D97u, 0xB5297A4Du, 0x68E31DA5u};
    enum { N = sizeof multipliers / sizeof *multipliers };
    double best = 0;
    int best_at = 0;

    builder->words_log = choose_words_log(builder);
    builder->words = (uint32_t *)malloc(sizeof *builder->words << builder->words_log);
    struct cleared *cleared = list_cleared(builder);
    if (builder->words == NULL || cleared == NULL) {
        free(cleared);
        return false;
    }

    struct gram_view filter = {
        .words = builder->words, .words_log = builder->words_log, .stride = builder->stride};
    for (int i = 0; i < N; i++) {
        builder->multiplier = filter.multiplier = multipliers[i];
        fill_words(builder, cleared);
        const double passing = gram_model_passing(&builder->model, &filter);
        if (i == 0 || passing < best) {
            best = passing;
            best_at = i;
        }
    }
    builder->multiplier = multipliers[best_at];
    fill_words(builder, cleared);
    free(cleared);
    return true;
}

/* The longest walk: from the first slot of a search to the key's own. For an absent key it passes
 * slots marked as overflowing, up to the first that is not. */
static uint32_t longest_walk(const struct gram_slot *slots, uint32_t slots_log)
{
    const uint32_t n = UINT32_C(1) << slots_log;
    uint32_t best = 0;
    uint32_t len = 0;

    /* Twice around, as a walk may go on from the last slot to the first. */
    for (uint64_t i = 0; i < 2 * (uint64_t)n; i++) {
        len = (slots[i % n].entry & GRAM_MORE) != 0 ? len + 1 : 0;
        best = len > best ? len : best;
    }
    return best + 1;
}

/* No more than GRAM_SLOTS_LOG_MAX, which would be for 33 million literals. */
static uint32_t choose_slots_log(const struct gram_builder *builder)
{
    const uint32_t log = gram_log_at_least(SLOTS_A_KEY * (uint64_t)builder->n_keys);

    return log < GRAM_SLOTS_LOG_MIN ? GRAM_SLOTS_LOG_MIN : log;
}

bool gram_make_slots(struct gram_builder *builder)
{
    const uint32_t slots_log = choose_slots_log(builder);
    struct gram_slot *slots = (struct gram_slot *)calloc((size_t)1 << slots_log, sizeof *slots);

    if (slots == NULL)
        return false;
    for (size_t i = 0; i < (size_t)1 << slots_log; i++)
        slots[i].entry = GRAM_NONE;
    for (size_t i = 0; i < builder->n_of[GRAM_PLACE_DICTIONARY]; i++) {
        const uint32_t key = builder->drafts[i].key;
        uint32_t at = gram_slot_of(key, slots_log);

        if (!begins_key(builder, i))
            continue;
        while ((slots[at].entry & GRAM_NONE) != GRAM_NONE) {
            slots[at].entry |= GRAM_MORE;
            at = (at + 1) & ((UINT32_C(1) << slots_log) - 1);
        }
        slots[at] = (struct gram_slot){key, (uint32_t)i};
    }
    builder->slots = slots;
    builder->slots_log = slots_log;
    builder->walk_max = longest_walk(slots, slots_log);
    return true;
}
