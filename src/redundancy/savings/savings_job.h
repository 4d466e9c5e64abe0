/* SPDX-License-Identifier: MIT */
/* The savings of batches that several threads count at once. A job is a batch on its way:
 *
 *   savings_sample   any thread
 *   savings_take     each part of the cache one at a time, in the order of the traffic; any thread
 *   savings_match    any thread, once all parts have taken the batch
 *   savings_add      one at a time, in the order of the traffic
 *
 * sl_savings_batch takes all steps at once, with the same result. */
#ifndef REDUNDANCY_SAVINGS_JOB_H
#define REDUNDANCY_SAVINGS_JOB_H

#include "redundancy/match/match_search.h"
#include "redundancy/match/shared_cache.h"

/* The joint savings of packets of a flow that lie behind each other. */
struct savings_part {
    uint64_t flow;
    uint16_t port;
    uint8_t protocol;
    bool has_tuple;
    struct sl_savings_count count;
};

struct savings_job {
    struct cached_batch cached;
    const struct sl_hit *hits;
    struct match_search search;
    uint8_t *references; /* those of a packet, as a frame has them */

    /* The result. */
    struct savings_part *parts;
    uint32_t n_parts;
    struct sl_savings_row row; /* of the batch: all but the time */
    int64_t time_ns;
};

/* Makes room for n batches between the first savings_take and savings_match, before the first
 * batch. SL_ENOMEM. */
enum sl_status savings_set_in_flight(struct sl_savings *savings, uint32_t n, struct sl_diag *diag);

/* SL_ENOMEM. */
enum sl_status savings_job_create(struct savings_job **made, const struct sl_savings *savings,
                                  struct sl_diag *diag);
void savings_job_free(struct savings_job *job); /* accepts NULL */

/* Takes a batch and its samples, which are sorted. Both stay until savings_match. SL_EINVAL: the
 * batch is above the limits of the config. SL_ENOMEM. */
enum sl_status savings_sample(const struct sl_savings *savings, struct savings_job *job,
                              const struct sl_batch *batch, const struct sl_hits *hits,
                              struct sl_diag *diag);

void savings_take(struct sl_savings *savings, struct savings_job *job, const struct sl_batch *batch,
                  uint32_t part);

void savings_match(const struct sl_savings *savings, struct savings_job *job,
                   const struct sl_batch *batch);

/* SL_ENOMEM. */
enum sl_status savings_add(struct sl_savings *savings, const struct savings_job *job,
                           struct sl_diag *diag);

#endif
