/* SPDX-License-Identifier: MIT */
/* The cost of a search for a body, a subsignature, an expression. */
#include <math.h>
#include <stdlib.h>

#include "clamav/compile_internal.h"

enum {
    ANCHOR_LEN_MIN = 4,  /* bytes; the matcher is slower with shorter ones */
    FIXED_SHIFT_MAX = 64 /* places that a body at a fixed position is tried at */
};

static const double anchor_bits_min = 13; /* rarer than once in 8 KiB, or no anchor */

/* Costs are verifications a file of 2^17 bytes. A body that many signatures share is common in
 * files, too. */
static const double places = 0x1p17, shared_cost = 0x1p-23, shared_fixed_cost = 0x1p-20;

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool is_fixed(const struct clam_pattern *pattern)
{
    return pattern->offset_kind != CLAM_ANYWHERE && pattern->offset_kind != CLAM_SECTION_WHOLE &&
           pattern->shift <= FIXED_SHIFT_MAX && pattern->groups == 1;
}

bool compile_has_literal(const struct compile *c, uint32_t number)
{
    const struct clam_seg *best = &c->segs[c->patterns[number].segs + c->best[number]];

    return best->key_len >= ANCHOR_LEN_MIN && best->key_bits >= anchor_bits_min;
}

static double pattern_cost(const struct compile *c, uint32_t number)
{
    const struct clam_seg *best = &c->segs[c->patterns[number].segs + c->best[number]];

    if (c->fixed[number])
        return exp2(-(double)best->key_bits) + c->users[number] * shared_fixed_cost;
    if (!compile_has_literal(c, number))
        return INFINITY;
    return places * exp2(-(double)best->key_bits) + c->users[number] * shared_cost;
}

/* ---- expressions ----------------------------------------------------------------------------- */

double compile_node_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number);

static double sub_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    const struct clam_sub *sub = &c->subs[sig->subs + number];
    double cost = 0;

    if (sub->kind == CLAM_SUB_PCRE)
        return compile_node_cost(c, sig, c->pcres[sub->first].node);
    for (uint32_t i = 0; i < sub->n; i++)
        cost += pattern_cost(c, c->variants[sub->first + i]);
    return cost;
}

/* Whether it may hold without any match below it. */
static bool holds_of_nothing(const struct clam_node *node)
{
    return node->modifier == '<' || (node->modifier == '=' && node->value == 0);
}

static int compare_leaves(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->sub < y->sub ? -1 : x->sub > y->sub;
}

/* The different subsignatures below a node, cheapest first. 0: some have counts of their own. */
static uint32_t leaves_of(const struct compile *c, const struct clam_sig *sig, uint32_t number,
                          struct leaf leaves[CLAM_SUBS_MAX])
{
    uint64_t seen = 0;
    uint32_t n = 0;

    for (uint32_t i = c->nodes[number].first; i < number; i++) {
        const struct clam_node *node = &c->nodes[i];

        if (node->modifier != 0)
            return 0;
        if (node->kind == CLAM_LEAF && (seen >> node->left & 1) == 0) {
            seen |= UINT64_C(1) << node->left;
            leaves[n++] = (struct leaf){sub_cost(c, sig, node->left), node->left};
        }
    }
    qsort(leaves, n, sizeof *leaves, compare_leaves);
    return n;
}

uint32_t compile_cheapest_leaves(const struct compile *c, const struct clam_sig *sig,
                                 uint32_t number, struct leaf leaves[CLAM_SUBS_MAX], double *cost)
{
    const struct clam_node *node = &c->nodes[number];
    uint32_t n = 0;

    *cost = INFINITY;
    if (node->kind == CLAM_LEAF || node->distinct < 2 || node->modifier == 0)
        return 0;
    n = leaves_of(c, sig, number, leaves);
    if (n < node->distinct)
        return 0;
    n -= node->distinct - 1;
    *cost = 0;
    for (uint32_t i = 0; i < n; i++)
        *cost += leaves[i].cost;
    return n;
}

double compile_operands_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    const struct clam_node *node = &c->nodes[number];

    if (node->kind == CLAM_LEAF)
        return sub_cost(c, sig, node->left);
    const double left = compile_node_cost(c, sig, node->left),
                 right = compile_node_cost(c, sig, node->right);
    return node->kind == CLAM_OR ? left + right : fmin(left, right);
}

double compile_node_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    struct leaf leaves[CLAM_SUBS_MAX];
    double cost;

    if (holds_of_nothing(&c->nodes[number]))
        return INFINITY;
    (void)compile_cheapest_leaves(c, sig, number, leaves, &cost);
    return fmin(cost, compile_operands_cost(c, sig, number));
}

/* ---- measures -------------------------------------------------------------------------------- */

static void measure_sig(struct compile *c, const struct clam_sig *sig)
{
    for (uint32_t i = sig->subs; i < sig->subs + sig->n_subs; i++) {
        const struct clam_sub *sub = &c->subs[i];

        for (uint32_t v = sub->first; sub->kind == CLAM_SUB_BODY && v < sub->first + sub->n; v++) {
            const uint32_t pattern = c->variants[v];

            c->users[pattern]++;
            if (sig->count_max > c->patterns[pattern].count_max)
                c->patterns[pattern].count_max = sig->count_max;
        }
    }
}

/* Those of a spent set, or a copy. */
static bool take_patterns(struct compile *c)
{
    const struct clam_records *read = &c->set->records[CLAM_A_PATTERNS];

    if (c->spent != NULL) {
        c->patterns = c->spent->records[CLAM_A_PATTERNS].at;
        c->spent->records[CLAM_A_PATTERNS].at = NULL;
        return true;
    }
    c->patterns = calloc(read->n + 1, sizeof *c->patterns);
    if (c->patterns != NULL && read->n > 0)
        memcpy(c->patterns, read->at, read->n * sizeof *c->patterns);
    return c->patterns != NULL;
}

bool compile_measure(struct compile *c)
{
    c->users = calloc(c->n_patterns + 1, sizeof *c->users);
    c->best = calloc(c->n_patterns + 1, sizeof *c->best);
    c->fixed = calloc(c->n_patterns + 1, sizeof *c->fixed);
    if (!take_patterns(c) || c->users == NULL || c->best == NULL || c->fixed == NULL)
        return false;
    for (size_t p = 0; p < c->n_patterns; p++) {
        struct clam_pattern *pattern = &c->patterns[p];

        c->best[p] = (uint16_t)clam_rarest_seg(c->segs + pattern->segs, 0, pattern->n_segs - 1);
        c->fixed[p] = is_fixed(pattern);
        pattern->sigs = pattern->n_sigs = pattern->count_max = 0; /* of a block that was merged */
        pattern->targets = pattern->looked_for = 0;
    }
    for (size_t s = 0; s < c->n_sigs; s++)
        measure_sig(c, &c->sigs[s]);
    return true;
}
