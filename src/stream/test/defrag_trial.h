/* SPDX-License-Identifier: MIT */
/* Batches whose fragments are taken as a list, and one after another: nothing differs. */
#ifndef STREAM_TEST_DEFRAG_TRIAL_H
#define STREAM_TEST_DEFRAG_TRIAL_H

#include "stream/defrag.h"

struct defrag_trial {
    struct defrag *listed, *single;
    struct defrag_list list;
    uint32_t n_ready; /* datagrams that were made whole from a batch alone */
};

/* A fragment that is in no list comes between those of a batch; NULL: none does. */
struct defrag_other {
    const struct defrag_fragment *fragment;
    uint32_t before; /* it comes before this one of the list */
};

/* False: no memory. */
bool defrag_trial_open(struct defrag_trial *trial, const struct defrag_config *config);
void defrag_trial_close(struct defrag_trial *trial);

/* Takes a dissected batch both ways. False: something differs. */
bool defrag_trial_take(struct defrag_trial *trial, const struct sl_batch *batch,
                       const struct defrag_other *other);

#endif
