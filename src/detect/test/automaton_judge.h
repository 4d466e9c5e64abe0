/* SPDX-License-Identifier: MIT */
/* The products of expressions, judged by PCRE2: automata, required literals, and texts with
 * possessive repeats. */
#ifndef DETECT_AUTOMATON_JUDGE_H
#define DETECT_AUTOMATON_JUDGE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "detect/automaton/automaton.h"
#include "detect/automaton/possessive.h"
#include "detect/automaton/required.h"
#include "detect/expression.h"

enum { JUDGED_MAX = 500 /* bytes of a text */ };

struct judge {
    pcre2_code *code;
    pcre2_code *possessive;
    pcre2_match_data *data;
    pcre2_match_context *context;
    struct rule_arena arena;
    const struct automaton *automaton; /* NULL: it has none */
    const struct required *required;   /* the same */
    size_t n_matches, n_denied;        /* places so far, of those with required literals */
};

static inline uint32_t judge_options(uint32_t options)
{
    return ((options & RULE_CASELESS) != 0 ? PCRE2_CASELESS : 0) |
           ((options & RULE_MULTILINE) != 0 ? PCRE2_MULTILINE : 0) |
           ((options & RULE_DOTALL) != 0 ? PCRE2_DOTALL : 0) |
           ((options & RULE_EXTENDED) != 0 ? PCRE2_EXTENDED : 0) |
           ((options & RULE_DOLLAR_ENDONLY) != 0 ? PCRE2_DOLLAR_ENDONLY : 0) |
           ((options & RULE_UNGREEDY) != 0 ? PCRE2_UNGREEDY : 0) | PCRE2_NEVER_UTF;
}

static inline pcre2_code *judge_compile(const char *text, size_t len, uint32_t options)
{
    size_t at;
    int error;

    return pcre2_compile((PCRE2_SPTR)text, len, judge_options(options), &error, &at, NULL);
}

/* False: PCRE2 does not accept the expression. */
static inline bool judge_open(struct judge *judge, const char *text, size_t len, uint32_t options)
{
    size_t made_len;
    char *made;

    *judge = (struct judge){.code = judge_compile(text, len, options)};
    if (judge->code == NULL)
        return false;
    made = possessive_text(text, len, options, &made_len);
    if (made != NULL)
        judge->possessive = judge_compile(made, made_len, options);
    if (judge->possessive == NULL)
        abort();
    free(made);
    judge->data = pcre2_match_data_create(1, NULL);
    judge->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(judge->context, 10000);
    if (!automaton_make(&judge->arena, text, len, options, &judge->automaton) ||
        !required_make(&judge->arena, text, len, options, &judge->required))
        abort();
    return true;
}

/* The end of a match at a place: PCRE2's error, or the place behind it. */
static inline int64_t judge_end(struct judge *judge, const pcre2_code *code, const uint8_t *text,
                                uint32_t len, uint32_t at)
{
    const int found = pcre2_match(code, text, len, at, PCRE2_ANCHORED, judge->data, judge->context);

    return found < 0 ? found : (int64_t)pcre2_get_ovector_pointer(judge->data)[1];
}

/* The places where possessive repeats change the match. */
static inline size_t judge_try_possessive(struct judge *judge, const uint8_t *text, uint32_t len)
{
    size_t n_wrong = 0;

    for (uint32_t at = 0; at <= len; at++) {
        const int64_t plain = judge_end(judge, judge->code, text, len, at);
        const int64_t made = judge_end(judge, judge->possessive, text, len, at);

        n_wrong +=
            made != plain && made != PCRE2_ERROR_MATCHLIMIT && plain != PCRE2_ERROR_MATCHLIMIT;
    }
    return n_wrong;
}

/* The places where PCRE2 finds a match whose bytes lack a required literal. Its bytes end with the
 * text, so that no other is found. */
static inline size_t judge_try_required(struct judge *judge, const uint8_t *text, uint32_t len)
{
    size_t n_wrong = 0;

    for (uint32_t at = 0; at <= len && judge->required != NULL; at++) {
        const int64_t end = judge_end(judge, judge->code, text, len, at);
        const size_t n = end >= 0 ? (size_t)end - at : len - at;
        uint64_t effort = UINT64_MAX;
        const bool allowed = required_allow(judge->required, text + at, n, &effort);

        judge->n_matches += end >= 0;
        judge->n_denied += !allowed;
        n_wrong += end >= 0 && !allowed;
    }
    return n_wrong;
}

/* Whether the bytes that decide the places from half of `last` up to it give other marks there than
 * all do. */
static inline bool judge_cut(const struct judge *judge, const uint8_t *text, uint32_t len,
                             uint32_t last, bool anywhere)
{
    uint64_t all[JUDGED_MAX / 64 + 1] = {0}, some[JUDGED_MAX / 64 + 1] = {0};
    const uint32_t from = last / 2, deciding = automaton_deciding(judge->automaton, len, last);
    uint64_t effort = UINT64_MAX;
    bool differ = false;

    if (!automaton_run(judge->automaton, text, 0, len, anywhere, all, &effort) ||
        !automaton_run(judge->automaton, text, from, deciding, anywhere, some, &effort))
        abort();
    for (uint32_t at = from; at <= last; at++)
        differ |= ((all[at / 64] ^ some[at / 64]) >> at % 64 & 1) != 0;
    return differ;
}

/* The places where the automaton, the required literals or the possessive text is wrong. */
static inline size_t judge_try(struct judge *judge, const uint8_t *text, uint32_t len)
{
    uint64_t starts[JUDGED_MAX / 64 + 1] = {0}, effort = UINT64_MAX;
    size_t n_wrong = judge_try_possessive(judge, text, len) + judge_try_required(judge, text, len);

    if (judge->automaton == NULL)
        return n_wrong;
    if (!automaton_run(judge->automaton, text, 0, len, false, starts, &effort))
        abort();
    for (uint32_t at = 0; at <= len; at++) {
        const bool marked = (starts[at / 64] >> at % 64 & 1) != 0;
        const int64_t found = judge_end(judge, judge->code, text, len, at);

        n_wrong += found >= 0 && !marked;
        n_wrong +=
            found == PCRE2_ERROR_NOMATCH && marked && automaton_is_exact(judge->automaton, false);
        n_wrong += judge_cut(judge, text, len, at, at % 2 != 0);
    }
    return n_wrong;
}

static inline void judge_close(struct judge *judge)
{
    pcre2_code_free(judge->code);
    pcre2_code_free(judge->possessive);
    pcre2_match_data_free(judge->data);
    pcre2_match_context_free(judge->context);
    rule_arena_free(&judge->arena);
}

#endif
