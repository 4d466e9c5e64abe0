/* SPDX-License-Identifier: MIT */
/* The matcher inside: the parts that the encoder shares with it. */
#ifndef REDUNDANCY_MATCHER_H
#define REDUNDANCY_MATCHER_H

#include "batch/hits_sort.h"
#include "fingerprint_index.h"
#include "packet_log.h"
#include "pending_samples.h"
#include "sluice/redundancy.h"

struct sl_matcher {
    struct sl_redundancy_config config;
    struct packet_log log;
    struct fingerprint_index index;
    uint64_t reach; /* bytes before a packet that it may refer to: the smaller of both caches */
    uint64_t *positions;    /* of each item of the batch in the log */
    struct sl_match *found; /* of the item that is being matched, by its samples */
    size_t n_found;
    struct sl_match *matches; /* of all items */
    size_t n_matches;
    struct hits_scratch scratch; /* for sorting */
    uint32_t run_min;            /* bytes of the shortest match beside another */

    /* The end of the last match, so that samples in it are not looked up. */
    uint32_t covered_item, covered_end;
    bool renew; /* its source will soon be evicted: its samples are to point to the new copy */

    struct pending_samples pending; /* acknowledged: the index takes them then */
    struct sl_matcher_stats stats;
};

enum sl_status matcher_check(const struct sl_redundancy_config *config, struct sl_diag *diag);

/* Finds the matches of a batch that was checked, given `n` sorted hits, and appends its payloads to
 * the log. */
void matcher_match(struct sl_matcher *matcher, const struct sl_batch *batch,
                   const struct sl_hit *hits, size_t n);

/* Forgets all that was seen: no later reference reaches before the next byte, not even one by items
 * of the last batch. */
void matcher_restart(struct sl_matcher *matcher);

/* Acknowledged: `len` bytes at `offset` are on the other side; their samples may be found. Nothing
 * happens where they have been evicted. */
void matcher_acknowledge(struct sl_matcher *matcher, uint64_t offset, uint32_t len);

/* Matches of one item of the last batch: *n of them from the one returned. *cursor is 0 at first
 * and kept between calls: it makes ascending items cheap. */
const struct sl_match *matcher_of_item(const struct sl_matcher *matcher, uint32_t item,
                                       size_t *cursor, size_t *n);

#endif
