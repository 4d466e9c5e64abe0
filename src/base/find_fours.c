/* SPDX-License-Identifier: MIT */
#include "find_fours.h"

#include "cpu.h"

/* The nibbles that become the value's. */
static void add_nibbles(uint8_t table[16], unsigned value, unsigned fold, uint8_t bucket)
{
    for (unsigned nibble = 0; nibble < 16; nibble++)
        table[nibble] |= (nibble | fold) == value ? bucket : 0;
}

void find_fours_add(struct find_fours *fours, const uint8_t bytes[FIND_FOURS_BYTES],
                    const uint8_t fold[FIND_FOURS_BYTES])
{
    const size_t number = fours->n++;
    const uint8_t bucket = (uint8_t)(1u << number % FIND_FOURS_BUCKETS);

    for (size_t i = 0; i < FIND_FOURS_BYTES; i++) {
        const uint8_t value = bytes[i] | fold[i];

        fours->fold[number] |= (uint32_t)fold[i] << 8 * i;
        fours->value[number] |= (uint32_t)value << 8 * i;
        add_nibbles(fours->low[i], value & 15, fold[i] & 15, bucket);
        add_nibbles(fours->high[i], value >> 4, fold[i] >> 4, bucket);
    }
}

size_t find_fours_scalar(const struct find_fours *fours, const uint8_t *text, size_t n,
                         uint16_t *places)
{
    size_t n_places = 0;

    for (size_t at = 0; at < n; at++) {
        uint8_t buckets = 0xFF;

        for (size_t i = 0; i < FIND_FOURS_BYTES; i++)
            buckets &= fours->low[i][text[at + i] & 15] & fours->high[i][text[at + i] >> 4];
        places[n_places] = (uint16_t)at;
        n_places += buckets != 0;
    }
    return n_places;
}

find_fours_fn *find_fours_choose(void)
{
    switch (cpu_level()) {
#if defined(__x86_64__)
    case CPU_AVX512:
        return find_fours_avx512;
    case CPU_AVX2:
        return find_fours_avx2;
#endif
    default:
        return find_fours_scalar;
    }
}
