/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: options, data, timing and rows. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/data/literal_file.h"
#include "cli/rule_files.h"
#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"

enum { BENCH_COUNTS_MAX = 16, BENCH_RUNS_MAX = 101, BENCH_CORES_MAX = 16, BENCH_GPUS_MAX = 16 };

struct json_t;

struct bench {
    char *const *words; /* of the command line, NULL behind them */
    unsigned given;     /* which options it has; bench.c */
    const char **paths; /* captures; the generated one where neither they nor files were named */
    size_t n_paths;
    const char **file_paths; /* files to scan instead of captures */
    size_t n_file_paths;
    struct rule_files rule_files; /* their literals; generated ones where none were named */
    const char **literal_paths;   /* files of literals, instead of rule files */
    size_t n_literal_paths;
    const char **database_paths; /* of ClamAV */
    size_t n_database_paths;
    size_t counts[BENCH_COUNTS_MAX]; /* literals of each set */
    size_t n_counts;
    const char *algorithms; /* names with commas between, or NULL: all that are not slow */
    const char *study;
    const char **samplers; /* ended by NULL; all where none was named */
    size_t n_samplers;
    const char *names_path;           /* names of tables; generated ones where NULL */
    size_t entries[BENCH_COUNTS_MAX]; /* names of each table */
    size_t n_entries;
    uint32_t device_bytes; /* payload of the batch that lies on the GPU, at least */
    bool sample;           /* train tables on half of the data, measure on the other half */
    bool all_cores;        /* rows on all cores too */
    const char *device_name;
    struct sl_device device;
    struct sl_device gpus[BENCH_GPUS_MAX]; /* all that were asked for: `device` is the first */
    uint32_t n_gpus;                       /* 0: none */
    uint32_t runs;                         /* counted runs of each row, after one warm-up */
    bool json;
    const char
        *variants; /* further variants of engines, ENGINE:NAME with commas between, or NULL */
    const char *save, *against, *from, *plot; /* files, or NULL */
    struct json_t *results;                   /* what all rows go into: bench_results.h */
    char generated[64]; /* the generated capture, "" where none; removed at the end */
};

/* The same numbers on every machine. */
static inline uint32_t bench_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Batches that engines run on. */
struct bench_data {
    struct sl_batch *batches; /* as engines see them; the memory is that of `owned` */
    size_t n_batches;
    struct sl_batch **owned;
    struct sl_stage *stage; /* of a batch that lies on the GPU, or NULL */
    uint64_t items, bytes;  /* bytes of packets, or of payload alone, what repeats not counted */
    uint64_t crossing;      /* bytes that cross to a GPU: arena and columns */
    char text[96];          /* what it is, for the rows */
};

/* bench_generate.c: a capture of our own in a temporary file, named in bench->generated. */
bool bench_generate(struct bench *bench);

/* bench_data.c. All: false: said; what was made is to be unloaded in any case, also before any of
 * them was called where the struct is zero. */

/* Dissected packets, at most about max_bytes. */
bool bench_load(struct bench_data *data, const struct bench *bench, uint32_t batch_len, bool pinned,
                uint64_t max_bytes);

/* The same packets in batches of another length. */
bool bench_rebatch(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                   bool pinned);

/* Payloads alone, without their headers, or files in pieces that overlap by `overlap` bytes. */
bool bench_load_payloads(struct bench_data *data, const struct bench *bench, uint16_t overlap);

/* The items of `from`, n_times over, in batches of batch_len bytes, or where that is 0 in one. */
bool bench_repack(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                  bool pinned, uint32_t n_times);

/* Two halves: every second batch, or where there is but one the first and the second half of its
 * items; the other half in one batch. */
bool bench_split(struct bench_data *half, struct bench_data *other, const struct bench_data *from);

/* A batch of `from` on the GPU. */
bool bench_to_device(struct bench_data *data, const struct bench_data *from, size_t batch,
                     int device);

/* Items that are made. */
struct bench_items {
    size_t n_batches;
    uint32_t n; /* a batch */
    uint32_t max_len;
    bool pinned;
    bool buckets;                                 /* each takes the room of the longest */
    uint32_t (*fill)(void *user, uint8_t *bytes); /* returns how long it is */
    void *user;
};

bool bench_fill(struct bench_data *data, const struct bench_items *items);

/* What contexts and stages need for any batch of it, hits apart. */
struct sl_limits bench_limits(const struct bench_data *data, int device);

void bench_unload(struct bench_data *data);

/* ---- timing and rows ------------------------------------------------------------------------- */

/* A rate measured over several runs, units a second. */
struct bench_rate {
    double median, min, max;
    double q1, q3;   /* between them lies the middle half of the runs */
    uint32_t n_runs; /* 0: one, of which there is but the median */
};

/* The spread of these rates, which get sorted; at least one. */
struct bench_rate bench_spread(double *rates, uint32_t n);

/* Runs `rate` (returns units a second) 1 + runs times. */
struct bench_rate bench_rates(uint32_t runs, double (*rate)(void *user), void *user);

/* The same for each of n, in turn within each run, so that a machine that drifts does not favour
 * one of them. */
void bench_rates_in_turn(uint32_t runs, unsigned n, double (*rate)(void *user, unsigned which),
                         void *user, struct bench_rate *rates);

