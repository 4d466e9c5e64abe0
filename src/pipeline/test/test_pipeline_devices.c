/* SPDX-License-Identifier: MIT */
/* The pipeline on simulated GPUs: results are the same on any number of them, whatever the sizes.
 */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "device/test/simulated.h"
#include "device_run.h"
#include "pipeline/lane.h"

/* ---- hooks ----------------------------------------------------------------------------------- */

/* A hook: each device keeps its batch until all of them have one. */
static struct {
    atomic_uint n_awaited;
    atomic_uint n_there;
    atomic_bool there[1 + SIMULATED_DEVICES_MAX]; /* the CPU first */
} meeting;

static void meet(const struct sl_batch *batch)
{
    const int which = simulated_is_device() ? 1 + batch->device : 0;

    if (!atomic_exchange(&meeting.there[which], true))
        atomic_fetch_add(&meeting.n_there, 1);
    for (int ms = 0; ms < 60000 && atomic_load(&meeting.n_there) < atomic_load(&meeting.n_awaited);
         ms++)
        usleep(1000);
}

/* A hook: counts the batches that are worked on at once. */
static struct {
    atomic_uint n, most;
} crowd;

static void count_crowd(const struct sl_batch *batch)
{
    const unsigned n = atomic_fetch_add(&crowd.n, 1) + 1;
    unsigned most = atomic_load(&crowd.most);

    (void)batch;
    while (n > most && !atomic_compare_exchange_weak(&crowd.most, &most, n))
        ;
    usleep(1000);
    atomic_fetch_sub(&crowd.n, 1);
}

/* Waits until *n is at least `least`. After the first timeout no thread waits any more. */
static atomic_bool in_vain;

static void await(atomic_uint *n, unsigned least)
{
    for (int ms = 0; atomic_load(n) < least && !atomic_load(&in_vain); ms++) {
        if (ms == 10000)
            atomic_store(&in_vain, true);
        usleep(1000);
    }
}

/* A hook: batches are worked on two by two, and each waits for the other. */
static struct {
    atomic_uint there[4000];
} pairs;

static void meet_the_other(const struct sl_batch *batch)
{
    const uint64_t which = batch->origin[0].position;

    atomic_store(&pairs.there[which], 1);
    await(&pairs.there[which ^ 1], 1);
}

/* A hook: counts the batches of the CPU, for which GPUs wait where `awaited` is set. */
static struct {
    atomic_bool awaited;
    atomic_uint n;
} cpu_work;

static void hold_gpus_up(const struct sl_batch *batch)
{
    (void)batch;
    if (!simulated_is_device())
        atomic_fetch_add(&cpu_work.n, 1);
    else if (atomic_load(&cpu_work.awaited))
        await(&cpu_work.n, 1);
}

/* ---- devices that work ----------------------------------------------------------------------- */

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
                struct run run = {.n_items = sizes[s].n_items / SLOWER,
                                  .items_a_batch = sizes[s].items_a_batch};

                if (sizes[s].batch_len > 1u << 20 && (n_batches > 3 || n_devices > 2))
                    continue;
                simulated_reset(n_devices, 200);
                device_run_init(&run, n_devices);
                run.config.batch_len = sizes[s].batch_len;
                run.config.batch_items = sizes[s].batch_len > 4096 ? 100000 : 64;
                run.config.n_batches = n_batches;
                run.config.n_workers = 1 + n_batches % 3;
                run.config.prepare = n_batches % 2 != 0 ? device_run_prepare : NULL;
                device_run_complete(&run);
                assert_int_equal(run.n_dropped, 0);
                assert_int_equal(run.stats.n_devices, n_devices > 0 ? n_devices : 1);
                assert_string_equal(run.stats.backend[0], n_devices > 0 ? "simulated" : "x");
            }
}

