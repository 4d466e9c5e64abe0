/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: data, timing and rows. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "literal_file.h"
#include "rule_files.h"
#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"

/* Packets of capture files in dissected host batches. */
struct bench_data {
    struct sl_batch **batches;
    size_t n_batches;
    uint64_t packets, bytes, payload_bytes;
    char text[96]; /* what it is, for the rows */
};

struct bench {
    const char **paths; /* captures; the generated one where none were named */
    size_t n_paths;
    struct rule_files rule_files; /* their literals; generated ones where none were named */
    const char **literal_paths;   /* files of literals, instead of rule files */
    size_t n_literal_paths;
    const char *device; /* as --device */
    uint32_t runs;      /* counted runs of each row, after one warm-up */
    bool json;
    char generated[64]; /* the generated capture, "" where none; removed at the end */
};

/* A rate measured over several runs. */
struct bench_rate {
    double median, min, max; /* units a second */
};

/* Runs `once` (returns units done, 0: failed) 1 + runs times. */
struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user);

/* Prints one row: what was run, on what, its rate, and the ceiling beside it (0: none). */
void bench_row(const struct bench *bench, const char *what, const char *variant, const char *data,
               const struct bench_rate *rate, double unit, const char *unit_name, double ceiling);

/* bench_data.c */
bool bench_generate(struct bench *bench);
bool bench_load(struct bench_data *data, const struct bench *bench, uint32_t batch_len, bool pinned,
                uint64_t max_bytes);
void bench_unload(struct bench_data *data);

/* Literals, and what owns them. */
struct bench_literals {
    const struct sl_literal *literal;
    size_t n;
    struct literal_files files;
    struct sl_rules *rules;
    struct sl_literal *generated;
    uint8_t *bytes; /* of the generated ones */
};

/* bench_literals.c: of the files named, or n_generated of our own. False: said. In any case to be
 * freed. */
bool bench_literals_load(struct bench_literals *literals, const struct bench *bench,
                         size_t n_generated);
void bench_literals_free(struct bench_literals *literals);

/* The benchmarks; false: failed, said on stderr. */
bool bench_capture(const struct bench *bench);
bool bench_header(const struct bench *bench);
bool bench_mpm(const struct bench *bench);

/* bench_engine.c: every usable backend of an engine over the data, on one core each; and, unless
 * cpu_only, on the GPU where bench->device gives one: payload there already, and from pinned memory
 * beside the link. */
bool bench_engine(const struct bench *bench, const struct bench_data *data, const char *what,
                  const struct sl_engine *engine, const void *table, bool by_packets,
                  bool cpu_only);

#endif
