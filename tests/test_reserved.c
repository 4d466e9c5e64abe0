/* SPDX-License-Identifier: MIT */
/* Every function that takes a config refuses one whose reserved fields are not 0. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_redundancy),
                                       cmocka_unit_test(test_runs), cmocka_unit_test(test_scans)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
