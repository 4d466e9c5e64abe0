/* SPDX-License-Identifier: MIT */
/* The literals of a set, checked, folded and sorted, and their trie: where every build begins. */
#ifndef MPM_SET_H
#define MPM_SET_H

#include "mpm_table.h"

/* A literal to sort by: folded bytes, then id. */
struct mpm_key {
    const uint8_t *folded;
    uint32_t len;
    uint32_t id;
    uint32_t place; /* in order; of a part of a set, that among all its literals */
};

/* What an algorithm learned from a sample, for builds of other sets with the same sample. */
struct mpm_learned {
    void *kept; /* NULL: nothing yet */
    void (*release)(void *kept);
};

struct mpm_set {
    const struct sl_literal *literals; /* the caller's, by id */
    struct mpm_learned *learned;       /* NULL: no other set is built with the sample */
    uint32_t n_literals;
    uint32_t n_groups;
    uint32_t max_len;
    uint32_t
        n_states; /* of the trie: distinct prefixes of folded literals, the empty one included */
    uint64_t bytes_len; /* of all literals: below 4 GiB by the limits on their number and length */
    uint8_t *folded;
    struct mpm_key *keys; /* sorted */
    uint32_t *groups;     /* n_groups + 1: a group's first key */
};

/* Checks and sorts. SL_EINVAL and SL_ENOMEM as sl_mpm_build. The literals are borrowed. */
enum sl_status mpm_set_init(struct mpm_set *set, const struct sl_literal *literals,
                            size_t n_literals, struct sl_diag *diag);

/* The groups g of a set for which wanted[g] holds, as a set. It borrows from the other one. False:
 * no memory. To be cleared in any case. */
bool mpm_set_pick(struct mpm_set *part, const struct mpm_set *set, const bool *wanted);

void mpm_set_clear(struct mpm_set *set);

/* The trie of the folded literals, states numbered breadth-first, the root 0. The children of a
 * state are consecutive and in order of their bytes: first_child[s] to first_child[s + 1] - 1. */
struct mpm_trie {
    uint32_t n_states;
    uint32_t *first_child; /* n_states + 1 */
    uint8_t *byte;         /* on the edge that leads to the state */
    uint32_t *group;       /* that ends at the state, or MPM_NONE */
};

enum sl_status mpm_trie_init(struct mpm_trie *trie, const struct mpm_set *set,
                             struct sl_diag *diag);

void mpm_trie_clear(struct mpm_trie *trie);

/* Takes the memory of a block with a body of body_len bytes, all zero, and fills header and
 * literals. NULL where memory does not suffice. To be freed with free. */
struct sl_mpm_table *mpm_table_create(const struct mpm_set *set, const char *algorithm,
                                      uint32_t n_states, uint64_t body_len);

/* Zeroed memory, to be freed with free. NULL: there is none. Large memory is used at random places.
 * In pages of 2 MiB, where the system gives them, that misses the cache and not the TLB beside it,
 * and fewer pages have to be made. */
void *mpm_zeroed(size_t len);

/* The place of a part of len bytes behind those of *end bytes before, for laying out a block. */
static inline uint64_t mpm_place(uint64_t *end, uint64_t len)
{
    const uint64_t at = (*end + (MPM_ALIGN - 1)) & ~(uint64_t)(MPM_ALIGN - 1);

    *end = at + len;
    return at;
}

#endif
