/* SPDX-License-Identifier: MIT */
/* A reference is three numbers of variable length. The third is the distance of its source from the
 * expected place: docs/frames.md. */
#ifndef REDUNDANCY_FRAME_CORE_H
#define REDUNDANCY_FRAME_CORE_H

#include "redundancy/match/redundancy_core.h"
#include "sluice/redundancy.h"

enum { FRAME_KIND = 0xF1 };        /* the low bits are the version */
enum { FRAME_REFERENCE_MAX = 13 }; /* bytes */
enum { FRAME_REFERENCE_NUMBERS = 3 };

/* The part of a packet that the references so far give. The next reference counts from there. */
struct frame_progress {
    uint64_t expected; /* log offset: where the last source ended, or the packet begins */
    uint32_t done;     /* bytes of the packet */
};

CORE struct frame_progress frame_begin(uint64_t position)
{
    struct frame_progress progress;

    progress.expected = position;
    progress.done = 0;
    return progress;
}

CORE struct frame_progress frame_behind(const struct sl_match *match)
{
    struct frame_progress progress;

    progress.expected = match->source + match->len;
    progress.done = match->offset + match->len;
    return progress;
}

CORE uint64_t frame_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

CORE void frame_numbers(uint64_t numbers[FRAME_REFERENCE_NUMBERS],
                        const struct frame_progress *progress, const struct sl_match *match)
{
    const uint32_t gap = match->offset - progress->done;

    numbers[0] = gap;
    numbers[1] = match->len - SL_REFERENCE_MIN;
    numbers[2] = frame_zigzag((int64_t)(match->source - (progress->expected + gap)));
}

/* Bytes that a number takes. */
CORE uint32_t frame_number_len(uint64_t number)
{
    return (core_bits(number | 1) + 6) / 7;
}

/* Bytes that the reference takes. */
CORE uint32_t frame_reference_len(const struct frame_progress *progress,
                                  const struct sl_match *match)
{
    uint64_t numbers[FRAME_REFERENCE_NUMBERS];

    frame_numbers(numbers, progress, match);
    return frame_number_len(numbers[0]) + frame_number_len(numbers[1]) +
           frame_number_len(numbers[2]);
}

/* Seven bits a byte, the lowest first; all but the last have the top bit set. Returns the end. */
CORE uint8_t *frame_write_reference(uint8_t *to, const struct frame_progress *progress,
                                    const struct sl_match *match)
{
    uint64_t numbers[FRAME_REFERENCE_NUMBERS];

    frame_numbers(numbers, progress, match);
    for (int i = 0; i < FRAME_REFERENCE_NUMBERS; i++) {
        for (; numbers[i] >= 0x80; numbers[i] >>= 7)
            *to++ = (uint8_t)(numbers[i] | 0x80);
        *to++ = (uint8_t)numbers[i];
    }
    return to;
}

#endif
