/* SPDX-License-Identifier: MIT */
/* Literals that TCP segments cut: a table of all places where they can be cut, and an engine that
 * finds them in the column `before` of batches. */
#ifndef ENGINES_SEAM_TABLE_H
#define ENGINES_SEAM_TABLE_H

#include "seam_core.h"
#include "sluice/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A literal of the table: in bytes to the client, to the server, or to both. */
struct seam_wanted {
    const uint8_t *bytes;
    uint32_t len; /* 1 to SEAM_BEFORE_MAX + 1 */
    bool nocase;  /* ASCII letters match letters of either case */
    bool to[2];   /* [1]: the server */
    uint64_t id;  /* of its hits */
};

/* A block that a GPU gets a copy of. */
struct seam_table;

/* Copies the literals. A hit's offset is `base`, and the literal's bytes behind the place. NULL: no
 * memory. */
struct seam_table *seam_table_create(const struct seam_wanted *wanted, uint32_t n, uint32_t base);
void seam_table_free(struct seam_table *table); /* accepts NULL */

/* Those of the direction. The table outlives them. */
CORE struct seam_set seam_set_of(const struct seam_table *table, bool to_server);

/* Whether a literal is cut at the place. */
bool seam_table_cuts(const struct seam_table *table, bool to_server,
                     const struct seam_sides *sides);

/* Finds all literals that are cut at the places of a batch: a hit is of the packet behind the
 * place. A batch without the column has none. */
const struct sl_engine *seam_engine(void);

/* ---- inside ---------------------------------------------------------------------------------- */

/* Offsets are bytes from the table's first. */
struct seam_part {
    uint32_t any, slot, cut;
    uint32_t from[SEAM_WAYS], shift[SEAM_WAYS];
};

struct seam_table {
    uint64_t len; /* bytes, of all */
    uint32_t literal, bytes;
    uint32_t base, n_before;  /* see seam_set */
    struct seam_part part[2]; /* [1]: to the server */
};

CORE struct seam_set seam_set_of(const struct seam_table *table, bool to_server)
{
    const uint8_t *const base = (const uint8_t *)table;
    const struct seam_part *const part = &table->part[to_server ? 1 : 0];
    struct seam_set set;

    set.any = (const uint32_t *)(base + part->any);
    set.slot = (const struct seam_slot *)(base + part->slot);
    set.cut = (const struct seam_cut *)(base + part->cut);
    set.literal = (const struct seam_literal *)(base + table->literal);
    set.bytes = base + table->bytes;
    set.base = table->base;
    set.n_before = table->n_before;
    for (int way = 0; way < SEAM_WAYS; way++) {
        set.from[way] = part->from[way];
        set.shift[way] = part->shift[way];
    }
    return set;
}

extern const struct sl_backend seam_scalar, seam_avx512, seam_cuda;

#ifdef __cplusplus
}
#endif
#endif
