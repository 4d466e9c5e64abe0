/* SPDX-License-Identifier: MIT */
/* Where the matches of an expression may begin, in one pass over the bytes. */
#ifndef DETECT_AUTOMATON_H
#define DETECT_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/rule_memory.h"

/* Immutable: any number of threads run it. */
struct automaton;

/* Makes the automaton of an expression that PCRE2 has accepted, with options of RULE_*. *automaton
 * is NULL where the expression has none: it matches everywhere, or it has a construct that the
 * syntax tree does not hold. False: no memory. */
bool automaton_make(struct rule_arena *arena, const char *text, size_t len, uint32_t options,
                    const struct automaton **automaton);

/* Whether a match begins at each place that a run marks. Otherwise it may. */
bool automaton_is_exact(const struct automaton *automaton, bool anywhere);

/* How many bytes a match may read; UINT32_MAX: any number. */
uint32_t automaton_reach(const struct automaton *automaton);

/* How many of the len bytes decide at which places up to `last` a match may begin. */
uint32_t automaton_deciding(const struct automaton *automaton, uint32_t len, uint32_t last);

/* Whether a match may be sought through several repeats at once. */
bool automaton_nests(const struct automaton *automaton);

/* The effort of a byte of a run, at least. */
uint32_t automaton_pace(const struct automaton *automaton);

/* The places of the bytes whose byte may begin a match, counted; of one that begins where lines do,
 * those alone, and none but the first place of the bytes for where a search begins. It counts up to
 * `most`. */
uint32_t automaton_count_first(const struct automaton *automaton, const uint8_t *bytes,
                               uint32_t len, uint32_t most);

/* Marks in `starts` (zeroed, room for len + 1 bits) the places from `from` on where a match may
 * begin, and takes what that cost off *effort. A match is anchored ("^") at place 0, or, where it
 * is anywhere, at each place. False: *effort did not suffice, and the marks say nothing. */
bool automaton_run(const struct automaton *automaton, const uint8_t *bytes, uint32_t from,
                   uint32_t len, bool anywhere, uint64_t *starts, uint64_t *effort);

#endif
