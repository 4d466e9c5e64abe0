/* SPDX-License-Identifier: MIT */
/* XXH3 of packets with vectors of 32 bytes: the library is built for the baseline of the
 * architecture. Frames are short, so wider ones gain nothing more. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "frame.h"

uint64_t frame_check_avx2(const uint8_t *header, const uint8_t *packet, uint32_t len)
{
    return XXH3_64bits_withSeed(header, FRAME_CHECKED_LEN, XXH3_64bits(packet, len));
}
