/* SPDX-License-Identifier: MIT */
/* sluice bench: ceilings, each engine alone and all on one transfer, on one core, on all and on the
 * GPU, and peers, over the same packets. Rates are bytes of packets, of names where those are
 * looked up. */
#include "bench_whole.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/name_sets.h"
#include "bench_mpm.h"
#include "cli/console.h"
#include "lookups_backend.h"
#include "run/traffic_sample.h"
#include "sluice/header.h"
#include "sluice/packet_names.h"
#include "sluice/sampling.h"

enum {
    BATCH = 4 << 20, /* bytes, as a run's */
    CUDA_BATCH = 16 << 20,
    RESIDENT_BATCH = 64 << 20, /* what lies on a GPU need not come in parts that a link likes */
    NAME_BATCHES = 64,
    NAMES_A_BATCH = 16384
};

/* ---- one row for each number of cores -------------------------------------------------------- */

static void name_cores(char text[96], const char *variant, unsigned cores)
{
    snprintf(text, 96, "%.70s, %u core%s", variant, cores, cores == 1 ? "" : "s");
}

static double scaling_of(const struct bench_result *results, unsigned which)
{
    return which > 0 ? results[which].rate.median / results[0].rate.median : 0;
}

bool bench_whole_rows(const struct bench_whole *whole, const struct bench_work *work,
                      const char *what, const char *variant, enum bench_role role, uint64_t *hits)
{
    const struct bench_ceilings *ceilings = &whole->ceilings;
    const bool streams = work->data == &whole->packets; /* names are not read in a row */
    struct bench_result results[BENCH_CORES_MAX];
    char series[96], of[96];

    if (!bench_run_on_cores(whole->bench, work, ceilings->cores, ceilings->n, results))
        return false;
    if (results[0].why[0] != '\0') {
        bench_print_why(whole->bench, what, variant, results[0].why);
        return true;
    }
    if (hits != NULL)
        *hits = results[0].hits;
    snprintf(series, sizeof series, "%.40s %.50s", what, variant);
    for (unsigned i = 0; i < ceilings->n; i++) {
        const double items =
            results[i].rate.median * (double)work->data->items / (double)work->data->bytes;

        name_cores(of, variant, ceilings->cores[i]);
        const struct bench_row row = {.what = what,
                                      .variant = of,
                                      .data = work->data->text,
                                      .rate = results[i].rate,
                                      .unit = 1e9,
                                      .unit_name = "GB/s",
                                      .ceiling = streams ? ceilings->read[i] : 0,
                                      .ceiling_of = streams ? "memory read" : NULL,
                                      .hits = work->max_hits == 0 ? &results[i].hits : NULL,
                                      .role = role,
                                      .series = series,
                                      .cores = ceilings->cores[i],
                                      .scaling = scaling_of(results, i),
                                      .items = items};
        bench_print(whole->bench, &row);
    }
    return true;
}

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
    if (!bench_run_row(whole->bench, work, &row, &result))
        return false;
    *hits = result.hits;
    return true;
}

/* ---- engines --------------------------------------------------------------------------------- */

/* An engine with its table, for one kind of device. */
struct contender {
    char what[48];                  /* of its rows */
    char variant[64];               /* the algorithm or sampler, and the backend */
    const struct sl_engine *engine; /* NULL: it is no part of the one transfer */
    const struct sl_backend *backend;
    const void *table;
    const struct bench_data *data;   /* NULL: the packets */
    const struct bench_data *sample; /* what matchers of literals learn from */

    /* What it owns, each NULL or empty where it has none. */
    struct sl_header_table *header;
    struct sl_mpm_table *mpm;
    struct sl_sampling_table *sampling;
    struct bench_literals literals;
    struct bench_names names;
    struct bench_data trace;
    struct sl_fib *fib;
    struct bench_lookups lookups;
    struct sl_names *table_of_names;
    struct sl_names_watch *watch;
};

static void free_contender(struct contender *contender)
{
    sl_header_free(contender->header);
    sl_mpm_free(contender->mpm);
    sl_sampling_free(contender->sampling);
    bench_literals_free(&contender->literals);
    bench_unload(&contender->trace);
    sl_fib_free(contender->fib);
    sl_names_watch_free(contender->watch);
    sl_names_free(contender->table_of_names);
    bench_names_free(&contender->names);
}

/* Builds; variant NULL: the default. `why`: why there is nothing to be measured. */
typedef bool build_contender(struct contender *contender, const struct bench *bench,
                             const char *variant, enum sl_device_kind kind, char why[320]);

/* The backend of this name, or where that is NULL the best one. */
static bool choose_backend(struct contender *contender, const struct bench *bench, const char *name,
                           enum sl_device_kind kind, char why[320])
{
    const struct sl_backend *const *backends = contender->engine->backends;
    char reason[SL_WHY_LEN] = "there is no such variant on this device";

