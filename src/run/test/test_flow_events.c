/* SPDX-License-Identifier: MIT */
/* Events of flows, DNS messages and alerts in names of messages, which are made items: the same
 * bytes for any number of threads, any cut into batches, and on simulated GPUs.
 *
 * Argument: the folder of sample captures and rules. */
#include <limits.h>
#include <unistd.h>

#include "test.h"

#include "device/test/simulated.h"
#include "run/run_internal.h"
#include "sluice/sluice.h"

enum { MAX_PACKETS = 2000 };

static char capture[PATH_MAX + 32], rules[PATH_MAX + 32];

/* They match in made items: those of DNS in nine messages of the sample, one of them over TCP,
 * those of HTTP in 33, 24, 27 and 18, and those of TLS in three. */
static const char names_file[] = "flow_events.rules";
static const char names_rules[] =
    "alert dns any any -> any any (msg:\"query\"; dns.query; content:\"site.example\"; sid:1;)\n"
    "alert dns any any -> any any (msg:\"any\"; dns.queries.rrname; content:\"beacon\"; nocase; "
    "sid:2;)\n"
    "alert http any any -> any any (http.uri; content:\"/\"; startswith; sid:11;)\n"
    "alert http any any -> any any (http.user_agent; content:\"curl\"; sid:12;)\n"
    "alert http any any -> any any (file.data; content:\"e\"; content:\"a\"; distance:0; sid:13;)\n"
    "alert http any any -> any any (http.stat_code; content:\"200\"; http.header; "
    "content:\"Server|3a|\"; sid:14;)\n"
    "alert tls any any -> any any (tls.sni; content:\"e\"; sid:15;)\n"
    "alert tls any any -> any any (tls.cert_subject; content:\"CN=\"; sid:16;)\n";

/* The packets of the sample, `rounds` times. Time goes by `slower`, so that flows time out. */
static struct {
    struct sl_batch *batch;
    uint32_t rounds;
    int64_t slower;
} packets;

/* Where the source is, how many packets a batch gets at most, and the counts of flows and their
 * events. */
struct source {
    uint32_t next, max_items;
    uint64_t seed;
    uint64_t n_flows, n_messages, n_alerted, n_names, n_http, n_tls, n_said, packets, bytes,
        by_reason[4];
};

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct source *source = user;
    const uint32_t n = packets.batch->n_items;
    uint32_t room = 1 + test_below(&source->seed, source->max_items);

    (void)diag;
    for (; source->next < n * packets.rounds && room != 0; source->next++, room--) {
        const uint32_t item = source->next % n;
        const struct sl_packet *packet = &packets.batch->packet[item];
        const int64_t time = packets.batch->origin[item].time_ns - packets.batch->origin[0].time_ns;

        if (!sl_run_add_packet(batch, packets.batch->bytes + packet->offset, packet->len,
                               1 + (time * packets.slower) +
                                   source->next / n * INT64_C(100000000000),
                               packets.batch->origin[item].link_type))
            return SL_OK;
    }
    return source->next < n * packets.rounds ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct source *source = user;
    const struct sl_flow_record *flow = event->flow;

    (void)diag;
    source->n_messages += event->kind == SL_EVENT_DNS_MESSAGE;
    source->n_names += event->kind == SL_EVENT_ALERT && event->signature->sid <= 2;
    source->n_said +=
        event->kind == SL_EVENT_ALERT && event->signature->sid >= 11 && event->signature->sid <= 16;
    source->n_http += event->kind == SL_EVENT_HTTP_MESSAGE;
    source->n_tls += event->kind == SL_EVENT_TLS_MESSAGE;
    if (event->kind != SL_EVENT_FLOW)
        return SL_OK;
    assert_non_null(event->community_id);
    source->n_flows++;
    source->n_alerted += flow->alerted;
    source->packets += flow->client.packets + flow->server.packets;
    source->bytes += flow->client.bytes + flow->server.bytes;
    source->by_reason[flow->reason]++;
    return SL_OK;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0;

    assert_non_null(file);
    assert_true(getdelim(&text, &cap, '\0', file) > 0);
    fclose(file);
    return text;
}

