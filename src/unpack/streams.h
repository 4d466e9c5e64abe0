/* SPDX-License-Identifier: MIT */
/* Compressed streams. Each call appends what a stream holds to a buffer; *used says how many bytes
 * of `in` it took. False: it ends early, or is damaged. A full buffer is no damage. */
#ifndef UNPACK_STREAMS_H
#define UNPACK_STREAMS_H

#include "base/inflate.h"
#include "unpack/unpack_buffer.h"

bool stream_inflate(const uint8_t *in, size_t len, enum inflate_format format,
                    struct unpack_buffer *buffer, size_t *used);

bool stream_bzip2(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used);
bool stream_xz(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used);

/* A raw stream of LZMA1, which holds full_len bytes or has an end. */
bool stream_lzma1(const uint8_t properties[5], const uint8_t *in, size_t len, uint64_t full_len,
                  struct unpack_buffer *buffer, size_t *used);

#endif
