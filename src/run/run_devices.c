/* SPDX-License-Identifier: MIT */
/* The devices of a run: which are named, which are faster, and the replacement of a GPU that
 * cannot. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "base/least.h"
#include "pipeline/choose.h"
#include "pipeline/worker.h"
#include "run_internal.h"

static bool is_auto(const struct sl_run *run)
{
    return strcmp(run->config.devices, "auto") == 0;
}

/* The start of a GPU, and its end, take as long as each core takes for this many bytes with many
 * rules: 0.4 s on an H200 and a Xeon with AVX-512. */
#define GPU_START_LEN (UINT64_C(64) << 20)

/* What runs before took decides, where it is known, and else the length. *side: the devices. */
static bool foresee(struct sl_run *run, enum pace_side *side)
{
    struct run_measures *const measures = &run->measures;
    struct sl_diag diag = {0};
    uint64_t len;

    if (run->config.paces != NULL) {
        measures->key = paces_key(&run->config);
        if (paces_read(&measures->before, run->config.paces, measures->key, &diag) != SL_OK)
            run_notices_text(&run->notices, SL_RUN_PACES_UNKNOWN, &diag);
    }
    /* A variant may need a GPU. */
    if (!is_auto(run) || run->config.variants != NULL || !run_source_is_files(&run->config, &len))
        return false;
    if (paces_choose(&measures->before, len, side)) {
        snprintf(run->why, sizeof run->why,
                 "%.3g MB of captures end in %.3g s on %u cores, and in %.3g s with a GPU, as runs "
                 "before did",
                 (double)len / 1e6, paces_seconds(&measures->before, PACE_CPU, len), cpu_cores(),
                 paces_seconds(&measures->before, PACE_GPU, len));
        return true;
    }
    *side = PACE_CPU;
    snprintf(run->why, sizeof run->why, "%u cores end %.3g MB of captures before a GPU has started",
             cpu_cores(), (double)len / 1e6);
    return len <= GPU_START_LEN * cpu_cores();
}

static void *probe(void *argument)
{
    struct sl_run *run = (struct sl_run *)argument;
    enum pace_side side;
    char why[SL_WHY_LEN];
    const bool on_cpu = foresee(run, &side) && side == PACE_CPU;

    run->prober.status = sl_device_choose_list(
        run->pipeline.devices, SL_PIPELINE_DEVICES_MAX, &run->pipeline.n_devices,
        on_cpu ? "cpu" : run->config.devices, on_cpu ? why : run->why, &run->prober.diag);
    return NULL;
}

void run_probe_devices(struct sl_run *run)
{
    run->prober.started = pthread_create(&run->prober.thread, NULL, probe, run) == 0;
    if (!run->prober.started)
        (void)probe(run);
}

void run_join_prober(struct sl_run *run)
{
    if (run->prober.started)
        pthread_join(run->prober.thread, NULL);
    run->prober.started = false;
}

/* Bytes. Batches for GPUs are pinned when the run starts, while the first ones wait. Sanitizers
 * take much of a short run's time for its memory: their batches are smaller, as events are the same
 * with any. */
#ifdef SLUICE_SANITIZED
enum { BATCH_LEN = 1 << 19 };
#else
enum { BATCH_LEN = 4 << 20 };
#endif

/* So many items that large files can be read in parts. */
static void size_batches(struct sl_pipeline_config *pipeline)
{
    pipeline->batch_len = BATCH_LEN;
    pipeline->batch_items = pipeline->batch_len / SL_BATCH_ALIGN + 1 + RUN_FRAGMENTS_ITEMS;
    pipeline->batch_len += RUN_FRAGMENTS_ROOM;
}

enum sl_status run_choose_devices(struct sl_run *run, struct sl_diag *diag)
{
    const uint64_t begin = clock_ns();
    uint64_t len;

    run_join_prober(run);
    size_batches(&run->pipeline);
    run->measures.gpu_ns = clock_ns() - begin;
    if (run->prober.status == SL_OK && run_source_is_files(&run->config, &len))
        run_pinning_begin(&run->pinning, &run->pipeline, len);
    else if (run->prober.status != SL_OK && diag != NULL)
        *diag = run->prober.diag;
    return run->prober.status;
}

