/* SPDX-License-Identifier: MIT */
/* The compressions of LHA and ARJ: LZ77 with Huffman codes, or with plain bits. */
#ifndef UNPACK_LZH_H
#define UNPACK_LZH_H

#include "unpack/unpack_buffer.h"

enum lzh_method {
    LZH_STORED,
    LZH_ADAPTIVE, /* -lh1- */
    LZH_4K,       /* -lh4-, -lh5- */
    LZH_32K,      /* -lh6- */
    LZH_64K,      /* -lh7- and ARJ's methods 1 to 3 */
    LZH_LARGE,    /* -lhx- */
    LZH_LZS,      /* -lzs- */
    LZH_LZ5,      /* -lz5- */
    LZH_FASTEST   /* ARJ's method 4 */
};

/* Appends `out_len` bytes, or what the limit lets in. False: the data ends early, or is damaged. */
bool lzh_unpack(enum lzh_method method, const uint8_t *in, size_t len, uint64_t out_len,
                struct unpack_buffer *buffer);

#endif
