/* SPDX-License-Identifier: MIT */
/* The pipeline on simulated GPUs: results are the same on any number of them, whatever the sizes,
 * and whichever of their steps fails. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "batch/cpu_backend.h"
#include "device/test/simulated.h"
#include "device/wait.h"
#include "pipeline/lane.h"
#include "sluice/pipeline.h"

/* ---- an engine: a hit for each 'x' ----------------------------------------------------------- */

struct table {
    atomic_int opens_left; /* until opening on the CPU is refused; below 0: never */
};

static enum sl_status refuse_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    if (atomic_fetch_sub(&((struct table *)(uintptr_t)table)->opens_left, 1) == 0) {
        strcpy(diag->text, "not for CPUs");
        return SL_EUNSUPPORTED;
    }
    return cpu_backend_open(context, table, limits, diag);
}

/* Where devices are to meet, each keeps its batch until all of them have one. */
static struct {
    atomic_uint n_awaited; /* 0: nobody waits */
    atomic_uint n_there;
    atomic_bool there[1 + SIMULATED_DEVICES_MAX]; /* the CPU first */
} meeting;

static void meet(const struct sl_batch *batch)
{
    const int which = simulated_is_device() ? 1 + batch->device : 0;

    if (atomic_load(&meeting.n_awaited) == 0)
        return;
    if (!atomic_exchange(&meeting.there[which], true))
        atomic_fetch_add(&meeting.n_there, 1);
    for (int ms = 0; ms < 60000 && atomic_load(&meeting.n_there) < atomic_load(&meeting.n_awaited);
         ms++)
        usleep(1000);
}

/* How many batches are worked on at once, where that is watched. */
static struct {
    atomic_bool watched;
    atomic_uint n, most;
} crowd;

static void stay_a_while(void)
{
    const unsigned n = atomic_fetch_add(&crowd.n, 1) + 1;
    unsigned most = atomic_load(&crowd.most);

    while (n > most && !atomic_compare_exchange_weak(&crowd.most, &most, n))
        ;
    usleep(1000);
    atomic_fetch_sub(&crowd.n, 1);
}

/* Waits till *n is at least `least`. Once that was in vain nobody waits any more. */
static atomic_bool in_vain;

static void await(atomic_uint *n, unsigned least)
{
    for (int ms = 0; atomic_load(n) < least && !atomic_load(&in_vain); ms++) {
        if (ms == 10000)
            atomic_store(&in_vain, true);
        usleep(1000);
    }
}

/* Where batches are to be worked on two by two, each waits for the other. */
static struct {
    atomic_bool awaited;
    atomic_uint there[4000];
} pairs;

static void meet_the_other(const struct sl_batch *batch)
{
    const uint64_t which = batch->origin[0].position;

    atomic_store(&pairs.there[which], 1);
    await(&pairs.there[which ^ 1], 1);
}

/* Batches of the CPU, for which GPUs wait where they are to be held up. */
static struct {
    atomic_bool awaited;
    atomic_uint n;
} cpu_work;

