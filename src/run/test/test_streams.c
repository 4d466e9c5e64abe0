/* SPDX-License-Identifier: MIT */
/* Rules over TCP streams, and over the messages in them: a rule's findings depend on the bytes of a
 * stream, and on no segment, no batch and no thread. The reference reads whole streams. */
#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { N_FLOWS = 24, STREAM_MAX = 9000, N_RULES = 18, FIRST_PORT = 20000 };

/* Longer than a literal of rules. */
#define CUT "across-the-cut-with-more-than-a-literal"

/* Literals that rules of one direction want. */
#define OF_SERVER "what-servers-alone-say"
#define OF_CLIENT "what-clients-alone-say"
#define MIXED "mIxEd-In-CaSe"

static const char *const words[] = {CUT,  "near",    "begin",   "1234end-of-it",
                                    "x1", OF_SERVER, OF_CLIENT, MIXED};

static const char text[] =
    "alert tcp any any -> any any (content:\"" CUT "\"; sid:1;)\n"
    "alert tcp-stream any any -> any any (content:\"begin\"; depth:5; sid:2;)\n"
    "alert tcp any any -> any any (content:\"near\"; content:\"" CUT "\"; distance:2; "
    "within:60; sid:3;)\n"
    "alert tcp any any -> any any (content:\"end-of-it\"; pcre:\"/[0-9]{4}end-of-it/\"; sid:4;)\n"
    "alert tcp-stream any any -> any 80 (content:\"" CUT "\"; offset:3000; sid:5;)\n"
    "alert tcp-stream any 80 -> any any (content:\"ACROSS\"; nocase; depth:2500; sid:6;)\n"
    "alert tcp any any -> any any (flow:only_stream; content:\"|0d 0a 0d 0a|across\"; sid:7;)\n"
    "alert ip any any -> any any (content:\"near\"; pcre:\"/^begin.{0,90}near/s\"; sid:8;)\n"
    "alert http any any -> any any (http.uri; content:\"/needle\"; sid:9;)\n"
    "alert http any any -> any any (http.stat_code; content:\"404\"; sid:10;)\n"
    "alert http any any -> any any (file.data; content:\"in-the-body\"; sid:11;)\n"
    "alert dns any any -> any any (dns.query; content:\"needle.example\"; sid:12;)\n"
    "alert dns any any -> any any (dns.rcode:3; sid:13;)\n"
    "alert sip any any -> any any (sip.to; content:\"needle\"; sid:14;)\n"
    "alert sip any any -> any any (sip.stat_code; content:\"404\"; sid:15;)\n"
    "alert tcp any any -> any any (flow:to_client; content:\"" OF_SERVER "\"; sid:16;)\n"
    "alert tcp any any -> any any (flow:to_server; content:\"" OF_CLIENT "\"; sid:17;)\n"
    "alert tcp any any -> any any (content:\"MiXED-in-CASE\"; nocase; sid:18;)\n";

/* The bytes that one side sends. */
struct side {
    uint8_t byte[STREAM_MAX];
    uint32_t len, sent, isn;
    bool has_syn;
};

struct scene {
    uint64_t seed;
    struct side side[N_FLOWS][2];
    bool expected[N_FLOWS][2][N_RULES];
};

