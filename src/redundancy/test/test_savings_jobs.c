/* SPDX-License-Identifier: MIT */
/* Savings that many threads count: samples have the source that a slow search finds, and no order
 * of threads, parts and batches changes a count. */
#include <pthread.h>

#include "redundancy/savings/savings.h"
#include "redundancy_fixture.h"
#include "test.h"

enum { BATCH = 1 << 18, ITEMS = 300, N_BATCHES = 6, N_THREADS = 4, PACKET_MAX = 1500 };

/* Of traffic: each is slow under a sanitizer. Odd ones have a round trip. */
#ifdef SLUICE_SANITIZED
enum { N_SEEDS = 1 };
#else
enum { N_SEEDS = 4 };
#endif

static struct sl_batch *batches[N_BATCHES];
static struct sl_hits hits[N_BATCHES];
static int64_t now; /* ns */

static void fill(uint64_t seed)
{
    struct traffic traffic;
    uint8_t payload[PACKET_MAX];

    traffic_init(&traffic, seed, 1 << 17);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        struct sl_batch *const batch = batches[b];

        sl_batch_reset(batch);
        while (batch->n_items < ITEMS && sl_batch_fits(batch, sizeof payload)) {
            const uint32_t len = 1 + test_below(&traffic.random, sizeof payload);

            traffic_packet(&traffic, payload, len);
            const uint32_t item = sl_batch_add(batch, payload, len, 0);
            batch->origin[item].time_ns = now += 100000;
            batch->origin[item].flow = 1 + test_below(&traffic.random, 9);
        }
        fixture_sample(batch, 32, 16, &hits[b]);
    }
    traffic_free(&traffic);
}

static struct sl_savings *create(uint64_t index_len, uint32_t rtt_ms)
{
    struct sl_savings_config config;
    struct sl_savings *savings;
    struct sl_diag diag;

