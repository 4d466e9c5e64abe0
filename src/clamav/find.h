/* SPDX-License-Identifier: MIT */
/* The first place of a literal in a text. Four of its bytes, spread over it, are compared at many
 * places at once; where all four stand the rest is. */
#ifndef CLAMAV_FIND_H
#define CLAMAV_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CLAM_PROBES = 4 };

/* A literal to search for: `len` bytes, at least one. A byte of the text is compared as (byte |
 * fold) == value. `fold` is 0x20 for letters whose case does not count; no other byte becomes a
 * lower-case letter by it. */
struct clam_needle {
    const uint8_t *key;
    size_t len;
    bool nocase; /* ASCII */
    size_t at[CLAM_PROBES];
    uint8_t fold[CLAM_PROBES], value[CLAM_PROBES];
};

void clam_needle_init(struct clam_needle *needle, const uint8_t *key, size_t len, bool nocase);

/* The first of the places [0, n) of the text where the literal begins, or n. All of
 * text[0 .. n + len - 1) may be read. */
typedef size_t clam_find_fn(const struct clam_needle *needle, const uint8_t *text, size_t n);

clam_find_fn clam_find_scalar, clam_find_avx2, clam_find_avx512;

/* The best of them on this machine. */
clam_find_fn *clam_find_choose(void);

bool clam_needle_equals(const struct clam_needle *needle, const uint8_t *text);

#endif
