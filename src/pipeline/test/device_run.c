/* SPDX-License-Identifier: MIT */
#include "device_run.h"

#include "test.h"

#include <unistd.h>

#include "base/clock.h"
#include "batch/cpu_backend.h"
#include "device/test/simulated.h"

void (*device_run_hook)(const struct sl_batch *batch);
atomic_int device_run_opens_left[2];

/* ---- an engine: a hit for each 'x' ----------------------------------------------------------- */

static enum sl_status refuse_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    if (atomic_fetch_sub((atomic_int *)(uintptr_t)table, 1) == 0) {
        strcpy(diag->text, "not for CPUs");
        return SL_EUNSUPPORTED;
    }
    return cpu_backend_open(context, table, limits, diag);
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    (void)cpu;
    if (device_run_hook != NULL)
        device_run_hook(batch);
    for (uint32_t i = batch->n_items; i-- > 0;) /* backwards: the pipeline must sort */
        for (uint32_t at = 0; at < batch->payload[i].len; at++)
            if (batch->bytes[batch->payload[i].offset + at] == 'x')
                cpu_hits_append(hits, i, at, 7);
    return SL_OK;
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return cpu_backend_submit(context, batch, hits, scan);
}

static const struct sl_backend cpu_x = {.name = "x",
                                        .device = SL_DEVICE_CPU,
                                        .usable = cpu_backend_usable,
                                        .open = refuse_open,
                                        .submit = submit,
                                        .wait = cpu_backend_wait,
                                        .close = cpu_backend_close};
/* Simulated GPUs run another one: this one alone has to exist. */
static const struct sl_backend cuda_x = {.name = "x on GPUs", .device = SL_DEVICE_CUDA};
static const struct sl_backend *const backends[] = {&cuda_x, &cpu_x, NULL};
static const struct sl_engine engine_x = {.name = "x", .backends = backends},
                              engine_y = {.name = "y", .backends = backends};

/* ---- a run ----------------------------------------------------------------------------------- */

const char *device_run_bytes(const struct run *run, uint32_t item, uint32_t *len)
{
    enum { BURST_LEN = 100000 };
    static char few[50], many[BURST_LEN];

    if (many[0] == '\0') {
        memset(many, 'x', sizeof many);
        memset(few, '.', sizeof few);
        for (size_t i = 0; i < sizeof few; i += 3)
            few[i] = 'x';
    }
    *len = item + 1 == run->burst ? BURST_LEN : item % 50;
    return item + 1 == run->burst ? many : few;
}

static uint32_t hits_of(const struct run *run, uint32_t item)
{
    return item + 1 == run->burst ? 100000 : (item % 50 + 2) / 3;
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = user;
    uint32_t len;

    (void)diag;
    while (run->filled < run->n_items &&
           (run->items_a_batch == 0 || batch->n_items < run->items_a_batch)) {
        const char *bytes = device_run_bytes(run, run->filled, &len);

        if (!sl_batch_fits(batch, len))
            return SL_OK;
        const uint32_t item = sl_batch_add(batch, bytes, len, 0);
        batch->origin[item].position = run->filled++;
        batch->origin[item].arrival_ns = clock_ns();
    }
    return run->filled < run->n_items ? SL_OK : SL_END;
}

enum sl_status device_run_prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    uint64_t seed = batch->origin[0].position + 1;

    (void)user;
    (void)diag;
    usleep(test_below(&seed, 100));
    return SL_OK;
}

enum { MADE_BEGIN = 60 };

static uint32_t n_made_of(const struct run *run, uint64_t item)
{
    return (uint32_t)(item % (run->most_made + 1));
}

uint64_t device_run_make(void *user, const struct sl_batch *batch, struct sl_batch *to,
                         uint64_t from)
{
    uint32_t j = (uint32_t)from;

    for (uint32_t i = (uint32_t)(from >> 32); i < batch->n_items; i++, j = 0)
        for (; j < n_made_of(user, batch->origin[i].position); j++) {
            if (!sl_batch_made_fits(to, MADE_BEGIN + j + 1))
                return (uint64_t)i << 32 | j;
            memset(sl_batch_made_room(to), '.', MADE_BEGIN + j);
            sl_batch_made_room(to)[MADE_BEGIN + j] = 'x';
            sl_batch_append_made(to, MADE_BEGIN + j + 1, (struct sl_made){i, 1 + j, 0});
        }
    return UINT64_MAX;
}

