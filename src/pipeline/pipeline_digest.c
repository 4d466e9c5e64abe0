/* SPDX-License-Identifier: MIT */
/* Digesting: the caller's work on the hits of a batch. */
#include "base/clock.h"
#include "pipeline_state.h"

/* Runs the caller's digest over the hits, and measures it. */
static enum sl_status digest(struct pipeline *pipeline, const struct slot *slot,
                             uint64_t *digest_ns, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    const uint64_t begin = clock_ns();
    enum sl_status status = SL_OK;

    if (config->digest != NULL)
        status = config->digest(config->user, slot->batch, slot->hits, diag);
    *digest_ns = clock_ns() - begin;
    return status;
}

void pipeline_digest(struct pipeline *pipeline, struct slot *slot)
{
    const bool empty = slot->batch->n_items == 0;
    struct sl_diag diag = {0};
    uint64_t digest_ns = 0;
    const enum sl_status status = empty ? SL_OK : digest(pipeline, slot, &digest_ns, &diag);

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->digest_ns += digest_ns;
    slot->device->batches += !empty;
    if (status == SL_OK)
        pipeline_settle(pipeline, slot);
    else
        pipeline_fail_locked(pipeline, status, &diag);
    pthread_mutex_unlock(&pipeline->lock);
}
