/* SPDX-License-Identifier: MIT */
#include "fib_states.h"

#include <stdlib.h>

#include "fib_internal.h"
#include "names/fib/mata/fib_mata_core.h"
#include "names/fib/papers/fib_ata_core.h"

/* A state whose transitions are being found: a node's, at a border, or amid labels that begin
 * alike.
 */
struct open_state {
    size_t edges;        /* where its transitions begin */
    size_t kids;         /* memory behind it is the state's own to give back */
    uint32_t begin, end; /* labels that are to be dealt with, of the kids */
    uint32_t at;         /* bytes of the labels that are behind */
};

struct maker {
    const struct fib_tree *tree;
    const struct fib_cut *cut;
    struct open_state *open; /* from the root down */
    size_t n_open, open_cap;
    struct fib_edge *edges; /* of the open ones, one after another */
    size_t n_edges, edges_cap;
    uint32_t *kids; /* nodes, those of a node sorted by their labels */
    size_t n_kids, kids_cap;
    uint8_t *below; /* a bit for each node: there are entries below it */
};

/* Room for n more of an array's entries. */
static bool grow(void **array, size_t *cap, size_t n, size_t more, size_t size)
{
    if (n + more <= *cap)
        return true;

    const size_t wanted = (n + more) * 2 + 64;
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *cap = wanted;
    return true;
}

static uint32_t stride_of_words(const uint8_t *label, uint32_t len, uint32_t *at)
{
    const bool is_short = label[0] == SL_NAME_GENERIC && label[1] < 253;
    const uint32_t begin = *at == 0 && is_short ? 1 : *at;
    const uint32_t max = *at == 0 && !is_short ? 3 : 4;
    const uint32_t n = len - begin < max ? len - begin : max;
    uint32_t word = 0;

    for (uint32_t i = 0; i < n; i++)
        word |= (uint32_t)label[begin + i] << i * 8;
    *at = begin + n;
    return max == 3 ? 255 | word << 8 : word;
}

static uint32_t stride_of_bytes(const uint8_t *label, uint32_t len, uint32_t *at)
{
    (void)len;
    return label[(*at)++];
}

const struct fib_cut fib_cut_words = {stride_of_words, MATA_END};
const struct fib_cut fib_cut_bytes = {stride_of_bytes, ATA_END};

/* ---- which nodes count ----------------------------------------------------------------------- */

static bool has_below(const struct maker *maker, uint32_t node)
{
    return (maker->below[node / 8] >> node % 8 & 1) != 0;
}

static void mark_below(struct maker *maker)
{
    const struct fib_tree *tree = maker->tree;

    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++)
        for (uint32_t at = fib_in_plane(&tree->nodes[i]) ? tree->nodes[i].parent : 0;
             at != 0 && !has_below(maker, at); at = tree->nodes[at].parent)
            maker->below[at / 8] |= (uint8_t)(1 << at % 8);
}

/* ---- children in order ----------------------------------------------------------------------- */

struct kid {
    uint64_t begin; /* of the label, as a big-endian number */
    uint32_t node;
};

static _Thread_local const struct fib_node *sorted_nodes; /* of the sort under way */

static int compare_kids(const void *left, const void *right)
{
    const struct kid *a = (const struct kid *)left, *b = (const struct kid *)right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;

    const struct fib_node *x = &sorted_nodes[a->node], *y = &sorted_nodes[b->node];
    const uint32_t both = x->label_len < y->label_len ? x->label_len : y->label_len;
    const int order = memcmp(fib_node_label(x), fib_node_label(y), both);
    return order != 0 ? order : (int)x->label_len - (int)y->label_len;
}

