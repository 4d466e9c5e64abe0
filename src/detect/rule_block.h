/* SPDX-License-Identifier: MIT */
/* Rules of a text that threads read beside each other. */
#ifndef DETECT_RULE_BLOCK_H
#define DETECT_RULE_BLOCK_H

#include "detect/parse/rule_text.h"
#include "rule.h"

enum { RULE_BLOCK_MAX = 4096 /* rules, which bounds the memory of a block */ };

struct rule_read {
    struct rule_text line;
    uint32_t number;   /* of the line */
    struct rule *rule; /* NULL: it is not read, or wrong, or not supported, or needs those before */
    struct rule_text class; /* that it names */
};

struct rule_block {
    struct rule_read *rule; /* malloc'ed */
    size_t n, cap;
};

/* Adds a rule, which lies in the text until the block is read. False: no memory. */
bool rule_block_add(struct rule_block *block, struct rule_text line, uint32_t number);

/* Reads rules on threads, where there are enough. Rules that need their order are left. */
void rule_block_read(struct rule_block *block, struct sl_rules *rules);

void rule_block_free(struct rule_block *block);

#endif
