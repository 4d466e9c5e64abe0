/* SPDX-License-Identifier: MIT */
/* The backend that runs the steps of whole batches, and its memory. */
#ifndef REDUNDANCY_BATCH_ENCODE_H
#define REDUNDANCY_BATCH_ENCODE_H

#include "batch_job_core.h"
#include "sluice/redundancy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sizes of all arrays, which batch_encoder.c computes. */
struct encode_sizes {
    uint32_t max_items, batch_len, max_hits;
    uint64_t ring_len;
    uint32_t n_index;
    int device;
    uint32_t max_wait_ms;
    bool frames_stay;
};

/* The memory of one job in one block. */
struct encode_layout {
    size_t zero_len; /* bytes from its beginning on that are zero at the beginning */
    size_t out;      /* from here on the bytes that cross back: frame_begin, and frames behind it */
    size_t len;
};

/* Lays a job's arrays, but the batch's, into a block that begins at a multiple of 256. NULL: only
 * returns the length of the block. */
struct encode_layout encode_lay_out(struct encode_job *job, const struct encode_sizes *sizes,
                                    uint8_t *block);

/* Bytes of a batch's frame_begin, in front of its frames. */
static inline size_t encode_begins_len(uint32_t n_items)
{
    return log_round((n_items + UINT64_C(1)) * sizeof(uint32_t));
}

/* Bytes of a ring's memory: its first word stands behind it once more. */
static inline uint64_t encode_ring_memory(const struct encode_sizes *sizes)
{
    return sizes->ring_len + sizeof(uint64_t);
}

struct encode_backend {
    /* Makes a machine and fills its jobs, one for each batch under way: arrays, log and index,
     * zeroed. */
    enum sl_status (*open)(void **machine, const struct encode_sizes *sizes,
                           struct encode_job jobs[SL_BATCH_ENCODER_IN_FLIGHT],
                           struct sl_diag *diag);

    /* Starts on all steps of a job behind those of the last one submitted, where there is one. The
     * samples are there, on the stream. With `restart` the log begins anew at 0, and the index is
     * cleared. */
    enum sl_status (*submit)(void *machine, uint32_t slot, const struct encode_job *job,
                             bool restart, void *stream);

    /* Waits for it. The frames are where the encoder's caller wants them. */
    enum sl_status (*wait)(void *machine, uint32_t slot, const struct encode_job *job,
                           struct encode_totals *totals, struct sl_frames *frames);

    void (*close)(void *machine); /* accepts NULL */
};

/* A batch under way, or none. */
struct encode_slot {
    struct encode_job job;
    void *sampling; /* the sampler's context */
    struct sl_hits hits;
};

struct sl_batch_encoder {
    struct sl_batch_encoder_config config;
    const struct encode_backend *backend;
    const struct sl_backend *sampler;
    void *machine;
    struct encode_slot slots[SL_BATCH_ENCODER_IN_FLIGHT]; /* batch i is in slots[i % so many] */
    uint64_t n_submitted, n_waited;
    bool restart; /* the next batch begins an epoch */
    uint32_t epoch;
    struct sl_batch_encoder_stats stats;
};

extern const struct encode_backend batch_encode_tiled, batch_encode_cuda;

#ifdef __cplusplus
}
#endif
#endif
