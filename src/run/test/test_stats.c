/* SPDX-License-Identifier: MIT */
/* A run's counters in each of their forms: every one arrives once, under its name. */
#include "test.h"

#include <jansson.h>

#include "sluice/stats.h"

/* Counters that are all different, so that one in another's place is seen. */
static void make_stats(struct sl_stats *stats)
{
    struct sl_pipeline_snapshot *pipeline = &stats->pipeline;

    *stats = (struct sl_stats){
        .start_ns = INT64_C(1767348662000000007),
        .time_ns = INT64_C(1767348672123456789),
        .uptime_ns = UINT64_C(10123456782),
        .version = "1.2.3",
        .packets = 1001,
        .bytes = 900901,
        .failed_sources = 3,
        .live = true,
        .kernel_packets = 1011,
        .kernel_drops = 10,
        .interface_drops = 3,
        .flows = {11, 12, 13, 14, 15, 16, 17, 18, 19},
        .has_header_checks = true,
        .has_rules = true,
        .rules = {.loaded = 20, .skipped = 21, .bad = 22},
        .alerts = UINT64_C(1) << 62,
        .rules_stopped = 23,
        .fragments = {.fragments = 31, .timed_out = 1, .evicted = 2, .left_out = 4},
        .has_streams = true,
        .has_apps = true,
        .apps = {.flows = 1,
                 .messages = 2,
                 .transactions = 3,
                 .flows_evicted = 4,
                 .left_out = 5,
                 .bodies_cut = 6,
                 .files_cut = 7},
        .streams = {.segments = 30,
                    .bytes = 31,
                    .queued = 32,
                    .retransmitted = 33,
                    .conflicts = 34,
                    .dropped = 35,
                    .unevaluated = 36,
                    .unacknowledged = 37,
                    .contexts_lost = 38,
                    .plain = 39,
                    .keep_alives = 40,
                    .urgent = 41},
    };
    stats->fragments.faults[SL_FRAGMENT_ENDS] = 8;
    for (uint64_t p = 0; p < SL_N_PROTOCOLS; p++) {
        stats->dissected.packets[p] = 100 + p;
        stats->dissected.bytes[p] = 200 + p;
    }
    for (uint64_t d = 0; d < SL_N_DEFECTS; d++)
        stats->dissected.defects[d] = 300 + d;
    for (uint64_t c = 0; c < SL_N_HEADER_CHECKS; c++)
        stats->anomalies[c] = 400 + c;
    for (uint64_t g = 0; g < SL_N_GAPS; g++) {
        stats->streams.gaps[g] = 50 + g;
        stats->streams.gap_bytes[g] = 60 + g;
    }
    for (uint64_t d = 0; d < SL_N_DOUBTS; d++)
        stats->streams.doubts[d] = 70 + d;
    pipeline->running = true;
    pipeline->n_engines = 3;
    for (uint32_t e = 0; e < 3; e++) {
        pipeline->engine[e] = e == 1 ? "header" : "mpm.gram"; /* two of one name */
        pipeline->stats.backend[e] = e == 1 ? "avx2" : "scalar";
        pipeline->stats.engine_hits[e] = 500 + e;
        pipeline->stats.engine_ns[e] = UINT64_C(6000000001) + e;
    }
    pipeline->stats.batches = 601;
    pipeline->stats.fill_ns = 1;
    pipeline->stats.load_ns = UINT64_C(1000000000);
    pipeline->stats.order_ns = UINT64_C(1500000000);
    pipeline->stats.work_ns = UINT64_C(2000000345);
    pipeline->stats.digest_ns = UINT64_C(3000000000);
    pipeline->stats.drain_ns = UINT64_C(123456789012345678);
    pipeline->stats.n_devices = 2;
    for (uint32_t d = 0; d < 2; d++)
        pipeline->stats.devices[d] = (struct sl_pipeline_device){
            .device = {.kind = d == 0 ? SL_DEVICE_CUDA : SL_DEVICE_CPU, .index = 3 - 3 * (int)d},
            .batches = 900 + d,
            .redone = 910 + d,
            .dropped = d == 0};
    strcpy(pipeline->stats.devices[0].device.name, "a \"GPU\"");
    pipeline->stats.latency.packets = 920;
    pipeline->stats.latency.p50_ns = 921;
    pipeline->stats.latency.p99_ns = 922;
    pipeline->stats.latency.p999_ns = 923;
    pipeline->stats.latency.max_ns = UINT64_C(9240000000);
    pipeline->stats.n_workers = 602;
    for (uint32_t s = 0; s < SL_N_PIPELINE_STAGES; s++) {
        pipeline->stage[s].waiting = 700 + s;
        pipeline->stage[s].busy = 800 + s;
    }
}

