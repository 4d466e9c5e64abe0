/* SPDX-License-Identifier: MIT */
/* Statements of the public headers on NULL, 0 and limits, each called once. */
#include "test.h"

#include <unistd.h>

#include "sluice/sluice.h"

/* ---- frees ----------------------------------------------------------------------------------- */

static void test_every_free_accepts_null(void **state)
{
    uint64_t written = 1;

    (void)state;
    sl_batch_encoder_free(NULL);
    sl_batch_free(NULL);
    sl_capture_close(NULL);
    sl_clamav_close(NULL);
    sl_clamav_free(NULL);
    sl_clamav_set_free(NULL);
    sl_decoder_free(NULL);
    sl_dynabyte_free(NULL);
    sl_encoder_free(NULL);
    sl_evaluator_free(NULL);
    sl_fib_free(NULL);
    sl_fib_unload(NULL);
    sl_flow_keys_free(NULL);
    sl_flow_table_free(NULL);
    sl_header_free(NULL);
    sl_matcher_free(NULL);
    sl_mpm_free(NULL);
    sl_names_free(NULL);
    sl_names_reader_close(NULL);
    sl_names_stream_close(NULL);
    sl_packet_names_watch_free(NULL);
    sl_pipeline_monitor_free(NULL);
    sl_rules_free(NULL);
    sl_run_close(NULL);
    sl_sampling_free(NULL);
    sl_sampling_trainer_free(NULL);
    sl_savings_free(NULL);
    sl_scan_close(NULL);
    sl_settings_close(NULL);
    assert_int_equal(sl_sink_close(NULL, NULL, NULL), SL_OK);
    assert_int_equal(sl_sink_close(NULL, &written, NULL), SL_OK);
    assert_int_equal(written, 0);
    sl_stage_close(NULL);
    sl_state_free(NULL);
    sl_tunnel_free(NULL);
}

/* ---- a diagnostic that nobody wants ---------------------------------------------------------- */

static void test_files_fail_without_a_diagnostic(void **state)
{
    static const char none[] = "/nonexistent/file";
    static const char *const paths[] = {none};
    struct sl_capture *capture;
    struct sl_clamav_db *db;
    struct sl_clamav_set *set;
    struct sl_fib_table *fib;
    struct sl_mpm_table *literals;
    struct sl_names *names;
    struct sl_rules *rules;
    struct sl_settings *settings;
    struct sl_sink *sink;
    struct sl_tunnel *tunnel;

    (void)state;
    assert_int_equal(sl_capture_open_file(&capture, none, 0, NULL), SL_EIO);
    assert_int_equal(sl_clamav_load_paths(&db, &set, paths, 1, NULL, SL_DEVICE_CPU, NULL), SL_EIO);
    sl_clamav_set_free(set);
    assert_int_equal(sl_fib_load(&fib, none, NULL), SL_EIO);
    assert_int_equal(sl_mpm_load(&literals, none, NULL), SL_EIO);
    assert_int_equal(sl_names_open(&names, none, false, NULL), SL_EIO);
    assert_int_equal(sl_rules_create(&rules, NULL), SL_OK);
    assert_int_equal(sl_rules_load(rules, none, NULL), SL_EIO);
    assert_int_equal(sl_rules_load_text(rules, "text", "alert\n", 6, NULL), SL_EFORMAT);
    sl_rules_free(rules);
    assert_int_equal(sl_settings_open(&settings, none, NULL), SL_EIO);
    sl_settings_close(settings);
    assert_int_equal(sl_sink_open(&sink, "eve:/nonexistent/file", NULL), SL_EIO);
    assert_int_equal(sl_tunnel_load(&tunnel, none, NULL), SL_EIO);
}

static enum sl_status one_packet(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    static const uint8_t ipv4[20] = {0x40}; /* of a header length below 20 */
    enum { LINKTYPE_RAW = 101 };

    (void)user;
    (void)diag;
    assert_true(sl_run_add_packet(batch, ipv4, sizeof ipv4, 0, LINKTYPE_RAW));
    return SL_END;
}

