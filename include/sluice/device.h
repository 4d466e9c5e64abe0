/* SPDX-License-Identifier: MIT */
/* Devices: the processors of this machine, and the one crossing of a batch to a GPU. */
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

/* Prepares this process: call it first in main, before threads. SL_EINVAL: the environment's
 * SLUICE_CPU is none of scalar, avx2 and avx512, and the library ignores it. SL_EUNSUPPORTED: it
 * names more than this CPU has, and the best that runs is taken.
 * A program that keeps a link to a GPU full sets CUDA_DEVICE_MAX_CONNECTIONS to 32 before CUDA is
 * used. Streams then share no queue of the GPU, and pinned batches fill 96 % of the link instead
 * of 91 %. On an H200 this takes 0.4 s at the start and 0.2 s at the end of the process. */
SL_CHECK SL_API enum sl_status sl_device_prepare(struct sl_diag *diag);

/* A device, as `sluice devices` prints it. */
struct sl_device {
    enum sl_device_kind kind;
    int index;           /* CUDA: the device's index; CPU: 0 */
    uint64_t memory_len; /* bytes of device memory; CPU: of the machine */
    int capability;      /* CUDA: 10 x major + minor; CPU: 0 */
    bool usable;
    char name[128];       /* "NVIDIA H100 80GB HBM3", "AVX-512, 4 cores" */
    char why[SL_WHY_LEN]; /* not usable: the reason */
};

/* Lists up to max devices, the CPU first. Returns how many there are, which may exceed max;
 * `devices` may be NULL where max is 0. Where CUDA is not usable at all (not built in, no driver,
 * no device) one CUDA entry has the reason. Any thread. */
SL_API uint32_t sl_device_list(struct sl_device *devices, uint32_t max);

/* Resolves "auto", "cpu", "cuda" or "cuda:N". auto takes the first usable GPU, else the CPU. `why`
 * gets the reason of the choice in one line. Any thread. SL_EINVAL: no such name. SL_EDEVICE: the
 * device is named and not usable; diag has the reason. */
SL_CHECK SL_API enum sl_status sl_device_choose(struct sl_device *device, const char *name,
                                                char why[SL_WHY_LEN], struct sl_diag *diag);

/* Resolves the devices of one run, up to max (at least 1); *n is their number. Names are those of
 * sl_device_choose, with three differences. "cuda" is all usable GPUs, as far as max allows.
 * "cuda:N,M,..." is these GPUs in this order. "auto" is the first usable GPU with the CPU, for
 * sl_pipeline_choose, or the CPU alone. Any thread. SL_EINVAL: no such list, a GPU named twice, or
 * more than max. SL_EDEVICE: a named device is not usable. */
SL_CHECK SL_API enum sl_status sl_device_choose_list(struct sl_device *devices, uint32_t max,
                                                     uint32_t *n, const char *name,
                                                     char why[SL_WHY_LEN], struct sl_diag *diag);

/* Makes an empty batch for devices of this kind, as sl_batch_create does. For CUDA its memory is
 * pinned, so that GPUs read it directly, and the arena has room for the columns behind it. A column
 * with room for more than 512 KiB is ordinary memory until an upload copies it on its own.
 * sl_batch_free frees it. Any thread. SL_EINVAL, SL_ENOMEM. SL_EDEVICE: no GPU is usable. */
SL_CHECK SL_API enum sl_status sl_device_batch_create(struct sl_batch **batch,
                                                      enum sl_device_kind kind, uint32_t arena_len,
                                                      uint32_t max_items, struct sl_diag *diag);

/* A stage: device memory for one batch, and a stream. All engines share the one upload of a host
 * batch to it. One batch at a time; any thread, one at a time. */
struct sl_stage;

/* Opens a stage on limits->device for batches within the limits. The caller closes it. Any thread.
 * SL_ENOMEM: diag has the bytes needed and the bytes free. SL_EDEVICE: the GPU failed, or the build
 * has no CUDA. */
SL_CHECK SL_API enum sl_status sl_stage_open(struct sl_stage **stage,
                                             const struct sl_limits *limits, struct sl_diag *diag);

/* Starts the copy of a host batch's arena and columns, which is fast only from pinned memory. Fills
 * `view` with a batch in device memory, valid until the next upload. The copy is asynchronous:
 * `batch` is lent until the last engine's wait on the view, or sl_stage_wait where none works on
 * it. A caller that needs `batch` sooner calls sl_stage_wait and sets the view's host_bytes to
 * NULL; the view stays valid.
 *
 * A pinned batch of sl_device_batch_create crosses in one copy: the upload lays its columns behind
 * its items, in the arena's memory. One thread may send it to several stages. Columns from the
 * first one of more than 512 KiB on, and all columns of other batches, take a copy each. A NULL
 * `packet` does not cross: for engines that read no headers, upload a copy of the struct without
 * it. SL_EINVAL: the batch is above the limits, or lies on a GPU. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                                               struct sl_batch *view);

enum { SL_STAGE_VIEWS_MAX = 16 }; /* views of an upload, its own among them */

/* A further view of the last upload. Its work waits for the upload alone, so engines with a view
 * each run side by side. The next upload waits for all of them. Number 0 is the upload's own view;
 * others have a stream each, which the first call makes. SL_EINVAL: nothing was uploaded, or the
 * number is not below SL_STAGE_VIEWS_MAX. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_view(struct sl_stage *stage, uint32_t number,
                                             struct sl_batch *view);

/* Waits for all work on the stage's streams. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_stage_wait(struct sl_stage *stage);

/* Waits for all work, then frees the stage. Accepts NULL. */
SL_API void sl_stage_close(struct sl_stage *stage);

#ifdef __cplusplus
}
#endif
#endif
