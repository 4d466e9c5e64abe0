/* SPDX-License-Identifier: MIT */
/* The public interface of a run: sources, sinks, stopping, snapshots, and failures.
 *
 * Argument: the folder of sample captures and rules. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

#include "sluice/sluice.h"

static char capture[600], rules[600]; /* paths of the samples */

enum { SAMPLE_PACKETS = 1139 };

/* The argument of the functions of a config. */
struct caller {
    struct sl_capture *capture; /* that fill takes its packets from */
    struct sl_batch *read;
    uint32_t next;      /* packet of `read` */
    bool ended, failed; /* `capture`; fill is to fail */
    uint64_t refused;   /* packets that found no room */

    atomic_uint packets_wanted; /* fill never ends by itself */
    uint64_t n_events, n_alerts, last_position, fail_at;
    unsigned n_notices;
    enum sl_run_notice_kind kind;
    char text[600];
    struct sl_run *to_stop;
};

static void on_notice(void *user, const struct sl_run_notice *notice)
{
    struct caller *caller = user;

    caller->n_notices++;
    caller->kind = notice->kind;
    sl_diag_format(notice->diag, caller->text, sizeof caller->text);
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct caller *caller = user;

    assert_true(event->origin.position >= caller->last_position);
    caller->last_position = event->origin.position;
    caller->n_alerts += event->kind == SL_EVENT_ALERT;
    if (++caller->n_events == caller->fail_at) {
        snprintf(diag->text, sizeof diag->text, "the caller has enough");
        return SL_EIO;
    }
    return SL_OK;
}

/* The packets of the sample, one by one, as if they came from memory. */
static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct caller *caller = user;

    if (caller->failed) {
        snprintf(diag->text, sizeof diag->text, "the memory is gone");
        return SL_EFORMAT;
    }
    for (;;) {
        const struct sl_batch *read = caller->read;

        for (; caller->next < read->n_items; caller->next++) {
            const struct sl_packet *packet = &read->packet[caller->next];
            const struct sl_origin *origin = &read->origin[caller->next];

            if (!sl_run_add_packet(batch, read->bytes + packet->offset, packet->len,
                                   origin->time_ns, origin->link_type)) {
                caller->refused++;
                return SL_OK;
            }
        }
        if (caller->ended)
            return SL_END;
        sl_batch_reset(caller->read);
        caller->next = 0;
        caller->ended = sl_capture_read(caller->capture, caller->read, diag) != SL_OK;
    }
}

static void open_memory(struct caller *caller)
{
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&caller->read, 1 << 20, 300, &diag), SL_OK);
    assert_int_equal(sl_capture_open_file(&caller->capture, capture, 0, &diag), SL_OK);
}

static void close_memory(struct caller *caller)
{
    sl_capture_close(caller->capture);
    sl_batch_free(caller->read);
}

/* A config of rules and header checks over the sample, on the CPU. */
static struct sl_run_config config_of(struct caller *caller)
{
    static const char *const files[] = {capture}, *const rule_files[] = {rules};
    struct sl_run_config config;

    sl_run_config_init(&config);
    config.files = files;
    config.n_files = 1;
    config.rule_files = rule_files;
    config.n_rule_files = 1;
    config.check_headers = true;
    config.devices = "cpu";
    config.event = on_event;
    config.notice = on_notice;
    config.user = caller;
    return config;
}

static struct sl_run_result execute(struct sl_run **run, const struct sl_run_config *config)
{
    struct sl_run_result result;
    struct sl_diag diag = {0};

