/* SPDX-License-Identifier: MIT */
/* The check of a frame as a warp computes it over a packet in the ring: XXH3's 64 bits of any
 * length, without a seed, and of sixteen bytes with one (the algorithm as the xxHash specification
 * describes it; stated here once more because nvcc compiles it, too).
 *
 * A block of 1,024 bytes is sixteen stripes whose contributions are added. A warp takes four
 * stripes at a time, eight lanes each, and adds up its lanes at the block's end. */
#ifndef REDUNDANCY_FRAME_CHECK_CORE_H
#define REDUNDANCY_FRAME_CHECK_CORE_H

#include "redundancy/match/ring_core.h"

enum {
    CHECK_STRIPE = 64,
    CHECK_BLOCK = 1024,
    CHECK_SHORT = 240 /* bytes: longer texts are hashed by stripes */
};

#define CHECK_PRIME_32_1 UINT64_C(0x9E3779B1)
#define CHECK_PRIME_32_2 UINT64_C(0x85EBCA77)
#define CHECK_PRIME_32_3 UINT64_C(0xC2B2AE3D)
#define CHECK_PRIME_64_1 UINT64_C(0x9E3779B185EBCA87)
#define CHECK_PRIME_64_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define CHECK_PRIME_64_3 UINT64_C(0x165667B19E3779F9)
#define CHECK_PRIME_64_4 UINT64_C(0x85EBCA77C2B2AE63)
#define CHECK_PRIME_64_5 UINT64_C(0x27D4EB2F165667C5)

/* The default secret, 24 words. */
CORE uint64_t check_secret_word(uint32_t i)
{
    static const uint64_t secret[24] = {
        UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c), UINT64_C(0xdb979083e96dd4de),
        UINT64_C(0x1f67b3b7a4a44072), UINT64_C(0x78e5c0cc4ee679cb), UINT64_C(0x2172ffcc7dd05a82),
        UINT64_C(0x8e2443f7744608b8), UINT64_C(0x4c263a81e69035e0), UINT64_C(0xcb00c391bb52283c),
        UINT64_C(0xa32e531b8b65d088), UINT64_C(0x4ef90da297486471), UINT64_C(0xd8acdea946ef1938),
        UINT64_C(0x3f349ce33f76faa8), UINT64_C(0x1d4f0bc7c7bbdcf9), UINT64_C(0x3159b4cd4be0518a),
        UINT64_C(0x647378d9c97e9fc8), UINT64_C(0xc3ebd33483acc5ea), UINT64_C(0xeb6313faffa081c5),
        UINT64_C(0x49daf0b751dd0d17), UINT64_C(0x9e68d429265516d3), UINT64_C(0xfca1477d58be162b),
        UINT64_C(0xce31d07ad1b8f88f), UINT64_C(0x280416958f3acb45), UINT64_C(0x7e404bbbcafbd7af)};

    return secret[i];
}

/* Its bytes from `at` on, at most 184. */
CORE uint64_t check_secret(uint32_t at)
{
    const uint32_t shift = 8 * (at % 8);

    return check_secret_word(at / 8) >> shift | check_secret_word((at + 7) / 8)
                                                    << 1 << (63 - shift);
}

CORE uint64_t check_swap(uint64_t word)
{
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) << 8 | (word >> 8 & UINT64_C(0x00FF00FF00FF00FF));
    word =
        (word & UINT64_C(0x0000FFFF0000FFFF)) << 16 | (word >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return word << 32 | word >> 32;
}

CORE uint64_t check_rotate(uint64_t word, uint32_t by)
{
    return word << by | word >> (64 - by);
}

CORE uint64_t check_avalanche(uint64_t sum)
{
    sum = (sum ^ sum >> 37) * UINT64_C(0x165667919E3779F9);
    return sum ^ sum >> 32;
}

/* XXH64's, which the shortest texts end with. */
CORE uint64_t check_avalanche_64(uint64_t sum)
{
    sum = (sum ^ sum >> 33) * CHECK_PRIME_64_2;
    sum = (sum ^ sum >> 29) * CHECK_PRIME_64_3;
    return sum ^ sum >> 32;
}

/* 9 to 16 bytes: the first eight and the last eight. */
CORE uint64_t check_of_16(uint64_t first, uint64_t last, uint32_t len, uint64_t seed)
{
    const uint64_t low = first ^ ((check_secret(24) ^ check_secret(32)) + seed);
    const uint64_t high = last ^ ((check_secret(40) ^ check_secret(48)) - seed);

    return check_avalanche(len + check_swap(low) + high + core_fold(low, high));
}

