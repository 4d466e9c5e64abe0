/* SPDX-License-Identifier: MIT */
/* Literals that each match of an expression holds, one behind the other. */
#ifndef DETECT_REQUIRED_H
#define DETECT_REQUIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/rule_memory.h"

/* Immutable: any number of threads search for them. */
struct required;

/* Finds those of an expression that PCRE2 has accepted, with options of RULE_*. *required is NULL
 * where it has none, or the syntax tree does not hold it. False: no memory. */
bool required_make(struct rule_arena *arena, const char *text, size_t len, uint32_t options,
                   const struct required **required);

/* Whether the bytes may have a match: all literals are there, in their order. It takes what that
 * cost off *effort. Where *effort does not suffice, they may. */
bool required_allow(const struct required *required, const uint8_t *bytes, size_t len,
                    uint64_t *effort);

#endif
