/* SPDX-License-Identifier: MIT */
/* A sampler of any name on this CPU, with dynabyte's controller where it is that one. */
#ifndef TUNNEL_SAMPLER_H
#define TUNNEL_SAMPLER_H

#include "sluice/sampling.h"

struct sampler {
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_dynabyte *dynabyte; /* NULL: another sampler */
    struct sl_hits hits;          /* of the last batch */
};

/* For batches of at most max_bytes and max_items. SL_EINVAL, SL_ENOMEM, SL_EUNSUPPORTED: as
 * sl_sampling_build and sl_engine_open. The caller closes it, also where it failed. */
SL_CHECK enum sl_status sampler_open(struct sampler *sampler,
                                     const struct sl_sampling_config *config, uint32_t max_bytes,
                                     uint32_t max_items, struct sl_diag *diag);

/* Sets the hits of a batch. Too few of them are no error: they are hints. */
SL_CHECK enum sl_status sampler_take(struct sampler *sampler, const struct sl_batch *batch,
                                     struct sl_diag *diag);

/* Accepts a zeroed struct. */
void sampler_close(struct sampler *sampler);

#endif
