/* SPDX-License-Identifier: MIT */
/* Runs of bytes that the values of a message have, and what values begin with. They tell quickly of
 * most rules without a literal that a message cannot match them. */
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

/* 1 at the hashes of what is there. Other runs may have the same hash. */
struct rule_grams {
    uint8_t has[RULE_GRAM_ANY + 1];
};

/* The hashes of two runs that a rule asks for, or of one opening. */
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

/* The hash of up to RULE_GRAM_LEN bytes with which a value begins, in either case. */
uint32_t rule_gram_of_opening(enum sl_app_value_id id, const uint8_t *bytes, uint32_t len);

static inline bool rule_grams_have(const struct rule_grams *grams, struct rule_asked_grams asked)
{
    return (grams->has[asked.first] & grams->has[asked.last]) != 0;
}

/* None is there. */
void rule_grams_begin(struct rule_grams *grams);

/* Values of messages of which rules ask something: sets of sl_app_value_bit. */
struct rule_gram_values {
    uint64_t runs, openings;
};

/* What is asked of a value. */
void rule_grams_add(struct rule_grams *grams, const struct rule_gram_values *values,
                    const struct sl_app_value *value);

/* What the rule asks of values: an opening that one has once, or else the runs of the longest
 * content that is of no body. Adds the value to *values. The rule is placed. */
struct rule_asked_grams rule_asked_grams_of(const struct rule *rule,
                                            struct rule_gram_values *values);

#endif
