/* SPDX-License-Identifier: MIT */
/* An automaton's answers, judged by PCRE2. */
#ifndef DETECT_AUTOMATON_JUDGE_H
#define DETECT_AUTOMATON_JUDGE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "detect/automaton/automaton.h"
#include "detect/expression.h"

enum { JUDGED_MAX = 500 /* bytes of a text */ };

struct judge {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    struct rule_arena arena;
    const struct automaton *automaton; /* NULL: it has none */
};

static inline uint32_t judge_options(uint32_t options)
{
    return ((options & RULE_CASELESS) != 0 ? PCRE2_CASELESS : 0) |
           ((options & RULE_MULTILINE) != 0 ? PCRE2_MULTILINE : 0) |
           ((options & RULE_DOTALL) != 0 ? PCRE2_DOTALL : 0) |
           ((options & RULE_EXTENDED) != 0 ? PCRE2_EXTENDED : 0) |
           ((options & RULE_DOLLAR_ENDONLY) != 0 ? PCRE2_DOLLAR_ENDONLY : 0);
}

/* False: PCRE2 does not accept the expression. */
static inline bool judge_open(struct judge *judge, const char *text, size_t len, uint32_t options)
{
    size_t at;
    int error;

    *judge = (struct judge){.code = pcre2_compile((PCRE2_SPTR)text, len,
                                                  judge_options(options) | PCRE2_NEVER_UTF, &error,
                                                  &at, NULL)};
    if (judge->code == NULL)
        return false;
    judge->data = pcre2_match_data_create(1, NULL);
    judge->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(judge->context, 10000);
    if (!automaton_make(&judge->arena, text, len, options, &judge->automaton))
        abort();
    return true;
}

/* The places where the automaton is wrong. */
static inline size_t judge_try(struct judge *judge, const uint8_t *text, uint32_t len)
{
    uint64_t starts[JUDGED_MAX / 64 + 1] = {0}, effort = UINT64_MAX;
    size_t n_wrong = 0;

    if (judge->automaton == NULL)
        return 0;
    if (!automaton_run(judge->automaton, text, len, false, starts, &effort))
        abort();
    for (uint32_t at = 0; at <= len; at++) {
        const bool marked = (starts[at / 64] >> at % 64 & 1) != 0;
        const int found =
            pcre2_match(judge->code, text, len, at, PCRE2_ANCHORED, judge->data, judge->context);

        n_wrong += found >= 0 && !marked;
        n_wrong +=
            found == PCRE2_ERROR_NOMATCH && marked && automaton_is_exact(judge->automaton, false);
    }
    return n_wrong;
}

static inline void judge_close(struct judge *judge)
{
    pcre2_code_free(judge->code);
    pcre2_match_data_free(judge->data);
    pcre2_match_context_free(judge->context);
    rule_arena_free(&judge->arena);
}

#endif