/* Runs over all packets and returns the text of all events. */
static char *run_once(struct source *source, const char *devices, uint32_t n_workers,
                      uint64_t memory, struct sl_run_result *result)
{
    static const uint64_t seed[2] = {1, 2};
    static const char *const rule_files[] = {rules, names_file};
    static const char *const sinks[] = {"eve:flow_events.json"};
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *run;

    (void)unlink("flow_events.json");
    sl_run_config_init(&config);
    config.fill = fill;
    config.rule_files = rule_files;
    config.n_rule_files = 2;
    config.check_headers = true;
    config.devices = devices;
    config.event = on_event;
    config.sinks = sinks;
    config.n_sinks = 1;
    config.user = source;
    config.events = (1u << SL_N_EVENT_KINDS) - 1;
    config.flow_memory = memory;
    config.flow_seed = seed;
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    run->pipeline.n_workers = n_workers;
    run->pipeline.batch_len = (1 << 20) + RUN_FRAGMENTS_ROOM; /* memory of GPUs is cleared */
    run->pipeline.batch_items = MAX_PACKETS + RUN_FRAGMENTS_ITEMS;
    if (sl_run_execute(run, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(run, result);
    sl_run_close(run);
    return read_file("flow_events.json");
}

static void compare(const char *expected, const char *devices, uint32_t n_workers,
                    uint32_t max_items, uint64_t memory)
{
    struct source again = {.max_items = max_items, .seed = n_workers + max_items};
    struct sl_run_result result;
    char *text = run_once(&again, devices, n_workers, memory, &result);

    if (strcmp(text, expected) != 0)
        fail_msg("%s, %u workers, up to %u packets a batch: other events", devices, n_workers,
                 max_items);
    free(text);
}

static void compare_runs(uint64_t memory, struct source *first)
{
    static const uint32_t max_items[] = {1, 3, 50, 700};
    struct sl_run_result result;
    struct source source = {.max_items = MAX_PACKETS, .seed = 1};
    char *expected = run_once(&source, "cpu", 1, memory, &result);

    *first = source;
    assert_int_equal(source.n_flows, result.flows.flows);
    assert_int_equal(source.by_reason[SL_FLOW_END_FORCED], result.flows.evicted);
    assert_int_equal(source.by_reason[SL_FLOW_END_TIMEOUT], result.flows.timed_out);
    assert_int_equal(source.by_reason[SL_FLOW_END_SHUTDOWN], result.flows.active);
    /* A run is slow under a sanitizer, which sees each number of workers and each size once. */
    for (uint32_t n = 0, n_workers = 1; n < 4; n++, n_workers *= 4)
        for (uint32_t i = 0; i < 4; i++)
            if (i == n || (!TEST_SANITIZED && n < 3))
                compare(expected, "cpu", n_workers, max_items[i], memory);
    for (uint32_t i = 2; i < 4; i++)
        compare(expected, "cuda:0,1", 0, max_items[i], memory);
    free(expected);
}

static void test_events_depend_on_no_cut_and_no_thread(void **state)
{
    struct source source;

    (void)state;
    packets.rounds = 2;
    packets.slower = 1;
    compare_runs(0, &source);
    assert_true(source.n_alerted > 3 && source.n_alerted < source.n_flows);
    assert_int_equal(source.n_messages, 2 * 18);
    assert_int_equal(source.n_names, 2 * 9);
    assert_int_equal(source.n_http, 2 * 33);
    assert_int_equal(source.n_tls, 2 * 3);
    assert_int_equal(source.n_said, 2 * (33 + 24 + 27 + 18 + 3 + 3));
    assert_int_equal(source.by_reason[SL_FLOW_END_FORCED], 0);
    assert_true(source.by_reason[SL_FLOW_END_TIMEOUT] > 10);
    packets.slower = 1000;
    compare_runs(0, &source);
    assert_true(source.by_reason[SL_FLOW_END_TIMEOUT] > source.by_reason[SL_FLOW_END_SHUTDOWN]);
}

/* Room for a few flows: the ones that give way are the same. */
static void test_a_full_table_is_as_constant(void **state)
{
    struct source source;

    (void)state;
    packets.rounds = 2;
    packets.slower = 1;
    compare_runs(6000, &source);
    assert_true(source.by_reason[SL_FLOW_END_FORCED] > 10);
    assert_true(source.n_alerted > 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_depend_on_no_cut_and_no_thread),
        cmocka_unit_test(test_a_full_table_is_as_constant),
    };
    char samples[PATH_MAX], folder[] = "/tmp/test_flow_events_XXXXXX";
    struct sl_capture *source;
    struct sl_diag diag;

    if (argc != 2 || realpath(argv[1], samples) == NULL || mkdtemp(folder) == NULL ||
        chdir(folder) != 0)
        return 1;
    FILE *file = fopen(names_file, "w");
    assert_non_null(file);
    fputs(names_rules, file);
    fclose(file);
    simulated_reset(2, 50);
    snprintf(capture, sizeof capture, "%s/sample.pcap", samples);
    snprintf(rules, sizeof rules, "%s/sample.rules", samples);
    if (sl_batch_create(&packets.batch, 4 << 20, MAX_PACKETS, &diag) != SL_OK ||
        sl_capture_open_file(&source, capture, 0, &diag) != SL_OK ||
        sl_capture_read(source, packets.batch, &diag) > SL_END)
        return 1;
    sl_capture_close(source);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sl_batch_free(packets.batch);
    (void)unlink(names_file);
    (void)unlink("flow_events.json");
    (void)rmdir(folder);
    return failed;
}
