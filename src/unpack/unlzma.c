/* SPDX-License-Identifier: MIT */
#include "unpack/unlzma.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    WIDTH_MIN = 1 << 24,
    ODDS_BITS = 11,
    ODDS = 1 << ODDS_BITS,
    MOVE = 5,
    MATCH_LEN_MIN = 2,
    SLOTS_FULL = 14, /* the first slot whose distances have bits without odds */
    LOWEST_BITS = 4,
    COPY = 16 /* bytes at a time */
};

/* ---- bits ------------------------------------------------------------------------------------ */

INLINE void widen(struct lzma_range *range)
{
    if (range->width >= WIDTH_MIN)
        return;
    range->width <<= 8;
    range->code = range->code << 8 | (range->at < range->len ? range->in[range->at] : 0);
    range->at++;
}

/* A bit that decides what comes next. */
INLINE bool take_choice(struct lzma_range *range, uint16_t *odds)
{
    widen(range);
    const uint32_t bound = (range->width >> ODDS_BITS) * *odds;
    if (range->code < bound) {
        range->width = bound;
        *odds = (uint16_t)(*odds + ((ODDS - *odds) >> MOVE));
        return false;
    }
    range->width -= bound;
    range->code -= bound;
    *odds = (uint16_t)(*odds - (*odds >> MOVE));
    return true;
}

/* A bit of a number, without a jump. */
INLINE uint32_t take_bit(struct lzma_range *range, uint16_t *odds)
{
    widen(range);
    const uint32_t is = *odds, bound = (range->width >> ODDS_BITS) * is;
    const uint32_t zero = (uint32_t)(((uint64_t)range->code - bound) >> 32); /* all ones, or none */
    const uint32_t rest = range->width - bound, for_one = is - (is >> MOVE),
                   for_zero = is + ((ODDS - is) >> MOVE);

    range->width = rest ^ ((rest ^ bound) & zero);
    range->code -= bound & ~zero;
    *odds = (uint16_t)(for_one ^ ((for_one ^ for_zero) & zero));
    return zero + 1;
}

/* The highest bit first. */
INLINE uint32_t take_number(struct lzma_range *range, uint16_t *odds, int bits)
{
    uint32_t node = 1;

#pragma GCC unroll 8
    for (int i = 0; i < bits; i++)
        node = node << 1 | take_bit(range, &odds[node]);
    return node - (1u << bits);
}

/* The lowest bit first. */
INLINE uint32_t take_reversed(struct lzma_range *range, uint16_t *odds, unsigned bits)
{
    uint32_t node = 1, number = 0;

    for (unsigned i = 0; i < bits; i++) {
        const uint32_t bit = take_bit(range, &odds[node]);

        node = node << 1 | bit;
        number |= bit << i;
    }
    return number;
}

/* Bits of which each value is as likely. */
INLINE uint32_t take_direct(struct lzma_range *range, unsigned bits)
{
    uint32_t number = 0;

    for (; bits > 0; bits--) {
        widen(range);
        range->width >>= 1;
        range->code -= range->width;
        const uint32_t zero = 0u - (range->code >> 31);
        range->code += range->width & zero;
        number = (number << 1) + zero + 1;
    }
    return number;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* A literal behind a match differs from the byte that would go on with it. */
INLINE uint8_t take_literal(struct unlzma *lzma, struct lzma_range *range, const uint8_t *out,
                            size_t at, uint32_t state)
{
    const unsigned before = at > lzma->begin ? out[at - 1] : 0;
    const unsigned context =
        (((unsigned)(at - lzma->begin) & lzma->context_mask) << lzma->context_bits) +
        (before >> (8 - lzma->context_bits));
    uint16_t *const odds = &lzma->odds.literals[LZMA_LITERAL * context];

    if (state < 7)
        return (uint8_t)take_number(range, odds, 8);
    uint32_t expected = out[at - lzma->last[0] - 1], offset = 0x100, node = 1;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        expected <<= 1;
        const uint32_t same = expected & offset, bit = take_bit(range, &odds[offset + same + node]);
        node = node << 1 | bit;
        offset &= expected ^ (bit - 1);
    }
    return (uint8_t)node;
}

INLINE uint32_t take_len(struct lzma_range *range, struct lzma_lengths *lengths, unsigned place)
{
    enum { SHORT = 8 };

    if (!take_choice(range, &lengths->is_long))
        return MATCH_LEN_MIN + take_number(range, lengths->low[place], 3);
    if (!take_choice(range, &lengths->is_longest))
        return MATCH_LEN_MIN + SHORT + take_number(range, lengths->middle[place], 3);
    return MATCH_LEN_MIN + 2 * SHORT + take_number(range, lengths->high, 8);
}

