/* SPDX-License-Identifier: MIT */
/* Engines together on one transfer, by the pipeline that a run has. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <sched.h>

#include "bench.h"
#include "bench/data/bench_data.h"
#include "bench/frame/rate.h"
#include "sluice/pipeline.h"

enum { BENCH_TIMELINE_MAX = 64 /* batches */ };

/* An engine to run, and the hits that it has in one pass over the data. */
struct bench_engine {
    const char *name; /* of its rows */
    const struct sl_engine *engine;
    const void *table;
    uint64_t hits;
};

struct bench_together {
    const struct bench_engine *engines;
    unsigned n_engines;
    const struct bench_data *data; /* on the host; batches get its bytes by copying, */
    bool stays;                    /* or, where set, are full already, and the copy is not timed */
    const struct sl_device *devices; /* GPUs, or the CPU */
    uint32_t n_devices;
};

/* The run: its name, its cores (the process is bound to as many), and its way. */
struct bench_together_result {
    struct bench_rate rate;  /* bytes a second, of the data's units */
    double p50_us, p99_us;   /* from the arrival of a batch to its results */
    struct json_t *timeline; /* of the last run: the first batches, and the slowest; the caller's */
};

struct bench_cores {
    cpu_set_t allowed;
    bool bound;
};

/* Binds this thread, and those that it starts, to the first n of its cores. 0, or where that cannot
 * be: it keeps all. */
struct bench_cores bench_bind_to_cores(unsigned n);

/* Lets the thread have all of its cores again. */
void bench_unbind(const struct bench_cores *cores);

/* On each of n numbers of cores, in turn within each run. A GPU's pipeline has all cores, and n is
 * 1. `rate` not 0: batches come at this many bytes a second, and latency counts from the time when
 * one was due. 0: as fast as they go. Hits must be those of the engines alone. False: an error was
 * printed. */
bool bench_run_together(const struct bench *bench, const struct bench_together *together,
                        const unsigned *cores, unsigned n, double rate,
                        struct bench_together_result *results);

/* bench_resident.c: on a GPU, over batches that lie there already, with hits that stay there.
 * False: an error was printed. */
bool bench_run_resident(const struct bench *bench, const struct bench_together *together,
                        struct bench_rate *rate);

#endif
