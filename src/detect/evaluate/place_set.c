/* SPDX-License-Identifier: MIT */
#include "place_set.h"

#include <stddef.h>

#include "rule_scan.h"

/* ---- a word ---------------------------------------------------------------------------------- */

/* The bits below n, 0 to 64. */
static uint64_t below(uint64_t n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Each bit, and the n above it. */
static uint64_t word_up(uint64_t word, uint64_t n)
{
    uint64_t left = n;

    if (n >= 63)
        return -(word & -word);
    for (uint64_t full = 1; left != 0; full *= 2) {
        const uint64_t by = left < full ? left : full;

        word |= word << by;
        left -= by;
    }
    return word;
}

/* Each bit, and the n below it. */
static uint64_t word_down(uint64_t word, uint64_t n)
{
    uint64_t left = n;

    if (n >= 63)
        return word != 0 ? UINT64_MAX >> __builtin_clzll(word) : 0;
    for (uint64_t full = 1; left != 0; full *= 2) {
        const uint64_t by = left < full ? left : full;

        word |= word >> by;
        left -= by;
    }
    return word;
}

/* ---- a set ----------------------------------------------------------------------------------- */

/* Removes what is behind len. */
static void cut(uint64_t *set, uint32_t len)
{
    set[len / 64] &= below(len % 64 + 1);
}

/* Adds the n places behind each. */
static void fill_up(uint64_t *set, uint32_t len, uint64_t n)
{
    uint64_t until = 0; /* places before are full, as far as the words before have to do with it */

    for (size_t i = 0; i < RULE_MARKS(len); i++) {
        const uint64_t word = set[i], base = 64 * (uint64_t)i;

        set[i] = word_up(word, n) | (until > base ? below(until - base) : 0);
        if (word != 0)
            until = base + 64 - (uint64_t)__builtin_clzll(word) + n;
    }
    cut(set, len);
}

/* Adds the n places before each. */
static void fill_down(uint64_t *set, uint32_t len, uint64_t n)
{
    uint64_t from = UINT64_MAX; /* places from there on are full, up to the words behind */

    for (size_t i = RULE_MARKS(len); i-- > 0;) {
        const uint64_t word = set[i], base = 64 * (uint64_t)i;

        set[i] =
            word_down(word, n) | (from < base + 64 ? ~below(from > base ? from - base : 0) : 0);
        if (word != 0) {
            const uint64_t first = base + (uint64_t)__builtin_ctzll(word);

            from = first > n ? first - n : 0;
        }
    }
}

static void move_up(uint64_t *set, uint32_t len, uint64_t n)
{
    const size_t by = n / 64;

    for (size_t i = RULE_MARKS(len); i-- > 0;) {
        const uint64_t high = i >= by ? set[i - by] << n % 64 : 0;
        const uint64_t low = i > by && n % 64 != 0 ? set[i - by - 1] >> (64 - n % 64) : 0;

        set[i] = high | low;
    }
    cut(set, len);
}

static void move_down(uint64_t *set, uint32_t len, uint64_t n)
{
    const size_t n_words = RULE_MARKS(len);
    const uint64_t by = n / 64;

    for (size_t i = 0; i < n_words; i++) {
        const uint64_t low = by < n_words - i ? set[i + by] >> n % 64 : 0;
        const uint64_t high =
            by < n_words - i - 1 && n % 64 != 0 ? set[i + by + 1] << (64 - n % 64) : 0;

        set[i] = low | high;
    }
}

/* No place on the way is outside of 0 to len, unless all behind it are. */
void place_set_spread(uint64_t *set, uint32_t len, int64_t low, int64_t high)
{
    if (low >= 0) {
        move_up(set, len, (uint64_t)low);
        fill_up(set, len, (uint64_t)(high - low));
    } else if (high >= 0) {
        fill_down(set, len, (uint64_t)-low);
        fill_up(set, len, (uint64_t)high);
    } else {
        fill_down(set, len, (uint64_t)(high - low));
        move_down(set, len, (uint64_t)-high);
    }
}

uint32_t place_set_keep(uint64_t *set, uint32_t len, const uint64_t *other)
{
    uint32_t n = 0;

    for (size_t i = 0; i < RULE_MARKS(len); i++)
        n += (uint32_t)__builtin_popcountll(set[i] &= other[i]);
    return n;
}

uint32_t place_set_remove(uint64_t *set, uint32_t len, const uint64_t *other)
{
    uint32_t n = 0;

    for (size_t i = 0; i < RULE_MARKS(len); i++)
        n += (uint32_t)__builtin_popcountll(set[i] &= ~other[i]);
    return n;
}
