/* SPDX-License-Identifier: MIT */
/* Whole batches: packets into the log. */
#ifndef REDUNDANCY_BATCH_PLACE_CORE_H
#define REDUNDANCY_BATCH_PLACE_CORE_H

#include "batch_job_core.h"

/* A packet's room in the log; 0 and refused where it is none. */
CORE uint32_t encode_room(const struct encode_job *job, uint32_t item)
{
    const struct sl_span span = job->payload[item];

    if (span.len > job->frame_max || span.len > job->arena_len ||
        span.offset > job->arena_len - span.len) {
        core_or(&job->totals->refused, 1);
        return 0;
    }
    return (uint32_t)log_round(span.len);
}

/* Once: the log has room for the batch. */
CORE void encode_begin(const struct encode_job *job)
{
    struct encode_totals *const totals = job->totals;
    struct packet_log *const log = job->log;
    const uint64_t room = totals->room;

    totals->begin = log->end;
    totals->begin_at = log->end_at;
    log->end += room;
    log->end_at += room < log->len - log->end_at ? room : room - log->len;
}

/* At most eight bytes of the arena, zeros behind them. Only words are read that hold one of them.
 */
CORE uint64_t encode_arena_load(const struct encode_job *job, uint32_t at, uint32_t n)
{
    const uint64_t *const word = (const uint64_t *)job->arena + at / 8;
    const uint32_t in = at % 8, shift = 8 * in;
    uint64_t bytes = word[0] >> shift;

    if (in + n > 8)
        bytes |= word[1] << (64 - shift);
    return n < 8 ? bytes & ((UINT64_C(1) << 8 * n) - 1) : bytes;
}

/* A warp. */
CORE void encode_copy(const struct encode_job *job, uint32_t item)
{
    const struct sl_span span = job->payload[item];
    const struct ring ring = encode_ring(job);
    const uint64_t begin = encode_here(job, &ring, item);
    const uint32_t room = (uint32_t)log_round(span.len);
    uint64_t *const words = (uint64_t *)job->log->bytes;

    WARP_EACH_LANE (lane)
        for (uint32_t i = 8 * lane; i < room; i += RING_STEP) {
            const uint32_t left = span.len > i ? span.len - i : 0;
            const uint64_t bytes =
                left > 0 ? encode_arena_load(job, span.offset + i, left < 8 ? left : 8) : 0;

            const uint64_t word = ring_ahead(&ring, begin, i) / 8;

            words[word] = bytes;
            if (word == 0)
                words[ring.len / 8] = bytes; /* once more behind the last */
        }
}

#endif
