/* SPDX-License-Identifier: MIT */
/* The state of hosts, pairs of them, flows and rules, by the packets' clock. One table of a bounded
 * number of entries: the one that was used longest ago gives way. */
#ifndef DETECT_STATE_TABLE_H
#define DETECT_STATE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct state_key {
    uint64_t owner[4]; /* two addresses, or one, or a flow's id, or none */
    uint64_t what;     /* a variable, or a filter */
};

struct state_entry {
    struct state_key key;
    int64_t since;          /* nanoseconds, the packets' clock */
    uint64_t seconds;       /* it counts as far from `since`; UINT64_MAX: without end */
    uint32_t value;         /* zero at first */
    uint32_t bytes;         /* that a tag leaves, and its packets are the value */
    uint32_t chain;         /* of the bucket, or of the free ones; 0 ends it */
    uint32_t before, after; /* in the order of use; entry 0 is before the oldest */
};

struct state_table {
    struct state_entry *entry; /* from 1 on */
    uint32_t *bucket;
    uint32_t max, mask, n_used, free;
    uint64_t secret; /* of the hash */
    atomic_uint_fast64_t active, evicted;
};

/* Takes the memory for `max` entries, which is touched as they are used. False: there is none. */
bool state_table_open(struct state_table *table, uint32_t max, uint64_t secret);
void state_table_close(struct state_table *table);

/* The entry of the key. NULL: there is none, or it counts no longer at this time. */
struct state_entry *state_table_find(struct state_table *table, const struct state_key *key,
                                     int64_t now);

/* Adds an entry. The key has none. */
struct state_entry *state_table_add(struct state_table *table, const struct state_key *key,
                                    int64_t now, uint64_t seconds);

void state_table_remove(struct state_table *table, struct state_entry *entry);

/* Removes all. */
void state_table_clear(struct state_table *table);

#endif
