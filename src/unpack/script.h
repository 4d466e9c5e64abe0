/* SPDX-License-Identifier: MIT */
/* JavaScript in ClamAV's normal form: lower case, no comments and no needless blanks, declared
 * names by number, and strings joined. */
#ifndef UNPACK_SCRIPT_H
#define UNPACK_SCRIPT_H

#include "unpack/unpack_buffer.h"

/* Adds the normal form of a script. Memory beside the buffer is bounded; false: there is none. */
bool script_normalize(const uint8_t *text, size_t len, struct unpack_buffer *out);

#endif
