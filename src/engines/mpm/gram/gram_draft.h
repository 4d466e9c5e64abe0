/* SPDX-License-Identifier: MIT */
/* The entries of a table while it is built, and the parts that are made of them. */
#ifndef GRAM_DRAFT_H
#define GRAM_DRAFT_H

#include "gram_build.h"

/* A future entry, and its place. */
enum gram_place { GRAM_PLACE_DICTIONARY, GRAM_PLACE_TINY, GRAM_PLACE_RUNS, GRAM_N_PLACES };

struct gram_draft {
    uint32_t key; /* the dictionary's, or the list's */
    struct gram_share share;
    uint32_t pattern_at; /* see struct gram_entry */
    uint16_t window;
    uint16_t len; /* of the literals: the order within a key, among the dear or the others */
    uint8_t place;
    bool dear;
};

/* What the filter knows of a window, coarsely folded. */
struct gram_window {
    uint32_t first;  /* bytes 0 to 3, */
    uint32_t rest;   /* 4 and 5, */
    uint32_t known;  /* of these six as many as the literal has, */
    uint32_t before; /* and the byte before them, or 0 */
    enum gram_kind kind;
};

/* See struct gram_table. */
struct gram_tiny {
    uint8_t classes[GRAM_TINY_MAX][256];
    uint8_t at[GRAM_TINY_CLASSES];
    uint32_t present[(1 << GRAM_TINY_PRESENT_LOG) / 32];
};

struct gram_builder {
    const struct mpm_set *set;
    bool *dear; /* by group: the automaton has it */
    struct mpm_set in_automaton;
    struct ac_automaton *automaton;
    struct gram_model model;
    uint32_t stride;
    uint32_t words_log;
    uint32_t multiplier;
    uint32_t *words; /* the filter of that multiplier */
    struct gram_draft *drafts;
    size_t n_drafts;
    uint64_t patterns_len;
    uint32_t n_of[GRAM_N_PLACES];
    uint32_t n_in_runs;
    uint32_t n_keys;
    struct gram_slot *slots;
    uint32_t slots_log, walk_max;
    struct gram_windowed *windowed; /* the shares that have windows, for a sieve; or NULL */
    uint32_t n_windowed;
    struct gram_sieve_builder sieve;
    struct gram_tiny tiny;
};

/* Drafts the entries of a group's literals. */
void gram_add_group(struct gram_builder *builder, uint32_t group);

/* Spreads tiny literals over classes, and gives their drafts keys. False: no memory. */
bool gram_make_tiny(struct gram_builder *builder);

/* The bytes that an entry compares: those given, where it is one literal whose case counts. */
const uint8_t *gram_pattern_of(const struct mpm_set *set, const struct gram_share *share,
                               uint8_t *flags);

struct gram_window gram_window_of(const struct mpm_set *set, const struct gram_share *share,
                                  uint32_t window);

/* For qsort: by place, key and order. */
int gram_compare_drafts(const void *left, const void *right);

/* Of sorted drafts. */
void gram_count_keys(struct gram_builder *builder);

/* The dictionary's slots. False: no memory. */
bool gram_make_slots(struct gram_builder *builder);

/* The filter's words. False: no memory. */
bool gram_make_filter(struct gram_builder *builder);

/* The table of all parts; NULL: no memory. */
struct sl_mpm_table *gram_make_table(struct gram_builder *builder, enum sl_device_kind device);

extern const struct mpm_algorithm mpm_gram;

#endif
