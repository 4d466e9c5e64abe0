/* SPDX-License-Identifier: MIT */
/* Rows of a table of the matcher over the payloads of a command line. */
#ifndef BENCH_MPM_ROWS_H
#define BENCH_MPM_ROWS_H

#include "bench_matcher.h"

enum { MPM_BLOCKS = 4 /* lengths of the batches that cross to a GPU */ };

/* The data that all tables run over. */
struct mpm_ground {
    const struct bench *bench;
    struct bench_data scan;               /* on the host */
    struct bench_data sample;             /* training data of tables; empty: none */
    struct bench_data pinned[MPM_BLOCKS]; /* GPU: `scan` n_pinned times over, in pinned memory */
    uint32_t n_pinned[MPM_BLOCKS];
    struct bench_data there; /* GPU: `scan` n_times over, on the device */
    uint32_t n_times;
    double link[MPM_BLOCKS], best_link; /* bytes a second */
    struct mpm_judge judge;
};

/* Fills the data of a GPU from `scan`. False: an error was printed. */
bool mpm_ground_load_cuda(struct mpm_ground *ground);
void mpm_ground_unload(struct mpm_ground *ground);

/* Prints the rows of all backends of a table for a kind of device. False: an error was printed. */
bool mpm_ground_rows(struct mpm_ground *ground, const char *what, const struct sl_mpm_table *table,
                     enum sl_device_kind kind);

/* Rows of tables that were built elsewhere, by enum sl_device_kind, over the data of the command
 * line; pieces of files overlap by `overlap` bytes. False: an error was printed. */
bool mpm_rows_of_tables(const struct bench *bench, const char *what,
                        const struct sl_mpm_table *const tables[2], uint16_t overlap);

#endif
