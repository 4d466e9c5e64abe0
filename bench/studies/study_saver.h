/* SPDX-License-Identifier: MIT */
/* A sampler at work on the packets of a capture, and its savings: the common parts of the studies
 * of DYNABYTE. */
#ifndef BENCH_STUDY_SAVER_H
#define BENCH_STUDY_SAVER_H

#include "bench/data/bench_data.h"
#include "sluice/redundancy.h"
#include "sluice/sampling.h"

enum {
    SAVER_BATCH_LEN = 1 << 20,
    SAVER_WINDOW = 64, /* the paper's */
    SAVER_CACHE_LEN = 200 << 20
};

/* A sampler, and its savings. */
struct saver {
    struct sl_sampling_config config;
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_dynabyte *dynabyte; /* or NULL */
    struct sl_savings *savings;
    struct sl_hits hits;
    uint64_t spent_ns; /* sampling, by the thread's own time */
    struct sl_diag diag;
};

/* marker: samplebyte's, or NULL. interval_len: bytes of payload; 0: one interval. False: an error
 * was printed. The caller closes it in any case. */
bool saver_open(struct saver *saver, const char *sampler, uint32_t period, const bool marker[256],
                bool chunks, uint64_t interval_len);
void saver_close(struct saver *saver);

/* The batches from `first` up to `end`. False: an error was printed. */
bool saver_take(struct saver *saver, const struct bench_data *data, size_t first, size_t end);

/* From the next batch on. False: an error was printed. */
bool saver_change_period(struct saver *saver, uint32_t period);

double saver_net_percent(const struct sl_savings_count *count);
double saver_bytes_a_sample(const struct sl_savings_row *row); /* -1: there is no sample */

#endif
