/* SPDX-License-Identifier: MIT */
#include "unpack/canonical.h"

#include <string.h>

uint32_t canonical_bits(struct canonical_reader *reader, unsigned n)
{
    const uint32_t mask = (UINT32_C(1) << n) - 1;

    while (reader->n_bits < n) {
        reader->ended = reader->ended || reader->at == reader->len;
        const uint32_t byte = reader->ended ? 0 : reader->in[reader->at++];

        if (reader->highest_first)
            reader->bits = reader->bits << 8 | byte;
        else
            reader->bits |= byte << reader->n_bits;
        reader->n_bits += 8;
    }
    reader->n_bits -= n;
    if (reader->highest_first)
        return reader->bits >> reader->n_bits & mask;
    const uint32_t value = reader->bits & mask;
    reader->bits >>= n;
    return value;
}

bool canonical_make(struct canonical *code, const uint8_t *lengths, unsigned n)
{
    uint16_t at[CANONICAL_BITS + 2] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    code->only = -1;
    for (unsigned i = 0; i < n; i++) {
        if (lengths[i] > CANONICAL_BITS)
            return false;
        code->n[lengths[i]]++;
    }
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

    if (code->only >= 0)
        return code->only;
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
