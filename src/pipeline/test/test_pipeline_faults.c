/* SPDX-License-Identifier: MIT */
/* The pipeline on simulated GPUs that fail at any of their steps, or hang. */
#include "test.h"

#include "device/test/simulated.h"
#include "device/wait.h"
#include "device_run.h"

static uint32_t n_dropped(const struct sl_pipeline_stats *stats)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < stats->n_devices; d++)
        n += stats->devices[d].dropped;
    return n;
}

/* The first of `n_devices` fails at the nth call of a step. The run opens its workers, with two
 * contexts each, before the first fill. */
static void check_fault(uint32_t n_devices, enum simulated_step step, uint32_t nth,
                        enum sl_status status, bool loads)
{
    const uint32_t n_opened = step == SIMULATED_STAGE  ? N_WORKERS
                              : step == SIMULATED_OPEN ? 2 * N_WORKERS
                                                       : 0;
    struct run run = {.n_items = 1500, .burst = step == SIMULATED_OPEN || nth % 4 == 0 ? 700 : 0};

    simulated_reset(n_devices, 100);
    simulated_fail(0, step, nth, status);
    device_run_init(&run, n_devices);
    run.config.batch_len = 1u << 17;
    run.config.prepare = loads ? device_run_prepare : NULL;

    const enum sl_status ran = device_run_start(&run);
    const bool failed = simulated_calls(0, step) >= nth;

    if (step == SIMULATED_PINNED && failed && ran == SL_OK) { /* more room for hits */
        device_run_check(&run);
        return;
    }
    if (step == SIMULATED_PINNED && failed) { /* of the first batch, while others may be filled */
        assert_int_equal(ran, SL_ENOMEM);
        assert_int_equal(simulated_n_open(), 0);
        return;
    }
    if (nth <= n_opened && n_devices == 1) {
        assert_int_equal(ran, status);
        assert_non_null(strstr(run.diag.text, "simulated"));
        assert_int_equal(run.filled, 0);
        assert_int_equal(run.n_dropped, 0);
        assert_int_equal(simulated_n_open(), 0);
        return;
    }
    if (ran != SL_OK)
        fail_msg("step %d, call %u, %u devices: %s", step, nth, n_devices, run.diag.text);
    assert_string_equal(run.diag.text, ""); /* a call that succeeds does not change it */
    device_run_check(&run);
    /* A worker that could not get more room goes on with the room it has. */
    const bool spared = step == SIMULATED_OPEN && nth > n_opened && !run.stats.devices[0].dropped;
    const bool dropped = failed && !spared;
    assert_int_equal(n_dropped(&run.stats), dropped);
    assert_int_equal(run.n_dropped, dropped);
    assert_int_equal(run.stats.devices[0].dropped, dropped);
    assert_int_equal(run.n_redone, run.stats.devices[0].redone);
    /* Each worker has one batch at most. */
    assert_in_range(run.stats.devices[0].redone, dropped && nth > n_opened, N_WORKERS);
    if (dropped && nth <= n_opened)
        assert_int_equal(run.stats.devices[0].redone + run.stats.devices[0].batches, 0);
    if (n_devices > 1)
        assert_int_equal(run.stats.n_devices, n_devices);
    else if (dropped)
        assert_int_equal(run.stats.devices[1].device.kind, SL_DEVICE_CPU);
}

static void test_a_device_may_fail_at_each_step(void **state)
{
    static const enum sl_status statuses[] = {SL_EDEVICE, SL_ENOMEM};
    uint32_t n_tried = 0;

    (void)state;
    for (uint32_t n_devices = 1; n_devices <= 2; n_devices++)
        for (int step = 0; step < SIMULATED_HANG; step++)
            for (uint32_t nth = 1; nth <= 40; nth += nth < 8 ? 1 : 7)
                for (int i = 0; i < 2; i++)
                    if (n_tried++ % SLOWER == 0)
                        check_fault(n_devices, (enum simulated_step)step, nth, statuses[i],
                                    nth % 2 != 0);
}

/* What hangs writes hits while others have the batch. */
static enum sl_status write_late(void *user, const struct sl_batch *batch,
                                 const struct sl_hits *hits, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)hits;
    (void)diag;
    simulated_write_late();
    return SL_OK;
}

