/* SPDX-License-Identifier: MIT */
/* Real rule sets and real captures, where there are any (SLUICE_TEST_DATA). */
#include "test.h"

#include <dirent.h>

#include "detect/match/class_matcher.h"
#include "sluice/capture.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"
#include "sluice/mpm.h"

static const char *data;

static char *data_path(const char *folder, const char *name)
{
    static char path[1024];

    snprintf(path, sizeof path, "%s/%s/%s", data, folder, name);
    return path;
}

/* Rules, the matcher of their literals, and the state that a capture passes before them. */
struct sensor {
    struct sl_rules *rules;
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_mpm_table *table;
    const struct sl_backend *backend;
    void *matcher;
    struct class_matcher *classes;
    const struct sl_backend *classes_backend;
    void *classes_matcher;
    struct sl_flow_table *flows;
    struct sl_batch *batch;
    struct sl_hits hits;
    struct sl_alert *alerts;
    size_t n_alerts;
    struct sl_evaluator *evaluator; /* of all batches: to give the same */
};

enum { MAX_ITEMS = 1024, MAX_BYTES = 4 << 20, MAX_HITS = 4 << 20, MAX_ALERTS = 1 << 20 };

static struct sl_rules *make_rules(void)
{
    struct sl_rules *rules;
    struct sl_diag diag;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    return rules;
}

/* Takes the rules. */
static void open_sensor(struct sensor *sensor, struct sl_rules *rules)
{
    const struct sl_limits limits = {
        .max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS};
    struct sl_mpm_config config;
    struct sl_flow_config flow_config;
    struct sl_diag diag;

    sl_mpm_config_init(&config);
    sl_flow_config_init(&flow_config);
    *sensor = (struct sensor){.rules = rules};
    assert_int_equal(sl_rules_compile(rules, &sensor->literals, &sensor->n_literals, &diag), SL_OK);
    assert_int_equal(
        sl_mpm_build(&sensor->table, &config, sensor->literals, sensor->n_literals, &diag), SL_OK);
    sensor->backend = sl_engine_choose(sl_mpm_engine(sensor->table), SL_DEVICE_CPU, NULL);
    assert_non_null(sensor->backend);
    assert_int_equal(sensor->backend->open(&sensor->matcher, sensor->table, &limits, &diag), SL_OK);
    assert_int_equal(
        class_matcher_build(&sensor->classes, rules, sensor->table, &config, NULL, &diag), SL_OK);
    sensor->classes_backend =
        sl_engine_choose(class_matcher_engine(sensor->classes), SL_DEVICE_CPU, NULL);
    assert_int_equal(
        sensor->classes_backend->open(&sensor->classes_matcher, sensor->classes, &limits, &diag),
        SL_OK);
    assert_int_equal(sl_flow_table_create(&sensor->flows, &flow_config, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&sensor->batch, MAX_BYTES, MAX_ITEMS, &diag), SL_OK);
    sensor->hits =
        (struct sl_hits){malloc(MAX_HITS * sizeof *sensor->hits.hit), MAX_HITS, 0, false};
    sensor->alerts = malloc(MAX_ALERTS * sizeof *sensor->alerts);
    assert_non_null(sensor->hits.hit);
    assert_non_null(sensor->alerts);
    assert_int_equal(sl_evaluator_create(&sensor->evaluator, rules, &diag), SL_OK);
}

static void close_sensor(struct sensor *sensor)
{
    sensor->classes_backend->close(sensor->classes_matcher);
    class_matcher_free(sensor->classes);
    sensor->backend->close(sensor->matcher);
    sl_mpm_free(sensor->table);
    sl_flow_table_free(sensor->flows);
    sl_batch_free(sensor->batch);
    free(sensor->hits.hit);
    free(sensor->alerts);
    sl_evaluator_free(sensor->evaluator);
    sl_rules_free(sensor->rules);
}

