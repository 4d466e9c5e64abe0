/* SPDX-License-Identifier: MIT */
/* Finds groups of four bytes in one pass over a text. It compares their bytes by nibbles: two table
 * look-ups a byte serve all groups (the idea of Hyperscan's Teddy, Wang et al., NSDI 2019, section
 * 4.2). */
#ifndef BASE_FIND_FOURS_H
#define BASE_FIND_FOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    FIND_FOURS_MAX = 64, /* groups */
    FIND_FOURS_BYTES = 4,
    FIND_FOURS_BUCKETS = 8, /* groups in one bucket are taken for one another by the tables */
    FIND_FOURS_CHUNK = 4096 /* places that one call checks */
};

/* Zeroed at first. A byte of the text is compared as (byte | fold) == value. */
struct find_fours {
    uint8_t low[FIND_FOURS_BYTES][16]; /* by the nibble of byte i: the buckets that have it there */
    uint8_t high[FIND_FOURS_BYTES][16];
    size_t n;
    uint32_t value[FIND_FOURS_MAX], fold[FIND_FOURS_MAX]; /* byte i from bit 8 * i on */
};

/* Adds a group; they are numbered from 0. `fold` is 0, 0x20 for a letter of either case, whose bit
 * the byte has, or 0xFF for any byte. At most FIND_FOURS_MAX. */
void find_fours_add(struct find_fours *fours, const uint8_t bytes[FIND_FOURS_BYTES],
                    const uint8_t fold[FIND_FOURS_BYTES]);

/* Whether group i lies at this place. */
static inline bool find_fours_is(const struct find_fours *fours, size_t i, const uint8_t *place)
{
    uint32_t bytes;

    memcpy(&bytes, place, sizeof bytes);
    return (bytes | fours->fold[i]) == fours->value[i];
}

/* Those that lie at this place, a bit each. The tables leave few to compare. */
static inline uint64_t find_fours_which(const struct find_fours *fours, const uint8_t *place)
{
    uint8_t buckets = 0xFF;
    uint64_t which = 0;

    for (size_t i = 0; i < FIND_FOURS_BYTES; i++)
        buckets &= fours->low[i][place[i] & 15] & fours->high[i][place[i] >> 4];
    /* Bit i says in which bucket group i is. */
    for (uint64_t may = buckets * UINT64_C(0x0101010101010101); may != 0; may &= may - 1) {
        const size_t i = (size_t)__builtin_ctzll(may);

        if (i >= fours->n)
            break;
        which |= (uint64_t)find_fours_is(fours, i, place) << i;
    }
    return which;
}

/* Writes those of the places [0, n) of the text where some group may lie, ascending, and returns
 * how many there are. n is at most FIND_FOURS_CHUNK, all of text[0 .. n + 3) may be read, and
 * `places` has room for n. */
typedef size_t find_fours_fn(const struct find_fours *fours, const uint8_t *text, size_t n,
                             uint16_t *places);

find_fours_fn find_fours_scalar, find_fours_avx2, find_fours_avx512;

/* The best of them on this machine. */
find_fours_fn *find_fours_choose(void);

#endif
