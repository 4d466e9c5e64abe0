/* SPDX-License-Identifier: MIT */
/* Rules and virus signatures on what flows say when they end: bodies of unknown or greater length.
 * Their findings depend on no batch and no thread. */
#include "test.h"

#include <unistd.h>

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

#ifdef __SANITIZE_THREAD__
enum { N_FLOWS = 1000 };
#else
enum { N_FLOWS = 3000 };
#endif

enum {
    N_PACKETS = 2 * N_FLOWS,
    N_CLIENTS = 4,
    FIRST_PORT = 20000,
    SIDS = 8,
    SID_OF_VIRUS,
    TEXT_MAX = 1 << 20
};

static const char rules_text[] =
    "alert http any any -> any 80 (http.request_body; content:\"needle\"; sid:1;)\n"
    "alert http any 80 -> any any (flow:established,to_client; file.data; "
    "content:\"until-the-end\";"
    " sid:2;)\n"
    "alert http any any -> any any (http.request_body; content:\"needle\";"
    " threshold:type limit, track by_src, count 1, seconds 60; sid:3;)\n"
    "alert http any any -> any any (http.request_body; content:\"needle\"; flowbits:isset,begun;"
    " sid:4;)\n"
    "alert http any any -> any any (http.host; content:\"begins\"; flowbits:set,begun;"
    " flowbits:noalert; sid:5;)\n"
    "alert http any any -> any any (file.data; content:\"until-the-end\"; flowbits:isset,said;"
    " sid:6;)\n"
    "alert http any any -> any any (http.request_body; content:\"needle\"; flowbits:set,said;"
    " flowbits:noalert; sid:7;)\n"
    "alert tcp any any -> any any (flags:A; dsize:0; sid:8;)\n";

/* The file that is "hay". */
static const char virus[] = "4e30ea25cda1c18cfc423e4d9dfa57b7051a9ef311e09ed43f8e33523f3d9533:"
                            "3:Hay:73\n";

/* Which flows have what. */
static bool has_needle(uint32_t flow)
{
    return flow % 3 == 0;
}

static bool has_begun(uint32_t flow)
{
    return flow % 5 != 0;
}

static bool is_answered(uint32_t flow)
{
    return flow % 2 == 1;
}

/* The clock: flows end with the run, one by one, or many at one packet. */
struct clock {
    int64_t step_ns; /* from packet to packet */
    int64_t jump_ns; /* in the middle */
};

static const struct clock clocks[] = {
    {1000, 0}, {INT64_C(1000000000), 0}, {1000, INT64_C(2000000000000)}};

struct sensor {
    const struct clock *clock;
    uint64_t seed;
    uint32_t batch_max, next; /* packets */
    uint32_t n_alerts[SID_OF_VIRUS + 1], n_flows, n_alerted;
    char text[TEXT_MAX];
    size_t len;
};

