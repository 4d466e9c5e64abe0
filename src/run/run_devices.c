/* SPDX-License-Identifier: MIT */
/* The devices of a run: which are named, which are faster, and the replacement of a GPU that
 * cannot. */
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "run_internal.h"

static bool is_auto(const struct sl_run *run)
{
    return strcmp(run->config.devices, "auto") == 0;
}

/* The start of a GPU, and its end, take as long as each core takes for this many bytes with many
 * rules: 0.4 s on an H200 and a Xeon with AVX-512. */
#define GPU_START_LEN (UINT64_C(64) << 20)

/* Whether the run's captures are files that end before a GPU is of use. *len: bytes of all. */
static bool ends_soon(const struct sl_run *run, uint64_t *len)
{
    return run_source_is_files(&run->config, len) && *len <= GPU_START_LEN * cpu_cores();
}

/* A variant may need a GPU. */
static void *probe(void *argument)
{
    struct sl_run *run = (struct sl_run *)argument;
    uint64_t len;
    const bool soon = is_auto(run) && run->config.variants == NULL && ends_soon(run, &len);

    run->prober.status = sl_device_choose_list(
        run->pipeline.devices, SL_PIPELINE_DEVICES_MAX, &run->pipeline.n_devices,
        soon ? "cpu" : run->config.devices, run->why, &run->prober.diag);
    if (soon)
        snprintf(run->why, sizeof run->why,
                 "%u cores end %.3g MB of captures before a GPU has started", cpu_cores(),
                 (double)len / 1e6);
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

enum sl_status run_choose_devices(struct sl_run *run, struct sl_diag *diag)
{
    run_join_prober(run);
    if (run->prober.status != SL_OK && diag != NULL)
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

enum sl_status run_try_devices(struct sl_run *run, const struct run_policy_build *build,
                               struct run_policy *policy, struct sl_diag *diag)
{
    enum sl_status status = keep_gpus(&run->pipeline, diag);

    if (status != SL_OK || !is_auto(run) || run->pipeline.n_devices == 1)
        return status;
    status = sl_pipeline_choose(&run->pipeline, run->why, diag);
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