/* ---- Prometheus ------------------------------------------------------------------------------ */

static char *exposition(const struct sl_stats *stats)
{
    size_t len;
    char *text;

    assert_int_equal(sl_stats_prometheus(stats, &text, &len), SL_OK);
    assert_int_equal(strlen(text), len);
    assert_true(len > 0 && text[len - 1] == '\n');
    return text;
}

/* How many lines are `series`, a space and `value`; of all values where it is NULL. */
static uint32_t count_samples(const char *text, const char *series, const char *value)
{
    const size_t len = strlen(series);
    uint32_t n = 0;

    for (; text != NULL && *text != '\0'; text = strchr(text, '\n') + 1) {
        if (strncmp(text, series, len) != 0 || text[len] != ' ')
            continue;
        const char *at = text + len + 1;
        n += value == NULL || (strncmp(at, value, strlen(value)) == 0 && at[strlen(value)] == '\n');
    }
    return n;
}

/* The series is there once, and has this value. */
static void check_sample(const char *text, const char *series, const char *value)
{
    if (count_samples(text, series, NULL) != 1 || count_samples(text, series, value) != 1)
        fail_msg("%s %s is not there, or more than once", series, value);
}

static void check_count(const char *text, const char *metric, const char *label, const char *name,
                        uint64_t value)
{
    char series[200], digits[24];

    snprintf(series, sizeof series, "%s{%s=\"%s\"}", metric, label, name);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    check_sample(text, series, digits);
}

