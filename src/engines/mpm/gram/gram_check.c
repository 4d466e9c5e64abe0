/* SPDX-License-Identifier: MIT */
#include "gram_check.h"

#include "base/diag.h"
#include "engines/mpm/ac/ac.h"
#include "gram_sieve.h"

static bool parts_fit(const struct sl_mpm_table *table, const struct gram_table *body)
{
    return body->stride >= 1 && body->stride <= GRAM_STRIDE_MAX && body->words_log >= 1 &&
           body->words_log <= GRAM_WORDS_LOG_MAX && body->slots_log >= GRAM_SLOTS_LOG_MIN &&
           body->slots_log <= GRAM_SLOTS_LOG_MAX && body->n_in_dictionary <= body->n_entries &&
           body->automaton <= table->head.len &&
           mpm_part_fits(table, body->words, UINT64_C(1) << body->words_log, sizeof(uint32_t)) &&
           mpm_part_fits(table, body->slots, UINT64_C(1) << body->slots_log,
                         sizeof(struct gram_slot)) &&
           mpm_part_fits(table, body->present,
                         UINT64_C(1) << (body->slots_log + GRAM_PRESENT_LOG - 3), 1) &&
           mpm_part_fits(table, body->entries, body->n_entries, sizeof(struct gram_entry)) &&
           mpm_part_fits(table, body->patterns, body->patterns_len, 1);
}

/* A group's literals are compared where the entry's is found. */
static bool group_fits(const struct sl_mpm_table *table, const struct gram_entry *entry)
{
    const struct mpm_literal *literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    const uint32_t *groups = (const uint32_t *)mpm_at(table, table->groups);

    return entry->match < table->n_groups && literals[groups[entry->match]].len == entry->len;
}

/* Text is read from `lead` bytes before the window on, so the literal must begin no later. */
static bool entry_fits(const struct sl_mpm_table *table, const struct gram_table *body,
                       const struct gram_entry *entry)
{
    const uint64_t len = (entry->len + UINT64_C(7)) & ~UINT64_C(7);

    return entry->len >= 1 && entry->lead <= entry->window && entry->pattern % 8 == 0 &&
           entry->pattern + len <= body->patterns_len &&
           ((entry->flags & GRAM_ENTRY_GROUP) != 0 ? group_fits(table, entry)
                                                   : entry->match < table->n_literals);
}

static bool slots_fit(const struct gram_table *body)
{
    const struct gram_slot *slots = (const struct gram_slot *)mpm_at(body, body->slots);
    bool some_search_ends = false;

    for (uint64_t i = 0; i < UINT64_C(1) << body->slots_log; i++) {
        const uint32_t entry = slots[i].entry & GRAM_NONE;

        some_search_ends |= (slots[i].entry & GRAM_MORE) == 0;
        if (entry != GRAM_NONE && entry >= body->n_in_dictionary)
            return false;
    }
    return some_search_ends;
}

static bool list_fits(const struct gram_table *body, const struct gram_list *list)
{
    const uint64_t first = (list->entries - body->entries) / sizeof(struct gram_entry);

    if (list->entries != body->entries + first * sizeof(struct gram_entry) ||
        first > body->n_entries || list->begin[256] > body->n_entries - first)
        return false;
    for (int byte = 0; byte < 256; byte++)
        if (list->begin[byte] > list->begin[byte + 1])
            return false;
    return true;
}

/* The text behind a position is read as far as a tiny literal reaches. */
static bool tiny_fit(const struct gram_table *body)
{
    for (int i = 0; i < GRAM_TINY_CLASSES; i++)
        if (body->tiny_at[i] >= GRAM_TINY_MAX)
            return false;
    return true;
}

static bool entries_fit(const struct sl_mpm_table *table, const struct gram_table *body,
                        const struct gram_entry *entries, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!entry_fits(table, body, &entries[i]))
            return false;
    return true;
}

/* Searches end, and each list of entries. */
static bool sieve_slots_fit(const struct gram_sieve *sieve, uint64_t n_entries)
{
    bool some_search_ends = false;

    for (uint64_t i = 0; i < UINT64_C(1) << sieve->slots_log; i++) {
        const uint32_t entry = sieve->slots[i].entry & GRAM_NONE;

        some_search_ends |= i % 2 == 1 && (sieve->slots[i].entry & GRAM_MORE) == 0;
        if (entry != GRAM_NONE && entry >= n_entries)
            return false;
    }
    return some_search_ends &&
           (n_entries == 0 || (sieve->entries[n_entries - 1].flags & GRAM_ENTRY_LAST) != 0);
}

static bool sieve_fits(const struct sl_mpm_table *table, const struct gram_table *body)
{
    const struct gram_sieve_table *at = (const struct gram_sieve_table *)mpm_at(body, body->sieve);

    if (body->sieve == 0)
        return true;
    if (!mpm_part_fits(table, body->sieve, 1, sizeof *at) || at->n_words < 1 ||
        at->n_words > GRAM_SIEVE_WORDS_MAX || at->slots_log < 1 || at->slots_log >= 32 ||
        at->n_entries >= GRAM_NONE ||
        !mpm_part_fits(table, at->words, at->n_words, sizeof(uint32_t)) ||
        !mpm_part_fits(table, at->slots, UINT64_C(1) << at->slots_log,
                       sizeof(struct gram_sieve_slot)) ||
        !mpm_part_fits(table, at->entries, at->n_entries, sizeof(struct gram_entry)))
        return false;

    const struct gram_sieve sieve = gram_sieve(body);
    return entries_fit(table, body, sieve.entries, at->n_entries) &&
           sieve_slots_fit(&sieve, at->n_entries);
}

bool gram_is_for_gpus(const struct sl_mpm_table *table, struct sl_diag *diag)
{
    const struct gram_table *body = (const struct gram_table *)mpm_at(table, table->body);

    if (body->sieve == 0)
        (void)diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                       "gram's table was built for a CPU, not for a GPU");
    return body->sieve != 0;
}

const char *gram_check(const struct sl_mpm_table *table)
{
    static const char wrong[] = "its dictionary leads out of the table";
    const struct gram_table *body = (const struct gram_table *)mpm_at(table, table->body);

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || !parts_fit(table, body))
        return wrong;

    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(body, body->entries);
    if (!entries_fit(table, body, entries, body->n_entries) || !sieve_fits(table, body))
        return wrong;
    if ((body->n_in_dictionary > 0 &&
         (entries[body->n_in_dictionary - 1].flags & GRAM_ENTRY_LAST) == 0) ||
        (body->n_entries > 0 && (entries[body->n_entries - 1].flags & GRAM_ENTRY_LAST) == 0))
        return wrong;
    if (!slots_fit(body) || !list_fits(body, &body->tiny) || !list_fits(body, &body->runs) ||
        !tiny_fit(body))
        return wrong;
    return ac_check_at(table, body->automaton);
}
