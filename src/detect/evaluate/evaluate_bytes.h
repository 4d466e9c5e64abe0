/* SPDX-License-Identifier: MIT */
/* Numbers that a payload holds. */
#ifndef DETECT_EVALUATE_BYTES_H
#define DETECT_EVALUATE_BYTES_H

#include "detect/rule.h"

/* A payload, and the values that the steps before have set. */
struct rule_numbers {
    const uint8_t *payload;
    uint32_t len;
    bool little;           /* of a call of DCERPC: the lowest byte of a number comes first */
    const uint64_t *named; /* by name, from 1 on */
};

/* The number that an operand stands for. */
uint64_t rule_operand_value(const struct rule_operand *operand, const struct rule_numbers *numbers);

/* Whether the number of a byte_test passes it. `base` is what its offset counts from. */
bool rule_bytes_test(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                     uint32_t base);

/* Where a byte_jump leads to. False: nowhere. */
bool rule_bytes_jump(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                     uint32_t base, uint32_t *to);

/* The number of a byte_extract or byte_math, and the position behind its bytes. False: there is
 * none. */
bool rule_bytes_value(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                      uint32_t base, uint64_t *value, uint32_t *behind);

#endif
