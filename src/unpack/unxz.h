/* SPDX-License-Identifier: MIT */
#ifndef UNPACK_UNXZ_H
#define UNPACK_UNXZ_H

#include "unpack/unpack_buffer.h"

/* Adds what a stream of xz holds; *used: its bytes. False: it is not whole, it does not fit, or it
 * needs another filter than LZMA2, or another sum than a CRC. Some bytes may have been added then.
 */
bool unxz(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used);

#endif
