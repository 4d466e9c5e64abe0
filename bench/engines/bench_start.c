/* SPDX-License-Identifier: MIT */
/* The start of a run, part by part, beside what a program with CUDA waits for in any case: cuInit
 * and a context. Each is the work of a process of its own, which ends with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_bytes.h"
#include "bench/frame/row.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "device/device.h"
#include "pipeline/worker.h"
#include "run/traffic_sample.h"
#include "run_parts.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/mpm.h"

enum part {
    PART_READ,
    PART_PARSE,
    PART_COMPILE,
    PART_PROBE,
    PART_TABLES,
    PART_BATCH,
    PART_OPEN,
    PART_FIRST,
    PART_EXIT,
    PART_INIT, /* of the bare context, as the next two */
    PART_CONTEXT,
    PART_BARE_EXIT,
    PART_BARE, /* its process */
    PART_RUN,  /* the process of a run */
    N_PARTS
};

enum { CAPTURE_LEN = 4000000 };

static const struct {
    const char *name;
    bool rules, gpu; /* it is there with rules, with a GPU */
} parts_of[N_PARTS] = {
    [PART_READ] = {"rules read", true, false},
    [PART_PARSE] = {"rules read and parsed", true, false},
    [PART_COMPILE] = {"rules compiled", true, false},
    [PART_PROBE] = {"device probed, context made", false, true},
    [PART_TABLES] = {"tables built", true, false},
    [PART_BATCH] = {"a batch made, pinned for GPUs", false, false},
    [PART_OPEN] = {"contexts opened, kernels loaded", true, false},
    [PART_FIRST] = {"first batch", true, false},
    [PART_EXIT] = {"exit", false, false},
    [PART_INIT] = {"bare context: cuInit", false, true},
    [PART_CONTEXT] = {"bare context: context", false, true},
    [PART_BARE_EXIT] = {"bare context: exit", false, true},
    [PART_BARE] = {"bare context, its process", false, true},
    [PART_RUN] = {"a whole run, its process", false, false},
};

/* In memory that processes share. */
struct shared {
    uint64_t ns[N_PARTS];
    uint64_t at_ns; /* the end of the last part */
    struct sl_device device;
    bool good;
};

/* A process' work. */
struct start {
    const struct bench *bench;
    const struct run_parts *parts;
    struct shared *shared;
    char path[64];    /* of a capture */
    char devices[16]; /* of the whole run; "" until the device is known */
};

/* The times that were measured, for bench_start to print. */
static struct {
    double seconds[N_PARTS][BENCH_RUNS_MAX];
    bool rules, gpu;
} measured;

static void end_part(struct shared *shared, enum part part)
{
    const uint64_t now = clock_ns();

    shared->ns[part] = now - shared->at_ns;
    shared->at_ns = now;
}

/* ---- the parts of a start -------------------------------------------------------------------- */

/* False: an error was printed. */
static bool done(enum sl_status status, const struct sl_diag *diag)
{
    if (status != SL_OK)
        cli_diag(diag);
    return status == SL_OK;
}

/* Folders are left to the next part. */
static void read_rules(const struct start *start)
{
    for (size_t i = 0; i < start->parts->n_rules; i++) {
        struct file_bytes file;

        if (file_bytes_open(&file, start->parts->rules[i], FILE_BYTES_READ_MAX, false, NULL) ==
            SL_OK)
            file_bytes_close(&file);
    }
    end_part(start->shared, PART_READ);
}

static bool load_rules(const struct start *start, struct sl_rules **rules,
                       const struct sl_literal **literals, size_t *n_literals)
{
    struct sl_diag diag = {0};
    enum sl_status status = sl_rules_create(rules, &diag);

    for (size_t i = 0; i < start->parts->n_rules && status == SL_OK; i++)
        status = sl_rules_load(*rules, start->parts->rules[i], &diag);
    end_part(start->shared, PART_PARSE);
    if (status == SL_OK)
        status = sl_rules_compile(*rules, literals, n_literals, &diag);
    end_part(start->shared, PART_COMPILE);
    return done(status, &diag);
}

