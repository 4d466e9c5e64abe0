/* SPDX-License-Identifier: MIT */
/* The oracles of sampling: each sampler by its definition, sharing no code with what it judges. */
#ifndef SAMPLING_REF_H
#define SAMPLING_REF_H

#include <stddef.h>

#include "sluice/batch.h"
#include "sluice/sampling.h"

/* Finds all hits in a host batch and returns their number; the first `cap` of them are written to
 * hits, ordered by item, then offset. */
typedef size_t sampling_ref(const struct sl_sampling_config *config, const struct sl_batch *batch,
                            struct sl_hit *hits, size_t cap);

sampling_ref rabin_ref, samplebyte_ref, maxp_ref, every_ref;

/* dynabyte by this state. */
size_t dynabyte_ref(const struct sl_dynabyte_state *state, uint32_t window,
                    const struct sl_batch *batch, struct sl_hit *hits, size_t cap);

#endif