static void hold_gpus_up(void)
{
    if (!simulated_is_device())
        atomic_fetch_add(&cpu_work.n, 1);
    else if (atomic_load(&cpu_work.awaited))
        await(&cpu_work.n, 1);
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    (void)cpu;
    meet(batch);
    if (atomic_load(&crowd.watched))
        stay_a_while();
    if (atomic_load(&pairs.awaited))
        meet_the_other(batch);
    hold_gpus_up();
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
/* That there is one for GPUs is all that is asked of it: simulated ones run another. */
static const struct sl_backend cuda_x = {.name = "x on GPUs", .device = SL_DEVICE_CUDA};
static const struct sl_backend *const backends[] = {&cuda_x, &cpu_x, NULL};
static const struct sl_engine engine_x = {"x", backends}, engine_y = {"y", backends};

/* ---- a run ----------------------------------------------------------------------------------- */

/* Item i holds i % 50 bytes, every third an 'x', or, where `burst` is 1 + i, 100,000 of them. */
struct run {
    uint32_t n_items, burst;
    uint32_t filled, drained;
    uint64_t n_hits;
    uint32_t items_a_batch; /* 0: as fit */
    uint32_t n_dropped;     /* devices that we were told of */
    uint64_t n_redone;
    uint32_t drain_us;
    bool out_of_order;
};

static const char *bytes_of(const struct run *run, uint32_t item, uint32_t *len)
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
        const char *bytes = bytes_of(run, run->filled, &len);

        if (!sl_batch_fits(batch, len))
            return SL_OK;
        const uint32_t item = sl_batch_add(batch, bytes, len, 0);
        batch->origin[item].position = run->filled++;
        batch->origin[item].arrival_ns = clock_ns();
    }
    return run->filled < run->n_items ? SL_OK : SL_END;
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    uint64_t seed = batch->origin[0].position + 1;

    (void)user;
    (void)diag;
    usleep(test_below(&seed, 100));
    return SL_OK;
}

/* cmocka's asserts leave by longjmp, which is for the thread of the test: that is this one. */
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
        }
        assert_int_equal(hits[e].n, h);
        run->n_hits += h;
    }
    for (uint32_t i = 0; i < batch->n_items; i++)
        run->out_of_order |= batch->origin[i].position != run->drained++;
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

static struct table tables[2];

enum { N_WORKERS = 2 /* of each device, however many cores there are */ };

/* GPUs 0 to n_devices - 1, or the CPU. */
static void configure(struct sl_pipeline_config *config, struct run *run, uint32_t n_devices)
{
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
        atomic_store(&tables[e].opens_left, -1);
        config->engines[e].table = &tables[e];
    }
    config->n_engines = 2;
    config->fill = fill;
    config->drain = drain;
    config->dropped = dropped;
    config->user = run;
}

/* All items came, in order, with all hits, and nothing of the devices is left. */
static void check_complete(const struct run *run, const struct sl_pipeline_stats *stats)
{
    uint64_t n_hits = 0, batches = 0;

    for (uint32_t i = 0; i < run->n_items; i++)
        n_hits += 2 * (uint64_t)hits_of(run, i);
    assert_int_equal(run->drained, run->n_items);
    assert_false(run->out_of_order);
    assert_int_equal(run->n_hits, n_hits);
    assert_int_equal(stats->engine_hits[0] + stats->engine_hits[1], n_hits);
    assert_int_equal(stats->items, run->n_items);
    for (uint32_t d = 0; d < stats->n_devices; d++)
        batches += stats->devices[d].batches;
    assert_int_equal(batches, stats->batches);
    assert_int_equal(simulated_n_open(), 0);
}

static uint32_t n_dropped(const struct sl_pipeline_stats *stats)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < stats->n_devices; d++)
        n += stats->devices[d].dropped;
    return n;
}

/* ---- all is well ----------------------------------------------------------------------------- */

static void test_results_do_not_depend_on_devices_sizes_and_flight(void **state)
{
    static const struct {
        uint32_t batch_len, items_a_batch, n_items;
    } sizes[] = {
        {64, 1, 300}, {64, 0, 300}, {4096, 0, 2000}, {1u << 20, 0, 50000}, {64u << 20, 0, 100000}};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t n_devices = 0; n_devices <= 3; n_devices++)
            for (uint32_t n_batches = 1; n_batches <= 16; n_batches = n_batches * 5 / 2 + 1) {
                struct run run = {.n_items = sizes[s].n_items,
                                  .items_a_batch = sizes[s].items_a_batch};
                struct sl_pipeline_config config;
                struct sl_pipeline_stats stats;
                struct sl_diag diag = {0};

                if (sizes[s].batch_len > 1u << 20 && (n_batches > 3 || n_devices > 2))
                    continue;
                simulated_reset(n_devices, 200);
                configure(&config, &run, n_devices);
                config.batch_len = sizes[s].batch_len;
                config.batch_items = sizes[s].batch_len > 4096 ? 100000 : 64;
                config.n_batches = n_batches;
                config.n_workers = 1 + n_batches % 3;
                config.prepare = n_batches % 2 != 0 ? prepare : NULL;
                assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
                check_complete(&run, &stats);
                assert_int_equal(run.n_dropped, 0);
                assert_int_equal(stats.n_devices, n_devices > 0 ? n_devices : 1);
                assert_string_equal(stats.backend[0], n_devices > 0 ? "simulated" : "x");
            }
}