static uint32_t below(struct scene *scene, uint32_t n)
{
    return test_below(&scene->seed, n);
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Where the word occurs from `from` on; the stream's length: nowhere. */
static uint32_t find(const struct side *side, const char *word, uint32_t from)
{
    const uint32_t len = (uint32_t)strlen(word);

    for (uint32_t at = from; at + len <= side->len; at++)
        if (memcmp(side->byte + at, word, len) == 0)
            return at;
    return side->len;
}

static bool has_pair(const struct side *side)
{
    for (uint32_t a = find(side, "near", 0); a < side->len; a = find(side, "near", a + 1)) {
        const uint32_t b = find(side, CUT, a + 6);

        if (b < side->len && b + sizeof CUT - 1 <= a + 4 + 2 + 60)
            return true;
    }
    return false;
}

static bool has_number(const struct side *side)
{
    for (uint32_t at = find(side, "end-of-it", 4); at < side->len;
         at = find(side, "end-of-it", at + 1)) {
        uint32_t n = 0;

        while (n < 4 && side->byte[at - 1 - n] >= '0' && side->byte[at - 1 - n] <= '9')
            n++;
        if (n == 4)
            return true;
    }
    return false;
}

static void expect(const struct side *side, bool server, bool *expected)
{
    const bool begins = find(side, "begin", 0) == 0 && side->len != 0;
    const uint32_t cut = find(side, CUT, 0), near = find(side, "near", 5);

    expected[0] = cut < side->len;
    expected[1] = begins;
    expected[2] = has_pair(side);
    expected[3] = has_number(side);
    expected[4] = !server && find(side, CUT, 3000) < side->len;
    expected[5] =
        server && find(side, "across", 0) + 6 <= 2500 && find(side, "across", 0) < side->len;
    expected[6] = find(side, "\r\n\r\nacross", 0) < side->len;
    expected[7] = begins && near < side->len && near <= 5 + 90;
    expected[15] = server && find(side, OF_SERVER, 0) < side->len;
    expected[16] = !server && find(side, OF_CLIENT, 0) < side->len;
    expected[17] = find(side, MIXED, 0) < side->len;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static void draw_side(struct scene *scene, struct side *side)
{
    side->len = below(scene, 8) == 0 ? below(scene, 60) : below(scene, STREAM_MAX);
    side->isn = (uint32_t)test_random(&scene->seed);
    for (uint32_t i = 0; i < side->len; i++)
        side->byte[i] = (uint8_t)("ab0 \r\n1z"[below(scene, 8)]);
    for (uint32_t n = below(scene, 8); n != 0; n--) {
        const char *word = words[below(scene, sizeof words / sizeof words[0])];
        const uint32_t len = (uint32_t)strlen(word);
        uint32_t at = below(scene, 4) == 0 ? below(scene, 70) : below(scene, STREAM_MAX);

        if (below(scene, 3) == 0)
            at = 0;
        if (at + len <= side->len)
            memcpy(side->byte + at, word, len);
        if (below(scene, 3) == 0 && at + 80 <= side->len)
            memcpy(side->byte + at + 20 + below(scene, 20), CUT, sizeof CUT - 1);
        if (below(scene, 3) == 0 && at + 60 <= side->len)
            memcpy(side->byte + at + 20, "\r\n\r\nacross", 10);
    }
}

static void add_bytes(struct side *side, const char *bytes, uint32_t len)
{
    assert_true(side->len + len <= STREAM_MAX);
    memcpy(side->byte + side->len, bytes, len);
    side->len += len;
}

/* A body, in chunks or of known length. */
static void add_response(struct scene *scene, struct side *side, bool is_missing, bool has_word)
{
    static const char word[] = "in-the-body";
    const uint32_t len = 20 + below(scene, 1800), cut = below(scene, len + 1);
    char line[128], body[2048];

    for (uint32_t i = 0; i < len; i++)
        body[i] = (char)('a' + below(scene, 26));
    if (has_word)
        memcpy(body + below(scene, len - sizeof word), word, sizeof word - 1);
    add_bytes(side, line,
              (uint32_t)snprintf(line, sizeof line, "HTTP/1.1 %s\r\n",
                                 is_missing ? "404 Not Found" : "200 OK"));
    if (below(scene, 2) == 0) {
        add_bytes(side, line,
                  (uint32_t)snprintf(line, sizeof line, "Content-Length: %u\r\n\r\n", len));
        add_bytes(side, body, len);
        return;
    }
    add_bytes(side, "Transfer-Encoding: chunked\r\n\r\n", 30);
    for (uint32_t at = 0, end = cut; at < len; at = end, end = len) {
        if (end == at)
            continue;
        add_bytes(side, line, (uint32_t)snprintf(line, sizeof line, "%x\r\n", end - at));
        add_bytes(side, body + at, end - at);
        add_bytes(side, "\r\n", 2);
    }
    add_bytes(side, "0\r\n\r\n", 5);
}

/* Requests and responses instead. */
static void draw_http(struct scene *scene, uint32_t flow)
{
    struct side *const client = &scene->side[flow][0], *const server = &scene->side[flow][1];
    bool(*const expected)[N_RULES] = scene->expected[flow];

    client->len = server->len = 0;
    memset(expected, 0, sizeof scene->expected[flow]);
    for (uint32_t n = 1 + below(scene, 4); n != 0; n--) {
        const bool is_needle = below(scene, 3) == 0, is_missing = below(scene, 3) == 0,
                   has_word = below(scene, 3) == 0;
        char line[128];

        add_bytes(client, line,
                  (uint32_t)snprintf(line, sizeof line, "GET /%%6e%s HTTP/1.1\r\nHost: h\r\n\r\n",
                                     is_needle ? "eedle" : "othing"));
        add_response(scene, server, is_missing, has_word);
        expected[0][8] |= is_needle;
        expected[1][9] |= is_missing;
        expected[1][10] |= has_word;
    }
}

/* A message of DNS over TCP, with one question. */
static void add_dns(struct side *side, uint16_t flags, const char *label)
{
    uint8_t message[64] = {0};
    const uint32_t len = (uint32_t)strlen(label), end = 2 + 12 + 1 + len + 8 + 1;

    store_be16(message, (uint16_t)(end + 4 - 2));
    store_be16(message + 2, 0x1234);
    store_be16(message + 4, flags);
    store_be16(message + 6, 1);
    message[14] = (uint8_t)len;
    memcpy(message + 15, label, len);
    memcpy(message + 15 + len, "\7example", 8);
    store_be16(message + end, 1);
    store_be16(message + end + 2, 1);
    add_bytes(side, (const char *)message, end + 4);
}

static void draw_dns(struct scene *scene, uint32_t flow)
{
    struct side *const client = &scene->side[flow][0], *const server = &scene->side[flow][1];
    bool(*const expected)[N_RULES] = scene->expected[flow];

    client->len = server->len = 0;
    memset(expected, 0, sizeof scene->expected[flow]);
    for (uint32_t n = 1 + below(scene, 5); n != 0; n--) {
        const bool is_needle = below(scene, 3) == 0, is_missing = below(scene, 3) == 0;
        const char *const label = is_needle ? "needle" : "other";

        add_dns(client, 0x0100, label);
        add_dns(server, is_missing ? 0x8183 : 0x8180, label);
        expected[0][11] |= is_needle;
        expected[1][12] |= is_missing;
    }
}

/* SIP over TCP: requests with bodies that are no messages, and responses. */
static void draw_sip(struct scene *scene, uint32_t flow)
{
    struct side *const client = &scene->side[flow][0], *const server = &scene->side[flow][1];
    bool(*const expected)[N_RULES] = scene->expected[flow];
    char line[256];

    client->len = server->len = 0;
    memset(expected, 0, sizeof scene->expected[flow]);
    for (uint32_t n = 1 + below(scene, 5); n != 0; n--) {
        const bool is_needle = below(scene, 3) == 0, is_missing = below(scene, 3) == 0;

        add_bytes(client, line,
                  (uint32_t)snprintf(line, sizeof line,
                                     "INVITE sip:a SIP/2.0\r\nTo: %s\r\nContent-Length: 40\r\n\r\n"
                                     "INVITE sip:a SIP/2.0\r\nTo: needle\r\n\r\nxxxx",
                                     is_needle ? "needle" : "other"));
        add_bytes(server, line,
                  (uint32_t)snprintf(line, sizeof line, "SIP/2.0 %s\r\n\r\n",
                                     is_missing ? "404 Not Found" : "200 OK"));
        expected[0][13] |= is_needle;
        expected[1][14] |= is_missing;
    }
}

static void draw(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    scene->seed = seed;
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        for (uint32_t s = 0; s < 2; s++) {
            draw_side(scene, &scene->side[flow][s]);
            expect(&scene->side[flow][s], s != 0, scene->expected[flow][s]);
        }
    for (uint32_t flow = 0; flow < N_FLOWS; flow += 3)
        draw_http(scene, flow);
    for (uint32_t flow = 1; flow < N_FLOWS; flow += 6)
        draw_dns(scene, flow);
    for (uint32_t flow = 4; flow < N_FLOWS; flow += 6)
        draw_sip(scene, flow);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* How streams become packets. */
struct way {
    uint32_t segment_max, batch_max, n_workers;
    bool handshake;
    bool disorder; /* segments come late, again, and overlap others */
    bool fragments;
};

enum { N_LATE = 12 };

struct segment {
    uint32_t flow, s, begin, len;
};

struct sensor {
    struct sl_stream_stats stats;
    uint64_t cuts; /* the seed of batches' lengths */
    struct scene *scene;
    const struct way *way;
    struct side side[N_FLOWS][2];
    uint64_t seed;
    int64_t time;
    uint16_t id;     /* of the latest datagram that was cut */
    uint32_t n_left; /* sides that have something to send */
    struct segment late[N_LATE];
    uint32_t n_late;
    bool found[N_FLOWS][2][N_RULES];
};

/* How far the receiver of a side has all bytes. */
static uint32_t received(const struct sensor *sensor, uint32_t flow, uint32_t s)
{
    uint32_t end = sensor->side[flow][s].sent;

    for (uint32_t i = 0; i < sensor->n_late; i++)
        if (sensor->late[i].flow == flow && sensor->late[i].s == s && sensor->late[i].begin < end)
            end = sensor->late[i].begin;
    return end;
}

static void build(struct frame *f, const struct sensor *sensor, const struct segment *segment,
                  uint8_t flags)
{
    const uint32_t flow = segment->flow, s = segment->s;
    const struct side *side = &sensor->side[flow][s], *other = &sensor->side[flow][s ^ 1];
    const uint32_t client = 0x0A000001, server = 0xC0A80001;
    const uint16_t port = (uint16_t)(FIRST_PORT + flow);
    const uint32_t has_begun = (flags & 2) != 0 ? 0 : 1;
    const uint32_t ack = (flags & 16) != 0 ? other->isn + 1 + received(sensor, flow, s ^ 1) : 0;

    frame_segment(f, &(struct frame_segment){.src = s == 0 ? client : server,
                                             .dst = s == 0 ? server : client,
                                             .src_port = s == 0 ? port : 80,
                                             .dst_port = s == 0 ? 80 : port,
                                             .flags = flags,
                                             .seq = side->isn + has_begun + segment->begin,
                                             .ack = ack,
                                             .bytes = side->byte + segment->begin,
                                             .len = segment->len});
}

static uint32_t draw_from(struct sensor *sensor, uint32_t n)
{
    return test_below(&sensor->seed, n);
}

/* Lets a late segment come now. */
static void let_come(struct sensor *sensor, struct frame *f)
{
    const uint32_t i = draw_from(sensor, sensor->n_late);
    const struct segment segment = sensor->late[i];

    sensor->late[i] = sensor->late[--sensor->n_late];
    build(f, sensor, &segment, 16);
}

/* The next segment of a side comes late, or with earlier bytes, or earlier bytes come again.
 * Returns whether there is a packet. */
static bool disorder(struct sensor *sensor, struct segment *segment)
{
    const uint32_t what = draw_from(sensor, 6);
    struct side *side = &sensor->side[segment->flow][segment->s];

    if (what == 0 && sensor->n_late < N_LATE) {
        sensor->late[sensor->n_late++] = *segment;
        side->sent += segment->len;
        return false;
    }
    if (what <= 2 && side->sent != 0) {
        const uint32_t back = 1 + draw_from(sensor, side->sent < 3000 ? side->sent : 3000);

        segment->begin = side->sent - back;
        if (what == 1)
            segment->len = 1 + draw_from(sensor, back);
        else
            segment->len += back;
    }
    if (segment->begin + segment->len > side->sent)
        side->sent = segment->begin + segment->len;
    return true;
}

/* The next packet of some side. False: it comes late. */
static bool next_packet(struct sensor *sensor, struct frame *f)
{
    uint32_t flow, s;

    if (sensor->n_late != 0 && (sensor->n_left == 0 || draw_from(sensor, 8) == 0)) {
        let_come(sensor, f);
        return true;
    }
    do {
        flow = test_below(&sensor->seed, N_FLOWS);
        s = test_below(&sensor->seed, 2);
    } while (sensor->side[flow][s].sent == sensor->side[flow][s].len);

    struct side *side = &sensor->side[flow][s];
    struct side *client = &sensor->side[flow][0], *server = &sensor->side[flow][1];

    if (sensor->way->handshake && !client->has_syn) {
        build(f, sensor, &(struct segment){flow, 0, 0, 0}, 2);
        client->has_syn = true;
        return true;
    }
    if (sensor->way->handshake && !server->has_syn) {
        build(f, sensor, &(struct segment){flow, 1, 0, 0}, 18);
        server->has_syn = true;
        return true;
    }
    struct segment segment = {flow, s, side->sent, 1 + draw_from(sensor, sensor->way->segment_max)};

    if (segment.len > side->len - side->sent)
        segment.len = side->len - side->sent;

    bool comes = true;

    if (sensor->way->disorder && (sensor->way->handshake || side->sent != 0))
        comes = disorder(sensor, &segment);
    else
        side->sent += segment.len;
    if (comes)
        build(f, sensor, &segment, 16);
    sensor->n_left -= side->sent == side->len;
    return comes;
}

/* Adds the fragments of a packet, the last one first. */
static void add_fragments(struct sensor *sensor, struct sl_batch *batch, const struct frame *f)
{
    static struct frame cut;
    const uint32_t data = 14 + 20, len = f->len - data;
    const uint32_t step = 8 + 8 * draw_from(sensor, len / 16 + 1);

    sensor->id++;
    for (uint32_t begin = (len - 1) / step * step;; begin -= step) {
        const uint32_t n = begin + step < len ? step : len - begin;

        cut.len = 0;
        frame_bytes(&cut, f->byte, data);
        frame_bytes(&cut, f->byte + data + begin, n);
        store_be16(cut.byte + 14 + 4, sensor->id);
        store_be16(cut.byte + 14 + 6, begin / 8 | (begin + n < len ? 0x2000 : 0));
        frame_end_ipv4(&cut, 14);
        assert_true(sl_run_add_packet(batch, cut.byte, cut.len, sensor->time, 1));
        if (begin == 0)
            return;
    }
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&sensor->cuts, sensor->way->batch_max);
         sensor->n_left + sensor->n_late != 0 && room != 0; room--) {
        if (!next_packet(sensor, &f))
            continue;
        sensor->time += 1000;
        if (sensor->way->fragments)
            add_fragments(sensor, batch, &f);
        else
            assert_true(sl_run_add_packet(batch, f.byte, f.len, sensor->time, 1));
    }
    return sensor->n_left + sensor->n_late != 0 ? SL_OK : SL_END;
}

static enum sl_status on_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    const bool server = event->tuple.src_port == 80;
    const uint16_t port = server ? event->tuple.dst_port : event->tuple.src_port;

    (void)diag;
    sensor->found[port - FIRST_PORT][server][event->signature->sid - 1] = true;
    return SL_OK;
}

