/* SPDX-License-Identifier: MIT */
/* Whole runs, from the page cache to events that go nowhere: with each engine alone, with four and
 * with all, on one core up to all and on each GPU, beside the rates of the page cache, the link and
 * the GPU's memory. The time of a start is left out: bench_start.c has it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/frame/row.h"
#include "bench_ceilings.h"
#include "bench_pipeline.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "page_cache.h"
#include "run_parts.h"

enum { PLACES_MAX = BENCH_CORES_MAX + BENCH_GPUS_MAX + 1, LEN_DEFAULT = 500000000 };

/* Where a run runs: on a number of cores alone, or on GPUs and all cores. */
struct place {
    unsigned cores;   /* 0: all, beside GPUs */
    char devices[64]; /* as a run's */
};

struct running {
    const struct bench *bench;
    const struct run_parts *parts;
    char path[64]; /* of the capture, "" where there is none */
    const char *data;
    struct place places[PLACES_MAX];
    unsigned n_places;
    struct bench_ceilings ceilings;
    double cache[BENCH_CORES_MAX]; /* the page cache's rate, on as many cores as the place has */
    unsigned asked;                /* of RUN_* */
    struct sl_pipeline_stats stats[PLACES_MAX]; /* of the last run */
    uint64_t packets;
    bool failed;
};

/* ---- places ---------------------------------------------------------------------------------- */

static void add_gpus(struct running *running, uint32_t first, uint32_t n)
{
    struct place *place = &running->places[running->n_places++];
    size_t len = (size_t)snprintf(place->devices, sizeof place->devices, "cuda:");

    for (uint32_t i = first; i < first + n && len < sizeof place->devices; i++)
        len += (size_t)snprintf(place->devices + len, sizeof place->devices - len, "%s%d",
                                i == first ? "" : ",", running->bench->gpus[i].index);
}

