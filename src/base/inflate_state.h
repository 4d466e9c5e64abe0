/* SPDX-License-Identifier: MIT */
/* What an inflater keeps between two calls. */
#ifndef BASE_INFLATE_STATE_H
#define BASE_INFLATE_STATE_H

#include <stdbool.h>

#include "base/inflate.h"
#include "base/inflate_code.h"

/* What comes next. */
enum inflate_state {
    AT_HEAD,           /* of zlib's format, or of gzip */
    AT_DICTIONARY,     /* the checksum of one */
    AT_GZIP_FLAGS,     /* and the method */
    AT_GZIP_TIME,      /* and the system */
    AT_GZIP_EXTRA_LEN, /* parts that flags announce, in their order */
    AT_GZIP_EXTRA,
    AT_GZIP_NAME,
    AT_GZIP_COMMENT,
    AT_GZIP_HEAD_SUM,
    AT_BLOCK,        /* the kind of a block */
    AT_STORED_HEAD,  /* the length of one that is stored */
    AT_STORED,       /* its bytes */
    AT_CODE_HEAD,    /* how many lengths come, */
    AT_CODE_LENGTHS, /* the lengths of their code, */
    AT_CODES,        /* the lengths of a block's codes, in that code */
    AT_SYMBOLS,      /* a block's literals and matches */
    AT_DISTANCE,     /* of a match whose length is there */
    AT_SUM,          /* of the bytes that came out */
    AT_LEN,          /* the number of those bytes */
    AT_END,
    AT_DAMAGE
};

/* Bits that were taken from the input, the first in the lowest place. */
struct bits {
    uint64_t held; /* zeros behind those that are there */
    unsigned n;
};

struct inflate {
    struct bits bits;
    enum inflate_state state;
    enum inflate_format format;
    bool is_last;
    uint8_t flags;     /* of gzip */
    uint32_t left;     /* bytes of a stored block, of a match, or of a head's part */
    uint32_t distance; /* of that match */
    uint32_t sum;      /* of the bytes that came out, or of gzip's head */
    uint32_t total;    /* bytes that came out, modulo 2^32 */
    uint16_t n_symbols, n_distances, n_code_lengths, n_lengths; /* those that are there last */
    uint8_t lengths[INFLATE_SYMBOLS + INFLATE_DISTANCES];
    uint32_t symbols[INFLATE_SYMBOL_ENTRIES]; /* the code of lengths before */
    uint32_t distances[INFLATE_DISTANCE_ENTRIES];
};

/* The input of a call. */
struct input {
    const uint8_t *at, *end;
};

/* Takes bytes until 56 bits or more are there, or no byte is left. */
static inline void bits_refill(struct bits *bits, struct input *in)
{
    for (; bits->n < 56 && in->at < in->end; bits->n += 8)
        bits->held |= (uint64_t)*in->at++ << bits->n;
}

/* Up to 56 bits. False: more must come. */
static inline bool bits_has(struct bits *bits, struct input *in, unsigned n)
{
    if (bits->n < n)
        bits_refill(bits, in);
    return bits->n >= n;
}

static inline void bits_drop(struct bits *bits, unsigned n)
{
    bits->held >>= n;
    bits->n -= n;
}

static inline uint32_t bits_take(struct bits *bits, unsigned n)
{
    const uint32_t taken = inflate_low_bits(bits->held, n);

    bits_drop(bits, n);
    return taken;
}

/* The rest of a byte goes. */
static inline void bits_align(struct bits *bits)
{
    bits_drop(bits, bits->n % 8);
}

void inflate_begin(struct inflate *inflate, enum inflate_format format);

/* ---- frames ---------------------------------------------------------------------------------- */

/* What a stream begins with. */
enum inflate_state inflate_first(enum inflate_format format);

/* Takes a part of a head: a state before AT_BLOCK. False: more must come. */
bool inflate_take_head(struct inflate *inflate, struct input *in);

/* Sums bytes that came out. */
void inflate_add_sum(struct inflate *inflate, const uint8_t *bytes, size_t len);

/* Compares the sums, if they are there. */
void inflate_take_sums(struct inflate *inflate, struct input *in);

#endif
