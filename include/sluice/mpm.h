/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: every occurrence of every literal of a set in the payloads of a batch.
 *
 * A hit is (item, end offset, literal index): the offset, from the payload's first byte, of the
 * byte behind the match. Literals are binary; one with SL_LITERAL_NOCASE matches ASCII letters of
 * either case. Equal literals all report. A match that lies wholly inside an item's overlap is not
 * reported: the piece before has reported it. All algorithms and backends give the same set of
 * hits. */
#ifndef SLUICE_MPM_H
#define SLUICE_MPM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SL_LITERAL_LEN_MAX = 4096,      /* bytes */
    SL_LITERAL_COUNT_MAX = 1000000, /* literals a set */
    SL_LITERAL_NOCASE = 1           /* flag: ASCII case is ignored */
};

struct sl_literal {
    const uint8_t *bytes;
    uint32_t len;   /* bytes, 1 to SL_LITERAL_LEN_MAX */
    uint32_t flags; /* SL_LITERAL_* */
};

struct sl_mpm_config {
    const char *algorithm;      /* a name of sl_mpm_algorithms, or "auto" */
    enum sl_device_kind device; /* where it will run: tables and auto's choice follow it. CPUs run
                                   either table; opening gram's on a GPU, or in its tiling, is
                                   SL_EUNSUPPORTED where it was built for CPUs */

    /* Payloads like those that will be scanned (a host batch, lent until build returns): what is
     * rare in them is found faster. It changes no result. NULL: text and zeros are assumed to be
     * frequent. */
    const struct sl_batch *sample;
};

/* algorithm "auto", device SL_DEVICE_CPU, no sample. */
SL_API void sl_mpm_config_init(struct sl_mpm_config *config);

/* A compiled set: immutable, shared by all contexts. */
struct sl_mpm_table;

/* Compiles literals (copied; their index is the hit's id). Where a literal is wrong, diag->line is
 * its index + 1 and the status SL_EINVAL (empty, too long, too many). SL_EINVAL also: no such
 * algorithm (the known ones are named). SL_EUNSUPPORTED: the set is beyond this algorithm.
 * SL_ENOMEM. An empty set is fine and matches nothing. */
SL_CHECK SL_API enum sl_status sl_mpm_build(struct sl_mpm_table **table,
                                            const struct sl_mpm_config *config,
                                            const struct sl_literal *literals, size_t n_literals,
                                            struct sl_diag *diag);

/* Writes a table to a file that sl_mpm_load reads: to a new one beside it (PATH.PID-N) that is then
 * renamed, so that no reader meets a part of a table, and a table that was loaded from the file
 * before stays what it is. SL_EIO: the system refused, or path is something else than a file. */
SL_CHECK SL_API enum sl_status sl_mpm_save(const struct sl_mpm_table *table, const char *path,
                                           struct sl_diag *diag);

/* Maps a file that sl_mpm_save wrote; the table is as one from sl_mpm_build. As long as it lives
 * the file may be replaced or removed, not written to. SL_EIO: the file cannot be read. SL_EFORMAT:
 * it is no table, is cut or damaged, or is of another version, byte order, pointer size or CPU, or
 * of an algorithm that this build lacks; diag says which. The checksum finds damage, not malice: a
 * table needs as much trust as a program.
 *
 * Whether it was compiled from certain literals, sl_mpm_info and sl_mpm_literals_check tell. */
SL_CHECK SL_API enum sl_status sl_mpm_load(struct sl_mpm_table **table, const char *path,
                                           struct sl_diag *diag);

/* For files that hold a table among other things. store copies a table into memory of table_len
 * bytes (sl_mpm_info), aligned to 64; attach checks such memory as load does a file and lends it:
 * the table is used as any other, not freed, and the memory outlives it and does not change.
 * `mapped`: it is a private mapping of a file, which is not held in memory as a whole for that. */
SL_API void sl_mpm_store(const struct sl_mpm_table *table, void *memory);
SL_CHECK SL_API enum sl_status sl_mpm_attach(const struct sl_mpm_table **table, const void *memory,
                                             size_t len, bool mapped, const char *path,
                                             struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_mpm_free(struct sl_mpm_table *table);

/* The engine whose backends run this table: they take it as their `table`. */
SL_API const struct sl_engine *sl_mpm_engine(const struct sl_mpm_table *table);

struct sl_mpm_info {
    const char *algorithm;
    size_t n_literals;
    size_t n_states;         /* automata; else 0 */
    size_t table_len;        /* bytes of the flat block that contexts and GPUs share */
    uint64_t literals_check; /* sl_mpm_literals_check of what it was compiled from */
};

SL_API void sl_mpm_info(const struct sl_mpm_table *table, struct sl_mpm_info *info);

/* A hash of literals in their order, with lengths and flags. Valid literals only. */
SL_API uint64_t sl_mpm_literals_check(const struct sl_literal *literals, size_t n_literals);

/* All algorithms by name, ended by NULL. */
SL_API extern const char *const sl_mpm_algorithms[];

#ifdef __cplusplus
}
#endif
#endif