static enum sl_status refuse(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    (void)user;
    (void)event;
    (void)diag;
    return SL_EIO;
}

static enum sl_status no_packets(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)user;
    (void)batch;
    (void)diag;
    return SL_EFORMAT;
}

static void assert_run_fails(const struct sl_run_config *config, enum sl_status expected)
{
    struct sl_run *run;

    assert_int_equal(sl_run_create(&run, config, NULL), SL_OK);
    assert_int_equal(sl_run_execute(run, NULL), expected);
    sl_run_close(run);
}

static void test_runs_fail_without_a_diagnostic(void **state)
{
    static const char *const files[] = {"/nonexistent/file"};
    static const char *const sinks[] = {"eve:/dev/full"};
    struct sl_sampling_training training;
    struct sl_run_config config;
    struct sl_run *run;

    (void)state;
    sl_run_config_init(&config);
    config.devices = "cpu";
    assert_int_equal(sl_run_create(&run, &config, NULL), SL_EINVAL); /* no source */
    sl_run_close(run);
    config.fill = no_packets;
    assert_run_fails(&config, SL_EFORMAT);
    config.fill = one_packet;
    config.check_headers = true;
    config.event = refuse;
    assert_run_fails(&config, SL_EIO);
    config.event = NULL;
    config.sinks = sinks; /* fails when it is closed */
    config.n_sinks = 1;
    assert_run_fails(&config, SL_EIO);
    config.n_sinks = 0;
    config.fill = NULL;
    config.files = files;
    config.n_files = 1;
    assert_run_fails(&config, SL_EIO);
    config.redundancy.on = true;
    assert_int_equal(sl_run_create(&run, &config, NULL), SL_OK);
    assert_int_equal(sl_run_train(run, files[0], &training, NULL), SL_EIO);
    sl_run_close(run);
}

/* ---- failures are notices -------------------------------------------------------------------- */

static void on_notice(void *user, const struct sl_run_notice *notice)
{
    unsigned *n = user;

    assert_non_null(notice->diag);
    assert_string_not_equal(notice->diag->text, "");
    ++*n;
}

/* A capture of one packet, and of a record that is cut. */
static void write_cut_capture(char *path)
{
    static const uint32_t file[] = {0xA1B2C3D4, 0x00040002, 0, 0, 65535, 101, /* header: raw IP */
                                    1,          0,          4, 4, 0x45,       /* a packet */
                                    2,          0};
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, sizeof file), sizeof file);
    assert_int_equal(close(fd), 0);
}

static void test_training_reports_a_cut_capture_as_a_notice_alone(void **state)
{
    char path[] = "/tmp/sluice-contracts-XXXXXX";
    const char *const files[] = {path};
    struct sl_sampling_training training;
    struct sl_diag diag = {.text = "as it was"};
    struct sl_run_config config;
    struct sl_run *run;
    unsigned n = 0;

    (void)state;
    write_cut_capture(path);
    sl_run_config_init(&config);
    config.files = files;
    config.n_files = 1;
    config.redundancy.on = true;
    config.notice = on_notice;
    config.user = &n;
    assert_int_equal(sl_run_create(&run, &config, NULL), SL_OK);
    assert_int_equal(sl_run_train(run, path, &training, &diag), SL_OK);
    assert_string_equal(diag.text, "as it was");
    assert_int_equal(sl_run_train(run, path, &training, NULL), SL_OK);
    assert_int_equal(n, 2);
    sl_run_close(run);
    assert_int_equal(unlink(path), 0);
}

/* ---- defaults -------------------------------------------------------------------------------- */

