/* SPDX-License-Identifier: MIT */
/* Batches through the pipeline with every engine that is switched on, and the time of each step of
 * a batch. The timed part begins with the first batch and ends with the last one's results. */
#include "bench_pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "cli/console.h"

enum {
    RUN_NS = 400000000,
    REPEATS_MAX = 10000,
    STAYING = 20, /* batches a GPU, at least, where they stay: its workers are never without */
    WARM_UPS = 3, /* of each slot: the first shows the room for hits, and the next makes all workers
                     ready */
    SETTLE_NS = 50000000, /* the aftermath of the first filling is over */
    WARM_UP_STEP_NS = 1000000,
    WARM_UP_STEPS = 10000 /* at most: a run that fails never ends it */
};

/* Times of a batch's events; 0: not yet. */
struct moment {
    const struct sl_batch *source;
    uint64_t due, fill_begin, fill_end, drained;
    uint64_t begin[SL_PIPELINE_ENGINES_MAX], end[SL_PIPELINE_ENGINES_MAX];
};

/* An engine whose every call is noted. Its only backend is the best one of the engine, and its
 * table is this. */
struct noted {
    struct sl_engine engine;
    struct sl_backend backend;
    const struct sl_backend *backends[2];
    const struct sl_backend *real;
    const void *table;
    unsigned number;
};

struct passing {
    const struct bench_together *together;
    struct noted *noted;
    double rate;
    size_t n_repeats, n_batches; /* of a run */
    size_t n_slots;              /* for batches in flight; 0: unknown */
    size_t n_before;             /* of a run's batches, those before the first that counts */
    struct moment *moments;
    size_t next;
    atomic_size_t n_drained;
    uint64_t begin;
    double *latencies; /* microseconds, of all counted runs */
    size_t n_latencies, latencies_cap;
    uint64_t hits[SL_PIPELINE_ENGINES_MAX];
    unsigned cores;
    bool failed;
};

/* ---- engines whose calls are noted ----------------------------------------------------------- */

struct noted_context {
    const struct noted *noted;
    void *context;
    struct moment *moment;
};

static enum sl_status noted_open(void **context, const void *table, const struct sl_limits *limits,
                                 struct sl_diag *diag)
{
    const struct noted *noted = table;
    struct noted_context *made = calloc(1, sizeof *made);

    if (made == NULL)
        return SL_ENOMEM;
    made->noted = noted;
    *context = made;
    return noted->real->open(&made->context, noted->table, limits, diag);
}

static enum sl_status noted_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    struct noted_context *noted = context;

    noted->moment = batch->filler;
    noted->moment->begin[noted->noted->number] = clock_ns();
    const enum sl_status status = noted->noted->real->submit(noted->context, batch, hits);
    noted->moment->end[noted->noted->number] = clock_ns();
    return status;
}

/* A CPU's backend does its work in submit. */
static enum sl_status noted_wait(void *context)
{
    struct noted_context *noted = context;
    const enum sl_status status = noted->noted->real->wait(noted->context);

    if (noted->noted->real->device != SL_DEVICE_CPU)
        noted->moment->end[noted->noted->number] = clock_ns();
    return status;
}

static void noted_close(void *context)
{
    struct noted_context *noted = context;

    if (noted != NULL)
        noted->noted->real->close(noted->context);
    free(noted);
}

/* False: an error was printed. */
static bool note_engines(struct noted *noted, const struct bench_together *together)
{
    for (unsigned e = 0; e < together->n_engines; e++) {
        const struct sl_engine *engine = together->engines[e].engine;
        char why[SL_WHY_LEN];
        const struct sl_backend *real = sl_engine_choose(engine, together->devices[0].kind, why);

        if (real == NULL) {
            cli_error("bench: %s cannot run: %s", engine->name, why);
            return false;
        }
        noted[e] = (struct noted){.engine = {.name = engine->name, .backends = noted[e].backends},
                                  .backend = {real->name, real->device, real->usable, noted_open,
                                              noted_submit, noted_wait, noted_close},
                                  .backends = {&noted[e].backend, NULL},
                                  .real = real,
                                  .table = together->engines[e].table,
                                  .number = e};
    }
    return true;
}

