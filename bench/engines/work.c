/* SPDX-License-Identifier: MIT */
/* Any engine's backend over data: its hits counted, then its rate. */
#include "work.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "bench/frame/team.h"
#include "cli/console.h"
#include "device/device.h"

enum {
    N_CUDA_LANES = 8,     /* batches in flight to a GPU */
    RUN_NS = 100000000,   /* a run goes over the data as often as it takes to last this long */
    MAX_REPEATS = 1000000 /* of data however small */
};

/* A context with all that it needs: one for each batch in flight, or for each thread. */
struct lane {
    void *context;
    struct sl_stage *stage; /* where batches cross to a GPU */
    struct sl_hits hits;
    const struct sl_batch *batch; /* in flight, or NULL, */
    struct sl_batch view;         /* and where it crossed to, lent with it */
    enum sl_status failed;        /* SL_OK, or the first failure */
    uint64_t n_hits;              /* of the run */
};

struct run {
    const struct bench_work *work;
    struct lane *lanes;
    struct bench_team *team;    /* on several cores: a thread a lane */
    atomic_size_t next;         /* batch for the next free thread */
    struct device_timer *timer; /* where the GPU's clock is read */
    size_t n_repeats;
    uint64_t hits; /* of one pass, as counted at first */
    unsigned n_lanes;
    bool bound;   /* also one thread has a core of its own, as it is beside rows of several */
    bool differs; /* some run found other hits */
};

static bool is_cuda(const struct bench_work *work)
{
    return work->backend->device == SL_DEVICE_CUDA;
}

static bool on_device(const struct bench_work *work)
{
    return work->data->batches[0].memory == SL_MEMORY_DEVICE;
}

/* ---- one batch ------------------------------------------------------------------------------- */

/* Too little room for hits is no failure where it was meant. */
static void note(const struct bench_work *work, struct lane *lane, enum sl_status status)
{
    if (status == SL_EOVERFLOW && (work->max_hits != 0 || work->stays))
        status = SL_OK;
    if (lane->failed == SL_OK)
        lane->failed = status;
}

static void end_batch(const struct run *run, struct lane *lane)
{
    const struct bench_work *work = run->work;

    if (lane->batch == NULL)
        return;
    note(work, lane, work->backend->wait(lane->context));
    lane->n_hits += lane->hits.n;
    if (work->consume != NULL)
        work->consume(work->user, lane->batch, &lane->hits);
    lane->batch = NULL;
}

static void begin_batch(const struct run *run, struct lane *lane, const struct sl_batch *batch)
{
    const struct bench_work *work = run->work;
    const struct sl_batch *there = batch;

    if (lane->failed != SL_OK)
        return;
    if (lane->stage != NULL) {
        note(work, lane, sl_stage_upload(lane->stage, batch, &lane->view));
        there = &lane->view;
    }
    if (run->timer != NULL)
        device_timer_begin(run->timer, batch->stream);
    if (lane->failed == SL_OK)
        note(work, lane, work->backend->submit(lane->context, there, &lane->hits));
    if (run->timer != NULL)
        device_timer_end(run->timer, batch->stream);
    if (lane->failed == SL_OK)
        lane->batch = batch;
}

/* ---- one run --------------------------------------------------------------------------------- */

static void begin_run(struct run *run)
{
    for (unsigned i = 0; i < run->n_lanes; i++)
        run->lanes[i].n_hits = 0;
}

/* The units of a run. */
static double end_run(struct run *run)
{
    uint64_t hits = 0;

    for (unsigned i = 0; i < run->n_lanes; i++)
        hits += run->lanes[i].n_hits;
    run->differs |= hits != run->hits * run->n_repeats;
    return run->work->units * (double)run->n_repeats;
}

/* Round robin over the lanes: on a GPU one batch crosses while another is worked on. */
static double run_in_turn(void *user)
{
    struct run *run = user;
    const struct bench_data *data = run->work->data;

    begin_run(run);
    for (size_t i = 0; i < run->n_repeats * data->n_batches; i++) {
        struct lane *lane = &run->lanes[i % run->n_lanes];

        end_batch(run, lane);
        begin_batch(run, lane, &data->batches[i % data->n_batches]);
    }
    for (unsigned i = 0; i < run->n_lanes; i++)
        end_batch(run, &run->lanes[i]);
    return end_run(run);
}

static double run_by_gpu_clock(void *user)
{
    struct run *run = user;
    const double units = run_in_turn(run);

    return units / device_timer_seconds(run->timer);
}

/* A thread's part: whatever batches the others have not taken. */
static void take_batches(void *user, unsigned member)
{
    struct run *run = user;
    const struct bench_data *data = run->work->data;
    size_t i;

    while ((i = atomic_fetch_add(&run->next, 1)) < run->n_repeats * data->n_batches) {
        begin_batch(run, &run->lanes[member], &data->batches[i % data->n_batches]);
        end_batch(run, &run->lanes[member]);
    }
}

