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

/* Host memory that GPUs read directly; NULL where there is none left. free accepts NULL. */
void *device_pinned_alloc(size_t len);
void device_pinned_free(void *memory, size_t len);

/* Memory of a GPU; NULL where there is none left. free accepts NULL. */
void *device_alloc(int device, size_t len);
void device_free(void *d_memory);

/* Bytes a second that pinned blocks of this length cross to the device with, the best of several
 * runs: a ceiling. 0 where it cannot be measured. */
double device_link_rate(int device, size_t block_len);

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
