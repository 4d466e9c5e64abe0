/* SPDX-License-Identifier: MIT */
#include "fib_tree.h"

#include <stdlib.h>

#include "fib_memory.h"

/* ---- index ----------------------------------------------------------------------------------- */

/* Open addressing, linear. The place of an entry follows from the half of the hash that it holds,
 * and grows with it. So growing and closing gaps read no node. */

static uint32_t entry_place(const struct fib_tree *tree, uint64_t entry)
{
    return fib_place(entry, tree->n_places);
}

static uint32_t next_place(const struct fib_tree *tree, uint32_t place)
{
    return place + 1 != tree->n_places ? place + 1 : 0;
}

static void index_put(struct fib_tree *tree, uint64_t entry)
{
    uint32_t place = entry_place(tree, entry);

    while (tree->index[place] != 0)
        place = next_place(tree, place);
    tree->index[place] = entry;
}

static uint64_t entry_of(uint64_t hash, uint32_t node)
{
    return (hash & UINT64_C(0xFFFFFFFF00000000)) | node;
}

/* An entry behind a gap moves into it, unless its own place lies behind the gap. */
static void index_drop(struct fib_tree *tree, uint64_t hash, uint32_t node)
{
    const uint64_t entry = entry_of(hash, node);
    uint32_t gap = entry_place(tree, entry);

    while (tree->index[gap] != entry)
        gap = next_place(tree, gap);
    for (uint32_t at = next_place(tree, gap); tree->index[at] != 0; at = next_place(tree, at)) {
        const uint32_t home = entry_place(tree, tree->index[at]);
        const uint32_t to_gap = gap >= home ? gap - home : gap + tree->n_places - home;
        const uint32_t to_at = at >= home ? at - home : at + tree->n_places - home;

        if (to_gap <= to_at) {
            tree->index[gap] = tree->index[at];
            gap = at;
        }
    }
    tree->index[gap] = 0;
}

static bool index_grow(struct fib_tree *tree, size_t n_places)
{
    uint64_t *old = tree->index;
    const uint32_t n_old = tree->n_places;

    if (n_places > UINT32_MAX)
        return false;
    uint64_t *index = (uint64_t *)fib_memory_take(n_places * sizeof *index);
    if (index == NULL)
        return false;
    tree->index = index;
    tree->n_places = (uint32_t)n_places;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i] != 0)
            index_put(tree, old[i]);
    fib_memory_give(old, (size_t)n_old * sizeof *old);
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The bytes from `at` on as a little-endian number, those behind `end` 0; none behind the name's
 * own len bytes is read. */
static inline uint64_t bytes8(const uint8_t *name, size_t len, size_t at, size_t end)
{
    uint64_t value = 0;

    if (at >= end)
        return 0;
    if (len - at >= 8) {
        memcpy(&value, name + at, 8);
        return fib_low_bytes(value, end - at < 8 ? (uint32_t)(end - at) : 8);
    }
    if (end >= 8) { /* fewer than eight are left: from the end back */
        memcpy(&value, name + end - 8, 8);
        return value >> (8 - (end - at)) * 8;
    }
    memcpy(&value, name + at, end - at);
    return value;
}

struct sixteen {
    uint64_t low, high;
};

/* The same of sixteen bytes, at < end. */
static inline struct sixteen bytes16(const uint8_t *name, size_t len, size_t at, size_t end)
{
    struct sixteen bytes;

    if (len - at < sizeof bytes) { /* most are last ones */
        if (len < sizeof bytes || end - at > 8)
            return (struct sixteen){bytes8(name, len, at, end), bytes8(name, len, at + 8, end)};
        return (struct sixteen){bytes8(name, len, at, end), 0};
    }
    memcpy(&bytes, name + at, sizeof bytes);
    if (end - at <= 8)
        return (struct sixteen){fib_low_bytes(bytes.low, (uint32_t)(end - at)), 0};
    bytes.high = fib_low_bytes(bytes.high, end - at < 16 ? (uint32_t)(end - at) - 8 : 8);
    return bytes;
}

/* Whether a node is the path's prefix of `depth` components, given that its parent is the one
 * before. Short labels have zeros behind them. */