static void test_free_devices_take_the_batches(void **state)
{
    struct run run = {.n_items = 20000};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    simulated_reset(3, 500);
    configure(&config, &run, 3);
    config.devices[3].kind = SL_DEVICE_CPU; /* which is a device as others are */
    config.n_devices = 4;
    atomic_store(&meeting.n_awaited, 4);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    atomic_store(&meeting.n_awaited, 0);
    check_complete(&run, &stats);
    for (uint32_t d = 0; d < 4; d++)
        assert_true(stats.devices[d].batches > 0);
}

static void test_threads_share_a_device_s_workers(void **state)
{
    struct run run = {.n_items = 20000};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    simulated_reset(1, 0);
    configure(&config, &run, 1);
    config.n_workers = 3 * LANE_GPU_WORKERS_MAX;
    atomic_store(&crowd.watched, true);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    atomic_store(&crowd.watched, false);
    check_complete(&run, &stats);
    assert_int_equal(stats.n_workers, config.n_workers);
    assert_true(crowd.most > 1);
    assert_true(crowd.most <= LANE_GPU_WORKERS_MAX);
}

static void run_in_pairs(struct run *run)
{
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    simulated_reset(1, 0);
    configure(&config, run, 1);
    config.n_batches = 2;
    config.batch_len = 8u << 20;
    memset(pairs.there, 0, sizeof pairs.there);
    atomic_store(&pairs.awaited, true);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    atomic_store(&pairs.awaited, false);
    check_complete(run, &stats);
    assert_false(atomic_load(&in_vain));
}

/* Of two that wait one is awake, and told of either batch. */
static void test_who_is_told_twice_tells_another(void **state)
{
    struct run run = {.n_items = sizeof pairs.there / sizeof *pairs.there, .items_a_batch = 1};

    (void)state;
    run_in_pairs(&run);
}

/* Both have batches, and one of them the burst. */
static void test_a_burst_makes_workers_ready_between_batches(void **state)
{
    struct run run = {.n_items = 100, .items_a_batch = 1, .burst = 1};

    (void)state;
    run_in_pairs(&run);
    assert_int_equal(simulated_calls(0, SIMULATED_OPEN), 2 * 2 * N_WORKERS);
}

/* All threads have hits at once, though half as many workers find them. */
static atomic_uint n_digesting;

static enum sl_status digest_together(void *user, const struct sl_batch *batch,
                                      const struct sl_hits *hits, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)hits;
    (void)diag;
    atomic_fetch_add(&n_digesting, 1);
    await(&n_digesting, 2 * LANE_GPU_WORKERS_MAX);
    return SL_OK;
}

static void test_who_digests_keeps_no_worker(void **state)
{
    struct run run = {.n_items = 2 * LANE_GPU_WORKERS_MAX, .items_a_batch = 1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    simulated_reset(1, 0);
    configure(&config, &run, 1);
    config.n_workers = 2 * LANE_GPU_WORKERS_MAX;
    config.n_batches = 2 * LANE_GPU_WORKERS_MAX;
    config.digest = digest_together;
    atomic_store(&crowd.watched, true); /* all batches are there before the first is done */
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    atomic_store(&crowd.watched, false);
    check_complete(&run, &stats);
    assert_false(atomic_load(&in_vain));
}

static enum sl_status digest_after_the_cpu(void *user, const struct sl_batch *batch,
                                           const struct sl_hits *hits, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)hits;
    (void)diag;
    await(&cpu_work.n, 1);
    return SL_OK;
}

