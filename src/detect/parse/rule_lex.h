/* SPDX-License-Identifier: MIT */
/* Cuts rule files into rules: comments, continued lines, rules over several lines. */
#ifndef DETECT_RULE_LEX_H
#define DETECT_RULE_LEX_H

#include "rule_text.h"
#include "sluice/status.h"

struct rule_lexer {
    const char *text;
    size_t len;
    size_t at;
    uint32_t line;       /* of text[at] */
    bool no_comment_end; /* there is no end of a comment behind `at` */
    char *joined;        /* the lines of one rule */
    size_t joined_len, joined_cap;
};

void rule_lexer_init(struct rule_lexer *lexer, const char *text, size_t text_len);

/* The next rule, or other line, trimmed, valid until the next call; *number is its first line's. A
 * rule may go on over the next lines, as in Snort 3, until a line ends in ')'; no line that begins
 * a rule is taken for the end of another. SL_END: there is none. SL_ENOMEM. */
enum sl_status rule_lexer_next(struct rule_lexer *lexer, struct rule_text *line, uint32_t *number);

void rule_lexer_free(struct rule_lexer *lexer);

/* What a rule's first word asks for; NULL: it is no action. */
struct rule_action {
    const char *name;
    bool supported;
};

const struct rule_action *rule_action_find(struct rule_text word);

/* Takes a word of a rule's header off the front of *rest: it ends at a blank outside of brackets,
 * or at
 * '('. Empty where the header ends. */
struct rule_text rule_word(struct rule_text *rest);

/* Takes the next option off the front of *rest, without its ';'. *value is empty where there is
 * none. Quotes hide ';' only where they open the value, as paths in references hold single ones.
 * False: nothing is left, or what is left has no ';'. */
bool rule_next_option(struct rule_text *rest, struct rule_text *name, struct rule_text *value);

#endif
