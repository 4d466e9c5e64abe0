/* SPDX-License-Identifier: MIT */
/* Look-ups of names: the parts that the rows and the studies of the paper share. */
#ifndef BENCH_FIB_H
#define BENCH_FIB_H

#include "bench.h"
#include "bench/data/name_traces.h"
#include "work.h"

enum {
    FIB_LANES_MAX = 64,
    FIB_CPU_BATCH = 16384, /* names of a batch on a CPU */
    FIB_CPU_BATCHES = 128
};

/* How names come to a GPU, and answers back. On a CPU all are FIB_THERE. */
enum fib_way {
    FIB_THERE,  /* both stay in its memory, and its clock is read */
    FIB_COPIED, /* through a stage, and copied back */
    FIB_READ    /* the kernel reads and writes the host's pinned memory */
};

/* Look-ups of a trace by one backend. */
struct fib_work {
    const struct sl_fib_backend *backend;
    struct sl_fib_table *table;
    const struct bench_data *data;
    const uint32_t *wanted; /* next hops of the data's names; NULL: not compared */
    enum fib_way way;
    unsigned n_lanes;   /* batches under way, at most FIB_LANES_MAX */
    uint32_t run_names; /* of a run at least, on a GPU and from host memory */
    int device;
};

struct fib_result {
    struct bench_rate rate; /* names a second */
    double p50_us, p99_us;  /* of batches, from their upload to their answers; not of FIB_THERE */
};

/* The rate, after a pass whose answers are all compared. False: an error was printed. */
bool fib_measure(const struct bench *bench, const struct fib_work *work, struct fib_result *result);

/* The answers of the unaggregated table to each name of the data. The caller frees them. NULL: an
 * error was printed. */
uint32_t *fib_wanted(struct sl_fib *fib, const struct bench_data *data);

/* Whether --algorithms has the plane; without it all are, and stt if that is wanted. */
bool fib_is_selected(const struct bench *bench, const char *plane, bool stt);

/* One table, its traces and their answers. */
struct fib_bench {
    const struct bench *bench;
    struct bench_names names;
    struct bench_data trace[2]; /* average, heavy */
    uint32_t *wanted[2];        /* their answers */
    struct sl_fib *fib;
    const char *plane;
    struct fib_cuda_data *cuda; /* NULL: no GPU is used */
};

/* bench_fib_updates.c: rows of updates, alone and under look-ups. False: an error was printed. */
bool fib_update_rows(struct fib_bench *fib);

/* Prints a row of n rates of the table. */
void fib_print_rates(const struct fib_bench *fib, const char *variant, double *rates, uint32_t n,
                     const char *unit);

/* bench_fib_swap.c: a row of swaps, by the wall's clock. The memory is that of the process beside
 * the table, with all memory for updates. False: an error was printed. */
bool fib_swap_row(const struct fib_bench *fib);

/* bench_fib_cuda.c: rows of a backend for GPUs. False: an error was printed. */
struct fib_cuda_data *fib_cuda_load(const struct fib_bench *fib); /* NULL: an error was printed */
void fib_cuda_unload(struct fib_cuda_data *data);                 /* accepts NULL */
bool fib_cuda_rows(const struct fib_bench *fib, const struct fib_cuda_data *data,
                   const struct sl_fib_backend *backend);

#endif
