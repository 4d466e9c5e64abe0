/* SPDX-License-Identifier: MIT */
#ifndef REDUNDANCY_EXPECTED_H
#define REDUNDANCY_EXPECTED_H

#include "sluice/redundancy.h"

/* How many of the first items of the next batch need no samples: their content goes on where that
 * of the last one ended. For encoders of acknowledged frames. */
uint32_t encoder_expected(struct sl_encoder *encoder, const struct sl_batch *batch);

#endif
