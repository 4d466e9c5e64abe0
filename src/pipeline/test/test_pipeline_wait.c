/* SPDX-License-Identifier: MIT */
/* Signals and waiters: each signal is for one thread more. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "pipeline/pipeline_state.h"

enum { THREADS = 5, SECOND_NS = 1000000000 };

/* A lane's waiters. The first of them stay awake, the others sleep. */
struct waiters {
    struct pipeline *pipeline;
    pthread_cond_t ready;
    struct watch watch;
    uint32_t n_waiting, n_back; /* guarded by the pipeline's lock */
    uint32_t n_awake;
    uint64_t awake_ns;
};

static void *wait_once(void *argument)
{
    struct waiters *waiters = argument;
    struct pipeline *pipeline = waiters->pipeline;

    pthread_mutex_lock(&pipeline->lock);
    const bool is_awake = waiters->n_waiting++ < waiters->n_awake;

    pipeline_wait(pipeline, &waiters->ready, &waiters->watch,
                  is_awake ? clock_ns() + waiters->awake_ns : 0);
    waiters->n_back++;
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

static void signal_once(struct waiters *waiters)
{
    pthread_mutex_lock(&waiters->pipeline->lock);
    pipeline_signal(&waiters->ready, &waiters->watch);
    pthread_mutex_unlock(&waiters->pipeline->lock);
}

/* Waits until the count is so high. */
static void expect(struct waiters *waiters, const uint32_t *count, uint32_t n)
{
    uint32_t now = 0;

    for (int ms = 0; now < n && ms < 20000; ms++) {
        pthread_mutex_lock(&waiters->pipeline->lock);
        now = *count;
        pthread_mutex_unlock(&waiters->pipeline->lock);
        usleep(1000);
    }
    assert_int_equal(now, n);
}

/* So many signals at once wake as many threads, however many of them are awake. */
static void check_signals(uint32_t n_awake, uint32_t n_signals)
{
    static const struct sl_pipeline_config config = {.n_devices = 0};
    struct pipeline pipeline = {.config = &config, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiters waiters = {.pipeline = &pipeline,
                              .ready = PTHREAD_COND_INITIALIZER,
                              .n_awake = n_awake,
                              .awake_ns = UINT64_C(60) * SECOND_NS};
    pthread_t threads[THREADS];

    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_once, &waiters), 0);
    expect(&waiters, &waiters.n_waiting, THREADS);
    pthread_mutex_lock(&pipeline.lock);
    for (uint32_t i = 0; i < n_signals; i++)
        pipeline_signal(&waiters.ready, &waiters.watch);
    pthread_mutex_unlock(&pipeline.lock);
    expect(&waiters, &waiters.n_back, n_signals);
    for (uint32_t i = n_signals; i < THREADS; i++)
        signal_once(&waiters);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(waiters.n_back, THREADS);
    assert_int_equal(waiters.watch.n_unsignalled, 0);
    assert_int_equal(atomic_load(&waiters.watch.n_signals), 0);
}

static void test_a_signal_is_for_one_thread_more(void **state)
{
    (void)state;
    for (uint32_t n_awake = 0; n_awake <= THREADS; n_awake++)
        for (uint32_t n = 1; n < THREADS; n++)
            check_signals(n_awake, n);
}

/* A thread that was awake for its time returns, and takes no signal with it. */
static void test_waiting_awake_ends(void **state)
{
    struct pipeline pipeline = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiters waiters = {.pipeline = &pipeline,
                              .ready = PTHREAD_COND_INITIALIZER,
                              .n_awake = 1,
                              .awake_ns = SECOND_NS / 100};

    (void)state;
    wait_once(&waiters);
    assert_int_equal(waiters.watch.n_unsignalled, 0);
    assert_int_equal(atomic_load(&waiters.watch.n_signals), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signal_is_for_one_thread_more),
        cmocka_unit_test(test_waiting_awake_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