/* The same for `once`, which returns the units it did, by the host's clock. */
struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user);

/* What a row of the whole machine is, which says how it is drawn. */
enum bench_role { BENCH_ALONE, BENCH_CEILING, BENCH_ENGINE, BENCH_TOGETHER, BENCH_PEER };

struct bench_row {
    const char *what, *variant, *data;
    struct bench_rate rate;
    double unit; /* in which rate and ceilings are said */
    const char *unit_name;
    double ceiling, best_ceiling; /* 0: none; the link with such blocks, and with its best ones */
    const uint64_t *hits;         /* NULL: not counted */

    /* Of a bench of the whole machine; all may be 0 or NULL. */
    enum bench_role role;
    const char *ceiling_of; /* what the ceiling is */
    const char *series;     /* rows that differ in cores alone have the same */
    unsigned cores;         /* that it ran on; 0: another device, or as variant says */
    double scaling;         /* times the rate of one core; 0: not said */
    double items;           /* a second, beside bytes */
    double p50_us, p99_us;  /* from a batch's arrival to its results */
};

/* bench.c: what all output begins with, before the first of it: who asks for what there is not is
 * told so and nothing else. */
void bench_head(const struct bench *bench);

void bench_print(const struct bench *bench, const struct bench_row *row);

/* Instead of a row: why it was not run. */
void bench_print_why(const struct bench *bench, const char *what, const char *variant,
                     const char *why);

/* A row as it is in JSON. */
void bench_print_line(const struct bench *bench, struct json_t *line);

/* ---- engines --------------------------------------------------------------------------------- */

/* A backend of an engine over data. */
struct bench_work {
    const struct sl_backend *backend;
    const void *table;
    const struct bench_data *data;
    int device;
    unsigned n_threads; /* contexts side by side: 1, or on a CPU more */
    double units;       /* that one pass over the data is */
    bool stays;         /* GPU: hits stay there, and its clock is read, not the host's */
    unsigned n_streams; /* GPU: batches under way at a time; 0: 8, or one where they lie there */

    /* Not 0: the room for a batch's hits; one with more says so, and its other hits are not
     * returned. 0: room for all. */
    uint32_t max_hits;

    /* What the caller does with a batch's hits, or NULL. With one thread only. */
    void (*consume)(void *user, const struct sl_batch *batch, const struct sl_hits *hits);
    void *user;
};

struct bench_result {
    struct bench_rate rate; /* units a second */
    uint64_t hits;          /* of one pass */
    char why[320];          /* not "": not run, and why */
};

/* bench_engine.c: counts the hits first, and measures with room for them. False: failed, said. */
bool bench_run(const struct bench *bench, const struct bench_work *work,
               struct bench_result *result);

/* Runs it and prints the row, or why there is none (result->why). `like` has the row's names, unit
 * and the link's rates, of which the ceilings are what it carries of the data beside alignment and
 * columns. False: failed, said. */
bool bench_run_row(const struct bench *bench, const struct bench_work *work,
                   const struct bench_row *like, struct bench_result *result);

/* The same on each of n numbers of cores, in turn within each run. results[0].why, if not "", is
 * why none of them was run. */
bool bench_run_on_cores(const struct bench *bench, const struct bench_work *work,
                        const unsigned *cores, unsigned n, struct bench_result *results);

/* Whether a backend is to be measured; if not, `why` says why, or is "" where nobody needs to know.
 */
bool bench_usable(const struct bench *bench, const struct sl_backend *backend,
                  char why[SL_WHY_LEN]);

/* bench_team.c: threads that do a job side by side, again and again, on a core each. */
struct bench_team;
struct bench_team *bench_team_start(unsigned n, void (*job)(void *user, unsigned member),
                                    void *user); /* NULL: said */
void bench_team_run(struct bench_team *team);    /* all begin at once; returns when all are done */
void bench_team_stop(struct bench_team *team);   /* accepts NULL */

/* ---- literals -------------------------------------------------------------------------------- */

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

/* n signatures of viruses that there are not: 8 to 32 random bytes each. False: said. In any case
 * to be freed. */
bool bench_viruses_make(struct bench_literals *viruses, size_t n);

/* ---- the benchmarks; false: failed, said on stderr ------------------------------------------- */

/* bench_whole.c: of a command line that names no benchmark. check: whether it knows the variants
 * asked for; false: said. */
bool bench_whole(const struct bench *bench);
bool bench_whole_check(const struct bench *bench);

bool bench_capture(const struct bench *bench);
bool bench_header(const struct bench *bench);
bool bench_mpm(const struct bench *bench);
bool bench_scan(const struct bench *bench);
bool bench_sampling(const struct bench *bench);

/* bench_study.c: bench->study instead, which is one of this benchmark's. */
bool bench_study(const struct bench *bench, const char *name);

/* bench_sampling.c: whether this build has a sampler of this name. */
bool bench_is_sampler(const char *name);
bool bench_redundancy(const struct bench *bench);
bool bench_batch_encoder(const struct bench *bench); /* a part of it, for GPUs */
bool bench_fib(const struct bench *bench);
bool bench_packet_names(const struct bench *bench);
bool bench_all_together(const struct bench *bench);

#endif
