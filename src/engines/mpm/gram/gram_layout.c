/* SPDX-License-Identifier: MIT */
/* Lays the parts of a table out, and fills them. */
#include "gram_draft.h"

#include <malloc.h>

#include "base/pages.h"
#include "engines/mpm/ac/ac.h"

static void fill_present(uint32_t *present, uint32_t slots_log, const struct gram_builder *builder)
{
    for (size_t i = 0; i < builder->n_of[GRAM_PLACE_DICTIONARY]; i++) {
        const uint32_t bit = gram_slot_of(builder->drafts[i].key, slots_log + GRAM_PRESENT_LOG);

        present[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

/* Drafts from `from` on that belong to one list. */
static void fill_list(struct gram_list *list, const struct gram_builder *builder,
                      enum gram_place place, size_t from, uint64_t entries)
{
    size_t at = from;

    list->entries = entries + from * sizeof(struct gram_entry);
    for (uint32_t byte = 0; byte < 256; byte++) {
        list->begin[byte] = (uint32_t)(at - from);
        while (at < from + builder->n_of[place] && builder->drafts[at].key == byte)
            at++;
    }
    list->begin[256] = builder->n_of[place];
}

static void fill_patterns(uint8_t *patterns, const struct gram_builder *builder)
{
    for (size_t i = 0; i < builder->n_drafts; i++) {
        const struct gram_draft *draft = &builder->drafts[i];
        uint8_t flags;

        memcpy(patterns + draft->pattern_at, gram_pattern_of(builder->set, &draft->share, &flags),
               draft->len);
    }
}

static void fill_halves(struct gram_table *body)
{
    for (uint32_t k = 0; k < GRAM_TINY_MAX; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t folded = gram_fold4(byte);

            body->tiny_low[k][folded & 15] |= body->tiny_classes[k][byte];
            body->tiny_high[k][folded >> 4] |= body->tiny_classes[k][byte];
        }
}

/* The runs that are searched for. */
static void fill_run(struct gram_table *body, const struct gram_draft *draft)
{
    const uint8_t run = (uint8_t)(draft->len < 255 ? draft->len : 255);

    for (uint32_t byte = 0; byte < 256; byte++)
        if (gram_fold4(byte) == draft->key &&
            (body->run_min[byte] == 0 || run < body->run_min[byte]))
            body->run_min[byte] = run;
}

static void fill_entries(struct gram_table *body, const struct gram_builder *builder)
{
    struct gram_entry *entries = (struct gram_entry *)((uint8_t *)body + body->entries);
    size_t from[GRAM_N_PLACES + 1] = {0};

    for (size_t i = 0; i < builder->n_drafts; i++) {
        const struct gram_draft *draft = &builder->drafts[i];
        const struct gram_draft *next = i + 1 < builder->n_drafts ? draft + 1 : NULL;

        entries[i] = gram_make_entry(builder->set, &draft->share, draft->pattern_at, draft->window);
        if (draft->place == GRAM_PLACE_DICTIONARY)
            entries[i].kind =
                (uint8_t)gram_window_of(builder->set, &draft->share, draft->window).kind;
        if (next == NULL || next->place != draft->place || next->key != draft->key)
            entries[i].flags |= GRAM_ENTRY_LAST;
        if (draft->dear)
            entries[i].flags |= GRAM_ENTRY_DEAR;
        body->n_cheap += !draft->dear;
        if (draft->place == GRAM_PLACE_RUNS)
            fill_run(body, draft);
    }
    for (int place = 0; place < GRAM_N_PLACES; place++)
        from[place + 1] = from[place] + builder->n_of[place];
    fill_list(&body->tiny, builder, GRAM_PLACE_TINY, from[GRAM_PLACE_TINY], body->entries);
    fill_list(&body->runs, builder, GRAM_PLACE_RUNS, from[GRAM_PLACE_RUNS], body->entries);
    memcpy(body->tiny_classes, builder->tiny.classes, sizeof body->tiny_classes);
    fill_halves(body);
    memcpy(body->tiny_present, builder->tiny.present, sizeof body->tiny_present);
    memcpy(body->tiny_at, builder->tiny.at, sizeof body->tiny_at);
}

struct sl_mpm_table *gram_make_table(struct gram_builder *builder, enum sl_device_kind device)
{
    const uint32_t *n_of = builder->n_of;
    struct gram_table head = {.stride = builder->stride,
                              .words_log = builder->words_log,
                              .multiplier = builder->multiplier,
                              .slots_log = builder->slots_log,
                              .walk_max = builder->walk_max,
                              .n_in_runs = builder->n_in_runs,
                              .n_entries = (uint32_t)builder->n_drafts,
                              .n_in_dictionary = n_of[GRAM_PLACE_DICTIONARY],
                              .patterns_len = builder->patterns_len,
                              .n_tiny = n_of[GRAM_PLACE_TINY],
                              .n_runs = n_of[GRAM_PLACE_RUNS]};
    uint64_t end = sizeof head;

    head.words = mpm_place(&end, sizeof(uint32_t) << head.words_log);
    head.slots = mpm_place(&end, sizeof(struct gram_slot) << head.slots_log);
    head.present = mpm_place(&end, sizeof(uint32_t) << (head.slots_log + GRAM_PRESENT_LOG - 5));
    head.entries = mpm_place(&end, builder->n_drafts * sizeof(struct gram_entry));
    head.patterns = mpm_place(&end, builder->patterns_len);
    if (device == SL_DEVICE_CUDA)
        head.sieve = gram_sieve_place(&builder->sieve, &end);
    head.automaton = mpm_place(&end, ac_automaton_len(builder->automaton));

    (void)malloc_trim(0); /* what sorting took */
    struct sl_mpm_table *table =
        mpm_table_create(builder->set, mpm_gram.name, builder->in_automaton.n_states, end);
    if (table == NULL)
        return NULL;
    struct gram_table *body = (struct gram_table *)((uint8_t *)table + table->body);
    *body = head;
    pages_move((uint8_t *)body + body->words, builder->words, sizeof(uint32_t) << head.words_log);
    pages_move((uint8_t *)body + body->slots, builder->slots,
               sizeof *builder->slots << head.slots_log);
    ac_automaton_write(builder->automaton, (struct ac_table *)((uint8_t *)body + body->automaton));
    ac_automaton_free(builder->automaton);
    builder->automaton = NULL;
    (void)malloc_trim(0);
    fill_present((uint32_t *)((uint8_t *)body + body->present), head.slots_log, builder);
    fill_entries(body, builder);
    fill_patterns((uint8_t *)body + body->patterns, builder);
    if (head.sieve != 0)
        gram_sieve_write(&builder->sieve, body);
    return table;
}