/* The first engine that CPUs cannot run, such as a paper's variant for GPUs; NULL: there is none.
 */
static const struct sl_engine *needs_gpu(const struct sl_pipeline_config *pipeline)
{
    for (uint32_t e = 0; e < pipeline->n_engines; e++) {
        const struct sl_backend *const *backend = pipeline->engines[e].engine->backends;

        while (*backend != NULL && (*backend)->device != SL_DEVICE_CPU)
            backend++;
        if (*backend == NULL)
            return pipeline->engines[e].engine;
    }
    return NULL;
}

/* Takes CPUs from the devices where an engine needs a GPU. */
static enum sl_status keep_gpus(struct sl_pipeline_config *pipeline, struct sl_diag *diag)
{
    const struct sl_engine *engine = needs_gpu(pipeline);
    uint32_t n = 0;

    if (engine == NULL)
        return SL_OK;
    for (uint32_t i = 0; i < pipeline->n_devices; i++)
        if (pipeline->devices[i].kind == SL_DEVICE_CUDA)
            pipeline->devices[n++] = pipeline->devices[i];
    if (n == 0)
        return diag_set(diag, SL_EDEVICE, NULL, 0, "%s runs on GPUs alone, and the run has none",
                        engine->name);
    pipeline->n_devices = n;
    return SL_OK;
}

/* One that joins another has less to do than it. */
static bool any_works_on_gpus(const struct sl_pipeline_config *pipeline)
{
    for (uint32_t e = 0; e < pipeline->n_engines; e++)
        for (const struct sl_backend *const *b = pipeline->engines[e].engine->backends; *b; b++)
            if ((*b)->device == SL_DEVICE_CUDA && pipeline->engines[e].joins == 0)
                return true;
    return false;
}

/* Where no engine works on GPUs these would only take memory. */
static enum sl_status keep_cpu(struct sl_run *run, struct sl_diag *diag)
{
    struct sl_pipeline_config *const pipeline = &run->pipeline;

    if (pipeline_n_gpus(pipeline) == 0 || any_works_on_gpus(pipeline))
        return SL_OK;
    pipeline->n_devices = 1;
    const enum sl_status status = sl_device_choose(&pipeline->devices[0], "cpu", run->why, diag);
    snprintf(run->why, sizeof run->why, "no engine of the run works on a GPU");
    size_batches(pipeline);
    return status;
}

static enum sl_status try_all(struct sl_run *run, struct sl_diag *diag)
{
    const uint64_t begin = clock_ns();
    struct choose_rate gpus, cpu;
    const enum sl_status status = choose_devices(&run->pipeline, &gpus, &cpu, run->why, diag);

    run->measures.gpu_ns += clock_ns() - begin;
    run->measures.gpu_rate = gpus.rate;
    run->measures.cpu_rate = cpu.rate;
    return status;
}

enum sl_status run_try_devices(struct sl_run *run, const struct run_policy_build *build,
                               struct run_policy *policy, struct sl_diag *diag)
{
    enum sl_status status = keep_gpus(&run->pipeline, diag);

    if (status == SL_OK)
        status = keep_cpu(run, diag);
    if (status != SL_OK || !is_auto(run) || run->pipeline.n_devices == 1)
        return status;
    status = try_all(run, diag);
    return status == SL_OK && run->pipeline.devices[0].kind != SL_DEVICE_CUDA
               ? run_policy_match_on_cpu(policy, build, diag)
               : status;
}

/* `reason` is of the GPU. No batch holds the policy yet. */
static enum sl_status fall_to_cpu(struct sl_run *run, const struct sl_diag *reason,
                                  struct sl_diag *diag)
{
    const struct run_policy_build build = {&run->config, &run->variants, &run->notices,
                                           &run->pipeline};
    struct sl_diag notice = {0};

