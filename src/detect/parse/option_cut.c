/* SPDX-License-Identifier: MIT */
#include "option_cut.h"

#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && rule_blank(*at))
        at++;
    return at;
}

static struct rule_text word_at(const char *at, const char *end)
{
    size_t len = 0;

    while (at + len < end && rule_is_keyword_byte(at[len]))
        len++;
    return (struct rule_text){at, len};
}

/* Whether an option that is known begins here. */
static bool begins_option(const char *at, const char *end, const char *behind_name)
{
    const struct rule_text name = word_at(at, end);
    const char *behind = skip_blanks(at + name.len, end);

    return name.len != 0 && behind < end && strchr(behind_name, *behind) != NULL &&
           rule_option_known(name) != NULL;
}

/* Passes over a text in quotes, the first of which is at `at`. NULL: the text has no end. */
static const char *quoted_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : NULL;
}

/* Whether a text goes on over the next option. */
static bool holds_option(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == ';' && begins_option(skip_blanks(at + 1, end), end, ":;"))
            return true;
    }
    return false;
}

/* The first ';' without a backslash before it, or `end`. */
static const char *semicolon(const char *at, const char *end)
{
    for (; at < end && *at != ';'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at;
}

/* The option that stands in a value behind a blank, or NULL. */
static const char *inner_option(const char *at, const char *end)
{
    for (; at + 1 < end; at++)
        if (rule_blank(at[0]) && !rule_blank(at[1]) && begins_option(at + 1, end, ":"))
            return at + 1;
    return NULL;
}

/* The last quote of a value without a partner, or NULL. */
static const char *odd_quote(const char *at, const char *end)
{
    const char *odd = NULL;

    for (; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            odd = odd == NULL ? at : NULL;
    }
    return odd;
}

static enum sl_status no_end(struct rule_parser *parser, const char *at)
{
    return rule_bad_at(parser, at, "no ';' ends the option %.*s", RULE_QUOTE(parser->option.name));
}

/* Finds the ';' of a value without quotes, or of the text behind them. */
static enum sl_status end_plain(struct rule_parser *parser, const struct rule_option *known,
                                const char **at, const char *end)
{
    const char *begin = *at, *stop = semicolon(begin, end);
    const char *inner = inner_option(begin, stop);
    const bool any_quotes = known == NULL || known->takes == RULE_AN_EXPRESSION;
    const char *odd = any_quotes ? odd_quote(begin, stop) : NULL; /* readers check others */

    if (inner != NULL)
        return no_end(parser, inner);
    if (stop == end) {
        const char *close = memrchr(begin, ')', (size_t)(end - begin));

        return no_end(parser, close != NULL ? close : end);
    }
    if (odd != NULL)
        return rule_bad_at(parser, odd, "a '\"' of the option %.*s has no other",
                           RULE_QUOTE(parser->option.name));
    *at = stop;
    return SL_OK;
}

/* Regular expressions hold quotes without backslashes: their last one is the one before ';'. */
static bool ends_in_quote(const char *begin, const char *stop)
{
    const struct rule_text rest = rule_trim((struct rule_text){begin, (size_t)(stop - begin)});

    return rest.len != 0 && rest.at[rest.len - 1] == '"';
}

/* Finds the ';' of a value that begins with quotes. */
static enum sl_status end_quoted(struct rule_parser *parser, const struct rule_option *known,
                                 const char **at, const char *end)
{
    const char *open = *at, *close = quoted_end(open, end);

    if (close == NULL || holds_option(open + 1, close - 1))
        return rule_bad_at(parser, open, "no '\"' ends the text of the option %.*s",
                           RULE_QUOTE(parser->option.name));
    parser->option.quoted = (struct rule_text){open + 1, (size_t)(close - open - 2)};
    *at = close = skip_blanks(close, end);
    if (close == end || *close == ';')
        return close < end ? SL_OK : no_end(parser, close);
    if (*close == ',' && (known == NULL || known->takes == RULE_A_CONTENT))
        return end_plain(parser, known, at, end);
    if ((known == NULL || known->takes == RULE_AN_EXPRESSION) && !begins_option(close, end, ":;")) {
        const char *stop = semicolon(close, end);

        if (stop < end && ends_in_quote(close, stop)) {
            const char *last = memrchr(close, '"', (size_t)(stop - close));

            parser->option.quoted.len = (size_t)(last - open - 1);
            *at = stop;
            return SL_OK;
        }
    }
    return no_end(parser, close);
}

/* Takes the value that begins at *at, and goes to its ';'. */
static enum sl_status take_value(struct rule_parser *parser, const char **at, const char *end)
{
    const struct rule_option *known = parser->option.known;
    const bool text = known != NULL && known->takes == RULE_A_TEXT;
    const bool quoted = text || (known != NULL && known->takes == RULE_A_CONTENT);
    const char *begin = skip_blanks(*at, end);
    enum sl_status status;

    *at = begin;
    if (begin < end && *begin == '!' && !text)
        *at = skip_blanks(begin + 1, end);
    if (*at < end && **at == '"')
        status = end_quoted(parser, known, at, end);
    else if (quoted && *at < end && *begin != ';')
        return rule_bad_at(parser, begin, "the text of the option %.*s is not in quotes",
                           RULE_QUOTE(parser->option.name));
    else
        status = end_plain(parser, known, at, end);
    if (status != SL_OK)
        return status;
    parser->option.value = rule_trim((struct rule_text){begin, (size_t)(*at - begin)});
    if (parser->option.quoted.at != NULL) {
        const char *behind = parser->option.quoted.at + parser->option.quoted.len + 1;

        parser->option.behind = rule_trim((struct rule_text){behind, (size_t)(*at - behind)});
    }
    return SL_OK;
}

static enum sl_status take_option(struct rule_parser *parser, const char **at, const char *end)
{
    const struct rule_text name = word_at(*at, end);
    const struct rule_text rest = {*at, (size_t)(end - *at)};

    if (name.len == 0)
        return rule_bad_at(parser, *at, "no option begins with '%.*s'", RULE_QUOTE(rest));
    parser->option = (struct rule_option_text){
        .name = name, .value = {name.at + name.len, 0}, .known = rule_option_known(name)};
    *at = skip_blanks(name.at + name.len, end);
    if (*at < end && **at == ':') {
        ++*at;
        return take_value(parser, at, end);
    }
    if (*at < end && **at == ';')
        return SL_OK;
    if (*at == end || **at == ')' || begins_option(*at, end, ":;"))
        return no_end(parser, *at);
    return rule_bad_at(parser, *at, "neither ':' nor ';' stands behind the option %.*s",
                       RULE_QUOTE(name));
}

enum sl_status option_cut_next(struct rule_parser *parser, struct rule_text *rest)
{
    const char *end = rest->at + rest->len, *at = skip_blanks(rest->at, end);

    while (at < end && *at == ';')
        at = skip_blanks(at + 1, end);
    if (at == end)
        return rule_bad_at(parser, at, "no ')' ends the rule");

    const bool closed = *at == ')';
    const enum sl_status status = closed ? SL_END : take_option(parser, &at, end);

    if (status != SL_OK && status != SL_END)
        return status;
    *rest = (struct rule_text){at + 1, (size_t)(end - at - 1)};
    return status;
}

const char *option_cut_last_word(struct rule_text value)
{
    size_t begin = value.len;

    while (begin > 0 && rule_is_keyword((struct rule_text){value.at + begin - 1, 1}))
        begin--;

    const struct rule_text word = {value.at + begin, value.len - begin};

    return begin > 0 && rule_blank(value.at[begin - 1]) && rule_option_known(word) != NULL ? word.at
                                                                                           : NULL;
}
