/* SPDX-License-Identifier: MIT */
/* Hangul Word Processor 5: compound files whose streams are packed. */
#ifndef UNPACK_HWP_H
#define UNPACK_HWP_H

#include "unpack/ole2.h"

enum { HWP_PACKED = 1, HWP_LOCKED = 6 /* by a password, or for distribution */ };

/* A document's flags, of which only those are kept. 0: it is another document. */
unsigned hwp_flags(struct unpack *unpack, const struct ole2 *ole2);

/* Gives what a stream of it holds. */
void hwp_give(struct unpack *unpack, const struct unpack_object *object,
              const struct ole2_entry *entry, const uint8_t *bytes, size_t len);

#endif
