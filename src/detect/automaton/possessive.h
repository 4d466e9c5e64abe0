/* SPDX-License-Identifier: MIT */
/* Possessive repeats where a match is the same without and with them. */
#ifndef DETECT_POSSESSIVE_H
#define DETECT_POSSESSIVE_H

#include <stddef.h>
#include <stdint.h>

/* The text of an expression that PCRE2 has accepted, with options of RULE_*, in which repeats do
 * not give bytes back: those that are walked through a few times only from one place on, and behind
 * which no byte of theirs can follow. It has the same matches. The caller frees it. NULL: no
 * memory. */
char *possessive_text(const char *text, size_t len, uint32_t options, size_t *made_len);

#endif
