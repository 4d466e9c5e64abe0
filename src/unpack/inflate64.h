/* SPDX-License-Identifier: MIT */
/* Deflate64: deflate with a window of 64 KiB and long matches (method 9 of zip). */
#ifndef UNPACK_INFLATE64_H
#define UNPACK_INFLATE64_H

#include "unpack/unpack_buffer.h"

/* Appends to the buffer. False: the data ends early, or is damaged. */
bool inflate64(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used);

#endif
