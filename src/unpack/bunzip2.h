/* SPDX-License-Identifier: MIT */
/* bzip2 at twice the rate of libbz2, which waits for memory at each byte. */
#ifndef UNPACK_BUNZIP2_H
#define UNPACK_BUNZIP2_H

#include "unpack/unpack_buffer.h"

/* Adds what a stream holds; *used: its bytes. False: it is not whole, it does not fit, so that the
 * buffer is cut, its blocks are randomised, or memory is short. Some bytes may have been added
 * then. */
bool bunzip2(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used);

#endif
