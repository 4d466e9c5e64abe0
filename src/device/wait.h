/* SPDX-License-Identifier: MIT */
/* Waiting for GPUs, but not for ever. One that does not come back in time is taken for hung, and
 * stays so while the process lives: nothing more is asked of it, nobody waits for it, and what it
 * may still read or write, its memory and all that is pinned, is left alone until the process ends.
 */
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
    /* Milliseconds. Any batch is done in a fraction of it; a live capture loses what comes
     * meanwhile. */
    DEVICE_MAX_WAIT_MS = 10000
};

/* Any thread. */
bool device_is_hung(int device);
bool device_any_hung(void);
void device_set_hung(int device, bool hung); /* only tests take it back */

/* Whether `what` has ended, and then how. */
typedef bool device_ended(void *what, enum sl_status *status);

/* Asks again and again, resting in between the longer it has waited. max_wait_ms 0: as long as it
 * takes. SL_EDEVICE also where the device is or becomes hung; `what` may then never end. */
enum sl_status device_wait(int device, uint32_t max_wait_ms, device_ended *ended, void *what);

/* The same without rests, which take longer than a small batch. */
enum sl_status device_spin(int device, uint32_t max_wait_ms, device_ended *ended, void *what);

#ifdef __cplusplus
}
#endif
#endif
