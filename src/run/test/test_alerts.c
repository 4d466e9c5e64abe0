/* SPDX-License-Identifier: MIT */
/* Events that the pipeline makes on many threads are those that one thread makes, packet after
 * packet, to the byte: whatever the batches, the workers and the order in which they finish.
 *
 * Arguments: the folder of sample captures and rules. Real captures and rule sets are those of
 * SLUICE_TEST_DATA. */
#include <glob.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

#include "run/run_internal.h"
#include "sluice/sluice.h"

static const char *samples, *data; /* folders; data may be NULL */
static char folder[] = "/tmp/sluice-alerts-XXXXXX";

/* The rules to search for, and the captures to search. */
struct task {
    glob_t captures, rule_files;
    struct sl_rules *rules;
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_mpm_table *matcher;
    struct sl_header_table *header;
    bool flows; /* as events, too */
};

/* How it is done. */
struct way {
    uint32_t batch_len, batch_items, n_workers;
    const char *second; /* a further sink, or NULL */
};

static char *scratch(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void open_task(struct task *task, const char *captures, const char *rules)
{
    struct sl_mpm_config mpm;
    struct sl_header_config header;
    struct sl_diag diag;

    *task = (struct task){0};
    assert_int_equal(glob(captures, 0, NULL, &task->captures), 0);
    assert_int_equal(glob(rules, 0, NULL, &task->rule_files), 0);
    assert_int_equal(sl_rules_create(&task->rules, &diag), SL_OK);
    for (size_t i = 0; i < task->rule_files.gl_pathc; i++)
        assert_int_equal(sl_rules_load(task->rules, task->rule_files.gl_pathv[i], &diag), SL_OK);
    assert_int_equal(sl_rules_compile(task->rules, &task->literals, &task->n_literals, &diag),
                     SL_OK);
    sl_mpm_config_init(&mpm);
    assert_int_equal(sl_mpm_build(&task->matcher, &mpm, task->literals, task->n_literals, &diag),
                     SL_OK);
    sl_header_config_init(&header);
    assert_int_equal(sl_header_build(&task->header, &header, &diag), SL_OK);
}

static void close_task(struct task *task)
{
    globfree(&task->captures);
    globfree(&task->rule_files);
    sl_header_free(task->header);
    sl_mpm_free(task->matcher);
    sl_rules_free(task->rules);
}

/* ---- one packet after another ---------------------------------------------------------------- */

enum {
    BATCH_LEN = 1 << 20,
    BATCH_ITEMS = 4096,
    JOINED_ITEMS = BATCH_ITEMS,
    MADE_LEN = 8 << 20,
    MADE_ITEMS = 1 << 17,
    MAX_HITS = 1 << 22,
    MAX_SLOTS = 1 << 20
};

struct plain {
    const struct task *task;
    struct sl_batch *batch;
    struct sl_flow_table *flows;
    struct {
        const struct sl_backend *backend;
        void *context;
        struct sl_hits hits;
    } engine[2]; /* header checks, matcher */
    struct run_fragments *fragments;
    struct sl_evaluator *evaluator;
    struct sl_state *state;
    struct sl_flow_slot slot;
    struct {
        uint64_t flow, slot;
    } * slots; /* of flows, by their ids */
    struct sl_sink *sink;
    struct community_ids *community_ids;
    uint64_t n_events;
};

static void open_engine(struct plain *plain, int e, const struct sl_engine *engine,
                        const void *table)
{
    const struct sl_limits limits = {.max_items = BATCH_ITEMS + JOINED_ITEMS + MADE_ITEMS,
                                     .max_bytes =
                                         BATCH_LEN + RUN_FRAGMENTS_ROOM + MADE_LEN + SL_BATCH_ALIGN,
                                     .max_hits = MAX_HITS};
    struct sl_diag diag;

    plain->engine[e].backend = sl_engine_choose(engine, SL_DEVICE_CPU, NULL);
    assert_int_equal(
        plain->engine[e].backend->open(&plain->engine[e].context, table, &limits, &diag), SL_OK);
    plain->engine[e].hits =
        (struct sl_hits){malloc(MAX_HITS * sizeof(struct sl_hit)), MAX_HITS, 0, false};
}

static void write_event(struct plain *plain, uint32_t item, const struct sl_hit *hit,
                        const struct sl_alert *alert)
{
    const struct sl_batch *batch = plain->batch;
    struct sl_event event = {
        .kind = hit != NULL ? SL_EVENT_ANOMALY : SL_EVENT_ALERT,
        .origin = batch->origin[item],
        .payload = batch->bytes + batch->payload[item].offset,
        .payload_len = batch->payload[item].len,
        .packet.bytes = batch->bytes + batch->packet[item].offset,
        .packet.len = batch->packet[item].len,
    };
    struct sl_diag diag;
    char link[32];

    event.packet.link = sl_link_type_name(event.origin.link_type, link);
    if (hit != NULL)
        event.check = sl_header_check_name((enum sl_header_check)hit->id);
    else
        event.signature = sl_rules_signature(plain->task->rules, alert->signature);
    event.source = plain->task->captures.gl_pathv[event.origin.source];
    event.has_tuple = sl_packet_tuple(batch, item, &event.tuple);
    if (event.origin.flow != 0)
        event.community_id = community_ids_of(plain->community_ids, 0, &event.tuple);
    assert_int_equal(sl_sink_write(plain->sink, &event, &diag), SL_OK);
    plain->n_events++;
}

/* The slot of a packet's flow. A new flow may have the id of one that ended. */
static void *slot_of(struct plain *plain, const struct sl_origin *origin)
{
    uint64_t i = origin->flow;

    while (plain->slots[i % MAX_SLOTS].flow != 0 &&
           plain->slots[i % MAX_SLOTS].flow != origin->flow)
        i++;
    void *slot = &plain->slots[i % MAX_SLOTS].slot;
    if ((origin->flow_flags & SL_FLOW_NEW) != 0) {
        plain->slot.release(plain->slot.user, 0, slot);
        memset(slot, 0, sizeof plain->slots->slot);
    }
    plain->slots[i % MAX_SLOTS].flow = origin->flow;
    return slot;
}

static void settle(struct plain *plain)
{
    size_t n;
    const struct sl_candidates *held = sl_evaluator_candidates(plain->evaluator, &n);

    for (size_t i = 0, h = 0; i < plain->batch->n_items; i++) {
        const struct sl_origin *origin = &plain->batch->origin[i];
        void *slot = origin->flow != 0 ? slot_of(plain, origin) : NULL;

        if (h < n && held[h].item == i)
            (void)sl_state_settle(plain->state, plain->evaluator, h++, 0, slot);
    }
}

static void take_batch(struct plain *plain)
{
    const struct sl_alert *alerts;
    const struct sl_hits *header = &plain->engine[0].hits;
    struct sl_dissect_stats stats = {0};
    struct sl_diag diag;
    struct run_datagrams made = {0};
    struct run_fragment_list list = {0};
    size_t n_alerts, h = 0, a = 0;

    sl_dissect(plain->batch, &stats);
    assert_int_equal(
        run_fragments_list(plain->fragments, plain->batch, plain->batch->n_items, &list, &diag),
        SL_OK);
    assert_int_equal(
        run_fragments_join(plain->fragments, plain->batch, &list, &made, &stats, &diag), SL_OK);
    run_fragments_build(&list, plain->batch, &made, &stats);
    run_fragment_list_clear(&list);
    run_datagrams_lay(&made, plain->batch);
    run_datagrams_clear(&made);
    sl_flow_track(plain->flows, plain->batch);
    if (sl_rules_need_app(plain->task->rules))
        sl_app_find(plain->batch);
    assert_int_equal(
        sl_app_make(plain->batch, plain->batch, sl_rules_buffers(plain->task->rules), 0),
        UINT64_MAX);
    const struct sl_batch whole = sl_batch_whole(plain->batch);
    for (int e = 0; e < 2; e++) {
        const struct sl_backend *backend = plain->engine[e].backend;

        assert_int_equal(backend->submit(plain->engine[e].context, e == 0 ? plain->batch : &whole,
                                         &plain->engine[e].hits),
                         SL_OK);
        assert_int_equal(backend->wait(plain->engine[e].context), SL_OK);
        sl_hits_resolve_made(&plain->engine[e].hits, plain->batch);
        sl_hits_sort(&plain->engine[e].hits);
    }
    assert_int_equal(sl_evaluator_run(plain->evaluator, plain->batch, &plain->engine[1].hits,
                                      &alerts, &n_alerts),
                     SL_OK);
    settle(plain);
    sl_state_decide(plain->state, plain->evaluator, plain->batch);
    sl_evaluator_conclude(plain->evaluator, &alerts, &n_alerts);
    for (uint32_t item = 0; item < plain->batch->n_items; item++) {
        for (; h < header->n && header->hit[h].item == item; h++)
            write_event(plain, item, &header->hit[h], NULL);
        for (; a < n_alerts && alerts[a].item == item; a++)
            write_event(plain, item, NULL, &alerts[a]);
    }
}

static void take_capture(struct plain *plain, uint16_t index)
{
    enum sl_status status = SL_OK;
    struct sl_capture *capture;
    struct sl_diag diag;

    if (sl_capture_open_file(&capture, plain->task->captures.gl_pathv[index], index, &diag) !=
        SL_OK)
        return;
    while (status == SL_OK) {
        sl_batch_reset(plain->batch);
        plain->batch->bytes_cap -= RUN_FRAGMENTS_ROOM;
        plain->batch->max_items -= JOINED_ITEMS;
        status = sl_capture_read(capture, plain->batch, &diag);
        plain->batch->bytes_cap += RUN_FRAGMENTS_ROOM;
        plain->batch->max_items += JOINED_ITEMS;
        take_batch(plain);
    }
    sl_capture_close(capture);
}

/* Returns the number of events. */
static uint64_t write_plainly(const struct task *task, const char *spec)
{
    struct plain plain = {.task = task};
    struct sl_flow_config flow_config;
    struct sl_header_config checks;
    struct sl_state_config state_config;
    struct sl_diag diag;

    sl_flow_config_init(&flow_config);
    sl_header_config_init(&checks);
    assert_int_equal(
        run_fragments_create(&plain.fragments, NULL, &checks, flow_config.hash_key, &diag), SL_OK);
    assert_int_equal(sl_flow_table_create(&plain.flows, &flow_config, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&plain.batch, BATCH_LEN + RUN_FRAGMENTS_ROOM + MADE_LEN,
                                     BATCH_ITEMS + JOINED_ITEMS + MADE_ITEMS, &diag),
                     SL_OK);
    assert_int_equal(sl_batch_reserve_made(plain.batch, MADE_LEN, MADE_ITEMS, &diag), SL_OK);
    assert_int_equal(sl_sink_open(&plain.sink, spec, &diag), SL_OK);
    assert_int_equal(community_ids_create(&plain.community_ids, &diag), SL_OK);
    open_engine(&plain, 0, sl_header_engine(), task->header);
    open_engine(&plain, 1, sl_mpm_engine(task->matcher), task->matcher);
    sl_state_config_init(&state_config);
    assert_int_equal(sl_evaluator_create(&plain.evaluator, task->rules, &diag), SL_OK);
    assert_int_equal(sl_state_create(&plain.state, &plain.slot, &state_config, &diag), SL_OK);
    assert_int_equal(sl_state_open(plain.state, plain.flows, &diag), SL_OK);
    assert_in_range(plain.slot.len, 1, sizeof plain.slots->slot);
    plain.slots = calloc(MAX_SLOTS, sizeof *plain.slots);
    for (size_t i = 0; i < task->captures.gl_pathc; i++)
        take_capture(&plain, (uint16_t)i);
    assert_int_equal(sl_sink_close(plain.sink, NULL, &diag), SL_OK);
    for (int e = 0; e < 2; e++) {
        plain.engine[e].backend->close(plain.engine[e].context);
        free(plain.engine[e].hits.hit);
    }
    free(plain.slots);
    run_fragments_free(plain.fragments);
    sl_evaluator_free(plain.evaluator);
    sl_state_free(plain.state);
    community_ids_free(plain.community_ids);
    sl_batch_free(plain.batch);
    sl_flow_table_free(plain.flows);
    return plain.n_events;
}

/* ---- through a run --------------------------------------------------------------------------- */

static enum sl_status (*digest_of_run)(void *user, const struct sl_batch *batch,
                                       const struct sl_hits *hits, struct sl_diag *diag);
static atomic_uint n_digested;

/* Some batches take much longer than those around them, so that they finish in another order. */
static enum sl_status digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    uint64_t random = atomic_fetch_add(&n_digested, 1) * 2 + 1;

    if (test_below(&random, 16) == 0)
        usleep(test_below(&random, 1000));
    return digest_of_run(user, batch, hits, diag);
}

