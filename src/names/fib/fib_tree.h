/* SPDX-License-Identifier: MIT */
/* The truth: a tree of components with a node for each prefix of each name, found by hash.
 *
 * A node is one cache line. Nodes are numbered; 0 is none, 1 the root. Every node but the root has
 * an entry or a child. */
#ifndef FIB_TREE_H
#define FIB_TREE_H

#include "fib_core.h"

enum { FIB_ROOT = 1, FIB_LABEL_INLINE = 16 };

enum { FIB_DEPTH_MAX = SL_NAME_LEN_MAX / 2 }; /* components: none is shorter than two bytes */

struct fib_node {
    uint64_t hash; /* of the whole prefix */
    uint32_t parent, child, next, prev;
    uint32_t next_hop; /* SL_FIB_NONE: no entry */
    uint32_t n_holders;
    uint32_t piece;   /* the hash plane's: of the key, where the entry is in the plane */
    uint32_t n_below; /* the hash plane's: entries below in the plane, at its split */
    uint16_t depth;   /* components */
    uint16_t label_len;
    uint8_t folded; /* the entry is not in the plane: a shorter one answers the same */
    uint8_t height; /* the hash plane's */
    uint8_t pad[2];
    union {
        uint8_t bytes[FIB_LABEL_INLINE];
        uint8_t *far; /* longer ones */
    } label;          /* the last component, as the name has it */
};

_Static_assert(sizeof(struct fib_node) == 64, "a node is a cache line");

struct fib_tree {
    struct fib_secret secret;
    struct fib_node *nodes;
    size_t cap;      /* nodes there is room for */
    uint32_t n;      /* nodes ever used, the two first included */
    uint32_t unused; /* a list of given back ones, by `next` */
    uint32_t n_unused;
    uint64_t *index; /* upper half of the hash, node */
    uint32_t n_places;
    size_t far_len; /* bytes of long labels */
};

/* Room for about n_names is taken at once. */
bool fib_tree_init(struct fib_tree *tree, const struct fib_secret *secret, size_t n_names);
void fib_tree_free(struct fib_tree *tree);
size_t fib_tree_len(const struct fib_tree *tree); /* bytes */

/* The hash of a name's first components, of up to max_depth of them. False: it is not well formed.
 */
bool fib_tree_hash(const struct fib_tree *tree, const uint8_t *name, size_t len, uint32_t max_depth,
                   uint64_t *hash);

/* ---- fetching ahead -------------------------------------------------------------------------- */

enum { FIB_AHEAD_LEVELS = 8 };

/* A name's prefixes of up to so many components, before its turn. Their places and nodes are
 * fetched into the cache while other names are worked on. */
struct fib_ahead {
    uint64_t hash[FIB_AHEAD_LEVELS]; /* of one component, of two, ... */
    uint32_t end[FIB_AHEAD_LEVELS];  /* bytes */
    uint32_t node[FIB_AHEAD_LEVELS]; /* nodes by half of the hash, 0: none */
    uint32_t n;
    bool is_whole; /* it is well formed, and these are all its prefixes */
};

void fib_tree_fetch_places(const struct fib_tree *tree, const uint8_t *name, size_t len,
                           struct fib_ahead *ahead);
void fib_tree_fetch_nodes(const struct fib_tree *tree, struct fib_ahead *ahead);
void fib_tree_fetch_siblings(const struct fib_tree *tree, const struct fib_ahead *ahead);

/* ---- paths ----------------------------------------------------------------------------------- */

/* A name's prefixes, from the root's, 0, to its own: those that have nodes, and all hashes. */
struct fib_path {
    const uint8_t *name;
    uint32_t len;
    uint32_t depth;                   /* components */
    uint32_t n_found;                 /* prefixes that have nodes, the root not counted */
    uint64_t hash[FIB_DEPTH_MAX + 1]; /* valid to depth */
    uint32_t end[FIB_DEPTH_MAX + 1];  /* bytes of each prefix, valid to depth */
    uint32_t node[FIB_DEPTH_MAX + 1]; /* valid to n_found */
};

/* False: the name is not well formed or too long, unless `loose`: then the well-formed part of it
 * counts. `ahead` is NULL, or what is known of this name. */
bool fib_tree_find(const struct fib_tree *tree, const uint8_t *name, size_t len, bool loose,
                   const struct fib_ahead *ahead, struct fib_path *path);

/* Makes the nodes that a found path lacks; n_found becomes depth. False: no memory, and nothing
 * changed. */
bool fib_tree_make(struct fib_tree *tree, struct fib_path *path);

/* Takes out a path's last nodes as far as they have neither entry nor child. */
void fib_tree_trim(struct fib_tree *tree, struct fib_path *path);

/* The name of a node into name[SL_NAME_LEN_MAX]; returns its bytes. */
uint32_t fib_tree_name(const struct fib_tree *tree, uint32_t node, uint8_t *name);

static inline const uint8_t *fib_node_label(const struct fib_node *node)
{
    return node->label_len <= FIB_LABEL_INLINE ? node->label.bytes : node->label.far;
}

/* The next hop of the nearest entry above, SL_FIB_NONE where there is none. */
uint32_t fib_tree_inherited(const struct fib_tree *tree, uint32_t node);

/* The nearest entries below a node, one after another: *at begins as the node and ends as 0. */
uint32_t fib_tree_next_entry(const struct fib_tree *tree, uint32_t top, uint32_t at);

#endif