    if (sl_run_create(run, config, &diag) != SL_OK || sl_run_execute(*run, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(*run, &result);
    return result;
}

/* ---- sources and sinks ----------------------------------------------------------------------- */

static void test_function_sink(void **state)
{
    struct caller caller = {0};
    const struct sl_run_config config = config_of(&caller);
    struct sl_run *run;
    const struct sl_run_result result = execute(&run, &config);

    (void)state;
    assert_int_equal(result.captured.packets, SAMPLE_PACKETS);
    assert_true(result.alerts > 0 && result.anomalies > 0);
    assert_int_equal(caller.n_alerts, result.alerts);
    assert_int_equal(caller.n_events, result.alerts + result.anomalies);
    assert_int_equal(result.n_sinks, 1);
    assert_null(result.sinks[0].spec);
    assert_int_equal(result.sinks[0].written, caller.n_events);
    assert_int_equal(caller.n_notices, 0);
    sl_run_close(run);
}

/* DNS messages are events in order, once each, where the config has this kind. */
static void test_dns_messages(void **state)
{
    enum { IN_SAMPLE = 18 }; /* two over TCP */
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_run *run;

    (void)state;
    config.events = 1u << SL_EVENT_DNS_MESSAGE;
    (void)execute(&run, &config);
    assert_int_equal(caller.n_events, IN_SAMPLE);
    assert_int_equal(caller.n_alerts, 0);
    sl_run_close(run);
}

/* Kinds that are not wanted are counted all the same. */
static void test_kinds_of_events(void **state)
{
    (void)state;
    for (uint32_t events = 0; events < 4; events++) {
        struct caller caller = {0};
        struct sl_run_config config = config_of(&caller);
        struct sl_run *run;

        config.events = (events & 1) << SL_EVENT_ALERT | (events >> 1) << SL_EVENT_ANOMALY;
        const struct sl_run_result result = execute(&run, &config);
        assert_true(result.alerts > 0 && result.anomalies > 0);
        assert_int_equal(caller.n_alerts, (events & 1) * result.alerts);
        assert_int_equal(caller.n_events, caller.n_alerts + (events >> 1) * result.anomalies);
        assert_int_equal(result.sinks[0].written, caller.n_events);
        sl_run_close(run);
    }
}

static void test_memory(void **state)
{
    struct caller from_file = {0}, from_memory = {0};
    struct sl_run_config config = config_of(&from_file);
    struct sl_run *file_run, *memory_run;
    const struct sl_run_result file = execute(&file_run, &config);

    (void)state;
    open_memory(&from_memory);
    config = config_of(&from_memory);
    config.n_files = 0;
    config.fill = fill;
    const struct sl_run_result memory = execute(&memory_run, &config);
    assert_int_equal(memory.captured.packets, file.captured.packets);
    assert_int_equal(memory.captured.bytes, file.captured.bytes);
    assert_int_equal(memory.alerts, file.alerts);
    assert_int_equal(memory.flows.flows, file.flows.flows);
    assert_int_equal(from_memory.n_events, from_file.n_events);
    assert_int_equal(from_memory.last_position, from_file.last_position);
    assert_memory_equal(memory.by_check, file.by_check, sizeof file.by_check);
    sl_run_close(memory_run);
    sl_run_close(file_run);
    close_memory(&from_memory);
}

static void test_add_packet(void **state)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 64, 2, &diag), SL_OK);
    assert_true(sl_run_add_packet(batch, "0123456789", 10, 77, 1));
    assert_int_equal(batch->origin[0].time_ns, 77);
    assert_int_equal(batch->origin[0].link_type, 1);
    assert_int_equal(batch->origin[0].wire_len, 10);
    assert_false(sl_run_add_packet(batch, (uint8_t[64]){0}, 64, 0, 1));
    assert_true(sl_run_add_packet(batch, "0123456789", 10, 78, 1));
    assert_false(sl_run_add_packet(batch, "", 0, 79, 1));
    sl_batch_free(batch);
}

static void test_add_long_packet(void **state)
{
    const uint32_t len = SL_CAPTURE_PACKET_MAX + 1;
    uint8_t *packet = calloc(1, len);
    struct sl_batch *batch;
    struct sl_diag diag;

    (void)state;
    assert_non_null(packet);
    assert_int_equal(sl_batch_create(&batch, 2 * len, 1, &diag), SL_OK);
    assert_true(sl_run_add_packet(batch, packet, len, 0, 1));
    assert_int_equal(batch->payload[0].len, SL_CAPTURE_PACKET_MAX);
    assert_int_equal(batch->origin[0].wire_len, len);
    sl_batch_free(batch);
    free(packet);
}

static void test_file_sink(void **state)
{
    char spec[] = "eve:/tmp/sluice-run-XXXXXX";
    const char *const sinks[] = {spec};
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_run *run;

    (void)state;
    close(mkstemp(spec + 4));
    config.event = NULL;
    config.sinks = sinks;
    config.n_sinks = 1;
    const struct sl_run_result result = execute(&run, &config);
    assert_string_equal(result.sinks[0].spec, spec);
    assert_true(result.sinks[0].takes_stats);
    assert_false(result.sinks[0].failed);
    assert_int_equal(result.sinks[0].written, result.alerts + result.anomalies);
    assert_int_equal(caller.n_events, 0);
    sl_run_close(run);
    unlink(spec + 4);
}

