/* SPDX-License-Identifier: MIT */
/* For programs that tests run beside others: a capture, batch by batch. */
#ifndef CAPTURE_EACH_BATCH_H
#define CAPTURE_EACH_BATCH_H

#include "sluice/capture.h"

/* Gives every batch of the capture at argv[1], the only argument, to `visit`. Returns the exit
 * status: 0, or 2 where it is no capture, or damaged before its end, which is said; a capture that
 * was cut off is visited as far as it goes. */
int visit_capture(int argc, char **argv, void (*visit)(struct sl_batch *batch));

#endif
