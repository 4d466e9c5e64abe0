/* SPDX-License-Identifier: MIT */
/* Names across segments of TCP: each is found once, however its message is cut, and whatever the
 * batches and threads. */
#include "test.h"

#include <unistd.h>

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { N_FLOWS = 96, MESSAGE_MAX = 2000, FIRST_PORT = 20000, N_PROTOCOLS = 3 };

static const uint16_t ports[N_PROTOCOLS] = {80, 443, 53};
static const enum sl_event_kind kinds[N_PROTOCOLS] = {SL_EVENT_HTTP, SL_EVENT_TLS, SL_EVENT_DNS};

/* How messages become packets. */
struct way {
    uint32_t segment_max, batch_max, n_workers;
    bool repeats; /* segments come again, with the bytes before */
};

struct message {
    uint8_t byte[MESSAGE_MAX];
    uint32_t len, sent;
};

struct sensor {
    const struct way *way;
    struct message message[N_FLOWS];
    uint64_t seed;
    int64_t time;
    uint32_t n_left; /* flows that have something to send */
    uint32_t n_found[N_FLOWS];
};

static void put(struct message *message, const void *bytes, uint32_t len)
{
    assert_true(message->len + len <= MESSAGE_MAX);
    memcpy(message->byte + message->len, bytes, len);
    message->len += len;
}

static void put_be16(struct message *message, uint32_t value)
{
    put(message, (const uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

static void draw_http(struct message *message, const char *name, uint32_t filler)
{
    char text[MESSAGE_MAX];

    put(message, text,
        (uint32_t)snprintf(text, sizeof text,
                           "GET /%0*u HTTP/1.1\r\nAccept: */*\r\nHost: %s\r\n\r\n", (int)filler + 1,
                           0, name));
}

/* A ClientHello: its name stands behind padding. */
static void draw_tls(struct message *message, const char *name, uint32_t filler)
{
    static const uint8_t zeros[MESSAGE_MAX];
    const uint32_t n = (uint32_t)strlen(name), extensions = 4 + filler + 9 + n;
    const uint32_t body = 2 + 32 + 1 + 4 + 2 + 2 + extensions;

    put(message, "\x16\3\1", 3);
    put_be16(message, body + 4);
    put(message, "\1\0", 2);
    put_be16(message, body);
    put(message, "\3\3", 2);
    put(message, zeros, 33);
    put(message, "\0\2\x13\1\1\0", 6);
    put_be16(message, extensions);
    put(message, "\0\x15", 2);
    put_be16(message, filler);
    put(message, zeros, filler);
    put(message, "\0\0", 2);
    put_be16(message, n + 5);
    put_be16(message, n + 3);
    put(message, "\0", 1);
    put_be16(message, n);
    put(message, name, n);
}

/* Two questions, one of them long and without a rule. */
static void draw_dns(struct message *message, const char *name, uint32_t filler)
{
    static const char other[] = "other-name-that-no-rule-has";
    const uint32_t n_other = filler % (sizeof other - 1) + 1, n = (uint32_t)strlen(name);
    uint32_t label = 0;

    put_be16(message, 12 + (1 + n_other + 1 + 4) + (1 + n + 1 + 4));
    put(message, "\0\7\1\0\0\2\0\0\0\0\0\0", 12);
    put(message, (const uint8_t[]){(uint8_t)n_other}, 1);
    put(message, other, n_other);
    put(message, "\0\0\1\0\1", 5);
    for (const char *at = name;; at += label + 1) {
        label = (uint32_t)strcspn(at, ".");
        put(message, (const uint8_t[]){(uint8_t)label}, 1);
        put(message, at, label);
        if (at[label] == '\0')
            break;
    }
    put(message, "\0\0\1\0\1", 5);
}

static void draw(struct sensor *sensor)
{
    static void (*const draws[])(struct message *, const char *, uint32_t) = {draw_http, draw_tls,
                                                                              draw_dns};
    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        char name[32];

        snprintf(name, sizeof name, "f%u.ads.test", flow);
        draws[flow % N_PROTOCOLS](&sensor->message[flow], name, test_below(&sensor->seed, 1500));
    }
    sensor->n_left = N_FLOWS;
}

/* The next segment of some flow. */
static void next_packet(struct sensor *sensor, struct frame *f)
{
    uint32_t flow;

    do
        flow = test_below(&sensor->seed, N_FLOWS);
    while (sensor->message[flow].sent == sensor->message[flow].len);

    struct message *const message = &sensor->message[flow];
    uint32_t len = 1 + test_below(&sensor->seed, sensor->way->segment_max), begin = message->sent;

    len = len > message->len - begin ? message->len - begin : len;
    message->sent += len;
    sensor->n_left -= message->sent == message->len;
    if (sensor->way->repeats && begin != 0 && test_below(&sensor->seed, 3) == 0) {
        const uint32_t back = 1 + test_below(&sensor->seed, begin < 30 ? begin : 30);

        begin -= back == begin ? 0 : back; /* the first byte again is another begin of a name */
        len = message->sent - begin;
    }
    frame_segment(f, &(struct frame_segment){.src = 0x0A000001,
                                             .dst = 0xC0A80001,
                                             .src_port = (uint16_t)(FIRST_PORT + flow),
                                             .dst_port = ports[flow % N_PROTOCOLS],
                                             .flags = 24,
                                             .seq = 0xFFFFFFF0 + begin,
                                             .ack = 1,
                                             .bytes = message->byte + begin,
                                             .len = len});
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&sensor->seed, sensor->way->batch_max);
         sensor->n_left != 0 && room != 0; room--) {
        next_packet(sensor, &f);
        assert_true(sl_run_add_packet(batch, f.byte, f.len, sensor->time += 1000, 1));
    }
    return sensor->n_left != 0 ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    const uint32_t flow = event->tuple.src_port - FIRST_PORT;
    char name[32];

    (void)diag;
    assert_true(flow < N_FLOWS);
    snprintf(name, sizeof name, "f%u.ads.test", flow);
    assert_int_equal(event->kind, kinds[flow % N_PROTOCOLS]);
    if (event->kind == SL_EVENT_DNS && strcmp(event->match->name, name) != 0)
        return SL_OK; /* the end of a message, taken for a begin */
    assert_memory_equal(event->match->name, name, strlen(name));
    assert_int_not_equal(event->origin.flow, 0);
    sensor->n_found[flow]++;
    return SL_OK;
}

