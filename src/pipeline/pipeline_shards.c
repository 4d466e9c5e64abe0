/* SPDX-License-Identifier: MIT */
/* Dealing, collecting, settling and deciding: steps in which each shard has the batches one after
 * another, and shards do not wait for each other. Dealing and deciding have one shard. A thread
 * that has made a batch ready for the step goes through the shards. It passes over a shard that
 * another thread owns, as that thread takes the batch too. */
#include "base/clock.h"
#include "pipeline_state.h"

static void call_step(const struct pipeline *pipeline, const struct shard_step *step,
                      const struct slot *slot, uint32_t shard)
{
    const struct sl_pipeline_config *config = pipeline->config;

    if (step == &pipeline->deal)
        config->deal(config->user, slot->batch);
    else if (step == &pipeline->collect)
        config->collect(config->user, slot->batch, shard);
    else if (slot->batch->n_items == 0)
        return;
    else if (step == &pipeline->settle)
        config->settle(config->user, slot->batch, slot->hits, shard);
    else
        config->decide(config->user, slot->batch, slot->hits);
}

/* Runs the step for each ready batch that the shard has not had. This thread owns the shard. */
static void go_through(struct pipeline *pipeline, struct shard_step *step, uint32_t index)
{
    struct shard *shard = &step->shards[index];
    uint64_t next = atomic_load(&shard->next);

    for (; next < atomic_load(&step->n_ready); next++) {
        struct slot *slot = pipeline_slot(pipeline, next);

        call_step(pipeline, step, slot, index);
        atomic_store(&shard->next, next + 1);
        atomic_fetch_sub(&slot->n_shards_left, 1);
    }
}

/* A batch may become ready after this thread has read n_ready and before it clears `busy`. The
 * thread that made it ready then passes over the shard. So this thread reads n_ready again. */
static void visit_shard(struct pipeline *pipeline, struct shard_step *step, uint32_t index)
{
    struct shard *shard = &step->shards[index];

    while (atomic_load(&shard->next) < atomic_load(&step->n_ready) &&
           !atomic_exchange(&shard->busy, true)) {
        go_through(pipeline, step, index);
        atomic_store(&shard->busy, false);
    }
}

void pipeline_enter_step(struct pipeline *pipeline, struct shard_step *step)
{
    const uint64_t n = atomic_load(&step->n_ready);

    atomic_store(&pipeline_slot(pipeline, n)->n_shards_left, step->n_shards);
    atomic_store(&step->n_ready, n + 1);
}

uint64_t pipeline_visit_shards(struct pipeline *pipeline, struct shard_step *step)
{
    const uint64_t begin = clock_ns();

    pthread_mutex_unlock(&pipeline->lock);
    for (uint32_t shard = 0; shard < step->n_shards; shard++)
        visit_shard(pipeline, step, shard);
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    return busy;
}

bool pipeline_has_shard(const struct shard_step *step)
{
    const uint64_t n_ready = atomic_load(&step->n_ready);

    for (uint32_t i = 0; i < step->n_shards; i++)
        if (atomic_load(&step->shards[i].next) < n_ready && !atomic_load(&step->shards[i].busy))
            return true;
    return false;
}

void pipeline_call_for_help(struct pipeline *pipeline, const struct shard_step *step)
{
    if (step->n_shards > 1 && atomic_load(&step->n_ready) - step->n_left > 1)
        pipeline_signal_workers(pipeline);
}

struct slot *pipeline_leave_step(struct pipeline *pipeline, struct shard_step *step)
{
    struct slot *slot = pipeline_slot(pipeline, step->n_left);

    if (step->n_left == atomic_load(&step->n_ready) || atomic_load(&slot->n_shards_left) != 0)
        return NULL;
    step->n_left++;
    return slot;
}