/* Of a match that is so long, less one. */
INLINE uint32_t take_distance(struct unlzma *lzma, struct lzma_range *range, uint32_t len)
{
    const uint32_t set = len - MATCH_LEN_MIN < 3 ? len - MATCH_LEN_MIN : 3;
    const uint32_t slot = take_number(range, lzma->odds.slots[set], 6);

    if (slot < 4)
        return slot;
    const unsigned bits = (slot >> 1) - 1;
    const uint32_t base = (2 | (slot & 1)) << bits;
    if (slot < SLOTS_FULL)
        return base + take_reversed(range, &lzma->odds.distances[base - slot], bits);
    const uint32_t high = take_direct(range, bits - LOWEST_BITS) << LOWEST_BITS;
    return base + high + take_reversed(range, lzma->odds.lowest, LOWEST_BITS);
}

/* The distance of one of the last matches, which then is the last. Returns whether it is for one
 * byte. */
INLINE bool take_repeated(struct unlzma *lzma, struct lzma_range *range, uint32_t state,
                          unsigned place)
{
    uint32_t *const last = lzma->last, distance;

    if (!take_choice(range, &lzma->odds.is_older[state]))
        return !take_choice(range, &lzma->odds.is_longer[state][place]);
    if (!take_choice(range, &lzma->odds.is_third[state])) {
        distance = last[1];
    } else {
        if (!take_choice(range, &lzma->odds.is_fourth[state])) {
            distance = last[2];
        } else {
            distance = last[3];
            last[3] = last[2];
        }
        last[2] = last[1];
    }
    last[1] = last[0];
    last[0] = distance;
    return false;
}

/* The length of a match, whose distance is then the last one. */
INLINE uint32_t take_match(struct unlzma *lzma, struct lzma_range *range, unsigned place)
{
    const uint32_t state = lzma->state;
    uint32_t len;

    if (!take_choice(range, &lzma->odds.is_repeated[state])) {
        len = take_len(range, &lzma->odds.match, place);
        memmove(&lzma->last[1], &lzma->last[0], 3 * sizeof lzma->last[0]);
        lzma->last[0] = take_distance(lzma, range, len);
        lzma->state = state < 7 ? 7 : 10;
        return len;
    }
    if (take_repeated(lzma, range, state, place)) {
        lzma->state = state < 7 ? 9 : 11;
        return 1;
    }
    lzma->state = state < 7 ? 8 : 11;
    return take_len(range, &lzma->odds.repeated, place);
}

/* ---- the output ------------------------------------------------------------------------------ */

/* Copies a match as far as it fits. Returns where it ends. */
INLINE size_t copy_match(struct unlzma *lzma, uint8_t *out, size_t at, size_t end, size_t len)
{
    const size_t distance = (size_t)lzma->last[0] + 1, room = end - at, n = len < room ? len : room;
    uint8_t *const to = out + at;
    const uint8_t *const from = to - distance;

    lzma->match_left = len - n;
    if (distance >= COPY && room >= n + COPY)
        for (size_t i = 0; i < n; i += COPY)
            memcpy(to + i, from + i, COPY);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    return at + n;
}

size_t unlzma_run(struct unlzma *lzma, uint8_t *out, size_t at, size_t end)
{
    static const uint8_t behind_literal[LZMA_STATES] = {0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 4, 5};
    struct lzma_range range = lzma->range;

    if (lzma->match_left > 0)
        at = copy_match(lzma, out, at, end, lzma->match_left);
    while (at < end && !lzma->ended) {
        const unsigned place = (unsigned)(at - lzma->begin) & lzma->place_mask;
        const uint32_t state = lzma->state;

        if (!take_choice(&range, &lzma->odds.is_match[state][place])) {
            const uint8_t byte = take_literal(lzma, &range, out, at, state);

            lzma->ended = range.at > range.len;
            if (lzma->ended)
                break;
            out[at++] = byte;
            lzma->state = behind_literal[state];
            continue;
        }
        const uint32_t len = take_match(lzma, &range, place), distance = lzma->last[0];
        lzma->ended = range.at > range.len || distance >= at - lzma->begin ||
                      distance >= lzma->dictionary_len;
        if (lzma->ended)
            break;
        at = copy_match(lzma, out, at, end, len);
    }
    lzma->range = range;
    return at;
}

/* ---- a stream -------------------------------------------------------------------------------- */

bool unlzma_set_properties(struct unlzma *lzma, uint8_t properties)
{
    const unsigned context_bits = properties % 9, position_bits = properties / 9 % 5,
                   place_bits = properties / 45;

    if (place_bits > 4 || context_bits + position_bits > LZMA_LITERAL_BITS_MAX)
        return false;
    lzma->context_bits = context_bits;
    lzma->context_mask = (1u << position_bits) - 1;
    lzma->place_mask = (1u << place_bits) - 1;
    return true;
}