static void test_free_devices_take_the_batches(void **state)
{
    struct run run = {.n_items = 20000};

    (void)state;
    simulated_reset(3, 500);
    device_run_init(&run, 3);
    run.config.devices[3].kind = SL_DEVICE_CPU; /* a device as any other */
    run.config.n_devices = 4;
    atomic_store(&meeting.n_awaited, 4);
    device_run_hook = meet;
    assert_int_equal(device_run_start(&run), SL_OK);
    device_run_hook = NULL;
    device_run_check(&run);
    for (uint32_t d = 0; d < 4; d++)
        assert_true(run.stats.devices[d].batches > 0);
}

static void test_threads_share_a_device_s_workers(void **state)
{
    struct run run = {.n_items = 20000};

    (void)state;
    simulated_reset(1, 0);
    device_run_init(&run, 1);
    run.config.n_workers = 3 * LANE_GPU_WORKERS_MAX;
    device_run_hook = count_crowd;
    assert_int_equal(device_run_start(&run), SL_OK);
    device_run_hook = NULL;
    device_run_check(&run);
    assert_int_equal(run.stats.n_workers, run.config.n_workers);
    assert_true(crowd.most > 1);
    assert_true(crowd.most <= LANE_GPU_WORKERS_MAX);
}

static void run_in_pairs(struct run *run)
{
    simulated_reset(1, 0);
    device_run_init(run, 1);
    run->config.n_batches = 2;
    run->config.batch_len = 8u << 20;
    memset(pairs.there, 0, sizeof pairs.there);
    device_run_hook = meet_the_other;
    assert_int_equal(device_run_start(run), SL_OK);
    device_run_hook = NULL;
    device_run_check(run);
    assert_false(atomic_load(&in_vain));
}

/* Of two threads that wait one is awake, and gets the signals of both batches. */
static void test_a_thread_with_two_signals_wakes_another(void **state)
{
    struct run run = {.n_items = sizeof pairs.there / sizeof *pairs.there, .items_a_batch = 1};

    (void)state;
    run_in_pairs(&run);
}

/* Both workers have batches, and one batch is the burst. */
static void test_a_burst_makes_workers_ready_between_batches(void **state)
{
    struct run run = {.n_items = 100, .items_a_batch = 1, .burst = 1};

    (void)state;
    run_in_pairs(&run);
    assert_int_equal(simulated_calls(0, SIMULATED_OPEN), 2 * 2 * N_WORKERS);
}

/* All threads have hits at once, although there are half as many workers. */
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

static void test_a_thread_that_digests_returns_its_worker(void **state)
{
    struct run run = {.n_items = 2 * LANE_GPU_WORKERS_MAX, .items_a_batch = 1};

    (void)state;
    simulated_reset(1, 0);
    device_run_init(&run, 1);
    run.config.n_workers = 2 * LANE_GPU_WORKERS_MAX;
    run.config.n_batches = 2 * LANE_GPU_WORKERS_MAX;
    run.config.digest = digest_together;
    device_run_hook = count_crowd; /* all batches are there before the first is done */
    assert_int_equal(device_run_start(&run), SL_OK);
    device_run_hook = NULL;
    device_run_check(&run);
    assert_false(atomic_load(&in_vain));
}

/* The first batches keep all workers until a batch behind them is loaded. That one is loaded once
 * they have them. */
static atomic_uint n_held, n_loaded_behind;

static void hold_worker(const struct sl_batch *batch)
{
    atomic_fetch_add(&n_held, batch->origin[0].position < LANE_GPU_WORKERS_MAX);
    await(&n_loaded_behind, 1);
}

static enum sl_status load_behind(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)diag;
    if (batch->origin[0].position >= LANE_GPU_WORKERS_MAX) {
        await(&n_held, LANE_GPU_WORKERS_MAX);
        atomic_fetch_add(&n_loaded_behind, 1);
    }
    return SL_OK;
}

