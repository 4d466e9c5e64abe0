/* SPDX-License-Identifier: MIT */
#include "device/wait.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"

enum {
    SPIN_NS = 20000, /* a rest takes longer than this */
    REST_SHARE = 8,  /* a rest takes this part of the time waited so far: one eighth */
    REST_MAX_NS = 100000
};

static atomic_uint_least64_t hung; /* a bit each */

static uint64_t bit_of(int device)
{
    return UINT64_C(1) << (device & (DEVICE_MAX - 1));
}

bool device_is_hung(int device)
{
    return (atomic_load(&hung) & bit_of(device)) != 0;
}

bool device_any_hung(void)
{
    return atomic_load(&hung) != 0;
}

void device_set_hung(int device, bool is_hung)
{
    if (is_hung)
        atomic_fetch_or(&hung, bit_of(device));
    else
        atomic_fetch_and(&hung, ~bit_of(device));
}

static void rest(uint64_t waited)
{
    const uint64_t share = waited / REST_SHARE;
    const struct timespec time = {0, (long)(share < REST_MAX_NS ? share : REST_MAX_NS)};

    if (waited >= SPIN_NS)
        (void)nanosleep(&time, NULL);
}

/* The clock is read before each poll, so that a thread that did not run for long polls once more.
 */
static enum sl_status wait_for(int device, uint32_t max_wait_ms, bool rests, device_ended *ended,
                               void *what)
{
    const uint64_t limit = max_wait_ms * UINT64_C(1000000);
    const uint64_t begin = clock_ns();
    enum sl_status status = SL_OK;
    uint64_t waited = 0;

    while (!device_is_hung(device)) {
        if (ended(what, &status))
            return status;
        if (limit != 0 && waited > limit)
            device_set_hung(device, true);
        else if (rests)
            rest(waited);
        waited = clock_ns() - begin;
    }
    return SL_EDEVICE;
}

enum sl_status device_wait(int device, uint32_t max_wait_ms, device_ended *ended, void *what)
{
    return wait_for(device, max_wait_ms, true, ended, what);
}

enum sl_status device_spin(int device, uint32_t max_wait_ms, device_ended *ended, void *what)
{
    return wait_for(device, max_wait_ms, false, ended, what);
}