    sl_savings_config_init(&config);
    config.redundancy.cache_len = 1 << 20;
    config.redundancy.index_len = index_len;
    config.redundancy.batch_len = BATCH + ITEMS * SL_BATCH_ALIGN;
    config.redundancy.max_items = ITEMS;
    config.redundancy.frame_max = PACKET_MAX;
    config.interval_len = BATCH * 2;
    config.rtt_ms = rtt_ms;
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    return savings;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* A sample: its fingerprint, where it lies in the log, and where its source should. */
struct seen {
    uint64_t id, offset, expected;
};

static int by_id(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_offset(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* All samples in the order of the log, each with the newest before it of the same fingerprint. */
static struct seen *expect_sources(size_t *n)
{
    struct seen *seen;
    uint64_t begin = 0;

    *n = 0;
    for (uint32_t b = 0; b < N_BATCHES; b++)
        *n += hits[b].n;
    seen = malloc(*n * sizeof *seen);
    *n = 0;
    for (uint32_t b = 0; b < N_BATCHES; b++)
        for (uint32_t item = 0, i = 0; item < batches[b]->n_items; item++) {
            for (; i < hits[b].n && hits[b].hit[i].item == item; i++)
                seen[(*n)++] = (struct seen){hits[b].hit[i].id, begin + hits[b].hit[i].offset, 0};
            begin += (batches[b]->payload[item].len + SL_BATCH_ALIGN - 1) / SL_BATCH_ALIGN *
                     SL_BATCH_ALIGN;
        }
    qsort(seen, *n, sizeof *seen, by_id);
    for (size_t i = 0; i < *n; i++)
        seen[i].expected =
            i > 0 && seen[i - 1].id == seen[i].id ? seen[i - 1].offset : SEARCH_NOWHERE;
    qsort(seen, *n, sizeof *seen, by_offset);
    return seen;
}

static void test_sources_are_the_newest(void **state)
{
    struct sl_savings *savings = create(64 << 20, 0); /* loses no entry of so few */
    struct savings_job *job;
    struct sl_diag diag;
    size_t n, at = 0, others = 0, found = 0;

    (void)state;
    fill(1);
    struct seen *seen = expect_sources(&n);
    assert_int_equal(savings_job_create(&job, savings, &diag), SL_OK);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        assert_int_equal(savings_sample(savings, job, batches[b], &hits[b], &diag), SL_OK);
        for (uint32_t part = CACHE_PARTS; part-- > 0;)
            savings_take(savings, job, batches[b], part);
        savings_match(savings, job, batches[b]);
        assert_true(job->cached.n == hits[b].n);
        for (size_t i = 0; i < job->cached.n; i++, at++) {
            others += job->cached.source[i] != seen[at].expected;
            found += seen[at].expected != SEARCH_NOWHERE;
        }
    }
    assert_true(at == n && found > n / 8);
    /* Two fingerprints with one tag in one bucket are taken for the same. */
    assert_true(others <= n / 1000);
    savings_job_free(job);
    sl_savings_free(savings);
    free(seen);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    struct sl_savings *savings;
    struct savings_job **jobs;
    uint32_t number;
};

static void *take_parts(void *argument)
{
    const struct worker *const worker = argument;

    for (uint32_t part = worker->number; part < CACHE_PARTS; part += N_THREADS)
        for (uint32_t b = 0; b < N_BATCHES; b++)
            savings_take(worker->savings, worker->jobs[b], batches[b], part);
    return NULL;
}

static void *match_batches(void *argument)
{
    const struct worker *const worker = argument;

    for (uint32_t b = N_BATCHES; b-- > 0;)
        if (b % N_THREADS == worker->number)
            savings_match(worker->savings, worker->jobs[b], batches[b]);
    return NULL;
}

static void run_workers(struct sl_savings *savings, struct savings_job **jobs,
                        void *(*work)(void *worker))
{
    struct worker workers[N_THREADS];

    for (uint32_t i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.savings = savings, .jobs = jobs, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < N_THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

static void count_with_threads(struct sl_savings *savings)
{
    struct savings_job *jobs[N_BATCHES];
    struct sl_diag diag;

    for (uint32_t b = 0; b < N_BATCHES; b++) {
        assert_int_equal(savings_job_create(&jobs[b], savings, &diag), SL_OK);
        assert_int_equal(savings_sample(savings, jobs[b], batches[b], &hits[b], &diag), SL_OK);
    }
    run_workers(savings, jobs, take_parts);
    run_workers(savings, jobs, match_batches);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        assert_int_equal(savings_add(savings, jobs[b], &diag), SL_OK);
        savings_job_free(jobs[b]);
    }
}

static void check_equal(struct sl_savings *a, struct sl_savings *b)
{
    struct sl_savings_row rows[2][16];
    size_t n[2];

    sl_savings_total(a, &rows[0][0]);
    sl_savings_total(b, &rows[1][0]);
    assert_memory_equal(&rows[0][0], &rows[1][0], sizeof rows[0][0]);
    assert_true(rows[0][0].count.matched_bytes > rows[0][0].count.bytes / 10);
    n[0] = sl_savings_flows(a, rows[0], 16);
    n[1] = sl_savings_flows(b, rows[1], 16);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(rows[0], rows[1], n[0] * sizeof rows[0][0]);

    const struct sl_savings_row *x = sl_savings_intervals(a, &n[0]);
    const struct sl_savings_row *y = sl_savings_intervals(b, &n[1]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(x, y, n[0] * sizeof *x);
}

static void test_threads_change_nothing(void **state)
{
    struct sl_diag diag;

    (void)state;
    for (uint64_t seed = 3; seed < 3 + N_SEEDS; seed++) {
        struct sl_savings *alone = create(0, seed % 2 * 4), *together = create(0, seed % 2 * 4);

        assert_int_equal(savings_set_in_flight(together, N_BATCHES, &diag), SL_OK);
        for (uint64_t round = 0; round < 3; round++) { /* past the end of the cache */
            fill(seed);
            for (uint32_t b = 0; b < N_BATCHES; b++)
                assert_int_equal(sl_savings_batch(alone, batches[b], &hits[b], &diag), SL_OK);
            count_with_threads(together);
            check_equal(alone, together);
        }
        sl_savings_free(alone);
        sl_savings_free(together);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources_are_the_newest),
        cmocka_unit_test(test_threads_change_nothing),
    };
    struct sl_diag diag;

    for (uint32_t b = 0; b < N_BATCHES; b++) {
        if (sl_batch_create(&batches[b], BATCH, ITEMS, &diag) != SL_OK)
            return 1;
        hits[b].cap = BATCH;
        hits[b].hit = malloc(BATCH * sizeof *hits[b].hit);
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        free(hits[b].hit);
        sl_batch_free(batches[b]);
    }
    return failed;
}
