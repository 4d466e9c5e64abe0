/* SPDX-License-Identifier: MIT */
#include "rabin_filter.h"

#include <string.h>

#include "rabin_polynomial.h"

/* A linear map of bytes: byte j is the image of bit j. */
struct byte_map {
    uint8_t image[8];
};

static uint8_t apply(const struct byte_map *map, uint8_t byte)
{
    uint8_t sum = 0;

    for (int bit = 0; bit < 8; bit++)
        sum ^= (byte >> bit & 1) != 0 ? map->image[bit] : 0;
    return sum;
}

/* Byte 7 - j of the matrix selects the bits that make bit j of the result. */
static uint64_t matrix_of(const struct byte_map *map)
{
    uint64_t matrix = 0;

    for (int j = 0; j < 8; j++)
        for (int bit = 0; bit < 8; bit++)
            matrix |= (uint64_t)(map->image[bit] >> j & 1) << (8 * (7 - j) + bit);
    return matrix;
}

static void halve(uint8_t halves[2][16], const struct byte_map *map)
{
    for (uint8_t half = 0; half < 16; half++) {
        halves[0][half] = apply(map, half);
        halves[1][half] = apply(map, (uint8_t)(half << 4));
    }
}

/* Bit 0 of x^t for t = -1 ... -7, in bits 1 to 7. */
static uint32_t taps_before(uint64_t polynomial)
{
    uint64_t power = 1;
    uint32_t taps = 0;

    for (int u = 1; u < 8; u++) {
        power = (power ^ ((power & 1) != 0 ? polynomial : 0)) >> 1;
        taps |= (uint32_t)(power & 1) << u;
    }
    return taps;
}

/* Output s sees the last s bits of byte q too late: bit s - u of it is still to be counted with
 * c_0(-u). */
static struct byte_map entering_map(uint64_t polynomial)
{
    const uint32_t taps = taps_before(polynomial);
    struct byte_map map = {{0}};

    for (int s = 1; s < 8; s++)
        for (int u = 1; u <= s; u++)
            map.image[s - u] |= (uint8_t)((taps >> u & 1) << (7 - s));
    return map;
}

/* And it sees the last s bits of byte q - w too long: bit u of it counts with c_0(8w - s + u). */
static struct byte_map leaving_map(uint64_t polynomial, uint32_t window)
{
    struct byte_map map = {{0}};

    for (uint32_t s = 1; s < 8; s++)
        for (uint32_t u = 0; u < s; u++) {
            const uint64_t power = rabin_x_power(8 * window - s + u, polynomial);

            map.image[u] |= (uint8_t)((power & 1) << (7 - s));
        }
    return map;
}

static void set_wanted(struct rabin_filter *filter, uint64_t polynomial, uint64_t magic,
                       uint64_t mask)
{
    uint32_t g = 0;

    for (int j = 0; j < 8; j++) {
        uint32_t bit = (uint32_t)(magic >> j & 1);

        for (int s = 0; s < j; s++)
            bit ^= (uint32_t)(polynomial >> (j - s) & 1) & (g >> s & 1);
        g |= bit << j;
        filter->wanted |= (uint8_t)(bit << (7 - j));
        filter->mask |= (uint8_t)((mask >> j & 1) << (7 - j));
    }
}

void rabin_filter_init(struct rabin_filter *filter, uint64_t polynomial, uint32_t window,
                       uint64_t magic, uint64_t mask)
{
    const struct byte_map entering = entering_map(polynomial);
    const struct byte_map leaving = leaving_map(polynomial, window);

    memset(filter, 0, sizeof *filter);
    for (uint32_t t = 0; t < 8 * window; t++)
        filter->taps[t / 64] |= (rabin_x_power(t, polynomial) & 1) << t % 64;
    filter->entering = matrix_of(&entering);
    filter->leaving = matrix_of(&leaving);
    halve(filter->entering_halves, &entering);
    halve(filter->leaving_halves, &leaving);
    set_wanted(filter, polynomial, magic, mask);
    for (uint32_t i = 0; i < RABIN_WORDS; i++)
        filter->word_powers[i] = rabin_x_power(64 * (uint64_t)i, polynomial);
    filter->quotient = rabin_x_quotient(64 + rabin_degree(polynomial), polynomial);
}
