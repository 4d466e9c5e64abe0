/* SPDX-License-Identifier: MIT */
/* What judges give of a stream, and the same by inflate.h with cuts. The judge of Deflate64 reads
 * bit by bit, and the judge of all other formats is zlib. */
#ifndef BASE_INFLATE_REF_H
#define BASE_INFLATE_REF_H

#include "base/inflate.h"

/* What came out of a stream, up to INFLATED_MAX bytes, how it ended, and where. */
enum { INFLATED_MAX = 1 << 21 };

struct inflated {
    enum inflate_status status;
    uint32_t len;
    size_t used;
    uint8_t bytes[INFLATED_MAX];
};

void inflate_by_judge(struct inflated *to, enum inflate_format format, const uint8_t *in,
                      size_t len);

/* The bytes of the next piece, and the room for what comes out of a call: 1 or more. */
typedef uint32_t inflate_cut(void *user);

/* Deflate64 has no window of its own. */
void inflate_by_stream(struct inflated *to, enum inflate_format format, const uint8_t *in,
                       size_t len, inflate_cut *cut, void *user);
void inflate_by_pieces(struct inflated *to, enum inflate_format format, const uint8_t *in,
                       size_t len, inflate_cut *cut, void *user);

#endif