static void test_redundancy(void **state)
{
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_savings_row total;
    struct sl_run *run;

    (void)state;
    config.redundancy.on = config.redundancy.compare = true;
    config.redundancy.sampling.period = 32;
    const struct sl_run_result result = execute(&run, &config);
    assert_true(result.n_samplers >= 5);
    for (uint32_t i = 0; i < result.n_samplers; i++) {
        sl_savings_total(result.samplers[i].savings, &total);
        assert_true(total.count.bytes > 0);
    }
    sl_run_close(run);
}

/* ---- variants -------------------------------------------------------------------------------- */

static enum sl_status create(struct caller *caller, const char *variants, const char *sampler,
                             struct sl_diag *diag)
{
    struct sl_run_config config = config_of(caller);
    struct sl_run *run;

    config.variants = variants;
    config.redundancy.on = sampler != NULL;
    if (sampler != NULL)
        config.redundancy.sampling.sampler = sampler;
    const enum sl_status status = sl_run_create(&run, &config, diag);
    sl_run_close(run);
    return status;
}

static void test_variants(void **state)
{
    struct caller plain = {0}, varied = {0};
    struct sl_run_config config = config_of(&plain);
    struct sl_diag diag = {0};
    struct sl_run *run;

    (void)state;
    struct sl_run_result result = execute(&run, &config);
    const uint64_t n_alerts = result.alerts;
    assert_null(result.variants);
    sl_run_close(run);
    config = config_of(&varied);
    config.variants = "mpm:ac";
    result = execute(&run, &config);
    assert_string_equal(result.matcher.algorithm, "ac");
    assert_string_equal(result.variants, "mpm:ac");
    assert_int_equal(result.alerts, n_alerts);
    sl_run_close(run);

    assert_int_equal(create(&varied, "sampling:rabin", "rabin", &diag), SL_OK);
    assert_int_equal(create(&varied, "mpm:ac,sampling:maxp", "maxp", &diag), SL_OK);
    assert_int_equal(create(&varied, "mpm:none-such", NULL, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "none-such"));
    assert_int_equal(create(&varied, "sampling:none-such", "rabin", &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "none-such"));
    assert_int_equal(create(&varied, "sampling:maxp", NULL, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "has no use"));
    assert_int_equal(create(&varied, "sampling:maxp", "rabin", &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "another sampler"));
    assert_int_equal(create(&varied, "names:mata", NULL, &diag), SL_EINVAL);
    assert_int_equal(create(&varied, "mpm:", NULL, &diag), SL_EINVAL);
    assert_int_equal(create(&varied, "wm", NULL, &diag), SL_EINVAL);
    assert_int_equal(create(&varied, "mpm:ac,", NULL, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "is no variant"));
}

/* ---- other threads --------------------------------------------------------------------------- */

/* Packets without an end. */
static enum sl_status fill_for_ever(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct caller *caller = user;
    uint8_t bytes[60] = {0};

    (void)diag;
    usleep(1000);
    atomic_fetch_add(&caller->packets_wanted, 1);
    assert_true(sl_run_add_packet(batch, bytes, sizeof bytes, 0, 1));
    return SL_OK;
}

static void *stop_later(void *argument)
{
    struct caller *caller = argument;
    struct sl_stats stats;

    do {
        sl_run_snapshot(caller->to_stop, &stats);
        usleep(1000);
    } while (stats.packets < 20);
    assert_true(stats.has_rules && stats.has_header_checks && !stats.live);
    assert_true(stats.uptime_ns > 0 && stats.start_ns > 0);
    assert_string_equal(stats.version, sl_version());
    sl_run_stop(caller->to_stop);
    return NULL;
}

