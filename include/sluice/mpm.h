/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: every occurrence of every literal of a set in the payloads of a batch.
 *
 * A hit is (item, end offset, literal index). The end offset counts from the payload's first byte
 * to the byte behind the match. Literals are binary; one with SL_LITERAL_NOCASE matches ASCII
 * letters of either case. Equal literals all report. A match that lies wholly inside an item's
 * overlap belongs to the piece before, which reported it. All algorithms and backends give the same
 * set of hits, but for those that sl_limits lets them leave out.
 *
 * "auto" takes gram (rare windows behind a filter) or ac (A. V. Aho, M. J. Corasick, "Efficient
 * string matching", 1975). The papers' algorithms are variants: pfac, naive, wm, wm2, wm3, rk
 * ("Traffic anomaly detection on GPUs", thesis, 2017, sections 2.4 and 4.3) and tag ("GPU Gems 3",
 * chapter 35). */
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

/* Bounds and flags of literals. */
enum {
    SL_LITERAL_LEN_MAX = 4096,      /* bytes */
    SL_LITERAL_COUNT_MAX = 1000000, /* literals a set */
    SL_LITERAL_NOCASE = 1           /* flag: ASCII case is ignored */
};

/* A literal. */
struct sl_literal {
    const uint8_t *bytes; /* borrowed until sl_mpm_build returns */
    uint32_t len;         /* bytes, 1 to SL_LITERAL_LEN_MAX */
    uint32_t flags;       /* SL_LITERAL_* */
};

/* The configuration of a table. */
struct sl_mpm_config {
    const char *algorithm;      /* a name of sl_mpm_algorithms, or "auto" */
    enum sl_device_kind device; /* where it will run: the tables and the choice of "auto" follow it.
                                   CPUs run tables of either kind. A GPU, and gram's tiling, refuse
                                   gram's tables for CPUs: SL_EUNSUPPORTED */

    /* Payloads like those of the traffic (a host batch, borrowed until sl_mpm_build returns). The
     * search is faster for what is rare in them; they change no result. NULL: text and zeros count
     * as frequent. */
    const struct sl_batch *sample;
    uint64_t reserved[4]; /* 0: room to grow */
};

/* algorithm "auto", device SL_DEVICE_CPU, no sample. */
SL_API void sl_mpm_config_init(struct sl_mpm_config *config);

/* The names of this build's algorithms, ended by NULL. Static storage; any thread. */
SL_API const char *const *sl_mpm_algorithms(void);

/* The papers' algorithms, which no default takes: in every build the same names, ended by NULL.
 * Static storage; any thread. */
SL_API const char *const *sl_mpm_variants(void);

/* Checks that sl_mpm_build knows an algorithm. *algorithm is then the same name in static storage.
 * Any thread. SL_EINVAL: there is no such name; diag lists the known ones. SL_EUNSUPPORTED: a
 * paper's variant that this build leaves out. */
SL_CHECK SL_API enum sl_status sl_mpm_variant(const char **algorithm, const char *name,
                                              struct sl_diag *diag);

/* A compiled set: immutable; any number of threads and contexts share it. */
struct sl_mpm_table;

/* Compiles literals, which it copies. A literal's index is the id of its hits. An empty set matches
 * nothing; `literals` may then be NULL. The caller frees the table. SL_EINVAL: a literal is empty,
 * too long, or has unknown flags, or there are too many (diag->line is its index + 1). SL_EINVAL
 * also: an unknown algorithm, as sl_mpm_variant. SL_EUNSUPPORTED: the set is beyond the algorithm,
 * or the build leaves the algorithm out. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_mpm_build(struct sl_mpm_table **table,
                                            const struct sl_mpm_config *config,
                                            const struct sl_literal *literals, size_t n_literals,
                                            struct sl_diag *diag);

/* Writes a table to a file for sl_mpm_load. The call writes a new file beside it
 * (PATH.sluice-new-N) and renames that one. So no reader meets a part of a table, and a table that
 * is mapped from the old file keeps its bytes. SL_EIO: the system refused, or path is no regular
 * file. */
SL_CHECK SL_API enum sl_status sl_mpm_save(const struct sl_mpm_table *table, const char *path,
                                           struct sl_diag *diag);

/* Loads a file of sl_mpm_save; the table is like one of sl_mpm_build. A file of more than 256 MiB
 * is mapped (sluice/mapped.h): it may be replaced or removed, and must not be written to. SL_EIO:
 * the file cannot be read. SL_EFORMAT: the file is no table, or a cut or damaged one. SL_EFORMAT
 * also: it has another version, byte order, pointer size or CPU, or an algorithm that this build
 * lacks. SL_ENOMEM. The checksum finds damage, not malice: a table needs as much trust as a
 * program. sl_mpm_info and sl_mpm_literals_check show whether it was compiled from certain
 * literals. */
SL_CHECK SL_API enum sl_status sl_mpm_load(struct sl_mpm_table **table, const char *path,
                                           struct sl_diag *diag);

/* For files that hold a table among other things. store moves a table into memory of table_len
 * bytes (sl_mpm_info), aligned to 64, and frees it. attach checks such memory, of len bytes, as
 * sl_mpm_load checks a file, and borrows it. The table is like any other, but never freed. The
 * memory outlives it and does not change. path names the file in diag. Statuses are those of
 * sl_mpm_load. */
SL_API void sl_mpm_store(struct sl_mpm_table *table, void *memory);
SL_CHECK SL_API enum sl_status sl_mpm_attach(const struct sl_mpm_table **table, const void *memory,
                                             size_t len, const char *path, struct sl_diag *diag);

/* Frees a table, after its contexts. Accepts NULL. */
SL_API void sl_mpm_free(struct sl_mpm_table *table);

/* The engine whose backends run this table and take it as their `table`. Static storage; any
 * thread. */
SL_API const struct sl_engine *sl_mpm_engine(const struct sl_mpm_table *table);

/* Facts of a table. */
struct sl_mpm_info {
    const char *algorithm;
    size_t n_literals;
    size_t n_states;         /* of an automaton; else 0 */
    size_t table_len;        /* bytes of the flat block that contexts and GPUs share */
    uint64_t literals_check; /* sl_mpm_literals_check of what it was compiled from */
};

/* Copies the facts. Any thread. */
SL_API void sl_mpm_info(const struct sl_mpm_table *table, struct sl_mpm_info *info);

/* Returns a hash of valid literals in their order, with lengths and flags. Any thread. */
SL_API uint64_t sl_mpm_literals_check(const struct sl_literal *literals, size_t n_literals);

#ifdef __cplusplus
}
#endif
#endif
