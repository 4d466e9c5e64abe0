/* SPDX-License-Identifier: MIT */
/* The codes of a block of bzip2: lengths of runs, and places in a list of bytes, of which the last
 * one that came is the first. */
#ifndef UNPACK_BUNZIP2_CODE_H
#define UNPACK_BUNZIP2_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BZIP2_TABLES_MAX = 6,
    BZIP2_SYMBOLS_MAX = 258,
    BZIP2_BITS_MAX = 20,
    BZIP2_BITS_NEAR = 10, /* of codes that a table has */
    BZIP2_SELECTORS_MAX = (1 << 15) - 1
};

struct bzip2_bits {
    const uint8_t *at, *end;
    uint64_t bits; /* the next one is the highest */
    unsigned n;
    bool ended; /* more were asked for than there are */
};

/* Of codes by their length, where a code of fewer bits is followed by zeros. */
struct bzip2_table {
    uint16_t near[1 << BZIP2_BITS_NEAR]; /* symbol and length; 0: longer */
    uint32_t end[BZIP2_BITS_MAX + 1];    /* behind the codes of a length, in BZIP2_BITS_MAX bits */
    uint32_t first[BZIP2_BITS_MAX + 1];  /* the first code of a length, in its bits, */
    uint16_t at[BZIP2_BITS_MAX + 1];     /* and its place in the list */
    uint16_t symbols[BZIP2_SYMBOLS_MAX];
};

struct bzip2_code {
    struct bzip2_bits bits;
    uint8_t list[256];
    unsigned n_symbols, n_tables, n_selectors;
    uint8_t selectors[BZIP2_SELECTORS_MAX];
    struct bzip2_table tables[BZIP2_TABLES_MAX];
};

/* Up to 32 bits, zeros behind the end. */
uint32_t bzip2_take(struct bzip2_bits *bits, unsigned n);

/* Bytes from `in` on that were taken, the last one maybe not whole. */
size_t bzip2_used(const struct bzip2_bits *bits, const uint8_t *in);

/* Reads a block behind its mark: n bytes of at most len_max, each in a row. False: it has a fault,
 * or is randomised. */
bool bzip2_code_block(struct bzip2_code *code, uint32_t *rows, uint32_t len_max, uint32_t *n,
                      uint32_t *origin, uint32_t *sum);

#endif
