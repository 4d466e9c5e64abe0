/* SPDX-License-Identifier: MIT */
#include "unpack/canonical.h"

#include <string.h>

uint32_t canonical_bits(struct canonical_reader *reader, unsigned n)
{
    while (reader->n_bits < n) {
        if (reader->at == reader->len)
            reader->ended = true;
        reader->bits |= (uint32_t)(reader->ended ? 0 : reader->in[reader->at++]) << reader->n_bits;
        reader->n_bits += 8;
    }
    const uint32_t value = reader->bits & ((UINT32_C(1) << n) - 1);
    reader->bits >>= n;
    reader->n_bits -= n;
    return value;
}

bool canonical_make(struct canonical *code, const uint8_t *lengths, unsigned n)
{
    uint16_t at[CANONICAL_BITS + 2] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    for (unsigned i = 0; i < n; i++)
        code->n[lengths[i]]++;
    code->n[0] = 0;
    for (unsigned bits = 1; bits <= CANONICAL_BITS; bits++) {
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

int canonical_symbol(struct canonical_reader *reader, const struct canonical *code)
{
    int value = 0, first = 0, index = 0;

    for (unsigned bits = 1; bits <= CANONICAL_BITS && !reader->ended; bits++) {
        value |= (int)canonical_bits(reader, 1) ^ (int)code->inverted;
        if (value - code->n[bits] < first)
            return code->symbols[index + value - first];
        index += code->n[bits];
        first = (first + code->n[bits]) << 1;
        value <<= 1;
    }
    return -1;
}
