/* SPDX-License-Identifier: MIT */
/* Symbols are decoded one by one near the end of the input and of the room, and else in rounds
 * without such checks. */
#include "base/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "base/inflate_state.h"
#include "base/least.h"

/* ---- heads of blocks ------------------------------------------------------------------------- */

static bool is_64(const struct inflate *inflate)
{
    return inflate->format == INFLATE_64;
}

static void use_fixed_codes(struct inflate *inflate)
{
    uint8_t *lengths = inflate->lengths;

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)inflate_make_symbols(inflate->symbols, lengths, INFLATE_SYMBOLS, is_64(inflate));
    memset(lengths, 5, INFLATE_DISTANCES);
    (void)inflate_make_distances(inflate->distances, lengths, INFLATE_DISTANCES, is_64(inflate));
}

static enum inflate_state take_block(struct inflate *inflate)
{
    inflate->is_last = bits_take(&inflate->bits, 1) != 0;
    switch (bits_take(&inflate->bits, 2)) {
    case 0:
        bits_align(&inflate->bits);
        return AT_STORED_HEAD;
    case 1:
        use_fixed_codes(inflate);
        return AT_SYMBOLS;
    case 2:
        return AT_CODE_HEAD;
    default:
        return AT_DAMAGE;
    }
}

static enum inflate_state take_stored_head(struct inflate *inflate)
{
    inflate->left = bits_take(&inflate->bits, 16);
    return bits_take(&inflate->bits, 16) == (inflate->left ^ 0xFFFF) ? AT_STORED : AT_DAMAGE;
}

static enum inflate_state take_code_head(struct inflate *inflate)
{
    enum { SYMBOLS_MAX = 286, DISTANCES_MAX = 30, DISTANCES_64_MAX = 32 };
    const unsigned most = is_64(inflate) ? DISTANCES_64_MAX : DISTANCES_MAX;

    inflate->n_symbols = (uint16_t)(bits_take(&inflate->bits, 5) + 257);
    inflate->n_distances = (uint16_t)(bits_take(&inflate->bits, 5) + 1);
    inflate->n_code_lengths = (uint16_t)(bits_take(&inflate->bits, 4) + 4);
    inflate->n_lengths = 0;
    memset(inflate->lengths, 0, sizeof inflate->lengths);
    return inflate->n_symbols <= SYMBOLS_MAX && inflate->n_distances <= most ? AT_CODE_LENGTHS
                                                                             : AT_DAMAGE;
}

/* ---- lengths of codes ------------------------------------------------------------------------ */

/* Returns false where more must come. */
static bool take_code_lengths(struct inflate *inflate, struct input *in)
{
    static const uint8_t order[INFLATE_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};

    for (; inflate->n_lengths < inflate->n_code_lengths; inflate->n_lengths++) {
        if (!bits_has(&inflate->bits, in, 3))
            return false;
        inflate->lengths[order[inflate->n_lengths]] = (uint8_t)bits_take(&inflate->bits, 3);
    }
    inflate->n_lengths = 0;
    inflate->state =
        inflate_make_lengths(inflate->symbols, inflate->lengths) ? AT_CODES : AT_DAMAGE;
    return true;
}

/* Repeats the last length, or zeros. False: there is none, or too many lengths would be there. */
static bool repeat_length(struct inflate *inflate, bool last, unsigned times)
{
    const unsigned n = inflate->n_lengths;

    if ((last && n == 0) || n + times > (unsigned)inflate->n_symbols + inflate->n_distances)
        return false;
    memset(inflate->lengths + n, last ? inflate->lengths[n - 1] : 0, times);
    inflate->n_lengths = (uint16_t)(n + times);
    return true;
}

