/* SPDX-License-Identifier: MIT */
/* Deflate (RFC 1951), bare or in a frame, as it comes. All that can be decoded of the bytes so far
 * comes out, however they are cut. Damage is what zlib calls damage, and what lies before it comes
 * out first. */
#ifndef BASE_INFLATE_H
#define BASE_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflate_format {
    INFLATE_BARE,
    INFLATE_ZLIB, /* RFC 1950 */
    INFLATE_GZIP, /* RFC 1952: one member */
    INFLATE_64    /* Deflate64, bare: a window of 64 KiB, and long matches */
};

enum inflate_status { INFLATE_GOES_ON, INFLATE_OVER, INFLATE_DAMAGED };

/* The bytes that came out, or the last of them: 32 KiB, of Deflate64 64 KiB. More come behind. */
struct inflate_out {
    uint8_t *bytes;
    size_t at, end; /* room is from `at` to `end`: a byte or more */
};

struct inflate;

/* NULL: there is no memory. */
struct inflate *inflate_open(enum inflate_format format);

void inflate_close(struct inflate *inflate); /* accepts NULL */

/* Decodes the bytes from *in on, and moves *in and *len behind those that were used. Of a stream
 * that goes on, all are used, or the room is. Behind damage, and behind the end of a stream, *in is
 * where zlib would have it. */
enum inflate_status inflate_into(struct inflate *inflate, const uint8_t **in, size_t *len,
                                 struct inflate_out *out);

#endif
