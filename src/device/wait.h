/* SPDX-License-Identifier: MIT */
/* Waits for GPUs that end. A GPU that exceeds the limit counts as hung until the process ends: it
 * gets no more work, and no thread waits for it. Its memory and all pinned memory are kept, because
 * the GPU may still read or write them. */
#ifndef DEVICE_WAIT_H
#define DEVICE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DEVICE_MAX = 64, /* GPUs that are known */
    /* Milliseconds. Any batch is done in a fraction of this time. A live capture loses packets
     * meanwhile. */
    DEVICE_MAX_WAIT_MS = 10000
};

/* Any thread. */
bool device_is_hung(int device);
bool device_any_hung(void);
void device_set_hung(int device, bool hung); /* only tests take it back */

/* Whether `what` has ended; *status is then its outcome. */
typedef bool device_ended(void *what, enum sl_status *status);

/* Polls until `what` has ended, with rests that grow with the time waited. max_wait_ms 0: no limit.
 * SL_EDEVICE also where the device is hung or becomes so; `what` may then never end. */
enum sl_status device_wait(int device, uint32_t max_wait_ms, device_ended *ended, void *what);

/* Polls without rests, which take longer than a small batch. */
enum sl_status device_spin(int device, uint32_t max_wait_ms, device_ended *ended, void *what);

#ifdef __cplusplus
}
#endif
#endif