/* The hits in made items of a packet, from hits[h] on. */
static void check_made(const struct sl_hit *hits, uint32_t i, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        assert_int_equal(hits[j].item, i);
        assert_int_equal(hits[j].offset, MADE_BEGIN + j);
        assert_int_equal(hits[j].id, (1 + (uint64_t)j) << 32 | 7);
    }
}

static void settle(void *user, struct sl_batch *batch, const struct sl_hits *hits, uint32_t shard)
{
    struct run *run = user;

    (void)hits;
    for (uint32_t i = 0; i < batch->n_items; i++)
        if (batch->origin[i].position != atomic_fetch_add(&run->settled[shard], 1))
            run->out_of_order = true;
}

static enum sl_status report(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct run *run = user;

    (void)hits;
    (void)diag;
    for (uint32_t shard = 0; shard < N_SHARDS; shard++)
        if (run->settled[shard] <= batch->origin[batch->n_items - 1].position)
            run->out_of_order = true;
    return SL_OK;
}

/* cmocka's asserts end by longjmp, which is for the thread of the test: drain runs on it. */
static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct run *run = user;

    (void)diag;
    for (int e = 0; e < 2; e++) {
        size_t h = 0;

        for (uint32_t i = 0; i < batch->n_items; i++) {
            const uint32_t item = (uint32_t)batch->origin[i].position;

            for (uint32_t k = 0; k < hits_of(run, item); k++, h++) {
                const bool burst = item + 1 == run->burst;

                if (hits[e].hit[h].item != i || hits[e].hit[h].offset != (burst ? k : 3 * k))
                    fail_msg("engine %d, item %u: hit %u is (%u, %u)", e, item, k,
                             hits[e].hit[h].item, hits[e].hit[h].offset);
            }
            if (e == 0) {
                check_made(hits[e].hit + h, i, n_made_of(run, item));
                h += n_made_of(run, item);
            }
        }
        assert_int_equal(hits[e].n, h);
        run->n_hits += h;
    }
    for (uint32_t i = 0; i < batch->n_items; i++)
        if (batch->origin[i].position != run->drained++)
            run->out_of_order = true;
    if (run->drain_us != 0)
        usleep(run->drain_us);
    return SL_OK;
}

static void dropped(void *user, const struct sl_pipeline_device *device)
{
    struct run *run = user;

    run->n_dropped += device->dropped && device->why[0] != '\0';
    run->n_redone += device->redone;
}

void device_run_init(struct run *run, uint32_t n_devices)
{
    struct sl_pipeline_config *config = &run->config;

    sl_pipeline_config_init(config);
    for (uint32_t i = 0; i < n_devices; i++) {
        config->devices[i].kind = SL_DEVICE_CUDA;
        config->devices[i].index = (int)i;
    }
    if (n_devices > 0)
        config->n_devices = n_devices;
    config->n_workers = N_WORKERS;
    config->batch_len = 4096;
    config->batch_items = 64;
    config->engines[0].engine = &engine_x;
    config->engines[1].engine = &engine_y;
    for (int e = 0; e < 2; e++) {
        atomic_store(&device_run_opens_left[e], -1);
        config->engines[e].table = &device_run_opens_left[e];
    }
    config->n_engines = 2;
    config->fill = fill;
    config->settle = settle;
    config->report = report;
    config->n_shards = N_SHARDS;
    config->drain = drain;
    config->dropped = dropped;
    config->user = run;
}

void device_run_check(const struct run *run)
{
    const struct sl_pipeline_stats *stats = &run->stats;
    uint64_t n_hits = 0, batches = 0;

    for (uint32_t i = 0; i < run->n_items; i++)
        n_hits += 2 * (uint64_t)hits_of(run, i) + n_made_of(run, i);
    assert_int_equal(run->drained, run->n_items);
    assert_false(run->out_of_order);
    for (uint32_t shard = 0; shard < N_SHARDS; shard++)
        assert_int_equal(run->settled[shard], run->n_items);
    assert_int_equal(run->n_hits, n_hits);
    assert_int_equal(stats->engine_hits[0] + stats->engine_hits[1], n_hits);
    assert_int_equal(stats->items, run->n_items);
    for (uint32_t d = 0; d < stats->n_devices; d++)
        batches += stats->devices[d].batches;
    assert_int_equal(batches, stats->batches);
    assert_int_equal(simulated_n_open(), 0);
}

enum sl_status device_run_start(struct run *run)
{
    return sl_pipeline_run(&run->config, &run->stats, &run->diag);
}

void device_run_complete(struct run *run)
{
    assert_int_equal(device_run_start(run), SL_OK);
    device_run_check(run);
}