void unlzma_reset(struct unlzma *lzma)
{
    uint16_t *const odds = (uint16_t *)&lzma->odds;

    for (size_t i = 0; i < sizeof lzma->odds / sizeof *odds; i++)
        odds[i] = ODDS / 2;
    memset(lzma->last, 0, sizeof lzma->last);
    lzma->state = 0;
    lzma->match_left = 0;
    lzma->ended = false;
}

bool unlzma_begin(struct unlzma *lzma, const uint8_t *in, size_t len)
{
    enum { HEAD = 5 };

    if (len < HEAD || in[0] != 0)
        return false;
    lzma->range = (struct lzma_range){UINT32_MAX, 0, in, HEAD, len};
    for (int i = 1; i < HEAD; i++)
        lzma->range.code = lzma->range.code << 8 | in[i];
    return true;
}

bool unlzma_is_whole(struct unlzma *lzma)
{
    widen(&lzma->range);
    return lzma->range.at == lzma->range.len && lzma->range.code == 0 && lzma->match_left == 0;
}

/* ---- LZMA2 ----------------------------------------------------------------------------------- */

void unlzma2_begin(struct unlzma2 *lzma2, const uint8_t *in, size_t len, uint32_t dictionary_len)
{
    lzma2->in = in;
    lzma2->at = lzma2->left = 0;
    lzma2->len = len;
    lzma2->lzma.dictionary_len = dictionary_len;
    lzma2->lzma.match_left = 0;
    lzma2->is_packed = false;
    lzma2->needs_properties = lzma2->needs_dictionary = true;
}

/* The head of a packed chunk, whose first byte says what is forgotten. */
static bool begin_packed(struct unlzma2 *lzma2, const uint8_t *head, size_t left)
{
    enum { HEAD = 5, RESET = 0xA0, PROPERTIES = 0xC0 };
    const bool has_properties = head[0] >= PROPERTIES;
    const size_t head_len = HEAD + has_properties;

    if (left < head_len || (!has_properties && lzma2->needs_properties) ||
        (has_properties && !unlzma_set_properties(&lzma2->lzma, head[HEAD])))
        return false;
    const size_t packed_len = ((size_t)head[3] << 8 | head[4]) + 1;
    if (packed_len > left - head_len)
        return false;
    lzma2->needs_properties = false;
    if (head[0] >= RESET)
        unlzma_reset(&lzma2->lzma);
    if (!unlzma_begin(&lzma2->lzma, head + head_len, packed_len))
        return false;
    lzma2->left = ((size_t)(head[0] & 0x1F) << 16 | (size_t)head[1] << 8 | head[2]) + 1;
    lzma2->at += head_len + packed_len;
    lzma2->is_packed = true;
    return true;
}

bool unlzma2_next(struct unlzma2 *lzma2, size_t at)
{
    enum { PLAIN_HEAD = 3, NEW_PLAIN = 1, PLAIN = 2, PACKED = 0x80, NEW_PACKED = 0xE0 };
    const uint8_t *const head = lzma2->in + lzma2->at;
    const size_t left = lzma2->len - lzma2->at;

    if (left == 0 || (lzma2->is_packed && !unlzma_is_whole(&lzma2->lzma)))
        return false;
    lzma2->left = 0;
    lzma2->is_packed = false;
    if (head[0] == 0) {
        lzma2->len = ++lzma2->at; /* nothing follows */
        return true;
    }
    if (head[0] == NEW_PLAIN || head[0] >= NEW_PACKED) {
        lzma2->lzma.begin = at;
        lzma2->needs_properties = true;
        lzma2->needs_dictionary = false;
    }
    if (lzma2->needs_dictionary)
        return false;
    if (head[0] >= PACKED)
        return begin_packed(lzma2, head, left);
    if (head[0] > PLAIN || left < PLAIN_HEAD)
        return false;
    const size_t plain_len = ((size_t)head[1] << 8 | head[2]) + 1;
    if (plain_len > left - PLAIN_HEAD)
        return false;
    lzma2->left = plain_len;
    lzma2->at += PLAIN_HEAD;
    return true;
}

size_t unlzma2_run(struct unlzma2 *lzma2, uint8_t *out, size_t at, size_t end)
{
    const size_t n = end - at < lzma2->left ? end - at : lzma2->left;
    size_t is_at = at + n;

    if (lzma2->is_packed) {
        is_at = unlzma_run(&lzma2->lzma, out, at, at + n);
    } else {
        memcpy(out + at, lzma2->in + lzma2->at, n);
        lzma2->at += n;
    }
    lzma2->left -= is_at - at;
    return is_at;
}
