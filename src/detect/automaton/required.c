/* SPDX-License-Identifier: MIT */
/* A part of the tree counts where each match passes it: a byte, or a letter in both cases, of the
 * outermost sequence. Neighbours are one literal. The bytes of groups and of optional parts count
 * for nothing, and end a literal. */
#include "required.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "detect/evaluate/content_find.h"
#include "syntax_tree.h"

enum { LITERALS = 8, LITERAL_MAX = 32 };

struct required {
    uint32_t n;
    struct content_sought literal[]; /* n, and their bytes behind them */
};

/* The literals so far. */
struct literals {
    uint32_t n, len[LITERALS];
    bool nocase[LITERALS];
    uint8_t bytes[LITERALS][LITERAL_MAX];
};

/* ---- making ---------------------------------------------------------------------------------- */

/* The byte of a set that has one, or the lower case of a letter that has both. */
static bool only_byte(const struct byte_set *set, uint8_t *byte, bool *both_cases)
{
    unsigned n = 0, first = 0, last = 0;

    for (unsigned i = 0; i < 256; i++)
        if (byte_set_has(set, i)) {
            first = n == 0 ? i : first;
            last = i;
            n++;
        }
    *byte = (uint8_t)last;
    *both_cases = n == 2 && first >= 'A' && first <= 'Z' && last == first + 32;
    return n == 1 || *both_cases;
}

/* Adds a byte to the last literal where it follows that, or else begins another. False: the set has
 * more, or there is no room. */
static bool add(struct literals *all, const struct byte_set *set, bool follows)
{
    uint8_t byte;
    bool both_cases;

    if (!only_byte(set, &byte, &both_cases))
        return false;
    if (!follows || all->len[all->n - 1] == LITERAL_MAX) {
        if (all->n == LITERALS)
            return false;
        all->n++;
    }
    all->bytes[all->n - 1][all->len[all->n - 1]++] = byte;
    all->nocase[all->n - 1] |= both_cases;
    return true;
}

/* A repeat counts once, and ends a literal. */
static void collect(struct literals *all, const struct syntax_tree *tree)
{
    const uint32_t sequence = tree->node[tree->root].child;
    bool follows = false;

    if (tree->node[sequence].next != TREE_NONE) /* an alternative */
        return;
    for (uint32_t i = tree->node[sequence].child; i != TREE_NONE; i = tree->node[i].next) {
        const struct tree_node *node = &tree->node[i];
        const bool repeats = node->kind == TREE_REPEAT && node->min != 0;

        if (repeats)
            node = &tree->node[node->child];
        follows = node->kind == TREE_SET && add(all, &node->set, follows) && !repeats;
    }
}

/* NULL: no memory. A literal with a letter in both cases is found in any case. */
static const struct required *place(const struct literals *all, struct rule_arena *arena)
{
    const size_t of_literal = sizeof(struct content_sought) + LITERAL_MAX;
    struct required *made = rule_arena_alloc(arena, sizeof *made + all->n * of_literal);
    uint8_t *bytes;

    if (made == NULL)
        return NULL;
    made->n = all->n;
    bytes = (uint8_t *)&made->literal[all->n];
    for (uint32_t i = 0; i < all->n; i++, bytes += LITERAL_MAX) {
        made->literal[i] = (struct content_sought){bytes, all->len[i], all->nocase[i]};
        for (uint32_t k = 0; k < all->len[i]; k++)
            bytes[k] = all->nocase[i] ? letter_lower(all->bytes[i][k]) : all->bytes[i][k];
    }
    return made;
}

bool required_make(struct rule_arena *arena, const char *text, size_t len, uint32_t options,
                   const struct required **required)
{
    struct syntax_tree tree;
    struct literals all = {0};

    *required = NULL;
    if (syntax_tree_read(&tree, text, len, options))
        collect(&all, &tree);
    free(tree.node);
    if (all.n == 0)
        return true;
    *required = place(&all, arena);
    return *required != NULL;
}

/* ---- searching ------------------------------------------------------------------------------- */

bool required_allow(const struct required *required, const uint8_t *bytes, size_t len,
                    uint64_t *effort)
{
    enum { EFFORT_OF_SEARCH = 16 /* beside that of its comparisons */ };
    size_t from = 0;

    for (uint32_t i = 0; EFFORT_OF_SEARCH < *effort && i < required->n; i++) {
        struct content_search search;

        *effort -= EFFORT_OF_SEARCH;
        content_search_begin(&search, &required->literal[i], bytes + from, len - from, *effort);

        const size_t at = content_search_next(&search, 0);

        *effort -= search.effort < *effort ? search.effort : *effort;
        if (at == CONTENT_NOWHERE)
            return content_search_stopped(&search);
        from += at + required->literal[i].len;
    }
    return true;
}
