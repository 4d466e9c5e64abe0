/* SPDX-License-Identifier: MIT */
/* A walk goes through the tree up to the first choice that may be taken back. The part before it is
 * passed once for each place where a match may begin, in each alternative. */
#include "possessive.h"

#include <stdlib.h>
#include <string.h>

#include "syntax_tree.h"

struct walk {
    const struct syntax_tree *tree;
    bool *marked; /* by the byte behind a repeat */
};

static const struct byte_set all_bytes = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

static struct byte_set both(struct byte_set a, struct byte_set b)
{
    for (size_t i = 0; i < 4; i++)
        a.word[i] |= b.word[i];
    return a;
}

static bool share_bytes(const struct byte_set *a, const struct byte_set *b)
{
    uint64_t shared = 0;

    for (size_t i = 0; i < 4; i++)
        shared |= a->word[i] & b->word[i];
    return shared != 0;
}

static struct byte_set first_of(const struct syntax_tree *tree, uint32_t at, bool *nullable);

/* The bytes that may follow before a node and those next to it, with `behind` behind them. */
static struct byte_set first_of_rest(const struct syntax_tree *tree, uint32_t at,
                                     struct byte_set behind)
{
    struct byte_set first = {{0}};
    bool nullable = true;

    for (; at != TREE_NONE && nullable; at = tree->node[at].next)
        first = both(first, first_of(tree, at, &nullable));
    return nullable ? both(first, behind) : first;
}

/* The bytes that a node may begin with. An empty sequence may stand for an assertion, which looks
 * at any. */
static struct byte_set first_of(const struct syntax_tree *tree, uint32_t at, bool *nullable)
{
    const struct tree_node *node = &tree->node[at];
    struct byte_set first = {{0}};
    bool one_nullable = false;

    *nullable = false;
    switch (node->kind) {
    case TREE_SET:
        return node->set;
    case TREE_ALTERNATIVE:
        for (uint32_t i = node->child; i != TREE_NONE; i = tree->node[i].next) {
            first = both(first, first_of(tree, i, &one_nullable));
            *nullable |= one_nullable;
        }
        return first;
    case TREE_REPEAT:
        first = first_of(tree, node->child, nullable);
        *nullable |= node->min == 0;
        return first;
    case TREE_SEQUENCE:
        for (uint32_t i = node->child; i != TREE_NONE; i = tree->node[i].next) {
            first = both(first, first_of(tree, i, nullable));
            if (!*nullable)
                return first;
        }
        return node->child != TREE_NONE ? first : all_bytes;
    default:
        return all_bytes;
    }
}

static bool walk_node(const struct walk *walk, uint32_t at, struct byte_set behind);

static bool walk_sequence(const struct walk *walk, const struct tree_node *node,
                          struct byte_set behind)
{
    for (uint32_t i = node->child; i != TREE_NONE; i = walk->tree->node[i].next)
        if (!walk_node(walk, i, first_of_rest(walk->tree, walk->tree->node[i].next, behind)))
            return false;
    return true;
}

static bool walk_alternatives(const struct walk *walk, const struct tree_node *node,
                              struct byte_set behind)
{
    struct byte_set seen = {{0}};
    bool decided = true;

    for (uint32_t i = node->child; i != TREE_NONE; i = walk->tree->node[i].next) {
        bool nullable;
        struct byte_set first = first_of(walk->tree, i, &nullable);

        if (nullable)
            first = both(first, behind);
        decided &= !share_bytes(&seen, &first);
        seen = both(seen, first);
        decided &= walk_node(walk, i, behind);
    }
    return decided;
}

/* Whether the byte behind a node decides each choice in it. `behind`: the bytes that may follow. */
static bool walk_node(const struct walk *walk, uint32_t at, struct byte_set behind)
{
    const struct tree_node *node = &walk->tree->node[at];

    switch (node->kind) {
    case TREE_SEQUENCE:
        return walk_sequence(walk, node, behind);
    case TREE_ALTERNATIVE:
        return walk_alternatives(walk, node, behind);
    case TREE_REPEAT:
        if (walk->tree->node[node->child].kind != TREE_SET)
            return false;
        if (node->min != node->max && share_bytes(&walk->tree->node[node->child].set, &behind))
            return false;
        walk->marked[node->text_end] = true;
        return true;
    default:
        return true;
    }
}

char *possessive_text(const char *text, size_t len, uint32_t options, size_t *made_len)
{
    struct syntax_tree tree;
    const struct walk walk = {&tree, calloc(len + 1, sizeof *walk.marked)};
    char *made = malloc(2 * len + 1);
    size_t n = 0;

    if (syntax_tree_read(&tree, text, len, options) && walk.marked != NULL)
        (void)walk_node(&walk, tree.root, all_bytes);
    for (size_t i = 0; made != NULL && walk.marked != NULL && i <= len; i++) {
        if (i != 0 && walk.marked[i])
            made[n++] = '+';
        if (i < len)
            made[n++] = text[i];
    }
    if (walk.marked == NULL) {
        free(made);
        made = NULL;
    }
    free(walk.marked);
    free(tree.node);
    *made_len = n;
    return made;
}