static const struct {
    const char *series, *value;
} samples[] = {
    {"sluice_info{version=\"1.2.3\"}", "1"},
    {"sluice_start_time_seconds", "1767348662.000000007"},
    {"sluice_running", "1"},
    {"sluice_packets_total", "1001"},
    {"sluice_bytes_total", "900901"},
    {"sluice_failed_sources_total", "3"},
    {"sluice_app_flows_total", "1"},
    {"sluice_app_messages_total", "2"},
    {"sluice_app_transactions_total", "3"},
    {"sluice_app_flows_evicted_total", "4"},
    {"sluice_app_left_out_total", "5"},
    {"sluice_app_bodies_cut_total", "6"},
    {"sluice_app_files_cut_total", "7"},
    {"sluice_kernel_packets_total", "1011"},
    {"sluice_kernel_drops_total", "10"},
    {"sluice_interface_drops_total", "3"},
    {"sluice_flows_total{protocol=\"TCP\"}", "12"},
    {"sluice_flows_total{protocol=\"UDP\"}", "13"},
    {"sluice_flows_total{protocol=\"other\"}", "14"},
    {"sluice_flows_midstream_total", "15"},
    {"sluice_flows_evicted_total", "16"},
    {"sluice_flows_timed_out_total", "17"},
    {"sluice_flows_reused_total", "19"},
    {"sluice_flows_active", "18"},
    {"sluice_rules{state=\"loaded\"}", "20"},
    {"sluice_rules{state=\"skipped\"}", "21"},
    {"sluice_rules{state=\"bad\"}", "22"},
    {"sluice_alerts_total", "4611686018427387904"},
    {"sluice_rules_stopped_total", "23"},
    {"sluice_stream_segments_total", "30"},
    {"sluice_stream_bytes_total", "31"},
    {"sluice_stream_queued_total", "32"},
    {"sluice_stream_retransmitted_bytes_total", "33"},
    {"sluice_stream_conflicts_total", "34"},
    {"sluice_stream_dropped_bytes_total", "35"},
    {"sluice_stream_unevaluated_bytes_total", "36"},
    {"sluice_stream_unacknowledged_total", "37"},
    {"sluice_stream_contexts_lost_total", "38"},
    {"sluice_fragments_total", "31"},
    {"sluice_fragments_lost_total", "7"},
    {"sluice_fragments_faults_total{reason=\"ends\"}", "8"},
    {"sluice_stream_gaps_total{cause=\"lost\"}", "50"},
    {"sluice_stream_gaps_total{cause=\"end\"}", "55"},
    {"sluice_stream_gap_bytes_total{cause=\"lost\"}", "60"},
    {"sluice_stream_gap_bytes_total{cause=\"end\"}", "65"},
    {"sluice_stream_doubts_total{reason=\"checksum\"}", "70"},
    {"sluice_stream_doubts_total{reason=\"rst\"}", "79"},
    {"sluice_engine_info{engine=\"mpm.gram\",backend=\"scalar\"}", "1"},
    {"sluice_engine_info{engine=\"header\",backend=\"avx2\"}", "1"},
    {"sluice_engine_info{engine=\"mpm.gram-2\",backend=\"scalar\"}", "1"},
    {"sluice_engine_hits_total{engine=\"mpm.gram\"}", "500"},
    {"sluice_engine_hits_total{engine=\"header\"}", "501"},
    {"sluice_engine_hits_total{engine=\"mpm.gram-2\"}", "502"},
    {"sluice_engine_seconds_total{engine=\"mpm.gram\"}", "6.000000001"},
    {"sluice_engine_seconds_total{engine=\"header\"}", "6.000000002"},
    {"sluice_engine_seconds_total{engine=\"mpm.gram-2\"}", "6.000000003"},
    {"sluice_device_info{device=\"cuda:3\",name=\"a \\\"GPU\\\"\"}", "1"},
    {"sluice_device_info{device=\"cpu\",name=\"\"}", "1"},
    {"sluice_device_batches_total{device=\"cuda:3\"}", "900"},
    {"sluice_device_batches_total{device=\"cpu\"}", "901"},
    {"sluice_device_redone_total{device=\"cuda:3\"}", "910"},
    {"sluice_device_redone_total{device=\"cpu\"}", "911"},
    {"sluice_device_dropped{device=\"cuda:3\"}", "1"},
    {"sluice_device_dropped{device=\"cpu\"}", "0"},
    {"sluice_latency_seconds{quantile=\"0.5\"}", "0.000000921"},
    {"sluice_latency_seconds{quantile=\"0.99\"}", "0.000000922"},
    {"sluice_latency_seconds{quantile=\"0.999\"}", "0.000000923"},
    {"sluice_latency_seconds{quantile=\"1\"}", "9.240000000"},
    {"sluice_latency_seconds_count", "920"},
    {"sluice_batches_total", "601"},
    {"sluice_stage_seconds_total{stage=\"fill\"}", "0.000000001"},
    {"sluice_stage_seconds_total{stage=\"load\"}", "1.000000000"},
    {"sluice_stage_seconds_total{stage=\"order\"}", "1.500000000"},
    {"sluice_stage_seconds_total{stage=\"work\"}", "2.000000345"},
    {"sluice_stage_seconds_total{stage=\"digest\"}", "3.000000000"},
    {"sluice_stage_seconds_total{stage=\"drain\"}", "123456789.012345678"},
    {"sluice_queue_depth{stage=\"fill\"}", "700"},
    {"sluice_queue_depth{stage=\"load\"}", "701"},
    {"sluice_queue_depth{stage=\"work\"}", "702"},
    {"sluice_queue_depth{stage=\"drain\"}", "703"},
    {"sluice_stage_batches{stage=\"fill\"}", "800"},
    {"sluice_stage_batches{stage=\"load\"}", "801"},
    {"sluice_stage_batches{stage=\"work\"}", "802"},
    {"sluice_stage_batches{stage=\"drain\"}", "803"},
    {"sluice_workers", "602"},
};

enum { N_SAMPLES = sizeof samples / sizeof *samples };

