/* SPDX-License-Identifier: MIT */
/* CUDA for the other modules, in plain C. The .cu files define it; absent.c does without CUDA. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether any GPU can be used. False: `why` has the reason. */
bool device_cuda_usable(char why[SL_WHY_LEN]);

/* The number of GPUs, at least 1 and at most DEVICE_MAX: where there is none, the first one has the
 * reason. */
uint32_t device_cuda_count(void);

/* Describes the GPU `index`, below the count. It is probed once a process, and becomes the current
 * one of the thread. */
void device_cuda_probe(struct sl_device *device, uint32_t index);

/* Makes the GPU's context and nothing else: all programs with CUDA wait for it, behind
 * device_cuda_count. False: it cannot be made. */
bool device_context_alone(int device);

/* Makes this GPU the current one of the thread. The default is the first GPU, which may not work.
 */
void device_use(int device);

/* Allocates host memory that GPUs read directly; NULL: none is left. Blocks of at most 4 MiB share
 * pages, which go with the last of them. After a lost GPU, CUDA pins nothing, and the memory is
 * ordinary. free accepts NULL, and keeps memory that a hung GPU may still use. Any thread. */
void *device_pinned_alloc(size_t len);
void device_pinned_free(void *memory);

/* Pins so many bytes ahead, for blocks of any length that are allocated later. False: the system
 * pins no more. trim frees what was prepared and has no block. Any thread. */
bool device_pinned_prepare(size_t len);
void device_pinned_trim(void);

/* As device_pinned_alloc, for memory that a GPU may never read: device_pin pins it. Its pages are
 * made as they are written. */
void *device_pinned_reserve(size_t len);

/* Pins reserved memory, by the thread that has it. Memory that cannot be pinned stays as it is, and
 * is copied all the same. Other memory is passed over. */
void device_pin(const void *reserved);

/* Allocates memory of a GPU; NULL: none is left. free accepts NULL, and keeps memory of a hung
 * GPU. */
void *device_alloc(int device, size_t len);
void device_free(int device, void *d_memory);

/* The ceilings of a device: the rates of its link and memory, by its clock. */
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

/* The time between two marks on a stream (cudaStream_t), by the GPU's clock. open returns NULL
 * where it fails. seconds waits for the end, and returns 0 after an error. close accepts NULL. */
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
