/* SPDX-License-Identifier: MIT */
/* Imploded data: matches and bytes in Shannon-Fano codes (method 6 of zip). */
#ifndef UNPACK_EXPLODE_H
#define UNPACK_EXPLODE_H

#include "unpack/unpack_buffer.h"

/* Appends full_len bytes to the buffer. `flags` are the member's. False: the data ends early, or is
 * damaged. */
bool explode(const uint8_t *in, size_t len, unsigned flags, uint64_t full_len,
             struct unpack_buffer *buffer, size_t *used);

#endif
