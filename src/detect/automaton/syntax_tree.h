/* SPDX-License-Identifier: MIT */
/* The tree of a regular expression, as far as an automaton can follow it. */
#ifndef DETECT_SYNTAX_TREE_H
#define DETECT_SYNTAX_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tree_kind {
    TREE_SET,         /* a byte of a set */
    TREE_SEQUENCE,    /* its children, one behind the other; without children nothing */
    TREE_ALTERNATIVE, /* one of its children */
    TREE_REPEAT,      /* its child, min to max times */
    TREE_BEGIN,       /* "^" */
    TREE_END          /* "$" */
};

#define TREE_NONE UINT32_MAX /* no node; no maximum */

struct byte_set {
    uint64_t word[4]; /* byte b: bit b % 64 of word b / 64 */
};

struct tree_node {
    enum tree_kind kind;
    uint32_t child, next; /* the first child; the next of the parent's children */
    uint32_t min, max;
    uint32_t text_end; /* of a repeat: the place behind its quantifier; 0: that says more */
    struct byte_set set;
};

struct syntax_tree {
    struct tree_node *node; /* the caller frees it */
    uint32_t n, cap;
    uint32_t root;
    bool exact;       /* otherwise it has more matches than the expression, and none less */
    bool multiline;   /* "^" and "$" also stand at newlines */
    bool dollar_only; /* "$" stands at the very end alone */
    bool looks;       /* a match may depend on bytes beside it */
};

static inline bool byte_set_has(const struct byte_set *set, unsigned byte)
{
    return (set->word[byte / 64] >> byte % 64 & 1) != 0;
}

/* Reads an expression that PCRE2 has accepted, with options of RULE_*. False: it has a construct
 * that no tree holds (recursion, conditions, verbs), or there is no memory. */
bool syntax_tree_read(struct syntax_tree *tree, const char *text, size_t len, uint32_t options);

#endif
