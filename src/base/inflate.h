/* SPDX-License-Identifier: MIT */
/* Deflate (RFC 1951), bare or in zlib's format (RFC 1950), as it comes. All that can be decoded of
 * the bytes so far comes out, however they are cut. Damage is what zlib calls damage, and what lies
 * before it comes out first. */
#ifndef BASE_INFLATE_H
#define BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inflate_status { INFLATE_GOES_ON, INFLATE_OVER, INFLATE_DAMAGED };

enum { INFLATE_ROOM = 16384 }; /* bytes that come out of a call at most */

struct inflate;

/* NULL: there is no memory. */
struct inflate *inflate_open(bool is_zlib);

void inflate_close(struct inflate *inflate); /* accepts NULL */

/* Decodes the bytes from *in on, and moves *in and *len behind those that were taken, which may be
 * some bytes behind the end of the stream. Up to `room` bytes come out: *out, of *out_len bytes, is
 * valid until the next call. Where fewer come out of a stream that goes on, all of `in` was taken.
 */
enum inflate_status inflate_some(struct inflate *inflate, const uint8_t **in, size_t *len,
                                 uint32_t room, const uint8_t **out, uint32_t *out_len);

uint32_t inflate_held(void); /* bytes that an open stream may take */

#endif
