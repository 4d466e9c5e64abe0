/* SPDX-License-Identifier: MIT */
/* Sampling: content-defined positions in the payloads of a batch, with a fingerprint each.
 *
 * A hit is (item, offset, fingerprint): the window of `window` bytes that begins at `offset` of the
 * item's payload span was chosen, and `id` is its fingerprint. Which windows are chosen depends on
 * the bytes of the payload alone, never on where it lies: equal content is sampled equally. A
 * window never leaves its item; one that lies wholly inside the item's overlap was sampled with the
 * piece before and is not reported. All variants and backends of a sampler give the same set. */
#ifndef SLUICE_SAMPLING_H
#define SLUICE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SL_SAMPLING_WINDOW_MIN = 12, /* bytes */
    SL_SAMPLING_WINDOW_MAX = 64,
    SL_SAMPLING_PERIOD_MAX = 4096 /* bytes */
};

struct sl_sampling_config {
    const char *sampler; /* a name of sl_samplers */
    uint32_t window;     /* bytes, SL_SAMPLING_WINDOW_MIN to _MAX */
    uint32_t period;     /* bytes: one position wanted in so many, 1 to SL_SAMPLING_PERIOD_MAX; a
                            power of two for rabin */

    /* rabin: bit d is the coefficient of x^d; irreducible, of degree 53 to 63. */
    uint64_t polynomial;
    uint64_t magic; /* rabin: what the fingerprint's low log2(period) bits are at chosen positions;
                       higher bits are ignored */

    /* samplebyte, and dynabyte's first: the byte values that mark a position. */
    bool marker[256];
};

/* rabin, window 32, period 256 for rabin's low eight bits, a fixed irreducible polynomial of degree
 * 63, magic 0x78, the generic markers. */
SL_API void sl_sampling_config_init(struct sl_sampling_config *config);

/* A configured sampler: immutable, shared by all contexts. */
struct sl_sampling_table;

/* SL_EINVAL: no such sampler (the known ones are named), a value out of its range, a reducible
 * polynomial. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sampling_build(struct sl_sampling_table **table,
                                                 const struct sl_sampling_config *config,
                                                 struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_sampling_free(struct sl_sampling_table *table);

/* The engine whose backends run this table: they take it as their `table`. */
SL_API const struct sl_engine *sl_sampling_engine(const struct sl_sampling_table *table);

/* All samplers by name, ended by NULL. */
SL_API extern const char *const sl_samplers[];

/* Training of samplebyte's markers: redundant content of sample traffic is found by maxp, its byte
 * values are ranked by how often they occur in it, and the first few of them are taken, as many as
 * it takes to save 99 % of what any number of them saves (B. Aggarwal et al., "EndRE", NSDI 2010,
 * section 4.2.3). One thread. */
struct sl_sampling_trainer;

/* Keeps at most bytes_len bytes of traffic, 1 to 1 GiB, in host memory. chunks: savings are tried
 * as those of sl_redundancy_config's chunks, which take more samples than matches that are
 * expanded. SL_EINVAL, SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sampling_trainer_create(struct sl_sampling_trainer **trainer,
                                                          uint32_t window, uint32_t period,
                                                          bool chunks, uint32_t bytes_len,
                                                          struct sl_diag *diag);

/* Copies a host batch's payloads, less their overlaps. False: nothing more is kept. */
SL_API bool sl_sampling_trainer_add(struct sl_sampling_trainer *trainer,
                                    const struct sl_batch *batch);

enum { SL_SAMPLING_RANKED_MAX = 16 };

struct sl_sampling_training {
    uint64_t bytes_len; /* of the traffic */
    uint64_t redundant; /* bytes of it that maxp found to repeat */
    uint64_t saved;     /* bytes that samplebyte saves with the markers, 5 taken off a match */
    uint32_t n_markers; /* 0: nothing repeats */
    uint32_t n_ranked;
    uint8_t ranked[SL_SAMPLING_RANKED_MAX]; /* byte values, the most frequent of what repeats first;
                                               the markers are the first of them */
};

/* Where something repeats, sets the markers of it; else leaves them. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sampling_trainer_end(struct sl_sampling_trainer *trainer,
                                                       bool marker[256],
                                                       struct sl_sampling_training *training,
                                                       struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_sampling_trainer_free(struct sl_sampling_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
