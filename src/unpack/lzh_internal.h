/* SPDX-License-Identifier: MIT */
/* Shared parts of LHA's compressions: canonical codes, and the output that is the window. */
#ifndef UNPACK_LZH_INTERNAL_H
#define UNPACK_LZH_INTERNAL_H

#include "unpack/canonical.h"
#include "unpack/lzh.h"

struct lzh_stream {
    struct canonical_reader reader;
    uint8_t *out; /* room for out_len bytes */
    size_t n, out_len;
};

/* lzh_output.c. False: the output is full. Bytes before the first are blanks. */
bool lzh_put(struct lzh_stream *stream, uint8_t byte);
bool lzh_copy(struct lzh_stream *stream, size_t distance, size_t len);

/* Methods; false: damaged. */
bool lzh_adaptive(struct lzh_stream *stream);
bool lzh_lzs(struct lzh_stream *stream);
bool lzh_lz5(struct lzh_stream *stream);

#endif
