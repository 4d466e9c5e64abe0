/* SPDX-License-Identifier: MIT */
#include "fib_states.h"

#include <stdlib.h>

#include "fib_ata_core.h"
#include "fib_internal.h"
#include "fib_mata_core.h"

/* A state to be expanded: of a node, at a border, or amid labels that begin alike. */
struct task {
    uint32_t node; /* 0: amid labels */
    uint32_t begin, end;
    uint32_t at; /* bytes of the labels that are behind */
};

struct maker {
    const struct fib_tree *tree;
    const struct fib_cut *cut;
    struct fib_states *states;
    struct task *tasks;
    size_t n_tasks, tasks_cap;
    uint32_t *kids; /* nodes, those of a state sorted by their labels */
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

static bool collect_kids(struct maker *maker, struct task *task)
{
    const struct fib_node *nodes = maker->tree->nodes;
    struct kid *sorted;
    size_t n = 0;

    for (uint32_t at = nodes[task->node].child; at != 0; at = nodes[at].next)
        n += fib_in_plane(&nodes[at]) || has_below(maker, at);
    if (!grow((void **)&maker->kids, &maker->kids_cap, maker->n_kids, n, sizeof *maker->kids))
        return false;
    sorted = (struct kid *)malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return false;
    n = 0;
    for (uint32_t at = nodes[task->node].child; at != 0; at = nodes[at].next) {
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
    task->begin = (uint32_t)maker->n_kids;
    for (size_t i = 0; i < n; i++)
        maker->kids[maker->n_kids++] = sorted[i].node;
    task->end = (uint32_t)maker->n_kids;
    free(sorted);
    return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool add_edge(struct maker *maker, const struct fib_edge *edge)
{
    struct fib_states *states = maker->states;

    if (!grow((void **)&states->edges, &states->edges_cap, states->n_edges, 1,
              sizeof *states->edges))
        return false;
    states->edges[states->n_edges++] = *edge;
    return states->n_edges < UINT32_MAX / 2;
}

/* Returns the state's number, 0: no memory. */
static uint32_t add_task(struct maker *maker, const struct task *task)
{
    if (!grow((void **)&maker->tasks, &maker->tasks_cap, maker->n_tasks, 1, sizeof *maker->tasks))
        return 0;
    maker->tasks[maker->n_tasks] = *task;
    return (uint32_t)maker->n_tasks++;
}

/* Labels begin to end - 1 have the stride `word` in common, which ends at byte `at` of them. */
static bool add_stride(struct maker *maker, uint32_t word, uint32_t begin, uint32_t end,
                       uint32_t at)
{
    const struct fib_node *kid = &maker->tree->nodes[maker->kids[begin]];
    struct task task = {.begin = begin, .end = end, .at = at};
    struct fib_edge edge = {.word = word};

    if (at == kid->label_len) {
        task = (struct task){.node = maker->kids[begin]};
        edge.is_entry = fib_in_plane(kid);
        edge.is_leaf = !has_below(maker, task.node);
        edge.to = kid->next_hop;
        if (edge.is_leaf)
            return add_edge(maker, &edge);
    }
    edge.to = add_task(maker, &task);
    return edge.to != 0 && add_edge(maker, &edge);
}

static bool expand(struct maker *maker, struct task task)
{
    const struct fib_node *nodes = maker->tree->nodes;

    if (task.node != 0) {
        const struct fib_node *node = &nodes[task.node];
        const struct fib_edge end = {
            .word = maker->cut->end, .to = node->next_hop, .is_leaf = true, .is_entry = true};

        if (task.node != FIB_ROOT && fib_in_plane(node) && !add_edge(maker, &end))
            return false;
        if (!collect_kids(maker, &task))
            return false;
    }
    for (uint32_t i = task.begin, j; i < task.end; i = j) {
        const struct fib_node *kid = &nodes[maker->kids[i]];
        uint32_t at = task.at;
        const uint32_t word = maker->cut->stride(fib_node_label(kid), kid->label_len, &at);

        for (j = i + 1; j < task.end; j++) {
            const struct fib_node *next = &nodes[maker->kids[j]];
            uint32_t unused = task.at;

            if (maker->cut->stride(fib_node_label(next), next->label_len, &unused) != word)
                break;
        }
        if (!add_stride(maker, word, i, j, at))
            return false;
    }
    return true;
}

static bool add_first(struct fib_states *states, size_t s)
{
    size_t cap = states->first_cap;

    if (!grow((void **)&states->first, &cap, s, 2, sizeof *states->first))
        return false;
    states->first_cap = (uint32_t)cap;
    states->first[s] = (uint32_t)states->n_edges;
    return true;
}

bool fib_states_make(struct fib_states *states, const struct fib_tree *tree,
                     const struct fib_cut *cut)
{
    struct maker maker = {.tree = tree, .cut = cut, .states = states};
    const struct task root = {.node = FIB_ROOT};
    size_t s = 0;

    memset(states, 0, sizeof *states);
    maker.below = (uint8_t *)calloc(tree->n / 8 + 1, 1);
    bool good = maker.below != NULL;
    if (good) {
        mark_below(&maker);
        good = add_task(&maker, &root) == 0 && maker.n_tasks == 1;
    }
    for (; good && s < maker.n_tasks; s++)
        good = add_first(states, s) && expand(&maker, maker.tasks[s]);
    good = good && add_first(states, s);
    states->n = (uint32_t)s;
    free(maker.below);
    free(maker.tasks);
    free(maker.kids);
    if (!good)
        fib_states_free(states);
    return good;
}

void fib_states_free(struct fib_states *states)
{
    free(states->first);
    free(states->edges);
    memset(states, 0, sizeof *states);
}
