/* SPDX-License-Identifier: MIT */
/* Distributions of values in fixed memory: each power of two is cut into 32 equal parts.
 *
 * A quantile is the upper end of the part that it lies in. It is never too low, and too high by
 * less than 1/32 of itself. The parts from 32 s to 63 s, s a power of two, are s wide. Below 32 it
 * is exact. Values from 2^40 on (18 minutes, in nanoseconds) share one part, whose quantile is the
 * maximum. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_PARTS_LOG = 5,
    HISTOGRAM_MAX_LOG = 40,
    HISTOGRAM_LEN = (HISTOGRAM_MAX_LOG - HISTOGRAM_PARTS_LOG + 1) << HISTOGRAM_PARTS_LOG
};

/* Zeroed at first. */
struct histogram {
    uint64_t n, max;
    uint64_t count[HISTOGRAM_LEN + 1]; /* the last: from 2^HISTOGRAM_MAX_LOG on */
};

/* Values below 2^5 are their own place. Above, the place is made of the leading six bits and their
 * shift. */
static inline uint32_t histogram_place(uint64_t value)
{
    if (value >> HISTOGRAM_MAX_LOG != 0)
        return HISTOGRAM_LEN;
    if (value >> HISTOGRAM_PARTS_LOG == 0)
        return (uint32_t)value;

    const uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_PARTS_LOG;
    return (shift << HISTOGRAM_PARTS_LOG) + (uint32_t)(value >> shift);
}

/* The largest value of a place. */
static inline uint64_t histogram_top(uint32_t place)
{
    if (place < 2u << HISTOGRAM_PARTS_LOG)
        return place;

    const uint32_t shift = (place >> HISTOGRAM_PARTS_LOG) - 1;
    const uint64_t lead = place - (shift << HISTOGRAM_PARTS_LOG);
    return ((lead + 1) << shift) - 1;
}

static inline void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
    histogram->n += times;
    histogram->count[histogram_place(value)] += times;
    if (value > histogram->max)
        histogram->max = value;
}

/* The value that at least per_mille thousandths of all do not exceed; 0 where there are none. */
static inline uint64_t histogram_quantile(const struct histogram *histogram, uint32_t per_mille)
{
    /* Rounded up, and without overflow for any n. */
    const uint64_t rank =
        histogram->n / 1000 * per_mille + (histogram->n % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;

    for (uint32_t place = 0; place < HISTOGRAM_LEN; place++) {
        seen += histogram->count[place];
        if (seen >= rank) {
            const uint64_t top = histogram_top(place);
            return top < histogram->max ? top : histogram->max;
        }
    }
    return histogram->max;
}

#endif
