/* SPDX-License-Identifier: MIT */
/* Batches of names in flight, and their times. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bench_fib.h"
#include "cli/console.h"
#include "device/device.h"

enum {
    RUN_BATCHES = 256,      /* of a run at least, on a GPU and from host memory */
    LATENCIES_MAX = 1 << 20 /* of all runs the first ones' latencies */
};

struct lane {
    void *context;
    struct sl_stage *stage;
    struct sl_batch view;
    struct sl_fib_answers answers;
    uint32_t *there;   /* answers' memory on the GPU, for FIB_THERE */
    size_t first;      /* name of the trace that the batch under way begins with */
    uint32_t n;        /* names of it, 0: none is under way */
    uint64_t begin_ns; /* its upload */
};

struct run {
    const struct fib_work *work;
    struct lane lanes[FIB_LANES_MAX];
    struct device_timer *timer;
    const uint32_t *wanted; /* compared with while not NULL */
    size_t n_repeats;       /* passes over the data a run */
    double *latencies;      /* us */
    size_t n_latencies;
    uint64_t n_wrong;
    bool failed;
};

static bool on_cuda(const struct fib_work *work)
{
    return work->backend->device == SL_DEVICE_CUDA;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void end_batch(struct run *run, struct lane *lane)
{
    if (lane->n == 0)
        return;
    run->failed |= run->work->backend->wait(lane->context) != SL_OK;
    if (run->latencies != NULL && run->n_latencies < LATENCIES_MAX)
        run->latencies[run->n_latencies++] = (double)(clock_ns() - lane->begin_ns) / 1e3;
    for (uint32_t i = 0; i < lane->n && run->wanted != NULL; i++)
        run->n_wrong += lane->answers.next_hop[i] != run->wanted[lane->first + i];
    lane->n = 0;
}

static void begin_batch(struct run *run, struct lane *lane, const struct sl_batch *batch)
{
    const struct sl_fib_answers there = {lane->there, NULL, lane->answers.cap, SL_MEMORY_DEVICE};
    const bool stays = run->wanted == NULL && lane->there != NULL;
    const struct sl_batch *given = batch;

    lane->begin_ns = clock_ns();
    if (lane->stage != NULL) {
        run->failed |= sl_stage_upload(lane->stage, batch, &lane->view) != SL_OK;
        given = &lane->view;
    }
    if (run->timer != NULL)
        device_timer_begin(run->timer, given->stream);
    run->failed |=
        run->work->backend->submit(lane->context, given, stays ? &there : &lane->answers) != SL_OK;
    if (run->timer != NULL)
        device_timer_end(run->timer, given->stream);
    lane->n = run->failed ? 0 : batch->n_items;
}

static double run_once(void *user)
{
    struct run *run = user;
    const struct bench_data *data = run->work->data;
    size_t at = 0;

    for (size_t repeat = 0; repeat < run->n_repeats; repeat++) {
        size_t first = 0;

        for (size_t b = 0; b < data->n_batches && !run->failed; b++) {
            struct lane *lane = &run->lanes[at++ % run->work->n_lanes];

            end_batch(run, lane);
            begin_batch(run, lane, &data->batches[b]);
            lane->first = first;
            first += data->batches[b].n_items;
        }
    }
    for (unsigned i = 0; i < run->work->n_lanes; i++) /* the oldest first */
        end_batch(run, &run->lanes[(at + i) % run->work->n_lanes]);
    return (double)data->items * (double)run->n_repeats;
}

static double run_by_gpu_clock(void *user)
{
    struct run *run = user;

    return run_once(run) / device_timer_seconds(run->timer);
}

/* Work of one thread is timed by that thread's own clock, which excludes other work on the same
 * core. */
static double run_by_own_clock(void *user)
{
    struct timespec begin = {0}, end = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    const double n = run_once(user);
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return n / ((double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static bool open_lane(const struct fib_work *work, struct lane *lane, struct sl_diag *diag)
{
    const struct sl_limits limits = bench_limits(work->data, work->device);

    lane->answers.cap = (size_t)limits.max_items + 1; /* one where all batches are empty */
    lane->answers.memory = work->way == FIB_READ ? SL_MEMORY_PINNED : SL_MEMORY_HOST;
    const size_t len = lane->answers.cap * sizeof(uint32_t);
    lane->answers.next_hop = on_cuda(work) ? device_pinned_alloc(len) : malloc(len);
    if (on_cuda(work) && work->way == FIB_THERE)
        lane->there = device_alloc(work->device, len);
    return lane->answers.next_hop != NULL &&
           (!on_cuda(work) || work->way != FIB_THERE || lane->there != NULL) &&
           work->backend->open(&lane->context, work->table, &limits, diag) == SL_OK &&
           (work->way != FIB_COPIED || sl_stage_open(&lane->stage, &limits, diag) == SL_OK);
}

static void close_lane(const struct fib_work *work, struct lane *lane)
{
    work->backend->close(lane->context);
    sl_stage_close(lane->stage);
    device_free(work->device, lane->there);
    if (on_cuda(work))
        device_pinned_free(lane->answers.next_hop);
    else
        free(lane->answers.next_hop);
}

static bool open_run(struct run *run, const struct fib_work *work)
{
    struct sl_diag diag = {.text = "no memory for answers"};
    bool good = true;

    run->work = work;
    run->n_repeats = 1;
    for (unsigned i = 0; i < work->n_lanes && good; i++)
        good = open_lane(work, &run->lanes[i], &diag);
    if (good && on_cuda(work) && work->way == FIB_THERE) {
        run->timer = device_timer_open(work->device);
        good = run->timer != NULL;
    }
    if (!good)
        cli_diag(&diag);
    return good;
}

static void close_run(struct run *run)
{
    for (unsigned i = 0; i < run->work->n_lanes; i++)
        close_lane(run->work, &run->lanes[i]);
    device_timer_close(run->timer);
    free(run->latencies);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static void set_latencies(const struct run *run, struct fib_result *result)
{
    const size_t n = run->n_latencies;

    if (n == 0)
        return;
    qsort(run->latencies, n, sizeof *run->latencies, compare_doubles);
    result->p50_us = run->latencies[n / 2];
    result->p99_us = run->latencies[n - 1 - n / 100];
}

/* As many passes as fill a run: of few batches the first and the last are too much of it. */
static void set_repeats(struct run *run)
{
    const struct bench_data *data = run->work->data;
    size_t n = (run->work->run_names + data->items - 1) / data->items;

    if (n * data->n_batches < RUN_BATCHES)
        n = (RUN_BATCHES + data->n_batches - 1) / data->n_batches;
    run->n_repeats = n;
    run->latencies = malloc(LATENCIES_MAX * sizeof *run->latencies);
}

static void measure(const struct bench *bench, struct run *run, struct fib_result *result)
{
    if (run->timer != NULL) {
        result->rate = bench_rates(bench->frame.runs, run_by_gpu_clock, run);
    } else if (!on_cuda(run->work)) {
        result->rate = bench_rates(bench->frame.runs, run_by_own_clock, run);
    } else {
        set_repeats(run);
        result->rate = bench_measure(bench->frame.runs, run_once, run);
        set_latencies(run, result);
    }
}

bool fib_measure(const struct bench *bench, const struct fib_work *work, struct fib_result *result)
{
    struct run run = {0};
    bool good = open_run(&run, work);

    memset(result, 0, sizeof *result);
    if (good) {
        run.wanted = work->wanted;
        (void)run_once(&run);
        run.wanted = NULL;
        if (!run.failed && run.n_wrong == 0)
            measure(bench, &run, result);
        good = !run.failed && run.n_wrong == 0;
        if (!good)
            cli_error("bench: %s: %llu wrong answers%s", work->backend->name,
                      (unsigned long long)run.n_wrong, run.failed ? ", and it failed" : "");
    }
    close_run(&run);
    return good;
}

uint32_t *fib_wanted(struct sl_fib *fib, const struct bench_data *data)
{
    uint32_t *wanted = malloc((data->items + 1) * sizeof *wanted);
    size_t n = 0;

    for (size_t b = 0; b < data->n_batches && wanted != NULL; b++) {
        const struct sl_batch *batch = &data->batches[b];

        for (uint32_t i = 0; i < batch->n_items; i++) {
            const struct sl_span span = batch->payload[i];

            wanted[n++] = sl_fib_match(fib, batch->bytes + span.offset, span.len).next_hop;
        }
    }
    if (wanted == NULL)
        cli_error("bench: no memory for answers");
    return wanted;
}

bool fib_is_selected(const struct bench *bench, const char *plane, bool stt)
{
    const size_t len = strlen(plane);

    if (bench->algorithms == NULL)
        return stt || strcmp(plane, "stt") != 0;
    for (const char *at = bench->algorithms; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, plane, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}
