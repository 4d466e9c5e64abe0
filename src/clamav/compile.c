/* SPDX-License-Identifier: MIT */
/* From a set to a block: of each expression the cheapest set of subsignatures of which one must
 * match, of each of those the rarest literal. These anchors are all that the matcher looks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "clamav/db.h"
#include "clamav/set.h"

enum {
    ANCHOR_LEN_MIN = 4,  /* bytes; the matcher is slower with shorter ones */
    FIXED_SHIFT_MAX = 64 /* places that a body at a fixed position is tried at */
};

static const double anchor_bits_min = 13; /* rarer than once in 8 KiB, or no anchor */

/* Costs are verifications a file of 2^17 bytes. What many signatures have in common is common in
 * what they are looked for in. */
static const double places = 0x1p17, shared_cost = 0x1p-23, shared_fixed_cost = 0x1p-20;

struct compile {
    const struct sl_clamav_set *set;
    const struct clam_pattern *patterns;
    const struct clam_seg *segs;
    const struct clam_node *nodes;
    const struct clam_sub *subs;
    const uint32_t *variants;
    const struct clam_pcre *pcres;
    const struct clam_sig *sigs;
    size_t n_patterns, n_sigs;

    const char **ignored; /* names, sorted */
    size_t n_ignored;
    uint32_t *users;     /* by pattern: signatures that have it */
    uint32_t *count_max; /* by pattern */
    uint32_t *best;      /* by pattern: the segment with the rarest literal */
    uint8_t *fixed;      /* by pattern: it is tried at its position */
    uint32_t *first, *n; /* by pattern: signatures that it anchors */
    uint32_t *targets;
    struct clam_records pairs; /* struct pair: pattern and signature */
    struct clam_records anchored, literals, uses, fixeds, searched, hashes, sizes;
    struct sl_mpm_table *mpm;
    uint64_t ranges[CLAM_HASHED][CLAM_HASHES][2];
    uint64_t n_hashes, n_anchored, n_fixed, n_in_parts;
};

struct pair {
    uint32_t pattern, sig;
};

/* ---- costs ----------------------------------------------------------------------------------- */

static bool is_fixed(const struct clam_pattern *pattern)
{
    return pattern->offset_kind != CLAM_ANYWHERE && pattern->offset_kind != CLAM_SECTION_WHOLE &&
           pattern->shift <= FIXED_SHIFT_MAX && pattern->groups == 1;
}

/* Whether the matcher can search for it. */
static bool has_literal(const struct compile *c, uint32_t number)
{
    const struct clam_seg *best = &c->segs[c->patterns[number].segs + c->best[number]];

    return best->key_len >= ANCHOR_LEN_MIN && best->key_bits >= anchor_bits_min;
}

static double pattern_cost(const struct compile *c, uint32_t number)
{
    const struct clam_seg *best = &c->segs[c->patterns[number].segs + c->best[number]];

    if (c->fixed[number])
        return exp2(-(double)best->key_bits) + c->users[number] * shared_fixed_cost;
    if (!has_literal(c, number))
        return INFINITY;
    return places * exp2(-(double)best->key_bits) + c->users[number] * shared_cost;
}

static double node_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number);

static double sub_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    const struct clam_sub *sub = &c->subs[sig->subs + number];
    double cost = 0;

    if (sub->kind == CLAM_SUB_PCRE)
        return node_cost(c, sig, c->pcres[sub->first].node);
    for (uint32_t i = 0; i < sub->n; i++)
        cost += pattern_cost(c, c->variants[sub->first + i]);
    return cost;
}

/* Whether it may hold without any match below it. */
static bool holds_of_nothing(const struct clam_node *node)
{
    return node->modifier == '<' || (node->modifier == '=' && node->value == 0);
}

struct leaf {
    double cost;
    uint32_t sub;
};

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

/* Of n subsignatures d different ones must match: then one of any n - d + 1 does. How many there
 * are to look for, the cheapest, and what they cost. */
