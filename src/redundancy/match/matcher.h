/* SPDX-License-Identifier: MIT */
/* The matcher inside: the parts that the encoder shares with it. */
#ifndef REDUNDANCY_MATCHER_H
#define REDUNDANCY_MATCHER_H

#include "batch/hits_sort.h"
#include "fingerprint_index.h"
#include "match_search.h"
#include "pending_samples.h"
#include "sluice/redundancy.h"

struct sl_matcher {
    struct match_search search;
    struct fingerprint_index index;
    struct hits_scratch scratch;    /* for sorting */
    struct pending_samples pending; /* acknowledged: the index takes them then */
};

enum sl_status matcher_check(const struct sl_redundancy_config *config, struct sl_diag *diag);

/* The config's index_len, or what 0 stands for. */
uint64_t matcher_index_len(const struct sl_redundancy_config *config);

/* SL_EINVAL: the batch is above the limits of the config. */
enum sl_status matcher_check_batch(const struct sl_redundancy_config *config,
                                   const struct sl_batch *batch, struct sl_diag *diag);

/* Sorts the hits by item and offset, unless they are. SL_EINVAL: one lies in no item. */
enum sl_status matcher_sort_hits(struct sl_hits *hits, const struct sl_batch *batch,
                                 struct hits_scratch *scratch, struct sl_diag *diag);

/* Finds the matches of a batch that was checked, given `n` sorted hits, and appends its payloads to
 * the log. */
void matcher_match(struct sl_matcher *matcher, const struct sl_batch *batch,
                   const struct sl_hit *hits, size_t n);

/* How many of the first items of a batch need no samples, as their content goes on where that of
 * the last one ended. Acknowledged alone. */
uint32_t matcher_expected(struct sl_matcher *matcher, const struct sl_batch *batch);

/* Forgets all that was seen: no later reference reaches before the next byte, not even one by items
 * of the last batch. */
void matcher_restart(struct sl_matcher *matcher);

/* Samples that wait for feedback, and matches of the last batch, are forgotten. */
void matcher_forget_pending(struct sl_matcher *matcher);

/* The other side keeps so many bytes. */
void matcher_set_reach(struct sl_matcher *matcher, uint64_t cache_len);

/* Acknowledged: `len` bytes at `offset` are on the other side; their samples may be found. Nothing
 * happens where they have been evicted. */
void matcher_acknowledge(struct sl_matcher *matcher, uint64_t offset, uint32_t len);

/* The bytes below `offset` were acknowledged, or will not be. */
void matcher_settle(struct sl_matcher *matcher, uint64_t offset);

#endif