/* The matcher of classes leaves the same hits. */
static void check_classes(struct sensor *sensor)
{
    struct sl_hits hits = {malloc(MAX_HITS * sizeof *hits.hit), MAX_HITS, 0, false};

    assert_non_null(hits.hit);
    assert_int_equal(sensor->classes_backend->submit(sensor->classes_matcher, sensor->batch, &hits),
                     SL_OK);
    assert_int_equal(sensor->classes_backend->wait(sensor->classes_matcher), SL_OK);
    sl_rules_sift(sensor->rules, sensor->batch, &hits);
    sl_hits_sort(&hits);
    assert_int_equal(hits.n, sensor->hits.n);
    assert_true(hits.n == 0 || memcmp(hits.hit, sensor->hits.hit, hits.n * sizeof *hits.hit) == 0);
    free(hits.hit);
}

static void evaluate(struct sensor *sensor)
{
    struct sl_dissect_stats stats = {0};

    sl_dissect(sensor->batch, &stats);
    sl_flow_track(sensor->flows, sensor->batch);
    assert_int_equal(sensor->backend->submit(sensor->matcher, sensor->batch, &sensor->hits), SL_OK);
    assert_int_equal(sensor->backend->wait(sensor->matcher), SL_OK);
    sl_hits_sort(&sensor->hits);
    assert_int_equal(sl_rules_evaluate(sensor->rules, sensor->batch, &sensor->hits, sensor->alerts,
                                       MAX_ALERTS, &sensor->n_alerts),
                     SL_OK);

    const struct sl_alert *again;
    size_t n, n_held;

    sl_rules_sift(sensor->rules, sensor->batch, &sensor->hits);
    check_classes(sensor);
    assert_int_equal(sl_evaluator_run(sensor->evaluator, sensor->batch, &sensor->hits, &again, &n),
                     SL_OK);
    (void)sl_evaluator_candidates(sensor->evaluator, &n_held);
    if (n_held != 0) /* the evaluator alone does not know their outcome */
        return;
    assert_int_equal(n, sensor->n_alerts);
    assert_true(n == 0 || memcmp(again, sensor->alerts, n * sizeof *again) == 0);
}

/* Runs a capture through, `each` on every batch, until `max_packets` have passed. Returns how many
 * did. */
static size_t run_capture(struct sensor *sensor, const char *path, size_t max_packets,
                          void (*each)(struct sensor *sensor))
{
    struct sl_capture *capture;
    struct sl_diag diag;
    enum sl_status status = SL_OK;
    size_t n = 0;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return 0;
    while (status == SL_OK && n < max_packets) {
        sl_batch_reset(sensor->batch);
        status = sl_capture_read(capture, sensor->batch, &diag);
        n += sensor->batch->n_items;
        evaluate(sensor);
        each(sensor);
    }
    sl_capture_close(capture);
    return n;
}

/* Lines that are neither empty nor comments. */
static size_t active_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0, n = 0;

    assert_non_null(file);
    while (getline(&line, &cap, file) > 0)
        n += line[0] != '#' && strspn(line, " \t\r\n") != strlen(line);
    free(line);
    fclose(file);
    return n;
}

static void load_folder(struct sl_rules *rules, const char *folder, size_t *n_lines)
{
    DIR *listing = opendir(data_path("rules", folder));
    const struct dirent *entry;
    struct sl_diag diag;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        char name[600];
        const size_t len = strlen(entry->d_name);

        if (len < 7 || strcmp(entry->d_name + len - 6, ".rules") != 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        *n_lines += active_lines(data_path("rules", name));
        assert_int_equal(sl_rules_load(rules, data_path("rules", name), &diag), SL_OK);
    }
    closedir(listing);
}

/* Every active line is accounted for, and none of them is bad. */
static void check_set(const char *folder)
{
    struct sl_rules *rules = make_rules();
    struct sl_rules_count count;
    size_t n_lines = 0;

    load_folder(rules, folder, &n_lines);
    sl_rules_count(rules, &count);
    print_message("%s: %zu rules, %zu loaded (%zu without a literal), %zu skipped, %zu bad, "
                  "%zu duplicates\n",
                  folder, count.lines, count.loaded, count.without_literal, count.skipped,
                  count.bad, count.duplicates);
    for (size_t i = 0; i < 10 && sl_rules_bad_line(rules, i) != NULL; i++)
        print_error("line %u: %s\n", sl_rules_bad_line(rules, i)->line,
                    sl_rules_bad_line(rules, i)->text);
    assert_true(n_lines > 1000);
    assert_int_equal(count.lines, n_lines);
    assert_int_equal(count.loaded + count.skipped + count.bad + count.duplicates, n_lines);
    assert_int_equal(count.bad, 0);
    assert_true(count.loaded > n_lines / 50);
    sl_rules_free(rules);
}

