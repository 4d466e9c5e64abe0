/* SPDX-License-Identifier: MIT */
/* The interface of an algorithm, and the checks of blocks from files. */
#ifndef MPM_INTERNAL_H
#define MPM_INTERNAL_H

#include "batch/cpu_backend.h"
#include "mpm_set.h"
#include "sluice/engine.h"

/* An algorithm: one descriptor mpm_<name>, named once in mpm.c's list. */
struct mpm_algorithm {
    const char *name; /* shorter than MPM_NAME_LEN */

    /* SL_ENOMEM, or SL_EUNSUPPORTED for what this algorithm cannot do. */
    enum sl_status (*build)(struct sl_mpm_table **table, const struct mpm_set *set,
                            const struct sl_mpm_config *config, struct sl_diag *diag);

    /* Whether backends may run on a block from a file: NULL, or what is wrong in a few words of
     * static storage. Header, literals and groups have been checked (mpm_table_check); of the body
     * not even the length of its first struct. Whatever the text, a backend must then read nothing
     * outside the block, and come to an end. Each part lies inside (mpm_part_fits), each index is
     * below its count, each search ends. The hits need not make sense. Called once a load; it may
     * read the whole body. */
    const char *(*check)(const struct sl_mpm_table *table);

    const struct sl_engine *engine;
};

/* As sl_mpm_build, of one set of several with the same sample and algorithm. `learned` is zeroed
 * before the first, and cleared behind the last. One build at a time. */
enum sl_status mpm_build_one(struct sl_mpm_table **table, const struct sl_mpm_config *config,
                             const struct sl_literal *literals, size_t n_literals,
                             struct mpm_learned *learned, struct sl_diag *diag);

void mpm_learned_clear(struct mpm_learned *learned);

/* Adds an algorithm from outside the library: a program can then build, store and run it by its
 * name, as the others. One alone, static, before any other call of mpm. */
void mpm_add_peer(const struct mpm_algorithm *algorithm);

/* The engines' `takes`. */
bool mpm_takes(const struct sl_engine *engine, const void *table);

/* NULL: there is none of this name. */
const struct mpm_algorithm *mpm_find_algorithm(const char *name);

/* Whether the body has n entries of `size` bytes at `at` bytes behind its first, aligned as
 * mpm_place does it. */
bool mpm_part_fits(const struct sl_mpm_table *table, uint64_t at, uint64_t n, size_t size);

/* Whether the groups are in order, each other than the one before: what mpm_walk.h takes for
 * granted. Of a table whose literals have been checked. */
bool mpm_groups_ascend(const struct sl_mpm_table *table);

/* Its checksum covers all behind the head, and is never 0. */
extern const struct block_kind mpm_block_kind;

/* Whether `len` bytes from a file at `path`, mapped or read, are a block that can be used here;
 * aligned to MPM_ALIGN. SL_EFORMAT. */
enum sl_status mpm_table_check(const struct sl_mpm_table *table, uint64_t len, const char *path,
                               struct sl_diag *diag);

/* Kinds of a batch's items, and those of which hits inside runs are left out. */
struct mpm_kinds {
    const uint8_t *kind; /* NULL: all are of kind 0 */
    uint8_t sparse;      /* bits, as sl_limits.run_ends has them */
};

static inline struct mpm_kinds mpm_kinds(const struct sl_limits *limits,
                                         const struct sl_batch *batch)
{
    return (struct mpm_kinds){batch->has_kind ? batch->kind : NULL, limits->run_ends};
}

static inline bool mpm_is_sparse(struct mpm_kinds kinds, uint32_t item)
{
    return (kinds.sparse >> (kinds.kind != NULL ? kinds.kind[item] : 0) & 1) != 0;
}

/* Appends a literal's hits in a run. */
static inline void mpm_append_ends(struct sl_hits *hits, uint32_t item, uint32_t id,
                                   const struct mpm_ends *ends)
{
    const size_t room = hits->n < hits->cap ? hits->cap - hits->n : 0;
    struct sl_hit *const hit = hits->hit + hits->n;

    for (uint32_t i = 0; i < ends->n && i < room; i++)
        hit[i] = (struct sl_hit){item, ends->first + i * ends->step, id};
    hits->n += ends->n;
}

/* Matches that end here or before were reported with the piece before. */
static inline uint32_t mpm_overlap(const struct sl_batch *batch, uint32_t item)
{
    return batch->has_overlap ? batch->overlap[item] : 0;
}

#endif
