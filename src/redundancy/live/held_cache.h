/* SPDX-License-Identifier: MIT */
/* Caches that share memory: each reports the bytes that it holds, and gives the oldest of them
 * back. */
#ifndef REDUNDANCY_HELD_CACHE_H
#define REDUNDANCY_HELD_CACHE_H

#include "sluice/redundancy.h"

/* Before anything was encoded: forgotten bytes, in a new epoch too, are given back. */
void encoder_share(struct sl_encoder *encoder);
uint64_t encoder_held(const struct sl_encoder *encoder);
void encoder_forget(struct sl_encoder *encoder, uint64_t len);

/* The encoder is told first: forgotten bytes stay until `margin` bytes more are forgotten. So
 * frames that are on their way find their references. The margin is not counted as held. */
void decoder_share(struct sl_decoder *decoder, uint64_t margin);
uint64_t decoder_held(const struct sl_decoder *decoder);
void decoder_forget(struct sl_decoder *decoder, uint64_t len);

#endif