static void run(struct sensor *sensor)
{
    struct sl_rules *rules;
    struct sl_run_config config;
    struct sl_rules_count count;
    struct sl_run_result result;
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_load_text(rules, "streams", text, strlen(text), &diag), SL_OK);
    sl_rules_count(rules, &count);
    assert_int_equal(count.loaded, N_RULES);
    sl_run_config_init(&config);
    config.fill = fill;
    config.rules = rules;
    config.devices = "cpu";
    config.event = on_event;
    config.user = sensor;
    config.flow_memory = 1 << 20;
    config.events = 1u << SL_EVENT_ALERT;
    assert_int_equal(sl_run_create(&sluice, &config, &diag), SL_OK);
    sluice->pipeline.n_workers = sensor->way->n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(sluice, &result);
    sensor->stats = result.streams;
    sl_run_close(sluice);
    sl_rules_free(rules);
}

static uint32_t compare(struct scene *scene, const struct way *way, uint64_t seed,
                        struct sl_stream_stats *stats)
{
    struct sensor *sensor = calloc(1, sizeof *sensor);
    uint32_t n = 0;

    assert_non_null(sensor);
    sensor->scene = scene;
    sensor->way = way;
    sensor->seed = seed;
    sensor->cuts = seed;
    sensor->time = INT64_C(1700000000000000000);
    memcpy(sensor->side, scene->side, sizeof sensor->side);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        for (uint32_t s = 0; s < 2; s++)
            sensor->n_left += scene->side[flow][s].len != 0;
    run(sensor);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t r = 0; r < N_RULES; r++) {
                n += scene->expected[flow][s][r];
                if (sensor->found[flow][s][r] != scene->expected[flow][s][r])
                    fail_msg("seed %llu, segments up to %u, batches up to %u: flow %u, side %u, "
                             "sid %u: %s alert",
                             (unsigned long long)seed, way->segment_max, way->batch_max, flow, s,
                             r + 1, scene->expected[flow][s][r] ? "no" : "an");
            }
    *stats = sensor->stats;
    free(sensor);
    return n;
}