/* On one core up to all; on each GPU, and on all of several. */
static void choose_places(struct running *running)
{
    const uint32_t n_gpus = running->bench->n_gpus;

    bench_choose_cores(&running->ceilings);
    for (unsigned i = 0; i < running->ceilings.n; i++)
        running->places[running->n_places++] =
            (struct place){.cores = running->ceilings.cores[i], .devices = "cpu"};
    for (uint32_t i = 0; i < n_gpus; i++)
        add_gpus(running, i, 1);
    if (n_gpus > 1)
        add_gpus(running, 0, n_gpus);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Bytes a second. */
static double pass(void *user, unsigned which)
{
    struct running *running = user;
    const struct place *place = &running->places[which];
    const struct run_asked asked = {running->asked, running->path, place->devices};
    struct run_done done = {0};
    const struct bench_cores cores = bench_bind_to_cores(place->cores);

    running->failed |= !run_parts_execute(running->parts, &asked, &done);
    bench_unbind(&cores);
    running->stats[which] = done.stats;
    running->packets = done.packets;
    return done.stats.wall_ns != 0 ? (double)done.bytes * 1e9 / (double)done.stats.wall_ns : 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The busy time of all threads in each stage, a packet. */
static void name_stages(const struct running *running, unsigned which, struct bench_stage *stages)
{
    const struct sl_pipeline_stats *stats = &running->stats[which];
    const struct bench_stage all[BENCH_STAGES] = {
        {"fill", (double)stats->fill_ns},     {"load", (double)stats->load_ns},
        {"order", (double)stats->order_ns},   {"engines", (double)stats->work_ns},
        {"digest", (double)stats->digest_ns}, {"drain", (double)stats->drain_ns}};

    for (unsigned i = 0; i < BENCH_STAGES; i++)
        stages[i] = (struct bench_stage){
            all[i].name, running->packets != 0 ? all[i].ns / (double)running->packets : 0};
}

static void print(const struct running *running, const char *name, unsigned which,
                  const struct bench_rate *rates)
{
    const struct place *place = &running->places[which];
    const bool cuda = place->cores == 0;
    struct bench_stage stages[BENCH_STAGES];
    char variant[96];

    name_stages(running, which, stages);
    if (cuda)
        snprintf(variant, sizeof variant, "%s, %s", name, place->devices);
    else
        snprintf(variant, sizeof variant, "%s, %u core%s", name, place->cores,
                 place->cores == 1 ? "" : "s");
    const struct bench_row row = {
        .what = "run",
        .variant = variant,
        .data = running->data,
        .rate = rates[which],
        .unit = 1e9,
        .unit_name = "GB/s",
        .ceiling = cuda ? running->ceilings.link : running->cache[which],
        .ceiling_of = cuda ? "link" : "page cache",
        .series = name,
        .cores = place->cores,
        .scaling = which > 0 && !cuda ? rates[which].median / rates[0].median : 0,
        .stages = stages};
    bench_print(&running->bench->frame, &row);
}

static bool measure(struct running *running, const char *name, unsigned asked)
{
    struct bench_rate rates[PLACES_MAX];
    char why[64];

    if (!run_parts_have(running->parts, asked, why)) {
        bench_print_why(&running->bench->frame, "run", name, why);
        return true;
    }
    running->asked = asked;
    bench_rates_in_turn(running->bench->frame.runs, running->n_places, pass, running, rates);
    for (unsigned i = 0; i < running->n_places && !running->failed; i++)
        print(running, name, i, rates);
    return !running->failed;
}

static bool measure_sets(struct running *running)
{
    static const struct {
        const char *name;
        unsigned asked;
    } sets[] = {{"nothing", 0},
                {"header checks", RUN_HEADERS},
                {"rules", RUN_RULES},
                {"viruses", RUN_VIRUSES},
                {"names", RUN_NAMES},
                {"redundancy", RUN_REDUNDANCY},
                {"four", RUN_ALL & ~RUN_REDUNDANCY},
                {"all five", RUN_ALL}};
    bool good = true;

    for (size_t i = 0; i < sizeof sets / sizeof *sets && good; i++)
        good = measure(running, sets[i].name, sets[i].asked);
    return good;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static bool measure_ceilings(struct running *running)
{
    bool good = true;

    for (unsigned i = 0; i < running->ceilings.n && good; i++)
        good = bench_page_cache(running->bench, running->path, running->ceilings.cores[i],
                                &running->cache[i]);
    if (good && running->bench->n_gpus != 0)
        bench_measure_device(&running->ceilings, running->bench);
    else if (good)
        bench_print_why(&running->bench->frame, "run", "GPU", "no GPU was chosen");
    return good;
}

static bool measure_captures(struct running *running, uint64_t bytes_len)
{
    const struct bench_input *input = &running->parts->input;
    const bool recorded = input->n_paths != 0;
    const bool good = (recorded ? bench_repeat_captures(running->path, input, bytes_len)
                                : bench_generate_traffic(running->path, BENCH_MIXED, bytes_len));

    running->data = recorded ? "recorded" : "generated, lengths as recorded";
    return good && measure_ceilings(running) && measure_sets(running);
}

static bool measure_long_packets(struct running *running, uint64_t bytes_len)
{
    const bool good = bench_generate_traffic(running->path, BENCH_EVEN, bytes_len);

    running->data = "generated, 800 bytes a packet";
    return good && measure(running, "all five, 800 bytes", RUN_ALL);
}

static void remove_capture(struct running *running)
{
    if (running->path[0] != '\0')
        (void)unlink(running->path);
    running->path[0] = '\0';
}

bool bench_runs(const struct bench *bench)
{
    const uint64_t bytes_len = bench->bytes != 0 ? bench->bytes : LEN_DEFAULT;
    struct run_parts parts;
    struct running running = {.bench = bench, .parts = &parts};
    bool good = run_parts_open(&parts, bench);

    choose_places(&running);
    good = good && measure_captures(&running, bytes_len);
    remove_capture(&running);
    good = good && measure_long_packets(&running, bytes_len);
    remove_capture(&running);
    run_parts_close(&parts);
    return good;
}
