/* SPDX-License-Identifier: MIT */
/* The fingerprint of samplebyte, dynabyte and maxp: XXH3's 64 bits of the window, without a seed,
 * for the lengths of windows. The algorithm is that of the xxHash specification for inputs of 9 to
 * 16 and of 17 to 128 bytes. It is written here once more because nvcc compiles it as well. */
#ifndef SAMPLING_HASH_H
#define SAMPLING_HASH_H

#include <stdint.h>
#include <string.h>

#include "base/core.h"

/* Eight bytes, the first lowest. A GPU loads words that are aligned only: none but those that hold
 * one of the eight bytes is read. */
CORE uint64_t sampling_load(const uint8_t *bytes)
{
#ifdef __CUDA_ARCH__
    const uint64_t *word = (const uint64_t *)((uintptr_t)bytes & ~(uintptr_t)7);
    const uint32_t shift = 8 * (uint32_t)((uintptr_t)bytes & 7);

    return shift == 0 ? word[0] : word[0] >> shift | word[1] << (64 - shift);
#else
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
#endif
}

CORE uint64_t sampling_mix(const uint8_t *bytes, uint64_t low, uint64_t high)
{
    return core_fold(sampling_load(bytes) ^ low, sampling_load(bytes + 8) ^ high);
}

CORE uint64_t sampling_swap(uint64_t word)
{
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) << 8 | (word >> 8 & UINT64_C(0x00FF00FF00FF00FF));
    word =
        (word & UINT64_C(0x0000FFFF0000FFFF)) << 16 | (word >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return word << 32 | word >> 32;
}

/* Of a window of SL_SAMPLING_WINDOW_MIN to SL_SAMPLING_WINDOW_MAX bytes. The constants are the
 * first 64 bytes of XXH3's default secret, as little-endian words. */
CORE uint64_t sampling_fingerprint(const uint8_t *window, uint32_t len)
{
    uint64_t sum;

    if (len <= 16) {
        const uint64_t low =
            sampling_load(window) ^ UINT64_C(0x1f67b3b7a4a44072) ^ UINT64_C(0x78e5c0cc4ee679cb);
        const uint64_t high = sampling_load(window + len - 8) ^ UINT64_C(0x2172ffcc7dd05a82) ^
                              UINT64_C(0x8e2443f7744608b8);

        sum = len + sampling_swap(low) + high + core_fold(low, high);
    } else {
        sum = len * UINT64_C(0x9E3779B185EBCA87);
        if (len > 32) {
            sum += sampling_mix(window + 16, UINT64_C(0x78e5c0cc4ee679cb),
                                UINT64_C(0x2172ffcc7dd05a82));
            sum += sampling_mix(window + len - 32, UINT64_C(0x8e2443f7744608b8),
                                UINT64_C(0x4c263a81e69035e0));
        }
        sum += sampling_mix(window, UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c));
        sum += sampling_mix(window + len - 16, UINT64_C(0xdb979083e96dd4de),
                            UINT64_C(0x1f67b3b7a4a44072));
    }
    sum = (sum ^ sum >> 37) * UINT64_C(0x165667919E3779F9);
    return sum ^ sum >> 32;
}

#endif