/* Twice as many batches as the GPU can have at once, or has threads. These are held up when they
 * digest, or the GPU is. */
static void check_held_up(uint32_t n_workers, uint32_t n_batches, bool digests)
{
    struct run run = {.n_items = n_batches, .items_a_batch = 1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    simulated_reset(1, 0);
    configure(&config, &run, 1);
    config.devices[1].kind = SL_DEVICE_CPU;
    config.n_devices = 2;
    config.n_workers = n_workers;
    config.n_batches = n_batches;
    config.digest = digests ? digest_after_the_cpu : NULL;
    atomic_store(&cpu_work.n, 0);
    atomic_store(&cpu_work.awaited, !digests);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    atomic_store(&cpu_work.awaited, false);
    check_complete(&run, &stats);
    assert_false(atomic_load(&in_vain));
}

/* Be it that they lack workers, or threads. */
static void test_the_cpu_takes_what_gpus_cannot(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        check_held_up(2 * LANE_GPU_WORKERS_MAX, 2 * LANE_GPU_WORKERS_MAX, false);
        check_held_up(2, 4, true);
    }
}

static void test_bursts_make_room_on_the_device(void **state)
{
    (void)state;
    for (uint32_t n_devices = 0; n_devices <= 2; n_devices++) {
        struct run run = {.n_items = 3000, .burst = 1500};
        struct sl_pipeline_config config;
        struct sl_pipeline_stats stats;
        struct sl_diag diag = {0};

        simulated_reset(n_devices, 100);
        configure(&config, &run, n_devices);
        config.batch_len = 1u << 17;
        assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
        check_complete(&run, &stats);
    }
}

/* A batch that is one item of 100,000 hits for either engine. Returns how often these started. */
static uint32_t run_burst(struct worker *worker, const struct run *run)
{
    const uint32_t before = simulated_calls(0, SIMULATED_SUBMIT);
    struct sl_hits hits[2] = {0};
    struct sl_batch *batch;
    struct sl_diag diag = {0};
    uint32_t len;
    const char *bytes = bytes_of(run, 0, &len);

    assert_int_equal(sl_device_batch_create(&batch, SL_DEVICE_CUDA, len, 1, NULL), SL_OK);
    assert_true(sl_batch_fits(batch, len));
    sl_batch_add(batch, bytes, len, 0);
    for (int e = 0; e < 2; e++)
        assert_int_equal(worker_take_hits(worker->config, &hits[e], &diag), SL_OK);
    assert_int_equal(worker_run(worker, batch, hits, &diag), SL_OK);
    for (int e = 0; e < 2; e++) {
        assert_int_equal(hits[e].n, 100000);
        worker_free_hits(worker->config, &hits[e]);
    }
    sl_batch_free(batch);
    return simulated_calls(0, SIMULATED_SUBMIT) - before;
}

/* Two workers of a GPU, and the burst that they meet. */
struct pair {
    struct run run;
    struct sl_pipeline_config config;
    struct worker workers[2];
    atomic_uint max_hits[SL_PIPELINE_ENGINES_MAX];
};

static void open_pair(struct pair *pair, uint32_t batch_len)
{
    struct sl_diag diag = {0};

    memset(pair, 0, sizeof *pair);
    pair->run = (struct run){.n_items = 1, .burst = 1};
    simulated_reset(1, 0);
    configure(&pair->config, &pair->run, 1);
    pair->config.batch_len = batch_len;
    for (int i = 0; i < 2; i++)
        assert_int_equal(worker_open(&pair->workers[i], &pair->config, &pair->config.devices[0],
                                     pair->max_hits, &diag),
                         SL_OK);
}

static void close_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        worker_close(&pair->workers[i]);
    assert_int_equal(simulated_n_open(), 0);
}