static void test_prometheus_has_each_counter_once(void **state)
{
    struct sl_stats stats;
    uint32_t n_lines = 0;

    (void)state;
    make_stats(&stats);
    char *text = exposition(&stats);
    for (int i = 0; i < N_SAMPLES; i++)
        check_sample(text, samples[i].series, samples[i].value);
    for (uint64_t p = 0; p < SL_N_PROTOCOLS; p++) {
        const char *name = sl_protocol_name((enum sl_protocol)p);

        check_count(text, "sluice_protocol_packets_total", "protocol", name, 100 + p);
        check_count(text, "sluice_protocol_bytes_total", "protocol", name, 200 + p);
    }
    for (uint64_t d = 1; d < SL_N_DEFECTS; d++)
        check_count(text, "sluice_undecodable_packets_total", "reason",
                    sl_defect_name((enum sl_defect)d), 300 + d);
    for (uint64_t c = 0; c < SL_N_HEADER_CHECKS; c++)
        check_count(text, "sluice_anomalies_total", "check",
                    sl_header_check_name((enum sl_header_check)c), 400 + c);
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1)
        n_lines += *at != '#';
    assert_int_equal(n_lines, N_SAMPLES + 2 * (SL_N_GAPS - 2) + SL_N_DOUBTS - 2 +
                                  2 * SL_N_PROTOCOLS + SL_N_DEFECTS - 1 + SL_N_HEADER_CHECKS +
                                  SL_N_FRAGMENT_FAULTS + 1);
    free(text);
}

static void test_prometheus_escapes_labels(void **state)
{
    struct sl_stats stats;

    (void)state;
    make_stats(&stats);
    stats.version = "a\\b\"c\nd \xC3\xA9\xFF\xC3";
    stats.pipeline.engine[0] = "\n\n";
    stats.pipeline.engine[2] = "\n\n";
    stats.pipeline.stats.backend[1] = "";
    char *text = exposition(&stats);
    check_sample(text, "sluice_info{version=\"a\\\\b\\\"c\\nd \xC3\xA9\\\\xff\\\\xc3\"}", "1");
    check_sample(text, "sluice_engine_hits_total{engine=\"\\n\\n\"}", "500");
    check_sample(text, "sluice_engine_hits_total{engine=\"\\n\\n-2\"}", "502");
    check_sample(text, "sluice_engine_info{engine=\"header\",backend=\"\"}", "1");
    free(text);
}

