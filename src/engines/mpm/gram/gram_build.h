/* SPDX-License-Identifier: MIT */
/* The types and helpers that the parts of the gram matcher's build share. */
#ifndef GRAM_BUILD_H
#define GRAM_BUILD_H

#include "engines/mpm/mpm_set.h"
#include "gram_model.h"
#include "gram_sieve.h"

/* Literals that an entry stands for: one, or all of a group. */
struct gram_share {
    uint32_t group;
    uint32_t first; /* of the set's keys, */
    uint32_t end;   /* and behind the last */
};

/* One that has windows. */
struct gram_windowed {
    struct gram_share share;
    uint32_t pattern_at; /* see struct gram_entry */
};

static inline const struct mpm_key *gram_share_key(const struct mpm_set *set,
                                                   const struct gram_share *share)
{
    return &set->keys[share->first];
}

/* Whether bytes are one byte over and over, coarsely folded. */
bool gram_is_run(const uint8_t *folded, uint32_t len);

/* The number of bits that n - 1 takes. */
uint32_t gram_log_at_least(uint64_t n);

/* The entry of a window. */
struct gram_entry gram_make_entry(const struct mpm_set *set, const struct gram_share *share,
                                  uint32_t pattern_at, uint32_t window);

/* A sieve and its dictionary while they are built. */
struct gram_sieve_builder {
    struct gram_sieve sieve; /* the words are `words` */
    struct gram_sieve_table at;
    uint32_t *words;
    struct gram_sieve_draft *drafts;
};

/* For n shares, those of a group one behind another. False: no memory. The builder, zero at first,
 * is to be cleared in any case. */
bool gram_sieve_build(struct gram_sieve_builder *builder, const struct mpm_set *set,
                      const struct gram_model *model, const struct gram_windowed *windowed,
                      uint32_t n);

/* Places its parts behind the *end bytes before; returns the place of its table. */
uint64_t gram_sieve_place(struct gram_sieve_builder *builder, uint64_t *end);

void gram_sieve_write(const struct gram_sieve_builder *builder, struct gram_table *body);

void gram_sieve_clear(struct gram_sieve_builder *builder);

#endif
