/* SPDX-License-Identifier: MIT */
/* The checksum of IP, TCP and UDP (RFC 1071), in the order of memory. */
#ifndef TUNNEL_CHECKSUM_H
#define TUNNEL_CHECKSUM_H

#include <stdint.h>
#include <string.h>

/* Adds words of 16 bits; a byte that is left over counts as the first of a word. Folded at the end
 * alone. */
static inline uint64_t checksum_words(const uint8_t *bytes, uint32_t len, uint64_t sum)
{
    uint64_t sums[4] = {0};
    uint32_t at = 0;

    for (; at + 32 <= len; at += 32) { /* four sums that do not wait for one another */
        uint32_t words[8];

        memcpy(words, bytes + at, sizeof words);
        for (int i = 0; i < 4; i++)
            sums[i] += (uint64_t)words[i] + words[i + 4];
    }
    sum += sums[0] + sums[1] + sums[2] + sums[3];
    for (; at + 8 <= len; at += 8) {
        uint32_t words[2];

        memcpy(words, bytes + at, sizeof words);
        sum += (uint64_t)words[0] + words[1];
    }
    for (; at < len; at += 2) {
        const uint8_t pair[2] = {bytes[at], at + 1 < len ? bytes[at + 1] : 0};
        uint16_t word;

        memcpy(&word, pair, sizeof word);
        sum += word;
    }
    return sum;
}

/* The checksum of a sum: its complement. */
static inline uint16_t checksum_fold(uint64_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif
