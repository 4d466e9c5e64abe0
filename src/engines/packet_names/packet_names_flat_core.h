/* SPDX-License-Identifier: MIT */
/* A table of names as one block without pointers, which a GPU has a copy of, and a look-up in it.
 * For host and CUDA code. */
#ifndef NAMES_NAMES_FLAT_CORE_H
#define NAMES_NAMES_FLAT_CORE_H

#include "names/fib/fib_table.h"
#include "names/fib/hash/fib_hash_core.h"
#include "names/fib/mata/fib_mata_core.h"
#include "names/fib/papers/fib_ata_core.h"
#include "names/table/names_answer_core.h"

enum names_plane { NAMES_PLANE_HASH, NAMES_PLANE_MATA, NAMES_PLANE_ATA };

/* The block's head. Offsets count from its first byte. */
struct names_flat {
    uint64_t len;        /* bytes of the block */
    struct fib_view fib; /* its parts: offsets */
    uint64_t rules;      /* the offset of all rules */
    uint32_t plane;      /* enum names_plane */
    uint32_t highest_rank;
    uint64_t epoch;   /* of the updates that are in it */
    uint32_t n_users; /* the host's */
};

/* The addresses of look-ups: in the block, or in a copy of it. */
struct names_flat_view {
    struct fib_view fib;
    const struct names_rule *rules;
    uint32_t plane, highest_rank;
};

static inline struct names_flat_view names_flat_view(const struct names_flat *flat,
                                                     const void *block)
{
    const uint8_t *base = (const uint8_t *)block;
    struct names_flat_view view;

    view.fib = flat->fib;
    for (int i = 0; i < FIB_PARTS; i++)
        view.fib.part[i] = base + (uintptr_t)flat->fib.part[i];
    view.rules = (const struct names_rule *)(const void *)(base + flat->rules);
    view.plane = flat->plane;
    view.highest_rank = flat->highest_rank;
    return view;
}

BYTES_INLINE struct fib_answer names_flat_longest(const struct names_flat_view *table,
                                                  const struct fib_reader *name)
{
    return table->plane == NAMES_PLANE_HASH   ? hash_lookup(&table->fib, name)
           : table->plane == NAMES_PLANE_MATA ? mata_lookup(&table->fib, name)
                                              : ata_lookup(&table->fib, name);
}

/* The id of the rule that answers; the name's bytes are at `words` (see fib_reader). As
 * sl_names_lookup: the longest prefix first, then, where that does not settle it, shorter ones. */
BYTES_INLINE uint64_t names_flat_lookup(const struct names_flat_view *table,
                                        const struct sl_name *name, const uint32_t *words)
{
    struct fib_reader reader = {words, 1, name->len};
    uint64_t id = NAMES_NO_RULE;
    uint32_t rank = 0; /* of the best rule so far, + 1 */

    for (;;) {
        const struct fib_answer found = names_flat_longest(table, &reader);

        if (found.next_hop == SL_FIB_NONE)
            return id;
        const struct names_rule *node = table->rules + found.next_hop;
        const struct names_rule *rule = names_node_best(node, name, found.len, rank);
        if (rule != NULL) {
            rank = rule->rank + 1u;
            id = names_rule_id(found.next_hop + (uint32_t)(rule - node), found.len);
        }
        if (found.len == 0 || rank > table->highest_rank)
            return id;
        reader.len = names_shorter((const uint8_t *)words, found.len);
    }
}

#endif
