/* SPDX-License-Identifier: MIT */
/* Samples that wait for feedback: the index takes them when their bytes are acknowledged. */
#ifndef REDUNDANCY_PENDING_SAMPLES_H
#define REDUNDANCY_PENDING_SAMPLES_H

#include <stdint.h>

/* A sample that waits for its frame to be acknowledged. */
struct pending_sample {
    uint64_t hash;
    uint64_t offset; /* in the log */
};

/* Samples in the order of their log offsets, the newest `cap`: entry i at [i % cap]. Those
 * that wait no more leave at the begin. */
struct pending_samples {
    struct pending_sample *entries;
    uint64_t cap; /* a power of two */
    uint64_t begin, end;
};

static inline struct pending_sample *pending_at(const struct pending_samples *pending, uint64_t i)
{
    return &pending->entries[i & (pending->cap - 1)];
}

static inline void pending_push(struct pending_samples *pending, uint64_t hash, uint64_t offset)
{
    if (pending->begin == pending->end)
        pending->begin = pending->end = 0; /* in memory that was used before */
    else if (pending->end - pending->begin == pending->cap)
        pending->begin++;
    *pending_at(pending, pending->end++) = (struct pending_sample){hash, offset};
}

/* Samples below this offset wait no more. */
static inline void pending_leave(struct pending_samples *pending, uint64_t offset)
{
    while (pending->begin < pending->end && pending_at(pending, pending->begin)->offset < offset)
        pending->begin++;
}

/* The first entry whose offset is at least this one. */
static inline uint64_t pending_find(const struct pending_samples *pending, uint64_t offset)
{
    uint64_t low = pending->begin, high = pending->end;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (pending_at(pending, middle)->offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