static void test_sets_load(void **state)
{
    (void)state;

    check_set("et-open-2024-04");
    check_set("snort3-community-2026-05");
}

static size_t n_found;

/* Hits beyond the true ones change no alert: with a hit of every literal in every packet, the
 * alerts are the same. */
static void check_claims(struct sensor *sensor)
{
    const size_t n = sensor->n_literals;
    struct sl_hits claims = {malloc((n + 1) * sizeof *claims.hit), n, n, false};
    struct sl_alert alerts[64];
    struct sl_batch one = *sensor->batch;
    size_t at = 0, n_alerts;

    assert_non_null(claims.hit);
    for (uint32_t i = 0; i < n; i++)
        claims.hit[i] = (struct sl_hit){0, 1, i};
    one.n_items = 1;
    for (uint32_t item = 0; item < sensor->batch->n_items; item++) {
        one.payload = &sensor->batch->payload[item];
        one.packet = &sensor->batch->packet[item];
        one.origin = &sensor->batch->origin[item];
        assert_int_equal(sl_rules_evaluate(sensor->rules, &one, &claims, alerts, 64, &n_alerts),
                         SL_OK);
        for (size_t i = 0; i < n_alerts; i++, at++) {
            assert_true(at < sensor->n_alerts);
            assert_int_equal(sensor->alerts[at].item, item);
            assert_int_equal(sensor->alerts[at].signature, alerts[i].signature);
        }
    }
    assert_int_equal(at, sensor->n_alerts);
    n_found += at;
    free(claims.hit);
}

static void test_hits_lose_nothing(void **state)
{
    DIR *listing;
    const struct dirent *entry;
    struct sensor sensor;
    struct sl_rules *rules;
    struct sl_diag diag;
    size_t n_packets = 0, n_lines = 0;

    (void)state;
    /* With home everywhere, and everything outside too, many more rules meet their packets. */
    rules = make_rules();
    assert_int_equal(sl_rules_set(rules, "HOME_NET", "any", &diag), SL_OK);
    assert_int_equal(sl_rules_set(rules, "EXTERNAL_NET", "any", &diag), SL_OK);
    load_folder(rules, "et-open-2024-04", &n_lines);
    load_folder(rules, "snort3-community-2026-05", &n_lines);
    open_sensor(&sensor, rules);
    listing = opendir(data_path("pcap", "."));
    assert_non_null(listing);
    while (n_packets < 30000 && (entry = readdir(listing)) != NULL)
        if (entry->d_type != DT_DIR)
            n_packets += run_capture(&sensor, data_path("pcap", entry->d_name), 500, check_claims);
    closedir(listing);
    close_sensor(&sensor);
    print_message("%zu packets, %zu alerts\n", n_packets, n_found);
    assert_true(n_found > 0);
}

/* The expectations of Suricata's own tests, of those whose rules are understood and need no
 * reassembly. */
struct expected {
    const char *rules, *capture;
    struct {
        uint32_t sid;
        size_t n;
    } alerts[8];
};

static struct {
    uint32_t sid;
    size_t n;
} by_sid[64];

static void count_sids(struct sensor *sensor)
{
    for (size_t i = 0; i < sensor->n_alerts; i++) {
        const uint32_t sid = sl_rules_signature(sensor->rules, sensor->alerts[i].signature)->sid;
        size_t at = 0;

        while (by_sid[at].n != 0 && by_sid[at].sid != sid)
            at++;
        assert_true(at < 63);
        by_sid[at].sid = sid;
        by_sid[at].n++;
    }
}

