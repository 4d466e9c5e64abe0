/* SPDX-License-Identifier: MIT */
/* Signatures: targets, sizes, and expressions over how often bodies and PCREs match. */
#include "clamav/match.h"
#include "clamav/pcre.h"

/* The value of an operand: the number of matches, and their subsignatures. */
struct tally {
    uint64_t n;
    uint64_t subs;
};

static bool evaluate(struct clam_match *match, const struct clam_sig *sig, uint32_t number,
                     uint32_t max, struct tally *tally);

static uint32_t count_sub(struct clam_match *match, const struct clam_sig *sig, uint32_t number,
                          uint32_t max)
{
    const struct clam_sub *sub = &match->subs[sig->subs + number];
    uint32_t n = 0;

    if (sub->kind == CLAM_SUB_PCRE) {
        struct tally tally = {0, 0};

        /* The expression may ask for counts, and so may the trigger. */
        if (!evaluate(match, sig, match->pcres[sub->first].node, sig->count_max, &tally))
            return 0;
        if (match->ahead == NULL)
            return clam_pcre_count(match, sub->first, max);
        return 0;
    }
    for (uint32_t i = 0; i < sub->n && n < max; i++)
        n += clam_match_count(match, match->variants[sub->first + i], max - n);
    return n;
}

static bool modifier_holds(const struct clam_node *node, uint64_t n)
{
    switch (node->modifier) {
    case '=':
        return n == node->value;
    case '<':
        return n < node->value;
    case '>':
        return n > node->value;
    default:
        return n > 0;
    }
}

static bool evaluate_leaf(struct clam_match *match, const struct clam_sig *sig,
                          const struct clam_node *node, uint32_t max, struct tally *tally)
{
    const uint32_t n = count_sub(match, sig, node->left, max);

    if (!modifier_holds(node, n))
        return false;
    tally->n += n;
    tally->subs |= UINT64_C(1) << node->left;
    return true;
}

/* Whether a subsignature may match: without searching, or exactly. PCREs may. */
static bool sub_may_match(struct clam_match *match, const struct clam_sig *sig, uint32_t number,
                          bool search)
{
    const struct clam_sub *sub = &match->subs[sig->subs + number];
    const uint32_t *variants = match->variants + sub->first;

    if (sub->kind == CLAM_SUB_PCRE)
        return true;
    for (uint32_t i = 0; i < sub->n; i++)
        if (search ? clam_match_exists(match, variants[i])
                   : clam_match_known(match, variants[i]) != CLAM_ABSENT)
            return true;
    return false;
}

/* A block that asks for several different subsignatures is most often decided by few of them. Known
 * ones come first, then one search after another until too many are missing. */
static bool may_have_distinct(struct clam_match *match, const struct clam_sig *sig, uint32_t number)
{
    const struct clam_node *node = &match->nodes[number];
    uint64_t subs = 0;

    for (uint32_t i = node->first; i < number; i++) {
        if (match->nodes[i].modifier != 0)
            return true; /* it may count without a match */
        if (match->nodes[i].kind == CLAM_LEAF)
            subs |= UINT64_C(1) << match->nodes[i].left;
    }
    uint32_t left = (uint32_t)__builtin_popcountll(subs);
    for (int search = 0; search < 2; search++)
        for (uint32_t i = 0; i < CLAM_SUBS_MAX && left >= node->distinct; i++)
            if ((subs >> i & 1) != 0 && !sub_may_match(match, sig, i, search != 0)) {
                subs &= ~(UINT64_C(1) << i);
                left--;
            }
    return left >= node->distinct;
}

/* The count is libclamav's. A block that does not hold has no matches. One with a count of its own
 * adds its matches, but no subsignatures, to the block around it. */
static bool evaluate(struct clam_match *match, const struct clam_sig *sig, uint32_t number,
                     uint32_t max, struct tally *tally)
{
    const struct clam_node *node = &match->nodes[number];
    struct tally own = {0, 0};

    if (node->kind == CLAM_LEAF)
        return evaluate_leaf(match, sig, node, max, tally);
    if (node->distinct > 1 && !may_have_distinct(match, sig, number))
        return false;
    /* Only counts need both sides where one decides. */
    const bool both = sig->count_max > 1;
    const bool left = evaluate(match, sig, node->left, max, &own);
    bool holds = left;
    if (both || left == (node->kind == CLAM_AND)) {
        const bool right = evaluate(match, sig, node->right, max, &own);

        holds = node->kind == CLAM_AND ? left && right : left || right;
    }
    if (node->modifier == 0) {
        if (holds) {
            tally->n += own.n;
            tally->subs |= own.subs;
        }
        return holds;
    }
    if (!holds)
        own = (struct tally){0, 0};
    if (!modifier_holds(node, own.n) || (uint32_t)__builtin_popcountll(own.subs) < node->distinct)
        return false;
    tally->n += own.n;
    return true;
}

bool clam_match_only_gains(const struct clam_match *match, uint32_t number)
{
    const uint32_t root = match->sigs[number].node;

    for (uint32_t i = match->nodes[root].first; i <= root; i++)
        if (match->nodes[i].modifier == '=' || match->nodes[i].modifier == '<')
            return false;
    return true;
}

/* Whether the object lies in containers of these kinds. */
static bool lies_in(const struct clam_object *object, const struct clam_demand *demand)
{
    for (unsigned i = 1; i <= demand->n_in; i++) {
        const uint8_t kind = demand->in[demand->n_in - i];

        if (kind != CLAM_KIND_ANY &&
            (object->n_containers < i ||
             !kind_is_same((enum kind)kind,
                           (enum kind)object->containers[object->n_containers - i])))
            return false;
    }
    return true;
}

static bool is_as_demanded(const struct clam_object *object, const struct clam_demand *demand)
{
    if ((!object->part && object->stated_len < demand->size_min) ||
        object->stated_len > demand->size_max || !lies_in(object, demand))
        return false;
    if (demand->ep_min == 0 && demand->ep_max == UINT32_MAX && demand->nos_min == 0 &&
        demand->nos_max == UINT32_MAX)
        return true;
    const struct clam_exe *exe = object->exe;
    return exe->good && exe->entry >= demand->ep_min && exe->entry <= demand->ep_max &&
           exe->n_sections >= demand->nos_min && exe->n_sections <= demand->nos_max;
}

bool clam_match_applies(const struct clam_match *match, uint32_t number)
{
    const struct clam_sig *sig = &match->sigs[number];
    const struct clam_object *object = match->object;

    if (!object->part && sig->target != CLAM_GENERIC && sig->target != object->target)
        return false;
    return sig->demand == CLAM_NONE || is_as_demanded(object, &match->demands[sig->demand]);
}

bool clam_match_sig(struct clam_match *match, uint32_t number)
{
    const struct clam_sig *sig = &match->sigs[number];
    struct tally tally = {0, 0};

    return clam_match_applies(match, number) &&
           evaluate(match, sig, sig->node, sig->count_max, &tally);
}