static void test_stop(void **state)
{
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_run_result result;
    struct sl_stats stats;
    struct sl_diag diag;
    pthread_t thread;

    (void)state;
    config.n_files = 0;
    config.fill = fill_for_ever;
    assert_int_equal(sl_run_create(&caller.to_stop, &config, &diag), SL_OK);
    sl_run_snapshot(caller.to_stop, &stats);
    assert_int_equal(stats.packets, 0);
    assert_false(stats.has_rules);
    assert_int_equal(sl_run_open(caller.to_stop, &diag), SL_OK);
    pthread_create(&thread, NULL, stop_later, &caller);
    assert_int_equal(sl_run_execute(caller.to_stop, &diag), SL_OK);
    pthread_join(thread, NULL);
    sl_run_result(caller.to_stop, &result);
    assert_true(result.captured.packets >= 20);
    assert_int_equal(result.captured.packets, atomic_load(&caller.packets_wanted));
    sl_run_close(caller.to_stop);
}

/* A stop before the run begins is kept. */
static void test_stop_first(void **state)
{
    struct caller caller = {0};
    const struct sl_run_config config = config_of(&caller);
    struct sl_run_result result;
    struct sl_run *run;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    sl_run_stop(run);
    assert_int_equal(sl_run_execute(run, &diag), SL_OK);
    sl_run_result(run, &result);
    assert_int_equal(result.captured.packets, 0);
    sl_run_close(run);
}

static void *execute_again(void *argument)
{
    struct caller *caller = argument;
    const struct sl_run_config config = config_of(caller);

    for (int i = 0; i < 5; i++) {
        struct sl_run *run;

        caller->last_position = 0;
        const struct sl_run_result result = execute(&run, &config);
        assert_int_equal(result.captured.packets, SAMPLE_PACKETS);
        sl_run_close(run);
    }
    return NULL;
}

static void test_two_runs(void **state)
{
    struct caller one = {0}, other = {0};
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, execute_again, &one);
    (void)execute_again(&other);
    pthread_join(thread, NULL);
    assert_int_equal(one.n_events, other.n_events);
    assert_true(one.n_events > 0 && one.n_events % 5 == 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The run fails before it is executed. */
static void assert_fails(const struct sl_run_config *config, enum sl_status status,
                         const char *reason)
{
    struct sl_diag diag = {0};
    struct sl_run *run;
    char text[1100];
    enum sl_status got = sl_run_create(&run, config, &diag);

    if (got == SL_OK)
        got = sl_run_open(run, &diag);
    sl_diag_format(&diag, text, sizeof text);
    assert_int_equal(got, status);
    if (strstr(text, reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, text);
    sl_run_close(run);
}

static void test_bad_config(void **state)
{
    static const char *const missing[] = {"/nowhere/rules"}, *const bad[] = {"HOME_NET"};
    static const char *const no_sink[] = {"nowhere:x"};
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);

    (void)state;
    config.n_files = 0;
    assert_fails(&config, SL_EINVAL, "one of them");
    config = config_of(&caller);
    config.fill = fill;
    assert_fails(&config, SL_EINVAL, "one of them");
    config = config_of(&caller);
    config.devices = "toaster";
    assert_fails(&config, SL_EINVAL, "toaster");
    config = config_of(&caller);
    config.n_sinks = SL_RUN_SINKS_MAX;
    assert_fails(&config, SL_EINVAL, "at most 8");
    config = config_of(&caller);
    config.rule_files = missing;
    assert_fails(&config, SL_EIO, "/nowhere/rules");
    config = config_of(&caller);
    config.rule_variables = bad;
    config.n_rule_variables = 1;
    assert_fails(&config, SL_EINVAL, "NAME=VALUE");
    config = config_of(&caller);
    config.sinks = no_sink;
    config.n_sinks = 1;
    assert_fails(&config, SL_EINVAL, "nowhere");
    config = config_of(&caller);
    config.stats_seconds = 1;
    assert_fails(&config, SL_EINVAL, "no sink takes them");
    config = config_of(&caller);
    config.events = 1u << SL_N_EVENT_KINDS;
    assert_fails(&config, SL_EINVAL, "events 0x10000");
    config = config_of(&caller);
    config.compiled = "/nowhere/compiled";
    assert_fails(&config, SL_EIO, "/nowhere/compiled");
    assert_int_equal(caller.n_notices, 0);
}

/* A run that was not created for a fault has counters, all 0. */
static void test_failed_create(void **state)
{
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_stats stats;
    struct sl_diag diag;
    struct sl_run *run;

    (void)state;
    config.n_files = 0;
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_EINVAL);
    memset(&stats, 0xFF, sizeof stats);
    sl_run_snapshot(run, &stats);
    assert_int_equal(stats.pipeline.stats.items, 0);
    assert_false(stats.pipeline.running);
    sl_run_close(run);
}

