/* SPDX-License-Identifier: MIT */
/* Canonical codes of variable length, decoded bit by bit: for rare formats. */
#ifndef UNPACK_CANONICAL_H
#define UNPACK_CANONICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CANONICAL_SYMBOLS = 510, CANONICAL_BITS = 16 };

struct canonical_reader {
    const uint8_t *in;
    size_t len, at;
    uint32_t bits;
    unsigned n_bits;
    bool highest_first; /* bit of a byte; else the lowest is */
    bool ended;         /* more bits were asked for than there are */
};

struct canonical {
    uint16_t n[CANONICAL_BITS + 1]; /* codes of each length */
    uint16_t symbols[CANONICAL_SYMBOLS];
    bool inverted; /* each bit of a code */
    int only;      /* the one symbol, which has no bits; -1: there are more */
};

/* Takes up to 24 bits; zeros behind the end. */
uint32_t canonical_bits(struct canonical_reader *reader, unsigned n);

/* Makes the code of n symbols with these lengths, 0 for none. False: there is no such code. */
bool canonical_make(struct canonical *code, const uint8_t *lengths, unsigned n);

/* -1: no code. */
int canonical_symbol(struct canonical_reader *reader, const struct canonical *code);

#endif
