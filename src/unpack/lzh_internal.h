/* SPDX-License-Identifier: MIT */
/* Shared parts of LHA's compressions: bits, canonical codes, and the output that is the window. */
#ifndef UNPACK_LZH_INTERNAL_H
#define UNPACK_LZH_INTERNAL_H

#include "unpack/lzh.h"

enum { LZH_BITS_MAX = 16, LZH_SYMBOLS_MAX = 510 };

struct lzh_stream {
    const uint8_t *in;
    size_t len, at;
    uint32_t bits;
    unsigned n_bits;
    bool ended;   /* more bits were asked for than there are */
    uint8_t *out; /* room for out_len bytes */
    size_t n, out_len;
};

/* The first bit of a byte is its highest. n <= 24. */
uint32_t lzh_bits(struct lzh_stream *stream, unsigned n);

struct lzh_code {
    uint16_t n[LZH_BITS_MAX + 1]; /* codes of each length */
    uint16_t symbols[LZH_SYMBOLS_MAX];
    int only; /* the one symbol, which has no bits; -1: there are more */
};

/* False: the lengths are of no code. */
bool lzh_code_make(struct lzh_code *code, const uint8_t *lengths, unsigned n);

/* -1: no code. */
int lzh_symbol(struct lzh_stream *stream, const struct lzh_code *code);

/* False: the output is full. Bytes before the first are blanks. */
bool lzh_put(struct lzh_stream *stream, uint8_t byte);
bool lzh_copy(struct lzh_stream *stream, size_t distance, size_t len);

/* Methods; false: damaged. */
bool lzh_adaptive(struct lzh_stream *stream);
bool lzh_lzs(struct lzh_stream *stream);
bool lzh_lz5(struct lzh_stream *stream);

#endif
