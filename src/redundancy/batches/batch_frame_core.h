/* SPDX-License-Identifier: MIT */
/* Whole batches: a packet's frame, written by a warp. */
#ifndef REDUNDANCY_BATCH_FRAME_CORE_H
#define REDUNDANCY_BATCH_FRAME_CORE_H

#include "batch_job_core.h"
#include "redundancy/frames/frame_check_core.h"
#include "redundancy/frames/frame_core.h"

/* A warp: copies bytes of the ring, by words where there are some. Returns the end. */
CORE uint8_t *encode_write_bytes(uint8_t *to, const struct ring *ring, uint64_t from, uint32_t len)
{
    const uint8_t *const bytes = (const uint8_t *)ring->words;
    const uint32_t to_word = (uint32_t)(-(uintptr_t)to % 8);
    const uint32_t head = to_word < len ? to_word : len;
    const uint32_t n_words = (len - head) / 8, tail = head + 8 * n_words;

    WARP_EACH_LANE (lane) {
        if (lane < head)
            to[lane] = bytes[ring_ahead(ring, from, lane)];
        for (uint32_t i = lane; i < n_words; i += WARP_LANES)
            ((uint64_t *)(to + head))[i] = ring_load(ring, ring_ahead(ring, from, head + 8 * i));
        if (tail + lane < len)
            to[tail + lane] = bytes[ring_ahead(ring, from, tail + lane)];
    }
    return to + len;
}

/* A warp: the header, whose first two words are checked. */
CORE uint8_t *encode_write_header(uint8_t *to, const struct encode_job *job, uint32_t item,
                                  const struct ring *ring, uint64_t here)
{
    const uint32_t len = job->payload[item].len;
    uint64_t words[3];

    words[0] = FRAME_KIND | (uint64_t)len << 8 | (uint64_t)job->epoch << 32;
    words[1] = encode_position(job, item) | (uint64_t)job->packet[item].n_matches << 48;
    words[2] = check_of_16(words[0], words[1], 16, check_packet(ring, here, len));
    WARP_EACH_LANE (lane)
        if (lane < SL_FRAME_HEADER_LEN) {
            const uint64_t word = lane < 8 ? words[0] : lane < 16 ? words[1] : words[2];

            to[lane] = (uint8_t)(word >> 8 * (lane % 8));
        }
    return to + SL_FRAME_HEADER_LEN;
}

/* A warp: the references, a lane one at a time. Returns the end. */
CORE uint8_t *encode_write_references(uint8_t *to, uint64_t position, const struct sl_match *match,
                                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i += WARP_LANES) {
        uint32_t all = 0;

        WARP_EACH_LANE (lane) {
            const bool active = i + lane < n;
            const struct frame_progress progress = i + lane == 0 || !active
                                                       ? frame_begin(position)
                                                       : frame_behind(&match[i + lane - 1]);
            const uint32_t len = active ? frame_reference_len(&progress, &match[i + lane]) : 0;
            const uint32_t before = core_warp_sum_before(len, &all);

            if (active)
                frame_write_reference(to + before, &progress, &match[i + lane]);
        }
        to += all;
    }
    return to;
}

/* A warp. */
CORE void encode_write(const struct encode_job *job, uint32_t item)
{
    const uint32_t len = job->payload[item].len, n = job->packet[item].n_matches;
    const struct sl_match *const match = job->match + job->place[item] / LOG_GRANULE;
    const struct ring ring = encode_ring(job);
    const uint64_t here = encode_here(job, &ring, item);
    uint8_t *to = job->frames + job->frame_begin[item];
    uint32_t done = 0;

    to = encode_write_header(to, job, item, &ring, here);
    to = encode_write_references(to, encode_position(job, item), match, n);
    for (uint32_t i = 0; i < n; i++) {
        to = encode_write_bytes(to, &ring, ring_ahead(&ring, here, done), match[i].offset - done);
        done = encode_match_end(&match[i]);
    }
    encode_write_bytes(to, &ring, ring_ahead(&ring, here, done), len - done);
}

#endif