static void test_threads_load_while_all_workers_are_taken(void **state)
{
    struct run run = {.n_items = LANE_GPU_WORKERS_MAX + 1, .items_a_batch = 1};

    (void)state;
    simulated_reset(1, 0);
    device_run_init(&run, 1);
    run.config.n_workers = LANE_GPU_WORKERS_MAX + 1;
    run.config.n_batches = LANE_GPU_WORKERS_MAX + 1;
    run.config.prepare = load_behind;
    device_run_hook = hold_worker;
    assert_int_equal(device_run_start(&run), SL_OK);
    device_run_hook = NULL;
    device_run_check(&run);
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

/* There are twice as many batches as the GPU has workers, or as it has threads. Either the digest
 * step or the GPU waits for the CPU. */
static void check_held_up(uint32_t n_workers, uint32_t n_batches, bool digests)
{
    struct run run = {.n_items = n_batches, .items_a_batch = 1};

    simulated_reset(1, 0);
    device_run_init(&run, 1);
    run.config.devices[1].kind = SL_DEVICE_CPU;
    run.config.n_devices = 2;
    run.config.n_workers = n_workers;
    run.config.n_batches = n_batches;
    run.config.digest = digests ? digest_after_the_cpu : NULL;
    atomic_store(&cpu_work.n, 0);
    atomic_store(&cpu_work.awaited, !digests);
    device_run_hook = hold_gpus_up;
    assert_int_equal(device_run_start(&run), SL_OK);
    device_run_hook = NULL;
    device_run_check(&run);
    assert_false(atomic_load(&in_vain));
}

static void test_the_cpu_takes_what_gpus_cannot(void **state)
{
    (void)state;
    for (int round = 0; round < 20 / SLOWER; round++) {
        check_held_up(2 * LANE_GPU_WORKERS_MAX, 2 * LANE_GPU_WORKERS_MAX, false);
        check_held_up(2, 4, true);
    }
}

/* The time that a batch takes to load is enough for the threads of a GPU to wait for it. */
static enum sl_status load_slowly(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)diag;
    usleep(1000);
    return SL_OK;
}

/* On a busy machine the GPU may be late for a few batches. */
static void test_the_cpu_leaves_batches_to_a_gpu_that_waits(void **state)
{
    struct run run = {.n_items = 300, .items_a_batch = 1};

    (void)state;
    simulated_reset(1, 0);
    device_run_init(&run, 1);
    run.config.devices[1].kind = SL_DEVICE_CPU;
    run.config.n_devices = 2;
    run.config.n_batches = 1;
    run.config.prepare = load_slowly;
    device_run_complete(&run);
    assert_true(run.stats.devices[1].batches < run.n_items / 10);
}

static void test_bursts_make_room_on_the_device(void **state)
{
    (void)state;
    for (uint32_t n_devices = 0; n_devices <= 2; n_devices++) {
        struct run run = {.n_items = 3000, .burst = 1500};

        simulated_reset(n_devices, 100);
        device_run_init(&run, n_devices);
        run.config.batch_len = 1u << 17;
        device_run_complete(&run);
    }
}

/* Runs a batch of one item, with 100,000 hits for either engine. Returns the number of submits. */
static uint32_t run_burst(struct worker *worker, const struct run *run)
{
    const uint32_t before = simulated_calls(0, SIMULATED_SUBMIT);
    struct sl_hits hits[2] = {0};
    struct sl_batch *batch;
    struct sl_diag diag = {0};
    uint32_t len;
    const char *bytes = device_run_bytes(run, 0, &len);

    assert_int_equal(sl_device_batch_create(&batch, SL_DEVICE_CUDA, len, 1, NULL), SL_OK);
    assert_true(sl_batch_fits(batch, len));
    sl_batch_add(batch, bytes, len, 0);
    for (int e = 0; e < 2; e++)
        assert_int_equal(worker_take_hits(worker->config, e, &hits[e], &diag), SL_OK);
    assert_int_equal(worker_run(worker, batch, hits, &diag), SL_OK);
    const bool joins = worker->config->engines[1].joins != 0;

    assert_int_equal(hits[0].n, joins ? 200000 : 100000);
    assert_int_equal(hits[1].n, joins ? 0 : 100000);
    for (size_t i = 1; i < hits[0].n; i++)
        assert_true(hits[0].hit[i - 1].offset <= hits[0].hit[i].offset);
    for (int e = 0; e < 2; e++)
        worker_free_hits(worker->config, &hits[e]);
    sl_batch_free(batch);
    return simulated_calls(0, SIMULATED_SUBMIT) - before;
}