static enum inflate_state use_codes(struct inflate *inflate)
{
    const uint8_t *const of_symbols = inflate->lengths;
    const uint8_t *const of_distances = of_symbols + inflate->n_symbols;
    const bool good =
        of_symbols[INFLATE_END_OF_BLOCK] != 0 &&
        inflate_make_symbols(inflate->symbols, of_symbols, inflate->n_symbols, is_64(inflate)) &&
        inflate_make_distances(inflate->distances, of_distances, inflate->n_distances,
                               is_64(inflate));

    return good ? AT_SYMBOLS : AT_DAMAGE;
}

/* Returns false where more must come. */
static bool take_codes(struct inflate *inflate, struct input *in)
{
    enum { FIRST_REPEAT = 16 };
    static const uint8_t extra[] = {2, 3, 7}, least[] = {3, 3, 11};
    struct bits *const bits = &inflate->bits;

    while (inflate->n_lengths < inflate->n_symbols + inflate->n_distances) {
        bits_refill(bits, in);
        /* A code without symbols has zeros, of one bit each. */
        const uint32_t entry = inflate_look_up(inflate->symbols, INFLATE_LENGTH_BITS, bits->held);
        const unsigned len = inflate_bits_of(entry), symbol = inflate_base_of(entry);
        const unsigned more = symbol < FIRST_REPEAT ? 0 : extra[symbol - FIRST_REPEAT];

        if (len + more > bits->n)
            return false;
        bits_drop(bits, len);
        if (symbol < FIRST_REPEAT) {
            inflate->lengths[inflate->n_lengths++] = (uint8_t)symbol;
        } else if (!repeat_length(inflate, symbol == FIRST_REPEAT,
                                  least[symbol - FIRST_REPEAT] + bits_take(bits, more))) {
            inflate->state = AT_DAMAGE;
            return true;
        }
    }
    inflate->state = use_codes(inflate);
    return true;
}

/* ---- bytes that come out --------------------------------------------------------------------- */

static enum inflate_state behind_block(const struct inflate *inflate)
{
    if (!inflate->is_last)
        return AT_BLOCK;
    return inflate->format == INFLATE_ZLIB || inflate->format == INFLATE_GZIP ? AT_SUM : AT_END;
}

/* Returns false where more must come, or room is needed. */
static bool take_stored(struct inflate *inflate, struct input *in, struct inflate_out *out)
{
    size_t n = least(inflate->left, out->end - out->at);

    for (; n != 0 && inflate->bits.n != 0; n--, inflate->left--)
        out->bytes[out->at++] = (uint8_t)bits_take(&inflate->bits, 8);
    n = least(n, (size_t)(in->end - in->at));
    if (n != 0)
        memcpy(out->bytes + out->at, in->at, n);
    in->at += n;
    out->at += n;
    inflate->left -= (uint32_t)n;
    if (inflate->left != 0)
        return false;
    inflate->state = behind_block(inflate);
    return true;
}

enum { COPIED_TOO_FAR = 15 }; /* bytes that copy_fast may write behind a match */

static inline void copy_fast(uint8_t *to, size_t distance, size_t len)
{
    const uint8_t *from = to - distance;
    uint8_t *const end = to + len;

    if (distance == 1) {
        memset(to, *from, len);
        return;
    }
    if (distance < 8) {
        while (to < end)
            *to++ = *from++;
        return;
    }
    if (distance < 16) {
        for (; to < end; to += 8, from += 8)
            memcpy(to, from, 8);
        return;
    }
    for (; to < end; to += 16, from += 16)
        memcpy(to, from, 16);
}

/* False: room is needed. */
static bool copy_match(struct inflate *inflate, struct inflate_out *out)
{
    uint8_t *to = out->bytes + out->at;
    const size_t room = out->end - out->at, n = least(inflate->left, room);

    if (n + COPIED_TOO_FAR <= room)
        copy_fast(to, inflate->distance, n);
    else
        for (size_t i = 0; i < n; i++, to++)
            *to = *(to - inflate->distance);
    out->at += n;
    inflate->left -= (uint32_t)n;
    return inflate->left == 0;
}

