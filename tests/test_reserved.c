/* SPDX-License-Identifier: MIT */
/* Every function that takes a config or limits refuses reserved fields that are not 0. */
#include "test.h"

#include "sluice/sluice.h"

/* Sets one reserved field after the other: each call must refuse, and name the field. */
#define REFUSES(config, call)                             \
    for (int i = 0; i < 4; i++) {                         \
        struct sl_diag diag = {.text = ""};               \
        char field[16];                                   \
                                                          \
        snprintf(field, sizeof field, "reserved[%d]", i); \
        (config).reserved[i] = UINT64_C(1) << 63;         \
        assert_int_equal((call), SL_EINVAL);              \
        assert_non_null(strstr(diag.text, field));        \
        (config).reserved[i] = 0;                         \
    }

static void test_engines(void **state)
{
    struct sl_header_config header;
    struct sl_header_table *checks;
    struct sl_mpm_config mpm;
    struct sl_mpm_table *literals;
    struct sl_sampling_config sampling;
    struct sl_sampling_table *samples;
    struct sl_dynabyte_config rate;
    struct sl_dynabyte *dynabyte;

    (void)state;
    sl_header_config_init(&header);
    REFUSES(header, sl_header_build(&checks, &header, &diag));
    sl_mpm_config_init(&mpm);
    REFUSES(mpm, sl_mpm_build(&literals, &mpm, NULL, 0, &diag));
    sl_sampling_config_init(&sampling);
    REFUSES(sampling, sl_sampling_build(&samples, &sampling, &diag));
    sl_dynabyte_config_init(&rate);
    REFUSES(rate, sl_dynabyte_create(&dynabyte, &rate, &diag));
}

/* Each backend that this machine can run refuses limits whose reserved fields are not 0. */
static void assert_opens_refuse(const struct sl_engine *engine, const void *table)
{
    struct sl_limits limits = {.max_items = 1, .max_bytes = 64, .max_hits = 1};
    unsigned n_usable = 0;

    for (const struct sl_backend *const *backend = engine->backends; *backend != NULL; backend++) {
        char why[SL_WHY_LEN];
        void *context;

        if (!(*backend)->usable(why))
            continue;
        REFUSES(limits, (*backend)->open(&context, table, &limits, &diag));
        n_usable++;
    }
    assert_true(n_usable > 0);
}

static void test_contexts_of_mpm(void **state)
{
    const struct sl_literal literal = {.bytes = (const uint8_t *)"literal", .len = 7};
    struct sl_mpm_config config;
    struct sl_mpm_table *table;

    (void)state;
    sl_mpm_config_init(&config);
    config.device = SL_DEVICE_CUDA; /* CPUs take these tables, too */
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++) {
        config.algorithm = *name;
        assert_int_equal(sl_mpm_build(&table, &config, &literal, 1, NULL), SL_OK);
        assert_opens_refuse(sl_mpm_engine(table), table);
        sl_mpm_free(table);
    }
}

static void test_contexts_of_sampling(void **state)
{
    struct sl_sampling_config config;
    struct sl_sampling_table *table;

    (void)state;
    sl_sampling_config_init(&config);
    for (const char *const *name = sl_samplers(); *name != NULL; name++) {
        config.sampler = *name;
        assert_int_equal(sl_sampling_build(&table, &config, NULL), SL_OK);
        assert_opens_refuse(sl_sampling_engine(table), table);
        sl_sampling_free(table);
    }
}

static void test_contexts_of_headers_and_names(void **state)
{
    struct sl_header_config config;
    struct sl_header_table *checks;
    struct sl_names *names;
    struct sl_packet_names_watch *watch;
    struct sl_diag made;

    (void)state;
    sl_header_config_init(&config);
    assert_int_equal(sl_header_build(&checks, &config, &made), SL_OK);
    assert_opens_refuse(sl_header_engine(), checks);
    sl_header_free(checks);
    assert_int_equal(sl_names_create(&names, &made), SL_OK);
    assert_int_equal(sl_names_build(names, NULL, &made), SL_OK);
    assert_int_equal(sl_packet_names_watch_create(&watch, names, &made), SL_OK);
    assert_opens_refuse(sl_packet_names_engine(), watch);
    sl_packet_names_watch_free(watch);
    sl_names_free(names);
}

static void test_contexts_of_fib(void **state)
{
    struct sl_limits limits = {.max_items = 1, .max_bytes = 64};
    struct sl_fib_config config;

    (void)state;
    sl_fib_config_init(&config);
    for (const char *const *plane = sl_fib_planes(); *plane != NULL; plane++) {
        struct sl_fib *fib;
        char why[SL_WHY_LEN];

        config.plane = *plane;
        assert_int_equal(sl_fib_build(&fib, &config, NULL, 0, NULL), SL_OK);
        struct sl_fib_table *table = sl_fib_table(fib);
        for (const struct sl_fib_backend *const *backend = sl_fib_engine(table)->backends;
             *backend != NULL; backend++) {
            void *context;

            if ((*backend)->usable(why))
                REFUSES(limits, (*backend)->open(&context, table, &limits, &diag));
        }
        sl_fib_free(fib);
    }
}