/* Made items that the batch has room for, and those that it has not, also where a GPU fails. */
static void test_made_items_do_not_depend_on_room(void **state)
{
    static const struct {
        uint32_t batch_len, batch_items, most_made;
    } sizes[] = {{4096, 64, 1}, {4096, 64, 9}, {4096, 1, 5}, {1 << 20, 4096, 9}, {64, 64, 100}};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t n_devices = 0; n_devices <= 2; n_devices++)
            for (uint32_t nth = 0; nth < 4; nth++) {
                struct run run = {.n_items = 500, .most_made = sizes[s].most_made};

                simulated_reset(n_devices, 50);
                if (nth != 0 && n_devices != 0)
                    simulated_fail(0, nth == 1 ? SIMULATED_HITS : SIMULATED_UPLOAD, 5 * nth,
                                   SL_EDEVICE);
                device_run_init(&run, n_devices);
                run.config.batch_len = sizes[s].batch_len;
                run.config.batch_items = sizes[s].batch_items;
                run.config.make = device_run_make;
                run.config.engines[0].scans_made = true;
                device_run_complete(&run);
            }
}

/* Two workers of a GPU, and the burst that they meet. */
struct pair {
    struct run run;
    struct worker workers[2];
    atomic_uint max_hits[SL_PIPELINE_ENGINES_MAX];
};

static void open_pair(struct pair *pair, uint32_t batch_len)
{
    struct sl_diag diag = {0};

    memset(pair, 0, sizeof *pair);
    pair->run = (struct run){.n_items = 1, .burst = 1};
    simulated_reset(1, 0);
    device_run_init(&pair->run, 1);
    pair->run.config.batch_len = batch_len;
    for (int i = 0; i < 2; i++)
        assert_int_equal(worker_open(&pair->workers[i], &pair->run.config,
                                     &pair->run.config.devices[0], pair->max_hits, &diag),
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
    /* Without memory for more room the worker goes on. */
    atomic_store(&pair.max_hits[0], 1000000);
    simulated_fail(0, SIMULATED_OPEN, 1, SL_ENOMEM);
    worker_get_ready(&workers[0]);
    assert_true(worker_is_ready(&workers[0])); /* as it can be */
    assert_int_equal(run_burst(&workers[0], &pair.run), 2);
    close_pair(&pair);
}

/* Where nearly every byte is a hit, only the worker that meets the burst makes room. */
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

/* Hits that become another engine's are in order with its own. */
static void test_hits_join_those_of_another_engine(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair, 8u << 20);
    pair.run.config.engines[1].joins = 1;
    assert_int_equal(run_burst(&pair.workers[0], &pair.run), 4);
    assert_int_equal(run_burst(&pair.workers[0], &pair.run), 2);
    close_pair(&pair);
}

static void test_lists_of_devices_are_checked(void **state)
{
    struct run run = {.n_items = 1};

    (void)state;
    device_run_init(&run, 0);
    run.config.n_devices = 0;
    assert_int_equal(device_run_start(&run), SL_EINVAL);
    run.config.n_devices = SL_PIPELINE_DEVICES_MAX + 1;
    assert_int_equal(device_run_start(&run), SL_EINVAL);
    run.config.n_devices = 1;
    run.config.engines[1].joins = 2; /* itself */
    assert_int_equal(device_run_start(&run), SL_EINVAL);
    assert_int_equal(run.filled, 0);
}

/* ---- snapshots and latency ------------------------------------------------------------------- */

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
        for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
            n += now.stage[s].waiting + now.stage[s].busy;
        watcher->n_wrong += now.running && n != 9;
        usleep(50);
    }
    return NULL;
}

