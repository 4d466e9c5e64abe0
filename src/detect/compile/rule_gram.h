/* SPDX-License-Identifier: MIT */
/* Runs of bytes that the values of a message have. They tell quickly of most rules without a
 * literal that a message cannot match them. */
#ifndef DETECT_RULE_GRAM_H
#define DETECT_RULE_GRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "detect/rule.h"

enum {
    RULE_GRAM_LEN = 4,
    RULE_GRAM_BITS = 12,
    RULE_GRAM_ANY = 1 << RULE_GRAM_BITS /* the hash of a run that is always there */
};

/* The hashes of runs that are there. Others may have the same hash. */
struct rule_grams {
    uint64_t has[RULE_GRAM_ANY / 64 + 1];
};

/* The hashes of two runs that a rule asks for. */
struct rule_asked_grams {
    uint16_t first, last;
};

/* The hash of the run that begins here. Upper and lower case have the same. */
static inline uint32_t rule_gram_at(const uint8_t *bytes)
{
    uint32_t run;

    memcpy(&run, bytes, sizeof run);
    return (run | UINT32_C(0x20202020)) * UINT32_C(0x9E3779B1) >> (32 - RULE_GRAM_BITS);
}

static inline bool rule_grams_have(const struct rule_grams *grams, struct rule_asked_grams asked)
{
    return (grams->has[asked.first / 64] >> asked.first % 64 &
            grams->has[asked.last / 64] >> asked.last % 64 & 1) != 0;
}

/* None is there. */
void rule_grams_begin(struct rule_grams *grams);

void rule_grams_add(struct rule_grams *grams, const uint8_t *bytes, uint32_t len);

/* The runs of the longest content that the rule asks of a value other than a body. Adds the value
 * to *values, a set of sl_app_value_bit. */
struct rule_asked_grams rule_asked_grams_of(const struct rule *rule, uint64_t *values);

#endif
