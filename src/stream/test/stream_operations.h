/* SPDX-License-Identifier: MIT */
/* A flow by bytes: 8 have its config, each 8 behind them are a segment. It is played
 * with two cuts into batches, without the plain case, and in trains. */
#ifndef STREAM_OPERATIONS_H
#define STREAM_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* The fault; NULL: none. Adds to *n_trained how many segments trains took. */
const char *stream_operations_check(const uint8_t *input, size_t input_len, uint64_t *n_trained);

#endif