    if (name == NULL)
        contender->backend = sl_engine_choose(contender->engine, kind, reason);
    for (; name != NULL && *backends != NULL && contender->backend == NULL; backends++)
        if ((*backends)->device == kind && strcmp((*backends)->name, name) == 0 &&
            bench_usable(bench, *backends, reason))
            contender->backend = *backends;
    if (contender->backend == NULL)
        snprintf(why, 320, "%s", reason);
    return contender->backend != NULL;
}

static bool build_header(struct contender *contender, const struct bench *bench,
                         const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_header_config config;
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "header");
    sl_header_config_init(&config);
    if (sl_header_build(&contender->header, &config, &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_header_engine();
    contender->table = contender->header;
    if (!choose_backend(contender, bench, variant, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s", contender->backend->name);
    return true;
}

/* Behind the literals. */
static bool build_matcher(struct contender *contender, const struct bench *bench,
                          const char *algorithm, enum sl_device_kind kind, size_t n,
                          const struct bench_data *sample, char why[320])
{
    struct sl_mpm_info info;

    if (algorithm != NULL && !mpm_known(algorithm)) {
        snprintf(why, 320, "this build has no such algorithm");
        return false;
    }
    contender->mpm = mpm_build(algorithm != NULL ? algorithm : "auto", kind, sample,
                               contender->literals.literal, n, why);
    if (contender->mpm == NULL)
        return false;
    contender->engine = sl_mpm_engine(contender->mpm);
    contender->table = contender->mpm;
    if (!choose_backend(contender, bench, NULL, kind, why))
        return false;
    sl_mpm_info(contender->mpm, &info);
    snprintf(contender->variant, sizeof contender->variant, "%s %s", info.algorithm,
             contender->backend->name);
    return true;
}

static bool build_literals(struct contender *contender, const struct bench *bench,
                           const char *variant, enum sl_device_kind kind, char why[320])
{
    size_t n = bench->counts[0];

    snprintf(why, 320, "no literals");
    if (!bench_literals_load(&contender->literals, bench, n))
        return false;
    n = contender->literals.n < n ? contender->literals.n : n;
    snprintf(contender->what, sizeof contender->what, "mpm/%zu", n);
    return build_matcher(contender, bench, variant, kind, n, contender->sample, why);
}

static bool build_viruses(struct contender *contender, const struct bench *bench,
                          const char *variant, enum sl_device_kind kind, char why[320])
{
    const size_t n = bench_n_viruses(bench);

    snprintf(contender->what, sizeof contender->what, "virus/%zu", n);
    snprintf(why, 320, "no memory for signatures");
    return bench_viruses_make(&contender->literals, n) &&
           build_matcher(contender, bench, variant, kind, n, NULL, why);
}

static bool build_sampling(struct contender *contender, const struct bench *bench,
                           const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_sampling_config config;
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "sampling");
    sl_sampling_config_init(&config);
    if (variant != NULL)
        config.sampler = variant;
    if (sl_sampling_build(&contender->sampling, &config, &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_sampling_engine(contender->sampling);
    contender->table = contender->sampling;
    if (!choose_backend(contender, bench, NULL, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s %s", config.sampler,
             contender->backend->name);
    return true;
}

static bool build_names(struct contender *contender, const struct bench *bench, const char *variant,
                        enum sl_device_kind kind, char why[320])
{
    const struct sl_fib_backend *backend;
    struct sl_fib_config config;
    struct sl_diag diag = {0};
    char reason[SL_WHY_LEN];

    snprintf(contender->what, sizeof contender->what, "names");
    sl_fib_config_init(&config);
    if (variant != NULL)
        config.plane = variant;
    snprintf(why, 320, "no names");
    if (!bench_names_load(&contender->names, bench, bench->entries[0]) ||
        !bench_names_trace(&contender->trace, &contender->names, false, NAME_BATCHES, NAMES_A_BATCH,
                           kind == SL_DEVICE_CUDA))
        return false;
    if (sl_fib_build(&contender->fib, &config, contender->names.entries, contender->names.n,
                     &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(contender->fib));
    backend = sl_fib_choose(engine, kind, reason);
    if (backend == NULL) {
        snprintf(why, 320, "%s", reason);
        return false;
    }
    bench_lookups_init(&contender->lookups, backend, contender->fib);
    contender->backend = &contender->lookups.backend;
    contender->table = &contender->lookups;
    contender->data = &contender->trace;
    snprintf(contender->variant, sizeof contender->variant, "%s %s", engine->name, backend->name);
    return true;
}

/* The names that packets ask for. */
static bool build_packet_names(struct contender *contender, const struct bench *bench,
                               const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "packet names");
    snprintf(why, 320, "no names");
    if (!bench_names_load(&contender->names, bench, bench->entries[0]))
        return false;
    contender->table_of_names = bench_names_table(&contender->names);
    if (contender->table_of_names == NULL)
        return false;
    if (sl_names_watch_create(&contender->watch, contender->table_of_names, &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_packet_names_engine();
    contender->table = contender->watch;
    if (!choose_backend(contender, bench, variant, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s", contender->backend->name);
    return true;
}

/* All engines: who adds one adds a line. Those that have an sl_engine go over one transfer too. */
static const struct {
    const char *name; /* of --variants */
    build_contender *build;
    const char *peer; /* a variant that is measured too, as it is another's, or NULL */
    bool apart;       /* it is no part of the one transfer */
} engines[] = {
    {"header", build_header, NULL, false},     {"mpm", build_literals, "vectorscan", false},
    {"sampling", build_sampling, NULL, false}, {"virus", build_viruses, NULL, false},
    {"names", build_names, NULL, true},        {"packet-names", build_packet_names, NULL, false}};

enum { N_ENGINES = sizeof engines / sizeof *engines };

bool bench_whole_check(const struct bench *bench)
{
    const char *at = bench->variants;

    while (at != NULL && *at != '\0') {
        const size_t len = strcspn(at, ",");
        bool known = false;

        for (int e = 0; e < N_ENGINES; e++) {
            const size_t n = strlen(engines[e].name);

            known |= len > n + 1 && at[n] == ':' && memcmp(at, engines[e].name, n) == 0;
        }
        if (!known) {
            cli_error("--variants '%.*s' (expected such as mpm:ac, header:scalar, sampling:maxp, "
                      "virus:ac, names:mata)",
                      (int)len, at);
            return false;
        }
        at += len + (at[len] == ',');
    }
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
        bench_print_why(whole->bench, contender->what, asked, why);
    }
    if (kept == NULL) {
        free_contender(contender);
        free(contender);
    }
    return good;
}

/* The variants that the command line asks for. */
static bool run_asked(struct bench_whole *whole, int e, enum sl_device_kind kind)
{
    const size_t n = strlen(engines[e].name);
    const char *at = whole->bench->variants;
    bool good = true;

    while (at != NULL && *at != '\0' && good) {
        const size_t len = strcspn(at, ",");
        char variant[64];

        if (len > n + 1 && at[n] == ':' && memcmp(at, engines[e].name, n) == 0) {
            snprintf(variant, sizeof variant, "%.*s", (int)(len - n - 1), at + n + 1);
            good = run_contender(whole, engines[e].build, variant, kind, BENCH_ENGINE, NULL);
        }
        at += len + (at[len] == ',');
    }
    return good;
}

/* ---- all on one transfer --------------------------------------------------------------------- */

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

    bench_print(whole->bench, &row);
    json_t *timeline = json_pack("{s:s, s:s, s:o}", "timeline", "all", "variant", variant,
                                 "batches_ns", result->timeline);
    if (whole->bench->json)
        bench_print_line(whole->bench, timeline);
    json_array_append_new(json_object_get(whole->bench->results, "timelines"), timeline);
}

/* At half of that rate, for what a batch waits when there is room. */
static bool run_half(const struct bench_whole *whole, const struct bench_together *together,
                     unsigned which, unsigned cores, double rate, char of[96])
{
    struct bench_together_result result = {0};
    struct bench half = *whole->bench;

    half.runs = half.runs < 3 ? half.runs : 3;
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
        name_cores(of, variant, ceilings->cores[i]);
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
    bench_print(whole->bench, &row);
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

static bool run_all_together(const struct bench_whole *whole)
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

/* ---- the bench ------------------------------------------------------------------------------- */

static bool run_engines(struct bench_whole *whole, enum sl_device_kind kind, struct contender *kept)
{
    bool good = true;

    for (int e = 0; e < N_ENGINES && good; e++) {
        if (engines[e].apart && !whole->all)
            continue;
        good = run_contender(whole, engines[e].build, NULL, kind, BENCH_ENGINE, &kept[e]) &&
               run_asked(whole, e, kind);
        if (good && whole->all && kind == SL_DEVICE_CPU && engines[e].peer != NULL)
            good = run_contender(whole, engines[e].build, engines[e].peer, kind, BENCH_PEER, NULL);
    }
    return good;
}

static bool run_whole(const struct bench *bench, bool all)
{
    const bool cuda = bench->device.kind == SL_DEVICE_CUDA, cpu = all || !cuda;
    struct sl_batch *sample = traffic_sample_read(bench->paths, bench->n_paths);
    struct bench_whole whole = {.bench = bench, .all = all, .sample = {.batches = sample}};
    struct contender *kept = calloc(2 * (size_t)N_ENGINES, sizeof *kept);
    bool good = kept != NULL && bench_load(&whole.packets, bench, BATCH, false, 256u << 20) &&
                (!cuda || (bench_rebatch(&whole.pinned, &whole.packets, CUDA_BATCH, true) &&
                           bench_rebatch(&whole.small, &whole.packets, BATCH, true)));

    bench_choose_cores(&whole.ceilings);
    if (good && cpu)
        good = bench_measure_ceilings(&whole.ceilings, bench, whole.packets.bytes);
    else if (good)
        bench_measure_device(&whole.ceilings, bench);
    good = good && (!cpu || run_engines(&whole, SL_DEVICE_CPU, kept)) &&
           (!cuda || run_engines(&whole, SL_DEVICE_CUDA, kept + N_ENGINES)) &&
           run_all_together(&whole) && (!all || bench_peers(&whole));
    for (int i = 0; i < 2 * N_ENGINES && kept != NULL; i++)
        free_contender(&kept[i]);
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