static bool probe(const struct start *start)
{
    struct sl_device devices[SL_PIPELINE_DEVICES_MAX];
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];
    uint32_t n;
    const enum sl_status status = sl_device_choose_list(devices, SL_PIPELINE_DEVICES_MAX, &n,
                                                        start->bench->device_name, why, &diag);

    end_part(start->shared, PART_PROBE);
    start->shared->device = devices[0];
    return done(status, &diag);
}

static bool build_table(const struct start *start, struct sl_mpm_table **table,
                        const struct sl_literal *literals, size_t n_literals)
{
    const char *const path = start->path;
    struct sl_batch *sample = traffic_sample_read(&path, 1);
    struct sl_mpm_config config;
    struct sl_diag diag = {0};

    sl_mpm_config_init(&config);
    config.device = start->shared->device.kind;
    config.sample = sample;
    const bool good = done(sl_mpm_build(table, &config, literals, n_literals, &diag), &diag);
    sl_batch_free(sample);
    end_part(start->shared, PART_TABLES);
    return good;
}

/* Fills a batch, whose time is nobody's. */
static bool fill(const struct start *start, struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};
    struct sl_capture *capture;
    struct sl_diag diag = {0};
    enum sl_status status = sl_capture_open_file(&capture, start->path, 0, &diag);

    if (status == SL_OK) {
        status = sl_capture_read(capture, batch, &diag);
        sl_capture_close(capture);
    }
    sl_dissect(batch, &stats);
    start->shared->at_ns = clock_ns();
    return done(status == SL_END ? SL_OK : status, &diag);
}

/* A worker as the pipeline has them, and its first batch. Their memory is the process'. */
static bool run_batch(const struct start *start, const struct sl_mpm_table *table)
{
    static atomic_uint max_hits[SL_PIPELINE_ENGINES_MAX];
    static struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    static struct sl_pipeline_config config;
    static struct worker worker;
    const bool cuda = start->shared->device.kind == SL_DEVICE_CUDA;
    struct sl_batch *batch = NULL;
    struct sl_diag diag = {0};

    sl_pipeline_config_init(&config);
    config.devices[0] = start->shared->device;
    if (table != NULL)
        config.engines[config.n_engines++] =
            (struct sl_pipeline_engine){.engine = sl_mpm_engine(table), .table = table};
    if (cuda)
        device_use(config.devices[0].index);
    bool good = done(
        worker_batch_create(&config, cuda, config.batch_len, config.batch_items, &batch, &diag),
        &diag);
    end_part(start->shared, PART_BATCH);
    good = good && done(worker_open(&worker, &config, &config.devices[0], max_hits, &diag), &diag);
    end_part(start->shared, PART_OPEN);
    if (good && config.n_engines != 0)
        good = done(worker_take_hits(&config, 0, &hits[0], &diag), &diag);
    good = good && fill(start, batch) && done(worker_run(&worker, batch, hits, &diag), &diag);
    end_part(start->shared, PART_FIRST);
    return good;
}

static bool run_in_parts(const struct start *start)
{
    const struct sl_literal *literals;
    struct sl_mpm_table *table = NULL;
    struct sl_rules *rules = NULL;
    size_t n_literals = 0;

    read_rules(start);
    if (!load_rules(start, &rules, &literals, &n_literals) || !probe(start))
        return false;
    if (n_literals != 0 && !build_table(start, &table, literals, n_literals))
        return false;
    return run_batch(start, table);
}

/* ---- the other processes --------------------------------------------------------------------- */

static bool make_context(const struct start *start)
{
    (void)device_cuda_count();
    end_part(start->shared, PART_INIT);
    const bool good = device_context_alone(start->shared->device.index);
    end_part(start->shared, PART_CONTEXT);
    if (!good)
        cli_error("no context can be made");
    return good;
}