static inline bool is_child(const struct fib_node *node, const struct fib_path *path,
                            uint32_t depth)
{
    const uint32_t begin = path->end[depth - 1], end = path->end[depth];
    uint64_t label[FIB_LABEL_INLINE / 8];

    if (node->parent != path->node[depth - 1] || node->label_len != end - begin)
        return false;
    if (node->label_len > FIB_LABEL_INLINE)
        return memcmp(node->label.far, path->name + begin, end - begin) == 0;

    const struct sixteen wanted = bytes16(path->name, path->len, begin, end);
    memcpy(label, node->label.bytes, sizeof label);
    return label[0] == wanted.low && label[1] == wanted.high;
}

static uint32_t find_child(const struct fib_tree *tree, const struct fib_path *path, uint32_t depth)
{
    const uint64_t hash = path->hash[depth];

    for (uint32_t place = fib_place(hash, tree->n_places); tree->index[place] != 0;
         place = next_place(tree, place)) {
        const uint64_t entry = tree->index[place];

        if (((entry ^ hash) >> 32) == 0 && is_child(&tree->nodes[(uint32_t)entry], path, depth))
            return (uint32_t)entry;
    }
    return 0;
}

/* Room for n more nodes. */
static bool reserve(struct fib_tree *tree, size_t n)
{
    const size_t need = tree->n + (n > tree->n_unused ? n - tree->n_unused : 0);

    if (need > UINT32_MAX / 4 * 3)
        return false;
    if (need > tree->cap) {
        const size_t cap = need + need / 2 + 1024;
        struct fib_node *nodes = (struct fib_node *)fib_memory_resize(
            tree->nodes, tree->cap * sizeof *nodes, cap * sizeof *nodes);

        if (nodes == NULL)
            return false;
        tree->nodes = nodes;
        tree->cap = cap;
    }
    const size_t n_nodes = tree->n - tree->n_unused + n;
    return n_nodes <= tree->n_places / 4 * 3 || index_grow(tree, n_nodes * 2);
}

static uint32_t take_node(struct fib_tree *tree)
{
    const uint32_t node = tree->unused;

    if (node == 0)
        return tree->n++;
    tree->unused = tree->nodes[node].next;
    tree->n_unused--;
    return node;
}

static void drop_label(struct fib_tree *tree, struct fib_node *node)
{
    if (node->label_len > FIB_LABEL_INLINE) {
        tree->far_len -= node->label_len;
        free(node->label.far);
    }
}

static void unlink_node(struct fib_tree *tree, uint32_t at)
{
    struct fib_node *node = &tree->nodes[at];

    index_drop(tree, node->hash, at);
    if (node->prev != 0)
        tree->nodes[node->prev].next = node->next;
    else
        tree->nodes[node->parent].child = node->next;
    if (node->next != 0)
        tree->nodes[node->next].prev = node->prev;
    drop_label(tree, node);
    memset(node, 0, sizeof *node);
    node->next_hop = SL_FIB_NONE;
    node->next = tree->unused;
    tree->unused = at;
    tree->n_unused++;
}

bool fib_tree_init(struct fib_tree *tree, const struct fib_secret *secret, size_t n_names)
{
    memset(tree, 0, sizeof *tree);
    tree->secret = *secret;
    tree->n = FIB_ROOT + 1;
    if (!reserve(tree, n_names + n_names / 4 + 64)) {
        fib_tree_free(tree);
        return false;
    }
    tree->nodes[0].next_hop = SL_FIB_NONE;
    tree->nodes[FIB_ROOT].next_hop = SL_FIB_NONE;
    tree->nodes[FIB_ROOT].hash = secret->start;
    return true;
}

void fib_tree_free(struct fib_tree *tree)
{
    for (uint32_t i = 0; i < tree->n && tree->far_len != 0; i++)
        drop_label(tree, &tree->nodes[i]);
    fib_memory_give(tree->nodes, tree->cap * sizeof *tree->nodes);
    fib_memory_give(tree->index, (size_t)tree->n_places * sizeof *tree->index);
    memset(tree, 0, sizeof *tree);
}

