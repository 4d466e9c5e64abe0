/* SPDX-License-Identifier: MIT */
/* Sampling: each backend of each sampler over the same payloads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "device/device.h"
#include "sluice/sampling.h"
#include "work.h"

enum {
    BLOCK = 16 << 20, /* bytes of a batch that crosses to a GPU, and of the small one on it, */
    LARGE = 256 << 20 /* and of the large one, at least */
};

/* Hits of some data n_passes times over: a result that all backends of a sampler must agree on. */
struct digest {
    uint64_t hits, sum, n_passes;
    const char *by; /* NULL: nobody has counted yet */
};

/* The data that backends run over, n_times that once. */
struct ground {
    struct bench_data data;
    uint32_t n_times;
    struct digest *digest; /* of it once */
};

struct sampling {
    const struct bench *bench;
    struct ground scan;         /* on the host */
    struct bench_data cached;   /* its first batch */
    struct ground pinned;       /* the same in pinned memory */
    struct ground small, large; /* on the GPU: a batch of the pinned ones, and all so often */
    struct digest whole, part;  /* of the scan, and of the small batch */
    double link;                /* bytes a second */
};

bool bench_is_sampler(const char *name)
{
    for (const char *const *known = sl_samplers(); *known != NULL; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

/* ---- the result that they agree on ----------------------------------------------------------- */

static void add_to_digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits)
{
    struct digest *digest = user;

    (void)batch;
    for (size_t i = 0; i < hits->n && i < hits->cap; i++) {
        const uint64_t mixed =
            (hits->hit[i].id ^ hits->hit[i].offset * UINT64_C(0x9E3779B97F4A7C15)) *
            UINT64_C(0xBF58476D1CE4E5B9);

        digest->sum += mixed ^ mixed >> 31;
    }
    digest->hits += hits->n;
}

/* A run that is not timed. False: an error was printed. */
static bool agree(const struct sampling *sampling, const struct bench_work *work,
                  const struct ground *ground, const char *what)
{
    struct bench_frame frame = sampling->bench->frame;
    struct bench_work counted = *work;
    struct digest digest = {.by = work->backend->name};
    struct digest *agreed = ground->digest;
    struct bench_result result;

    frame.runs = 1;
    counted.n_threads = 1;
    counted.stays = false;
    counted.consume = add_to_digest;
    counted.user = &digest;
    if (!bench_run(&frame, &counted, &result))
        return false;
    if (result.why[0] != '\0' || result.hits == 0)
        return true;
    digest.n_passes = digest.hits / result.hits * ground->n_times;
    if (agreed->by == NULL)
        *agreed = digest;
    if (digest.hits * agreed->n_passes == agreed->hits * digest.n_passes &&
        digest.sum * agreed->n_passes == agreed->sum * digest.n_passes)
        return true;
    cli_error("bench: %s %s finds %" PRIu64 " hits, and they are not those of %s", what,
              work->backend->name, result.hits, agreed->by);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool print_work(const struct sampling *sampling, const char *what, const char *variant,
                       const struct bench_work *work, double link)
{
    const struct bench_row row = {
        .what = what, .variant = variant, .unit = 1e9, .unit_name = "GB/s", .ceiling = link};
    struct bench_result result;

    return bench_run_row(&sampling->bench->frame, work, &row, &result);
}

static struct bench_work work_on(const struct sampling *sampling, const struct sl_backend *backend,
                                 const void *table, const struct ground *ground)
{
    return (struct bench_work){.backend = backend,
                               .table = table,
                               .data = &ground->data,
                               .device = sampling->bench->device.index,
                               .n_threads = 1,
                               .units = (double)ground->data.bytes};
}

/* In a run a batch comes from the cache, where filling has left it: one again and again shows that.
 */
static bool row_of_cached(const struct sampling *sampling, const char *what,
                          const struct sl_backend *backend, const void *table)
{
    struct bench_work work = work_on(sampling, backend, table, &sampling->scan);
    char variant[64];

    work.data = &sampling->cached;
    work.units = (double)sampling->cached.bytes;
    snprintf(variant, sizeof variant, "%s, cached", backend->name);
    return print_work(sampling, what, variant, &work, 0);
}

static bool rows_of_cpu(const struct sampling *sampling, const char *what,
                        const struct sl_backend *backend, const void *table)
{
    struct bench_work work = work_on(sampling, backend, table, &sampling->scan);
    char variant[64];

    if (!agree(sampling, &work, &sampling->scan, what) ||
        !print_work(sampling, what, backend->name, &work, 0) ||
        !row_of_cached(sampling, what, backend, table))
        return false;
    if (!sampling->bench->all_cores)
        return true;
    work.n_threads = cpu_cores();
    snprintf(variant, sizeof variant, "%s, %u cores", backend->name, work.n_threads);
    return print_work(sampling, what, variant, &work, 0);
}

static bool rows_on_device(const struct sampling *sampling, const char *what,
                           const struct sl_backend *backend, const void *table,
                           const struct ground *ground)
{
    struct bench_work work = work_on(sampling, backend, table, ground);
    char variant[64];

    if (!agree(sampling, &work, ground, what))
        return false;
    work.stays = true;
    snprintf(variant, sizeof variant, "%s, on the device, %.0f MB", backend->name,
             (double)ground->data.bytes / 1e6);
    return print_work(sampling, what, variant, &work, 0);
}

static bool rows_of_cuda(const struct sampling *sampling, const char *what,
                         const struct sl_backend *backend, const void *table)
{
    const struct bench_work work = work_on(sampling, backend, table, &sampling->pinned);
    char variant[64];

    snprintf(variant, sizeof variant, "%s, pinned, 16 MiB", backend->name);
    return rows_on_device(sampling, what, backend, table, &sampling->large) &&
           rows_on_device(sampling, what, backend, table, &sampling->small) &&
           agree(sampling, &work, &sampling->pinned, what) &&
           print_work(sampling, what, variant, &work, sampling->link);
}

static bool rows_of_table(const struct sampling *sampling, const char *what,
                          const struct sl_sampling_table *table)
{
    const struct sl_backend *const *backends = sl_sampling_engine(table)->backends;
    bool good = true;

    for (; *backends != NULL && good; backends++) {
        char why[SL_WHY_LEN];

        if (!bench_usable(sampling->bench, *backends, why)) {
            if (why[0] != '\0')
                bench_print_why(&sampling->bench->frame, what, (*backends)->name, why);
            continue;
        }
        good = (*backends)->device == SL_DEVICE_CPU
                   ? rows_of_cpu(sampling, what, *backends, table)
                   : rows_of_cuda(sampling, what, *backends, table);
    }
    return good;
}

static bool bench_sampler(struct sampling *sampling, const char *name)
{
    struct sl_sampling_config config;
    struct sl_sampling_table *table;
    struct sl_diag diag = {0};

    sl_sampling_config_init(&config);
    config.sampler = name;
    if (sl_sampling_build(&table, &config, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    sampling->whole.by = NULL;
    sampling->part.by = NULL;
    const bool good = rows_of_table(sampling, name, table);
    sl_sampling_free(table);
    return good;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void take_cached(struct sampling *sampling)
{
    const struct sl_batch *batch = &sampling->scan.data.batches[0];
    struct bench_data *cached = &sampling->cached;

    *cached = sampling->scan.data;
    cached->n_batches = 1;
    cached->bytes = 0;
    for (uint32_t i = 0; i < batch->n_items; i++)
        cached->bytes += batch->payload[i].len - (batch->has_overlap ? batch->overlap[i] : 0);
    snprintf(cached->text, sizeof cached->text, "%.1f MB of it, again and again",
             (double)cached->bytes / 1e6);
}

static bool load_cuda(struct sampling *sampling)
{
    const int device = sampling->bench->device.index;
    const uint32_t n_times = (uint32_t)(LARGE / sampling->scan.data.bytes) + 1;
    struct bench_data whole = {0};

    sampling->link = device_link_rate(device, BLOCK);
    sampling->large.n_times = n_times;
    const bool good = bench_repack(&sampling->pinned.data, &sampling->scan.data, BLOCK, true, 1) &&
                      bench_to_device(&sampling->small.data, &sampling->pinned.data, 0, device) &&
                      bench_repack(&whole, &sampling->scan.data, 0, false, n_times) &&
                      bench_to_device(&sampling->large.data, &whole, 0, device);
    bench_unload(&whole);
    return good;
}

bool bench_sampling(const struct bench *bench)
{
    struct sampling sampling = {.bench = bench};
    const char *const *names = bench->n_samplers != 0 ? bench->samplers : sl_samplers();
    bool good;

    sampling.scan = sampling.pinned = (struct ground){.n_times = 1, .digest = &sampling.whole};
    sampling.large = (struct ground){.digest = &sampling.whole};
    sampling.small = (struct ground){.n_times = 1, .digest = &sampling.part};
    good = bench_load_payloads(&sampling.scan.data, &bench->input, SL_SAMPLING_WINDOW_MAX - 1);
    if (good)
        take_cached(&sampling);
    good = good && (bench->device.kind != SL_DEVICE_CUDA || load_cuda(&sampling));
    for (; *names != NULL && good; names++)
        good = bench_sampler(&sampling, *names);
    bench_unload(&sampling.scan.data);
    bench_unload(&sampling.pinned.data);
    bench_unload(&sampling.small.data);
    bench_unload(&sampling.large.data);
    return good;
}