static uint32_t cheapest_leaves(const struct compile *c, const struct clam_sig *sig,
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

/* Of looking for one of the operands, as the operator has it. */
static double operands_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    const struct clam_node *node = &c->nodes[number];

    if (node->kind == CLAM_LEAF)
        return sub_cost(c, sig, node->left);
    const double left = node_cost(c, sig, node->left), right = node_cost(c, sig, node->right);
    return node->kind == CLAM_OR ? left + right : fmin(left, right);
}

static double node_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number)
{
    struct leaf leaves[CLAM_SUBS_MAX];
    double cost;

    if (holds_of_nothing(&c->nodes[number]))
        return INFINITY;
    (void)cheapest_leaves(c, sig, number, leaves, &cost);
    return fmin(cost, operands_cost(c, sig, number));
}

/* ---- anchors --------------------------------------------------------------------------------- */

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
    const uint32_t n = cheapest_leaves(c, &c->sigs[sig], number, leaves, &cost);

    if (cost < operands_cost(c, &c->sigs[sig], number)) {
        for (uint32_t i = 0; i < n; i++)
            if (!anchor_sub(c, sig, leaves[i].sub))
                return false;
        return true;
    }

    if (node->kind == CLAM_OR)
        return anchor_node(c, sig, node->left) && anchor_node(c, sig, node->right);
    if (node->kind == CLAM_AND) {
        const double left = node_cost(c, &c->sigs[sig], node->left);

        return anchor_node(
            c, sig, left <= node_cost(c, &c->sigs[sig], node->right) ? node->left : node->right);
    }
    return anchor_sub(c, sig, node->left);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_ignored(const struct compile *c, uint32_t name)
{
    const char *text = (const char *)c->set->records[CLAM_A_TEXT].at + name;

    return c->n_ignored > 0 &&
           bsearch(&text, c->ignored, c->n_ignored, sizeof *c->ignored, compare_names) != NULL;
}

static bool take_ignored(struct compile *c)
{
    const struct clam_ignore *ignores = (const struct clam_ignore *)c->set->ignores.at;

    c->ignored = calloc(c->set->ignores.n + 1, sizeof *c->ignored);
    if (c->ignored == NULL)
        return false;
    for (size_t i = 0; i < c->set->ignores.n; i++)
        if (!ignores[i].has_digest)
            c->ignored[c->n_ignored++] = ignores[i].name;
    qsort(c->ignored, c->n_ignored, sizeof *c->ignored, compare_names);
    return true;
}

static void measure_sig(struct compile *c, const struct clam_sig *sig)
{
    for (uint32_t i = sig->subs; i < sig->subs + sig->n_subs; i++) {
        const struct clam_sub *sub = &c->subs[i];

        for (uint32_t v = sub->first; sub->kind == CLAM_SUB_BODY && v < sub->first + sub->n; v++) {
            const uint32_t pattern = c->variants[v];

            c->users[pattern]++;
            if (sig->count_max > c->count_max[pattern])
                c->count_max[pattern] = sig->count_max;
        }
    }
}

static bool measure_patterns(struct compile *c)
{
    c->users = calloc(c->n_patterns + 1, sizeof *c->users);
    c->count_max = calloc(c->n_patterns + 1, sizeof *c->count_max);
    c->best = calloc(c->n_patterns + 1, sizeof *c->best);
    c->fixed = calloc(c->n_patterns + 1, sizeof *c->fixed);
    c->first = calloc(c->n_patterns + 1, sizeof *c->first);
    c->n = calloc(c->n_patterns + 1, sizeof *c->n);
    c->targets = calloc(c->n_patterns + 1, sizeof *c->targets);
    if (c->users == NULL || c->count_max == NULL || c->best == NULL || c->fixed == NULL ||
        c->first == NULL || c->n == NULL || c->targets == NULL)
        return false;
    for (size_t s = 0; s < c->n_sigs; s++)
        measure_sig(c, &c->sigs[s]);
    for (size_t p = 0; p < c->n_patterns; p++) {
        const struct clam_pattern *pattern = &c->patterns[p];

        c->best[p] = clam_rarest_seg(c->segs + pattern->segs, 0, pattern->n_segs - 1);
        c->fixed[p] = is_fixed(pattern);
    }
    return true;
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
        const uint32_t p = pairs[i].pattern;
        uint32_t *sig;

        if (i > 0 && compare_pairs(&pairs[i - 1], &pairs[i]) == 0)
            continue;
        if (c->n[p]++ == 0)
            c->first[p] = (uint32_t)c->anchored.n;
        c->targets[p] |= UINT32_C(1) << c->sigs[pairs[i].sig].target;
        sig = clam_grow(&c->anchored, sizeof *sig, 1);
        if (sig == NULL)
            return false;
        *sig = pairs[i].sig;
    }
    return true;
}

