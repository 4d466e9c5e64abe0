/* SPDX-License-Identifier: MIT */
/* A stream of deflate that comes in pieces, with a window of its own. */
#ifndef BASE_INFLATE_STREAM_H
#define BASE_INFLATE_STREAM_H

#include "base/inflate.h"

enum { INFLATE_ROOM = 16384 }; /* bytes that come out of a call at most */

struct inflate_stream;

/* Any format but Deflate64. NULL: there is no memory. */
struct inflate_stream *inflate_stream_open(enum inflate_format format);

void inflate_stream_close(struct inflate_stream *stream); /* accepts NULL */

/* As inflate_into, with a room of 1 byte or more. What comes out is *out, of *out_len bytes, and
 * valid until the next call. */
enum inflate_status inflate_some(struct inflate_stream *stream, const uint8_t **in, size_t *len,
                                 size_t room, const uint8_t **out, uint32_t *out_len);

uint32_t inflate_stream_held(void); /* bytes that an open stream takes */

#endif
