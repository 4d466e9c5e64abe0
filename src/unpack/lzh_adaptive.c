/* SPDX-License-Identifier: MIT */
/* -lh1-: a Huffman tree that changes with each symbol (Yoshizaki's LZHUF), and a fixed code for the
 * upper bits of distances. Nodes are in the order of their counts; the root is the last one. */
#include <string.h>

#include "unpack/lzh_internal.h"

enum {
    SYMBOLS = 314,
    NODES = 2 * SYMBOLS - 1,
    ROOT = NODES - 1,
    COUNT_MAX = 0x8000,
    LITERALS = 256,
    LENGTH_MIN = 3,
    LOW_BITS = 6,
    DISTANCES = 64
};

struct tree {
    unsigned count[NODES + 1];        /* the last one is above all */
    unsigned child[NODES];            /* the first of two; NODES + n: symbol n */
    unsigned parent[NODES + SYMBOLS]; /* of nodes, and of symbols behind them */
};

static void set_child(struct tree *tree, unsigned node, unsigned child)
{
    tree->child[node] = child;
    tree->parent[child] = node;
    if (child < NODES)
        tree->parent[child + 1] = node;
}

static void start(struct tree *tree)
{
    for (unsigned i = 0; i < SYMBOLS; i++) {
        tree->count[i] = 1;
        set_child(tree, i, NODES + i);
    }
    for (unsigned i = 0, node = SYMBOLS; node <= ROOT; i += 2, node++) {
        tree->count[node] = tree->count[i] + tree->count[i + 1];
        set_child(tree, node, i);
    }
    tree->count[NODES] = UINT32_MAX;
    tree->parent[ROOT] = 0;
}

/* Halves the counts of the leaves, and builds the tree anew. */
static void rebuild(struct tree *tree)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NODES; i++)
        if (tree->child[i] >= NODES) {
            tree->count[n] = (tree->count[i] + 1) / 2;
            tree->child[n++] = tree->child[i];
        }
    for (unsigned i = 0; n < NODES; i += 2, n++) {
        const unsigned sum = tree->count[i] + tree->count[i + 1];
        unsigned at = n;

        while (at > 0 && sum < tree->count[at - 1])
            at--;
        memmove(tree->count + at + 1, tree->count + at, (n - at) * sizeof *tree->count);
        memmove(tree->child + at + 1, tree->child + at, (n - at) * sizeof *tree->child);
        tree->count[at] = sum;
        tree->child[at] = i;
    }
    for (unsigned i = 0; i < NODES; i++)
        set_child(tree, i, tree->child[i]);
    tree->count[NODES] = UINT32_MAX;
}

/* Counts a symbol: a node that outgrows its order changes places with the last of its count. */
static void count_symbol(struct tree *tree, unsigned symbol)
{
    if (tree->count[ROOT] == COUNT_MAX)
        rebuild(tree);
    for (unsigned node = tree->parent[NODES + symbol];; node = tree->parent[node]) {
        const unsigned count = ++tree->count[node];
        unsigned last = node;

        while (count > tree->count[last + 1])
            last++;
        if (last != node) {
            const unsigned child = tree->child[node];

            tree->count[node] = tree->count[last];
            tree->count[last] = count;
            set_child(tree, node, tree->child[last]);
            set_child(tree, last, child);
            node = last;
        }
        if (node == ROOT)
            return;
    }
}

static unsigned take_symbol(struct lzh_stream *stream, struct tree *tree)
{
    unsigned at = tree->child[ROOT];

    while (at < NODES)
        at = tree->child[at + canonical_bits(&stream->reader, 1)];
    count_symbol(tree, at - NODES);
    return at - NODES;
}

/* The lengths of the 64 codes of a distance's upper bits. */
static void make_distances(struct canonical *code)
{
    static const struct {
        uint8_t bits, n;
    } runs[] = {{3, 1}, {4, 3}, {5, 8}, {6, 12}, {7, 24}, {8, 16}};
    uint8_t lengths[DISTANCES];
    unsigned n = 0;

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        memset(lengths + n, runs[i].bits, runs[i].n);
        n += runs[i].n;
    }
    (void)canonical_make(code, lengths, DISTANCES);
}

bool lzh_adaptive(struct lzh_stream *stream)
{
    struct canonical distances;
    struct tree tree;
    bool more = true;

    make_distances(&distances);
    start(&tree);
    while (more && !stream->reader.ended) {
        const unsigned symbol = take_symbol(stream, &tree);

        if (symbol < LITERALS) {
            more = lzh_put(stream, (uint8_t)symbol);
            continue;
        }
        const int high = canonical_symbol(&stream->reader, &distances);
        if (high < 0)
            return false;
        const size_t distance =
            (size_t)high << LOW_BITS | canonical_bits(&stream->reader, LOW_BITS);
        more = lzh_copy(stream, distance + 1, symbol - LITERALS + LENGTH_MIN);
    }
    return !more;
}