/* ---- the pipeline's steps -------------------------------------------------------------------- */

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    (void)prctl(PR_SET_TIMERSLACK, 1000); /* waking late is no latency of a batch */
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* Nanoseconds behind the run's begin at which a batch is due. */
static uint64_t due_after(const struct passing *passing, size_t number)
{
    const double bytes = (double)passing->together->data->bytes;

    return (uint64_t)((double)number * bytes / (double)passing->together->data->n_batches /
                      passing->rate * 1e9);
}

/* The bytes and columns of the source, as if read from a file in the page cache. Where batches
 * stay, each keeps its content. */
static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    const struct passing *passing = user;
    struct moment *moment = batch->filler;
    const struct sl_batch *source = moment->source;
    const size_t n = source->n_items;

    (void)diag;
    moment->fill_begin = clock_ns();
    if (moment < &passing->moments[passing->n_before] || !passing->together->stays) {
        memcpy(batch->bytes, source->bytes, source->bytes_len);
        memcpy(batch->payload, source->payload, n * sizeof *source->payload);
        memcpy(batch->packet, source->packet, n * sizeof *source->packet);
    }
    batch->bytes_len = source->bytes_len;
    batch->n_items = source->n_items;
    moment->fill_end = clock_ns();
    return SL_OK;
}

/* The timed part begins when the batches before are done. They grow contexts and arrays to the room
 * that hits need. */