static void test_a_burst_makes_all_workers_ready(void **state)
{
    struct pair pair;
    struct worker *const workers = pair.workers;

    (void)state;
    open_pair(&pair, 8u << 20);
    assert_int_equal(run_burst(&workers[0], &pair.run), 4); /* each engine twice */
    assert_true(worker_is_ready(&workers[0]));
    assert_false(worker_is_ready(&workers[1]));
    worker_get_ready(&workers[1]);
    assert_true(worker_is_ready(&workers[1]));
    for (int i = 0; i < 2; i++)
        assert_int_equal(run_burst(&workers[i], &pair.run), 2);
    /* No memory for more: it serves on. */
    atomic_store(&pair.max_hits[0], 1000000);
    simulated_fail(0, SIMULATED_OPEN, 1, SL_ENOMEM);
    worker_get_ready(&workers[0]);
    assert_true(worker_is_ready(&workers[0])); /* as it can be */
    assert_int_equal(run_burst(&workers[0], &pair.run), 2);
    close_pair(&pair);
}

/* Where nearly every byte is a hit, those who meet it make room. */
static void test_a_burst_beyond_measure_is_for_one_worker(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair, 1u << 17);
    assert_int_equal(run_burst(&pair.workers[0], &pair.run), 4);
    assert_true(worker_is_ready(&pair.workers[1]));
    assert_int_equal(run_burst(&pair.workers[1], &pair.run), 4);
    close_pair(&pair);
}

static void test_lists_of_devices_are_checked(void **state)
{
    struct run run = {.n_items = 1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    configure(&config, &run, 0);
    config.n_devices = 0;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EINVAL);
    config.n_devices = SL_PIPELINE_DEVICES_MAX + 1;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EINVAL);
    assert_int_equal(run.filled, 0);
}

/* ---- devices that fail ----------------------------------------------------------------------- */

/* Of `n_devices` the first fails at the nth call of a step. The run opens its workers with two
 * contexts each before the first fill. */
static void check_fault(uint32_t n_devices, enum simulated_step step, uint32_t nth,
                        enum sl_status status, bool loads)
{
    const uint32_t n_opened = step == SIMULATED_STAGE  ? N_WORKERS
                              : step == SIMULATED_OPEN ? 2 * N_WORKERS
                                                       : 0;
    struct run run = {.n_items = 1500, .burst = step == SIMULATED_OPEN || nth % 4 == 0 ? 700 : 0};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    simulated_reset(n_devices, 100);
    simulated_fail(0, step, nth, status);
    configure(&config, &run, n_devices);
    config.batch_len = 1u << 17;
    config.prepare = loads ? prepare : NULL;

    const enum sl_status ran = sl_pipeline_run(&config, &stats, &diag);
    const bool failed = simulated_calls(0, step) >= nth;

    if (step == SIMULATED_PINNED && failed && run.filled != 0) { /* more room for hits */
        check_complete(&run, &stats);
        return;
    }
    if (step == SIMULATED_PINNED && failed) {
        assert_int_equal(ran, SL_ENOMEM);
        assert_int_equal(simulated_n_open(), 0);
        return;
    }
    if (nth <= n_opened && n_devices == 1) {
        assert_int_equal(ran, status);
        assert_non_null(strstr(diag.text, "simulated"));
        assert_int_equal(run.filled, 0);
        assert_int_equal(run.n_dropped, 0);
        assert_int_equal(simulated_n_open(), 0);
        return;
    }
    if (ran != SL_OK)
        fail_msg("step %d, call %u, %u devices: %s", step, nth, n_devices, diag.text);
    check_complete(&run, &stats);
    /* What another worker's burst would have made ready serves on as it was. */
    const bool spared = step == SIMULATED_OPEN && nth > n_opened && !stats.devices[0].dropped;
    const bool dropped = failed && !spared;
    assert_int_equal(n_dropped(&stats), dropped);
    assert_int_equal(run.n_dropped, dropped);
    assert_int_equal(stats.devices[0].dropped, dropped);
    assert_int_equal(run.n_redone, stats.devices[0].redone);
    /* Each worker has one batch at most. */
    assert_in_range(stats.devices[0].redone, dropped && nth > n_opened, N_WORKERS);
    if (dropped && nth <= n_opened)
        assert_int_equal(stats.devices[0].redone + stats.devices[0].batches, 0);
    if (n_devices > 1)
        assert_int_equal(stats.n_devices, n_devices);
    else if (dropped)
        assert_int_equal(stats.devices[1].device.kind, SL_DEVICE_CPU);
}

