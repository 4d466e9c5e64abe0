/* SPDX-License-Identifier: MIT */
/* pcre: "/expression/flags", or "mXexpressionXflags" with any character as X. Suricata needs no
 * quotes. */
#include <stdio.h>
#include <string.h>

#include "detect/compile/expression_literal.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

/* The parts of the text in quotes. */
struct parts {
    struct rule_text expression, flags;
};

static enum sl_status take_parts(struct rule_parser *parser, struct rule_text text,
                                 struct parts *parts)
{
    const size_t open = text.len != 0 && text.at[0] == 'm';

    if (text.len < open + 2 || (open == 0 && text.at[0] != '/'))
        return rule_bad_at(parser, text.at, "the expression does not begin with '/'");

    const char *end = memrchr(text.at + open + 1, text.at[open], text.len - open - 1);
    if (end == NULL)
        return rule_bad_at(parser, text.at + open, "a '%c' before the expression has no other",
                           text.at[open]);
    parts->expression = (struct rule_text){text.at + open + 1, (size_t)(end - text.at) - open - 1};
    parts->flags = (struct rule_text){end + 1, text.len - (size_t)(end + 1 - text.at)};
    if (parts->expression.len == 0)
        return rule_bad_at(parser, end, "the expression is empty");
    return SL_OK;
}

/* A flag of a buffer of HTTP puts the expression into it. 'O' lifts limits that this evaluation
 * keeps, and 'B' asks for the payload as it is. */
static enum sl_status read_flag(struct rule_parser *parser, const char *flag,
                                struct rule_payload *step, uint32_t *options)
{
    static const struct {
        char letter;
        uint8_t option;
    } known[] = {
        {'i', RULE_CASELESS},
        {'s', RULE_DOTALL},
        {'m', RULE_MULTILINE},
        {'x', RULE_EXTENDED},
        {'A', RULE_ANCHORED},
        {'E', RULE_DOLLAR_ENDONLY},
        {'O', 0},
        {'B', 0},
        {'G', RULE_UNGREEDY},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].letter == *flag) {
            *options |= known[i].option;
            return SL_OK;
        }
    }
    if (*flag == 'R') {
        step->relative = true;
        return SL_OK;
    }
    if (*flag == '\0' || strchr("UIPQHDMCKSYVWZ", *flag) == NULL)
        return rule_bad_at(parser, flag, "'%c' is no flag of an expression",
                           *flag > ' ' && *flag < 0x7F ? *flag : '?');
    return rule_value_of_flag(parser, *flag, step);
}

/* ",flow:name" and the like behind the flags name what groups match. Nothing is kept of it. */
static enum sl_status check_captures(struct rule_parser *parser, const struct parts *parts,
                                     size_t *n_flags)
{
    static const char *const kinds[] = {"flow", "pkt", "alert"};
    struct rule_text rest = parts->flags, word = {rest.at, 0}, kind;

    rule_text_split(&rest, ',', &word);
    *n_flags = word.len;
    while (rule_text_split(&rest, ',', &word)) {
        struct rule_text name = word;
        bool is_known = false;

        rule_text_split(&name, ':', &kind);
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            is_known |= rule_text_is(rule_trim(kind), kinds[i]);
        if (!is_known || rule_trim(name).len == 0)
            return rule_bad_at(parser, word.at, "'%.*s' names no capture", RULE_QUOTE(word));
    }
    return SL_OK;
}

/* Gives the step a literal for the matcher. */
static enum sl_status take_literal(struct rule_parser *parser, struct rule_payload *step,
                                   struct rule_text expression, uint32_t options)
{
    uint8_t *bytes = rule_arena_alloc(parser->arena, expression.len);

    if (bytes == NULL)
        return rule_no_memory(parser);
    step->bytes = bytes;
    step->len = step->fast_len =
        rule_expression_literal(expression.at, expression.len, options, bytes);
    step->nocase = (options & RULE_CASELESS) != 0;
    return SL_OK;
}

enum sl_status rule_read_pcre(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *step = rule_payload_add(parser, RULE_EXPRESSION);
    uint32_t options = 0;
    struct rule_text text = value;
    struct parts parts = {value, value};
    char reason[128];
    size_t at = 0, n_flags = 0;

    if (step == NULL)
        return rule_no_memory(parser);
    step->negated = value.at[0] == '!';

    if (step->negated)
        text = rule_trim((struct rule_text){value.at + 1, value.len - 1});
    if (parser->option.quoted.at != NULL)
        text = parser->option.quoted;

    enum sl_status status = take_parts(parser, text, &parts);
    if (status == SL_OK)
        status = check_captures(parser, &parts, &n_flags);
    for (size_t i = 0; status == SL_OK && i < n_flags; i++)
        status = read_flag(parser, &parts.flags.at[i], step, &options);
    if (status != SL_OK)
        return status;
    status = rule_expression_read(parser->rules, parts.expression.at, parts.expression.len, options,
                                  &step->expression, reason, sizeof reason, &at);
    if (status == SL_ENOMEM)
        return rule_no_memory(parser);
    return status == SL_OK
               ? take_literal(parser, step, parts.expression, options)
               : rule_bad_at(parser, parts.expression.at + at, "in the expression: %s", reason);
}
