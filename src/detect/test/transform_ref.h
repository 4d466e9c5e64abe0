/* SPDX-License-Identifier: MIT */
/* The oracle of transforms: each into new memory, a byte at a time. Hashes are not covered. */
#ifndef DETECT_TRANSFORM_REF_H
#define DETECT_TRANSFORM_REF_H

#include <stddef.h>

/* A transform as a rule names it, "xor" with its key as text. Writes the result to `to`, which has
 * room for from_len + 1, and returns its length. */
size_t transform_ref(const char *name, const char *value, const unsigned char *from,
                     size_t from_len, unsigned char *to);

#endif