static void test_a_device_may_fail_at_each_step(void **state)
{
    static const enum sl_status statuses[] = {SL_EDEVICE, SL_ENOMEM};

    (void)state;
    for (uint32_t n_devices = 1; n_devices <= 2; n_devices++)
        for (int step = 0; step < SIMULATED_HANG; step++)
            for (uint32_t nth = 1; nth <= 40; nth += nth < 8 ? 1 : 7)
                for (int i = 0; i < 2; i++)
                    check_fault(n_devices, (enum simulated_step)step, nth, statuses[i],
                                nth % 2 != 0);
}

/* A wait that never returns: the device is dropped as for a failure, and in time. */
static void check_hang(uint32_t n_devices, uint32_t nth, bool fails_too)
{
    enum { MAX_WAIT_MS = 30 };
    struct run run = {.n_items = 1500, .burst = nth % 3 == 0 ? 700 : 0};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    simulated_reset(n_devices, 100);
    simulated_fail(0, SIMULATED_HANG, nth, SL_EDEVICE);
    if (fails_too)
        simulated_fail(0, SIMULATED_SUBMIT, nth / 2 + 1, SL_EDEVICE);
    configure(&config, &run, n_devices);
    config.batch_len = 1u << 17;
    config.max_wait_ms = MAX_WAIT_MS;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    check_complete(&run, &stats);

    /* The last waits are those that close; a device that hangs there has done its work. */
    const bool hung = device_is_hung(0);
    assert_int_equal(hung, simulated_calls(0, SIMULATED_HANG) >= nth);
    assert_int_equal(simulated_n_left() > 0, hung);
    assert_int_equal(run.n_dropped, stats.devices[0].dropped);
    if (stats.devices[0].dropped) {
        assert_in_range(stats.devices[0].redone, 1, N_WORKERS);
        assert_int_equal(stats.n_devices, 2);
        assert_true(stats.devices[1].batches > 0);
    }
    if (stats.devices[0].dropped && !fails_too && strstr(stats.devices[0].why, "it hangs") == NULL)
        fail_msg("%u devices, wait %u: %s", n_devices, nth, stats.devices[0].why);
    simulated_reset(0, 0); /* which ends what hung: all of it is still there */
    assert_int_equal(simulated_n_left(), 0);
}

static void test_a_device_that_hangs_is_dropped(void **state)
{
    (void)state;
    for (uint32_t n_devices = 1; n_devices <= 2; n_devices++)
        for (uint32_t nth = 1; nth <= 24; nth += nth < 8 ? 1 : 4)
            for (int fails_too = 0; fails_too < 2; fails_too++)
                check_hang(n_devices, nth, fails_too);
}

static void test_all_devices_may_fail_one_after_another(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        struct run run = {.n_items = 4000};
        struct sl_pipeline_config config;
        struct sl_pipeline_stats stats;
        struct sl_diag diag = {0};

        simulated_reset(3, 100);
        for (int d = 0; d < 3; d++)
            simulated_fail(d, SIMULATED_UPLOAD + (enum simulated_step)((round + d) % 4),
                           1 + (round + 7 * (uint32_t)d) % 11, SL_EDEVICE);
        configure(&config, &run, 3);
        config.prepare = round % 2 != 0 ? prepare : NULL;
        config.n_batches = round % 3 != 0 ? 0 : 1 + round % 16;
        assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
        check_complete(&run, &stats);
        /* With few in flight one of them may have had too little to do to fail. */
        assert_int_equal(run.n_dropped, n_dropped(&stats));
        if (stats.n_devices == 4) {
            assert_int_equal(run.n_dropped, 3);
            assert_true(stats.devices[3].batches > 0);
        }
    }
}

