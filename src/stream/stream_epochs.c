/* SPDX-License-Identifier: MIT */
#include "stream_epochs.h"

#include "base/pages.h"

static size_t ring_len(const struct stream_epochs *epochs)
{
    return ((size_t)epochs->mask + 1) * sizeof *epochs->retired;
}

bool stream_epochs_open(struct stream_epochs *epochs, uint32_t n_max)
{
    *epochs = (struct stream_epochs){.oldest = 1, .next = 1};
    while (epochs->mask < n_max)
        epochs->mask = epochs->mask * 2 + 1;
    epochs->retired = pages_alloc(ring_len(epochs));
    return epochs->retired != NULL;
}

void stream_epochs_close(struct stream_epochs *epochs)
{
    pages_free(epochs->retired, ring_len(epochs));
    epochs->retired = NULL;
}

static struct stream_epoch *epoch_at(struct stream_epochs *epochs, uint32_t number)
{
    return &epochs->epoch[number % STREAM_EPOCHS_MAX];
}

struct stream_epoch *stream_epochs_begin(struct stream_epochs *epochs)
{
    if (epochs->next - epochs->oldest == STREAM_EPOCHS_MAX)
        return NULL;
    struct stream_epoch *epoch = epoch_at(epochs, epochs->next++);

    epoch->begin = epochs->n_retired;
    atomic_store_explicit(&epoch->is_over, false, memory_order_relaxed);
    return epoch;
}

void stream_epochs_reclaim(struct stream_epochs *epochs, struct stream_arena *arena)
{
    while (epochs->oldest != epochs->next &&
           atomic_load_explicit(&epoch_at(epochs, epochs->oldest)->is_over, memory_order_acquire))
        epochs->oldest++;

    const uint64_t behind = epochs->oldest != epochs->next ? epoch_at(epochs, epochs->oldest)->begin
                                                           : epochs->n_retired;

    while (epochs->n_reclaimed < behind)
        stream_block_return(arena, epochs->retired[epochs->n_reclaimed++ & epochs->mask]);
}
