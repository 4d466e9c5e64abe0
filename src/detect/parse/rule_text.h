/* SPDX-License-Identifier: MIT */
/* Pieces of rule text: any bytes, no NUL behind them. */
#ifndef DETECT_RULE_TEXT_H
#define DETECT_RULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rule_text {
    const char *at;
    size_t len;
};

/* For printf's "%.*s": a piece, cut to what a diagnostic may quote. */
#define RULE_QUOTE(text) (int)((text).len < 80 ? (text).len : 80), (text).at

/* Space, tab, CR, LF, form feed, vertical tab. */
static inline bool rule_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Without the blanks around it; without those before it. */
struct rule_text rule_trim(struct rule_text text);
struct rule_text rule_trim_begin(struct rule_text text);

bool rule_text_equals(struct rule_text text, const char *word);

/* Whether it is this word; ASCII case is ignored. Most words differ in the first byte. */
static inline bool rule_text_is(struct rule_text text, const char *word)
{
    return (text.len == 0 || ((text.at[0] ^ word[0]) & ~0x20) == 0) && rule_text_equals(text, word);
}

/* Takes the text before the first `separator`, trimmed, and the separator off the front of *rest.
 * False: *rest is empty. */
bool rule_text_split(struct rule_text *rest, char separator, struct rule_text *piece);

/* A decimal number of min to max. False: it is none. */
bool rule_text_number(struct rule_text text, int64_t min, int64_t max, int64_t *number);

#endif
