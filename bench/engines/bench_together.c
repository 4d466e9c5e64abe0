/* SPDX-License-Identifier: MIT */
/* All engines on one transfer: on one core up to all, and on GPUs. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bench/frame/results.h"
#include "bench_whole.h"

enum { RESIDENT_BATCH = 64 << 20 /* bytes: batches on a GPU need not suit a link */ };

static void print_together(const struct bench_whole *whole, const char *variant,
                           const struct bench_together *together, unsigned which,
                           enum bench_role role, double scaling,
                           const struct bench_together_result *result)
{
    const struct bench_data *data = together->data;
    const bool cuda = together->devices[0].kind == SL_DEVICE_CUDA;
    const struct bench_ceilings *ceilings = &whole->ceilings;
    const struct bench_row row = {.what = "all",
                                  .variant = variant,
                                  .data = data->text,
                                  .rate = result->rate,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .ceiling = cuda ? together->n_devices * ceilings->link *
                                                        (double)data->bytes / (double)data->crossing
                                                  : ceilings->copy[which],
                                  .ceiling_of = cuda ? "link" : "memory copy",
                                  .role = role,
                                  .series = "all engines on one transfer",
                                  .cores = cuda ? 0 : ceilings->cores[which],
                                  .scaling = scaling,
                                  .p50_us = result->p50_us,
                                  .p99_us = result->p99_us};

    bench_print(&whole->bench->frame, &row);
    json_t *timeline = json_pack("{s:s, s:s, s:o}", "timeline", "all", "variant", variant,
                                 "batches_ns", result->timeline);
    if (whole->bench->frame.json)
        bench_print_line(&whole->bench->frame, timeline);
    json_array_append_new(json_object_get(whole->bench->frame.results, "timelines"), timeline);
}

/* At half of that rate, for the latency of a batch when there is room. */
static bool run_half(const struct bench_whole *whole, const struct bench_together *together,
                     unsigned which, unsigned cores, double rate, char of[96])
{
    struct bench_together_result result = {0};
    struct bench half = *whole->bench;

    half.frame.runs = half.frame.runs < 3 ? half.frame.runs : 3;
    if (!bench_run_together(&half, together, &cores, 1, rate / 2, &result))
        return false;
    strncat(of, ", half load", 96 - strlen(of) - 1);
    print_together(whole, of, together, which, BENCH_ALONE, 0, &result);
    return true;
}

/* As fast as it goes, then at half load. */
static bool run_on_cores(const struct bench_whole *whole, const struct bench_together *together)
{
    const struct bench_ceilings *ceilings = &whole->ceilings;
    struct bench_together_result results[BENCH_CORES_MAX] = {0};
    const unsigned n = ceilings->n;
    char variant[96], of[96] = "";

    if (!bench_run_together(whole->bench, together, ceilings->cores, n, 0, results))
        return false;
    snprintf(variant, sizeof variant, "%u engines", together->n_engines);
    for (unsigned i = 0; i < n; i++) {
        bench_name_cores(of, variant, ceilings->cores[i]);
        print_together(whole, of, together, i, BENCH_TOGETHER,
                       i > 0 ? results[i].rate.median / results[0].rate.median : 0, &results[i]);
    }
    return run_half(whole, together, n - 1, ceilings->cores[n - 1], results[n - 1].rate.median, of);
}

/* The same on the GPU, whose pipeline has all cores. */
static bool run_on_gpu(const struct bench_whole *whole, const struct bench_together *together,
                       const char *how, enum bench_role role)
{
    struct bench_together_result result = {0};
    const unsigned all = 0;
    char of[96];

    if (!bench_run_together(whole->bench, together, &all, 1, 0, &result))
        return false;
    snprintf(of, sizeof of, "%u engines, GPU%s", together->n_engines, how);
    print_together(whole, of, together, 0, role, 0, &result);
    return run_half(whole, together, 0, 0, result.rate.median, of);
}

