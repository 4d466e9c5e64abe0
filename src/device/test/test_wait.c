/* SPDX-License-Identifier: MIT */
/* Waiting ends with what is waited for, or in time. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/wait.h"

enum { HUNG = 3, WELL = 4 };

struct work {
    uint32_t polls_left; /* until it has ended; UINT32_MAX: it never does */
    enum sl_status status;
    uint64_t asked;
};

static bool ended(void *what, enum sl_status *status)
{
    struct work *work = what;

    work->asked++;
    *status = work->status; /* it counts where it has ended */
    return work->polls_left != UINT32_MAX && work->polls_left-- == 0;
}

static int reset(void **state)
{
    (void)state;
    device_set_hung(HUNG, false);
    return 0;
}

static void test_what_ends_is_waited_for(void **state)
{
    (void)state;
    for (uint32_t polls = 0; polls < 1000; polls += polls + 1)
        for (uint32_t ms = 0; ms <= 10000; ms += 10000) {
            struct work good = {polls, SL_OK, 0}, bad = {polls, SL_EDEVICE, 0};

            assert_int_equal(device_wait(HUNG, ms, ended, &good), SL_OK);
            assert_int_equal(device_wait(HUNG, ms, ended, &bad), SL_EDEVICE);
            good.polls_left = bad.polls_left = polls;
            assert_int_equal(device_spin(HUNG, ms, ended, &good), SL_OK);
            assert_int_equal(device_spin(HUNG, ms, ended, &bad), SL_EDEVICE);
            assert_int_equal(good.asked, 2 * (polls + 1));
            assert_false(device_is_hung(HUNG)); /* it failed, and in time */
        }
}

static void test_what_does_not_end_is_given_up(void **state)
{
    struct work endless = {UINT32_MAX, SL_OK, 0}, done = {0, SL_OK, 0};

    (void)state;
    const uint64_t begin = clock_ns();
    assert_int_equal(device_wait(HUNG, 30, ended, &endless), SL_EDEVICE);
    const uint64_t waited = clock_ns() - begin;
    assert_true(waited >= 30000000);
    assert_true(endless.asked <= waited / 1000); /* and rested in between */
    assert_true(device_is_hung(HUNG));
    assert_true(device_any_hung());

    /* It is not asked again, and others are. */
    done.asked = 0;
    assert_int_equal(device_wait(HUNG, 0, ended, &done), SL_EDEVICE);
    assert_int_equal(done.asked, 0);
    assert_false(device_is_hung(WELL));
    assert_int_equal(device_wait(WELL, 0, ended, &done), SL_OK);
    assert_int_equal(device_spin(WELL, 30, ended, &endless), SL_EDEVICE);
    assert_true(device_is_hung(WELL));
    device_set_hung(WELL, false);
}

/* The thread loses its core just behind the question, for longer than the limit: a machine that is
 * busy, a process that was stopped. */
static bool ended_while_away(void *what, enum sl_status *status)
{
    uint32_t *asked = what;

    *status = SL_OK;
    if ((*asked)++ == 0)
        usleep(60000);
    return *asked > 1;
}

static void test_a_thread_that_was_away_polls_again(void **state)
{
    uint32_t asked = 0;

    (void)state;
    assert_int_equal(device_wait(HUNG, 30, ended_while_away, &asked), SL_OK);
    asked = 0;
    assert_int_equal(device_spin(HUNG, 30, ended_while_away, &asked), SL_OK);
    assert_false(device_is_hung(HUNG));
}

static void *find_it_hung(void *argument)
{
    (void)argument;
    usleep(20000);
    device_set_hung(HUNG, true);
    return NULL;
}

static void test_a_waiting_thread_sees_what_others_found(void **state)
{
    struct work endless = {UINT32_MAX, SL_OK, 0};
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, find_it_hung, NULL);
    assert_int_equal(device_wait(HUNG, 0, ended, &endless), SL_EDEVICE);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_ends_is_waited_for, reset, reset),
        cmocka_unit_test_setup_teardown(test_what_does_not_end_is_given_up, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_thread_that_was_away_polls_again, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_waiting_thread_sees_what_others_found, reset, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
