/* SPDX-License-Identifier: MIT */
#include "run_places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/frame/row.h"
#include "bench_pipeline.h"
#include "page_cache.h"

/* ---- places ---------------------------------------------------------------------------------- */

static void add_gpus(struct run_places *places, uint32_t first, uint32_t n)
{
    struct run_place *place = &places->place[places->n++];
    size_t len = (size_t)snprintf(place->devices, sizeof place->devices, "cuda:");

    for (uint32_t i = first; i < first + n && len < sizeof place->devices; i++)
        len += (size_t)snprintf(place->devices + len, sizeof place->devices - len, "%s%d",
                                i == first ? "" : ",", places->bench->gpus[i].index);
}

void run_places_choose(struct run_places *places)
{
    const uint32_t n_gpus = places->bench->n_gpus;

    bench_choose_cores(&places->ceilings);
    for (unsigned i = 0; i < places->ceilings.n; i++)
        places->place[places->n++] =
            (struct run_place){.cores = places->ceilings.cores[i], .devices = "cpu"};
    for (uint32_t i = 0; i < n_gpus; i++)
        add_gpus(places, i, 1);
    if (n_gpus > 1)
        add_gpus(places, 0, n_gpus);
}

bool run_places_measure_ceilings(struct run_places *places)
{
    bool good = true;

    places->ceiling_of = "page cache";
    for (unsigned i = 0; i < places->ceilings.n && good; i++)
        good = bench_page_cache(places->bench, places->path, places->ceilings.cores[i],
                                &places->ceiling[i]);
    if (good && places->bench->n_gpus != 0)
        bench_measure_device(&places->ceilings, places->bench);
    else if (good)
        bench_print_why(&places->bench->frame, places->what, "GPU", "no GPU was chosen");
    return good;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Bytes a second. */
static double pass(void *user, unsigned which)
{
    struct run_places *places = user;
    const struct run_place *place = &places->place[which];
    const struct run_asked asked = {places->asked, places->path, place->devices};
    struct run_done done = {0};
    const struct bench_cores cores = bench_bind_to_cores(place->cores);

    places->failed |= !run_parts_execute(places->parts, &asked, &done);
    bench_unbind(&cores);
    places->stats[which] = done.stats;
    places->packets = done.packets;

    const uint64_t ns =
        places->by_core_time && place->cores == 1 ? done.core_ns : done.stats.wall_ns;
    const double bytes = places->unit_bytes != 0 ? places->unit_bytes : (double)done.bytes;

    return ns != 0 ? bytes * 1e9 / (double)ns : 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The busy time of all threads in each stage, a packet. */
static void name_stages(const struct run_places *places, unsigned which, struct bench_stage *stages)
{
    const struct sl_pipeline_stats *stats = &places->stats[which];
    const struct bench_stage all[BENCH_STAGES] = {
        {"fill", (double)stats->fill_ns},     {"load", (double)stats->load_ns},
        {"order", (double)stats->order_ns},   {"engines", (double)stats->work_ns},
        {"digest", (double)stats->digest_ns}, {"drain", (double)stats->drain_ns}};

    for (unsigned i = 0; i < BENCH_STAGES; i++)
        stages[i] = (struct bench_stage){
            all[i].name, places->packets != 0 ? all[i].ns / (double)places->packets : 0};
}

static void print(const struct run_places *places, const char *name, unsigned which,
                  const struct bench_rate *rates)
{
    const struct run_place *place = &places->place[which];
    const bool cuda = place->cores == 0;
    struct bench_stage stages[BENCH_STAGES];
    char variant[96];

    name_stages(places, which, stages);
    if (cuda)
        snprintf(variant, sizeof variant, "%s, %s", name, place->devices);
    else
        snprintf(variant, sizeof variant, "%s, %u core%s", name, place->cores,
                 place->cores == 1 ? "" : "s");
    if (cuda && places->stats[which].devices[0].device.kind != SL_DEVICE_CUDA) {
        bench_print_why(&places->bench->frame, places->what, variant,
                        "no engine of it works on a GPU");
        return;
    }
    const struct bench_row row = {
        .what = places->what,
        .variant = variant,
        .data = places->data,
        .rate = rates[which],
        .unit = 1e9,
        .unit_name = "GB/s",
        .ceiling = cuda ? places->ceilings.link : places->ceiling[which],
        .ceiling_of = cuda ? "link" : places->ceiling_of,
        .series = name,
        .cores = place->cores,
        .scaling = which > 0 && !cuda ? rates[which].median / rates[0].median : 0,
        .peer = place->cores == 1 ? places->peer : 0,
        .peer_name = places->peer_name,
        .stages = stages};
    bench_print(&places->bench->frame, &row);
}

bool run_places_measure(struct run_places *places, const char *name, unsigned asked)
{
    struct bench_rate rates[BENCH_PLACES_MAX];
    char why[64];

    if (!run_parts_have(places->parts, asked, why)) {
        bench_print_why(&places->bench->frame, places->what, name, why);
        return true;
    }
    places->asked = asked;
    bench_rates_in_turn(places->bench->frame.runs, places->n, pass, places, rates);
    for (unsigned i = 0; i < places->n && !places->failed; i++)
        print(places, name, i, rates);
    return !places->failed;
}

void run_places_remove(struct run_places *places)
{
    if (places->path[0] != '\0')
        (void)unlink(places->path);
    places->path[0] = '\0';
}
