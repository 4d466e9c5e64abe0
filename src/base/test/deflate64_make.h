/* SPDX-License-Identifier: MIT */
/* Streams of Deflate64 that use all of it: long matches, far ones, and codes of all lengths. */
#ifndef BASE_DEFLATE64_MAKE_H
#define BASE_DEFLATE64_MAKE_H

#include <stdint.h>

/* Returns the length, at most `room`, which is 64 KiB or more. */
uint32_t deflate64_make(uint8_t *to, uint32_t room, uint64_t *seed);

#endif
