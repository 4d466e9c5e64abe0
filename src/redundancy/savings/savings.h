/* SPDX-License-Identifier: MIT */
/* The counts of savings, inside. */
#ifndef REDUNDANCY_SAVINGS_H
#define REDUNDANCY_SAVINGS_H

#include "batch/hits_sort.h"
#include "redundancy/match/shared_cache.h"
#include "savings_flows.h"
#include "savings_job.h"

struct sl_savings {
    struct sl_savings_config config;
    struct shared_cache cache;
    struct savings_job *job;     /* of sl_savings_batch, */
    struct hits_scratch scratch; /* and for its samples */
    struct sl_savings_row total;
    struct sl_savings_count protocols[256];
    struct sl_savings_count *ports[2]; /* of TCP and UDP, each has all */
    struct savings_flows flows;
    struct sl_savings_row *intervals;
    size_t n_intervals, max_intervals;
};

static inline void savings_sum(struct sl_savings_count *sum, const struct sl_savings_count *more)
{
    sum->packets += more->packets;
    sum->bytes += more->bytes;
    sum->matched_bytes += more->matched_bytes;
    sum->reference_bytes += more->reference_bytes;
}

#endif
