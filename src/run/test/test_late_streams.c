/* SPDX-License-Identifier: MIT */
/* Rules on bytes of streams that wait behind a hole when their flow or the run ends. Their findings
 * depend on no batch and no thread. */
#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum {
    N_FLOWS = 300,
    N_STEPS = 5, /* of a flow */
    N_PACKETS = N_STEPS * N_FLOWS,
    FIRST_PORT = 20000,
    SIDS = 10,
    TEXT_MAX = 1 << 18
};

static const char rules_text[] =
    "alert tcp any any -> any any (content:\"needle\"; sid:1;)\n"
    "alert tcp-stream any any -> any 80 (content:\"needle\"; offset:150; sid:2;)\n"
    "alert tcp any 80 -> any any (flow:to_client; content:\"needle\";"
    " pcre:\"/late-[a-z]{3}needle/\"; sid:3;)\n"
    "alert tcp any any -> any any (content:\"begins\"; flowbits:set,begun; flowbits:noalert;"
    " sid:4;)\n"
    "alert tcp any any -> any any (content:\"needle\"; flowbits:isset,begun; sid:5;)\n"
    "alert tcp any any -> any any (content:\"beginslate\"; sid:6;)\n"
    "alert tcp any any -> any any (flags:A; dsize:0; sid:7;)\n"
    "alert tcp-stream any any -> any any (content:!\"begins\"; content:!\"needle\"; sid:8;)\n"
    "alert tcp-stream any any -> any any (content:\"needle\"; stream_size:either,=,307; sid:9;)\n"
    "alert tcp-stream any any -> any any (content:\"needle\"; stream_size:server,>,1;"
    " stream_size:client,=,1; sid:10;)\n";

/* Which flows have what. */
static bool has_needle(uint32_t flow)
{
    return flow % 3 != 2;
}

static bool has_two_holes(uint32_t flow)
{
    return flow % 3 == 1;
}

static bool has_begun(uint32_t flow)
{
    return flow % 5 != 0;
}

static bool is_server(uint32_t flow)
{
    return flow % 2 == 1;
}

/* The clock: flows end with the run, one by one, or many at one packet. */
struct clock {
    int64_t step_ns; /* from packet to packet */
    int64_t jump_ns; /* in the middle */
};

static const struct clock clocks[] = {
    {1000, 0}, {INT64_C(3000000000), 0}, {1000, INT64_C(2000000000000)}};

struct sensor {
    const struct clock *clock;
    uint64_t seed;
    uint32_t batch_max, next; /* packets */
    uint32_t n_alerts[SIDS + 1], n_alerted;
    char text[TEXT_MAX];
    size_t len;
};

/* Both sides begin, one says something, a hole follows, and a word lies across two segments behind
 * it, or behind another hole. */
static void build(struct frame *f, uint32_t flow, uint32_t step)
{
    static const char *const says[] = {"", "", "begins", "late-abcnee", "dle"};
    const bool server = step == 1 || (step > 1 && is_server(flow));
    const uint32_t client_ip = 0x0A000001, server_ip = 0xC0A80001;
    const uint16_t port = (uint16_t)(FIRST_PORT + flow);
    const char *text = says[step];
    uint32_t at = 1001;

    if (step == 2 && !has_begun(flow))
        text = "other.";
    if (step == 4 && !has_needle(flow))
        text = "hay";
    if (step == 4 && has_two_holes(flow))
        text = "needle";
    if (step > 2)
        at += step == 3 ? 200 : (has_two_holes(flow) ? 300 : 211);
    frame_segment(f, &(struct frame_segment){.src = server ? server_ip : client_ip,
                                             .dst = server ? client_ip : server_ip,
                                             .src_port = server ? 80 : port,
                                             .dst_port = server ? port : 80,
                                             .flags = step == 0 ? 2 : (step == 1 ? 18 : 24),
                                             .seq = step < 2 ? 1000 : at,
                                             .ack = step == 0 ? 0 : 1001,
                                             .bytes = text,
                                             .len = (uint32_t)strlen(text)});
}

/* Flows take turns: ten are open at a time. */
static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    enum { OPEN = 10 };
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&sensor->seed, sensor->batch_max);
         sensor->next < N_PACKETS && room != 0; sensor->next++, room--) {
        const uint32_t group = sensor->next / (OPEN * N_STEPS);
        const uint32_t in_group = sensor->next % (OPEN * N_STEPS);
        const int64_t time = INT64_C(1700000000000000000) + sensor->next * sensor->clock->step_ns +
                             (group > N_FLOWS / OPEN / 2 ? sensor->clock->jump_ns : 0);

        build(&f, group * OPEN + in_group % OPEN, in_group / OPEN);
        assert_true(sl_run_add_packet(batch, f.byte, f.len, time, 1));
    }
    return sensor->next < N_PACKETS ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    const uint32_t sid = event->kind == SL_EVENT_ALERT ? event->signature->sid : 0;

    (void)diag;
    sensor->n_alerts[sid]++;
    sensor->n_alerted += event->kind == SL_EVENT_FLOW && event->flow->alerted;
    sensor->len += (size_t)snprintf(sensor->text + sensor->len, TEXT_MAX - sensor->len,
                                    "%u %u>%u %lld\n", sid, event->tuple.src_port,
                                    event->tuple.dst_port, (long long)event->origin.time_ns);
    assert_true(sensor->len < TEXT_MAX);
    return SL_OK;
}

