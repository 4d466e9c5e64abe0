/* SPDX-License-Identifier: MIT */
/* Bytes come out where matches look for them: no window is copied at each call. Symbols are decoded
 * one by one near the end of the input and of the room, and else in rounds without such checks. */
#include "inflate.h"

#include <stdlib.h>
#include <string.h>

#include "inflate_code.h"

enum {
    WINDOW = 1 << 15,                   /* bytes that a match may lie behind */
    BUFFER = WINDOW + 2 * INFLATE_ROOM, /* the window, and what comes out behind it */
    SLACK = 8                           /* bytes that are written behind, and mean nothing */
};

enum state {
    HEAD,         /* of zlib's format */
    DICTIONARY,   /* the checksum of one */
    BLOCK,        /* the kind of a block */
    STORED_HEAD,  /* the length of one that is stored */
    STORED,       /* its bytes */
    CODE_HEAD,    /* how many lengths come, */
    CODE_LENGTHS, /* the lengths of their code, */
    CODES,        /* the lengths of a block's codes, in that code */
    SYMBOLS,      /* a block's literals and matches */
    CHECK,        /* the checksum of zlib's format */
    OVER,
    DAMAGED
};

/* Bits that were taken from the input, the first in the lowest place. */
struct bits {
    uint64_t held; /* zeros behind those that are there */
    unsigned n;
};

struct inflate {
    struct bits bits;
    enum state state;
    bool is_zlib, is_last;
    uint32_t left;     /* bytes of a stored block, or of a match, that did not come out yet */
    uint32_t distance; /* of that match */
    uint32_t at;       /* bytes of the buffer in use */
    uint32_t sum[2];   /* of Adler-32 */
    uint16_t n_symbols, n_distances, n_code_lengths, n_lengths; /* those that are there last */
    uint8_t lengths[INFLATE_SYMBOLS + INFLATE_DISTANCES];
    uint32_t symbols[INFLATE_SYMBOL_ENTRIES]; /* the code of lengths before */
    uint32_t distances[INFLATE_DISTANCE_ENTRIES];
    uint8_t buffer[BUFFER + SLACK];
};

/* The input of a call. */
struct input {
    const uint8_t *at, *end;
};

/* ---- bits ------------------------------------------------------------------------------------ */

/* Takes bytes until 56 bits or more are there, or no byte is left. */
static void refill(struct bits *bits, struct input *in)
{
    for (; bits->n < 56 && in->at < in->end; bits->n += 8)
        bits->held |= (uint64_t)*in->at++ << bits->n;
}

/* False: more must come. */
static bool has_bits(struct bits *bits, struct input *in, unsigned n)
{
    if (bits->n < n)
        refill(bits, in);
    return bits->n >= n;
}

static inline void drop(struct bits *bits, unsigned n)
{
    bits->held >>= n;
    bits->n -= n;
}

static uint32_t take(struct bits *bits, unsigned n)
{
    const uint32_t taken = inflate_low_bits(bits->held, n);

    drop(bits, n);
    return taken;
}

/* The rest of a byte goes. */
static void align(struct bits *bits)
{
    drop(bits, bits->n % 8);
}

/* ---- heads ----------------------------------------------------------------------------------- */

static enum state take_head(struct inflate *inflate)
{
    enum { DEFLATE = 8, WINDOW_MAX = 7, CHECKED = 31 };
    const uint32_t head = take(&inflate->bits, 16);

    if (((head & 0xFF) << 8 | head >> 8) % CHECKED != 0 || (head & 15) != DEFLATE ||
        (head >> 4 & 15) > WINDOW_MAX)
        return DAMAGED;
    return (head >> 13 & 1) != 0 ? DICTIONARY : BLOCK;
}

/* Nobody has the dictionary. */
static enum state take_dictionary(struct inflate *inflate)
{
    (void)inflate;
    return DAMAGED;
}

static void use_fixed_codes(struct inflate *inflate)
{
    uint8_t *lengths = inflate->lengths;

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)inflate_make_symbols(inflate->symbols, lengths, INFLATE_SYMBOLS);
    memset(lengths, 5, INFLATE_DISTANCES);
    (void)inflate_make_distances(inflate->distances, lengths, INFLATE_DISTANCES);
}

static enum state take_block(struct inflate *inflate)
{
    inflate->is_last = take(&inflate->bits, 1) != 0;
    switch (take(&inflate->bits, 2)) {
    case 0:
        align(&inflate->bits);
        return STORED_HEAD;
    case 1:
        use_fixed_codes(inflate);
        return SYMBOLS;
    case 2:
        return CODE_HEAD;
    default:
        return DAMAGED;
    }
}

