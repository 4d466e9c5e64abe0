/* SPDX-License-Identifier: MIT */
/* The rates of this machine's memory: the ceilings that rates are shown beside. */
#ifndef BENCH_CEILINGS_H
#define BENCH_CEILINGS_H

#include "bench.h"
#include "bench/frame/row.h"

/* On each of the numbers of cores that were measured. */
struct bench_ceilings {
    unsigned cores[BENCH_CORES_MAX];
    unsigned n;
    double read[BENCH_CORES_MAX]; /* bytes a second */
    double copy[BENCH_CORES_MAX];
    double link; /* to the GPU, bytes a second in blocks of 16 MiB; 0: no GPU */
};

/* The numbers of cores to measure on: each up to 4, then powers of two, and all. */
void bench_choose_cores(struct bench_ceilings *ceilings);

/* Measures and prints. bytes_len: the memory that the rows' data takes. False: an error was
 * printed. */
bool bench_measure_ceilings(struct bench_ceilings *ceilings, const struct bench *bench,
                            size_t bytes_len);

/* Of a GPU alone, which there is. */
void bench_measure_device(struct bench_ceilings *ceilings, const struct bench *bench);

/* One way of reading and copying all of an area, with loads as wide as the CPU has them. Aligned
 * to 64 bytes, lengths multiples of 512. */
struct bench_sweep {
    uint64_t (*read)(const void *from, size_t len); /* a sum, so that nothing is left out */
    void (*copy)(void *to, const void *from, size_t len);
};

extern const struct bench_sweep bench_sweep_scalar, bench_sweep_avx2, bench_sweep_avx512;

#endif
