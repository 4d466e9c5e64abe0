/* SPDX-License-Identifier: MIT */
/* Of each expression the cheapest set of bodies of which one must match. */
#include <math.h>
#include <stdlib.h>

#include "clamav/compile_internal.h"

struct pair {
    uint32_t pattern, sig;
};

static bool add_pair(struct compile *c, uint32_t pattern, uint32_t sig)
{
    struct pair *pair = clam_grow(&c->pairs, sizeof *pair, 1);

    if (pair != NULL)
        *pair = (struct pair){pattern, sig};
    return pair != NULL;
}

static bool anchor_node(struct compile *c, uint32_t sig, uint32_t number);

static bool anchor_sub(struct compile *c, uint32_t sig, uint32_t number)
{
    const struct clam_sub *sub = &c->subs[c->sigs[sig].subs + number];

    if (sub->kind == CLAM_SUB_PCRE)
        return anchor_node(c, sig, c->pcres[sub->first].node);
    for (uint32_t i = 0; i < sub->n; i++)
        if (!add_pair(c, c->variants[sub->first + i], sig))
            return false;
    return true;
}

/* Adds the bodies of which one must match. */
static bool anchor_node(struct compile *c, uint32_t sig, uint32_t number)
{
    const struct clam_node *node = &c->nodes[number];
    struct leaf leaves[CLAM_SUBS_MAX];
    double cost;
    const uint32_t n = compile_cheapest_leaves(c, &c->sigs[sig], number, leaves, &cost);

    if (cost < compile_operands_cost(c, &c->sigs[sig], number)) {
        for (uint32_t i = 0; i < n; i++)
            if (!anchor_sub(c, sig, leaves[i].sub))
                return false;
        return true;
    }

    if (node->kind == CLAM_OR)
        return anchor_node(c, sig, node->left) && anchor_node(c, sig, node->right);
    if (node->kind == CLAM_AND) {
        const double left = compile_node_cost(c, &c->sigs[sig], node->left);

        return anchor_node(c, sig,
                           left <= compile_node_cost(c, &c->sigs[sig], node->right) ? node->left
                                                                                    : node->right);
    }
    return anchor_sub(c, sig, node->left);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    return x->sig < y->sig ? -1 : x->sig > y->sig;
}

/* The signatures of each pattern, one behind the other. */
static bool list_pairs(struct compile *c)
{
    struct pair *pairs = (struct pair *)c->pairs.at;

    if (c->pairs.n > 0)
        qsort(pairs, c->pairs.n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < c->pairs.n; i++) {
        struct clam_pattern *pattern = &c->patterns[pairs[i].pattern];
        uint32_t *sig;

        if (i > 0 && compare_pairs(&pairs[i - 1], &pairs[i]) == 0)
            continue;
        if (pattern->n_sigs++ == 0)
            pattern->sigs = (uint32_t)c->anchored.n;
        pattern->targets |= (uint16_t)(1u << c->sigs[pairs[i].sig].target);
        pattern->looked_for = !c->fixed[pairs[i].pattern];
        sig = clam_grow(&c->anchored, sizeof *sig, 1);
        if (sig == NULL)
            return false;
        *sig = pairs[i].sig;
    }
    free(c->pairs.at);
    free(c->users);
    c->pairs.at = NULL;
    c->users = NULL;
    return true;
}

bool compile_choose_anchors(struct compile *c)
{
    for (uint32_t s = 0; s < c->n_sigs; s++) {
        const struct clam_sig *sig = &c->sigs[s];
        const size_t before = c->pairs.n;
        uint32_t *searched;

        if (compile_is_ignored_text(c, sig->name))
            continue;
        if (!isinf(compile_node_cost(c, sig, sig->node))) {
            bool fixed = true, in_parts = true;

            if (!anchor_node(c, s, sig->node))
                return false;
            for (size_t i = before; i < c->pairs.n; i++) {
                const uint32_t pattern = ((struct pair *)c->pairs.at)[i].pattern;

                fixed &= c->fixed[pattern];
                in_parts &= compile_has_literal(c, pattern);
            }
            c->n_fixed += fixed;
            c->n_anchored += !fixed;
            c->n_in_parts += in_parts;
            continue;
        }
        searched = clam_grow(&c->searched, sizeof *searched, 1);
        if (searched == NULL)
            return false;
        *searched = s;
    }
    return list_pairs(c);
}