static enum state take_stored_head(struct inflate *inflate)
{
    inflate->left = take(&inflate->bits, 16);
    return take(&inflate->bits, 16) == (inflate->left ^ 0xFFFF) ? STORED : DAMAGED;
}

static enum state take_code_head(struct inflate *inflate)
{
    enum { SYMBOLS_MAX = 286, DISTANCES_MAX = 30 };

    inflate->n_symbols = (uint16_t)(take(&inflate->bits, 5) + 257);
    inflate->n_distances = (uint16_t)(take(&inflate->bits, 5) + 1);
    inflate->n_code_lengths = (uint16_t)(take(&inflate->bits, 4) + 4);
    inflate->n_lengths = 0;
    memset(inflate->lengths, 0, sizeof inflate->lengths);
    return inflate->n_symbols <= SYMBOLS_MAX && inflate->n_distances <= DISTANCES_MAX ? CODE_LENGTHS
                                                                                      : DAMAGED;
}

/* ---- lengths of codes ------------------------------------------------------------------------ */

/* Returns false where more must come. */
static bool take_code_lengths(struct inflate *inflate, struct input *in)
{
    static const uint8_t order[INFLATE_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};

    for (; inflate->n_lengths < inflate->n_code_lengths; inflate->n_lengths++) {
        if (!has_bits(&inflate->bits, in, 3))
            return false;
        inflate->lengths[order[inflate->n_lengths]] = (uint8_t)take(&inflate->bits, 3);
    }
    inflate->n_lengths = 0;
    inflate->state = inflate_make_lengths(inflate->symbols, inflate->lengths) ? CODES : DAMAGED;
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

static enum state use_codes(struct inflate *inflate)
{
    const uint8_t *lengths = inflate->lengths;
    const bool good = lengths[INFLATE_END_OF_BLOCK] != 0 &&
                      inflate_make_symbols(inflate->symbols, lengths, inflate->n_symbols) &&
                      inflate_make_distances(inflate->distances, lengths + inflate->n_symbols,
                                             inflate->n_distances);

    return good ? SYMBOLS : DAMAGED;
}

/* Returns false where more must come. */
static bool take_codes(struct inflate *inflate, struct input *in)
{
    enum { FIRST_REPEAT = 16 };
    static const uint8_t extra[] = {2, 3, 7}, least[] = {3, 3, 11};
    struct bits *const bits = &inflate->bits;

    while (inflate->n_lengths < inflate->n_symbols + inflate->n_distances) {
        refill(bits, in);
        /* A code without symbols has zeros, of one bit each. */
        const uint32_t entry = inflate_look_up(inflate->symbols, INFLATE_LENGTH_BITS, bits->held);
        const unsigned len = inflate_bits_of(entry), symbol = inflate_base_of(entry);
        const unsigned more = symbol < FIRST_REPEAT ? 0 : extra[symbol - FIRST_REPEAT];

        if (len + more > bits->n)
            return false;
        drop(bits, len);
        if (symbol < FIRST_REPEAT) {
            inflate->lengths[inflate->n_lengths++] = (uint8_t)symbol;
        } else if (!repeat_length(inflate, symbol == FIRST_REPEAT,
                                  least[symbol - FIRST_REPEAT] + take(bits, more))) {
            inflate->state = DAMAGED;
            return true;
        }
    }
    inflate->state = use_codes(inflate);
    return true;
}

/* ---- bytes that come out --------------------------------------------------------------------- */

static enum state behind_block(const struct inflate *inflate)
{
    if (!inflate->is_last)
        return BLOCK;
    return inflate->is_zlib ? CHECK : OVER;
}

/* Returns false where more must come, or room is needed. */
static bool take_stored(struct inflate *inflate, struct input *in, uint32_t to)
{
    const uint32_t room = to - inflate->at;
    uint32_t n = inflate->left < room ? inflate->left : room;

    for (; n != 0 && inflate->bits.n != 0; n--, inflate->left--)
        inflate->buffer[inflate->at++] = (uint8_t)take(&inflate->bits, 8);
    if (n > (size_t)(in->end - in->at))
        n = (uint32_t)(in->end - in->at);
    if (n != 0)
        memcpy(inflate->buffer + inflate->at, in->at, n);
    in->at += n;
    inflate->at += n;
    inflate->left -= n;
    if (inflate->left != 0)
        return false;
    inflate->state = behind_block(inflate);
    return true;
}

/* False: room is needed. */
static bool copy_match(struct inflate *inflate, uint32_t to)
{
    uint8_t *const buffer = inflate->buffer;

    for (; inflate->left != 0 && inflate->at < to; inflate->left--, inflate->at++)
        buffer[inflate->at] = buffer[inflate->at - inflate->distance];
    return inflate->left == 0;
}

/* Takes one symbol whose bits are all there. False: more must come, or room is needed. */
static bool take_symbol(struct inflate *inflate, struct input *in, uint32_t to)
{
    struct bits *const bits = &inflate->bits;

    refill(bits, in);
    const uint32_t entry = inflate_look_up(inflate->symbols, INFLATE_SYMBOL_BITS, bits->held);
    unsigned n = inflate_bits_of(entry);

    if (n > bits->n || ((entry & INFLATE_LITERAL) != 0 && inflate->at == to))
        return false;
    if ((entry & INFLATE_LITERAL) != 0) {
        drop(bits, n);
        inflate->buffer[inflate->at++] = (uint8_t)inflate_base_of(entry);
        return true;
    }
    if ((entry & INFLATE_SPECIAL) != 0) {
        drop(bits, n);
        inflate->state = (entry & INFLATE_END) != 0 ? behind_block(inflate) : DAMAGED;
        return true;
    }
    const uint32_t len =
        inflate_base_of(entry) + inflate_low_bits(bits->held >> n, inflate_extra_of(entry));

    n += inflate_extra_of(entry);
    if (n > bits->n)
        return false;
    const uint32_t far =
        inflate_look_up(inflate->distances, INFLATE_DISTANCE_BITS, bits->held >> n);

    n += inflate_bits_of(far);
    if (n > bits->n || ((far & INFLATE_SPECIAL) == 0 && n + inflate_extra_of(far) > bits->n))
        return false;
    inflate->distance =
        inflate_base_of(far) + inflate_low_bits(bits->held >> n, inflate_extra_of(far));
    drop(bits, n + inflate_extra_of(far));
    if ((far & INFLATE_SPECIAL) != 0 || inflate->distance > inflate->at)
        inflate->state = DAMAGED;
    else
        inflate->left = len;
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

/* Up to seven bytes too many are written. */
static inline void copy_fast(uint8_t *to, uint32_t distance, uint32_t len)
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
    for (; to < end; to += 8, from += 8)
        memcpy(to, from, 8);
}

/* Takes up to three literals. *entry is of the next symbol. False: that is a literal again. */
static inline bool take_literals(const uint32_t *symbols, struct bits *bits, uint8_t **to,
                                 uint32_t *entry)
{
    for (int i = 0; i < 3; i++) {
        *entry = inflate_look_up(symbols, INFLATE_SYMBOL_BITS, bits->held);
        if ((*entry & INFLATE_LITERAL) == 0)
            return true;
        drop(bits, inflate_bits_of(*entry));
        *(*to)++ = (uint8_t)inflate_base_of(*entry);
    }
    return false;
}

/* Takes a match. False: it is special, or damaged. */
static inline bool take_match(const struct inflate *inflate, struct bits *bits, uint8_t **to,
                              uint32_t entry)
{
    const unsigned n = inflate_bits_of(entry), extra = inflate_extra_of(entry);
    const uint32_t far =
        inflate_look_up(inflate->distances, INFLATE_DISTANCE_BITS, bits->held >> n >> extra);
    const unsigned m = n + extra + inflate_bits_of(far);
    const uint32_t len = inflate_base_of(entry) + inflate_low_bits(bits->held >> n, extra);
    const uint32_t distance =
        inflate_base_of(far) + inflate_low_bits(bits->held >> m, inflate_extra_of(far));

    if (((entry | far) & INFLATE_SPECIAL) != 0 || distance > (size_t)(*to - inflate->buffer))
        return false;
    drop(bits, m + inflate_extra_of(far));
    copy_fast(*to, distance, len);
    *to += len;
    return true;
}

static void take_symbols_fast(struct inflate *inflate, struct input *in, uint32_t to)
{
    enum { INPUT = 16, ROOM = 2 + 258 }; /* what a round takes, and what comes out of it */
    struct bits bits = inflate->bits;
    struct input input = *in;
    uint8_t *place = inflate->buffer + inflate->at, *const end = inflate->buffer + to;
    bool good = true;

    while (good && input.end - input.at >= INPUT && end - place >= ROOM) {
        uint32_t entry;

        refill_fast(&bits, &input);
        if (!take_literals(inflate->symbols, &bits, &place, &entry))
            continue;
        refill_fast(&bits, &input);
        good = take_match(inflate, &bits, &place, entry);
    }
    *in = input;
    inflate->bits.n = bits.n;
    inflate->bits.held = bits.held & ((UINT64_C(1) << bits.n) - 1);
    inflate->at = (uint32_t)(place - inflate->buffer);
}

static bool take_symbols(struct inflate *inflate, struct input *in, uint32_t to)
{
    while (inflate->state == SYMBOLS) {
        if (!copy_match(inflate, to))
            return false;
        take_symbols_fast(inflate, in, to);
        if (!take_symbol(inflate, in, to))
            return false;
    }
    return true;
}

/* ---- a stream -------------------------------------------------------------------------------- */

static void add_sum(struct inflate *inflate, const uint8_t *bytes, uint32_t len)
{
    enum { PRIME = 65521, STEP = 5552 /* no sum overflows before */ };

    for (uint32_t n; len != 0; bytes += n, len -= n) {
        n = len < STEP ? len : STEP;
        for (uint32_t i = 0; i < n; i++) {
            inflate->sum[0] += bytes[i];
            inflate->sum[1] += inflate->sum[0];
        }
        inflate->sum[0] %= PRIME;
        inflate->sum[1] %= PRIME;
    }
}

/* The checksum is there, most significant byte first. */
static enum state take_check(struct inflate *inflate)
{
    uint32_t sum = 0;

    align(&inflate->bits);
    for (int i = 0; i < 4; i++)
        sum = sum << 8 | take(&inflate->bits, 8);
    return sum == (inflate->sum[1] << 16 | inflate->sum[0]) ? OVER : DAMAGED;
}

/* Goes on from the state at hand. False: more must come, or room is needed, or it is over. */
static bool step(struct inflate *inflate, struct input *in, uint32_t to)
{
    static const struct {
        unsigned n_bits;
        enum state (*take)(struct inflate *inflate);
    } heads[] = {
        [HEAD] = {16, take_head},           [DICTIONARY] = {32, take_dictionary},
        [BLOCK] = {3, take_block},          [STORED_HEAD] = {32, take_stored_head},
        [CODE_HEAD] = {14, take_code_head},
    };

    switch (inflate->state) {
    case STORED:
        return take_stored(inflate, in, to);
    case CODE_LENGTHS:
        return take_code_lengths(inflate, in);
    case CODES:
        return take_codes(inflate, in);
    case SYMBOLS:
        return take_symbols(inflate, in, to);
    case CHECK: /* of bytes that come out with this call */
    case OVER:
    case DAMAGED:
        return false;
    default:
        if (!has_bits(&inflate->bits, in, heads[inflate->state].n_bits))
            return false;
        inflate->state = heads[inflate->state].take(inflate);
        return true;
    }
}

struct inflate *inflate_open(bool is_zlib)
{
    struct inflate *inflate = malloc(sizeof *inflate);

    if (inflate == NULL)
        return NULL;
    memset(inflate, 0, offsetof(struct inflate, lengths));
    inflate->is_zlib = is_zlib;
    inflate->state = is_zlib ? HEAD : BLOCK;
    inflate->sum[0] = 1;
    return inflate;
}

void inflate_close(struct inflate *inflate)
{
    free(inflate);
}

uint32_t inflate_held(void)
{
    return sizeof(struct inflate);
}

enum inflate_status inflate_some(struct inflate *inflate, const uint8_t **in, size_t *len,
                                 uint32_t room, const uint8_t **out, uint32_t *out_len)
{
    struct input input = {*in, *in + *len};

    room = room < INFLATE_ROOM ? room : INFLATE_ROOM;
    if (inflate->at + room > BUFFER) {
        memmove(inflate->buffer, inflate->buffer + inflate->at - WINDOW, WINDOW);
        inflate->at = WINDOW;
    }
    *out = inflate->buffer + inflate->at;
    *out_len = inflate->at;
    while (step(inflate, &input, *out_len + room))
        ;
    *out_len = inflate->at - *out_len;
    if (inflate->is_zlib)
        add_sum(inflate, *out, *out_len);
    if (inflate->state == CHECK && has_bits(&inflate->bits, &input, 32 + inflate->bits.n % 8))
        inflate->state = take_check(inflate);
    *in = input.at;
    *len = (size_t)(input.end - input.at);
    if (inflate->state == OVER)
        return INFLATE_OVER;
    return inflate->state == DAMAGED ? INFLATE_DAMAGED : INFLATE_GOES_ON;
}