static double run_side_by_side(void *user)
{
    struct run *run = user;

    begin_run(run);
    atomic_store(&run->next, 0);
    bench_team_run(run->team);
    return end_run(run);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The caller's hits: a GPU writes to pinned memory. */
static struct sl_hit *take_hits(const struct bench_work *work, size_t n)
{
    return is_cuda(work) ? device_pinned_alloc(n * sizeof(struct sl_hit))
                         : malloc(n * sizeof(struct sl_hit));
}

static void give_hits(const struct bench_work *work, struct sl_hits *hits)
{
    if (is_cuda(work))
        device_pinned_free(hits->hit);
    else
        free(hits->hit);
}

/* False: `why` has the reason. */
static bool open_lane(const struct bench_work *work, struct lane *lane, uint32_t max_hits,
                      struct bench_result *result)
{
    struct sl_limits limits = bench_limits(work->data, work->device);
    struct sl_diag diag = {.text = "no memory for hits"};

    limits.max_hits = max_hits;
    memset(lane, 0, sizeof *lane);
    lane->hits.cap = work->stays ? 0 : max_hits;
    lane->hits.hit = take_hits(work, lane->hits.cap + 1);
    if (lane->hits.hit != NULL &&
        work->backend->open(&lane->context, work->table, &limits, &diag) == SL_OK &&
        (!is_cuda(work) || on_device(work) || sl_stage_open(&lane->stage, &limits, &diag) == SL_OK))
        return true;
    snprintf(result->why, sizeof result->why, "%.300s", diag.text);
    return false;
}

static void close_lane(const struct bench_work *work, struct lane *lane)
{
    if (lane->context != NULL)
        work->backend->close(lane->context);
    sl_stage_close(lane->stage);
    give_hits(work, &lane->hits);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* The hits of one pass, and the most of one batch, with room for one hit, as the count is exact
 * beyond the room. False: an error was printed. A backend that cannot be opened is no failure. */
static bool count_hits(const struct bench_work *work, uint64_t *most, struct bench_result *result)
{
    struct bench_work counting = *work;
    struct lane lane;
    const struct run run = {.work = &counting};

    counting.max_hits = 1;
    counting.consume = NULL;
    *most = 0;
    const bool opened = open_lane(&counting, &lane, 1, result);
    for (size_t i = 0; i < work->data->n_batches && opened && lane.failed == SL_OK; i++) {
        lane.n_hits = 0;
        begin_batch(&run, &lane, &work->data->batches[i]);
        end_batch(&run, &lane);
        result->hits += lane.n_hits;
        *most = lane.n_hits > *most ? lane.n_hits : *most;
    }
    close_lane(&counting, &lane);
    if (lane.failed != SL_OK)
        cli_error("bench: %s failed: %s", work->backend->name, sl_status_text(lane.failed));
    return lane.failed == SL_OK;
}

/* At most half of the machine's memory is for hits. */
static bool room_for_hits(uint64_t most, unsigned n_lanes, struct bench_result *result)
{
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    char count[32], need[32], have[32];

    if (most < UINT32_MAX && most * n_lanes <= memory / sizeof(struct sl_hit))
        return true;
    snprintf(result->why, sizeof result->why,
             "a batch has %s hits, and %u batches are under way: %s of hits, where at most %s are "
             "taken",
             cli_count(most, count), n_lanes,
             cli_bytes((double)most * n_lanes * sizeof(struct sl_hit), need),
             cli_bytes((double)memory, have));
    return false;
}

/* ---- all together ---------------------------------------------------------------------------- */

static unsigned lanes_for(const struct bench_work *work)
{
    if (is_cuda(work) && work->n_streams != 0)
        return work->n_streams;
    if (is_cuda(work))
        return on_device(work) ? 1 : N_CUDA_LANES;
    return work->n_threads > 1 ? work->n_threads : 1;
}

static bool open_run(struct run *run, uint32_t max_hits, struct bench_result *result)
{
    const struct bench_work *work = run->work;
    const unsigned n = lanes_for(work);

    run->lanes = calloc(n, sizeof *run->lanes);
    if (run->lanes == NULL) {
        snprintf(result->why, sizeof result->why, "no memory for %u contexts", n);
        return false;
    }
    for (; run->n_lanes < n; run->n_lanes++) {
        if (!open_lane(work, &run->lanes[run->n_lanes], max_hits, result)) {
            close_lane(work, &run->lanes[run->n_lanes]);
            return false;
        }
    }
    if (work->stays && (run->timer = device_timer_open(work->device)) == NULL) {
        snprintf(result->why, sizeof result->why, "the GPU's clock cannot be read");
        return false;
    }
    if (is_cuda(work) || (n == 1 && !run->bound))
        return true;
    run->team = bench_team_start(n, take_batches, run);
    return run->team != NULL;
}

static void close_run(struct run *run)
{
    bench_team_stop(run->team);
    device_timer_close(run->timer);
    for (unsigned i = 0; i < run->n_lanes; i++)
        close_lane(run->work, &run->lanes[i]);
    free(run->lanes);
}

static double once(struct run *run)
{
    return run->team != NULL ? run_side_by_side(run) : run_in_turn(run);
}

static double rate_of(void *user, unsigned which)
{
    struct run *run = &((struct run *)user)[which];

    if (run->timer != NULL)
        return run_by_gpu_clock(run);
    const uint64_t begin = clock_ns();
    const double units = once(run);
    return units / ((double)(clock_ns() - begin) / 1e9);
}

/* How often a run goes over the data: once where the GPU's clock is read, which needs no more. The
 * first pass also touches all memory for the first time. */
static void set_repeats(struct run *run)
{
    run->n_repeats = 1;
    if (run->timer != NULL)
        return;
    const uint64_t begin = clock_ns();
    once(run);
    const uint64_t took = clock_ns() - begin;
    if (took < RUN_NS) {
        const uint64_t n = RUN_NS / (took + 1) + 1;

        run->n_repeats = n < MAX_REPEATS ? n : MAX_REPEATS;
    }
}

/* False: an error was printed. */
static bool judge_run(const struct run *run, const struct bench_result *result)
{
    const struct bench_work *work = run->work;
    enum sl_status failed = SL_OK;

    for (unsigned i = 0; i < run->n_lanes; i++)
        failed = failed == SL_OK ? run->lanes[i].failed : failed;
    if (failed != SL_OK)
        cli_error("bench: %s failed: %s", work->backend->name, sl_status_text(failed));
    else if (run->differs)
        cli_error("bench: %s does not find the same hits in each run (%llu at first)",
                  work->backend->name, (unsigned long long)result->hits);
    return failed == SL_OK && !run->differs;
}

/* False: an error was printed. The reason why a backend could not be opened is in result->why. */
static bool prepare_run(struct run *run, const struct bench_work *work, uint64_t most,
                        struct bench_result *result)
{
    run->work = work;
    run->hits = result->hits;
    if (!room_for_hits(most, lanes_for(work), result))
        return true;
    if (!open_run(run, most > 0 ? (uint32_t)most : 1, result))
        return result->why[0] != '\0';
    set_repeats(run);
    return true;
}

bool bench_run_on_cores(const struct bench_frame *frame, const struct bench_work *work,
                        const unsigned *cores, unsigned n, struct bench_result *results)
{
    struct bench_rate rates[BENCH_CORES_MAX];
    struct bench_work works[BENCH_CORES_MAX];
    struct run runs[BENCH_CORES_MAX] = {0};
    uint64_t most;
    bool good = true, opened;

    memset(results, 0, n * sizeof *results);
    if (!count_hits(work, &most, &results[0]))
        return false;
    opened = results[0].why[0] == '\0';
    if (work->max_hits != 0)
        most = work->max_hits;
    for (unsigned i = 0; i < n && good && opened; i++) {
        works[i] = *work;
        works[i].n_threads = cores[i];
        results[i].hits = results[0].hits;
        runs[i].bound = n > 1;
        good = prepare_run(&runs[i], &works[i], most, &results[i]);
        opened = results[i].why[0] == '\0';
        if (!opened)
            memcpy(results[0].why, results[i].why, sizeof results[0].why);
    }
    if (good && opened)
        bench_rates_in_turn(frame->runs, n, rate_of, runs, rates);
    for (unsigned i = 0; i < n; i++) {
        if (good && opened) {
            results[i].rate = rates[i];
            good = judge_run(&runs[i], &results[i]);
        }
        if (runs[i].work != NULL)
            close_run(&runs[i]);
    }
    return good;
}

bool bench_run(const struct bench_frame *frame, const struct bench_work *work,
               struct bench_result *result)
{
    return bench_run_on_cores(frame, work, &work->n_threads, 1, result);
}

bool bench_run_row(const struct bench_frame *frame, const struct bench_work *work,
                   const struct bench_row *like, struct bench_result *result)
{
    const struct bench_data *data = work->data;
    const double carried = data->crossing > 0 ? (double)data->bytes / (double)data->crossing : 0;
    struct bench_row row = *like;

    if (!bench_run(frame, work, result))
        return false;
    if (result->why[0] != '\0') {
        bench_print_why(frame, like->what, like->variant, result->why);
        return true;
    }
    row.data = data->text;
    row.rate = result->rate;
    row.ceiling = like->ceiling * carried;
    row.best_ceiling = like->best_ceiling * carried;
    row.hits = &result->hits;
    bench_print(frame, &row);
    return true;
}

bool bench_usable(const struct bench *bench, const struct sl_backend *backend, char why[SL_WHY_LEN])
{
    why[0] = '\0';
    if (backend->device == SL_DEVICE_CUDA && bench->device.kind != SL_DEVICE_CUDA)
        return false;
    if (strncmp(backend->name, "tiled", 5) == 0) /* a proof of the GPU's tiling, not a way to run */
        return false;
    return backend->usable(why);
}
