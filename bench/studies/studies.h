/* SPDX-License-Identifier: MIT */
/* The studies, of papers and of this project, and their common parts. */
#ifndef BENCH_STUDIES_H
#define BENCH_STUDIES_H

#include "bench/data/literal_sets.h"
#include "bench/engines/bench_matcher.h"
#include "bench/frame/study_table.h"

struct study {
    const struct bench *bench;
    struct study_table table;
    struct bench_literals literals;
    struct bench_data scan; /* payloads in batches of 1 MiB, where the study needs them */
};

/* Runs bench->study, which must be one of this benchmark's. False: an error was printed. */
bool bench_study(const struct bench *bench, const char *name);

/* Builds. NULL: the row's note is the reason. */
struct sl_mpm_table *study_build(struct study_row *row, const char *algorithm,
                                 enum sl_device_kind kind, const struct sl_literal *literals,
                                 size_t n_literals);

/* Measures units a second, or -1 with the row's note where it could not be run. The hits must be
 * the judge's. False: an error was printed. */
bool study_measure(const struct study *study, const struct bench_work *work,
                   struct mpm_judge *judge, struct study_row *row, double *rate);

/* The studies: of matching, */
bool study_packet_size(struct study *study);
bool study_literals(struct study *study);
bool study_match_rate(struct study *study);
bool study_hostile(struct study *study);

/* of sampling (Rabin's fingerprints on GPUs, and DYNABYTE), */
bool study_machines(struct study *study);
bool study_optimisations(struct study *study);
bool study_buffers(struct study *study);
bool study_word_size(struct study *study);
bool study_shared_memory(struct study *study);
bool study_divergence(struct study *study);
bool study_sorting(struct study *study);
bool study_closeness(struct study *study);
bool study_streams(struct study *study);
bool study_markers(struct study *study);
bool study_periods(struct study *study);
bool study_period_change(struct study *study);

/* and of look-ups of names on GPUs. */
bool study_lookup_latency(struct study *study);
bool study_lookup_link(struct study *study);
bool study_lookup_kernel(struct study *study);
bool study_lookup_growth(struct study *study);

#endif
