/* SPDX-License-Identifier: MIT */
/* Cuts rule files into rules: comments, continued lines, rules over several lines. */
#ifndef DETECT_RULE_LEX_H
#define DETECT_RULE_LEX_H

#include "rule_text.h"
#include "sluice/status.h"

/* A line of a joined rule: where it begins in `joined` and in `text`. */
struct rule_line {
    size_t joined_at, text_at;
    uint32_t number;
};

struct rule_lexer {
    const char *text;
    size_t len;
    size_t begin; /* of the first line, behind a byte order mark */
    size_t at;
    uint32_t line;       /* of text[at] */
    bool no_comment_end; /* there is no end of a comment behind `at` */
    uint32_t number;     /* of the rule's first line */
    char *joined;        /* the lines of one rule */
    size_t joined_len, joined_cap;
    struct rule_line *lines; /* of `joined`; none: the rule lies in `text` */
    size_t n_lines, cap_lines;
};

/* A byte of a file: its line and column, both from 1. */
struct rule_place {
    uint32_t line, column;
};

void rule_lexer_init(struct rule_lexer *lexer, const char *text, size_t text_len);

/* The next rule, or other line, trimmed, valid until the next call; *number is its first line's. A
 * rule may go on over the next lines, as in Snort 3, until a line ends in ')'. No line that begins
 * a rule is taken for the end of another. SL_END: there is none. SL_ENOMEM. */
enum sl_status rule_lexer_next(struct rule_lexer *lexer, struct rule_text *line, uint32_t *number);

/* The place in the file of a byte of the rule whose first line has this number, or of the byte
 * behind it. The rule is the last, or one before that lies in the text. */
struct rule_place rule_lexer_place(const struct rule_lexer *lexer, uint32_t number, const char *at);

void rule_lexer_free(struct rule_lexer *lexer);

/* The action that a rule's first word names; NULL: it names none. An action with a scope
 * ("pass:flow") belongs to Suricata's firewall, which is not supported. */
struct rule_action {
    const char *name;
    bool supported;
};

const struct rule_action *rule_action_find(struct rule_text word);

/* Takes a word of a rule's header off the front of *rest. The word ends at '(', or at a blank
 * outside of brackets. It is empty where the header ends. */
struct rule_text rule_word(struct rule_text *rest);

#endif
