/* SPDX-License-Identifier: MIT */
/* The steps of a batch, in order or at once, and snapshots of a run. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "slow_engine.h"
#include "sluice/pipeline.h"

enum { N_SHARDS = 5 };

enum step { STEP_NONE, STEP_ARRANGE, STEP_COLLECT, STEP_SETTLE };

/* A run whose batches are filled by preparing them: number n gets one item of n % 50 bytes, none
 * where n is a multiple of seven. */
struct prepared {
    uint32_t collected[N_SHARDS]; /* batches, by shard */
    uint32_t settled[N_SHARDS];   /* the same, with the empty ones */
    uint32_t n_batches, filled, ordered, dealt, decided, drained;
    atomic_uint prepared, arranged, digested;
    uint32_t seen_by_first; /* batches that were prepared, or digested, before it */
    uint32_t fail_prepare_at, fail_order_at, fail_arrange_at, fail_digest_at, fail_report_at;
    uint32_t wait_for;         /* batches that are to be prepared before number 0 is */
    uint32_t digest_waits_for; /* and digested before number 1 is: 0 is empty */
    bool digest, settle, decide, fill_anywhere;
    enum step slow;                      /* takes a millisecond a batch, or a shard */
    atomic_uint n_in_slow, most_in_slow; /* threads */
    atomic_bool filling;
    atomic_uint by_fillers; /* batches prepared by a thread that has filled some */
    struct mark {
        uint32_t number;
        atomic_uint n_arranged;
        atomic_uint n_collected; /* shards that had it */
        atomic_uint n_settled;   /* shards that settled it */
        atomic_bool digested;
        uint32_t n_applied, n_reported;
        size_t n_hits; /* from digest for drain */
    } mark[1000];
};

/* A run of n batches in which nothing fails. */
static struct prepared run_of(uint32_t n)
{
    return (struct prepared){.n_batches = n,
                             .fail_prepare_at = UINT32_MAX,
                             .fail_order_at = UINT32_MAX,
                             .fail_arrange_at = UINT32_MAX,
                             .fail_digest_at = UINT32_MAX,
                             .fail_report_at = UINT32_MAX};
}

static _Thread_local bool has_filled;

static enum sl_status fill_later(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct prepared *run = user;

    (void)diag;
    assert_false(atomic_exchange(&run->filling, true));
    if (run->filled % 16 == 0)
        usleep(100);
    has_filled = true;
    run->mark[run->filled].number = run->filled;
    batch->filler = &run->mark[run->filled++];
    atomic_store(&run->filling, false);
    return run->filled < run->n_batches ? SL_OK : SL_END;
}

static uint32_t number_of(const struct sl_batch *batch)
{
    return ((const struct mark *)batch->filler)->number;
}

/* Waits until there are so many, and as long as one more would take. */
static uint32_t hold_until(const atomic_uint *count, uint32_t n)
{
    for (int ms = 0; atomic_load(count) < n && ms < 60000; ms++)
        usleep(1000);
    usleep(5000);
    return atomic_load(count);
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct prepared *run = user;
    const uint32_t number = number_of(batch);
    uint64_t seed = number + 1;
    uint8_t bytes[50];

    memset(bytes, 'x', sizeof bytes);
    usleep(test_below(&seed, 500));
    if (number == 0 && run->wait_for != 0)
        run->seen_by_first = hold_until(&run->prepared, run->wait_for);
    bytes[0] = 'y'; /* until it is applied */
    if (number % 7 != 0)
        sl_batch_add(batch, bytes, number % 50, 0);
    atomic_fetch_add(&run->prepared, 1);
    atomic_fetch_add(&run->by_fillers, has_filled);
    strcpy(diag->text, "not prepared");
    return number == run->fail_prepare_at ? SL_EIO : SL_OK;
}

static enum sl_status order(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct prepared *run = user;

    assert_int_equal(number_of(batch), run->ordered); /* no lock: one at a time */
    strcpy(diag->text, "not ordered");
    return run->ordered++ == run->fail_order_at ? SL_EFORMAT : SL_OK;
}

/* Counts the threads that are in the slow step at once. */
static void take_time(struct prepared *run, enum step step)
{
    if (run->slow != step)
        return;
    const uint32_t n = atomic_fetch_add(&run->n_in_slow, 1) + 1;

    for (uint32_t most = run->most_in_slow; most < n;)
        if (atomic_compare_exchange_weak(&run->most_in_slow, &most, n))
            break;
    usleep(1000);
    atomic_fetch_sub(&run->n_in_slow, 1);
}