/* All engines, or the one there is. */
static bool run_resident(const struct bench_whole *whole, const struct bench_together *together,
                         const char *how)
{
    struct bench_together_result result = {0};
    char what[48], of[96];

    if (!bench_run_resident(whole->bench, together, &result.rate))
        return false;
    if (together->n_engines == 1)
        snprintf(what, sizeof what, "%s", together->engines[0].name);
    else
        snprintf(what, sizeof what, "%u engines", together->n_engines);
    snprintf(of, sizeof of, "%s, on the GPU%s", what, how);
    const struct bench_row row = {.what = "all",
                                  .variant = of,
                                  .data = together->data->text,
                                  .rate = result.rate,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .role = BENCH_ALONE,
                                  .items = result.rate.median * (double)together->data->items /
                                           (double)together->data->bytes};
    bench_print(&whole->bench->frame, &row);
    return true;
}

/* All engines together, and each of them alone. */
static bool run_resident_engines(const struct bench_whole *whole,
                                 const struct bench_together *together, const char *how)
{
    struct bench_together one = *together;
    bool good = run_resident(whole, together, how);

    one.n_engines = 1;
    for (unsigned e = 0; e < together->n_engines && together->n_engines > 1 && good; e++) {
        one.engines = &together->engines[e];
        good = run_resident(whole, &one, how);
    }
    return good;
}

/* In batches as they cross, and in larger ones. */
static bool run_residents(const struct bench_whole *whole, const struct bench_together *crossing)
{
    struct bench_data large = {0};
    struct bench_together together = *crossing;

    together.data = &large;
    const bool good = run_resident_engines(whole, crossing, "") &&
                      bench_rebatch(&large, &whole->packets, RESIDENT_BATCH, false) &&
                      run_resident_engines(whole, &together, ", 64 MiB");
    bench_unload(&large);
    return good;
}

/* All GPUs side by side, if there are several; the scaling is over the first alone. */
static bool run_on_gpus(const struct bench_whole *whole, const struct bench_together *of_one)
{
    struct bench_together both = *of_one;
    struct bench_together_result results[2] = {0};
    const unsigned all = 0;
    char of[96];

    both.n_devices = whole->bench->n_gpus;
    if (both.n_devices == 1)
        return true;
    if (!bench_run_together(whole->bench, of_one, &all, 1, 0, &results[0]) ||
        !bench_run_together(whole->bench, &both, &all, 1, 0, &results[1]))
        return false;
    json_decref(results[0].timeline);
    snprintf(of, sizeof of, "%u engines, %u GPUs, pinned", both.n_engines, both.n_devices);
    print_together(whole, of, &both, 0, BENCH_ALONE,
                   results[1].rate.median / results[0].rate.median, &results[1]);
    return true;
}

static bool run_on_cpu(const struct bench_whole *whole)
{
    const struct sl_device cpu = {.kind = SL_DEVICE_CPU, .usable = true};
    const struct bench_together together = {.engines = whole->engines,
                                            .n_engines = whole->n_engines,
                                            .data = &whole->packets,
                                            .devices = &cpu,
                                            .n_devices = 1};

    return whole->n_engines == 0 || run_on_cores(whole, &together);
}

bool bench_whole_together(const struct bench_whole *whole)
{
    struct bench_together together = {.engines = whole->on_gpu,
                                      .n_engines = whole->n_on_gpu,
                                      .data = &whole->pinned,
                                      .devices = whole->bench->gpus,
                                      .n_devices = 1};

    if (!run_on_cpu(whole))
        return false;
    if (whole->n_on_gpu == 0)
        return true;
    if (!run_on_gpu(whole, &together, "", BENCH_TOGETHER) || !run_residents(whole, &together))
        return false;
    together.stays = true;
    if (!run_on_gpu(whole, &together, ", pinned", BENCH_ALONE) || !run_on_gpus(whole, &together))
        return false;
    together.data = &whole->small;
    return run_on_gpu(whole, &together, ", pinned, 4 MiB", BENCH_ALONE);
}