static void test_defaults_are_those_of_the_headers(void **state)
{
    struct sl_redundancy_file_config file;
    struct sl_sampling_config sampling;
    struct sl_savings_config savings;
    struct sl_dynabyte_config dynabyte;
    struct sl_flow_config flows;
    struct sl_scan_config scan;
    struct sl_run_config run;

    (void)state;
    sl_sampling_config_init(&sampling);
    assert_string_equal(sampling.sampler, "rabin");
    assert_int_equal(sampling.window, 32);
    assert_int_equal(sampling.period, 256);
    assert_int_equal(sampling.magic, 0x78);
    sl_redundancy_file_config_init(&file);
    assert_int_equal(file.sampling.period, 32);
    assert_int_equal(file.cache_len, 256 << 20);
    assert_int_equal(file.level, 9);
    assert_true(file.cache_in == -1 && file.cache_out == -1);
    sl_savings_config_init(&savings);
    assert_int_equal(savings.interval_len, 100000000);
    assert_int_equal(savings.redundancy.cache_len, 64 << 20);
    assert_int_equal(savings.redundancy.n_in_flight, 4096);
    sl_dynabyte_config_init(&dynabyte);
    assert_true(dynabyte.raise && dynabyte.period == 32 && dynabyte.interval == 4 << 20);
    sl_flow_config_init(&flows);
    assert_int_equal(flows.max_flows, 262144);
    assert_int_equal(flows.tcp_established_seconds, 600);
    sl_scan_config_init(&scan);
    assert_int_equal(scan.members_max, SL_SCAN_MEMBERS_DEFAULT);
    assert_true(scan.normalizes && !scan.recursive && scan.n_threads == 1);
    sl_run_config_init(&run);
    assert_string_equal(run.devices, "auto");
    assert_int_equal(run.stream_memory, 256 << 20);
    assert_int_equal(run.redundancy.sampling.period, 32);
    assert_true((run.events & 1u << SL_EVENT_ALERT) != 0 &&
                (run.events & 1u << SL_EVENT_FLOW) == 0);
}

/* ---- 0, and numbers at the limits ------------------------------------------------------------ */

