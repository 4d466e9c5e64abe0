/* SPDX-License-Identifier: MIT */
/* The states and transitions of the entries in the plane, before they have places. */
#ifndef FIB_MATA_BUILD_H
#define FIB_MATA_BUILD_H

#include "fib_tree.h"

struct mata_states {
    uint32_t *first; /* state s has the transitions first[s] to first[s + 1] - 1; 0 is the root */
    uint32_t n, first_cap;
    struct mata_edge {
        uint32_t word;
        uint32_t to;   /* state; 0: a leaf */
        uint32_t hop;  /* a leaf's next hop */
        bool is_entry; /* an entry ends there */
    } *edges;
    size_t n_edges, edges_cap;
};

/* Strides of bytes as mata_stride reads them, `label` being one component. */
uint32_t mata_label_stride(const uint8_t *label, uint32_t len, uint32_t *at);

bool mata_states_make(struct mata_states *states, const struct fib_tree *tree);
void mata_states_free(struct mata_states *states);

#endif
