/* SPDX-License-Identifier: MIT */
#ifndef DETECT_STATE_H
#define DETECT_STATE_H

#include "sluice/detect.h"

/* Settles each packet of the last run as if it were the first. False: no memory. */
bool state_settle_alone(struct sl_evaluator *evaluator, const struct sl_batch *batch);

#endif
