/* SPDX-License-Identifier: MIT */
/* Streams in runs, from the page cache to alerts: recorded traffic with reassembly and without; the
 * steps that reassembly has; one flow alone on more and more cores. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/frame/row.h"
#include "bench_ceilings.h"
#include "bench_pipeline.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "run/run_internal.h"

/* Steps; and nanoseconds that the packet of a plain segment may take in both. */
enum { COLLECT, SETTLE, N_STEPS, PLAIN_NS = 40 };

/* What the runs of a row share. */
struct running {
    const struct bench *bench;
    const char *const *paths;
    size_t n_paths;
    const unsigned *cores;         /* that the run is bound to, by rate; NULL: none is */
    const uint64_t *stream_memory; /* by rate; NULL: the default */
    double step_ns[N_STEPS];       /* a packet, of the last run that was timed */
    bool failed;
};

/* ---- steps that are timed -------------------------------------------------------------------- */

/* Steps have no room for the clock's: one run at a time is timed. */
static struct {
    struct sl_pipeline_config was;
    _Atomic uint64_t ns[N_STEPS], n[N_STEPS]; /* of all calls, with the clock's own; calls */
} steps;

static void add_step(int step, uint64_t begin)
{
    atomic_fetch_add(&steps.ns[step], clock_thread_ns() - begin);
    atomic_fetch_add(&steps.n[step], 1);
}

static void collect(void *user, struct sl_batch *batch, uint32_t shard)
{
    const uint64_t begin = clock_thread_ns();

    steps.was.collect(user, batch, shard);
    add_step(COLLECT, begin);
}

static void settle(void *user, struct sl_batch *batch, const struct sl_hits *hits, uint32_t shard)
{
    const uint64_t begin = clock_thread_ns();

    steps.was.settle(user, batch, hits, shard);
    add_step(SETTLE, begin);
}

/* Most calls find no packet, and the clock takes as long as they do: its own time is taken off. */
static void read_steps(double ns[N_STEPS])
{
    enum { CALLS = 10000 };
    const uint64_t begin = clock_thread_ns();

    for (int i = 1; i < CALLS; i++)
        (void)clock_thread_ns();
    const double clock = (double)(clock_thread_ns() - begin) / CALLS;
    for (int step = 0; step < N_STEPS; step++)
        ns[step] = (double)steps.ns[step] - (double)steps.n[step] * clock;
}

static void time_steps(struct sl_run *run)
{
    steps.was = run->pipeline;
    memset(steps.ns, 0, sizeof steps.ns);
    memset(steps.n, 0, sizeof steps.n);
    run->pipeline.collect = collect;
    if (run->pipeline.settle != NULL)
        run->pipeline.settle = settle;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    (void)user;
    (void)event;
    (void)diag;
    return SL_OK;
}

