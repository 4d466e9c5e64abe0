/* SPDX-License-Identifier: MIT */
/* The engines of the benchmark of the whole machine, with their tables. */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include "bench.h"
#include "bench/data/bench_data.h"
#include "bench/data/literal_sets.h"
#include "bench/data/name_traces.h"
#include "lookups_backend.h"

/* An engine with its table, for one kind of device. */
struct contender {
    char what[48];                  /* of its rows */
    char variant[64];               /* the algorithm or sampler, and the backend */
    const struct sl_engine *engine; /* NULL: it is no part of the one transfer */
    const struct sl_backend *backend;
    const void *table;
    const struct bench_data *data;   /* NULL: the packets */
    const struct bench_data *sample; /* training data for matchers of literals */

    /* The data that it owns, each NULL or empty where it has none. */
    struct sl_header_table *header;
    struct sl_mpm_table *mpm;
    struct sl_sampling_table *sampling;
    struct bench_literals literals;
    struct bench_names names;
    struct bench_data trace;
    struct sl_fib *fib;
    struct bench_lookups lookups;
    struct sl_names *table_of_names;
    struct sl_packet_names_watch *watch;
};

/* Builds one; variant NULL: the default. False: `why` is the reason why nothing is measured. */
typedef bool build_contender(struct contender *contender, const struct bench *bench,
                             const char *variant, enum sl_device_kind kind, char why[320]);

void contender_free(struct contender *contender);

/* An engine of the benchmark. One with an sl_engine is part of the one transfer too. */
struct contender_kind {
    const char *name; /* of --variants */
    build_contender *build;
    const char *peer; /* a variant of another project's that is measured too, or NULL */
    bool apart;       /* it is no part of the one transfer */
};

enum { N_CONTENDERS = 6 };
extern const struct contender_kind contender_kinds[N_CONTENDERS];

/* Signatures to find: the second of the counts, or the only one. */
static inline size_t bench_n_viruses(const struct bench *bench)
{
    return bench->counts[bench->n_counts > 1];
}

#endif