static void begin_counting(struct passing *passing, size_t number)
{
    for (int i = 0; i < WARM_UP_STEPS && passing->n_drained < number; i++)
        sleep_until(clock_ns() + WARM_UP_STEP_NS);
    passing->begin = clock_ns() + (passing->rate > 0 ? SETTLE_NS : 0);
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct passing *passing = user;
    const size_t number = passing->next++;
    struct moment *moment = &passing->moments[number];

    (void)diag;
    if (number == passing->n_before)
        begin_counting(passing, number);
    *moment = (struct moment){
        .source = &passing->together->data->batches[number % passing->together->data->n_batches]};
    if (passing->rate > 0 && number >= passing->n_before) {
        moment->due = passing->begin + due_after(passing, number - passing->n_before);
        sleep_until(moment->due);
    } else {
        moment->due = clock_ns();
    }
    batch->filler = moment;
    if (passing->together->stays)
        (void)prepare(user, batch, diag);
    return number + 1 < passing->n_batches ? SL_OK : SL_END;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct passing *passing = user;
    struct moment *moment = batch->filler;

    (void)diag;
    for (unsigned e = 0; e < passing->together->n_engines; e++)
        passing->hits[e] += hits[e].n;
    moment->drained = clock_ns();
    passing->n_drained++;
    if (passing->n_drained > passing->n_before && passing->n_latencies < passing->latencies_cap)
        passing->latencies[passing->n_latencies++] = (double)(moment->drained - moment->due) / 1e3;
    return SL_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

struct bench_cores bench_bind_to_cores(unsigned n)
{
    struct bench_cores cores = {.bound = false};
    cpu_set_t few;
    unsigned taken = 0;

    if (n == 0 || sched_getaffinity(0, sizeof cores.allowed, &cores.allowed) != 0)
        return cores;
    CPU_ZERO(&few);
    for (int cpu = 0; cpu < CPU_SETSIZE && taken < n; cpu++) {
        if (CPU_ISSET(cpu, &cores.allowed)) {
            CPU_SET(cpu, &few);
            taken++;
        }
    }
    cores.bound = sched_setaffinity(0, sizeof few, &few) == 0;
    return cores;
}

void bench_unbind(const struct bench_cores *cores)
{
    if (cores->bound)
        (void)sched_setaffinity(0, sizeof cores->allowed, &cores->allowed);
}

static bool check_hits(const struct passing *passing)
{
    const struct bench_together *together = passing->together;

    for (unsigned e = 0; e < together->n_engines; e++) {
        const uint64_t expected = together->engines[e].hits * passing->n_repeats;

        if (passing->hits[e] != expected) {
            cli_error("bench: %s finds %" PRIu64 " hits beside other engines, %" PRIu64 " alone",
                      together->engines[e].name, passing->hits[e], expected);
            return false;
        }
    }
    return true;
}

/* Bytes a second. */
static double pass(struct passing *passing)
{
    const struct bench_data *data = passing->together->data;
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    const struct bench_cores cores = bench_bind_to_cores(passing->cores);

    sl_pipeline_config_init(&config);
    config.n_devices = passing->together->n_devices;
    memcpy(config.devices, passing->together->devices, config.n_devices * sizeof *config.devices);
    config.batch_len = data->owned[0]->bytes_cap;
    config.batch_items = data->owned[0]->max_items;
    config.n_workers = passing->cores;
    config.n_batches = passing->together->stays ? (uint32_t)passing->n_slots : 0;
    config.n_engines = passing->together->n_engines;
    for (unsigned e = 0; e < config.n_engines; e++) {
        config.engines[e].engine = &passing->noted[e].engine;
        config.engines[e].table = &passing->noted[e];
    }
    config.fill = fill;
    config.prepare = passing->together->stays ? NULL : prepare; /* there is nothing to load */
    config.drain = drain;
    config.user = passing;
    passing->next = 0;
    passing->n_drained = 0;
    memset(passing->hits, 0, sizeof passing->hits);
    const enum sl_status status = sl_pipeline_run(&config, &stats, &diag);
    passing->n_slots = stats.n_batches;
    bench_unbind(&cores);
    if (status != SL_OK)
        cli_diag(&diag);
    passing->failed |=
        status != SL_OK || passing->n_drained != passing->n_batches || !check_hits(passing);
    if (passing->failed)
        return 1;
    return (double)data->bytes * (double)(passing->n_batches - passing->n_before) /
           (double)data->n_batches * 1e9 /
           (double)(passing->moments[passing->n_batches - 1].drained - passing->begin);
}

static double pass_one(void *user, unsigned which)
{
    struct passing *passing = &((struct passing *)user)[which];

    return passing->failed ? 1 : pass(passing);
}

/* ---- results --------------------------------------------------------------------------------- */

static json_t *since(const struct passing *passing, uint64_t ns)
{
    return json_integer((json_int_t)(ns - passing->begin));
}

static json_t *moment_json(const struct passing *passing, size_t number)
{
    const struct moment *moment = &passing->moments[number];
    const bool cuda = passing->together->devices[0].kind == SL_DEVICE_CUDA;
    json_t *engines = json_array();

    for (unsigned e = 0; e < passing->together->n_engines; e++)
        json_array_append_new(engines, json_pack("{s:s, s:o, s:o}", "engine",
                                                 passing->together->engines[e].name, "begin",
                                                 since(passing, moment->begin[e]), "end",
                                                 since(passing, moment->end[e])));
    json_t *object = json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o}", "batch", (json_int_t)(number - passing->n_before), "due",
        since(passing, moment->due), "fill_begin", since(passing, moment->fill_begin), "filled",
        since(passing, moment->fill_end), "engines", engines, "drained",
        since(passing, moment->drained));
    /* The copy is queued right before the first engine's work. */
    if (cuda && passing->together->n_engines > 0)
        json_object_set_new(object, "uploaded", since(passing, moment->begin[0]));
    return object;
}

