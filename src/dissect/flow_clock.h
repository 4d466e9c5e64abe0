/* SPDX-License-Identifier: MIT */
/* The clock of the packets. Times may be any 64-bit numbers: differences are taken of unsigned
 * ones, which never overflow. */
#ifndef DISSECT_FLOW_CLOCK_H
#define DISSECT_FLOW_CLOCK_H

#include "flow_runs.h"

/* Moves the clock on to a packet of this time, or back. */
static inline void flow_clock_advance(struct flow_clock *clock, const struct sl_flow_table *table,
                                      int64_t time)
{
    if (time == 0)
        return;
    if (time > clock->now) {
        clock->now = time;
    } else if ((uint64_t)clock->now - (uint64_t)time > table->longest_timeout_ns) {
        clock->now = time;
        clock->era++;
    }
}

/* Moves the clock on over packets whose known times lie between these, 0 and 0: none is known.
 * False: some may set the clock back, and nothing was changed. */
static inline bool flow_clock_pass(struct flow_clock *clock, const struct sl_flow_table *table,
                                   int64_t min_time, int64_t max_time)
{
    const int64_t now = max_time != 0 && max_time > clock->now ? max_time : clock->now;

    if (max_time != 0 && min_time < now &&
        (uint64_t)now - (uint64_t)min_time > table->longest_timeout_ns)
        return false;
    clock->now = now;
    return true;
}

/* The clock before a run of a batch that was dealt. */
static inline struct flow_clock flow_clock_before(const struct sl_flow_keys *keys,
                                                  const struct flow_run *run)
{
    const struct flow_clock *const before = &keys->before[run - keys->run];
    struct flow_clock clock = keys->begin;

    if (keys->set_back)
        return *before;
    if (before->now > clock.now) /* the latest time of the batch before the run */
        clock.now = before->now;
    return clock;
}

#endif
