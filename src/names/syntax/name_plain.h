/* SPDX-License-Identifier: MIT */
/* Plain names in a text of lines: NDN names of up to 63 bytes whose text is canonical, as nearly
 * all are. All bytes of the text are looked at once, 64 at a time. */
#ifndef NAMES_NAME_PLAIN_H
#define NAMES_NAME_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NAME_MARKS_LEN = 64,                   /* bytes of a text that an entry has marks of */
    NAME_PLAIN_SLACK = 2 * NAME_MARKS_LEN, /* bytes behind a text that are read, not trusted */
    NAME_PLAIN_ROOM = 2 * NAME_MARKS_LEN   /* bytes that a name may take, and is written over */
};

/* A bit for each byte of 64. */
struct name_marks {
    uint64_t ends; /* of lines: '\n' */
    uint64_t slashes;
    uint64_t others; /* those that no plain name has in this place */
};

/* The entries of a text. The last one is of bytes behind it. */
#define NAME_N_MARKS(text_len) ((text_len) / NAME_MARKS_LEN + 2)

void name_mark(const char *text, size_t len, struct name_marks *marks);

struct name_plain {
    uint32_t len;     /* bytes of its text */
    uint64_t slashes; /* a bit for each */
};

/* 64 marks from the shift-th on. */
static inline uint64_t name_marks_from(uint64_t low, uint64_t high, uint32_t shift)
{
    return low >> shift | high << 1 << (63 - shift);
}

/* Whether the line at `at` is a plain name. It may end behind the text. */
static inline bool name_plain_at(const struct name_marks *marks, size_t at,
                                 struct name_plain *plain)
{
    const struct name_marks *const low = &marks[at / NAME_MARKS_LEN], *const high = low + 1;
    const uint32_t shift = at % NAME_MARKS_LEN;
    const uint64_t ends = name_marks_from(low->ends, high->ends, shift);
    const uint64_t before = (ends - 1) & ~ends; /* all of them where the line is longer */

    plain->slashes = name_marks_from(low->slashes, high->slashes, shift) & before;
    plain->len = ends != 0 ? (uint32_t)__builtin_ctzll(ends) : NAME_MARKS_LEN;
    const uint64_t others = name_marks_from(low->others, high->others, shift) & before;
    return ends != 0 && others == 0 && (plain->slashes & 1) != 0;
}

/* Writes the name to `to`, NAME_PLAIN_ROOM bytes, and its length to *len. Returns a bit for the
 * place of each component's first byte, or 0: the name is longer than 64 bytes, or the root. */
uint64_t name_plain_read(uint8_t *to, uint32_t *len, const char *text,
                         const struct name_plain *plain);

/* The bytes of a plain name's text that its first prefix_len bytes are, 1 to 64. `heads` is what
 * name_plain_read returned, not 0. */
static inline size_t name_plain_prefix(uint64_t heads, uint32_t prefix_len)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t n = heads & UINT64_MAX >> (64 - prefix_len);

    /* Their number: the baseline of the architecture has no instruction for it. */
    n -= n >> 1 & each * 0x55;
    n = (n & each * 0x33) + (n >> 2 & each * 0x33);
    n = (n + (n >> 4)) & each * 0x0F;
    return prefix_len - (size_t)(n * each >> 56);
}

#endif
