/* SPDX-License-Identifier: MIT */
/* How often each rule of the tables of names matched. */
#ifndef RUN_NAME_COUNTS_H
#define RUN_NAME_COUNTS_H

#include "name_events.h"
#include "sluice/run.h"

struct name_counts {
    struct name_events *events; /* of drain's thread; NULL: names are not looked up */
    const struct sl_names *names;
    uint64_t n_matched;
    struct sl_run_name_rule *rules; /* a hash of them, at most three quarters full; a free slot has
                                       the rule UINT32_MAX */
    uint32_t n_rules, n_slots;      /* a power of two */

    struct sl_run_name_rule *listed; /* once they are listed: n_rules */
};

enum sl_status name_counts_open(struct name_counts *counts, const struct sl_names *names,
                                struct sl_diag *diag);

/* Adds the matches of a batch. */
enum sl_status name_counts_add(struct name_counts *counts, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag);

/* Copies the rules that matched to `listed`. False: no memory. */
bool name_counts_list(struct name_counts *counts);

void name_counts_clear(struct name_counts *counts);

#endif
