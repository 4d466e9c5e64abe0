/* SPDX-License-Identifier: MIT */
/* Draining: finished batches go out in the order of filling. */

#include "base/clock.h"
#include "pipeline_state.h"

/* Waits until the next batch in order is done. NULL: there will be none. */
static struct slot *wait_for_done(struct pipeline *pipeline)
{
    const uint64_t awake_until = pipeline->cuda ? clock_ns() + PIPELINE_AWAKE_NS : 0;
    struct slot *slot = NULL;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !pipeline_slot(pipeline, pipeline->drained)->done &&
           !(pipeline->ended && pipeline->drained == pipeline->filled))
        pipeline_wait(pipeline, &pipeline->has_done, &pipeline->done_watch, awake_until);
    if (!pipeline->failed && pipeline->drained < pipeline->filled)
        slot = pipeline_slot(pipeline, pipeline->drained);
    pipeline->draining = slot != NULL;
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

static void count_drained(struct pipeline *pipeline, const struct slot *slot, uint64_t busy_ns)
{
    struct sl_pipeline_stats *stats = pipeline->stats;

    for (uint32_t e = 0; e < pipeline->config->n_engines; e++)
        stats->engine_hits[e] += slot->hits[e].n;
    stats->batches++;
    stats->items += slot->batch->n_items;
    stats->arena_bytes += slot->batch->bytes_len;
    stats->drain_ns += busy_ns;
}

/* Packets that arrived together are counted at once. */
static void note_latency(struct pipeline *pipeline, const struct sl_batch *batch, uint64_t now)
{
    const struct sl_origin *origin = batch->origin;
    uint32_t n = origin != NULL ? batch->n_items : 0;

    pthread_mutex_lock(&pipeline->latency_lock);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        const uint64_t arrival = origin[begin].arrival_ns;

        for (end = begin + 1; end < n && origin[end].arrival_ns == arrival; end++)
            ;
        if (arrival != 0)
            histogram_add(&pipeline->latency, now - arrival, end - begin);
    }
    pthread_mutex_unlock(&pipeline->latency_lock);
}

void pipeline_drain_loop(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot;

    while ((slot = wait_for_done(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const bool empty = slot->batch->n_items == 0;
        const uint64_t begin = clock_ns();
        const enum sl_status status =
            empty ? SL_OK : config->drain(config->user, slot->batch, slot->hits, &diag);

        const uint64_t end = clock_ns();
        if (status != SL_OK)
            pipeline_fail(pipeline, status, &diag);
        else if (config->latency)
            note_latency(pipeline, slot->batch, end);
        pthread_mutex_lock(&pipeline->lock);
        if (!empty)
            count_drained(pipeline, slot, end - begin);
        pipeline_drain_slot(pipeline, slot);
        pipeline->n_done--;
        pipeline->draining = false;
        pthread_mutex_unlock(&pipeline->lock);
    }
}