    (void)diag_set(&notice, SL_OK, NULL, 0, "%s; the CPU takes over", reason->text);
    run_notices_text(&run->notices, SL_RUN_CPU_TAKES_OVER, &notice);
    run->pipeline.n_devices = 1;
    const enum sl_status status =
        sl_device_choose(&run->pipeline.devices[0], "cpu", run->why, diag);
    if (status != SL_OK)
        return status;
    snprintf(run->why, sizeof run->why, "%.150s", reason->text);
    return run_policy_match_on_cpu(run->policy, &build, diag);
}

enum sl_status run_pipeline(struct sl_run *run, struct sl_diag *diag)
{
    struct sl_diag reason = {0};
    enum sl_status status = sl_pipeline_run(&run->pipeline, &run->stats, &reason);
    const bool cannot = status == SL_ENOMEM || status == SL_EUNSUPPORTED || status == SL_EDEVICE;

    if (!cannot || run->started || run->pipeline.devices[0].kind != SL_DEVICE_CUDA ||
        !is_auto(run)) {
        if (status != SL_OK)
            *diag = reason;
        return status;
    }
    status = fall_to_cpu(run, &reason, diag);
    return status == SL_OK ? sl_pipeline_run(&run->pipeline, &run->stats, diag) : status;
}

/* ---- what a run took ------------------------------------------------------------------------- */

/* Runs over fewer bytes say little. */
#define PACE_LEN_MIN (UINT64_C(64) << 20)

/* The devices that the run had: the CPU alone, or one GPU. False: others, or one was dropped. */
static bool took_part(const struct sl_run *run, enum pace_side *side)
{
    uint32_t n_gpus = 0;

    for (uint32_t i = 0; i < run->stats.n_devices; i++) {
        n_gpus += run->stats.devices[i].device.kind == SL_DEVICE_CUDA;
        if (run->stats.devices[i].dropped)
            return false;
    }
    *side = n_gpus > 0 ? PACE_GPU : PACE_CPU;
    return n_gpus <= 1;
}

/* Where the other side is unknown: the cores' other work is the same there, and the trial knows the
 * engines. A GPU works while the cores do. */
static void estimate_other(const struct sl_run *run, struct run_paces *paces, enum pace_side other,
                           double open_s, double len)
{
    const struct sl_pipeline_stats *const stats = &run->stats;
    const double other_work =
        (double)(stats->load_ns + stats->order_ns + stats->digest_ns) / (len * (double)cpu_cores());
    const double cpu_ns = 1e9 / run->measures.cpu_rate, gpu_ns = 1e9 / run->measures.gpu_rate;
    const double gpu_s = (double)run->measures.gpu_ns / 1e9;

    if (paces->of[other].measured)
        return;
    paces->of[other] =
        other == PACE_CPU
            ? (struct run_pace){open_s, other_work + cpu_ns, false}
            : (struct run_pace){open_s + gpu_s, gpu_ns > other_work ? gpu_ns : other_work, false};
}

void run_keep_pace(struct sl_run *run)
{
    const struct run_measures *const measures = &run->measures;
    const uint64_t ns = clock_ns() - measures->first_ns;
    struct run_paces paces = measures->before;
    struct sl_diag diag = {0};
    enum pace_side side;
    uint64_t len;

    if (run->config.paces == NULL || run->config.variants != NULL || !took_part(run, &side) ||
        atomic_load(&run->source.stopped) || run->source.n_failed != 0 ||
        !run_source_is_files(&run->config, &len) || len < PACE_LEN_MIN)
        return;
    const uint64_t open_ns = measures->first_ns - measures->created_ns;
    const double without_gpu = (double)(open_ns - least(open_ns, measures->gpu_ns)) / 1e9;
    paces_measured(&paces, side, side == PACE_GPU ? (double)open_ns / 1e9 : without_gpu,
                   (double)ns / (double)len);
    if (measures->cpu_rate > 0 && measures->gpu_rate > 0)
        estimate_other(run, &paces, side == PACE_GPU ? PACE_CPU : PACE_GPU, without_gpu,
                       (double)len);
    if (paces_write(&paces, run->config.paces, measures->key, &diag) != SL_OK)
        run_notices_text(&run->notices, SL_RUN_PACES_UNKNOWN, &diag);
}