/* The GPU's other worker may wake long after the CPU has gone on: it is nobody to wait for. */
static void test_the_cpu_waits_for_no_worker_of_a_dropped_device(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        struct run run = {.n_items = 300};
        struct sl_pipeline_config config;
        struct sl_pipeline_stats stats;
        struct sl_diag diag = {0};

        simulated_reset(1, 0);
        simulated_fail(0, SIMULATED_UPLOAD, 1 + round % 3, SL_EDEVICE);
        configure(&config, &run, 1);
        config.devices[1].kind = SL_DEVICE_CPU;
        config.n_devices = 2;
        config.n_workers = 8;
        config.n_batches = 1;
        assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
        check_complete(&run, &stats);
    }
}

static void test_a_failure_on_the_last_batch_is_made_good(void **state)
{
    (void)state;
    for (int step = SIMULATED_UPLOAD; step < SIMULATED_HANG; step++)
        for (uint32_t n_devices = 1; n_devices <= 2; n_devices++) {
            struct run run = {.n_items = 10};
            struct sl_pipeline_config config;
            struct sl_pipeline_stats stats;
            struct sl_diag diag = {0};

            simulated_reset(n_devices, 0);
            for (int d = 0; d < (int)n_devices; d++)
                simulated_fail(d, (enum simulated_step)step, 1, SL_EDEVICE);
            configure(&config, &run, n_devices);
            assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
            check_complete(&run, &stats);
            assert_int_equal(stats.batches, 1);
            assert_int_equal(stats.n_devices, n_devices + 1);
            assert_int_equal(stats.devices[n_devices].batches, 1);
            assert_int_equal(run.n_redone, n_devices);
        }
}

/* A bug is no failure of a device. */
static void test_a_wrong_call_ends_the_run(void **state)
{
    struct run run = {.n_items = 4000};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    simulated_reset(2, 100);
    simulated_fail(1, SIMULATED_SUBMIT, 3, SL_EINVAL);
    configure(&config, &run, 2);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EINVAL);
    assert_true(run.drained < run.n_items);
    assert_int_equal(run.n_dropped, 0);
    assert_int_equal(simulated_n_open(), 0);
}

static void test_tables_that_the_cpu_cannot_use_end_the_run(void **state)
{
    struct run run = {.n_items = 4000};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    simulated_reset(1, 100);
    simulated_fail(0, SIMULATED_WAIT, 9, SL_EDEVICE);
    configure(&config, &run, 1);
    atomic_store(&tables[1].opens_left, N_WORKERS); /* the GPU's */
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EUNSUPPORTED);
    assert_non_null(strstr(diag.text, "failed")); /* at what, the first of the workers says */
    assert_non_null(strstr(diag.text, "the CPU cannot take over: not for CPUs"));
    assert_int_equal(run.n_dropped, 1);
    assert_int_equal(simulated_n_open(), 0);
}

/* It has no context any more for the engine that found no room. */
static void test_a_worker_that_failed_is_taken_by_nobody(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 150; round++) {
        struct run run = {.n_items = 400, .burst = 20 + round % 100, .items_a_batch = 1};
        struct sl_pipeline_config config;
        struct sl_pipeline_stats stats;
        struct sl_diag diag = {0};

        simulated_reset(0, 0);
        configure(&config, &run, 0);
        config.n_workers = 16;
        config.batch_len = 1u << 17;
        atomic_store(&tables[0].opens_left, (int)config.n_workers);
        assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EUNSUPPORTED);
        assert_true(run.drained < run.burst);
    }
}

/* ---- looking and measuring ------------------------------------------------------------------- */

struct watcher {
    struct sl_pipeline_monitor *monitor;
    atomic_bool stop;
    uint32_t n_wrong;
};