static void test_bad_files(void **state)
{
    const char *const missing[] = {"/nowhere/1", "/nowhere/2"};
    const char *const files[] = {"/nowhere/1", capture};
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_run *run;

    (void)state;
    config.files = missing;
    config.n_files = 2;
    assert_fails(&config, SL_EIO, "/nowhere/2");
    assert_int_equal(caller.n_notices, 1); /* of the first; the second ended the opening */
    assert_int_equal(caller.kind, SL_RUN_SOURCE_FAILED);
    assert_non_null(strstr(caller.text, "/nowhere/1"));

    config.files = files;
    const struct sl_run_result result = execute(&run, &config);
    assert_int_equal(result.failed_sources, 1);
    assert_true(result.found_capture);
    assert_int_equal(caller.n_notices, 2);
    sl_run_close(run);
}

static void test_failing_functions(void **state)
{
    struct caller caller = {.fail_at = 3};
    struct sl_run_config config = config_of(&caller);
    struct sl_run_result result;
    struct sl_diag diag = {0};
    struct sl_run *run;

    (void)state;
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    assert_int_equal(sl_run_execute(run, &diag), SL_EIO);
    assert_string_equal(diag.text, "the caller has enough");
    sl_run_result(run, &result);
    assert_true(result.sinks[0].failed);
    assert_int_equal(result.status, SL_EIO);
    assert_int_equal(sl_run_execute(run, &diag), SL_EINVAL); /* once a run */
    sl_run_close(run);
    assert_int_equal(caller.n_events, 3);

    caller.failed = true;
    config.n_files = 0;
    config.fill = fill;
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    assert_int_equal(sl_run_execute(run, &diag), SL_EFORMAT);
    assert_string_equal(diag.text, "the memory is gone");
    sl_run_close(run);
}

static void test_bad_rules(void **state)
{
    struct caller caller = {0};
    struct sl_run_config config = config_of(&caller);
    struct sl_diag diag;
    struct sl_run *run;

    (void)state;
    config.n_rule_files = 0;
    assert_int_equal(sl_rules_create(&config.rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(config.rules, "mine", "alert tcp any (\n", 16, &diag),
                     SL_EFORMAT);
    assert_fails(&config, SL_EINVAL, "no rule was loaded");
    assert_int_equal(caller.kind, SL_RUN_RULES_BAD);
    sl_rules_free(config.rules);

    const char text[] = "alert tcp any any -> any any (msg:\"all\"; flow:stateless; sid:1;)\n";
    assert_int_equal(sl_rules_create(&config.rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(config.rules, "mine", text, sizeof text - 1, &diag), SL_OK);
    const struct sl_run_result result = execute(&run, &config);
    assert_true(result.alerts > 500);
    assert_int_equal(result.by_signature[0], result.alerts);
    sl_run_close(run);
    sl_rules_free(config.rules);
}

static void test_close(void **state)
{
    struct caller caller = {0};
    const struct sl_run_config config = config_of(&caller);
    struct sl_run *run;
    struct sl_diag diag;

    (void)state;
    sl_run_close(NULL);
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    sl_run_close(run);
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    assert_int_equal(sl_run_open(run, &diag), SL_OK);
    assert_int_equal(sl_run_open(run, &diag), SL_EINVAL);
    sl_run_close(run); /* open, and never executed */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_function_sink),
        cmocka_unit_test(test_kinds_of_events),
        cmocka_unit_test(test_dns_messages),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_add_packet),
        cmocka_unit_test(test_add_long_packet),
        cmocka_unit_test(test_file_sink),
        cmocka_unit_test(test_redundancy),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_first),
        cmocka_unit_test(test_two_runs),
        cmocka_unit_test(test_bad_config),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_failing_functions),
        cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_failed_create),
    };

    if (argc != 2)
        return EXIT_FAILURE;
    snprintf(capture, sizeof capture, "%s/sample.pcap", argv[1]);
    snprintf(rules, sizeof rules, "%s/sample.rules", argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
