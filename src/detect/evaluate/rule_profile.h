/* SPDX-License-Identifier: MIT */
/* The cost of each rule's evaluation: counters that all evaluators of a set share. */
#ifndef DETECT_RULE_PROFILE_H
#define DETECT_RULE_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rule_profile {
    _Atomic uint64_t checks, matches, ticks, match_ticks, max_ticks;
};

/* The processor's time-stamp counter. */
static inline uint64_t rule_profile_now(void)
{
    return __builtin_ia32_rdtsc();
}

/* Counts a check that took so many ticks. Any thread. */
void rule_profile_count(struct rule_profile *profile, uint64_t ticks, bool matched);

#endif