static void *watch(void *argument)
{
    struct watcher *watcher = argument;
    struct sl_pipeline_snapshot now;

    while (!atomic_load(&watcher->stop)) {
        uint32_t n = 0;

        sl_pipeline_snapshot(watcher->monitor, &now);
        for (int s = 0; s < SL_PIPELINE_N_STAGES; s++)
            n += now.stage[s].waiting + now.stage[s].busy;
        watcher->n_wrong += now.running && n != 9;
        usleep(50);
    }
    return NULL;
}

static void test_no_batch_is_lost_from_sight(void **state)
{
    struct watcher watcher = {.n_wrong = 0};
    pthread_t thread;

    (void)state;
    assert_int_equal(sl_pipeline_monitor_create(&watcher.monitor, NULL), SL_OK);
    pthread_create(&thread, NULL, watch, &watcher);
    for (uint32_t nth = 1; nth < 30; nth++) {
        struct run run = {.n_items = 2000};
        struct sl_pipeline_config config;
        struct sl_pipeline_stats stats;
        struct sl_diag diag = {0};

        simulated_reset(2, 50);
        simulated_fail(0, SIMULATED_HITS, nth, SL_EDEVICE);
        simulated_fail(1, SIMULATED_UPLOAD, nth, SL_EDEVICE);
        configure(&config, &run, 2);
        config.prepare = nth % 2 != 0 ? prepare : NULL;
        config.n_batches = 9;
        config.monitor = watcher.monitor;
        config.latency = true;
        assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
        check_complete(&run, &stats);
    }
    atomic_store(&watcher.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(watcher.n_wrong, 0);
    sl_pipeline_monitor_free(watcher.monitor);
}

static void test_latency_is_from_arrival_to_the_end_of_drain(void **state)
{
    enum { DRAIN_US = 3000 };
    struct run run = {.n_items = 500, .drain_us = DRAIN_US};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    configure(&config, &run, 0);
    config.latency = true;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_int_equal(stats.latency.packets, 500);
    assert_true(stats.latency.p50_ns >= DRAIN_US * 1000);
    assert_true(stats.latency.p50_ns <= stats.latency.p99_ns);
    assert_true(stats.latency.p99_ns <= stats.latency.p999_ns);
    assert_true(stats.latency.p999_ns <= stats.latency.max_ns);
    assert_true(stats.latency.max_ns <= stats.seconds_ns);

    run = (struct run){.n_items = 500};
    config.latency = false;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_int_equal(stats.latency.packets, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_do_not_depend_on_devices_sizes_and_flight),
        cmocka_unit_test(test_free_devices_take_the_batches),
        cmocka_unit_test(test_threads_share_a_device_s_workers),
        cmocka_unit_test(test_who_is_told_twice_tells_another),
        cmocka_unit_test(test_a_burst_makes_workers_ready_between_batches),
        cmocka_unit_test(test_who_digests_keeps_no_worker),
        cmocka_unit_test(test_the_cpu_takes_what_gpus_cannot),
        cmocka_unit_test(test_bursts_make_room_on_the_device),
        cmocka_unit_test(test_a_burst_makes_all_workers_ready),
        cmocka_unit_test(test_a_burst_beyond_measure_is_for_one_worker),
        cmocka_unit_test(test_lists_of_devices_are_checked),
        cmocka_unit_test(test_a_device_may_fail_at_each_step),
        cmocka_unit_test(test_a_device_that_hangs_is_dropped),
        cmocka_unit_test(test_all_devices_may_fail_one_after_another),
        cmocka_unit_test(test_the_cpu_waits_for_no_worker_of_a_dropped_device),
        cmocka_unit_test(test_a_failure_on_the_last_batch_is_made_good),
        cmocka_unit_test(test_a_wrong_call_ends_the_run),
        cmocka_unit_test(test_tables_that_the_cpu_cannot_use_end_the_run),
        cmocka_unit_test(test_a_worker_that_failed_is_taken_by_nobody),
        cmocka_unit_test(test_no_batch_is_lost_from_sight),
        cmocka_unit_test(test_latency_is_from_arrival_to_the_end_of_drain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
