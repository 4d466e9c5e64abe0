/* SPDX-License-Identifier: MIT */
/* Logical expressions (ClamAV: LogicalSignatures). Operators have no precedence: `a&b|c` is
 * `a&(b|c)`, as libclamav evaluates it. */
#include <xxhash.h>

#include "clamav/set.h"

struct logic {
    struct sl_clamav_set *set;
    struct clam_text rest;
    uint32_t n_subs, count_max;
};

static enum clam_taken read_expression(struct logic *logic, unsigned depth, uint32_t *node);

static char next_char(const struct logic *logic)
{
    return logic->rest.len > 0 ? logic->rest.at[0] : '\0';
}

static void skip_char(struct logic *logic)
{
    logic->rest.at++;
    logic->rest.len--;
}

static bool read_number(struct logic *logic, uint32_t *value)
{
    struct clam_text digits = {logic->rest.at, 0};
    uint64_t number;

    while (next_char(logic) >= '0' && next_char(logic) <= '9') {
        skip_char(logic);
        digits.len++;
    }
    if (!clam_text_number(digits, INT32_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

static struct clam_node *node_at(struct logic *logic, uint32_t node)
{
    return (struct clam_node *)logic->set->records[CLAM_A_NODES].at + node;
}

static enum clam_taken read_modifier(struct logic *logic, uint32_t node)
{
    char modifier = '\0';
    uint32_t value = 0, distinct = 0;

    /* Real databases have `==`, and `=2,` without a second number. */
    for (char c = next_char(logic); c == '=' || c == '<' || c == '>'; c = next_char(logic)) {
        modifier = c;
        skip_char(logic);
    }
    if (modifier == '\0')
        return CLAM_TAKEN;
    if (node_at(logic, node)->modifier != 0)
        return clam_bad(logic->set, "the expression has two counts for one operand");
    if (!read_number(logic, &value))
        return clam_bad(logic->set, "the expression lacks a number behind '%c'", modifier);
    if (next_char(logic) == ',') {
        skip_char(logic);
        if (next_char(logic) >= '0' && next_char(logic) <= '9' && !read_number(logic, &distinct))
            return clam_bad(logic->set, "the expression has too large a number");
    }
    node_at(logic, node)->modifier = (uint8_t)modifier;
    node_at(logic, node)->value = value;
    node_at(logic, node)->distinct = distinct;
    if (value + 1 > logic->count_max)
        logic->count_max = value + 1;
    return CLAM_TAKEN;
}

static enum clam_taken read_leaf(struct logic *logic, uint32_t *node)
{
    struct clam_node *leaf;
    uint32_t sub = 0;

    if (!read_number(logic, &sub))
        return clam_bad(logic->set, "the expression is wrong at '%.*s'",
                        (int)(logic->rest.len < 16 ? logic->rest.len : 16), logic->rest.at);
    if (sub >= CLAM_SUBS_MAX)
        return clam_bad(logic->set, "the expression names more than %d subsignatures",
                        CLAM_SUBS_MAX);
    leaf = clam_push(logic->set, CLAM_A_NODES, 1, node);
    if (leaf == NULL)
        return CLAM_NO_MEMORY;
    leaf->kind = CLAM_LEAF;
    leaf->left = sub;
    leaf->depth = 1;
    leaf->first = *node;
    if (sub + 1 > logic->n_subs)
        logic->n_subs = sub + 1;
    return CLAM_TAKEN;
}

static enum clam_taken read_operand(struct logic *logic, unsigned depth, uint32_t *node)
{
    enum clam_taken taken;

    if (next_char(logic) != '(') {
        taken = read_leaf(logic, node);
    } else {
        skip_char(logic);
        taken = read_expression(logic, depth + 1, node);
        if (taken == CLAM_TAKEN && next_char(logic) != ')')
            return clam_bad(logic->set, "the expression lacks a closing parenthesis");
        if (taken == CLAM_TAKEN)
            skip_char(logic);
    }
    return taken == CLAM_TAKEN ? read_modifier(logic, *node) : taken;
}

static enum clam_taken read_expression(struct logic *logic, unsigned depth, uint32_t *node)
{
    uint32_t left = 0, right = 0;

    if (depth > CLAM_DEPTH_MAX)
        return clam_bad(logic->set, "the expression is nested too deeply");
    enum clam_taken taken = read_operand(logic, depth, &left);
    const char op = next_char(logic);
    *node = left;
    if (taken != CLAM_TAKEN || (op != '&' && op != '|'))
        return taken;
    skip_char(logic);
    taken = read_expression(logic, depth + 1, &right);
    if (taken != CLAM_TAKEN)
        return taken;

    struct clam_node *both = clam_push(logic->set, CLAM_A_NODES, 1, node);
    if (both == NULL)
        return CLAM_NO_MEMORY;
    const unsigned left_depth = node_at(logic, left)->depth;
    const unsigned right_depth = node_at(logic, right)->depth;
    both->kind = op == '&' ? CLAM_AND : CLAM_OR;
    both->left = left;
    both->right = right;
    both->first = node_at(logic, left)->first;
    both->depth = (uint16_t)(1 + (left_depth > right_depth ? left_depth : right_depth));
    return CLAM_TAKEN;
}

static enum clam_taken read_tree(struct sl_clamav_set *set, struct clam_text text,
                                 struct clam_tree *tree)
{
    struct logic logic = {.set = set, .rest = text};
    const enum clam_taken taken = read_expression(&logic, 0, &tree->node);

    if (taken == CLAM_TAKEN && logic.rest.len > 0)
        return clam_bad(set, "the expression is wrong at '%.*s'",
                        (int)(logic.rest.len < 16 ? logic.rest.len : 16), logic.rest.at);
    tree->n_subs = logic.n_subs;
    tree->count_max = logic.count_max;
    return taken;
}

/* A set has few expressions, and many signatures with each. */
static bool put_tree(struct sl_clamav_set *set, const uint64_t key[2], const struct clam_tree *tree)
{
    struct clam_tree *room = clam_grow(&set->trees, sizeof *room, 1);

    if (room == NULL || !clam_chain_add(&set->expressions, key))
        return false;
    *room = *tree;
    return true;
}

enum clam_taken clam_logic_read(struct sl_clamav_set *set, struct clam_text text, uint32_t *node,
                                uint32_t *n_subs, uint32_t *count_max)
{
    const XXH128_hash_t hash = XXH3_128bits(text.at, text.len);
    const uint64_t key[2] = {hash.low64, hash.high64};
    const uint32_t number = clam_chain_find(&set->expressions, key);
    struct clam_tree tree = {0};

    if (number != CLAM_NONE) {
        tree = ((const struct clam_tree *)set->trees.at)[number];
    } else {
        const enum clam_taken taken = read_tree(set, text, &tree);

        if (taken != CLAM_TAKEN)
            return taken;
        if (!put_tree(set, key, &tree))
            return CLAM_NO_MEMORY;
    }
    *node = tree.node;
    *n_subs = tree.n_subs;
    if (tree.count_max > *count_max)
        *count_max = tree.count_max;
    return CLAM_TAKEN;
}