static enum sl_status arrange(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct prepared *run = user;
    struct mark *mark = batch->filler;
    uint64_t seed = mark->number + 3;

    if (test_below(&seed, 4) == 0)
        usleep(test_below(&seed, 500));
    take_time(run, STEP_ARRANGE);
    mark->n_arranged++;
    atomic_fetch_add(&run->arranged, 1);
    strcpy(diag->text, "not arranged");
    return mark->number == run->fail_arrange_at ? SL_EIO : SL_OK;
}

static void deal(void *user, struct sl_batch *batch)
{
    struct prepared *run = user;
    const struct mark *mark = batch->filler;

    assert_int_equal(mark->number, run->dealt); /* no lock: one at a time */
    assert_int_equal(mark->n_arranged, 1);
    assert_int_equal(mark->n_collected, 0);
    run->dealt++;
}

/* Takes long now and then, so that batches of other threads pile up before a shard. */
static void collect(void *user, struct sl_batch *batch, uint32_t shard)
{
    struct prepared *run = user;
    uint64_t seed = number_of(batch) * N_SHARDS + shard + 1;

    assert_int_equal(number_of(batch), run->collected[shard]); /* no lock: one at a time */
    assert_int_equal(((struct mark *)batch->filler)->n_arranged, 1);
    if (test_below(&seed, 8) == 0)
        usleep(test_below(&seed, 500));
    take_time(run, STEP_COLLECT);
    run->collected[shard]++;
    atomic_fetch_add(&((struct mark *)batch->filler)->n_collected, 1);
}

/* Adds an item's byte, so that the engine sees what was applied. */
static void apply(void *user, struct sl_batch *batch)
{
    struct mark *mark = batch->filler;

    (void)user;
    assert_int_equal(mark->n_collected, N_SHARDS);
    mark->n_applied++;
    if (batch->n_items != 0 && batch->payload[0].len != 0)
        batch->bytes[batch->payload[0].offset] = 'x';
}

static enum sl_status digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct prepared *run = user;
    struct mark *mark = batch->filler;
    uint64_t seed = mark->number + 7;

    assert_int_equal(mark->n_hits, 0);
    usleep(test_below(&seed, 500));
    if (mark->number == 1 && run->digest_waits_for != 0)
        run->seen_by_first = hold_until(&run->digested, run->digest_waits_for);
    mark->n_hits = hits[0].n;
    atomic_store(&mark->digested, true);
    atomic_fetch_add(&run->digested, 1);
    strcpy(diag->text, "not digested");
    return mark->number == run->fail_digest_at ? SL_ENOMEM : SL_OK;
}

/* As collect, and empty batches are left out. */
static void settle(void *user, struct sl_batch *batch, const struct sl_hits *hits, uint32_t shard)
{
    struct prepared *run = user;
    struct mark *mark = batch->filler;
    uint64_t seed = mark->number * N_SHARDS + shard + 99;

    run->settled[shard] += run->settled[shard] % 7 == 0;
    assert_int_equal(mark->number, run->settled[shard]); /* no lock: one at a time */
    assert_int_equal(hits[0].n, mark->number % 50);
    assert_true(mark->digested);
    if (test_below(&seed, 8) == 0)
        usleep(test_below(&seed, 500));
    take_time(run, STEP_SETTLE);
    run->settled[shard]++;
    atomic_fetch_add(&mark->n_settled, 1);
}

static void decide(void *user, struct sl_batch *batch, const struct sl_hits *hits)
{
    struct prepared *run = user;
    const struct mark *mark = batch->filler;
    uint64_t seed = mark->number + 7;

    run->decided += run->decided % 7 == 0;
    assert_int_equal(mark->number, run->decided); /* no lock: one at a time */
    assert_int_equal(hits[0].n, mark->number % 50);
    assert_int_equal(mark->n_settled, run->settle ? N_SHARDS : 0);
    assert_int_equal(mark->n_reported, 0);
    if (test_below(&seed, 4) == 0)
        usleep(test_below(&seed, 500));
    run->decided++;
}

static enum sl_status report(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct prepared *run = user;
    struct mark *mark = batch->filler;
    uint64_t seed = mark->number + 5;

    (void)hits;
    assert_int_equal(mark->n_settled, run->settle ? N_SHARDS : 0);
    usleep(test_below(&seed, 300));
    mark->n_reported++;
    strcpy(diag->text, "not reported");
    return mark->number == run->fail_report_at ? SL_EIO : SL_OK;
}

