/* SPDX-License-Identifier: MIT */
/* Finds candidates of several literals in one pass over a text. It compares four bytes of each
 * literal by their nibbles. Two table look-ups a byte serve all literals (the idea of Hyperscan's
 * Teddy, Wang et al., NSDI 2019, section 4.2). */
#ifndef CLAMAV_FIND_MANY_H
#define CLAMAV_FIND_MANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clamav/find.h"

enum {
    CLAM_MANY_MAX = 64, /* literals */
    CLAM_MANY_BYTES = 4,
    CLAM_MANY_BUCKETS = 8, /* literals in one bucket are taken for one another by the tables */
    CLAM_MANY_CHUNK = 4096 /* places that one call checks */
};

struct clam_many {
    uint8_t low[CLAM_MANY_BYTES][16]; /* by the nibble of byte i: the buckets that have it there */
    uint8_t high[CLAM_MANY_BYTES][16];
    size_t n;
    uint32_t value[CLAM_MANY_MAX], fold[CLAM_MANY_MAX]; /* the four bytes, as clam_needle's */
    uint32_t at[CLAM_MANY_MAX];                         /* where they lie in the literal */
};

/* Adds a literal to a struct that was zero at first; they are numbered from 0. False: it is shorter
 * than four bytes. At most CLAM_MANY_MAX. */
bool clam_many_add(struct clam_many *many, const struct clam_needle *needle);

/* Whether the bytes of literal i lie at this place. */
static inline bool clam_many_is(const struct clam_many *many, size_t i, const uint8_t *place)
{
    uint32_t bytes;

    memcpy(&bytes, place, sizeof bytes);
    return (bytes | many->fold[i]) == many->value[i];
}

/* Writes those of the places [0, n) of the text where the bytes of some literal may lie, ascending,
 * and returns how many there are. n is at most CLAM_MANY_CHUNK, all of text[0 .. n + 3) may be
 * read, and `places` has room for n. */
typedef size_t clam_many_fn(const struct clam_many *many, const uint8_t *text, size_t n,
                            uint16_t *places);

clam_many_fn clam_many_scalar, clam_many_avx2, clam_many_avx512;

/* The best of them on this machine. */
clam_many_fn *clam_many_choose(void);

#endif
