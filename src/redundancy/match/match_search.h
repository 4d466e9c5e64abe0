/* SPDX-License-Identifier: MIT */
/* The search for the matches of one item after another: candidates are compared with the log, and
 * expanded. It has no index, so several searches may read one log at the same time. */
#ifndef REDUNDANCY_MATCH_SEARCH_H
#define REDUNDANCY_MATCH_SEARCH_H

#include "packet_log.h"
#include "sluice/redundancy.h"

#define SEARCH_NOWHERE UINT64_MAX

/* Where content goes on behind an item that matched to its end: the next one has a header as long,
 * then the bytes that follow the last source. */
struct search_next {
    uint64_t source; /* SEARCH_NOWHERE: nowhere */
    uint32_t header_len;
};

struct match_search {
    struct sl_redundancy_config config;
    struct packet_log log;  /* holds the batch; of another owner, where it is a view */
    uint64_t reach;         /* bytes before a packet that it may refer to: the smaller of both
                               caches */
    uint64_t *positions;    /* of each item of the batch in the log */
    const uint64_t *until;  /* where the log ends that each item may refer to; NULL: behind it */
    struct sl_match *found; /* of the item that is being matched, by its samples */
    size_t n_found;
    struct sl_match *matches; /* of all items */
    size_t n_matches;
    uint32_t run_min; /* bytes of the shortest match beside another */

    /* The end of the last match, so that samples in it are not looked up. */
    uint32_t covered_item, covered_end;
    bool renew;           /* its source is to be evicted: its samples shall point to the new copy */
    uint64_t renew_after; /* bytes between an item and such a source */
    struct search_next next;

    struct sl_matcher_stats stats;
};

/* Takes memory for batches within the config, but no log. SL_ENOMEM. */
enum sl_status search_create(struct match_search *search, const struct sl_redundancy_config *config,
                             struct sl_diag *diag);
void search_free(struct match_search *search);

/* Extends a sample whose fingerprint was seen at `source`, a log offset. Samples come in order. */
void search_consider(struct match_search *m, const struct sl_batch *batch, const struct sl_hit *hit,
                     uint64_t source);

/* Whether a new item goes on as `next` says, which then is that behind it. Its matches are given by
 * search_end_item, and it needs no samples. `position` is the item's in the log. */
bool search_goes_on(struct match_search *m, const struct sl_batch *batch, uint32_t item,
                    uint64_t position, struct search_next *next);

/* Sets `next` to what follows the item whose samples were considered, if it matched to its end. */
void search_expect(struct match_search *m, const struct sl_batch *batch);

/* The last item has no more samples: all its matches are given. */
void search_end_item(struct match_search *m, const struct sl_batch *batch);

/* Matches of one item of the last batch: *n of them from the one returned. *cursor is 0 at first
 * and kept between calls: it makes ascending items cheap. */
const struct sl_match *search_of_item(const struct match_search *m, uint32_t item, size_t *cursor,
                                      size_t *n);

#endif
