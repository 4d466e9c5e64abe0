/* SPDX-License-Identifier: MIT */
/* Runs with an engine of the tests: order, overflow, failures and missing GPUs. */
#include "test.h"

#include "slow_engine.h"
#include "sluice/pipeline.h"

/* The run under test: items count upwards, item i holds i % 50 bytes, every third an 'x'. */
struct run {
    uint32_t n_items, filled, drained, n_hits;
    enum sl_status fill_end; /* that fill returns behind the last item */
    uint32_t fail_drain_at;  /* item at which drain fails */
    uint32_t quiet;          /* fills until one gives nothing */
};

static uint32_t hits_of(uint32_t item)
{
    return (item % 50 + 2) / 3;
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = user;
    char bytes[50];

    memset(bytes, '.', sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i += 3)
        bytes[i] = 'x';
    if (run->quiet-- == 0)
        return SL_OK; /* an empty batch, as a quiet interface gives */
    while (run->filled < run->n_items && sl_batch_fits(batch, run->filled % 50)) {
        const uint32_t item = sl_batch_add(batch, bytes, run->filled % 50, 0);
        batch->origin[item].position = run->filled++;
    }
    if (run->filled < run->n_items)
        return SL_OK;
    strcpy(diag->text, "as ordered");
    return run->fill_end;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct run *run = user;
    size_t h = 0;

    for (uint32_t i = 0; i < batch->n_items; i++) {
        assert_int_equal(batch->origin[i].position, run->drained);
        for (uint32_t k = 0; k < hits_of(run->drained); k++, h++) {
            assert_int_equal(hits[0].hit[h].item, i);
            assert_int_equal(hits[0].hit[h].offset, 3 * k);
        }
        if (run->drained == run->fail_drain_at) {
            strcpy(diag->text, "disk full");
            return SL_EIO;
        }
        run->drained++;
    }
    assert_int_equal(hits[0].n, h);
    run->n_hits += (uint32_t)h;
    return SL_OK;
}

static enum sl_status run_pipeline(struct run *run, struct slow_table *table, uint32_t n_workers,
                                   uint32_t batch_len, struct sl_pipeline_stats *stats,
                                   struct sl_diag *diag)
{
    struct sl_pipeline_config config;

    sl_pipeline_config_init(&config);
    config.batch_len = batch_len;
    config.batch_items = 64;
    config.n_workers = n_workers;
    config.engines[0].engine = &slow_engine;
    config.engines[0].table = table;
    config.n_engines = 1;
    config.fill = fill;
    config.drain = drain;
    config.user = run;
    return sl_pipeline_run(&config, stats, diag);
}

static void test_order_and_hits_do_not_depend_on_workers_and_batches(void **state)
{
    static const uint32_t lens[] = {64, 500, 4096, 1u << 20};

    (void)state;
    for (uint32_t n_workers = 0; n_workers <= 5; n_workers++) {
        for (size_t l = 0; l < sizeof lens / sizeof *lens; l++) {
            struct slow_table table = {-1, -1};
            struct run run = {.n_items = 1500,
                              .fill_end = SL_END,
                              .fail_drain_at = UINT32_MAX,
                              .quiet = n_workers};
            struct sl_pipeline_stats stats;
            struct sl_diag diag;
            uint32_t expected = 0;

            for (uint32_t i = 0; i < run.n_items; i++)
                expected += hits_of(i);
            assert_int_equal(run_pipeline(&run, &table, n_workers, lens[l], &stats, &diag), SL_OK);
            assert_int_equal(run.drained, run.n_items);
            assert_int_equal(run.n_hits, expected);
            assert_int_equal(stats.engine_hits[0], expected);
            assert_string_equal(stats.backend[0], "test");
            assert_true(stats.batches >= run.n_items / 64);
        }
    }
}

static enum sl_status fill_x(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    static char bytes[1 << 17];

    (void)user;
    (void)diag;
    memset(bytes, 'x', sizeof bytes);
    sl_batch_add(batch, bytes, sizeof bytes, 0);
    return SL_END;
}

static enum sl_status drain_x(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                              struct sl_diag *diag)
{
    (void)batch;
    (void)diag;
    *(size_t *)user += hits[0].n;
    assert_int_equal(hits[0].hit[(1 << 17) - 1].offset, (1 << 17) - 1);
    return SL_OK;
}

/* One batch of one item, in which each byte is a hit. */
static void configure_x(struct sl_pipeline_config *config, const struct sl_engine *engine,
                        struct slow_table *table, size_t *n_hits)
{
    sl_pipeline_config_init(config);
    config->engines[0].engine = engine;
    config->engines[0].table = table;
    config->n_engines = 1;
    config->fill = fill_x;
    config->drain = drain_x;
    config->user = n_hits;
}

