/* SPDX-License-Identifier: MIT */
/* Devices: what can run here, and the one crossing of a batch to a GPU. */
#ifndef SLUICE_DEVICE_H
#define SLUICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares this process: call it first in main, before threads and before CUDA is used. It asks
 * CUDA for a queue of the GPU for each stream (CUDA_DEVICE_MAX_CONNECTIONS, where the environment
 * does not set it): by default all share eight, and waiting work holds up what is behind it.
 * Without this call results are the same and overlap less. SL_EINVAL: the environment's SLUICE_CPU
 * is none of scalar, avx2 and avx512, and the library ignores it. SL_EUNSUPPORTED: it names more
 * than this CPU has, and the best that runs is taken. */
SL_CHECK SL_API enum sl_status sl_device_prepare(struct sl_diag *diag);

/* A device as `sluice devices` shows it. */
struct sl_device {
    enum sl_device_kind kind;
    int index;           /* CUDA: the device's index; CPU: 0 */
    uint64_t memory_len; /* bytes of device memory; CPU: of the machine */
    int capability;      /* CUDA: 10 x major + minor */
    bool usable;
    char name[128];       /* "NVIDIA H100 80GB HBM3", "AVX-512, 4 cores" */
    char why[SL_WHY_LEN]; /* where not usable: the reason */
};

/* Fills up to max devices, the CPU first, and returns how many there are. Where CUDA is not usable
 * at all (not built in, no driver, no device) one CUDA entry says why. Any thread. */
SL_API uint32_t sl_device_list(struct sl_device *devices, uint32_t max);

/* Resolves "auto", "cpu", "cuda" or "cuda:N". auto takes the first usable GPU, else the CPU; `why`
 * says in one line what was taken and why. SL_EINVAL: not such a name; SL_EDEVICE: asked for and
 * not usable, with the reason in diag. */
SL_CHECK SL_API enum sl_status sl_device_choose(struct sl_device *device, const char *name,
                                                char why[SL_WHY_LEN], struct sl_diag *diag);

/* Resolves the devices of one run: what sl_device_choose knows, but "cuda" is all usable GPUs,
 * "cuda:N,M,..." those, in this order, and "auto" the first usable GPU and the CPU, for who finds
 * out which is faster (sl_pipeline_choose), or the CPU alone. Fills up to max devices, at least 1,
 * of which there are then *n. SL_EINVAL: not such a list, a GPU named twice, or more than max;
 * SL_EDEVICE: one that was named is not usable. */
SL_CHECK SL_API enum sl_status sl_device_choose_list(struct sl_device *devices, uint32_t max,
                                                     uint32_t *n, const char *name,
                                                     char why[SL_WHY_LEN], struct sl_diag *diag);

/* Makes an empty batch for devices of this kind, as sl_batch_create does: for CUDA of pinned
 * memory, which GPUs read directly, with room for the columns behind the arena. sl_batch_free frees
 * it. Any thread. SL_EINVAL, SL_ENOMEM; SL_EDEVICE: no GPU is usable. */
SL_CHECK SL_API enum sl_status sl_device_batch_create(struct sl_batch **batch,
                                                      enum sl_device_kind kind, uint32_t arena_len,
                                                      uint32_t max_items, struct sl_diag *diag);

/* A stage: device memory for one batch, and a stream. Uploading a host batch to it is the one
 * crossing that all engines share. One batch at a time; any thread, one at a time. */
struct sl_stage;

/* SL_ENOMEM (with what is needed and what there is), SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_open(struct sl_stage **stage,
                                             const struct sl_limits *limits, struct sl_diag *diag);

/* Starts copying arena and columns of a host batch (fast only where pinned) and fills `view` with a
 * batch in device memory, valid until the next upload. Asynchronous: `batch` is lent until the last
 * engine's wait on the view has returned, or, where none works on it, sl_stage_wait. Who wants it
 * back sooner and the view to be worked on sets the view's host_bytes to NULL after sl_stage_wait.
 *
 * A pinned batch of sl_device_batch_create crosses in one copy: its columns are laid behind its
 * items first, in the arena's memory; one thread may send it to several stages. A column of more
 * than 512 KiB and those behind it, and all of other batches, take a copy each. `packet` does not
 * cross where it is NULL: who runs engines that read no headers uploads a copy of the struct
 * without it. SL_EINVAL: above the limits. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                                               struct sl_batch *view);

enum { SL_STAGE_VIEWS_MAX = 16 };

/* A further view of what was uploaded last: its work waits for the upload alone, so that engines
 * which are given one each run side by side; the next upload is queued behind all of them. Number 0
 * is the upload's own view, others below SL_STAGE_VIEWS_MAX have a stream each, which is made when
 * it is asked for at first. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_view(struct sl_stage *stage, uint32_t number,
                                             struct sl_batch *view);

/* Waits for all work on the stage's streams. */
SL_CHECK SL_API enum sl_status sl_stage_wait(struct sl_stage *stage);

/* Accepts NULL. */
SL_API void sl_stage_close(struct sl_stage *stage);

#ifdef __cplusplus
}
#endif
#endif
