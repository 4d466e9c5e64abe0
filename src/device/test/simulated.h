/* SPDX-License-Identifier: MIT */
/* GPUs for tests: host memory acts as theirs, streams work late, and each step fails on demand.
 *
 * Test programs that link sluice_simulated call it instead of CUDA (the linker's --wrap): devices,
 * pinned memory, stages, and a backend "simulated" for each engine, which runs the engine's best
 * CPU backend on what was uploaded. Nothing of it is in the library or the command.
 *
 * Work queued on a stage's stream happens when something is waited for, or when it is closed, and
 * after a random while. So code that gives memory back too soon, or takes order for granted, is
 * found. A device that failed with SL_EDEVICE fails in all that it is asked for from then on, as a
 * GPU does. A GPU that hangs still reads its uploads, at the very end: memory that was freed before
 * is found. */
#ifndef DEVICE_SIMULATED_H
#define DEVICE_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

enum { SIMULATED_DEVICES_MAX = 8 };

enum simulated_step {
    SIMULATED_PINNED, /* pinned memory, one block; counted for device 0 */
    SIMULATED_STAGE,  /* opening a stage */
    SIMULATED_OPEN,   /* opening a context, also with more room after an overflow */
    SIMULATED_UPLOAD,
    SIMULATED_SUBMIT,
    SIMULATED_WAIT, /* the engine's work ends with an error */
    SIMULATED_HITS, /* the hits come back in part */
    SIMULATED_HANG, /* counted as waits are: that one never ends, nor does any other after it */
    SIMULATED_STEPS
};

/* From now on there are so many GPUs, all well, that take up to delay_us for what is waited for.
 * Nothing of them may be open. */
void simulated_reset(uint32_t n_devices, uint32_t delay_us);

/* From now on each engine takes so long for a KiB of a batch on this device, waiting included. */
void simulated_pace(int device, uint32_t ns_a_kib);

/* Whether this thread is a device, at work with a CPU's backend. */
bool simulated_is_device(void);

/* The nth call from now on, from 1, of this step on this device has this status. One fault a device
 * and step. */
void simulated_fail(int device, enum simulated_step step, uint32_t nth, enum sl_status status);

uint32_t simulated_calls(int device, enum simulated_step step);

/* Devices that hang write wrong hits for the work that they had, as often as this is called. */
void simulated_write_late(void);

/* Stages, contexts and pinned blocks that nobody has closed; those that were, but are left alone
 * because a device hangs, until the next reset. */
int simulated_n_open(void);
int simulated_n_left(void);

#endif