/* ---- symbols whose bits are all there -------------------------------------------------------- */

/* Takes a symbol. False: more must come, or room is needed. */
static bool take_symbol(struct inflate *inflate, struct input *in, struct inflate_out *out)
{
    struct bits *const bits = &inflate->bits;

    bits_refill(bits, in);
    const uint32_t entry = inflate_look_up(inflate->symbols, INFLATE_SYMBOL_BITS, bits->held);
    const unsigned n = inflate_bits_of(entry);

    if (n > bits->n || ((entry & INFLATE_LITERAL) != 0 && out->at == out->end))
        return false;
    if ((entry & INFLATE_LITERAL) != 0) {
        out->bytes[out->at++] = (uint8_t)inflate_base_of(entry);
    } else if ((entry & INFLATE_SPECIAL) != 0) {
        inflate->state = (entry & INFLATE_END) != 0 ? behind_block(inflate) : AT_DAMAGE;
    } else {
        inflate->left = inflate_value_of(entry, bits->held);
        inflate->state = AT_DISTANCE;
    }
    bits_drop(bits, n);
    return true;
}

/* Takes the distance of a match. False: more must come. */
static bool take_distance(struct inflate *inflate, struct input *in, const struct inflate_out *out)
{
    struct bits *const bits = &inflate->bits;

    bits_refill(bits, in);
    const uint32_t entry = inflate_look_up(inflate->distances, INFLATE_DISTANCE_BITS, bits->held);

    if (inflate_bits_of(entry) > bits->n)
        return false;
    inflate->distance = inflate_value_of(entry, bits->held);
    bits_drop(bits, inflate_bits_of(entry));
    inflate->state =
        (entry & INFLATE_SPECIAL) == 0 && inflate->distance <= out->at ? AT_SYMBOLS : AT_DAMAGE;
    return true;
}

/* ---- the same, while much input and room are left -------------------------------------------- */

/* Takes 56 bits or more. Bits behind n are those that follow. */
static inline void refill_fast(struct bits *bits, struct input *in)
{
    uint64_t next;

    memcpy(&next, in->at, sizeof next);
    bits->held |= next << bits->n;
    in->at += (63 - bits->n) / 8;
    bits->n |= 56;
}

/* Takes up to three literals. *entry is of the next symbol. False: that is a literal again. */
static inline bool take_literals(const uint32_t *symbols, struct bits *bits, uint8_t **to,
                                 uint32_t *entry)
{
    for (int i = 0; i < 3; i++) {
        *entry = inflate_look_up(symbols, INFLATE_SYMBOL_BITS, bits->held);
        if ((*entry & INFLATE_LITERAL) == 0)
            return true;
        bits_drop(bits, inflate_bits_of(*entry));
        *(*to)++ = (uint8_t)inflate_base_of(*entry);
    }
    return false;
}

/* Takes a match, of up to 258 bytes. False: it is longer, special, or damaged. */
static inline bool take_match(const struct inflate *inflate, struct bits *bits,
                              const uint8_t *begin, uint8_t **to, uint32_t entry)
{
    const uint32_t len = inflate_value_of(entry, bits->held);
    const uint64_t rest = bits->held >> inflate_bits_of(entry);
    const uint32_t far = inflate_look_up(inflate->distances, INFLATE_DISTANCE_BITS, rest);
    const uint32_t distance = inflate_value_of(far, rest);

    if (((entry | far) & INFLATE_SLOW) != 0 || distance > (size_t)(*to - begin))
        return false;
    bits->held = rest >> inflate_bits_of(far);
    bits->n -= inflate_bits_of(entry) + inflate_bits_of(far);
    copy_fast(*to, distance, len);
    *to += len;
    return true;
}