static void test_batches_have_bounds(void **state)
{
    enum { ARENA = 1024, ITEMS = 4 };
    struct sl_batch *batch = NULL;

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 0, ITEMS, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_create(&batch, ARENA, 0, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_create(&batch, UINT32_MAX - 65535, ITEMS, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_create(&batch, ARENA, ITEMS, NULL), SL_OK);
    assert_int_equal(sl_batch_reserve_made(batch, SL_BATCH_ALIGN - 1, 1, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_made(batch, ARENA, 1, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_made(batch, SL_BATCH_ALIGN, ITEMS, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_made(batch, SL_BATCH_ALIGN, 1, NULL), SL_OK);
    assert_int_equal(sl_batch_reserve_made(batch, SL_BATCH_ALIGN, 1, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_totals(batch, NULL), SL_OK);
    assert_int_equal(sl_batch_reserve_totals(batch, NULL), SL_EINVAL);
    sl_batch_free(batch);
}

static void test_devices_are_counted_whatever_the_room(void **state)
{
    struct sl_device devices[2];
    const uint32_t n = sl_device_list(NULL, 0);

    (void)state;
    assert_true(n >= 2);
    assert_int_equal(sl_device_list(devices, 1), n);
    assert_int_equal(devices[0].kind, SL_DEVICE_CPU);
}

static void test_a_state_has_hosts(void **state)
{
    struct sl_state_config config;
    struct sl_flow_slot slot;
    struct sl_state *made;

    (void)state;
    sl_state_config_init(&config);
    config.max_hosts = 0;
    assert_int_equal(sl_state_create(&made, &slot, &config, NULL), SL_EINVAL);
    config.max_hosts = SL_STATE_HOSTS_MAX + 1;
    assert_int_equal(sl_state_create(&made, &slot, &config, NULL), SL_EINVAL);
    config.max_hosts = 1;
    assert_int_equal(sl_state_create(&made, &slot, &config, NULL), SL_OK);
    sl_state_free(made);
}

static void test_a_batch_encoder_needs_a_sampler(void **state)
{
    struct sl_batch_encoder_config config;
    struct sl_batch_encoder *encoder;

    (void)state;
    sl_batch_encoder_config_init(&config);
    assert_int_equal(sl_batch_encoder_create(&encoder, &config, NULL), SL_EINVAL);
}

static void test_texts_are_cut_to_no_room(void **state)
{
    const struct sl_diag diag = {.text = "text"};
    uint8_t bytes[16];
    char out[3];
    struct sl_name name;

    (void)state;
    sl_diag_format(&diag, NULL, 0);
    sl_diag_format(&diag, out, sizeof out);
    assert_string_equal(out, "te");
    assert_null(sl_name_read(&name, SL_NAME_AUTO, bytes, sizeof bytes, "a.b", 3));
    assert_int_equal(sl_name_write(&name, NULL, 0), 3);
    assert_string_equal(sl_status_text((enum sl_status)99), "unknown status");
    assert_string_equal(sl_names_action_name((enum sl_names_action)99), "?");
}

/* Hits of a list that overflowed are not all there: nothing may be concluded from them. */
static void test_rules_refuse_hits_that_overflowed(void **state)
{
    static const char text[] = "alert ip any any -> any any (content:\"abc\"; sid:1;)\n";
    struct sl_hit hit[2] = {{.item = 0, .offset = 3}, {.item = 0, .offset = 3}};
    struct sl_hits hits = {.hit = hit, .cap = 1, .n = 2};
    const struct sl_literal *literals;
    struct sl_rules *rules;
    struct sl_alert alert;
    struct sl_batch *batch;
    size_t n;

    (void)state;
    assert_int_equal(sl_rules_create(&rules, NULL), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "text", text, strlen(text), NULL), SL_OK);
    assert_int_equal(sl_rules_compile(rules, &literals, &n, NULL), SL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(sl_batch_create(&batch, 64, 1, NULL), SL_OK);
    sl_batch_add(batch, "abc", 3, 0);
    sl_rules_sift(rules, batch, &hits);
    assert_int_equal(hits.n, 2);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, &alert, 1, &n), SL_EINVAL);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

static void test_a_scanner_refuses_hits_that_overflowed(void **state)
{
    static const char line[] = "A:0:*:61626364\n";
    struct sl_hits hits = {.hit = NULL, .cap = 0, .n = 1};
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_batch *batch;

    (void)state;
    assert_int_equal(sl_clamav_set_create(&set, NULL), SL_OK);
    assert_int_equal(sl_clamav_set_read_text(set, "a.ndb", line, strlen(line), NULL), SL_OK);
    assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, NULL), SL_OK);
    sl_clamav_scan_config_init(&config);
    assert_int_equal(sl_clamav_open(&scanner, db, &config, NULL), SL_OK);
    assert_int_equal(sl_batch_create(&batch, 64, 1, NULL), SL_OK);
    assert_int_equal(sl_clamav_scan_hits(scanner, batch, &hits), SL_EINVAL);
    sl_batch_free(batch);
    sl_clamav_close(scanner);
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

static void test_rules_beyond_the_last_are_none(void **state)
{
    struct sl_rules *rules;

    (void)state;
    assert_int_equal(sl_rules_create(&rules, NULL), SL_OK);
    assert_null(sl_rules_signature(rules, 0));
    assert_false(sl_rules_store_file(rules, 0));
    assert_null(sl_rules_bad_line(rules, 0));
    assert_null(sl_rules_skipped_rule(rules, 0));
    assert_null(sl_rules_unknown_class(rules, 0));
    sl_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_free_accepts_null),
        cmocka_unit_test(test_files_fail_without_a_diagnostic),
        cmocka_unit_test(test_runs_fail_without_a_diagnostic),
        cmocka_unit_test(test_training_reports_a_cut_capture_as_a_notice_alone),
        cmocka_unit_test(test_defaults_are_those_of_the_headers),
        cmocka_unit_test(test_batches_have_bounds),
        cmocka_unit_test(test_devices_are_counted_whatever_the_room),
        cmocka_unit_test(test_a_state_has_hosts),
        cmocka_unit_test(test_a_batch_encoder_needs_a_sampler),
        cmocka_unit_test(test_texts_are_cut_to_no_room),
        cmocka_unit_test(test_rules_refuse_hits_that_overflowed),
        cmocka_unit_test(test_a_scanner_refuses_hits_that_overflowed),
        cmocka_unit_test(test_rules_beyond_the_last_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
