/* SPDX-License-Identifier: MIT */
/* Blocks that went out of use while batches may read them: reclamation by epochs. A batch that
 * refers to blocks is an epoch. A retired block is reused once all epochs are over that had begun
 * by then. */
#ifndef STREAM_STREAM_EPOCHS_H
#define STREAM_STREAM_EPOCHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stream_arena.h"

struct stream_epoch {
    _Atomic bool is_over; /* nobody reads the batch. Any thread says so, once */
    uint64_t begin;       /* how many blocks were retired before */
};

enum { STREAM_EPOCHS_MAX = 256 }; /* that are not over */

struct stream_epochs {
    uint32_t *retired; /* a ring of blocks, */
    uint32_t mask;     /* whose length is one more */
    uint64_t n_retired, n_reclaimed;
    uint32_t oldest, next; /* numbers of epochs, from 1 on */
    struct stream_epoch epoch[STREAM_EPOCHS_MAX];
};

/* At most n_max blocks are retired and not reclaimed. False: no memory. */
bool stream_epochs_open(struct stream_epochs *epochs, uint32_t n_max);
void stream_epochs_close(struct stream_epochs *epochs);

/* Begins an epoch. NULL: too many are not over. */
struct stream_epoch *stream_epochs_begin(struct stream_epochs *epochs);

/* Whether the epoch of this number may not be over. Numbers begin anew behind 2^32. */
static inline bool stream_epochs_has(const struct stream_epochs *epochs, uint32_t number)
{
    return number - epochs->oldest < epochs->next - epochs->oldest;
}

/* The number of an epoch that is over. */
static inline uint32_t stream_epochs_over(const struct stream_epochs *epochs)
{
    return epochs->oldest - 1;
}

/* How many blocks wait. */
static inline uint32_t stream_epochs_waiting(const struct stream_epochs *epochs)
{
    return (uint32_t)(epochs->n_retired - epochs->n_reclaimed);
}

static inline void stream_epochs_retire(struct stream_epochs *epochs, uint32_t block)
{
    epochs->retired[epochs->n_retired++ & epochs->mask] = block;
}

/* Returns the blocks that no epoch reads. */
void stream_epochs_reclaim(struct stream_epochs *epochs, struct stream_arena *arena);

#endif