/* A wait that never returns: the device is dropped as for a failure, and in time. */
static void check_hang(uint32_t n_devices, uint32_t nth, bool fails_too)
{
    enum { MAX_WAIT_MS = 30 };
    struct run run = {.n_items = 1500, .burst = nth % 3 == 0 ? 700 : 0};

    simulated_reset(n_devices, 100);
    simulated_fail(0, SIMULATED_HANG, nth, SL_EDEVICE);
    if (fails_too)
        simulated_fail(0, SIMULATED_SUBMIT, nth / 2 + 1, SL_EDEVICE);
    device_run_init(&run, n_devices);
    run.config.batch_len = 1u << 17;
    run.config.max_wait_ms = MAX_WAIT_MS;
    run.config.digest = write_late;
    device_run_complete(&run);

    /* The last waits are those that close; a device that hangs there has done its work. */
    const bool hung = device_is_hung(0);
    assert_int_equal(hung, simulated_calls(0, SIMULATED_HANG) >= nth);
    assert_int_equal(simulated_n_left() > 0, hung);
    assert_int_equal(run.n_dropped, run.stats.devices[0].dropped);
    if (run.stats.devices[0].dropped) {
        assert_in_range(run.stats.devices[0].redone, 1, N_WORKERS);
        assert_int_equal(run.stats.n_devices, 2);
        assert_true(run.stats.devices[1].batches > 0);
    }
    if (run.stats.devices[0].dropped && !fails_too &&
        strstr(run.stats.devices[0].why, "it hangs") == NULL)
        fail_msg("%u devices, wait %u: %s", n_devices, nth, run.stats.devices[0].why);
    simulated_reset(0, 0); /* ends what hung: all of its memory is still there */
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
    for (uint32_t round = 0; round < 30 / SLOWER; round++) {
        struct run run = {.n_items = 4000};

        simulated_reset(3, 100);
        for (int d = 0; d < 3; d++)
            simulated_fail(d, SIMULATED_UPLOAD + (enum simulated_step)((round + d) % 4),
                           1 + (round + 7 * (uint32_t)d) % 11, SL_EDEVICE);
        device_run_init(&run, 3);
        run.config.prepare = round % 2 != 0 ? device_run_prepare : NULL;
        run.config.n_batches = round % 3 != 0 ? 0 : 1 + round % 16;
        device_run_complete(&run);
        /* With few in flight one of them may have had too little to do to fail. */
        assert_int_equal(run.n_dropped, n_dropped(&run.stats));
        if (run.stats.n_devices == 4) {
            assert_int_equal(run.n_dropped, 3);
            assert_true(run.stats.devices[3].batches > 0);
        }
    }
}

/* The GPU's other worker may wake long after the CPU has gone on: it is nobody to wait for. */
static void test_the_cpu_waits_for_no_worker_of_a_dropped_device(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300 / SLOWER; round++) {
        struct run run = {.n_items = 300};

        simulated_reset(1, 0);
        simulated_fail(0, SIMULATED_UPLOAD, 1 + round % 3, SL_EDEVICE);
        device_run_init(&run, 1);
        run.config.devices[1].kind = SL_DEVICE_CPU;
        run.config.n_devices = 2;
        run.config.n_workers = 8;
        run.config.n_batches = 1;
        device_run_complete(&run);
    }
}

static void test_a_failure_on_the_last_batch_is_made_good(void **state)
{
    (void)state;
    for (int step = SIMULATED_UPLOAD; step < SIMULATED_HANG; step++)
        for (uint32_t n_devices = 1; n_devices <= 2; n_devices++) {
            struct run run = {.n_items = 10};

            simulated_reset(n_devices, 0);
            for (int d = 0; d < (int)n_devices; d++)
                simulated_fail(d, (enum simulated_step)step, 1, SL_EDEVICE);
            device_run_init(&run, n_devices);
            device_run_complete(&run);
            assert_int_equal(run.stats.batches, 1);
            assert_int_equal(run.stats.n_devices, n_devices + 1);
            assert_int_equal(run.stats.devices[n_devices].batches, 1);
            assert_int_equal(run.n_redone, n_devices);
        }
}

/* A bug is no failure of a device. */
static void test_a_wrong_call_ends_the_run(void **state)
{
    struct run run = {.n_items = 4000};

    (void)state;
    simulated_reset(2, 100);
    simulated_fail(1, SIMULATED_SUBMIT, 3, SL_EINVAL);
    device_run_init(&run, 2);
    assert_int_equal(device_run_start(&run), SL_EINVAL);
    assert_true(run.drained < run.n_items);
    assert_int_equal(run.n_dropped, 0);
    assert_int_equal(simulated_n_open(), 0);
}

static void test_tables_that_the_cpu_cannot_use_end_the_run(void **state)
{
    struct run run = {.n_items = 4000};

    (void)state;
    simulated_reset(1, 100);
    simulated_fail(0, SIMULATED_WAIT, 9, SL_EDEVICE);
    device_run_init(&run, 1);
    atomic_store(&device_run_opens_left[1], N_WORKERS); /* the GPU's */
    assert_int_equal(device_run_start(&run), SL_EUNSUPPORTED);
    assert_non_null(strstr(run.diag.text, "failed")); /* at what, the first of the workers says */
    assert_non_null(strstr(run.diag.text, "the CPU cannot take over: not for CPUs"));
    assert_int_equal(run.n_dropped, 1);
    assert_int_equal(simulated_n_open(), 0);
}

/* It has no context any more for the engine that found no room. */
static void test_no_batch_goes_to_a_worker_that_failed(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 150 / SLOWER; round++) {
        struct run run = {.n_items = 400, .burst = 20 + round % 100, .items_a_batch = 1};

        simulated_reset(0, 0);
        device_run_init(&run, 0);
        run.config.n_workers = 16;
        run.config.batch_len = 1u << 17;
        atomic_store(&device_run_opens_left[0], (int)run.config.n_workers);
        assert_int_equal(device_run_start(&run), SL_EUNSUPPORTED);
        assert_true(run.drained < run.burst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_device_may_fail_at_each_step),
        cmocka_unit_test(test_a_device_that_hangs_is_dropped),
        cmocka_unit_test(test_all_devices_may_fail_one_after_another),
        cmocka_unit_test(test_the_cpu_waits_for_no_worker_of_a_dropped_device),
        cmocka_unit_test(test_a_failure_on_the_last_batch_is_made_good),
        cmocka_unit_test(test_a_wrong_call_ends_the_run),
        cmocka_unit_test(test_tables_that_the_cpu_cannot_use_end_the_run),
        cmocka_unit_test(test_no_batch_goes_to_a_worker_that_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
