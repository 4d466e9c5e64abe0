/* SPDX-License-Identifier: MIT */
#include "feedback.h"

#include <string.h>
#include <xxhash.h>

#include "redundancy/frames/frame.h"

enum {
    HEADER_LEN = 40,
    RANGE_LEN = 12, /* position 6, length 6 */
    CHECK_AT = 32,
    FLAG_EPOCH = 1,
    FLAG_RESTART = 2
};

_Static_assert(HEADER_LEN + RANGE_LEN * (FEEDBACK_RUNS + FEEDBACK_MISSES) <= SL_FEEDBACK_MAX,
               "feedback fits");

static void add_range(struct feedback_range *ranges, uint32_t *n, uint32_t max, uint64_t position,
                      uint64_t len)
{
    if (*n == max) {
        memmove(ranges, ranges + 1, (max - 1) * sizeof *ranges);
        --*n;
    }
    ranges[(*n)++] = (struct feedback_range){position, len};
}

void feedback_add_run(struct feedback *feedback, uint64_t position, uint64_t len)
{
    add_range(feedback->runs, &feedback->n_runs, FEEDBACK_RUNS, position, len);
}

void feedback_miss(struct feedback *feedback, uint64_t position, uint32_t len)
{
    add_range(feedback->misses, &feedback->n_misses, FEEDBACK_MISSES, position, len);
}

/* Of all but itself. */
static uint64_t check_of(const uint8_t *bytes, size_t len)
{
    return XXH3_64bits_withSeed(bytes, CHECK_AT, XXH3_64bits(bytes + HEADER_LEN, len - HEADER_LEN));
}

static uint8_t *write_ranges(uint8_t *at, const struct feedback_range *ranges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, at += RANGE_LEN) {
        put_le(at, ranges[i].position, 6);
        put_le(at + 6, ranges[i].len, 6);
    }
    return at;
}

uint32_t feedback_write(const struct feedback *feedback, uint8_t out[SL_FEEDBACK_MAX])
{
    out[0] = FEEDBACK_KIND;
    out[1] =
        (uint8_t)((feedback->has_epoch ? FLAG_EPOCH : 0) | (feedback->restart ? FLAG_RESTART : 0));
    out[2] = (uint8_t)feedback->n_runs;
    out[3] = (uint8_t)feedback->n_misses;
    put_le(out + 4, feedback->epoch, 4);
    put_le(out + 8, feedback->heard, 4);
    put_le(out + 12, feedback->decoder, 4);
    put_le(out + 16, feedback->start, 8);
    put_le(out + 24, feedback->cache_len, 8);

    uint8_t *const end =
        write_ranges(write_ranges(out + HEADER_LEN, feedback->runs, feedback->n_runs),
                     feedback->misses, feedback->n_misses);
    const uint32_t len = (uint32_t)(end - out);
    put_le(out + CHECK_AT, check_of(out, len), 8);
    return len;
}

static const uint8_t *read_ranges(struct feedback_range *ranges, uint32_t n, const uint8_t *at)
{
    for (uint32_t i = 0; i < n; i++, at += RANGE_LEN) {
        ranges[i].position = get_le(at, 6);
        ranges[i].len = get_le(at + 6, 6);
    }
    return at;
}

bool feedback_read(struct feedback *feedback, const uint8_t *bytes, size_t len)
{
    if (len < HEADER_LEN || bytes[0] != FEEDBACK_KIND || bytes[2] > FEEDBACK_RUNS ||
        bytes[3] > FEEDBACK_MISSES || len != HEADER_LEN + RANGE_LEN * (size_t)(bytes[2] + bytes[3]))
        return false;
    if (get_le(bytes + CHECK_AT, 8) != check_of(bytes, len))
        return false;
    feedback->has_epoch = (bytes[1] & FLAG_EPOCH) != 0;
    feedback->restart = (bytes[1] & FLAG_RESTART) != 0;
    feedback->n_runs = bytes[2];
    feedback->n_misses = bytes[3];
    feedback->epoch = (uint32_t)get_le(bytes + 4, 4);
    feedback->heard = (uint32_t)get_le(bytes + 8, 4);
    feedback->decoder = (uint32_t)get_le(bytes + 12, 4);
    feedback->start = get_le(bytes + 16, 8);
    feedback->cache_len = get_le(bytes + 24, 8);
    read_ranges(feedback->misses, feedback->n_misses,
                read_ranges(feedback->runs, feedback->n_runs, bytes + HEADER_LEN));
    return true;
}
