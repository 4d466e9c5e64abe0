/* SPDX-License-Identifier: MIT */
/* Batches to frames on a GPU, with packet cache and fingerprint index in its memory.
 *
 * The frames are those of docs/frames.md, as sl_encoder writes them, and sl_decoder gives the
 * packets back. They are not the same bytes: here all packets of a batch are matched at once.
 * Samples are looked up among those of the batches before, of which the newest counts, and among
 * those of their own batch, of which the first counts. What was encoded and in which batches alone
 * decides what the frames are; no run differs from another.
 *
 * For links that bring all frames in order, and for files: the encoder refers to all that it has
 * encoded, hears no feedback, and begins a new epoch only where offsets come to their end. There is
 * no zstd: what no reference replaces is in the frames as it is.
 *
 * Threads: an encoder belongs to one thread at a time. */
#ifndef SLUICE_BATCH_ENCODER_H
#define SLUICE_BATCH_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/engine.h"
#include "sluice/redundancy.h"
#include "sluice/sampling.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SL_BATCH_ENCODER_IN_FLIGHT = 4 }; /* batches that are submitted and not waited for */

struct sl_batch_encoder_config {
    /* As sl_encoder's, but: batch_len is the most arena of a batch, at most 1 GiB; index_len 0 is
     * 16 bytes for every `period` bytes of cache; chunks and acknowledged are not to be had. */
    struct sl_redundancy_config redundancy;
    const struct sl_sampling_table *sampling; /* outlives the encoder */
    enum sl_device_kind kind; /* SL_DEVICE_CPU: the same steps one after the other on one core, a
                                 proof where no GPU is; sl_encoder is what a CPU runs well */
    int device;               /* CUDA: the device's index */
    uint32_t max_wait_ms;     /* CUDA: for a batch, as in struct sl_limits */
    bool frames_stay;         /* CUDA: frames are left in the GPU's memory */
};

/* The frames of a batch, valid until the next submit or wait. */
struct sl_frames {
    uint32_t n;            /* as many as the batch had items, in their order */
    const uint32_t *begin; /* n + 1: bytes before each frame; the last is the length of all. On a
                              GPU where frames stay there */
    const uint8_t *bytes;  /* the same */
    uint64_t len;          /* of all frames */
};

struct sl_batch_encoder_stats {
    uint64_t items, bytes; /* of payload */
    uint64_t samples;      /* taken: hits beyond the room for them, 4 times what the period
                              promises, are not */
    uint64_t matches, matched_bytes;
    uint64_t frame_bytes;
    uint64_t epochs; /* begun, the first included */
};

struct sl_batch_encoder;

/* SL_EINVAL: a value out of its range. SL_EUNSUPPORTED: chunks, acknowledged, or a sampler that has
 * no backend there (diag says why). SL_ENOMEM: on a GPU, diag says what is needed and what there
 * is. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_create(struct sl_batch_encoder **encoder,
                                                       const struct sl_batch_encoder_config *config,
                                                       struct sl_diag *diag);

/* Starts on a batch, which is lent until its wait has returned: on a GPU a stage's view, on whose
 * stream all is done that does not wait for the batch before; on a CPU a host batch. At most
 * SL_BATCH_ENCODER_IN_FLIGHT are under way. SL_EINVAL: the batch is in the wrong memory or above
 * the limits, or too many are under way; nothing was done. SL_EDEVICE: the encoder is of no use any
 * more. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_submit(struct sl_batch_encoder *encoder,
                                                       const struct sl_batch *batch);

/* Ends the oldest batch that was submitted and gives its frames. SL_EINVAL: none was; or a packet
 * is longer than frame_max or not in the arena, or all together, each rounded up to SL_BATCH_ALIGN,
 * are longer than batch_len: the batch has no frames and left no trace. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_batch_encoder_wait(struct sl_batch_encoder *encoder,
                                                     struct sl_frames *frames);

SL_API void sl_batch_encoder_stats(const struct sl_batch_encoder *encoder,
                                   struct sl_batch_encoder_stats *stats);

/* Accepts NULL. No batch may be under way but after SL_EDEVICE. */
SL_API void sl_batch_encoder_free(struct sl_batch_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
