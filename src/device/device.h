/* SPDX-License-Identifier: MIT */
/* What the rest of sluice needs of CUDA, in plain C. cuda.cu answers, or absent.c without CUDA. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether any GPU can be used; if not, why. Probed once a process. */
bool device_cuda_usable(char why[SL_WHY_LEN]);

/* The CUDA devices, or one entry that says why there is none. Returns how many there are. */
uint32_t device_cuda_list(struct sl_device *devices, uint32_t max);

/* What this thread asks of CUDA is asked of this GPU; by default it is the first, which may be none
 * of those that work. */
void device_use(int device);

/* Host memory that GPUs read directly; NULL where there is none left. Where a GPU was lost, and
 * CUDA pins nothing any more, it is ordinary memory. free accepts NULL, and leaves alone what a GPU
 * that hangs may still use. */
void *device_pinned_alloc(size_t len);
void device_pinned_free(void *memory);

/* Memory of a GPU; NULL where there is none left. free accepts NULL, and leaves alone what is of
 * one that hangs. */
void *device_alloc(int device, size_t len);
void device_free(int device, void *d_memory);

/* What a device's link and memory give, by its clock. */
enum device_ceiling {
    DEVICE_LINK_TO, /* pinned blocks one behind the other, bytes a second: to the device, */
    DEVICE_LINK_BACK,
    DEVICE_LINK_BOTH,    /* both ways at once, bytes of one way */
    DEVICE_MEMORY_READ,  /* 1 GiB, bytes a second */
    DEVICE_MEMORY_COPY,  /* half of it to the other half, bytes copied */
    DEVICE_MEMORY_RANDOM /* reads of 16 bytes in it, as many at once as there is room for; a second
                          */
};

/* open: NULL where it fails. device_ceiling: one run, block_len (up to 128 MiB) is the link's; 0
 * where it fails. close accepts NULL. */
struct device_ceilings;
struct device_ceilings *device_ceilings_open(int device);
double device_ceiling(struct device_ceilings *at, enum device_ceiling what, size_t block_len);
void device_ceilings_close(struct device_ceilings *at);

/* The best of several runs of DEVICE_LINK_TO, 0 where it cannot be measured. */
double device_link_rate(int device, size_t block_len);

/* The same while back_len bytes, no more than a block, come back for each block. */
double device_link_rate_beside(int device, size_t block_len, size_t back_len);

/* What lies between two marks on a stream (cudaStream_t), by the GPU's clock. open: NULL where it
 * fails; seconds waits for the end, 0 where there was an error; close accepts NULL. */
struct device_timer;
struct device_timer *device_timer_open(int device);
void device_timer_begin(struct device_timer *timer, void *stream);
void device_timer_end(struct device_timer *timer, void *stream);
double device_timer_seconds(struct device_timer *timer);
void device_timer_close(struct device_timer *timer);

#ifdef __cplusplus
}
#endif
#endif