static void run(const struct way *way, uint64_t seed, const char *table)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);
    const struct sl_names_file files[] = {{.path = table}};
    struct sl_run_config config;
    struct sl_run_result result;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_non_null(sensor);
    *sensor = (struct sensor){.way = way, .seed = seed, .time = INT64_C(1700000000000000000)};
    draw(sensor);
    sl_run_config_init(&config);
    config.fill = fill;
    config.names.files = files;
    config.names.n_files = 1;
    config.devices = "cpu";
    config.event = on_event;
    config.user = sensor;
    config.flow_memory = 1 << 20;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = way->n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        if (sensor->n_found[flow] != 1)
            fail_msg("seed %llu, segments up to %u: flow %u has %u names", (unsigned long long)seed,
                     way->segment_max, flow, sensor->n_found[flow]);
    sl_run_result(sluice, &result);
    sl_run_close(sluice);
    free(sensor);
}

static void test_names_depend_on_bytes_alone(void **state)
{
    static const struct way ways[] = {{2000, 400, 1, false},
                                      {700, 1, 1, false},
                                      {700, 50, 3, true},
                                      {120, 4000, 2, true},
                                      {120, 20, 2, false}};
    char path[] = "/tmp/name_segments_XXXXXX";
    static const char list[] = "||ads.test^\n";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, list, sizeof list - 1), sizeof list - 1);
    close(fd);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        run(&ways[w], w + 1, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_depend_on_bytes_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
