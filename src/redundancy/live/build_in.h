/* SPDX-License-Identifier: MIT */
#ifndef REDUNDANCY_BUILD_IN_H
#define REDUNDANCY_BUILD_IN_H

#include "sluice/redundancy.h"

/* From now on packets are built in room of the caller, of frame_max bytes. */
void decoder_build_in(struct sl_decoder *decoder, uint8_t *room);

#endif
