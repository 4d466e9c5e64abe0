/* SPDX-License-Identifier: MIT */
#include "clamav/find_many.h"

#include "base/cpu.h"

/* Frequent bytes score lower: zeros and fillers, then text. */
static unsigned rarity(uint8_t byte)
{
    if (byte == 0 || byte == 0xFF || byte == ' ')
        return 0;
    return byte >= 'a' && byte <= 'z' ? 2 : 3;
}

/* Where four bytes of a literal are the rarest. */
static size_t choose_bytes(const struct clam_needle *needle)
{
    size_t best = 0;
    unsigned best_sum = 0;

    for (size_t at = 0; at + CLAM_MANY_BYTES <= needle->len; at++) {
        unsigned sum = 1;

        for (size_t i = 0; i < CLAM_MANY_BYTES; i++)
            sum += rarity(needle->key[at + i]);
        if (sum > best_sum) {
            best = at;
            best_sum = sum;
        }
    }
    return best;
}

static void add_byte(struct clam_many *many, size_t i, uint8_t byte, uint8_t bucket)
{
    many->low[i][byte & 15] |= bucket;
    many->high[i][byte >> 4] |= bucket;
}

bool clam_many_add(struct clam_many *many, const struct clam_needle *needle)
{
    const size_t number = many->n;
    const uint8_t bucket = (uint8_t)(1u << number % CLAM_MANY_BUCKETS);

    if (needle->len < CLAM_MANY_BYTES)
        return false;
    many->n++;
    many->at[number] = (uint32_t)choose_bytes(needle);
    for (size_t i = 0; i < CLAM_MANY_BYTES; i++) {
        const uint8_t byte = needle->key[many->at[number] + i];
        const bool letter = (uint8_t)((byte | 0x20) - 'a') < 26;
        const uint8_t fold = needle->nocase && letter ? 0x20 : 0;

        many->fold[number] |= (uint32_t)fold << 8 * i;
        many->value[number] |= (uint32_t)(byte | fold) << 8 * i;
        add_byte(many, i, byte, bucket);
        add_byte(many, i, byte ^ fold, bucket);
    }
    return true;
}

size_t clam_many_scalar(const struct clam_many *many, const uint8_t *text, size_t n,
                        uint16_t *places)
{
    size_t n_places = 0;

    for (size_t at = 0; at < n; at++) {
        uint8_t buckets = 0xFF;

        for (size_t i = 0; i < CLAM_MANY_BYTES; i++)
            buckets &= many->low[i][text[at + i] & 15] & many->high[i][text[at + i] >> 4];
        places[n_places] = (uint16_t)at;
        n_places += buckets != 0;
    }
    return n_places;
}

clam_many_fn *clam_many_choose(void)
{
    switch (cpu_level()) {
#if defined(__x86_64__)
    case CPU_AVX512:
        return clam_many_avx512;
    case CPU_AVX2:
        return clam_many_avx2;
#endif
    default:
        return clam_many_scalar;
    }
}