static enum sl_status drain_prepared(void *user, const struct sl_batch *batch,
                                     const struct sl_hits *hits, struct sl_diag *diag)
{
    struct prepared *run = user;

    (void)diag;
    run->drained += run->drained % 7 == 0; /* an empty batch is not drained */
    assert_int_equal(number_of(batch), run->drained);
    assert_int_equal(run->mark[run->drained].n_applied, 1);
    assert_int_equal(hits[0].n, run->drained % 50);
    assert_int_equal(run->mark[run->drained].n_hits, run->digest ? run->drained % 50 : 0);
    assert_int_equal(run->mark[run->drained].n_reported, 1);
    run->drained++;
    return SL_OK;
}

static enum sl_status run_watched(struct prepared *run, uint32_t n_workers,
                                  struct sl_pipeline_monitor *monitor,
                                  struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    struct slow_table table = {-1, -1};
    struct sl_pipeline_config config;

    sl_pipeline_config_init(&config);
    config.batch_len = 4096;
    config.batch_items = 64;
    config.n_workers = n_workers;
    config.engines[0].engine = &slow_engine;
    config.engines[0].table = &table;
    config.n_engines = 1;
    config.fill = fill_later;
    config.fill_anywhere = run->fill_anywhere;
    config.prepare = prepare;
    config.order = order;
    config.arrange = arrange;
    config.deal = deal;
    config.collect = collect;
    config.n_shards = N_SHARDS;
    config.apply = apply;
    config.digest = run->digest ? digest : NULL;
    config.settle = run->settle ? settle : NULL;
    config.decide = run->decide ? decide : NULL;
    config.report = report;
    config.drain = drain_prepared;
    config.user = run;
    config.monitor = monitor;
    return sl_pipeline_run(&config, stats, diag);
}

static enum sl_status run_prepared(struct prepared *run, uint32_t n_workers,
                                   struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    return run_watched(run, n_workers, NULL, stats, diag);
}

static void test_batches_are_prepared_at_once_and_ordered_one_by_one(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers <= 6; n_workers++)
        for (int fill_anywhere = 0; fill_anywhere < 2; fill_anywhere++) {
            struct prepared run = run_of(200);
            struct sl_pipeline_stats stats;
            struct sl_diag diag;

            run.fill_anywhere = fill_anywhere != 0;
            assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_OK);
            assert_int_equal(run.filled, 200);
            assert_int_equal(run.ordered, 200);
            assert_int_equal(run.prepared, 200);
            assert_int_equal(run.arranged, 200);
            assert_int_equal(run.dealt, 200);
            assert_int_equal(run.drained, 200);
            for (uint32_t shard = 0; shard < N_SHARDS; shard++)
                assert_int_equal(run.collected[shard], 200);
            assert_int_equal(stats.batches, 200 - 29);
            if (!run.fill_anywhere || n_workers == 1) /* else others may prepare all */
                assert_int_equal(run.by_fillers, run.fill_anywhere ? 200 : 0);
        }
}

/* The first batch is prepared last of all that are worked on: by more batches than threads. */
static void test_threads_do_not_wait_for_batches_before_theirs(void **state)
{
    (void)state;
    for (uint32_t n_workers = 2; n_workers <= 6; n_workers++) {
        struct prepared run = run_of(200);
        struct sl_pipeline_stats stats;
        struct sl_diag diag;

        run.wait_for = 2 * n_workers + 3 - 1;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_OK);
        assert_int_equal(stats.n_batches, 3 * (run.wait_for + 1));
        assert_int_equal(run.seen_by_first, run.wait_for);
        assert_int_equal(run.drained, 200);
    }
}

/* One batch before all others is held up, in preparing or in digesting. Threads wait for it. */
static void check_help(enum step slow, bool fill_anywhere)
{
    const uint32_t n = 2 * 5 + 3; /* no more than are worked on at once */
    struct prepared run = run_of(n);
    struct sl_pipeline_stats stats;
    struct sl_diag diag;

    run.slow = slow;
    run.fill_anywhere = fill_anywhere;
    run.digest = run.settle = slow == STEP_SETTLE;
    if (slow == STEP_SETTLE)
        run.digest_waits_for = n - 2 - n / 7;
    else
        run.wait_for = n - 1;
    assert_int_equal(run_prepared(&run, 5, &stats, &diag), SL_OK);
    assert_int_equal(run.drained, n);
    assert_in_range(run.most_in_slow, 3, 5);
}

static void test_threads_that_wait_help(void **state)
{
    (void)state;
    for (int fill_anywhere = 0; fill_anywhere < 2; fill_anywhere++) {
        check_help(STEP_ARRANGE, fill_anywhere != 0);
        check_help(STEP_COLLECT, fill_anywhere != 0);
        check_help(STEP_SETTLE, fill_anywhere != 0);
    }
}

