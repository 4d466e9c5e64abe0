/* SPDX-License-Identifier: MIT */
/* Deflate64 decoded bit by bit. */
#ifndef BASE_INFLATE64_REF_H
#define BASE_INFLATE64_REF_H

#include "inflate_ref.h"

/* What is damage of deflate for zlib is damage here. */
void inflate64_by_bits(struct inflated *to, const uint8_t *in, size_t len);

#endif
