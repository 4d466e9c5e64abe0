/* SPDX-License-Identifier: MIT */
/* Each shard collects the ordered batches one after another; shards do not wait for each other. Any
 * thread that has loaded a batch goes through the shards. Where another thread is busy with one, it
 * goes on to the next, and the other thread takes its batch too. */
#include "base/clock.h"
#include "pipeline_state.h"

/* Collects the batches that the shard, which this thread has, lacks. */
static void collect_shard(struct pipeline *pipeline, uint32_t index)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct shard *shard = &pipeline->shards[index];
    uint64_t next = atomic_load(&shard->next);

    for (; next < atomic_load(&pipeline->n_ordered); next++) {
        struct slot *slot = pipeline_slot(pipeline, next);

        config->collect(config->user, slot->batch, index);
        atomic_store(&shard->next, next + 1);
        atomic_fetch_sub(&slot->n_uncollected, 1);
    }
}

/* A batch that is ordered after the last look at n_ordered, and before `busy` is cleared, is left
 * to this thread by the one that ordered it: so this thread looks again. */
static void visit_shard(struct pipeline *pipeline, uint32_t index)
{
    struct shard *shard = &pipeline->shards[index];

    while (atomic_load(&shard->next) < atomic_load(&pipeline->n_ordered) &&
           !atomic_exchange(&shard->busy, true)) {
        collect_shard(pipeline, index);
        atomic_store(&shard->busy, false);
    }
}

/* Counts the batches that all shards have collected, and signals those who wait for them. */
static void count_collected(struct pipeline *pipeline)
{
    while (pipeline->collected < pipeline->ordered) {
        struct slot *slot = pipeline_slot(pipeline, pipeline->collected);

        if (atomic_load(&slot->n_uncollected) != 0)
            return;
        pipeline->collected++;
        if (pipeline->n_loaders != 0)
            pipeline_signal_workers(pipeline);
        else
            pthread_cond_signal(&slot->turn);
    }
}

void pipeline_collect(struct pipeline *pipeline)
{
    const uint32_t n_shards = pipeline->config->n_shards;

    if (n_shards != 0 && !pipeline->failed) {
        pthread_mutex_unlock(&pipeline->lock);
        const uint64_t begin = clock_ns();

        for (uint32_t shard = 0; shard < n_shards; shard++)
            visit_shard(pipeline, shard);
        const uint64_t busy = clock_ns() - begin;

        pthread_mutex_lock(&pipeline->lock);
        pipeline->stats->order_ns += busy;
    }
    count_collected(pipeline);
}

void pipeline_collect_own(struct pipeline *pipeline, uint64_t sequence)
{
    pipeline_collect(pipeline);
    while (!pipeline->failed && pipeline->collected <= sequence)
        pthread_cond_wait(&pipeline_slot(pipeline, sequence)->turn, &pipeline->lock);
}