/* It is digested last of all that are in flight: those that wait for it are worked on no more. */
static void test_batches_that_wait_make_room_for_others(void **state)
{
    (void)state;
    for (uint32_t n_workers = 2; n_workers <= 6; n_workers++)
        for (int way = 0; way < 4; way++) {
            const uint32_t n_in_flight = 3 * (2 * n_workers + 3);
            struct prepared run = run_of(200);
            struct sl_pipeline_stats stats;
            struct sl_diag diag;

            run.digest = true;
            run.settle = way % 2 != 0;
            run.fill_anywhere = way / 2 != 0;
            run.digest_waits_for = n_in_flight - n_in_flight / 7 - 1;
            assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_OK);
            assert_int_equal(run.seen_by_first, run.digest_waits_for);
            assert_int_equal(run.drained, 200);
        }
}

static void test_batches_are_digested_at_once_before_they_are_drained(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers <= 8; n_workers++) {
        struct prepared run = run_of(200);
        struct sl_pipeline_stats stats;
        struct sl_diag diag;

        run.digest = true;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_OK);
        assert_int_equal(run.drained, 200);
        assert_int_equal(run.digested, 200 - 29); /* an empty batch is not digested */
        assert_true(stats.digest_ns > 0);
    }
    for (uint32_t n_workers = 1; n_workers <= 4; n_workers++) {
        struct prepared run = run_of(200);
        struct sl_pipeline_stats stats;
        struct sl_diag diag;

        run.fail_digest_at = 40;
        run.digest = true;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_ENOMEM);
        assert_string_equal(diag.text, "not digested");
        assert_true(run.drained <= 40);
    }
}

static void check_order(struct prepared run, uint32_t n_workers)
{
    struct sl_pipeline_stats stats;
    struct sl_diag diag;

    assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_OK);
    assert_int_equal(run.drained, 200);
    assert_int_equal(run.decided, run.decide ? 200 : 0);
    for (uint32_t shard = 0; shard < N_SHARDS; shard++)
        assert_int_equal(run.settled[shard], run.settle ? 200 : 0);
}

static void test_batches_are_settled_and_decided_in_order(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers <= 64; n_workers *= 2)
        for (uint32_t steps = 1; steps <= 3; steps++) {
            struct prepared run = run_of(200);

            run.digest = true;
            run.settle = (steps & 1) != 0;
            run.decide = (steps & 2) != 0;
            check_order(run, n_workers);
        }
}

static void test_a_batch_that_cannot_be_reported_ends_the_run(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers <= 4; n_workers++)
        for (int settle_too = 0; settle_too < 2; settle_too++) {
            struct prepared run = run_of(200);
            struct sl_pipeline_stats stats;
            struct sl_diag diag;

            run.fail_report_at = 50;
            run.digest = true;
            run.settle = settle_too != 0;
            assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_EIO);
            assert_string_equal(diag.text, "not reported");
            assert_true(run.drained <= 50);
        }
}

static void test_batches_that_cannot_be_prepared_end_the_run(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers <= 5; n_workers++) {
        struct prepared run = run_of(200);
        struct sl_pipeline_stats stats;
        struct sl_diag diag;

        run.fail_prepare_at = 20;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_EIO);
        assert_string_equal(diag.text, "not prepared");
        assert_true(run.ordered <= 20 && run.drained <= 20);
        run = run_of(200);
        run.fail_order_at = 30;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_EFORMAT);
        assert_string_equal(diag.text, "not ordered");
        assert_true(run.ordered == 31 && run.drained <= 30);
        run = run_of(200);
        run.fail_arrange_at = 40;
        assert_int_equal(run_prepared(&run, n_workers, &stats, &diag), SL_EIO);
        assert_string_equal(diag.text, "not arranged");
        assert_true(run.dealt <= 40 && run.drained <= 40);
    }
}

/* Takes snapshots of runs as often as it can. cmocka asserts on its main thread alone, so this one
 * counts. */
struct watcher {
    struct sl_pipeline_monitor *monitor;
    atomic_bool stop;
    uint32_t n_running, n_wrong;
    uint32_t n_seen[SL_N_PIPELINE_STAGES]; /* looks that found a batch in the stage */
};

static uint32_t batches_in(const struct sl_pipeline_snapshot *snapshot)
{
    uint32_t n = 0;

    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        n += snapshot->stage[s].waiting + snapshot->stage[s].busy;
    return n;
}