size_t fib_tree_len(const struct fib_tree *tree)
{
    return (size_t)tree->n * sizeof *tree->nodes + (size_t)tree->n_places * sizeof *tree->index +
           tree->far_len;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static inline uint64_t hash_component(const struct fib_secret *secret, uint64_t hash,
                                      const uint8_t *name, size_t len, size_t at, size_t end)
{
    for (; at < end; at += 16) {
        const struct sixteen bytes = bytes16(name, len, at, end);

        hash = fib_hash_step(secret, hash, bytes.low, bytes.high);
    }
    return hash;
}

/* As sl_name_next, without what the component is. */
static inline bool next_border(const uint8_t *name, size_t len, size_t *at)
{
    struct sl_name_component component;

    if (*at >= len)
        return false;
    if (len - *at >= 2 && (uint8_t)(name[*at] - 1) < 252 && name[*at + 1] < 253) {
        const size_t next = *at + 2 + name[*at + 1];

        if (next > len)
            return false;
        *at = next;
        return true;
    }
    return sl_name_next(name, len, at, &component);
}

bool fib_tree_hash(const struct fib_tree *tree, const uint8_t *name, size_t len, uint32_t max_depth,
                   uint64_t *hash)
{
    size_t at = 0, before = 0;

    *hash = tree->secret.start;
    for (uint32_t d = 0; next_border(name, len, &at); d++, before = at)
        if (d < max_depth)
            *hash = hash_component(&tree->secret, *hash, name, len, before, at);
    return at == len;
}

/* Borders and hashes of the whole name. */
static void walk(const struct fib_tree *tree, const uint8_t *name, size_t len,
                 struct fib_path *path)
{
    size_t at = 0, before = 0;

    while (next_border(name, len, &at) && at <= SL_NAME_LEN_MAX) {
        const uint32_t d = path->depth++;

        path->hash[d + 1] = hash_component(&tree->secret, path->hash[d], name, len, before, at);
        path->end[d + 1] = (uint32_t)at;
        before = at;
    }
}

bool fib_tree_find(const struct fib_tree *tree, const uint8_t *name, size_t len, bool loose,
                   const struct fib_ahead *ahead, struct fib_path *path)
{
    path->name = name;
    path->depth = 0;
    path->n_found = 0;
    path->hash[0] = tree->secret.start;
    path->end[0] = 0;
    path->node[0] = FIB_ROOT;
    if (ahead != NULL && ahead->is_whole) {
        path->depth = ahead->n;
        for (uint32_t d = 1; d <= ahead->n; d++) {
            path->hash[d] = ahead->hash[d - 1];
            path->end[d] = ahead->end[d - 1];
        }
    } else {
        walk(tree, name, len, path);
    }
    path->len = path->end[path->depth];
    while (path->n_found < path->depth &&
           (path->node[path->n_found + 1] = find_child(tree, path, path->n_found + 1)) != 0)
        path->n_found++;
    return loose || path->len == len;
}

/* Returns the node, 0: no memory. */
static uint32_t make_child(struct fib_tree *tree, const struct fib_path *path, uint32_t depth)
{
    const uint32_t begin = path->end[depth - 1], len = path->end[depth] - begin;
    const uint32_t parent = path->node[depth - 1];
    const uint32_t next = tree->nodes[parent].child;
    uint8_t *far = NULL;

    if (len > FIB_LABEL_INLINE && (far = (uint8_t *)malloc(len)) == NULL)
        return 0;

    const uint32_t at = take_node(tree);
    struct fib_node *node = &tree->nodes[at];
    memset(node, 0, sizeof *node);
    node->hash = path->hash[depth];
    node->parent = parent;
    node->next_hop = SL_FIB_NONE;
    node->depth = (uint16_t)depth;
    node->label_len = (uint16_t)len;
    if (far != NULL) {
        memcpy(far, path->name + begin, len);
        node->label.far = far;
        tree->far_len += len;
    } else {
        memcpy(node->label.bytes, path->name + begin, len);
    }
    node->next = next;
    if (next != 0)
        tree->nodes[next].prev = at;
    tree->nodes[parent].child = at;
    index_put(tree, entry_of(node->hash, at));
    return at;
}

bool fib_tree_make(struct fib_tree *tree, struct fib_path *path)
{
    if (!reserve(tree, path->depth - path->n_found))
        return false;
    while (path->n_found < path->depth) {
        const uint32_t at = make_child(tree, path, path->n_found + 1);

        if (at == 0) {
            fib_tree_trim(tree, path);
            return false;
        }
        path->node[++path->n_found] = at;
    }
    return true;
}

void fib_tree_trim(struct fib_tree *tree, struct fib_path *path)
{
    for (; path->n_found > 0; path->n_found--) {
        const uint32_t at = path->node[path->n_found];

        if (tree->nodes[at].child != 0 || tree->nodes[at].next_hop != SL_FIB_NONE)
            return;
        unlink_node(tree, at);
    }
}

uint32_t fib_tree_name(const struct fib_tree *tree, uint32_t node, uint8_t *name)
{
    uint32_t len = 0;

    for (uint32_t at = node; at != FIB_ROOT; at = tree->nodes[at].parent)
        len += tree->nodes[at].label_len;
    for (uint32_t at = node, end = len; at != FIB_ROOT; at = tree->nodes[at].parent) {
        end -= tree->nodes[at].label_len;
        memcpy(name + end, fib_node_label(&tree->nodes[at]), tree->nodes[at].label_len);
    }
    return len;
}

uint32_t fib_tree_inherited(const struct fib_tree *tree, uint32_t node)
{
    uint32_t next_hop = SL_FIB_NONE;

    for (uint32_t at = tree->nodes[node].parent; at != 0 && next_hop == SL_FIB_NONE;
         at = tree->nodes[at].parent)
        next_hop = tree->nodes[at].next_hop;
    return next_hop;
}

/* Pre-order, not below entries. */
uint32_t fib_tree_next_entry(const struct fib_tree *tree, uint32_t top, uint32_t at)
{
    bool down = at == top || tree->nodes[at].next_hop == SL_FIB_NONE;

    for (;;) {
        if (down && tree->nodes[at].child != 0) {
            at = tree->nodes[at].child;
        } else {
            while (at != top && tree->nodes[at].next == 0)
                at = tree->nodes[at].parent;
            if (at == top)
                return 0;
            at = tree->nodes[at].next;
        }
        if (tree->nodes[at].next_hop != SL_FIB_NONE)
            return at;
        down = true;
    }
}

/* ---- fetching ahead -------------------------------------------------------------------------- */

void fib_tree_fetch_places(const struct fib_tree *tree, const uint8_t *name, size_t len,
                           struct fib_ahead *ahead)
{
    uint64_t hash = tree->secret.start;
    size_t at = 0;

    ahead->n = 0;
    for (size_t before = 0; ahead->n < FIB_AHEAD_LEVELS && next_border(name, len, &at);
         before = at) {
        hash = hash_component(&tree->secret, hash, name, len, before, at);
        ahead->hash[ahead->n] = hash;
        ahead->end[ahead->n++] = (uint32_t)at;
        __builtin_prefetch(&tree->index[fib_place(hash, tree->n_places)]);
    }
    ahead->is_whole = at == len && len <= SL_NAME_LEN_MAX;
}

/* Fetches the node that has the half of the hash. Whether it is the right one shows later. */
void fib_tree_fetch_nodes(const struct fib_tree *tree, struct fib_ahead *ahead)
{
    for (uint32_t i = 0; i < ahead->n; i++) {
        uint32_t place = fib_place(ahead->hash[i], tree->n_places);

        while (tree->index[place] != 0 && (tree->index[place] ^ ahead->hash[i]) >> 32 != 0)
            place = next_place(tree, place);
        ahead->node[i] = (uint32_t)tree->index[place];
        __builtin_prefetch(&tree->nodes[ahead->node[i]]);
    }
}

/* Fetches the nodes that are linked to a name's node, or will be to the node that it gets. */
void fib_tree_fetch_siblings(const struct fib_tree *tree, const struct fib_ahead *ahead)
{
    if (ahead->n == 0)
        return;

    const struct fib_node *node = &tree->nodes[ahead->node[ahead->n - 1]];
    if (ahead->node[ahead->n - 1] != 0) {
        __builtin_prefetch(&tree->nodes[node->next]);
        __builtin_prefetch(&tree->nodes[node->prev]);
    } else if (ahead->n > 1) {
        node = &tree->nodes[ahead->node[ahead->n - 2]];
        __builtin_prefetch(&tree->nodes[node->child]);
    }
}
