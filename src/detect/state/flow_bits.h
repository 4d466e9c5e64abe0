/* SPDX-License-Identifier: MIT */
/* The variables of flows: a list in the slot of each flow, in the memory of its shard. */
#ifndef DETECT_FLOW_BITS_H
#define DETECT_FLOW_BITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FLOW_BITS_MAX = 64 }; /* of a flow: a search takes no longer */

/* The slot of a flow; zeroed at first. */
struct flow_bits {
    uint32_t first; /* the newest; 0: there is none */
    uint32_t n;
};

struct flow_bit {
    uint64_t key;
    uint32_t value;
    uint32_t next; /* of the flow, or of the free ones; 0 ends it */
};

/* The memory of a shard, in a cache line of its own. One thread at a time, but for the counters. */
struct flow_bits_pool {
    _Alignas(64) struct flow_bit *bit; /* the first is none */
    uint32_t max, n_used, free;
    atomic_uint_fast64_t active;  /* in flows */
    atomic_uint_fast64_t refused; /* that the flow or the pool had no room for */
};

/* Makes room for so many variables. The memory is not touched before it is used. False: there is
 * none. */
bool flow_bits_open(struct flow_bits_pool *pool, uint32_t max);
void flow_bits_close(struct flow_bits_pool *pool);

/* NULL: the variable is not set. */
struct flow_bit *flow_bits_find(const struct flow_bits_pool *pool, const struct flow_bits *bits,
                                uint64_t key);

/* Sets a variable, unless there is no room. */
void flow_bits_set(struct flow_bits_pool *pool, struct flow_bits *bits, uint64_t key,
                   uint32_t value);
void flow_bits_unset(struct flow_bits_pool *pool, struct flow_bits *bits, uint64_t key);

/* Unsets all. */
void flow_bits_release(struct flow_bits_pool *pool, struct flow_bits *bits);

#endif