/* Two looks, one after the other, at one run. */
static bool goes_on(const struct sl_pipeline_stats *a, const struct sl_pipeline_stats *b)
{
    return a->batches <= b->batches && a->items <= b->items && a->arena_bytes <= b->arena_bytes &&
           a->engine_hits[0] <= b->engine_hits[0] && a->engine_ns[0] <= b->engine_ns[0] &&
           a->fill_ns <= b->fill_ns && a->load_ns <= b->load_ns && a->order_ns <= b->order_ns &&
           a->work_ns <= b->work_ns && a->drain_ns <= b->drain_ns && a->wall_ns <= b->wall_ns &&
           a->n_workers == b->n_workers;
}

static void *watch(void *argument)
{
    struct watcher *watcher = argument;
    struct sl_pipeline_snapshot before = {0}, now;

    while (!atomic_load(&watcher->stop)) {
        sl_pipeline_snapshot(watcher->monitor, &now);
        if (now.running) {
            const uint32_t n = batches_in(&now);

            watcher->n_running++;
            /* Each item of drain_prepared is one batch, with a hit a byte. */
            watcher->n_wrong += now.stats.items != now.stats.batches || n < 4 ||
                                now.n_engines != 1 || strcmp(now.engine[0], "test engine") != 0 ||
                                now.stats.engine_hits[0] > now.stats.arena_bytes;
            if (before.running)
                watcher->n_wrong += !goes_on(&before.stats, &now.stats) || n != batches_in(&before);
            for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
                watcher->n_seen[s] += now.stage[s].waiting + now.stage[s].busy != 0;
        }
        before = now;
    }
    return NULL;
}

static bool has_seen_all(const struct watcher *watcher)
{
    uint32_t n = 0;

    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        n += watcher->n_seen[s] > 0;
    return n == SL_N_PIPELINE_STAGES && watcher->n_running > 0;
}

static void watch_a_run(struct watcher *watcher, uint32_t n_workers)
{
    struct prepared run = run_of(1000);
    struct sl_pipeline_snapshot snapshot;
    struct sl_pipeline_stats stats;
    struct sl_diag diag;
    pthread_t thread;

    atomic_store(&watcher->stop, false);
    assert_int_equal(sl_pipeline_monitor_create(&watcher->monitor, &diag), SL_OK);
    sl_pipeline_snapshot(watcher->monitor, &snapshot);
    assert_true(!snapshot.running && snapshot.stats.batches == 0 && batches_in(&snapshot) == 0);
    assert_int_equal(pthread_create(&thread, NULL, watch, watcher), 0);
    assert_int_equal(run_watched(&run, n_workers, watcher->monitor, &stats, &diag), SL_OK);
    atomic_store(&watcher->stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(watcher->n_wrong, 0);

    sl_pipeline_snapshot(watcher->monitor, &snapshot);
    assert_true(!snapshot.running && batches_in(&snapshot) == 0);
    assert_true(snapshot.stats.wall_ns > 0 && snapshot.stats.wall_ns <= stats.wall_ns);
    snapshot.stats.wall_ns = stats.wall_ns;
    assert_memory_equal(&snapshot.stats, &stats, sizeof stats);
    assert_int_equal(stats.items, 1000 - 143);
    assert_true(stats.work_ns >= stats.engine_ns[0] && stats.engine_ns[0] > 0);
    sl_pipeline_monitor_free(watcher->monitor);
}

/* A watcher that the system gives no core misses what is short: runs go on until it has seen all.
 */
static void test_a_run_can_be_watched(void **state)
{
    (void)state;
    for (uint32_t n_workers = 3; n_workers <= 6; n_workers += 3) {
        struct watcher watcher = {0};

        for (int i = 0; i < 50 && !has_seen_all(&watcher); i++)
            watch_a_run(&watcher, n_workers);
        assert_true(has_seen_all(&watcher));
    }
    sl_pipeline_monitor_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_are_prepared_at_once_and_ordered_one_by_one),
        cmocka_unit_test(test_threads_do_not_wait_for_batches_before_theirs),
        cmocka_unit_test(test_threads_that_wait_help),
        cmocka_unit_test(test_batches_that_wait_make_room_for_others),
        cmocka_unit_test(test_batches_are_digested_at_once_before_they_are_drained),
        cmocka_unit_test(test_batches_are_settled_and_decided_in_order),
        cmocka_unit_test(test_a_batch_that_cannot_be_reported_ends_the_run),
        cmocka_unit_test(test_batches_that_cannot_be_prepared_end_the_run),
        cmocka_unit_test(test_a_run_can_be_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