static bool choose_anchors(struct compile *c)
{
    for (uint32_t s = 0; s < c->n_sigs; s++) {
        const struct clam_sig *sig = &c->sigs[s];
        const size_t before = c->pairs.n;
        uint32_t *searched;

        if (is_ignored(c, sig->name))
            continue;
        if (!isinf(node_cost(c, sig, sig->node))) {
            bool fixed = true, in_parts = true;

            if (!anchor_node(c, s, sig->node))
                return false;
            for (size_t i = before; i < c->pairs.n; i++) {
                const uint32_t pattern = ((struct pair *)c->pairs.at)[i].pattern;

                fixed &= c->fixed[pattern];
                in_parts &= has_literal(c, pattern);
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

/* ---- literals -------------------------------------------------------------------------------- */

struct anchor {
    const uint8_t *bytes;
    uint32_t len, flags;
    struct clam_use use;
};

static int compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;

    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    if (x->flags != y->flags)
        return x->flags < y->flags ? -1 : 1;
    const int order = memcmp(x->bytes, y->bytes, x->len);
    if (order != 0)
        return order;
    return x->use.pattern < y->use.pattern ? -1 : x->use.pattern > y->use.pattern;
}

static bool is_same_literal(const struct anchor *x, const struct anchor *y)
{
    return x->len == y->len && x->flags == y->flags && memcmp(x->bytes, y->bytes, x->len) == 0;
}

static bool collect_anchors(struct compile *c, struct clam_records *anchors)
{
    const uint8_t *bytes = (const uint8_t *)c->set->records[CLAM_A_BYTES].at;

    for (uint32_t p = 0; p < c->n_patterns; p++) {
        const struct clam_seg *seg = &c->segs[c->patterns[p].segs + c->best[p]];
        struct anchor *anchor;
        uint32_t *fixed;

        if (c->n[p] == 0)
            continue;
        if (c->fixed[p]) {
            fixed = clam_grow(&c->fixeds, sizeof *fixed, 1);
            if (fixed == NULL)
                return false;
            *fixed = p;
            if (!has_literal(c, p))
                continue;
        } /* where it has a literal that is for parts of files, which few begin as the file does */
        anchor = clam_grow(anchors, sizeof *anchor, 1);
        if (anchor == NULL)
            return false;
        *anchor = (struct anchor){bytes + seg->key,
                                  seg->key_len,
                                  seg->key_case != 0 ? SL_LITERAL_NOCASE : 0,
                                  {p, c->best[p], seg->key_at + seg->key_len}};
    }
    return true;
}

static enum sl_status build_matcher(struct compile *c, const struct clam_records *anchors,
                                    enum sl_device_kind device, struct sl_diag *diag)
{
    const struct anchor *all = (const struct anchor *)anchors->at;
    struct sl_literal *literals = calloc(anchors->n + 1, sizeof *literals);
    struct sl_mpm_config config;
    size_t n = 0;
    bool good = literals != NULL;

    for (size_t i = 0; i < anchors->n && good; i++) {
        struct clam_use *use = clam_grow(&c->uses, sizeof *use, 1);
        uint32_t *first = NULL;

        if (i == 0 || !is_same_literal(&all[i - 1], &all[i])) {
            first = clam_grow(&c->literals, sizeof *first, 1);
            literals[n++] = (struct sl_literal){all[i].bytes, all[i].len, all[i].flags};
            if (first != NULL)
                *first = (uint32_t)i;
            good = first != NULL;
        }
        if (use != NULL)
            *use = all[i].use;
        good = good && use != NULL;
    }
    uint32_t *end = good ? clam_grow(&c->literals, sizeof *end, 1) : NULL;
    if (end == NULL) {
        free(literals);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    *end = (uint32_t)anchors->n;
    sl_mpm_config_init(&config);
    config.device = device;
    const enum sl_status status = sl_mpm_build(&c->mpm, &config, literals, n, diag);
    free(literals);
    return status;
}

static enum sl_status make_matcher(struct compile *c, enum sl_device_kind device,
                                   struct sl_diag *diag)
{
    struct clam_records anchors = {0};
    enum sl_status status;

    if (!collect_anchors(c, &anchors)) {
        free(anchors.at);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    if (anchors.n > 0)
        qsort(anchors.at, anchors.n, sizeof(struct anchor), compare_anchors);
    status = build_matcher(c, &anchors, device, diag);
    free(anchors.at);
    return status;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static int compare_hashes(const void *a, const void *b)
{
    const struct clam_read_hash *x = a, *y = b;

    if (x->purpose != y->purpose)
        return x->purpose < y->purpose ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->hash.size != y->hash.size)
        return x->hash.size < y->hash.size ? -1 : 1;
    const int order = memcmp(x->hash.digest, y->hash.digest, sizeof x->hash.digest);
    if (order != 0)
        return order;
    return x->hash.name < y->hash.name ? -1 : x->hash.name > y->hash.name;
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Each size once, in order. */
static void list_sizes(struct compile *c)
{
    uint64_t *sizes = (uint64_t *)c->sizes.at;
    size_t n = 0;

    if (c->sizes.n > 0)
        qsort(sizes, c->sizes.n, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < c->sizes.n; i++)
        if (n == 0 || sizes[n - 1] != sizes[i])
            sizes[n++] = sizes[i];
    c->sizes.n = n;
}

static bool take_hashes(struct compile *c)
{
    const size_t n = c->set->hashes.n;
    struct clam_read_hash *all = malloc((n + 1) * sizeof *all);

    if (all == NULL)
        return false;
    if (n > 0)
        memcpy(all, c->set->hashes.at, n * sizeof *all);
    qsort(all, n, sizeof *all, compare_hashes);
    for (size_t i = 0; i < n; i++) {
        uint64_t *range = c->ranges[all[i].purpose][all[i].kind];
        struct clam_hash *hash;
        uint64_t *size;

        if (all[i].purpose != CLAM_OF_ALLOWED && is_ignored(c, all[i].hash.name))
            continue;
        if (range[1] == 0)
            range[0] = c->hashes.n;
        hash = clam_grow(&c->hashes, sizeof *hash, 1);
        size = all[i].purpose != CLAM_OF_SECTION ? clam_grow(&c->sizes, sizeof *size, 1) : NULL;
        if (hash == NULL || (size == NULL && all[i].purpose != CLAM_OF_SECTION)) {
            free(all);
            return false;
        }
        *hash = all[i].hash;
        if (size != NULL)
            *size = hash->size;
        range[1] = c->hashes.n;
        c->n_hashes += all[i].purpose != CLAM_OF_ALLOWED;
    }
    free(all);
    list_sizes(c);
    return true;
}

/* ---- the block ------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t len)
{
    return (len + CLAM_ALIGN - 1) / CLAM_ALIGN * CLAM_ALIGN;
}

static struct clam_records array_of(const struct compile *c, int array)
{
    switch (array) {
    case CLAM_A_ANCHORED:
        return c->anchored;
    case CLAM_A_LITERALS:
        return c->literals;
    case CLAM_A_USES:
        return c->uses;
    case CLAM_A_FIXED:
        return c->fixeds;
    case CLAM_A_SEARCHED:
        return c->searched;
    case CLAM_A_HASHES:
        return c->hashes;
    case CLAM_A_SIZES:
        return c->sizes;
    default:
        return c->set->records[array];
    }
}

static void fill_block(const struct compile *c, struct clam_block *block)
{
    struct clam_pattern *patterns;

    for (int i = 0; i < CLAM_A_MPM; i++) {
        const struct clam_records records = array_of(c, i);

        if (records.n > 0)
            memcpy((uint8_t *)block + block->at[i], records.at, records.n * clam_record_len[i]);
    }
    patterns = (struct clam_pattern *)((uint8_t *)block + block->at[CLAM_A_PATTERNS]);
    for (size_t p = 0; p < c->n_patterns; p++) {
        patterns[p].sigs = c->first[p];
        patterns[p].n_sigs = c->n[p];
        patterns[p].targets = c->targets[p];
        patterns[p].looked_for = c->n[p] > 0 && !c->fixed[p];
        patterns[p].count_max = c->count_max[p];
    }
    sl_mpm_store(c->mpm, (uint8_t *)block + block->at[CLAM_A_MPM]);
    block->n_hashes = c->n_hashes;
    memcpy(block->hashes, c->ranges, sizeof block->hashes);
    block->anchored = c->n_anchored;
    block->fixed = c->n_fixed;
    block->in_parts = c->n_in_parts;
    block->searched = c->searched.n;
    block->n_bad = c->set->bad.n + c->set->n_bad_before;
    block->n_skipped = c->set->skipped.n + c->set->n_skipped_before;
    block_seal(&clam_block_kind, block);
}

static struct clam_block *make_block(const struct compile *c)
{
    struct clam_block head = {0};
    uint64_t len = aligned(sizeof head);
    struct sl_mpm_info info;
    struct clam_block *block;

    sl_mpm_info(c->mpm, &info);
    for (int i = 0; i < CLAM_ARRAYS; i++) {
        head.n[i] = i == CLAM_A_MPM ? info.table_len : array_of(c, i).n;
        head.at[i] = len;
        len += aligned(head.n[i] * clam_record_len[i]);
    }
    block = aligned_alloc(CLAM_ALIGN, len);
    if (block == NULL)
        return NULL;
    head.head = block_head_make(&clam_block_kind, len);
    memset(block, 0, len);
    *block = head;
    fill_block(c, block);
    return block;
}

static void compile_free(struct compile *c)
{
    free(c->ignored);
    free(c->users);
    free(c->count_max);
    free(c->best);
    free(c->fixed);
    free(c->first);
    free(c->n);
    free(c->targets);
    free(c->pairs.at);
    free(c->anchored.at);
    free(c->literals.at);
    free(c->uses.at);
    free(c->fixeds.at);
    free(c->searched.at);
    free(c->hashes.at);
    free(c->sizes.at);
    sl_mpm_free(c->mpm);
}

enum sl_status sl_clamav_compile(struct sl_clamav_db **db, const struct sl_clamav_set *set,
                                 enum sl_device_kind device, struct sl_diag *diag)
{
    struct compile c = {.set = set,
                        .patterns = set->records[CLAM_A_PATTERNS].at,
                        .segs = set->records[CLAM_A_SEGS].at,
                        .nodes = set->records[CLAM_A_NODES].at,
                        .subs = set->records[CLAM_A_SUBS].at,
                        .variants = set->records[CLAM_A_VARIANTS].at,
                        .pcres = set->records[CLAM_A_PCRES].at,
                        .sigs = set->records[CLAM_A_SIGS].at,
                        .n_patterns = set->records[CLAM_A_PATTERNS].n,
                        .n_sigs = set->records[CLAM_A_SIGS].n};
    struct clam_block *block = NULL;
    enum sl_status status = SL_ENOMEM;

    if (take_ignored(&c) && measure_patterns(&c) && choose_anchors(&c) && take_hashes(&c)) {
        status = make_matcher(&c, device, diag);
        if (status == SL_OK)
            block = make_block(&c);
    } else {
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    compile_free(&c);
    if (status != SL_OK)
        return status;
    if (block == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    return clam_db_create(db, block, false, NULL, diag);
}