/* The packet of a flow's client, or its server. */
static void build(struct frame *f, uint32_t flow, bool server)
{
    const uint32_t client = 0x0A000001 + flow % N_CLIENTS, host = 0xC0A80001;
    const uint16_t port = (uint16_t)(FIRST_PORT + flow);
    static const char response[] = "HTTP/1.0 200 OK\r\n\r\nuntil-the-end";
    char request[256];

    const int len = snprintf(
        request, sizeof request, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\n%s",
        has_begun(flow) ? "begins" : "other", has_needle(flow) ? "needle" : "hay");

    frame_segment(f, &(struct frame_segment){.src = server ? host : client,
                                             .dst = server ? client : host,
                                             .src_port = server ? 80 : port,
                                             .dst_port = server ? port : 80,
                                             .flags = 24,
                                             .seq = 1000,
                                             .ack = 1000 + (server ? (uint32_t)len : 0),
                                             .bytes = server ? response : request,
                                             .len = server ? sizeof response - 1 : (uint32_t)len});
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&sensor->seed, sensor->batch_max);
         sensor->next < N_PACKETS && room != 0; sensor->next++) {
        const uint32_t flow = sensor->next / 2;
        const bool server = sensor->next % 2 == 1;
        const int64_t time = INT64_C(1700000000000000000) + sensor->next * sensor->clock->step_ns +
                             (flow > N_FLOWS / 2 ? sensor->clock->jump_ns : 0);

        if (server && !is_answered(flow))
            continue;
        build(&f, flow, server);
        assert_true(sl_run_add_packet(batch, f.byte, f.len, time, 1));
        room--;
    }
    return sensor->next < N_PACKETS ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    const bool is_virus = event->kind == SL_EVENT_ALERT && event->message != NULL &&
                          strcmp(event->signature->classtype, "virus") == 0;
    const uint32_t sid = is_virus                        ? SID_OF_VIRUS
                         : event->kind == SL_EVENT_ALERT ? event->signature->sid
                                                         : 0;

    (void)diag;
    sensor->n_alerts[sid]++;
    sensor->n_alerted += event->kind == SL_EVENT_FLOW && event->flow->alerted;
    sensor->len += (size_t)snprintf(sensor->text + sensor->len, TEXT_MAX - sensor->len,
                                    "%u %u>%u %lld\n", sid, event->tuple.src_port,
                                    event->tuple.dst_port, (long long)event->origin.time_ns);
    assert_true(sensor->len < TEXT_MAX);
    return SL_OK;
}

static char database[] = "/tmp/test_late_rules_XXXXXX.hsb";

static int write_database(void **state)
{
    const int fd = mkstemps(database, 4);

    (void)state;
    assert_true(fd >= 0 && write(fd, virus, strlen(virus)) == (ssize_t)strlen(virus));
    return close(fd);
}

static int remove_database(void **state)
{
    (void)state;
    return unlink(database);
}

static struct sensor *run(const struct clock *clock, uint32_t batch_max, uint32_t n_workers)
{
    static const char *const databases[] = {database};
    struct sensor *sensor = calloc(1, sizeof *sensor);
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_non_null(sensor);
    sensor->clock = clock;
    sensor->seed = batch_max;
    sensor->batch_max = batch_max;
    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "late", rules_text, strlen(rules_text), &diag),
                     SL_OK);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.databases = databases;
    config.n_databases = 1;
    config.devices = "cpu";
    config.event = on_event;
    config.user = sensor;
    config.flow_memory = 8 << 20;
    config.events = 1u << SL_EVENT_ALERT | 1u << SL_EVENT_FLOW;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_close(sluice);
    sl_rules_free(rules);
    return sensor;
}

static void check_alerts(const struct clock *clock)
{
    struct sensor *sensor = run(clock, 300, 1);
    uint32_t expected[SID_OF_VIRUS + 1] = {[0] = N_FLOWS};

    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        expected[1] += has_needle(flow);
        expected[2] += is_answered(flow);
        expected[4] += has_needle(flow) && has_begun(flow);
        expected[6] += has_needle(flow) && is_answered(flow);
        expected[SID_OF_VIRUS] += !has_needle(flow);
    }
    /* Of a minute, and of each client, one. */
    expected[3] = sensor->n_alerts[3];
    assert_in_range(expected[3], N_CLIENTS, clock->step_ns < 1000000 ? 2 * N_CLIENTS : N_FLOWS / 6);
    for (uint32_t sid = 0; sid <= SID_OF_VIRUS; sid++)
        assert_int_equal(sensor->n_alerts[sid], expected[sid]);
    assert_int_equal(sensor->n_alerted, N_FLOWS); /* of a rule or a virus */
    free(sensor);
}

static void test_rules_see_what_flows_say_at_the_end(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_see_what_flows_say_at_the_end),
        cmocka_unit_test(test_events_depend_on_packets_alone),
    };

    return cmocka_run_group_tests(tests, write_database, remove_database);
}
