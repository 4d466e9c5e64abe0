/* SPDX-License-Identifier: MIT */
/* Sixteen places are compared at once with the first byte and with the last. Where both are there,
 * the bytes between are, too, in most traffic. */
#include "content_find.h"

#include <emmintrin.h>
#include <string.h>

#include "base/letters.h"

enum { PLACES = 16 };
/* Of 16 places, of one more byte that is compared there, and of a place that is found. */
enum { EFFORT_OF_BLOCK = 5, EFFORT_OF_BYTE = 2, EFFORT_OF_PLACE = 6 };

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
            if ((sought->nocase ? letter_lower(text[i]) : text[i]) != sought->bytes[i])
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

/* Of 16 places, those where bytes [i, end) stand. `wanted` is the byte before, as it often repeats.
 */
static uint32_t compare(const struct content_sought *sought, const uint8_t *text, uint32_t i,
                        uint32_t end, struct wanted *wanted)
{
    __m128i places = _mm_set1_epi8(-1);

    for (; i < end; i++) {
        if (sought->bytes[i] != sought->bytes[i - 1])
            *wanted = wanted_of(sought->bytes[i], sought->nocase);
        places = _mm_and_si128(places, equal(wanted, text + i));
    }
    return (uint32_t)_mm_movemask_epi8(places);
}

static bool are_several(uint32_t places)
{
    return (places & (places - 1)) != 0;
}

/* Of some of 16 places, those where the bytes begin. One is compared alone, as in most traffic.
 * Several are compared at once: runs of equal bytes may begin at each. */
static uint32_t narrowed(struct content_search *search, const uint8_t *text, uint32_t places)
{
    enum { STEP = 8 };
    const struct content_sought *sought = &search->sought;
    const uint32_t last = sought->len - 1;
    struct wanted wanted = wanted_of(sought->bytes[0], sought->nocase);
    uint32_t i = 1;

    for (; i < last && are_several(places); i += STEP) {
        places &= compare(sought, text, i, i + STEP < last ? i + STEP : last, &wanted);
        search->effort += EFFORT_OF_BYTE * STEP;
    }
    if (i < last && places != 0) {
        search->effort += 1 + sought->len / 8;
        return content_is_at(sought, text + __builtin_ctz(places)) ? places : 0;
    }
    return places;
}

/* Of 16 places, those with the first byte and the last as vectors: bytes of ones. */
static __m128i both(const struct wanted *first, const struct wanted *last, const uint8_t *text,
                    uint32_t span)
{
    return _mm_and_si128(equal(first, text), equal(last, text + span));
}

/* The first block from `from` on that may have some, or may be the last. Four are passed over at
 * once, as long as the search may. The effort is a local: text could alias that of the search. */
static size_t pass_over(struct content_search *search, const struct wanted *first,
                        const struct wanted *last, size_t from)
{
    enum { STEP = 4 * PLACES, EFFORT_OF_STEP = 4 * EFFORT_OF_BLOCK };
    const uint8_t *const text = search->text;
    const size_t end = search->n_places - PLACES;
    const uint32_t span = search->sought.len - 1;
    uint64_t left = search->most - search->effort;

    for (; from + STEP <= end && left >= EFFORT_OF_STEP; from += STEP) {
        const __m128i a = both(first, last, text + from, span);
        const __m128i b = both(first, last, text + from + PLACES, span);
        const __m128i c = both(first, last, text + from + 2 * PLACES, span);
        const __m128i d = both(first, last, text + from + 3 * PLACES, span);

        if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) != 0) {
            const uint32_t ab = (uint32_t)_mm_movemask_epi8(_mm_or_si128(a, b));
            const uint32_t empty =
                ab == 0 ? 2 + (_mm_movemask_epi8(c) == 0) : (uint32_t)(_mm_movemask_epi8(a) == 0);

            from += (size_t)empty * PLACES;
            left -= (uint64_t)empty * EFFORT_OF_BLOCK;
            break;
        }
        left -= EFFORT_OF_STEP;
    }
    search->effort = search->most - left;
    return from;
}

/* Looks for the next block that has some, at `from` or later. There are 16 places at least. */
static void find_block(struct content_search *search, size_t from)
{
    const struct content_sought *sought = &search->sought;
    const struct wanted first = wanted_of(sought->bytes[0], sought->nocase);
    const struct wanted last = wanted_of(sought->bytes[sought->len - 1], sought->nocase);
    const size_t last_block = search->n_places - PLACES;
    uint32_t places;

    for (;; from += PLACES) {
        from = pass_over(search, &first, &last, from < last_block ? from : last_block);

        const uint8_t *const text = search->text + from;

        places = (uint32_t)_mm_movemask_epi8(both(&first, &last, text, sought->len - 1));
        search->effort += EFFORT_OF_BLOCK;
        if (places != 0)
            places = narrowed(search, text, places);
        if (places != 0 || from == last_block || search->effort > search->most)
            break;
    }
    search->block = from;
    search->n_block = PLACES;
    search->found = places;
}

/* The same where there are fewer. */
static void find_few(struct content_search *search, size_t from)
{
    search->block = from;
    search->n_block = search->n_places - from;
    search->found = 0;
    search->effort += 2 * search->n_block;
    for (size_t i = 0; i < search->n_block; i++)
        search->found |= (uint32_t)content_is_at(&search->sought, search->text + from + i) << i;
}

void content_search_begin(struct content_search *search, const struct content_sought *sought,
                          const uint8_t *text, size_t n, uint64_t most)
{
    *search = (struct content_search){.sought = *sought, .text = text, .most = most};
    search->n_places = n < sought->len ? 0 : n - sought->len + 1;
}

bool content_search_stopped(const struct content_search *search)
{
    return search->effort > search->most;
}

size_t content_search_next(struct content_search *search, size_t from)
{
    while (from < search->n_places && !content_search_stopped(search)) {
        if (from - search->block < search->n_block) {
            const uint32_t left = search->found >> (from - search->block);

            if (left != 0) {
                search->effort += EFFORT_OF_PLACE;
                return from + (size_t)__builtin_ctz(left);
            }
            from = search->block + search->n_block;
        } else if (search->n_places < PLACES) {
            find_few(search, from);
        } else {
            find_block(search, from);
            from = from > search->block ? from : search->block;
        }
    }
    return CONTENT_NOWHERE;
}

void content_search_mark(struct content_search *search, size_t from, uint64_t *places)
{
    while (from < search->n_places && !content_search_stopped(search)) {
        if (search->n_places < PLACES)
            find_few(search, from);
        else
            find_block(search, from);

        const size_t word = search->block / 64, bit = search->block % 64;
        const size_t before = from > search->block ? from - search->block : 0;
        const uint64_t found = (uint64_t)search->found >> before << before;

        places[word] |= found << bit;
        if (bit > 64 - PLACES && found >> (64 - bit) != 0)
            places[word + 1] |= found >> (64 - bit);
        from = search->block + search->n_block;
    }
}