CORE uint64_t check_of_8(const struct ring *ring, uint64_t at, uint32_t len)
{
    const uint64_t first = (uint32_t)ring_load(ring, at);
    const uint64_t last = (uint32_t)ring_load(ring, ring_ahead(ring, at, len - 4));
    uint64_t sum = (last + (first << 32)) ^ check_secret(8) ^ check_secret(16);

    sum ^= check_rotate(sum, 49) ^ check_rotate(sum, 24);
    sum *= UINT64_C(0x9FB21C651E98DF25);
    sum ^= (sum >> 35) + len;
    sum *= UINT64_C(0x9FB21C651E98DF25);
    return sum ^ sum >> 28;
}

/* At most 3 bytes. */
CORE uint64_t check_of_3(const struct ring *ring, uint64_t at, uint32_t len)
{
    if (len == 0)
        return check_avalanche_64(check_secret(56) ^ check_secret(64));

    const uint64_t bytes = ring_load(ring, at);
    const uint64_t first = bytes & 0xFF, middle = bytes >> 8 * (len >> 1) & 0xFF,
                   last = bytes >> 8 * (len - 1) & 0xFF;
    const uint64_t flip = (uint32_t)check_secret(0) ^ (uint32_t)check_secret(4);

    return check_avalanche_64((first << 16 | middle << 24 | last | (uint64_t)len << 8) ^ flip);
}

CORE uint64_t check_mix(const struct ring *ring, uint64_t at, uint32_t offset, uint32_t secret)
{
    const uint64_t low = ring_load(ring, ring_ahead(ring, at, offset));
    const uint64_t high = ring_load(ring, ring_ahead(ring, at, offset + 8));

    return core_fold(low ^ check_secret(secret), high ^ check_secret(secret + 8));
}

/* 17 to 128 bytes: sixteen from each end inwards. */
CORE uint64_t check_of_128(const struct ring *ring, uint64_t at, uint32_t len)
{
    uint64_t sum = len * CHECK_PRIME_64_1;

    for (uint32_t i = 0; 32 * i < len; i++)
        sum += check_mix(ring, at, 16 * i, 32 * i) +
               check_mix(ring, at, len - 16 * (i + 1), 32 * i + 16);
    return check_avalanche(sum);
}

/* 129 to 240 bytes. */
CORE uint64_t check_of_240(const struct ring *ring, uint64_t at, uint32_t len)
{
    uint64_t sum = len * CHECK_PRIME_64_1;

    for (uint32_t i = 0; i < 8; i++)
        sum += check_mix(ring, at, 16 * i, 16 * i);
    sum = check_avalanche(sum);
    for (uint32_t i = 8; i < len / 16; i++)
        sum += check_mix(ring, at, 16 * i, 16 * (i - 8) + 3);
    return check_avalanche(sum + check_mix(ring, at, len - 16, 136 - 17));
}

/* The share of a stripe in an accumulator: its own word of the stripe, and the one beside it. */
CORE uint64_t check_stripe(uint64_t own, uint64_t beside, uint64_t secret)
{
    const uint64_t keyed = own ^ secret;

    return beside + (keyed & 0xFFFFFFFF) * (keyed >> 32);
}

CORE uint64_t check_first_sum(uint32_t i)
{
    static const uint64_t sums[8] = {CHECK_PRIME_32_3, CHECK_PRIME_64_1, CHECK_PRIME_64_2,
                                     CHECK_PRIME_64_3, CHECK_PRIME_64_4, CHECK_PRIME_32_2,
                                     CHECK_PRIME_64_5, CHECK_PRIME_32_1};

    return sums[i];
}

CORE uint64_t check_scramble(uint64_t sum, uint32_t i)
{
    return (sum ^ sum >> 47 ^ check_secret_word(16 + i)) * CHECK_PRIME_32_1;
}

/* The sum of accumulator i over the lanes i, i + 8, i + 16 and i + 24, in all of them. */
CORE void check_add_up(uint64_t *sums)
{
#ifdef __CUDA_ARCH__
    *sums += __shfl_xor_sync(~0u, *sums, 8);
    *sums += __shfl_xor_sync(~0u, *sums, 16);
#else
    for (uint32_t i = 0; i < 8; i++)
        sums[i] = sums[i + 8] = sums[i + 16] = sums[i + 24] =
            sums[i] + sums[i + 8] + sums[i + 16] + sums[i + 24];
#endif
}

