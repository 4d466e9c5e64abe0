/* SPDX-License-Identifier: MIT */
/* What the benchmark of matching and its studies share. */
#ifndef CLI_BENCH_MPM_H
#define CLI_BENCH_MPM_H

#include "bench.h"
#include "sluice/mpm.h"

/* Whether this build has an algorithm of this name. "auto" is one. */
bool mpm_known(const char *algorithm);

/* The table of these literals, fitted to a kind of device and, if not NULL, to a sample. NULL:
 * `why` says why this algorithm cannot do it. */
struct sl_mpm_table *mpm_build(const char *algorithm, enum sl_device_kind kind,
                               const struct bench_data *sample, const struct sl_literal *literals,
                               size_t n_literals, char why[320]);

/* The backend of this name, or where that is NULL the best one that is usable for a kind of device;
 * NULL: there is none. */
const struct sl_backend *mpm_backend(const struct bench *bench, const struct sl_mpm_table *table,
                                     enum sl_device_kind kind, const char *name);

/* What all must agree on: the hits in the data. */
struct mpm_judge {
    bool known;
    uint64_t hits;
    char by[64]; /* who counted first */
};

/* False: said. The result is of data that is n_times the judge's. */
bool mpm_judge(struct mpm_judge *judge, const struct bench_result *result, uint32_t n_times,
               const char *what, const char *variant);

/* Rows of tables that were built elsewhere, by enum sl_device_kind, over the data of the command
 * line, pieces of files overlapping by `overlap` bytes. False: failed, said. */
bool mpm_rows_of_tables(const struct bench *bench, const char *what,
                        const struct sl_mpm_table *const tables[2], uint16_t overlap);

#endif
