/* SPDX-License-Identifier: MIT */
/* sluice bench: ceilings, each engine alone and all on one transfer, on one core, on all and on the
 * GPU, and peers, over the same packets. Rates are bytes of packets, of names where those are
 * looked up. */
#include "bench_whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks.h"
#include "cli/console.h"
#include "contenders.h"
#include "run/traffic_sample.h"

enum {
    BATCH = 4 << 20, /* bytes, as a run's */
    CUDA_BATCH = 16 << 20
};

/* From pinned memory, several batches under way. */
static bool row_of_cuda(const struct bench_whole *whole, const struct bench_work *work,
                        const char *what, const char *variant, uint64_t *hits)
{
    struct bench_result result;
    char series[96], of[96];

    snprintf(series, sizeof series, "%.40s %.50s", what, variant);
    snprintf(of, sizeof of, "%.70s, GPU", variant);
    const struct bench_row row = {.what = what,
                                  .variant = of,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .ceiling = whole->ceilings.link,
                                  .ceiling_of = "link",
                                  .role = BENCH_ENGINE,
                                  .series = series};
    if (!bench_run_row(&whole->bench->frame, work, &row, &result))
        return false;
    *hits = result.hits;
    return true;
}

/* ---- each engine alone ----------------------------------------------------------------------- */

static bool measure(struct bench_whole *whole, struct contender *contender, enum bench_role role,
                    uint64_t *hits)
{
    const bool cuda = contender->backend->device == SL_DEVICE_CUDA;
    const struct bench_data *data = contender->data != NULL ? contender->data
                                    : cuda                  ? &whole->pinned
                                                            : &whole->packets;
    const struct bench_work work = {.backend = contender->backend,
                                    .table = contender->table,
                                    .data = data,
                                    .device = whole->bench->device.index,
                                    .n_threads = 1,
                                    .units = (double)data->bytes};

    if (cuda)
        return row_of_cuda(whole, &work, contender->what, contender->variant, hits);
    return bench_whole_rows(whole, &work, contender->what, contender->variant, role, hits);
}

/* Builds one, measures it, and keeps it for the one transfer where `kept` is not NULL. */
static bool run_contender(struct bench_whole *whole, build_contender *build, const char *variant,
                          enum sl_device_kind kind, enum bench_role role, struct contender *kept)
{
    struct contender *contender = kept != NULL ? kept : calloc(1, sizeof *contender);
    char why[320] = "";
    uint64_t hits = 0;
    bool good;

    if (contender == NULL) {
        cli_error("no memory for an engine");
        return false;
    }
    contender->sample = whole->sample.batches != NULL ? &whole->sample : NULL;
    if (build(contender, whole->bench, variant, kind, why)) {
        good = measure(whole, contender, role, &hits);
        if (good && kept != NULL && contender->engine != NULL) {
            const bool cuda = kind == SL_DEVICE_CUDA;
            struct bench_engine *engine =
                cuda ? &whole->on_gpu[whole->n_on_gpu++] : &whole->engines[whole->n_engines++];
            *engine =
                (struct bench_engine){contender->what, contender->engine, contender->table, hits};
        }
    } else {
        const char *asked = variant != NULL ? variant : "default";

        good = true;
        bench_print_why(&whole->bench->frame, contender->what, asked, why);
    }
    if (kept == NULL) {
        contender_free(contender);
        free(contender);
    }
    return good;
}

/* The variants of the command line. */
static bool run_variants(struct bench_whole *whole, int e, enum sl_device_kind kind)
{
    const size_t n = strlen(contender_kinds[e].name);
    const char *at = whole->bench->variants;
    bool good = true;

    while (at != NULL && *at != '\0' && good) {
        const size_t len = strcspn(at, ",");
        char variant[64];

        if (len > n + 1 && at[n] == ':' && memcmp(at, contender_kinds[e].name, n) == 0) {
            snprintf(variant, sizeof variant, "%.*s", (int)(len - n - 1), at + n + 1);
            good =
                run_contender(whole, contender_kinds[e].build, variant, kind, BENCH_ENGINE, NULL);
        }
        at += len + (at[len] == ',');
    }
    return good;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static bool run_engines(struct bench_whole *whole, enum sl_device_kind kind, struct contender *kept)
{
    bool good = true;

    for (int e = 0; e < N_CONTENDERS && good; e++) {
        if (contender_kinds[e].apart && !whole->all)
            continue;
        good = run_contender(whole, contender_kinds[e].build, NULL, kind, BENCH_ENGINE, &kept[e]) &&
               run_variants(whole, e, kind);
        if (good && whole->all && kind == SL_DEVICE_CPU && contender_kinds[e].peer != NULL)
            good = run_contender(whole, contender_kinds[e].build, contender_kinds[e].peer, kind,
                                 BENCH_PEER, NULL);
    }
    return good;
}

static bool run_whole(const struct bench *bench, bool all)
{
    const bool cuda = bench->device.kind == SL_DEVICE_CUDA, cpu = all || !cuda;
    struct sl_batch *sample = traffic_sample_read(bench->input.paths, bench->input.n_paths);
    struct bench_whole whole = {.bench = bench, .all = all, .sample = {.batches = sample}};
    struct contender *kept = calloc(2 * (size_t)N_CONTENDERS, sizeof *kept);
    bool good = kept != NULL &&
                bench_load(&whole.packets, &bench->input, BATCH, false, 256u << 20) &&
                (!cuda || (bench_rebatch(&whole.pinned, &whole.packets, CUDA_BATCH, true) &&
                           bench_rebatch(&whole.small, &whole.packets, BATCH, true)));

    bench_choose_cores(&whole.ceilings);
    if (good && cpu)
        good = bench_measure_ceilings(&whole.ceilings, bench, whole.packets.bytes);
    else if (good)
        bench_measure_device(&whole.ceilings, bench);
    good = good && (!cpu || run_engines(&whole, SL_DEVICE_CPU, kept)) &&
           (!cuda || run_engines(&whole, SL_DEVICE_CUDA, kept + N_CONTENDERS)) &&
           bench_whole_together(&whole) && (!all || bench_peers(&whole));
    for (int i = 0; i < 2 * N_CONTENDERS && kept != NULL; i++)
        contender_free(&kept[i]);
    free(kept);
    bench_unload(&whole.small);
    bench_unload(&whole.pinned);
    bench_unload(&whole.packets);
    sl_batch_free(sample);
    return good;
}

bool bench_whole(const struct bench *bench)
{
    return run_whole(bench, true);
}

bool bench_all_together(const struct bench *bench)
{
    return run_whole(bench, false);
}
