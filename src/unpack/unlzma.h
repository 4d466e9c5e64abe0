/* SPDX-License-Identifier: MIT */
/* LZMA and LZMA2, unpacked into memory that keeps all that came before: no dictionary is copied,
 * and no jump depends on the bits of trees, which nobody can predict. */
#ifndef UNPACK_UNLZMA_H
#define UNPACK_UNLZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LZMA_STATES = 12,
    LZMA_PLACES = 16, /* of a byte, by its lowest bits */
    LZMA_LITERAL_BITS_MAX = 4,
    LZMA_LITERAL = 0x300, /* odds of a literal, for each that its context's bits tell apart */
};

/* The range decoder. Bytes behind the end are zeros, and are counted. */
struct lzma_range {
    uint32_t width, code;
    const uint8_t *in;
    size_t at, len;
};

struct lzma_lengths {
    uint16_t is_long, is_longest;
    uint16_t low[LZMA_PLACES][8], middle[LZMA_PLACES][8], high[256];
};

/* Odds of bits that are 0, in 2048. */
struct lzma_odds {
    uint16_t is_match[LZMA_STATES][LZMA_PLACES];
    uint16_t is_repeated[LZMA_STATES], is_older[LZMA_STATES], is_third[LZMA_STATES],
        is_fourth[LZMA_STATES];
    uint16_t is_longer[LZMA_STATES][LZMA_PLACES];
    uint16_t slots[4][64], distances[128], lowest[16];
    struct lzma_lengths match, repeated;
    uint16_t literals[LZMA_LITERAL << LZMA_LITERAL_BITS_MAX];
};

struct unlzma {
    struct lzma_range range;
    struct lzma_odds odds;
    unsigned context_bits, context_mask, place_mask; /* properties */
    uint32_t state, last[4];                         /* distances of the last matches, less one */
    size_t match_left; /* bytes of a match for which there was no room */
    size_t begin;      /* of the dictionary in the output */
    uint32_t dictionary_len;
    bool ended; /* by a mark, or damaged */
};

/* Takes the byte that holds the properties of LZMA1, or of a chunk of LZMA2. False: it is wrong, or
 * needs more odds than there is room for. */
bool unlzma_set_properties(struct unlzma *lzma, uint8_t properties);

/* Forgets odds and distances. */
void unlzma_reset(struct unlzma *lzma);

/* Gives it a packed stream, or a chunk. False: it does not begin as one. */
bool unlzma_begin(struct unlzma *lzma, const uint8_t *in, size_t len);

/* Unpacks to `out` from `at` up to `end`. Returns where it ended, which is before where the stream
 * is damaged, or its mark came. */
size_t unlzma_run(struct unlzma *lzma, uint8_t *out, size_t at, size_t end);

/* Whether the packed bytes end here. */
bool unlzma_is_whole(struct unlzma *lzma);

/* LZMA2: chunks, packed or not. */
struct unlzma2 {
    struct unlzma lzma;
    const uint8_t *in;
    size_t at, len;
    size_t left; /* bytes of the present chunk */
    bool is_packed, needs_properties, needs_dictionary;
};

void unlzma2_begin(struct unlzma2 *lzma2, const uint8_t *in, size_t len, uint32_t dictionary_len);

/* Reads the head of the next chunk, where the present one is over and the output has `at` bytes.
 * True: lzma2->left is its length, 0 at the end of all. False: it is wrong, and left is 0. */
bool unlzma2_next(struct unlzma2 *lzma2, size_t at);

/* Unpacks of the present chunk what fits. Returns as unlzma_run. */
size_t unlzma2_run(struct unlzma2 *lzma2, uint8_t *out, size_t at, size_t end);

#endif