static void test_stages(void **state)
{
    struct sl_limits limits = {.max_items = 1, .max_bytes = 64};
    struct sl_device devices[2];
    struct sl_stage *stage;

    (void)state;
    if (sl_device_list(devices, 2) < 2 || !devices[1].usable)
        test_skip(devices[1].why);
    REFUSES(limits, sl_stage_open(&stage, &limits, &diag));
}

static enum sl_status no_result(void *user, const struct sl_names_result *results, uint32_t n)
{
    (void)user;
    (void)results;
    (void)n;
    return SL_OK;
}

static void test_names(void **state)
{
    struct sl_fib_config fib;
    struct sl_fib *table;
    struct sl_names_config names;
    struct sl_names *opened;
    struct sl_names_stream_config look_ups;
    struct sl_names_stream *stream;
    struct sl_diag made;

    (void)state;
    sl_fib_config_init(&fib);
    REFUSES(fib, sl_fib_build(&table, &fib, NULL, 0, &diag));
    sl_names_config_init(&names);
    REFUSES(names, sl_names_open_files(&opened, &names, &diag));
    assert_int_equal(sl_names_create(&opened, &made), SL_OK);
    assert_int_equal(sl_names_build(opened, NULL, &made), SL_OK);
    sl_names_stream_config_init(&look_ups);
    look_ups.names = opened;
    look_ups.take = no_result;
    REFUSES(look_ups, sl_names_stream_open(&stream, &look_ups, &diag));
    sl_names_free(opened);
}

static void test_redundancy(void **state)
{
    struct sl_redundancy_config config;
    struct sl_matcher *matcher;
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    struct sl_batch_encoder_config batches;
    struct sl_batch_encoder *batch_encoder;
    struct sl_redundancy_file_config files;
    struct sl_redundancy_file_stats stats;
    struct sl_savings_config count;
    struct sl_savings *savings;

    (void)state;
    sl_redundancy_config_init(&config);
    REFUSES(config, sl_matcher_create(&matcher, &config, &diag));
    REFUSES(config, sl_encoder_create(&encoder, &config, &diag));
    REFUSES(config, sl_decoder_create(&decoder, &config, &diag));
    sl_batch_encoder_config_init(&batches);
    REFUSES(batches, sl_batch_encoder_create(&batch_encoder, &batches, &diag));
    sl_redundancy_file_config_init(&files);
    REFUSES(files, sl_redundancy_encode_file(-1, -1, &files, &stats, &diag));
    REFUSES(files, sl_redundancy_decode_file(-1, -1, &files, &stats, &diag));
    sl_savings_config_init(&count);
    REFUSES(count, sl_savings_create(&savings, &count, &diag));
}

static void test_rule_state(void **state)
{
    struct sl_state_config config;
    struct sl_flow_slot slot;
    struct sl_state *made;

    (void)state;
    sl_state_config_init(&config);
    REFUSES(config, sl_state_create(&made, &slot, &config, &diag));
}

static void test_runs(void **state)
{
    static const char *const captures[] = {"capture"};
    struct sl_pipeline_config pipeline;
    struct sl_pipeline_stats stats;
    struct sl_flow_config flows;
    struct sl_flow_table *table;
    struct sl_run_config config;
    struct sl_run *run;
    char why[SL_WHY_LEN];

    (void)state;
    sl_pipeline_config_init(&pipeline);
    REFUSES(pipeline, sl_pipeline_run(&pipeline, &stats, &diag));
    REFUSES(pipeline, sl_pipeline_choose(&pipeline, why, &diag));
    sl_flow_config_init(&flows);
    REFUSES(flows, sl_flow_table_create(&table, &flows, &diag));
    sl_run_config_init(&config);
    config.files = captures;
    config.n_files = 1;
    for (int i = 0; i < 4; i++) {
        struct sl_diag diag = {.text = ""};

        config.reserved[i] = 1;
        assert_int_equal(sl_run_create(&run, &config, &diag), SL_EINVAL);
        assert_non_null(strstr(diag.text, "reserved"));
        sl_run_close(run); /* the caller's, also after a failure */
        config.reserved[i] = 0;
    }
}

static void test_scans(void **state)
{
    static const char line[] = "A:0:*:61626364\n";
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;
    struct sl_scan_config files;
    struct sl_scan *scan;
    struct sl_diag made;

    (void)state;
    assert_int_equal(sl_clamav_set_create(&set, &made), SL_OK);
    assert_int_equal(sl_clamav_set_read_text(set, "a.ndb", line, strlen(line), &made), SL_OK);
    assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, &made), SL_OK);
    sl_clamav_scan_config_init(&config);
    REFUSES(config, sl_clamav_open(&scanner, db, &config, &diag));
    sl_clamav_free(db);
    sl_clamav_set_free(set);
    sl_scan_config_init(&files);
    REFUSES(files, sl_scan_open(&scan, &files, &diag));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines),
                                       cmocka_unit_test(test_contexts_of_mpm),
                                       cmocka_unit_test(test_contexts_of_sampling),
                                       cmocka_unit_test(test_contexts_of_headers_and_names),
                                       cmocka_unit_test(test_contexts_of_fib),
                                       cmocka_unit_test(test_stages),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_redundancy),
                                       cmocka_unit_test(test_rule_state),
                                       cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_scans)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
