/* SPDX-License-Identifier: MIT */
/* Tables of the matcher, by the names of algorithms. */
#ifndef BENCH_MATCHER_H
#define BENCH_MATCHER_H

#include "bench.h"
#include "sluice/mpm.h"
#include "work.h"

/* Returns the n-th algorithm of the library, or the peer behind the last; NULL behind that. */
const char *mpm_algorithm_at(size_t n);

/* Whether an algorithm, or a backend as "rk.cuda-block", takes minutes a row: those run only where
 * the command line names the algorithm. */
bool mpm_is_slow(const char *name);

/* Whether this build has an algorithm of this name. "auto" is one. */
bool mpm_known(const char *algorithm);

/* Builds the table of these literals, fitted to a kind of device and, if not NULL, to a sample.
 * NULL: `why` is the reason. */
struct sl_mpm_table *mpm_build(const char *algorithm, enum sl_device_kind kind,
                               const struct bench_data *sample, const struct sl_literal *literals,
                               size_t n_literals, char why[320]);

/* Returns the backend of this name, or the best usable one where that is NULL. NULL: none. */
const struct sl_backend *mpm_backend(const struct bench *bench, const struct sl_mpm_table *table,
                                     enum sl_device_kind kind, const char *name);

/* The hits in the data, on which all algorithms must agree. */
struct mpm_judge {
    bool known;
    uint64_t hits;
    char by[64]; /* the variant that counted first */
};

/* Compares with the judge; the result is of data n_times the judge's. False: an error was printed.
 */
bool mpm_judge(struct mpm_judge *judge, const struct bench_result *result, uint32_t n_times,
               const char *what, const char *variant);

#endif