static bool collect_kids(struct maker *maker, uint32_t node)
{
    const struct fib_node *nodes = maker->tree->nodes;
    struct kid *sorted;
    size_t n = 0;

    for (uint32_t at = nodes[node].child; at != 0; at = nodes[at].next)
        n += fib_in_plane(&nodes[at]) || has_below(maker, at);
    if (!grow((void **)&maker->kids, &maker->kids_cap, maker->n_kids, n, sizeof *maker->kids))
        return false;
    sorted = (struct kid *)malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return false;
    n = 0;
    for (uint32_t at = nodes[node].child; at != 0; at = nodes[at].next) {
        if (!fib_in_plane(&nodes[at]) && !has_below(maker, at))
            continue;
        uint8_t bytes[8] = {0};
        const uint32_t len = nodes[at].label_len;

        memcpy(bytes, fib_node_label(&nodes[at]), len < 8 ? len : 8);
        sorted[n].begin = 0;
        for (int i = 0; i < 8; i++)
            sorted[n].begin = sorted[n].begin << 8 | bytes[i];
        sorted[n++].node = at;
    }
    sorted_nodes = nodes;
    qsort(sorted, n, sizeof *sorted, compare_kids);
    for (size_t i = 0; i < n; i++)
        maker->kids[maker->n_kids++] = sorted[i].node;
    free(sorted);
    return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool add_edge(struct maker *maker, const struct fib_edge *edge)
{
    if (!grow((void **)&maker->edges, &maker->edges_cap, maker->n_edges, 1, sizeof *maker->edges))
        return false;
    maker->edges[maker->n_edges++] = *edge;
    return true;
}

static bool open_state(struct maker *maker, const struct open_state *state)
{
    if (!grow((void **)&maker->open, &maker->open_cap, maker->n_open, 1, sizeof *maker->open))
        return false;
    maker->open[maker->n_open++] = *state;
    return true;
}

/* At a border: its own entry, if it has one, and the labels below it. */
static bool open_node(struct maker *maker, uint32_t at)
{
    const struct fib_node *node = &maker->tree->nodes[at];
    struct open_state state = {.edges = maker->n_edges, .kids = maker->n_kids};
    const struct fib_edge end = {
        .word = maker->cut->end, .to = node->next_hop, .is_leaf = true, .is_entry = true};

    if (at != FIB_ROOT && fib_in_plane(node) && !add_edge(maker, &end))
        return false;
    if (!collect_kids(maker, at))
        return false;
    state.begin = (uint32_t)state.kids;
    state.end = (uint32_t)maker->n_kids;
    return open_state(maker, &state);
}

/* The first of a state's labels, and those that go on alike, become a transition. It leads to a
 * leaf, or to a state that opens. */
static bool next_edge(struct maker *maker, struct open_state *state)
{
    const struct fib_node *nodes = maker->tree->nodes, *kid = &nodes[maker->kids[state->begin]];
    uint32_t at = state->at, end = state->begin + 1;
    const uint32_t word = maker->cut->stride(fib_node_label(kid), kid->label_len, &at);

    for (; end < state->end; end++) {
        const struct fib_node *next = &nodes[maker->kids[end]];
        uint32_t unused = state->at;

        if (maker->cut->stride(fib_node_label(next), next->label_len, &unused) != word)
            break;
    }
    const uint32_t first = state->begin;
    struct fib_edge edge = {.word = word, .to = kid->next_hop};
    state->begin = end;
    if (at != kid->label_len) {
        const struct open_state amid = {maker->n_edges + 1, maker->n_kids, first, end, at};

        return add_edge(maker, &edge) && open_state(maker, &amid);
    }
    edge.is_entry = fib_in_plane(kid);
    edge.is_leaf = !has_below(maker, maker->kids[first]);
    return add_edge(maker, &edge) && (edge.is_leaf || open_node(maker, maker->kids[first]));
}

/* The state has all its transitions; the transition to it is the last one of the state above. */
static bool close_state(struct maker *maker, fib_states_take *take, void *user)
{
    const struct open_state state = maker->open[--maker->n_open];
    const size_t n = maker->n_edges - state.edges;
    uint32_t number;

    if (!take(user, maker->edges + state.edges, (uint32_t)n, &number))
        return false;
    maker->n_edges = state.edges;
    maker->n_kids = state.kids;
    if (maker->n_open != 0)
        maker->edges[maker->n_edges - 1].to = number;
    return true;
}

bool fib_states_each(const struct fib_tree *tree, const struct fib_cut *cut, fib_states_take *take,
                     void *user)
{
    struct maker maker = {.tree = tree, .cut = cut};

    maker.below = (uint8_t *)calloc(tree->n / 8 + 1, 1);
    bool good = maker.below != NULL;
    if (good) {
        mark_below(&maker);
        good = open_node(&maker, FIB_ROOT);
    }
    while (good && maker.n_open != 0) {
        struct open_state *state = &maker.open[maker.n_open - 1];

        good =
            state->begin != state->end ? next_edge(&maker, state) : close_state(&maker, take, user);
    }
    free(maker.below);
    free(maker.open);
    free(maker.edges);
    free(maker.kids);
    return good;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool keep_state(void *user, const struct fib_edge *edges, uint32_t n, uint32_t *number)
{
    struct fib_states *states = (struct fib_states *)user;

    if (states->n_edges + n >= UINT32_MAX / 2 ||
        !grow((void **)&states->first, &states->first_cap, states->n, 2, sizeof *states->first) ||
        !grow((void **)&states->edges, &states->edges_cap, states->n_edges, n,
              sizeof *states->edges))
        return false;
    if (n != 0) /* the root of an empty table has no transitions */
        memcpy(states->edges + states->n_edges, edges, n * sizeof *edges);
    states->first[states->n] = (uint32_t)states->n_edges;
    states->n_edges += n;
    *number = states->n++;
    states->first[states->n] = (uint32_t)states->n_edges;
    return true;
}

bool fib_states_make(struct fib_states *states, const struct fib_tree *tree,
                     const struct fib_cut *cut)
{
    memset(states, 0, sizeof *states);
    if (fib_states_each(tree, cut, keep_state, states))
        return true;
    fib_states_free(states);
    return false;
}

void fib_states_free(struct fib_states *states)
{
    free(states->first);
    free(states->edges);
    memset(states, 0, sizeof *states);
}
