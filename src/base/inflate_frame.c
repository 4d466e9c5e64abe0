/* SPDX-License-Identifier: MIT */
/* The frames of deflate: zlib's format and gzip, whose heads and sums zlib judges alike. */
#include <zlib.h>

#include "base/inflate_state.h"

enum { DEFLATE = 8 };

enum inflate_state inflate_first(enum inflate_format format)
{
    return format == INFLATE_ZLIB || format == INFLATE_GZIP ? AT_HEAD : AT_BLOCK;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Takes bytes of gzip's head, which may have a sum. The first is the lowest. */
static uint32_t take_bytes(struct inflate *inflate, unsigned n)
{
    const uint32_t taken = bits_take(&inflate->bits, 8 * n);

    for (unsigned i = 0; i < n; i++) {
        const uint8_t byte = (uint8_t)(taken >> 8 * i);

        inflate->sum = (uint32_t)crc32(inflate->sum, &byte, 1);
    }
    return taken;
}

static enum inflate_state take_zlib_head(struct inflate *inflate)
{
    enum { WINDOW_MAX = 7, CHECKED = 31 };
    const uint32_t head = bits_take(&inflate->bits, 16);

    if (((head & 0xFF) << 8 | head >> 8) % CHECKED != 0 || (head & 15) != DEFLATE ||
        (head >> 4 & 15) > WINDOW_MAX)
        return AT_DAMAGE;
    inflate->sum = 1; /* of no bytes */
    return (head >> 13 & 1) != 0 ? AT_DICTIONARY : AT_BLOCK;
}

static enum inflate_state take_mark(struct inflate *inflate)
{
    if (inflate->format == INFLATE_ZLIB)
        return take_zlib_head(inflate);
    return take_bytes(inflate, 2) == 0x8B1F ? AT_GZIP_FLAGS : AT_DAMAGE;
}

/* Nobody has the dictionary. */
static enum inflate_state take_dictionary(struct inflate *inflate)
{
    (void)bits_take(&inflate->bits, 32);
    return AT_DAMAGE;
}

/* What follows this part of gzip's head. */
static enum inflate_state behind_part(struct inflate *inflate, enum inflate_state part)
{
    static const uint8_t flags[AT_BLOCK] = {[AT_GZIP_EXTRA_LEN] = 4,
                                            [AT_GZIP_NAME] = 8,
                                            [AT_GZIP_COMMENT] = 16,
                                            [AT_GZIP_HEAD_SUM] = 2};

    for (part++; part < AT_BLOCK; part++)
        if ((inflate->flags & flags[part]) != 0)
            return part;
    inflate->sum = 0;
    return AT_BLOCK;
}

static enum inflate_state take_flags(struct inflate *inflate)
{
    enum { RESERVED = 0xE0 };
    const uint32_t method = take_bytes(inflate, 1);

    inflate->flags = (uint8_t)take_bytes(inflate, 1);
    return method == DEFLATE && (inflate->flags & RESERVED) == 0 ? AT_GZIP_TIME : AT_DAMAGE;
}

static enum inflate_state take_time(struct inflate *inflate)
{
    (void)take_bytes(inflate, 4);
    (void)take_bytes(inflate, 2);
    return behind_part(inflate, AT_GZIP_TIME);
}

static enum inflate_state take_extra_len(struct inflate *inflate)
{
    inflate->left = take_bytes(inflate, 2);
    return inflate->left != 0 ? AT_GZIP_EXTRA : behind_part(inflate, AT_GZIP_EXTRA);
}

static enum inflate_state take_extra(struct inflate *inflate)
{
    (void)take_bytes(inflate, 1);
    return --inflate->left != 0 ? AT_GZIP_EXTRA : behind_part(inflate, AT_GZIP_EXTRA);
}

/* A zero ends a name, or a comment. */
static enum inflate_state take_text(struct inflate *inflate)
{
    return take_bytes(inflate, 1) != 0 ? inflate->state : behind_part(inflate, inflate->state);
}

static enum inflate_state take_head_sum(struct inflate *inflate)
{
    const uint32_t sum = inflate->sum & 0xFFFF;

    return take_bytes(inflate, 2) == sum ? behind_part(inflate, AT_GZIP_HEAD_SUM) : AT_DAMAGE;
}

bool inflate_take_head(struct inflate *inflate, struct input *in)
{
    static const struct {
        unsigned n_bits;
        enum inflate_state (*take)(struct inflate *inflate);
    } parts[AT_BLOCK] = {
        [AT_HEAD] = {16, take_mark},
        [AT_DICTIONARY] = {32, take_dictionary},
        [AT_GZIP_FLAGS] = {16, take_flags},
        [AT_GZIP_TIME] = {48, take_time},
        [AT_GZIP_EXTRA] = {8, take_extra},
        [AT_GZIP_EXTRA_LEN] = {16, take_extra_len},
        [AT_GZIP_NAME] = {8, take_text},
        [AT_GZIP_COMMENT] = {8, take_text},
        [AT_GZIP_HEAD_SUM] = {16, take_head_sum},
    };

    if (!bits_has(&inflate->bits, in, parts[inflate->state].n_bits))
        return false;
    inflate->state = parts[inflate->state].take(inflate);
    return true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

void inflate_add_sum(struct inflate *inflate, const uint8_t *bytes, size_t len)
{
    inflate->total += (uint32_t)len;
    if (inflate->format == INFLATE_ZLIB)
        inflate->sum = (uint32_t)adler32_z(inflate->sum, bytes, len);
    else if (inflate->format == INFLATE_GZIP)
        inflate->sum = (uint32_t)crc32_z(inflate->sum, bytes, len);
}

/* zlib's format has the most significant byte first. */
static enum inflate_state take_sum(struct inflate *inflate)
{
    bits_align(&inflate->bits);
    const uint32_t sum = bits_take(&inflate->bits, 32);

    if (inflate->format == INFLATE_ZLIB)
        return __builtin_bswap32(sum) == inflate->sum ? AT_END : AT_DAMAGE;
    return sum == inflate->sum ? AT_LEN : AT_DAMAGE;
}

void inflate_take_sums(struct inflate *inflate, struct input *in)
{
    struct bits *const bits = &inflate->bits;

    if (inflate->state == AT_SUM && bits_has(bits, in, 32 + bits->n % 8))
        inflate->state = take_sum(inflate);
    if (inflate->state == AT_LEN && bits_has(bits, in, 32))
        inflate->state = bits_take(bits, 32) == inflate->total ? AT_END : AT_DAMAGE;
}
