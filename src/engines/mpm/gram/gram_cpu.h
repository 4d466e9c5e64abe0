/* SPDX-License-Identifier: MIT */
/* The gram matcher on a core: a backend is the three filters, for one instruction set level. */
#ifndef GRAM_CPU_H
#define GRAM_CPU_H

#include "engines/mpm/mpm_internal.h"
#include "gram_core.h"

enum {
    GRAM_CHUNK = 1 << 15, /* bytes filtered at once: a multiple of every stride and vector */
    GRAM_AHEAD = 1536,    /* bytes to prefetch ahead */
    GRAM_PASSED_MAX = GRAM_CHUNK + 64, /* positions, as a vector is written whole */
    GRAM_QUADS_RUN = 11 /* bytes of a run that has two quads: four at a multiple of four */
};

/* Positions that passed, as far as they were looked up. */
struct gram_candidates {
    uint32_t n;
    uint32_t at[GRAM_PASSED_MAX];    /* from the unit's first byte, ascending */
    uint32_t entry[GRAM_PASSED_MAX]; /* the first of its key */
};

/* Keys to be looked up. */
struct gram_keys {
    uint32_t n;
    uint32_t at[GRAM_PASSED_MAX];
    uint32_t key[GRAM_PASSED_MAX];
};

/* The filters each write the positions between `from` and `to` that pass, ascending, and return
 * their number. Up to 128 bytes behind `to` are read; passing because of them does no harm. */
struct gram_filters {
    /* Positions from, from + stride, ... where a window may begin. Those inside long runs may be
     * left out where no window lies in a run. */
    uint32_t (*windows)(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out);
    /* Where a run of `min` or more coarsely equal bytes begins; min is above GRAM_TINY_MAX. Shorter
     * ones may pass. */
    uint32_t (*runs)(const uint8_t *text, uint32_t from, uint32_t to, uint32_t min, uint32_t *out);
    /* Where a tiny literal is likely to begin. */
    uint32_t (*tiny)(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out);

    /* Keys by kind of n positions that passed. Keys are left out that the filter's word rules out,
     * that are surely not in the dictionary, or that lie in a run where no window does. */
    void (*keys)(const struct gram_view *view, const uint8_t *text, const uint32_t *passed,
                 uint32_t n, struct gram_keys out[GRAM_KINDS]);
    /* Of keys those that are in the dictionary. */
    void (*find)(const struct gram_view *view, const struct gram_keys *keys,
                 struct gram_candidates *out);
    /* Of candidates' entries those of this kind and without these flags whose eight bytes match.
     * Candidates become the next entries of keys that have more; one with such a flag ends its key.
     */
    void (*compare)(const struct gram_view *view, const uint8_t *text, enum gram_kind kind,
                    uint8_t left_out, struct gram_candidates *candidates,
                    struct gram_candidates *out);
};

/* Of n places those where a tiny literal is likely to begin. Returns how many they are. */
uint32_t gram_keep_tiny(const struct gram_table *body, const uint8_t *text, uint32_t *places,
                        uint32_t n);

enum sl_status gram_open(void **context, const void *table, const struct sl_limits *limits,
                         const struct gram_filters *filters, struct sl_diag *diag);
enum sl_status gram_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits);

#endif