/* The eight accumulators to 64 bits: four products, a pair each. */
CORE uint64_t check_merge(const uint64_t *sums, uint32_t len)
{
    uint64_t sum = len * CHECK_PRIME_64_1;

    for (uint32_t i = 0; i < 8; i += 2) {
#ifdef __CUDA_ARCH__
        const uint64_t a = __shfl_sync(~0u, *sums, (int)i);
        const uint64_t b = __shfl_sync(~0u, *sums, (int)i + 1);
#else
        const uint64_t a = sums[i], b = sums[i + 1];
#endif
        sum += core_fold(a ^ check_secret(11 + 8 * i), b ^ check_secret(11 + 8 * i + 8));
    }
    return check_avalanche(sum);
}

#ifdef __CUDA_ARCH__
#define CHECK_SUM(sums, lane) (*(sums))
enum { CHECK_SUMS = 1 }; /* a lane has its own */
#else
#define CHECK_SUM(sums, lane) ((sums)[lane])
enum { CHECK_SUMS = WARP_LANES };
#endif

/* A block of at most 16 stripes that end at `end`, of a text that begins at a multiple of 8. */
CORE void check_add_block(uint64_t *sums, const struct ring *ring, uint64_t at, uint32_t block,
                          uint32_t end)
{
    WARP_EACH_LANE (lane) {
        const uint32_t word = lane % 8, begin = lane / 8 * CHECK_STRIPE;

        for (uint32_t i = begin; block + i < end; i += 4 * CHECK_STRIPE) {
            const uint64_t own = ring_ahead(ring, at, block + i + 8 * word);
            const uint64_t beside = ring_ahead(ring, at, block + i + 8 * (word ^ 1));

            CHECK_SUM(sums, lane) +=
                check_stripe(ring_load_aligned(ring, own), ring_load_aligned(ring, beside),
                             check_secret_word(i / CHECK_STRIPE + word));
        }
    }
}

/* The last 64 bytes are a stripe of their own. */
CORE void check_add_last(uint64_t *sums, const struct ring *ring, uint64_t at, uint32_t len)
{
    const struct ring_text last = ring_text_at(ring_ahead(ring, at, len - CHECK_STRIPE));

    WARP_EACH_LANE (lane)
        if (lane < 8)
            CHECK_SUM(sums, lane) +=
                check_stripe(ring_text_load(ring, &last, lane),
                             ring_text_load(ring, &last, lane ^ 1), check_secret(121 + 8 * lane));
}

/* More than 240 bytes. */
CORE uint64_t check_of_long(const struct ring *ring, uint64_t at, uint32_t len)
{
    const uint32_t striped = (len - 1) / CHECK_STRIPE * CHECK_STRIPE;
    uint64_t sums[CHECK_SUMS];

    WARP_EACH_LANE (lane)
        CHECK_SUM(sums, lane) = lane < 8 ? check_first_sum(lane) : 0;
    for (uint32_t block = 0; block < len; block += CHECK_BLOCK) {
        const uint32_t end = striped < block + CHECK_BLOCK ? striped : block + CHECK_BLOCK;

        check_add_block(sums, ring, at, block, end);
        if (len - block <= CHECK_BLOCK)
            break;
        check_add_up(sums);
        WARP_EACH_LANE (lane)
            CHECK_SUM(sums, lane) = lane < 8 ? check_scramble(CHECK_SUM(sums, lane), lane) : 0;
    }
    check_add_last(sums, ring, at, len);
    check_add_up(sums);
    return check_merge(sums, len);
}

/* A warp: XXH3 of `len` bytes. */
CORE uint64_t check_packet(const struct ring *ring, uint64_t at, uint32_t len)
{
    if (len > CHECK_SHORT)
        return check_of_long(ring, at, len);
    if (len > 128)
        return check_of_240(ring, at, len);
    if (len > 16)
        return check_of_128(ring, at, len);
    if (len > 8)
        return check_of_16(ring_load(ring, at), ring_load(ring, ring_ahead(ring, at, len - 8)), len,
                           0);
    return len > 3 ? check_of_8(ring, at, len) : check_of_3(ring, at, len);
}

#endif
