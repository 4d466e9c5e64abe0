/* SPDX-License-Identifier: MIT */
/* Whole batches: the scans. Each place gets the sum of the values before it. A warp sums a part of
 * them, the sums of the parts are scanned, and each warp goes over its part once more. */
#ifndef REDUNDANCY_BATCH_SCAN_CORE_H
#define REDUNDANCY_BATCH_SCAN_CORE_H

#include "batch_place_core.h"

CORE uint32_t encode_scan_len(const struct encode_job *job, enum encode_step step)
{
    return step == ENCODE_RANK ? job->arena_len / ENCODE_TILE + 1 : job->n_items;
}

CORE uint32_t encode_scan_value(const struct encode_job *job, enum encode_step step, uint32_t i)
{
    if (step == ENCODE_RANK)
        return job->tiles[i];
    return step == ENCODE_PLACE ? encode_room(job, i) : job->packet[i].frame_len;
}

CORE uint32_t *encode_scan_sums(const struct encode_job *job, enum encode_step step)
{
    if (step == ENCODE_RANK)
        return job->tiles;
    return step == ENCODE_PLACE ? job->place : job->frame_begin;
}

/* The places [*begin, *end) of a part. */
CORE void encode_scan_part(const struct encode_job *job, enum encode_step step, uint32_t part,
                           uint32_t *begin, uint32_t *end)
{
    const uint32_t n = encode_scan_len(job, step);
    const uint32_t each = (n + ENCODE_SCAN_PARTS - 1) / ENCODE_SCAN_PARTS;

    *begin = part * each < n ? part * each : n;
    *end = *begin + each < n ? *begin + each : n;
}

/* A warp: the totals of the packets [begin, end). */
CORE void encode_tally(const struct encode_job *job, uint32_t begin, uint32_t end)
{
    uint64_t bytes = 0, matches = 0, matched = 0;

    WARP_EACH_LANE (lane)
        for (uint32_t i = begin + lane; i < end; i += WARP_LANES) {
            bytes += job->payload[i].len;
            matches += job->packet[i].n_matches;
            matched += job->packet[i].matched_bytes;
        }
    bytes = core_warp_sum(bytes);
    matches = core_warp_sum(matches);
    matched = core_warp_sum(matched);
    WARP_EACH_LANE (lane)
        if (lane == 0) {
            core_add_64(&job->totals->bytes, bytes);
            core_add_64(&job->totals->matches, matches);
            core_add_64(&job->totals->matched_bytes, matched);
        }
}

/* First, a warp: the sum of a part, in 64 bits. */
CORE uint64_t encode_scan_sum(const struct encode_job *job, enum encode_step step, uint32_t part)
{
    uint64_t sum = 0;
    uint32_t begin, end;

    encode_scan_part(job, step, part, &begin, &end);
    WARP_EACH_LANE (lane)
        for (uint32_t i = begin + lane; i < end; i += WARP_LANES)
            sum += encode_scan_value(job, step, i);
    if (step == ENCODE_LAY)
        encode_tally(job, begin, end);
    return core_warp_sum(sum);
}

/* Then: the sums before each of its places. */
CORE void encode_scan_spread(const struct encode_job *job, enum encode_step step, uint32_t part,
                             uint32_t before)
{
    uint32_t *const sums = encode_scan_sums(job, step);
    uint32_t begin, end;

    encode_scan_part(job, step, part, &begin, &end);
    for (; begin < end; begin += WARP_LANES * ENCODE_SCAN_EACH) {
        uint32_t all = 0;

        WARP_EACH_LANE (lane) {
            const uint32_t first = begin + lane * ENCODE_SCAN_EACH;
            uint32_t values[ENCODE_SCAN_EACH], own = 0;

            for (uint32_t i = 0; i < ENCODE_SCAN_EACH; i++) {
                values[i] = first + i < end ? encode_scan_value(job, step, first + i) : 0;
                own += values[i];
            }
            uint32_t sum = before + core_warp_sum_before(own, &all);
            for (uint32_t i = 0; i < ENCODE_SCAN_EACH; i++) {
                if (first + i < end)
                    sums[first + i] = sum;
                sum += values[i];
            }
        }
        before += all;
    }
}

/* Between them, once: the sum of all parts. */
CORE void encode_scan_total(const struct encode_job *job, enum encode_step step, uint64_t total)
{
    struct encode_totals *const totals = job->totals;

    if (step == ENCODE_RANK) {
        totals->n_samples = (uint32_t)total;
    } else if (step == ENCODE_LAY) {
        job->frame_begin[job->n_items] = (uint32_t)total;
        totals->frames_len = total;
    } else {
        totals->room = total;
        if (total > job->batch_len)
            totals->refused = 1;
    }
}

#endif