/* Sizes and threads that the config leaves to the run. */
static void set_way(struct sl_pipeline_config *pipeline, const struct way *way)
{
    pipeline->batch_len = way->batch_len + RUN_FRAGMENTS_ROOM;
    pipeline->batch_items =
        RUN_FRAGMENTS_ITEMS +
        (way->batch_items != 0 ? way->batch_items : way->batch_len / SL_BATCH_ALIGN + 1);
    pipeline->n_workers = way->n_workers;
    digest_of_run = pipeline->digest;
    pipeline->digest = digest;
}

/* Returns the number of events. */
static uint64_t write_by_run(const struct task *task, const struct way *way, const char *spec)
{
    const char *const sinks[] = {spec, way->second};
    struct sl_run_result result;
    struct sl_run_config config;
    struct sl_run *run;
    struct sl_diag diag;

    sl_run_config_init(&config);
    config.files = (const char *const *)task->captures.gl_pathv;
    config.n_files = task->captures.gl_pathc;
    config.check_headers = true;
    config.rule_files = (const char *const *)task->rule_files.gl_pathv;
    config.n_rule_files = task->rule_files.gl_pathc;
    config.devices = "cpu";
    config.stream_memory = 0; /* the plain way has no streams */
    config.sinks = sinks;
    config.n_sinks = 1 + (way->second != NULL);
    if (task->flows)
        config.events |= 1u << SL_EVENT_FLOW;
    atomic_store(&n_digested, 0);
    assert_int_equal(sl_run_create(&run, &config, &diag), SL_OK);
    set_way(&run->pipeline, way);
    assert_int_equal(sl_run_open(run, &diag), SL_OK);
    assert_int_equal(sl_run_execute(run, &diag), SL_OK);

    sl_run_result(run, &result);
    const uint64_t n_flows = task->flows ? result.flows.flows : 0;
    const uint64_t n_events = result.alerts + result.anomalies + n_flows;
    assert_true(atomic_load(&n_digested) != 0);
    assert_int_equal(result.n_sinks, config.n_sinks);
    for (uint32_t i = 0; i < result.n_sinks; i++)
        assert_int_equal(result.sinks[i].written, n_events);
    sl_run_close(run);
    return n_events;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void assert_same_files(const char *name, const char *other)
{
    static char left_bytes[1 << 16], right_bytes[1 << 16];
    FILE *left = fopen(scratch(name), "rb"), *right = fopen(scratch(other), "rb");
    size_t n;

    assert_non_null(left);
    assert_non_null(right);
    do {
        n = fread(left_bytes, 1, sizeof left_bytes, left);
        assert_int_equal(fread(right_bytes, 1, sizeof right_bytes, right), n);
        assert_true(n == 0 || memcmp(left_bytes, right_bytes, n) == 0);
    } while (n != 0);
    fclose(left);
    fclose(right);
}

enum { WAY_STEP = TEST_SANITIZED ? 5 : 1 }; /* each is slow */

static void check_ways(const char *captures, const char *rules, const struct way *ways,
                       size_t n_ways, uint64_t min_events)
{
    char spec[140];
    struct task task;

    open_task(&task, captures, rules);
    snprintf(spec, sizeof spec, "eve:%s", scratch("plain.json"));
    unlink(scratch("plain.json"));

    const uint64_t n_events = write_plainly(&task, spec);

    print_message("%zu captures, %zu literals: %llu events\n", task.captures.gl_pathc,
                  task.n_literals, (unsigned long long)n_events);
    assert_true(n_events >= min_events);
    snprintf(spec, sizeof spec, "eve:%s", scratch("piped.json"));
    for (size_t i = 0; i < n_ways; i += WAY_STEP) {
        unlink(scratch("piped.json"));
        assert_int_equal(write_by_run(&task, &ways[i], spec), n_events);
        assert_same_files("plain.json", "piped.json");
    }
    close_task(&task);
}

/* Each flow that began ends once, wherever a batch is cut and whatever the random key is. */
static void check_flows(const char *captures, const char *rules, const struct way *ways,
                        size_t n_ways)
{
    uint64_t n_events = 0;
    char spec[140];
    struct task task;

    open_task(&task, captures, rules);
    task.flows = true;
    for (size_t i = 0; i < n_ways; i += WAY_STEP) {
        const char *name = i == 0 ? "plain.json" : "piped.json";

        unlink(scratch(name));
        snprintf(spec, sizeof spec, "eve:%s", scratch(name));
        const uint64_t n = write_by_run(&task, &ways[i], spec);
        if (i == 0)
            n_events = n;
        assert_int_equal(n, n_events);
        assert_same_files("plain.json", name);
    }
    close_task(&task);
}

static void test_samples(void **state)
{
    static const uint32_t lens[] = {SL_CAPTURE_PACKET_MAX, 4 << 20};
    char captures[600], rules[600], database[140];
    struct way ways[8 * 4 + 1];
    size_t n = 0;

    (void)state;
    snprintf(database, sizeof database, "sqlite:%s", scratch("events.db"));
    ways[n++] = (struct way){SL_CAPTURE_PACKET_MAX, 100, 3, database}; /* under sanitizers too */
    for (uint32_t n_workers = 1; n_workers <= 8; n_workers++)
        for (uint32_t i = 0; i < 4; i++)
            ways[n++] = (struct way){lens[i / 3], (uint32_t[]){1, 7, 0, 0}[i], n_workers, NULL};
    snprintf(captures, sizeof captures, "%s/*.pcap*", samples);
    snprintf(rules, sizeof rules, "%s/sample.rules", samples);
    check_ways(captures, rules, ways, n, 100);
    check_flows(captures, rules, ways, n);
}

/* Rules on names, of which the smallest batches have no room for all. */
static void test_names_of_dns(void **state)
{
    static const char text[] =
        "alert dns any any -> any any (dns.query; content:\"EXAM\"; nocase; sid:1;)\n"
        "alert dns any any -> any any (dns.response.rrname; content:\"com\"; sid:2;)\n"
        "alert dns any any -> any any (dns.queries.rrname; content:!\"beacon\"; sid:3;)\n"
        "alert udp any any -> any any (content:\"|03|\"; dns.answers.rrname; content:\"example\"; "
        "sid:4;)\n";
    static const struct way ways[] = {{SL_CAPTURE_PACKET_MAX, 1, 2, NULL},
                                      {SL_CAPTURE_PACKET_MAX, 7, 3, NULL},
                                      {SL_CAPTURE_PACKET_MAX, 0, 2, NULL},
                                      {4 << 20, 0, 4, NULL}};
    char captures[600];
    FILE *rules = fopen(scratch("dns.rules"), "w");

    (void)state;
    assert_non_null(rules);
    fputs(text, rules);
    fclose(rules);
    snprintf(captures, sizeof captures, "%s/*.pcap*", samples);
    check_ways(captures, scratch("dns.rules"), ways, sizeof ways / sizeof *ways, 100);
    if (data == NULL)
        return;
    snprintf(captures, sizeof captures, "%s/pcap/*dns*.pcap", data);
    check_ways(captures, scratch("dns.rules"), ways, sizeof ways / sizeof *ways, 1000);
}

static void test_real_captures(void **state)
{
    /* The text of 64 MiB of packets is more than is made ahead. */
    static const struct way ways[] = {
        {SL_CAPTURE_PACKET_MAX, 0, 8, NULL},
        {SL_CAPTURE_PACKET_MAX, 64, 5, NULL},
        {1 << 20, 0, 2, NULL},
        {4 << 20, 0, 4, NULL},
        {64 << 20, 0, 3, NULL},
    };
    char captures[600], rules[600];

    (void)state;
    if (data == NULL)
        test_skip("SLUICE_TEST_DATA names no folder of rules and captures");
    snprintf(captures, sizeof captures, "%s/pcap/*.pcap*", data);
    snprintf(rules, sizeof rules, "%s/sample.rules", samples);
    check_ways(captures, rules, ways, sizeof ways / sizeof *ways, 100000);
    check_flows(captures, rules, ways, 2);
}

static void test_real_rules(void **state)
{
    static const struct way ways[] = {
        {SL_CAPTURE_PACKET_MAX, 200, 6, NULL},
        {1 << 20, 0, 1, NULL},
        {2 << 20, 0, 7, NULL},
        {16 << 20, 0, 3, NULL},
    };
    char captures[600], rules[600];

    (void)state;
    if (data == NULL)
        test_skip("SLUICE_TEST_DATA names no folder of rules and captures");
    snprintf(captures, sizeof captures, "%s/pcap/*.pcap*", data);
    snprintf(rules, sizeof rules, "%s/rules/*/*.rules", data);
    check_ways(captures, rules, ways, sizeof ways / sizeof *ways, 10000);
}

static int remove_scratch(void **state)
{
    static const char *const names[] = {"plain.json", "piped.json", "events.db", "dns.rules"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(scratch(names[i]));
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_names_of_dns),
        cmocka_unit_test(test_real_captures),
        cmocka_unit_test(test_real_rules),
    };

    if (argc != 2 || mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    samples = argv[1];
#ifdef __SANITIZE_THREAD__ /* which takes minutes for real captures and rules */
    (void)unsetenv("SLUICE_TEST_DATA");
#endif
    data = getenv("SLUICE_TEST_DATA");
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
