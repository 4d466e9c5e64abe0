/* SPDX-License-Identifier: MIT */
/* Sixteen places are compared at once with the first byte and with the last. Where both are there,
 * the bytes between are, too, in most traffic. */
#include "content_find.h"

#include <emmintrin.h>
#include <string.h>

enum { PLACES = 16 };

static uint64_t load8(const uint8_t *from)
{
    uint64_t bytes;

    memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

/* Eight bytes in lower case. The lower seven bits of a byte plus 0x3F set its bit 7 from 'A' on,
 * and plus 0x25 from behind 'Z' on. Bytes from 0x80 on are no letters. */
static uint64_t lower8(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low = bytes & (0x7F * ones);
    const uint64_t upper = (low + 0x3F * ones) & ~(low + 0x25 * ones) & ~bytes & (0x80 * ones);

    return bytes | upper >> 2;
}

static uint8_t lower(uint8_t byte)
{
    return (uint8_t)(byte | (byte >= 'A' && byte <= 'Z') << 5);
}

static bool equals_8(const uint8_t *text, const uint8_t *bytes, bool nocase)
{
    const uint64_t read = load8(text);

    return (nocase ? lower8(read) : read) == load8(bytes);
}

bool content_is_at(const struct content_sought *sought, const uint8_t *text)
{
    const uint32_t len = sought->len;

    if (len < 8) {
        for (uint32_t i = 0; i < len; i++)
            if ((sought->nocase ? lower(text[i]) : text[i]) != sought->bytes[i])
                return false;
        return true;
    }
    for (uint32_t i = 0; i + 8 < len; i += 8)
        if (!equals_8(text + i, sought->bytes + i, sought->nocase))
            return false;
    return equals_8(text + len - 8, sought->bytes + len - 8, sought->nocase);
}

/* A byte as vectors are compared with it: a letter whose case does not count has its bit set. */
struct wanted {
    __m128i byte, bit;
};

static struct wanted wanted_of(uint8_t byte, bool nocase)
{
    const bool is_letter = nocase && byte >= 'a' && byte <= 'z';

    return (struct wanted){_mm_set1_epi8((char)byte), _mm_set1_epi8(is_letter ? 0x20 : 0)};
}

static __m128i equal(const struct wanted *wanted, const uint8_t *text)
{
    const __m128i read = _mm_loadu_si128((const __m128i *)text);

    return _mm_cmpeq_epi8(_mm_or_si128(read, wanted->bit), wanted->byte);
}

/* The first of 16 places where the bytes begin, or NULL. */
static const uint8_t *find_in_16(const struct content_sought *sought, const uint8_t *text,
                                 const struct wanted *first, const struct wanted *last)
{
    const __m128i both = _mm_and_si128(equal(first, text), equal(last, text + sought->len - 1));

    for (uint32_t left = (uint32_t)_mm_movemask_epi8(both); left != 0; left &= left - 1) {
        const uint8_t *const at = text + __builtin_ctz(left);

        if (content_is_at(sought, at))
            return at;
    }
    return NULL;
}

const uint8_t *content_find(const struct content_sought *sought, const uint8_t *text, size_t n)
{
    const struct wanted first = wanted_of(sought->bytes[0], sought->nocase);
    const struct wanted last = wanted_of(sought->bytes[sought->len - 1], sought->nocase);
    const size_t n_places = n < sought->len ? 0 : n - sought->len + 1;
    const uint8_t *found = NULL;

    if (n_places < PLACES) {
        for (size_t at = 0; at < n_places; at++)
            if (content_is_at(sought, text + at))
                return text + at;
        return NULL;
    }
    for (size_t at = 0; found == NULL && at + PLACES <= n_places; at += PLACES)
        found = find_in_16(sought, text + at, &first, &last);
    if (found == NULL && n_places % PLACES != 0)
        found = find_in_16(sought, text + n_places - PLACES, &first, &last);
    return found;
}