static bool run_whole(const struct start *start)
{
    const unsigned asked = start->parts->n_rules != 0 ? RUN_RULES : 0;
    const struct run_asked run = {asked, start->path, start->devices};
    struct run_done run_done;

    return run_parts_execute(start->parts, &run, &run_done);
}

/* Runs a job in a process of its own. The part `whole` is that process' time, and `end` that from
 * the end of its work. False: an error was printed. */
static bool in_process(const struct start *start, bool (*job)(const struct start *start),
                       enum part whole, enum part end)
{
    struct shared *shared = start->shared;
    const uint64_t begin = clock_ns();
    int status = 0;

    (void)fflush(NULL);
    shared->at_ns = begin;
    const pid_t child = fork();
    if (child == 0) {
        /* It is the bench's own, and costs 0.6 s. */
        (void)unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
        const bool good = job(start);

        shared->at_ns = clock_ns();
        exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        cli_error("no process can be started");
        return false;
    }
    if (end != N_PARTS)
        end_part(shared, end);
    if (whole != N_PARTS)
        shared->ns[whole] = clock_ns() - begin;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* One run of each, in turn. */
static bool measure_once(struct start *start)
{
    struct shared *shared = start->shared;

    if (!in_process(start, run_in_parts, N_PARTS, PART_EXIT))
        return false;
    measured.gpu = shared->device.kind == SL_DEVICE_CUDA;
    if (measured.gpu)
        snprintf(start->devices, sizeof start->devices, "cuda:%d", shared->device.index);
    else
        snprintf(start->devices, sizeof start->devices, "cpu");
    return (!measured.gpu || in_process(start, make_context, PART_BARE, PART_BARE_EXIT)) &&
           in_process(start, run_whole, PART_RUN, N_PARTS);
}

static bool measure(struct start *start)
{
    const uint32_t runs = start->bench->frame.runs;

    for (uint32_t run = 0; run <= runs; run++) {
        if (!measure_once(start))
            return false;
        for (int part = 0; part < N_PARTS && run > 0; part++)
            measured.seconds[part][run - 1] = (double)start->shared->ns[part] / 1e9;
    }
    return true;
}

bool bench_start_measure(const struct bench *bench)
{
    struct run_parts parts;
    struct start start = {.bench = bench, .parts = &parts};
    bool good = run_parts_open(&parts, bench) &&
                bench_generate_traffic(start.path, BENCH_MIXED, CAPTURE_LEN);

    start.shared =
        mmap(NULL, sizeof *start.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (good && start.shared == MAP_FAILED) {
        cli_error("no memory for times");
        good = false;
    }
    measured.rules = good && parts.n_rules != 0;
    good = good && measure(&start);
    if (start.shared != MAP_FAILED)
        munmap(start.shared, sizeof *start.shared);
    if (start.path[0] != '\0')
        (void)unlink(start.path);
    run_parts_close(&parts);
    return good;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print(const struct bench *bench, const char *variant, struct bench_rate seconds)
{
    const struct bench_row row = {.what = "start",
                                  .variant = variant,
                                  .data = measured.gpu ? "GPU" : "CPU",
                                  .rate = seconds,
                                  .unit = 1e-3,
                                  .unit_name = "ms"};

    bench_print(&bench->frame, &row);
}

bool bench_start(const struct bench *bench)
{
    struct bench_rate rates[N_PARTS];

    for (int part = 0; part < N_PARTS; part++) {
        rates[part] = bench_spread(measured.seconds[part], bench->frame.runs);
        if (parts_of[part].gpu && !measured.gpu)
            bench_print_why(&bench->frame, "start", parts_of[part].name, "no GPU was chosen");
        else if (parts_of[part].rules && !measured.rules)
            bench_print_why(&bench->frame, "start", parts_of[part].name, "needs --rules");
        else
            print(bench, parts_of[part].name, rates[part]);
    }
    if (measured.gpu)
        print(bench, "a whole run beyond a bare context",
              (struct bench_rate){.median = rates[PART_RUN].median - rates[PART_BARE].median});
    return true;
}