static void take_symbols_fast(struct inflate *inflate, struct input *in, struct inflate_out *out)
{
    enum { INPUT = 16, ROOM = 2 + 258 + COPIED_TOO_FAR }; /* of a round */
    struct bits bits = inflate->bits;
    struct input input = *in;
    uint8_t *to = out->bytes + out->at, *const end = out->bytes + out->end;
    bool good = true;

    while (good && input.end - input.at >= INPUT && end - to >= ROOM) {
        uint32_t entry;

        refill_fast(&bits, &input);
        if (!take_literals(inflate->symbols, &bits, &to, &entry))
            continue;
        refill_fast(&bits, &input);
        good = take_match(inflate, &bits, out->bytes, &to, entry);
    }
    *in = input;
    inflate->bits.n = bits.n;
    inflate->bits.held = bits.held & ((UINT64_C(1) << bits.n) - 1);
    out->at = (size_t)(to - out->bytes);
}

static bool take_symbols(struct inflate *inflate, struct input *in, struct inflate_out *out)
{
    if (!copy_match(inflate, out))
        return false;
    take_symbols_fast(inflate, in, out);
    return take_symbol(inflate, in, out);
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* Takes a head of n bits. False: more must come. */
static bool take_block_head(struct inflate *inflate, struct input *in, unsigned n,
                            enum inflate_state (*take)(struct inflate *inflate))
{
    if (!bits_has(&inflate->bits, in, n))
        return false;
    inflate->state = take(inflate);
    return true;
}

/* Goes on from the state at hand. False: more must come, or room is needed, or no byte comes. */
static bool step(struct inflate *inflate, struct input *in, struct inflate_out *out)
{
    switch (inflate->state) {
    case AT_BLOCK:
        return take_block_head(inflate, in, 3, take_block);
    case AT_STORED_HEAD:
        return take_block_head(inflate, in, 32, take_stored_head);
    case AT_CODE_HEAD:
        return take_block_head(inflate, in, 14, take_code_head);
    case AT_STORED:
        return take_stored(inflate, in, out);
    case AT_CODE_LENGTHS:
        return take_code_lengths(inflate, in);
    case AT_CODES:
        return take_codes(inflate, in);
    case AT_SYMBOLS:
        return take_symbols(inflate, in, out);
    case AT_DISTANCE:
        return take_distance(inflate, in, out);
    case AT_SUM: /* of bytes that come out with this call */
    case AT_LEN:
    case AT_END:
    case AT_DAMAGE:
        return false;
    default:
        return inflate_take_head(inflate, in);
    }
}

/* Whole bytes that are held go back. Where more must come, some of a call before may be held. */
static void give_back(struct bits *bits, struct input *in)
{
    in->at -= bits->n / 8;
    bits->n %= 8;
    bits->held = inflate_low_bits(bits->held, bits->n);
}

void inflate_begin(struct inflate *inflate, enum inflate_format format)
{
    memset(inflate, 0, offsetof(struct inflate, lengths));
    inflate->format = format;
    inflate->state = inflate_first(format);
}

struct inflate *inflate_open(enum inflate_format format)
{
    struct inflate *inflate = malloc(sizeof *inflate);

    if (inflate != NULL)
        inflate_begin(inflate, format);
    return inflate;
}

void inflate_close(struct inflate *inflate)
{
    free(inflate);
}

enum inflate_status inflate_into(struct inflate *inflate, const uint8_t **in, size_t *len,
                                 struct inflate_out *out)
{
    struct input input = {*in, *in + *len};
    const size_t before = out->at;

    while (step(inflate, &input, out))
        ;
    inflate_add_sum(inflate, out->bytes + before, out->at - before);
    inflate_take_sums(inflate, &input);
    if (inflate->state == AT_END || inflate->state == AT_DAMAGE || out->at == out->end)
        give_back(&inflate->bits, &input);
    *in = input.at;
    *len = (size_t)(input.end - input.at);
    if (inflate->state == AT_END)
        return INFLATE_OVER;
    return inflate->state == AT_DAMAGE ? INFLATE_DAMAGED : INFLATE_GOES_ON;
}