static void test_more_hits_than_expected_all_arrive(void **state)
{
    struct slow_table table = {-1, -1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag;
    size_t n_hits = 0;

    (void)state;
    configure_x(&config, &slow_engine, &table, &n_hits);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_int_equal(n_hits, 1 << 17);
}

static void test_what_was_filled_before_a_cut_is_drained(void **state)
{
    struct slow_table table = {-1, -1};
    struct run run = {.n_items = 999, .fill_end = SL_ETRUNCATED, .fail_drain_at = UINT32_MAX};
    struct sl_pipeline_stats stats;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(run_pipeline(&run, &table, 3, 4096, &stats, &diag), SL_ETRUNCATED);
    assert_string_equal(diag.text, "as ordered");
    assert_int_equal(run.drained, 999);
}

static void assert_refused(const struct sl_pipeline_config *config, const char *reason)
{
    struct sl_pipeline_config chosen = *config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {.text = ""};
    char why[SL_WHY_LEN];

    assert_int_equal(sl_pipeline_run(config, &stats, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, reason));
    diag.text[0] = '\0';
    assert_int_equal(sl_pipeline_choose(&chosen, why, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, reason));
}

static void test_more_than_the_limits_is_refused(void **state)
{
    struct sl_pipeline_config config;

    (void)state;
    sl_pipeline_config_init(&config);
    config.n_engines = SL_PIPELINE_ENGINES_MAX + 1;
    assert_refused(&config, "13 engines");
    sl_pipeline_config_init(&config);
    config.n_shards = SL_PIPELINE_SHARDS_MAX + 1;
    assert_refused(&config, "65 shards");
    sl_pipeline_config_init(&config);
    config.n_devices = 0;
    assert_refused(&config, "0 devices");
    config.n_devices = SL_PIPELINE_DEVICES_MAX + 1;
    assert_refused(&config, "17 devices");
}

static void test_failures_end_the_run(void **state)
{
    (void)state;
    for (int at = 0; at < 12; at++) {
        struct slow_table submit_fails = {at, -1}, wait_fails = {-1, at}, fine = {-1, -1};
        struct run run = {.n_items = 1500, .fill_end = SL_END, .fail_drain_at = UINT32_MAX};
        struct sl_pipeline_stats stats;
        struct sl_diag diag;

        assert_int_equal(run_pipeline(&run, &submit_fails, 3, 1024, &stats, &diag), SL_EINVAL);
        assert_non_null(strstr(diag.text, "test engine"));
        assert_true(run.drained < run.n_items);

        run = (struct run){.n_items = 1500, .fill_end = SL_END, .fail_drain_at = UINT32_MAX};
        assert_int_equal(run_pipeline(&run, &wait_fails, 3, 1024, &stats, &diag), SL_EDEVICE);
        assert_true(run.drained < run.n_items);

        run =
            (struct run){.n_items = 1500, .fill_end = SL_END, .fail_drain_at = (uint32_t)at * 100};
        assert_int_equal(run_pipeline(&run, &fine, 3, 1024, &stats, &diag), SL_EIO);
        assert_string_equal(diag.text, "disk full");
        assert_int_equal(run.drained, at * 100);
    }
}

static bool unusable(char why[SL_WHY_LEN])
{
    strcpy(why, "as ordered");
    return false;
}

/* An engine that has a backend for GPUs, and one for CPUs that does not stand in for it. */
static void test_a_missing_gpu_is_reported(void **state)
{
    static const struct sl_backend gpu = {"gpu",       SL_DEVICE_CUDA, unusable, slow_open,
                                          slow_submit, slow_wait,      free};
    static const struct sl_backend *const both[] = {&gpu, &slow_backend, NULL};
    static const struct sl_engine gone = {.name = "gone engine", .backends = both};
    struct slow_table table = {-1, -1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    (void)state;
    configure_x(&config, &gone, &table, NULL);
    config.devices[0].kind = SL_DEVICE_CUDA;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_EDEVICE);
    assert_non_null(strstr(diag.text, "as ordered"));
}

/* In a run on a GPU the test engine, which has no backend for GPUs, sees the host's batches. */
static void test_engines_of_the_cpu_take_part_in_a_run_on_a_gpu(void **state)
{
    struct slow_table table = {-1, -1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];
    size_t n_hits = 0;

    (void)state;
    configure_x(&config, &slow_engine, &table, &n_hits);
    if (sl_device_choose(&config.devices[0], "cuda", why, &diag) != SL_OK)
        test_skip(diag.text);
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_string_equal(stats.backend[0], "test");
    assert_int_equal(n_hits, 1 << 17);
}

static enum sl_status open_without_memory(void **context, const void *table,
                                          const struct sl_limits *limits, struct sl_diag *diag)
{
    (void)context;
    (void)table;
    (void)limits;
    strcpy(diag->text, "too large a table");
    return SL_ENOMEM;
}

static enum sl_status fill_never(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)diag;
    fail();
    return SL_END;
}

/* Tables too large for a GPU fit the CPU, if nothing was taken from the source before. */
static void test_tables_too_large_for_a_gpu_fail_before_the_first_fill(void **state)
{
    static const struct sl_backend gpu = {
        "gpu", SL_DEVICE_CUDA, slow_usable, open_without_memory, slow_submit, slow_wait, free};
    static const struct sl_backend *const both[] = {&gpu, &slow_backend, NULL};
    static const struct sl_engine small = {.name = "small engine", .backends = both};
    struct slow_table table = {-1, -1};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    size_t n_hits = 0;

    (void)state;
    configure_x(&config, &small, &table, &n_hits);
    config.devices[0].kind = SL_DEVICE_CUDA;
    config.fill = fill_never;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_ENOMEM);
    assert_string_equal(diag.text, "too large a table");
    assert_int_equal(stats.batches, 0);

    config.devices[0].kind = SL_DEVICE_CPU;
    config.fill = fill_x;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_string_equal(stats.backend[0], "test");
    assert_int_equal(n_hits, 1 << 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_hits_do_not_depend_on_workers_and_batches),
        cmocka_unit_test(test_more_hits_than_expected_all_arrive),
        cmocka_unit_test(test_what_was_filled_before_a_cut_is_drained),
        cmocka_unit_test(test_failures_end_the_run),
        cmocka_unit_test(test_more_than_the_limits_is_refused),
        cmocka_unit_test(test_a_missing_gpu_is_reported),
        cmocka_unit_test(test_engines_of_the_cpu_take_part_in_a_run_on_a_gpu),
        cmocka_unit_test(test_tables_too_large_for_a_gpu_fail_before_the_first_fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
