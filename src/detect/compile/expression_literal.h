/* SPDX-License-Identifier: MIT */
/* A literal that each match of an expression holds. */
#ifndef DETECT_EXPRESSION_LITERAL_H
#define DETECT_EXPRESSION_LITERAL_H

#include <stddef.h>
#include <stdint.h>

/* Puts the longest one that is found into `bytes`, which has room for len, and returns its length;
 * 0: none is. The text is one that PCRE2 compiles, with options of RULE_*. */
uint32_t rule_expression_literal(const char *text, size_t len, uint32_t options, uint8_t *bytes);

#endif
