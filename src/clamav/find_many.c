/* SPDX-License-Identifier: MIT */
#include "clamav/find_many.h"

/* Frequent bytes score lower: zeros and fillers, then text. */
static unsigned rarity(uint8_t byte)
{
    if (byte == 0 || byte == 0xFF || byte == ' ')
        return 0;
    return byte >= 'a' && byte <= 'z' ? 2 : 3;
}

/* Where four bytes of a literal are the rarest. */
static size_t choose_bytes(const struct clam_needle *needle)
{
    size_t best = 0;
    unsigned best_sum = 0;

    for (size_t at = 0; at + FIND_FOURS_BYTES <= needle->len; at++) {
        unsigned sum = 1;

        for (size_t i = 0; i < FIND_FOURS_BYTES; i++)
            sum += rarity(needle->key[at + i]);
        if (sum > best_sum) {
            best = at;
            best_sum = sum;
        }
    }
    return best;
}

static bool is_letter(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26;
}

bool clam_many_add(struct clam_many *many, const struct clam_needle *needle)
{
    uint8_t fold[FIND_FOURS_BYTES];

    if (needle->len < FIND_FOURS_BYTES)
        return false;
    const size_t at = choose_bytes(needle);

    for (size_t i = 0; i < FIND_FOURS_BYTES; i++)
        fold[i] = needle->nocase && is_letter(needle->key[at + i]) ? 0x20 : 0;
    many->at[many->fours.n] = (uint32_t)at;
    find_fours_add(&many->fours, needle->key + at, fold);
    return true;
}