static size_t find_slowest(const struct passing *passing)
{
    size_t slowest = passing->n_before;

    for (size_t i = slowest; i < passing->n_batches; i++)
        if (passing->moments[i].drained - passing->moments[i].due >
            passing->moments[slowest].drained - passing->moments[slowest].due)
            slowest = i;
    return slowest;
}

static json_t *timeline_json(const struct passing *passing)
{
    const size_t first = passing->n_before, slowest = find_slowest(passing);
    json_t *batches = json_array();

    for (size_t i = first; i < passing->n_batches && i - first < BENCH_TIMELINE_MAX; i++)
        json_array_append_new(batches, moment_json(passing, i));
    if (slowest - first >= BENCH_TIMELINE_MAX)
        json_array_append_new(batches, moment_json(passing, slowest));
    return batches;
}

/* So many passes over the data, and before them passes that make each batch in flight ready: its
 * bytes, where they stay, and room for its hits. Where batches stay, each source has the same
 * number of them in flight. False: no memory. */
static bool set_repeats(struct passing *passing, size_t n_repeats)
{
    const struct bench_together *together = passing->together;
    const size_t n_data = together->data->n_batches;

    if (together->stays)
        passing->n_slots = (STAYING * together->n_devices + n_data - 1) / n_data * n_data;
    passing->n_before = WARM_UPS * passing->n_slots;
    n_repeats += (passing->n_before + n_data - 1) / n_data;
    passing->n_repeats = n_repeats < REPEATS_MAX ? n_repeats : REPEATS_MAX;
    passing->n_batches = passing->n_repeats * passing->together->data->n_batches;
    free(passing->moments);
    passing->moments = calloc(passing->n_batches + 1, sizeof *passing->moments);
    return passing->moments != NULL;
}

/* Enough passes that a run lasts long. The rate of a short run, then of a longer one, determines
 * their number. The first run also determines the number of batches in flight. */
static bool open_passing(struct passing *passing, uint32_t runs)
{
    const double bytes = (double)passing->together->data->bytes;
    size_t n_repeats = 1;

    for (int round = 0; round < 2; round++) {
        if (!set_repeats(passing, n_repeats))
            return false;
        n_repeats += (size_t)(RUN_NS * pass(passing) / bytes / 1e9);
        passing->n_latencies = 0;
    }
    if (!set_repeats(passing, n_repeats))
        return false;
    passing->latencies_cap = passing->n_batches * (runs + 1);
    passing->latencies = calloc(passing->latencies_cap + 1, sizeof *passing->latencies);
    return passing->latencies != NULL;
}

static void take_result(struct passing *passing, struct bench_together_result *result)
{
    const size_t n = passing->n_latencies;
    const struct bench_rate spread = bench_spread(passing->latencies, (uint32_t)n);

    result->p50_us = spread.median;
    result->p99_us = passing->latencies[n - 1 - n / 100];
    result->timeline = timeline_json(passing);
}

bool bench_run_together(const struct bench *bench, const struct bench_together *together,
                        const unsigned *cores, unsigned n, double rate,
                        struct bench_together_result *results)
{
    struct noted noted[SL_PIPELINE_ENGINES_MAX];
    struct passing passings[BENCH_CORES_MAX] = {0};
    struct bench_rate rates[BENCH_CORES_MAX];
    bool good = note_engines(noted, together);

    for (unsigned i = 0; i < n && good; i++) {
        passings[i] =
            (struct passing){.together = together, .noted = noted, .cores = cores[i], .rate = rate};
        good = open_passing(&passings[i], bench->frame.runs);
        if (!good)
            cli_error("no memory for the times of %zu batches", passings[i].n_batches);
    }
    if (good)
        bench_rates_in_turn(bench->frame.runs, n, pass_one, passings, rates);
    for (unsigned i = 0; i < n; i++) {
        good = good && !passings[i].failed;
        if (good) {
            results[i].rate = rates[i];
            take_result(&passings[i], &results[i]);
        }
        free(passings[i].moments);
        free(passings[i].latencies);
    }
    return good;
}
