/* SPDX-License-Identifier: MIT */
/* Signals and waiters: each signal is for one thread more. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "pipeline/pipeline_state.h"

enum { THREADS = 5 };

/* A lane's waiters. One of them watches, the others sleep. */
struct waiters {
    struct pipeline *pipeline;
    pthread_cond_t ready;
    struct watch watch;
    uint32_t n_waiting, n_back; /* guarded by the pipeline's lock */
    uint64_t awake_ns;
};

static void *wait_once(void *argument)
{
    struct waiters *waiters = argument;
    struct pipeline *pipeline = waiters->pipeline;

    pthread_mutex_lock(&pipeline->lock);
    waiters->n_waiting++;
    pipeline_wait(pipeline, &waiters->ready, &waiters->watch, clock_ns() + waiters->awake_ns);
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

/* So many signals at once wake as many threads, whether one of them is awake or not. */
static void check_signals(uint64_t awake_ns, uint32_t n_signals)
{
    static const struct sl_pipeline_config config = {.n_devices = 0};
    struct pipeline pipeline = {.config = &config, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct waiters waiters = {
        .pipeline = &pipeline, .ready = PTHREAD_COND_INITIALIZER, .awake_ns = awake_ns};
    pthread_t threads[THREADS];

    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_once, &waiters), 0);
    expect(&waiters, &waiters.n_waiting, THREADS);
    pthread_mutex_lock(&pipeline.lock);
    const uint32_t before = waiters.n_back; /* it was awake, and no signal came */

    for (uint32_t i = 0; i < n_signals; i++)
        pipeline_signal(&waiters.ready, &waiters.watch);
    pthread_mutex_unlock(&pipeline.lock);
    expect(&waiters, &waiters.n_back, before + n_signals);
    for (uint32_t i = before + n_signals; i < THREADS; i++)
        signal_once(&waiters);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(waiters.n_back, THREADS);
}

static void test_a_signal_is_for_one_thread_more(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < THREADS; n++) {
        check_signals(UINT64_C(60000000000), n);
        check_signals(1, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signal_is_for_one_thread_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