static void execute(struct sensor *sensor,
                    enum sl_status (*source)(void *, struct sl_batch *, struct sl_diag *),
                    uint32_t n_workers)
{
    struct sl_run_result result;
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "late", rules_text, strlen(rules_text), &diag),
                     SL_OK);
    sl_run_config_init(&config);
    config.fill = source;
    config.rules = rules;
    config.devices = "cpu";
    config.event = on_event;
    config.user = sensor;
    config.flow_memory = 8 << 20;
    config.events = 1u << SL_EVENT_ALERT | 1u << SL_EVENT_FLOW;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(sluice, &result);
    assert_int_equal(result.streams.unevaluated, 0);
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static struct sensor *run(const struct clock *clock, uint32_t batch_max, uint32_t n_workers)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);

    assert_non_null(sensor);
    sensor->clock = clock;
    sensor->seed = batch_max;
    sensor->batch_max = batch_max;
    execute(sensor, fill, n_workers);
    return sensor;
}

static void check_alerts(const struct clock *clock)
{
    struct sensor *sensor = run(clock, 300, 1);
    uint32_t expected[SIDS + 1] = {[0] = N_FLOWS};
    uint32_t n_alerted = 0;

    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        expected[1] += has_needle(flow);
        expected[2] += has_needle(flow) && !is_server(flow);
        expected[3] += has_needle(flow) && is_server(flow) && !has_two_holes(flow);
        expected[5] += has_needle(flow) && has_begun(flow);
        expected[8] +=
            (has_begun(flow) ? 0 : 1) + (has_needle(flow) && !has_two_holes(flow) ? 0 : 1);
        expected[9] += has_needle(flow) && has_two_holes(flow); /* a SYN, 300 bytes, "needle" */
        expected[10] += has_needle(flow) && is_server(flow);
        n_alerted += has_needle(flow);
    }
    for (uint32_t sid = 0; sid <= SIDS; sid++)
        if (sensor->n_alerts[sid] != expected[sid])
            fail_msg("sid %u: %u alerts, expected %u", sid, sensor->n_alerts[sid], expected[sid]);
    assert_true(sensor->n_alerted >= n_alerted);
    free(sensor);
}

static void test_rules_see_what_waits_at_the_end(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof clocks / sizeof clocks[0]; c++)
        check_alerts(&clocks[c]);
}

static void compare_events(const struct clock *clock)
{
    static const struct {
        uint32_t batch_max, n_workers;
    } ways[] = {{1, 1}, {40, 3}, {5000, 2}};
    struct sensor *first = run(clock, 7, 1);

    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct sensor *other = run(clock, ways[w].batch_max, ways[w].n_workers);

        assert_int_equal(other->len, first->len);
        assert_memory_equal(other->text, first->text, first->len);
        free(other);
    }
    free(first);
}

static void test_events_depend_on_packets_alone(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof clocks / sizeof clocks[0]; c++)
        compare_events(&clocks[c]);
}

enum { LONG_FLOWS = 300, LONG_FIRST = 800, LONG_LEN = 1400 };

/* A client begins, and behind a hole it sends a long segment, in which a word lies further on from
 * flow to flow. */
static enum sl_status fill_long(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (; sensor->next < 2 * LONG_FLOWS; sensor->next++) {
        const uint32_t flow = sensor->next / 2;
        const bool begins = sensor->next % 2 == 0;
        char text[LONG_LEN];

        memset(text, '-', sizeof text);
        memcpy(text + LONG_FIRST + flow, "needle", 6);
        frame_segment(&f, &(struct frame_segment){.src = 0x0A000001,
                                                  .dst = 0xC0A80001,
                                                  .src_port = (uint16_t)(FIRST_PORT + flow),
                                                  .dst_port = 80,
                                                  .flags = begins ? 2 : 24,
                                                  .seq = begins ? 1000 : 1201,
                                                  .ack = begins ? 0 : 1001,
                                                  .bytes = text,
                                                  .len = begins ? 0 : LONG_LEN});
        assert_true(sl_run_add_packet(batch, f.byte, f.len, sensor->next, 1));
    }
    return SL_END;
}

/* Their bytes are cut into pieces, which overlap. */
static void test_words_lie_across_pieces(void **state)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);

    (void)state;
    assert_non_null(sensor);
    execute(sensor, fill_long, 1);
    assert_int_equal(sensor->n_alerts[1], LONG_FLOWS);
    free(sensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_see_what_waits_at_the_end),
        cmocka_unit_test(test_events_depend_on_packets_alone),
        cmocka_unit_test(test_words_lie_across_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