static void test_prometheus_leaves_out_what_is_not_switched_on(void **state)
{
    static const char *const absent[] = {"sluice_kernel_",   "sluice_alerts",  "sluice_rules",
                                         "sluice_anomalies", "sluice_engine_", "sluice_device_",
                                         "sluice_latency",   "sluice_stream_"};
    struct sl_stats stats;

    (void)state;
    make_stats(&stats);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        char *text = exposition(&stats);
        assert_non_null(strstr(text, absent[i]));
        free(text);
    }
    stats.live = stats.has_rules = stats.has_header_checks = stats.has_streams = false;
    stats.has_apps = false;
    stats.pipeline.n_engines = stats.pipeline.stats.n_devices = 0;
    stats.pipeline.stats.latency.packets = 0;
    stats.start_ns = -1; /* a clock that nobody set */
    char *text = exposition(&stats);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(strstr(text, absent[i]));
    check_sample(text, "sluice_start_time_seconds", "0.000000000");
    free(text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The value at a path of keys, one behind the other. */
static json_t *at_path(json_t *value, const char *path)
{
    char key[64];

    while (value != NULL && *path != '\0') {
        const size_t len = strcspn(path, ">");

        snprintf(key, sizeof key, "%.*s", (int)len, path);
        value = json_object_get(value, key);
        path += len + (path[len] == '>');
    }
    return value;
}

static void check_integer(json_t *event, const char *path, uint64_t expected)
{
    json_t *value = at_path(event, path);

    if (!json_is_integer(value) || (uint64_t)json_integer_value(value) != expected)
        fail_msg("%s is not %llu", path, (unsigned long long)expected);
}

static const struct {
    const char *path;
    uint64_t value;
} members[] = {
    {"uptime", 10},
    {"sluice>app>flows", 1},
    {"sluice>app>messages", 2},
    {"sluice>app>transactions", 3},
    {"sluice>app>flows_evicted", 4},
    {"sluice>app>left_out", 5},
    {"sluice>app>bodies_cut", 6},
    {"sluice>app>files_cut", 7},
    {"capture>kernel_packets", 1011},
    {"capture>kernel_drops", 10},
    {"capture>kernel_ifdrops", 3},
    {"decoder>pkts", 1001},
    {"decoder>bytes", 900901},
    {"decoder>avg_pkt_size", 900},
    {"decoder>ethernet", 100 + SL_PROTOCOL_ETHERNET},
    {"decoder>vlan", 100 + SL_PROTOCOL_VLAN},
    {"decoder>mpls", 100 + SL_PROTOCOL_MPLS},
    {"decoder>pppoe", 100 + SL_PROTOCOL_PPPOE},
    {"decoder>ppp", 100 + SL_PROTOCOL_PPP},
    {"decoder>arp", 100 + SL_PROTOCOL_ARP},
    {"decoder>ipv4", 100 + SL_PROTOCOL_IPV4},
    {"decoder>ipv6", 100 + SL_PROTOCOL_IPV6},
    {"decoder>gre", 100 + SL_PROTOCOL_GRE},
    {"decoder>vxlan", 100 + SL_PROTOCOL_VXLAN},
    {"decoder>geneve", 100 + SL_PROTOCOL_GENEVE},
    {"decoder>teredo", 100 + SL_PROTOCOL_TEREDO},
    {"decoder>tcp", 100 + SL_PROTOCOL_TCP},
    {"decoder>udp", 100 + SL_PROTOCOL_UDP},
    {"decoder>sctp", 100 + SL_PROTOCOL_SCTP},
    {"decoder>icmpv4", 100 + SL_PROTOCOL_ICMP},
    {"decoder>icmpv6", 100 + SL_PROTOCOL_ICMPV6},
    {"decoder>unknown_ethertype", 100 + SL_PROTOCOL_OTHER_LINK},
    {"flow>total", 11},
    {"flow>active", 18},
    {"flow>tcp", 12},
    {"flow>udp", 13},
    {"tcp>midstream_pickups", 15},
    {"tcp>invalid_checksum", 70},
    {"tcp>reassembly_gap", 50 + 51 + 52 + 53 + 54 + 55},
    {"tcp>overlap_diff_data", 34},
    {"tcp>urgent_oob_data", 41},
    {"sluice>stream>segments", 30},
    {"sluice>stream>plain", 39},
    {"sluice>stream>keep_alives", 40},
    {"sluice>stream>unevaluated_bytes", 36},
    {"sluice>stream>gaps>memory", 50 + SL_GAP_MEMORY},
    {"sluice>stream>gap_bytes>snapped", 60 + SL_GAP_SNAPPED},
    {"sluice>stream>doubts>window", 70 + SL_DOUBT_WINDOW},
    {"detect>alert", UINT64_C(1) << 62},
    {"sluice>failed_sources", 3},
    {"sluice>batches", 601},
    {"sluice>workers", 602},
    {"sluice>busy_ns>fill", 1},
    {"sluice>busy_ns>load", 1000000000},
    {"sluice>busy_ns>order", 1500000000},
    {"sluice>busy_ns>work", 2000000345},
    {"sluice>busy_ns>digest", UINT64_C(3000000000)},
    {"sluice>busy_ns>drain", UINT64_C(123456789012345678)},
    {"sluice>queues>fill>waiting", 700},
    {"sluice>queues>drain>waiting", 703},
    {"sluice>queues>load>busy", 801},
    {"sluice>queues>work>busy", 802},
    {"sluice>engines>mpm.gram>hits", 500},
    {"sluice>engines>header>hits", 501},
    {"sluice>engines>mpm.gram-2>hits", 502},
    {"sluice>engines>mpm.gram-2>busy_ns", UINT64_C(6000000003)},
    {"sluice>devices>cuda:3>batches", 900},
    {"sluice>devices>cpu>batches", 901},
    {"sluice>devices>cuda:3>redone", 910},
    {"sluice>latency>packets", 920},
    {"sluice>latency>p50_ns", 921},
    {"sluice>latency>p99_ns", 922},
    {"sluice>latency>p999_ns", 923},
    {"sluice>latency>max_ns", UINT64_C(9240000000)},
    {"sluice>flow>other", 14},
    {"sluice>flow>evicted", 16},
    {"sluice>flow>timed_out", 17},
    {"sluice>flow>reused", 19},
    {"sluice>undecodable>snapped", 300 + SL_DEFECT_SNAPPED},
    {"sluice>undecodable>offset", 300 + SL_DEFECT_OFFSET},
    {"sluice>anomalies>land", 400 + SL_HEADER_LAND},
};

static json_t *parse(const struct sl_stats *stats)
{
    char *text;
    size_t len;

    assert_int_equal(sl_stats_json(stats, &text, &len), SL_OK);
    assert_int_equal(strlen(text), len);
    json_t *counters = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    assert_non_null(counters);
    return counters;
}

static void test_json_has_each_counter(void **state)
{
    struct sl_stats stats;
    uint64_t undecodable = 0, anomalies = 0;

    (void)state;
    make_stats(&stats);
    json_t *counters = parse(&stats);
    json_t *engines = at_path(counters, "detect>engines");

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        check_integer(counters, members[i].path, members[i].value);
    for (int d = 1; d < SL_N_DEFECTS; d++)
        undecodable += stats.dissected.defects[d];
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        anomalies += stats.anomalies[c];
    check_integer(counters, "decoder>invalid", undecodable);
    check_integer(counters, "sluice>anomaly", anomalies);
    assert_int_equal(json_object_size(at_path(counters, "sluice>undecodable")), SL_N_DEFECTS - 1);
    assert_int_equal(json_object_size(at_path(counters, "sluice>anomalies")), SL_N_HEADER_CHECKS);
    assert_int_equal(json_array_size(engines), 1);
    check_integer(json_array_get(engines, 0), "rules_loaded", 20);
    check_integer(json_array_get(engines, 0), "rules_skipped", 21);
    check_integer(json_array_get(engines, 0), "rules_failed", 22);
    assert_string_equal(json_string_value(at_path(counters, "sluice>engines>header>backend")),
                        "avx2");
    assert_string_equal(json_string_value(at_path(counters, "sluice>devices>cuda:3>name")),
                        "a \"GPU\"");
    assert_true(json_is_true(at_path(counters, "sluice>devices>cuda:3>dropped")));
    assert_true(json_is_false(at_path(counters, "sluice>devices>cpu>dropped")));
    json_decref(counters);
}

static void test_json_of_nothing(void **state)
{
    const struct sl_stats stats = {.version = "1.2.3"};

    (void)state;
    json_t *counters = parse(&stats);

    check_integer(counters, "decoder>pkts", 0);
    check_integer(counters, "decoder>avg_pkt_size", 0);
    check_integer(counters, "detect>alert", 0);
    assert_null(at_path(counters, "capture"));
    assert_null(at_path(counters, "detect>engines"));
    assert_null(at_path(counters, "sluice>anomalies"));
    assert_null(at_path(counters, "sluice>latency"));
    assert_int_equal(json_object_size(at_path(counters, "sluice>engines")), 0);
    assert_int_equal(json_object_size(at_path(counters, "sluice>undecodable")), 0);
    json_decref(counters);
}

static void check_line(const struct sl_stats *stats, const char *expected)
{
    char *line;
    size_t len;

    assert_int_equal(sl_stats_line(stats, &line, &len), SL_OK);
    assert_string_equal(line, expected);
    assert_int_equal(strlen(line), len);
    free(line);
}

static void test_the_line(void **state)
{
    struct sl_stats stats;

    (void)state;
    make_stats(&stats);
    memset(stats.anomalies, 0, sizeof stats.anomalies);
    stats.anomalies[SL_HEADER_LAND] = 2;
    stats.anomalies[SL_HEADER_TTL_ZERO] = 3;
    stats.alerts = 7;
    check_line(
        &stats,
        "10 s  1001 packets  900901 bytes  13 dropped  18 active flows  16 evicted  5 anomalies"
        "  7 alerts  20 rules loaded  21 skipped  22 bad");
    stats.live = stats.has_header_checks = stats.has_rules = false;
    check_line(&stats, "10 s  1001 packets  900901 bytes  18 active flows  16 evicted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prometheus_has_each_counter_once),
        cmocka_unit_test(test_prometheus_escapes_labels),
        cmocka_unit_test(test_prometheus_leaves_out_what_is_not_switched_on),
        cmocka_unit_test(test_json_has_each_counter),
        cmocka_unit_test(test_json_of_nothing),
        cmocka_unit_test(test_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