#ifdef __SANITIZE_THREAD__
enum { N_SEEDS = 1, FIRST_WAY = 2 }; /* each is slow */
#elif defined(SLUICE_SANITIZED)
enum { N_SEEDS = 2, FIRST_WAY = 0 };
#else
enum { N_SEEDS = 4, FIRST_WAY = 0 };
#endif

static void test_alerts_depend_on_bytes_alone(void **state)
{
    static const struct way ways[] = {
        {1, 300, 1, true, false, false},     {40, 1, 1, true, false, false},
        {200, 3000, 2, false, false, false}, {1460, 7, 3, true, false, false},
        {9000, 20, 2, true, false, false},   {9000, 1, 1, false, false, false},
        {3, 400, 1, true, true, false},      {60, 1, 2, true, true, false},
        {300, 40, 4, false, true, false},    {1460, 9, 2, true, true, false},
        {1460, 3000, 1, true, true, false},  {1460, 9, 2, true, true, true},
        {300, 400, 1, true, false, true},
    };
    const uint32_t n_seeds = N_SEEDS * test_times();
    struct scene *scene = calloc(1, sizeof *scene);
    struct sl_stream_stats stats;
    uint32_t n = 0;

    (void)state;
    assert_non_null(scene);
    for (uint64_t seed = 1; seed <= n_seeds; seed++) {
        draw(scene, seed);
        for (size_t w = seed == 1 ? FIRST_WAY : 1; w < sizeof ways / sizeof ways[0]; w++)
            n += compare(scene, &ways[w], seed * 100 + w, &stats);
    }
    assert_true(n > n_seeds * 125);
    free(scene);
}

static void test_counters_depend_on_segments_alone(void **state)
{
    static const struct way ways[] = {{300, 1, 1, true, true, false},
                                      {300, 40, 3, true, true, false},
                                      {300, 3000, 2, true, true, false}};
    struct scene *scene = calloc(1, sizeof *scene);
    struct sl_stream_stats stats[3];

    (void)state;
    assert_non_null(scene);
    draw(scene, 9);
    for (size_t w = 0; w < 3; w++)
        (void)compare(scene, &ways[w], 9, &stats[w]);
    assert_true(stats[0].queued != 0 && stats[0].retransmitted != 0);
    assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
    assert_memory_equal(&stats[0], &stats[2], sizeof stats[0]);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alerts_depend_on_bytes_alone),
        cmocka_unit_test(test_counters_depend_on_segments_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
