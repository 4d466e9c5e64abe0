/* SPDX-License-Identifier: MIT */
/* The states and transitions of the entries in the plane, before they have places. */
#ifndef FIB_STATES_H
#define FIB_STATES_H

#include "fib_tree.h"

/* A transition. */
struct fib_edge {
    uint32_t word;
    uint32_t to;   /* state, or a leaf's next hop */
    bool is_leaf;  /* nothing goes on there */
    bool is_entry; /* an entry ends there */
};

/* The cuts of a component: the stride that begins at *at, which advances. `end` is the stride to
 * the next hop of a state that continues. */
struct fib_cut {
    uint32_t (*stride)(const uint8_t *label, uint32_t len, uint32_t *at);
    uint32_t end;
};

extern const struct fib_cut fib_cut_words; /* mata */
extern const struct fib_cut fib_cut_bytes; /* ata, stt */

/* Takes a state with all its transitions, by their words in no order, and numbers it. False: no
 * memory. */
typedef bool fib_states_take(void *user, const struct fib_edge *edges, uint32_t n,
                             uint32_t *number);

/* All states, each after those that it leads to: the root is the last one. Only what is open on the
 * way to a state is held. False: no memory, or a state was not taken. */
bool fib_states_each(const struct fib_tree *tree, const struct fib_cut *cut, fib_states_take *take,
                     void *user);

/* All of them at once. */
struct fib_states {
    uint32_t *first; /* state s has the transitions first[s] to first[s + 1] - 1 */
    uint32_t n;      /* the last one is the root */
    size_t first_cap;
    struct fib_edge *edges;
    size_t n_edges, edges_cap;
};

bool fib_states_make(struct fib_states *states, const struct fib_tree *tree,
                     const struct fib_cut *cut);
void fib_states_free(struct fib_states *states);

#endif
