/* SPDX-License-Identifier: MIT */
/* Regular expressions, by PCRE2. */
#ifndef DETECT_EXPRESSION_H
#define DETECT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

struct automaton;
struct required;
struct rule_arena;
struct sl_rules;
struct pcre2_real_code_8;

enum {
    RULE_CASELESS = 1,
    RULE_MULTILINE = 2,
    RULE_DOTALL = 4,
    RULE_EXTENDED = 8,
    RULE_ANCHORED = 16,
    RULE_DOLLAR_ENDONLY = 32,
    RULE_UNGREEDY = 64,
    RULE_CAPTURES = 128 /* the matches of its groups are asked for */
};

/* Immutable once it is made fast, so that any number of threads match it. */
struct rule_expression {
    struct rule_expression *next; /* of the set */
    struct pcre2_real_code_8 *code;
    struct pcre2_real_code_8 *counted; /* see rule_matcher_count; NULL: there is none */
    const char *counted_text;          /* of which that is made */
    const char *text;
    size_t len;
    uint32_t options;                  /* RULE_* */
    const struct automaton *automaton; /* NULL: it has none, or is not fast */
    const struct required *required;   /* NULL: the same, or it has no automaton */
    bool is_asked;                     /* by a rule of the compiled set */
    bool is_fast;
    bool anchored; /* it matches where its subject begins, or not at all */
    uint32_t own;  /* the first places of a subject, where a match may depend on where it begins */
};

/* The expression of this text, with options of RULE_*: the set has it once. SL_EFORMAT: it is none;
 * reason has room for reason_len, and *at is the byte that is wrong. SL_ENOMEM. */
enum sl_status rule_expression_read(struct sl_rules *rules, const char *text, size_t len,
                                    uint32_t options, struct rule_expression **expression,
                                    char *reason, size_t reason_len, size_t *at);

/* Compiles it to machine code, where the machine allows that, and makes its automaton, once.
 * Threads may make several at a time, each in an arena of its own. False: no memory. */
bool rule_expression_make_fast(struct rule_arena *arena, struct rule_expression *expression);

/* How many groups it has whose matches can be asked for. */
uint32_t rule_expression_groups(const struct rule_expression *expression);

void rule_expressions_free(struct rule_expression *first);

/* The workspace that a thread needs to match. */
struct rule_matcher;

/* NULL: no memory. */
struct rule_matcher *rule_matcher_create(void);

/* From now on the first byte of subjects begins no line, or does. It does at first. */
void rule_matcher_set_begin(struct rule_matcher *matcher, bool begins_line);

/* Accepts NULL. */
void rule_matcher_free(struct rule_matcher *matcher);

enum rule_found {
    RULE_FOUND,
    RULE_NOT_FOUND,
    RULE_LIMITED /* the search ended at its limit: there may be a match */
};

/* Finds the match that begins at `at`, by an interpreter that takes its effort off *effort: for
 * each item of the expression that it tries, and for each byte that the item may pass. So *effort
 * bounds the time, which limits of steps do not. The expression's matches are sought through
 * several repeats at once. */
enum rule_found rule_matcher_count(struct rule_matcher *matcher,
                                   const struct rule_expression *expression, const uint8_t *subject,
                                   uint32_t len, uint32_t at, uint64_t *effort, uint32_t *begin,
                                   uint32_t *end);

/* Finds the bytes that the first group of the first match in the subject takes, as
 * rule_matcher_count does. The expression has RULE_CAPTURES. A group that takes no part in the
 * match is not found. */
enum rule_found rule_matcher_capture(struct rule_matcher *matcher,
                                     const struct rule_expression *expression,
                                     const uint8_t *subject, uint32_t len, uint64_t *effort,
                                     uint32_t *begin, uint32_t *end);

/* Finds the first match that begins at `from` or up to n_places - 1 bytes later. A place may take
 * `limit` steps. *end is where the match ends, and *begin where it begins. */
enum rule_found rule_matcher_find(struct rule_matcher *matcher,
                                  const struct rule_expression *expression, const uint8_t *subject,
                                  uint32_t len, uint32_t from, uint32_t n_places, uint32_t limit,
                                  uint32_t *begin, uint32_t *end);

#endif