/* One rule that looks at all streams, where none was named. */
static bool load_rules(const struct bench_input *input, struct sl_rules **rules)
{
    static const char rule[] =
        "alert tcp any any -> any any (content:\"no-such-bytes-in-here\"; sid:1;)\n";
    struct sl_diag diag = {0};
    bool usable;

    if (input->rule_files.n_paths != 0)
        return rule_files_load(&input->rule_files, rules, &usable) && usable;
    *rules = NULL;
    if (sl_rules_create(rules, &diag) == SL_OK &&
        sl_rules_load_text(*rules, "", rule, sizeof rule - 1, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

static struct sl_run_config config_of(const struct running *running, struct sl_rules *rules,
                                      unsigned which)
{
    const bool cuda = running->bench->device.kind == SL_DEVICE_CUDA && running->cores == NULL;
    struct sl_run_config config;

    sl_run_config_init(&config);
    config.files = running->paths;
    config.n_files = running->n_paths;
    config.rules = rules;
    config.devices = cuda ? running->bench->device_name : "cpu";
    config.event = on_event;
    config.events = 1u << SL_EVENT_ALERT;
    if (running->stream_memory != NULL)
        config.stream_memory = running->stream_memory[which];
    return config;
}

/* Returns the seconds of a run, which is closed; 0: it failed. */
static double finish(struct sl_run *run, struct sl_run_result *result)
{
    struct sl_diag diag = {0};
    double seconds = 0;

    if (sl_run_execute(run, &diag) == SL_OK) {
        sl_run_result(run, result);
        seconds = (double)result->pipeline->wall_ns / 1e9;
    } else {
        cli_diag(&diag);
    }
    sl_run_close(run);
    return seconds;
}

/* The same of a run that begins here. */
static double execute(struct running *running, unsigned which, bool timed,
                      struct sl_run_result *result)
{
    struct sl_rules *rules;
    struct sl_run *run;
    struct sl_diag diag = {0};
    double seconds = 0;

    if (load_rules(&running->bench->input, &rules)) {
        const struct sl_run_config config = config_of(running, rules, which);

        if (sl_run_create(&run, &config, &diag) == SL_OK) {
            if (timed)
                time_steps(run);
            seconds = finish(run, result);
        } else {
            cli_diag(&diag);
            sl_run_close(run);
        }
    }
    sl_rules_free(rules);
    running->failed |= seconds == 0;
    return seconds;
}

/* Bytes a second. */
static double pass(void *user, unsigned which)
{
    struct running *running = user;
    struct sl_run_result result = {0};
    const struct bench_cores cores =
        bench_bind_to_cores(running->cores != NULL ? running->cores[which] : 0);
    const double seconds = execute(running, which, false, &result);

    bench_unbind(&cores);
    return seconds != 0 ? (double)result.captured.bytes / seconds : 1;
}

/* Packets a second of one core in the timed steps. */
static double pass_steps(void *user)
{
    struct running *running = user;
    struct sl_run_result result = {0};

    if (execute(running, 0, true, &result) == 0)
        return 1;
    read_steps(running->step_ns);
    for (int step = 0; step < N_STEPS; step++)
        running->step_ns[step] /= (double)result.captured.packets;
    return 1e9 / (running->step_ns[COLLECT] + running->step_ns[SETTLE]);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print(const struct running *running, const char *variant, const char *data,
                  const struct bench_row *rest)
{
    struct bench_row row = *rest;

    row.what = "stream run";
    row.variant = variant;
    row.data = data;
    if (running->failed)
        return;
    bench_print(&running->bench->frame, &row);
}

static bool measure_recorded(struct running *running, const char *data)
{
    struct sl_run_config config;
    struct bench_rate rates[2];

    sl_run_config_init(&config);
    const uint64_t memory[2] = {0, config.stream_memory};
    running->stream_memory = memory;
    bench_rates_in_turn(running->bench->frame.runs, 2, pass, running, rates);
    running->stream_memory = NULL;
    print(running, "rules, packets alone", data,
          &(struct bench_row){.rate = rates[0], .unit = 1e9, .unit_name = "GB/s"});
    print(running, "rules, streams", data,
          &(struct bench_row){.rate = rates[1],
                              .unit = 1e9,
                              .unit_name = "GB/s",
                              .ceiling = rates[0].median,
                              .ceiling_of = "packets alone"});
    return !running->failed;
}

static bool measure_steps(struct running *running, const char *data)
{
    const struct bench_rate rate = bench_rates(running->bench->frame.runs, pass_steps, running);
    const struct bench_stage stages[BENCH_STAGES] = {{"collect", running->step_ns[COLLECT]},
                                                     {"settle", running->step_ns[SETTLE]}};

    print(running, "collect and settle", data,
          &(struct bench_row){.rate = rate,
                              .unit = 1e6,
                              .unit_name = "M packets/s",
                              .ceiling = 1e9 / PLAIN_NS,
                              .ceiling_of = "40 ns a packet",
                              .stages = stages});
    return !running->failed;
}

static bool measure_cores(struct running *running, const char *data)
{
    struct bench_ceilings ceilings = {0};
    struct bench_rate rates[BENCH_CORES_MAX];

    bench_choose_cores(&ceilings);
    running->cores = ceilings.cores;
    bench_rates_in_turn(running->bench->frame.runs, ceilings.n, pass, running, rates);
    running->cores = NULL;
    for (unsigned i = 0; i < ceilings.n; i++) {
        char variant[96];

        snprintf(variant, sizeof variant, "one flow alone, %u core%s", ceilings.cores[i],
                 ceilings.cores[i] == 1 ? "" : "s");
        print(running, variant, data,
              &(struct bench_row){.rate = rates[i],
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .series = "one flow alone",
                                  .cores = ceilings.cores[i],
                                  .scaling = i != 0 ? rates[i].median / rates[0].median : 0});
    }
    return !running->failed;
}

static bool measure_flow(struct running *running, const char *flow)
{
    running->paths = &flow;
    running->n_paths = 1;
    return measure_steps(running, "one flow") && measure_cores(running, "1,400 bytes a segment");
}

bool bench_stream_runs(const struct bench *bench)
{
    struct running running = {.bench = bench};
    char flow[64] = "";
    bool good = bench_generate_flow(flow);

    if (good && bench->input.n_paths != 0) {
        running.paths = bench->input.paths;
        running.n_paths = bench->input.n_paths;
        good = measure_recorded(&running, "recorded") && measure_steps(&running, "recorded");
    } else if (good) {
        bench_print_why(&bench->frame, "stream run", "rules, streams", "-r names no capture");
    }
    good = good && measure_flow(&running, flow);
    if (flow[0] != '\0')
        (void)unlink(flow);
    return good;
}