static void test_snapshots_count_every_batch(void **state)
{
    struct watcher watcher = {.n_wrong = 0};
    pthread_t thread;

    (void)state;
    assert_int_equal(sl_pipeline_monitor_create(&watcher.monitor, NULL), SL_OK);
    pthread_create(&thread, NULL, watch, &watcher);
    for (uint32_t nth = 1; nth < 30; nth += SLOWER) {
        struct run run = {.n_items = 2000};

        simulated_reset(2, 50);
        simulated_fail(0, SIMULATED_HITS, nth, SL_EDEVICE);
        simulated_fail(1, SIMULATED_UPLOAD, nth, SL_EDEVICE);
        device_run_init(&run, 2);
        run.config.prepare = nth % 2 != 0 ? device_run_prepare : NULL;
        run.config.n_batches = 9;
        run.config.monitor = watcher.monitor;
        run.config.latency = true;
        device_run_complete(&run);
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

    (void)state;
    device_run_init(&run, 0);
    run.config.latency = true;
    assert_int_equal(device_run_start(&run), SL_OK);
    assert_int_equal(run.stats.latency.packets, 500);
    assert_true(run.stats.latency.p50_ns >= DRAIN_US * 1000);
    assert_true(run.stats.latency.p50_ns <= run.stats.latency.p99_ns);
    assert_true(run.stats.latency.p99_ns <= run.stats.latency.p999_ns);
    assert_true(run.stats.latency.p999_ns <= run.stats.latency.max_ns);
    assert_true(run.stats.latency.max_ns <= run.stats.wall_ns);

    run = (struct run){.n_items = 500};
    device_run_init(&run, 0);
    assert_int_equal(device_run_start(&run), SL_OK);
    assert_int_equal(run.stats.latency.packets, 0);
}

#define HOUR_NS (3600 * UINT64_C(1000000000))

/* Of three packets the second came an hour before the others. */
static enum sl_status make_second_old(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)diag;
    batch->origin[1].arrival_ns = batch->origin[0].arrival_ns - HOUR_NS;
    batch->origin[2].arrival_ns = batch->origin[0].arrival_ns;
    return SL_OK;
}

static void test_each_packet_of_a_batch_has_its_own_latency(void **state)
{
    struct run run = {.n_items = 3};

    (void)state;
    device_run_init(&run, 0);
    run.config.latency = true;
    run.config.prepare = make_second_old;
    device_run_complete(&run);
    assert_int_equal(run.stats.batches, 1);
    assert_int_equal(run.stats.latency.packets, 3);
    assert_true(run.stats.latency.p50_ns < HOUR_NS);
    assert_true(run.stats.latency.max_ns >= HOUR_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_do_not_depend_on_devices_sizes_and_flight),
        cmocka_unit_test(test_free_devices_take_the_batches),
        cmocka_unit_test(test_threads_share_a_device_s_workers),
        cmocka_unit_test(test_a_thread_with_two_signals_wakes_another),
        cmocka_unit_test(test_a_burst_makes_workers_ready_between_batches),
        cmocka_unit_test(test_a_thread_that_digests_returns_its_worker),
        cmocka_unit_test(test_threads_load_while_all_workers_are_taken),
        cmocka_unit_test(test_the_cpu_takes_what_gpus_cannot),
        cmocka_unit_test(test_the_cpu_leaves_batches_to_a_gpu_that_waits),
        cmocka_unit_test(test_bursts_make_room_on_the_device),
        cmocka_unit_test(test_made_items_do_not_depend_on_room),
        cmocka_unit_test(test_a_burst_makes_all_workers_ready),
        cmocka_unit_test(test_a_burst_beyond_measure_is_for_one_worker),
        cmocka_unit_test(test_hits_join_those_of_another_engine),
        cmocka_unit_test(test_lists_of_devices_are_checked),
        cmocka_unit_test(test_snapshots_count_every_batch),
        cmocka_unit_test(test_latency_is_from_arrival_to_the_end_of_drain),
        cmocka_unit_test(test_each_packet_of_a_batch_has_its_own_latency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