static size_t count_of_sid(uint32_t sid)
{
    for (size_t at = 0; by_sid[at].n != 0; at++)
        if (by_sid[at].sid == sid)
            return by_sid[at].n;
    return 0;
}

static void test_suricata_expects_the_same(void **state)
{
    static const struct expected cases[] = {
        {"alert-distance-within-1/test.rules",
         "suricata-verify/alert-distance-within-1/input.pcap",
         {{2, 2}}},
        {"bug-1401-03/1.rules",
         "suricata-verify/bug-1401-03/80000000-037-PTP_Example_IPv4_HTTP_Session-PUBLIC-tp-01.pcap",
         {{1, 1}}},
        {"bug-8021-alert-max-verdict-01/test.rules",
         "suricata-verify/bug-8021-alert-max-verdict-01/input.pcap",
         {{8002101, 1}, {8002102, 1}, {8002103, 1}, {8002104, 1}, {8002105, 1}, {8002106, 1}}},
        {"decode-sctp-01/test.rules", "suricata-verify/decode-sctp-01/input.pcap", {{1, 1}}},
        {"dns/bug-990/test.rules", "suricata-verify/dns/bug-990/input.pcap", {{1321, 0}}},
        {"dns/v2/bug-990/test.rules", "suricata-verify/dns/bug-990/input.pcap", {{1321, 0}}},
        {"eve-overlap-payload-01/tcp-overlap.rules",
         "suricata-verify/eve-overlap-payload-01/tcp-overlap.pcap",
         {{3, 1}, {4, 1}}},
        {"eve-overlap-payload-02-policy-oldlinux/tcp-overlap.rules",
         "suricata-verify/eve-overlap-payload-02-policy-oldlinux/tcp-overlap.pcap",
         {{3, 1}, {4, 1}}},
        {"pcap-file-stdin/test.rules", "suricata-verify/pcap-file-stdin/input.pcap", {{1, 1}}},
        {"eve-tag-02/test.rules",
         "pcap/OISF_suricata-verify__ssh-banner-only__input.pcap",
         {{1, 1}}},
        {"eve-tag-03/test.rules",
         "pcap/OISF_suricata-verify__ssh-banner-only__input.pcap",
         {{1, 1}}},
        {"eve-tag-04/test.rules",
         "pcap/OISF_suricata-verify__ssh-banner-only__input.pcap",
         {{1, 1}}},
        {"detect-itype/test.rules",
         "pcap/OISF_suricata-verify__detect-itype-prefilter__icmpv4-ping.pcap",
         {{1, 75}, {2, 150}, {3, 75}, {4, 75}}},
    };
    int n_wrong = 0;

    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_rules *rules = make_rules();
        struct sl_rules_count count;
        struct sensor sensor;
        struct sl_diag diag;

        assert_int_equal(sl_rules_load(rules, data_path("suricata-verify", cases[i].rules), &diag),
                         SL_OK);
        sl_rules_count(rules, &count);
        assert_int_equal(count.loaded, count.lines);
        open_sensor(&sensor, rules);
        memset(by_sid, 0, sizeof by_sid);
        assert_true(run_capture(&sensor, data_path(".", cases[i].capture), SIZE_MAX, count_sids) >
                    0);
        close_sensor(&sensor);
        for (size_t k = 0; k < 8 && cases[i].alerts[k].sid != 0; k++) {
            if (count_of_sid(cases[i].alerts[k].sid) == cases[i].alerts[k].n)
                continue;
            print_error("%s: %zu alerts of %u, not %zu\n", cases[i].rules,
                        count_of_sid(cases[i].alerts[k].sid), cases[i].alerts[k].sid,
                        cases[i].alerts[k].n);
            n_wrong++;
        }
    }
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_load),
        cmocka_unit_test(test_hits_lose_nothing),
        cmocka_unit_test(test_suricata_expects_the_same),
    };

    data = getenv("SLUICE_TEST_DATA");
    if (data == NULL) {
        puts("skipped: SLUICE_TEST_DATA names no folder of rules and captures");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
