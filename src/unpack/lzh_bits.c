/* SPDX-License-Identifier: MIT */
/* Bits and canonical codes of LHA's compressions, and their output. */
#include <string.h>

#include "unpack/lzh_internal.h"

/* ---- bits ------------------------------------------------------------------------------------ */

uint32_t lzh_bits(struct lzh_stream *stream, unsigned n)
{
    while (stream->n_bits < n) {
        stream->ended = stream->ended || stream->at == stream->len;
        stream->bits = stream->bits << 8 | (stream->ended ? 0u : stream->in[stream->at++]);
        stream->n_bits += 8;
    }
    stream->n_bits -= n;
    return stream->bits >> stream->n_bits & ((UINT32_C(1) << n) - 1);
}

bool lzh_code_make(struct lzh_code *code, const uint8_t *lengths, unsigned n)
{
    uint16_t at[LZH_BITS_MAX + 2] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    code->only = -1;
    for (unsigned i = 0; i < n; i++) {
        if (lengths[i] > LZH_BITS_MAX)
            return false;
        code->n[lengths[i]]++;
    }
    code->n[0] = 0;
    for (unsigned bits = 1; bits <= LZH_BITS_MAX; bits++) {
        left = 2 * left - code->n[bits];
        if (left < 0)
            return false;
        at[bits + 1] = (uint16_t)(at[bits] + code->n[bits]);
    }
    for (unsigned i = 0; i < n; i++)
        if (lengths[i] != 0)
            code->symbols[at[lengths[i]]++] = (uint16_t)i;
    return true;
}

int lzh_symbol(struct lzh_stream *stream, const struct lzh_code *code)
{
    int value = 0, first = 0, index = 0;

    if (code->only >= 0)
        return code->only;
    for (unsigned bits = 1; bits <= LZH_BITS_MAX && !stream->ended; bits++) {
        value |= (int)lzh_bits(stream, 1);
        if (value - code->n[bits] < first)
            return code->symbols[index + value - first];
        index += code->n[bits];
        first = (first + code->n[bits]) << 1;
        value <<= 1;
    }
    return -1;
}

/* ---- output ---------------------------------------------------------------------------------- */

bool lzh_put(struct lzh_stream *stream, uint8_t byte)
{
    if (stream->n < stream->out_len)
        stream->out[stream->n++] = byte;
    return stream->n < stream->out_len;
}

bool lzh_copy(struct lzh_stream *stream, size_t distance, size_t len)
{
    bool more = true;

    for (; len > 0 && more; len--)
        more = lzh_put(stream,
                       distance <= stream->n ? stream->out[stream->n - distance] : (uint8_t)' ');
    return more;
}
