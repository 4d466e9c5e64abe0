/* SPDX-License-Identifier: MIT */
/* Rules of options alone, each on a packet that matches and on one that just does not. */
#ifndef DETECT_PAIRS_H
#define DETECT_PAIRS_H

#include "detect_fixture.h"

/* A rule, a packet that it matches, and one that it does not. */
struct pair {
    const char *rule;
    struct packet match, other;
};

static void check_pairs(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!rule_matches(pairs[i].rule, &pairs[i].match))
            fail_msg("does not match: %s", pairs[i].rule);
        if (rule_matches(pairs[i].rule, &pairs[i].other))
            fail_msg("matches what it should not: %s", pairs[i].rule);
    }
}

#define CHECK(pairs) check_pairs(pairs, sizeof(pairs) / sizeof((pairs)[0]))

/* A rule of options alone, from anywhere to anywhere. */
#define RULE(protocol, options) "alert " protocol " any any -> any any (" options " sid:1;)"

#endif
