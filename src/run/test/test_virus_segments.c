/* SPDX-License-Identifier: MIT */
/* Viruses across segments of TCP: each is found once, by the packet that completes it, however its
 * stream is cut, and whatever the batches and threads. */
#include "test.h"

#include <unistd.h>

#include "dissect/test/frame_fixture.h"
#include "run/run_internal.h"

enum { N_FLOWS = TEST_SANITIZED ? 48 : 96, MESSAGE_MAX = 6000, FIRST_PORT = 20000, N_KINDS = 8 };

/* Words of digits, which the other bytes of messages are not. A kind is two words and the bytes
 * between them; kinds 6 and 7 are nearly one of the others. Two signatures have a word of Both, and
 * never match. */
static const char set_ndb[] =
    "Whole:0:*:303132333435363738393039383736353433323130303031313030313031323031"
    "32333031323334303132333435303132333435363031323334353637\n"
    "Gap:0:*:3131323233333434{3-200}3535363637373838\n"
    "Star:0:*:3931393239333934*3939383937393639\n"
    "Begin:0:7:3837383637383637363837363738373837383738373837383738\n";
static const char set_ldb[] = "Both;Target:0;0&1;3431343234333434;3638363936383639\n"
                              "Case;Target:0;0;78797a7a79787a7a::i\n"
                              "FirstAndNever;Target:0;0&1;3431343234333434;39393939\n"
                              "SecondAndNever;Target:0;0&1;3638363936383639;39393939\n";

static const struct kind {
    const char *name, *first, *second;
    uint32_t at, gap_min, gap_max; /* at 0: anywhere */
} kinds[N_KINDS] = {
    {"Whole.UNOFFICIAL", "01234567890987654321000110010120123012340123450123456", "01234567", 0, 0,
     0},
    {"Gap.UNOFFICIAL", "11223344", "55667788", 0, 3, 200},
    {"Star.UNOFFICIAL", "91929394", "99897969", 0, 0, 2000},
    {"Begin.UNOFFICIAL", "87867867", "687678787878787878", 7, 0, 0},
    {"Both.UNOFFICIAL", "41424344", "68696869", 0, 0, 2000},
    {"Case.UNOFFICIAL", "XyZz", "YxzZ", 0, 0, 0},
    {NULL, "11223344", "55667788", 0, 201, 300},
    {NULL, "99897969", "91929394", 0, 0, 500},
};

/* How messages become packets. */
struct way {
    uint32_t segment_max, batch_max, n_workers;
    bool repeats; /* segments come again, with the bytes before, and pairs are turned round */
    uint64_t seed;
};

struct message {
    uint8_t byte[MESSAGE_MAX];
    uint32_t len, sent;
    uint32_t held, held_len; /* a segment that waits for the next */
};

struct sensor {
    const struct way *way;
    struct message message[N_FLOWS];
    const char *expected[N_FLOWS]; /* what each flow has once; NULL: nothing */
    uint64_t n_beyond;             /* first words that find no room, where they are counted */
    uint64_t seed, batch_seed;
    int64_t time;
    uint32_t n_left; /* flows that have something to send */
    uint32_t n_found[N_FLOWS], n_ended;
    uint64_t n_left_out; /* as the run says */
    int64_t found_at[N_FLOWS];
};

/* Makes the messages of all flows, and says what is expected. */
typedef void draw_fn(struct sensor *sensor);

static void draw_kind(struct sensor *sensor, uint32_t flow)
{
    struct message *const message = &sensor->message[flow];
    const struct kind *kind = &kinds[flow % N_KINDS];
    const uint32_t gap =
        kind->gap_min + test_below(&sensor->seed, kind->gap_max - kind->gap_min + 1);
    const uint32_t n = (uint32_t)strlen(kind->first);
    const uint32_t at = kind->at != 0 ? kind->at : test_below(&sensor->seed, 3000);

    sensor->expected[flow] = kind->name;
    message->len = at + n + gap + (uint32_t)strlen(kind->second) + test_below(&sensor->seed, 800);
    assert_true(message->len <= MESSAGE_MAX);
    for (uint32_t i = 0; i < message->len; i++)
        message->byte[i] = (uint8_t)('a' + test_below(&sensor->seed, 20));
    memcpy(message->byte + at, kind->first, n);
    memcpy(message->byte + at + n + gap, kind->second, strlen(kind->second));
}

static void draw_kinds(struct sensor *sensor)
{
    for (uint32_t flow = 0; flow < N_FLOWS; flow++)
        draw_kind(sensor, flow);
}

static void make_packet(struct frame *f, const struct message *message, uint32_t flow,
                        uint32_t begin, uint32_t len)
{
    frame_segment(f, &(struct frame_segment){.src = 0x0A000001,
                                             .dst = 0xC0A80001,
                                             .src_port = (uint16_t)(FIRST_PORT + flow),
                                             .dst_port = 5555,
                                             .flags = 24,
                                             .seq = 0xFFFFF000 + begin,
                                             .ack = 1,
                                             .bytes = message->byte + begin,
                                             .len = len});
}

static void next_packet(struct sensor *sensor, struct frame *f)
{
    uint32_t flow;

    do
        flow = test_below(&sensor->seed, N_FLOWS);
    while (sensor->message[flow].sent == sensor->message[flow].len &&
           sensor->message[flow].held_len == 0);

    struct message *const message = &sensor->message[flow];
    uint32_t len = 1 + test_below(&sensor->seed, sensor->way->segment_max), begin = message->sent;

    len = len > message->len - begin ? message->len - begin : len;
    if (sensor->way->repeats && message->held_len == 0 && begin != 0 &&
        test_below(&sensor->seed, 4) == 0 && begin + len < message->len) {
        message->held = begin;
        message->held_len = len;
        message->sent = begin += len;
        len = len > message->len - begin ? message->len - begin : len;
        message->sent += len;
    } else if (message->held_len != 0) {
        begin = message->held;
        len = message->held_len;
        message->held_len = 0;
    } else {
        message->sent += len;
        if (sensor->way->repeats && begin > 30 && test_below(&sensor->seed, 3) == 0) {
            const uint32_t back = 1 + test_below(&sensor->seed, 6);

            begin -= back;
            len += back;
        }
    }
    sensor->n_left -= message->sent == message->len && message->held_len == 0;
    make_packet(f, message, flow, begin, len);
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sensor *sensor = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = 1 + test_below(&sensor->batch_seed, sensor->way->batch_max);
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

    (void)diag;
    assert_true(flow < N_FLOWS);
    if (event->kind == SL_EVENT_FLOW) {
        sensor->n_ended++;
        assert_int_equal(event->flow->alerted, sensor->expected[flow] != NULL);
        return SL_OK;
    }
    assert_int_equal(event->kind, SL_EVENT_ALERT);
    if (sensor->expected[flow] == NULL)
        fail_msg("flow %u has %s", flow, event->signature->msg);
    assert_string_equal(event->signature->msg, sensor->expected[flow]);
    sensor->n_found[flow]++;
    sensor->found_at[flow] = event->origin.time_ns;
    return SL_OK;
}

static void check(const struct sensor *sensor, uint64_t n_viruses)
{
    const struct way *way = sensor->way;
    uint32_t n = 0;

    assert_int_equal(sensor->n_ended, N_FLOWS);
    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        n += sensor->expected[flow] != NULL;
        if (sensor->n_found[flow] != (sensor->expected[flow] != NULL))
            fail_msg("segments up to %u, batches up to %u: flow %u has %u of %s", way->segment_max,
                     way->batch_max, flow, sensor->n_found[flow],
                     sensor->expected[flow] != NULL ? sensor->expected[flow] : "none");
    }
    assert_int_equal(n_viruses, n);
}

/* Executes a run of these packets and events, with databases up to NULL. */
static void execute(struct sl_run_config *config, const char *const *databases, uint32_t n_workers,
                    struct sl_run_result *result)
{
    struct sl_diag diag = {0};
    struct sl_run *sluice;

    config->databases = databases;
    while (databases[config->n_databases] != NULL)
        config->n_databases++;
    config->devices = "cpu";
    config->events = 1u << SL_EVENT_ALERT | 1u << SL_EVENT_FLOW;
    if (config->flow_memory == 0)
        config->flow_memory = 1 << 20;
    assert_int_equal(sl_run_create(&sluice, config, &diag), SL_OK);
    sluice->pipeline.n_workers = n_workers;
    if (sl_run_execute(sluice, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    sl_run_result(sluice, result);
    sl_run_close(sluice);
}

static void run(struct sensor *sensor, const struct way *way, draw_fn *draw,
                const char *const *databases)
{
    struct sl_run_config config;
    struct sl_run_result result;

    memset(sensor, 0, sizeof *sensor);
    sensor->way = way;
    sensor->seed = way->seed;
    sensor->batch_seed = way->batch_max;
    sensor->time = INT64_C(1700000000000000000);
    sensor->n_left = N_FLOWS;
    draw(sensor);
    sl_run_config_init(&config);
    config.fill = fill;
    config.event = on_event;
    config.user = sensor;
    execute(&config, databases, way->n_workers, &result);
    sensor->n_left_out = result.virus_hits_left_out;
    check(sensor, result.viruses);
}

/* In two ways that differ in batches and threads alone. */
static void compare(const struct way *way, const char *const *databases)
{
    const struct way other = {way->segment_max, 30, 3, way->repeats, way->seed};
    struct sensor *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);

    assert_non_null(first);
    assert_non_null(second);
    run(first, way, draw_kinds, databases);
    run(second, &other, draw_kinds, databases);
    assert_memory_equal(first->found_at, second->found_at, sizeof first->found_at);
    free(first);
    free(second);
}

static void write_set(char *path, const char *text)
{
    const int fd = mkstemps(path, 4);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void test_viruses_depend_on_bytes_alone(void **state)
{
    static const struct way ways[] = {
        {700, 4000, 1, false, 1},
        {700, 50, 3, true, 2},
        {120, 4000, 2, true, 3},
        {5, 4000, 1, true, 4},
    };
    char ndb[] = "/tmp/virus_segments_XXXXXX.ndb", ldb[] = "/tmp/virus_segments_XXXXXX.ldb";
    const char *const databases[] = {ndb, ldb, NULL};

    (void)state;
    write_set(ndb, set_ndb);
    write_set(ldb, set_ldb);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        compare(&ways[w], databases);
    unlink(ndb);
    unlink(ldb);
}

/* ---- hits that find no room to wait ---------------------------------------------------------- */

/* Each word begins a signature of its own, whose other word never comes. The words of a message,
 * and a segment behind them, lie within FLOOD_GAP bytes, so that all wait at once. */
enum { FLOOD_GAP = 1000, FLOOD_WORDS = 60, FLOOD_LINE = 80, WORD_LEN = 8 };

static void write_flood_set(char *path)
{
    char set[FLOOD_WORDS * FLOOD_LINE] = "";

    for (uint32_t i = 0, n = 0; i < FLOOD_WORDS; i++)
        n += (uint32_t)snprintf(set + n, sizeof set - n,
                                "Flood%u:0:*:3%u3%u373737373737{%u-%u}3939\n", i, i / 10, i % 10,
                                FLOOD_GAP, FLOOD_GAP + 100);
    write_set(path, set);
}

/* The words of a message that are beyond the bound find no room. */
static void draw_flood(struct sensor *sensor)
{
    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        struct message *const message = &sensor->message[flow];
        const uint32_t n = test_below(&sensor->seed, FLOOD_WORDS + 1);

        message->len = 2 * FLOOD_GAP;
        memset(message->byte, 'a', message->len);
        for (uint32_t i = 0; i < n; i++) {
            char word[WORD_LEN + 1];

            snprintf(word, sizeof word, "%02u777777", i);
            memcpy(message->byte + (size_t)(WORD_LEN + 2) * i, word, WORD_LEN);
        }
        sensor->n_beyond += n > VIRUS_SIDE_MAX ? n - VIRUS_SIDE_MAX : 0;
    }
}

static void test_hits_without_room_are_counted(void **state)
{
    static const struct way ways[] = {
        {400, 4000, 1, false, 5}, {400, 7, 3, false, 5},   {100, 4000, 1, false, 6},
        {100, 30, 3, false, 6},   {400, 4000, 1, true, 7}, {200, 30, 3, true, 8},
    };
    char ndb[] = "/tmp/virus_segments_XXXXXX.ndb";
    const char *const databases[] = {ndb, NULL};
    struct sensor *sensor = calloc(1, sizeof *sensor);

    (void)state;
    assert_non_null(sensor);
    write_flood_set(ndb);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        run(sensor, &ways[w], draw_flood, databases);
        assert_true(sensor->n_beyond != 0);
        assert_int_equal(sensor->n_left_out, sensor->n_beyond);
    }
    unlink(ndb);
    free(sensor);
}

/* ---- first words that come again ------------------------------------------------------------- */

/* Many tries lead to one search for the body in the whole window, and so do gaps without bounds.
 * Where it fails, the words behind the first must wait too. */
static const char repeats_set[] = "Near:0:*:466c6f6f64{300-400}2121\n"
                                  "Far:0:*:576f726473*2b2b\n";

/* Even flows have Near: the last of its first words are near enough to its end. Odd ones have Far:
 * the last word lies in no window with the first one. */
static void draw_repeats(struct sensor *sensor)
{
    enum { NEAR_WORDS = 60, NEAR_GAP = 350 };

    for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
        struct message *const message = &sensor->message[flow];
        const uint32_t n = 1 + test_below(&sensor->seed, NEAR_WORDS);
        uint8_t *at = message->byte + test_below(&sensor->seed, 500);

        sensor->expected[flow] = flow % 2 == 0 ? "Near.UNOFFICIAL" : "Far.UNOFFICIAL";
        memset(message->byte, 'a', sizeof message->byte);
        if (flow % 2 == 0) {
            for (uint32_t i = 0; i < n; i++, at += 5)
                memcpy(at, "Flood", 5);
            at += NEAR_GAP;
            memcpy(at, "!!", 2);
        } else {
            memcpy(at, "Words", 5);
            memcpy(at + 2500, "Words", 5);
            at += SL_STREAM_KNOWN + 1000;
            memcpy(at, "++", 2);
        }
        message->len = (uint32_t)(at - message->byte) + 2;
    }
}

static void test_first_words_may_come_again(void **state)
{
    static const struct way ways[] = {
        {200, 4000, 1, false, 9},
        {400, 30, 3, true, 10},
        {20, 4000, 1, false, 11},
    };
    char ndb[] = "/tmp/virus_segments_XXXXXX.ndb";
    const char *const databases[] = {ndb, NULL};
    struct sensor *sensor = calloc(1, sizeof *sensor);

    (void)state;
    assert_non_null(sensor);
    write_set(ndb, repeats_set);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        run(sensor, &ways[w], draw_repeats, databases);
    unlink(ndb);
    free(sensor);
}

/* ---- exchanges of two sides ------------------------------------------------------------------ */

enum { PACKETS_MAX = 8, EXPECTED = 2 };

struct exchange {
    struct {
        uint32_t side, seq, ack; /* bytes of the side's stream, and of the other's */
        const char *bytes;
    } packet[PACKETS_MAX];
    uint32_t n;
    const char *expected[EXPECTED]; /* each once */
    uint64_t n_left_out;
};

static const char exchange_set[] = "Gap:0:*:3131323233333434{3-200}3535363637373838\n"
                                   "Star:0:*:3931393239333934*3939383937393639\n"
                                   "Place:0:7:5758595a\n"
                                   "Deep:0:4115:3939383937393639\n";
static const char exchange_logical_set[] = "And;Target:0;0&1;576f726473;2b2b2d2d\n";

/* The windows of one side lie at the places of the other's. */
static const struct exchange turns = {{{0, 0, 0, "aaaaaaaa11223344aaaa"},
                                       {1, 0, 20, "aaaaaaaa91929394aaaa"},
                                       {0, 20, 20, "aaaaaa55667788aaaaaa"},
                                       {1, 20, 40, "aaaaaa99897969aaaaaa"},
                                       {0, 40, 40, ""}},
                                      5,
                                      {"Gap.UNOFFICIAL", "Star.UNOFFICIAL"},
                                      0};

/* Bytes are missing between the words of Gap. The body of Place lies as far behind them as it
 * should behind the stream's first byte. */
static const struct exchange hole = {{{0, 0, 0, "aaaa11223344"},
                                      {1, 0, 12, ""},
                                      {0, 30, 0, "aaaaaaaWXY"},
                                      {1, 0, 40, ""},
                                      {0, 40, 0, "Za91929394"},
                                      {1, 0, 50, ""},
                                      {0, 50, 0, "9989796955667788"},
                                      {1, 0, 66, ""}},
                                     8,
                                     {"Star.UNOFFICIAL"},
                                     0};

/* The words of Gap lie behind bytes that nobody misses: they come to no window. */
static const struct exchange end_behind_hole = {
    {{0, 0, 0, "aaaa"}, {0, 9, 0, "11223344aaa"}, {0, 20, 0, "a55667788"}}, 3, {NULL}, 1};

/* A first word leaves the windows of its stream. An offset counts from the stream's begin. */
static const char far_word[SL_STREAM_KNOWN / 4 + 1] = {[0 ... SL_STREAM_KNOWN / 4 - 1] = 'b'};
static const struct exchange far_words = {{{0, 0, 0, "a91929394"},
                                           {0, 9, 0, far_word},
                                           {0, 9 + 1024, 0, far_word},
                                           {0, 9 + 2048, 0, far_word},
                                           {0, 9 + 3072, 0, far_word},
                                           {0, 9 + 4096, 0, "aaaaaaaaaa99897969"}},
                                          6,
                                          {"Deep.UNOFFICIAL"},
                                          1};

/* Each place where Words lies counts, also where its body was found before. The first one leaves
 * the windows. */
static const struct exchange again = {{{0, 0, 0, "Words"},
                                       {0, 5, 0, far_word},
                                       {0, 5 + 1024, 0, "Words"},
                                       {0, 10 + 1024, 0, far_word},
                                       {0, 10 + 2048, 0, far_word},
                                       {0, 10 + 3072, 0, far_word},
                                       {0, 10 + 4096, 0, "++--"}},
                                      7,
                                      {"And.UNOFFICIAL"},
                                      1};

/* A body at an offset of the stream, in a segment of its own. */
static const struct exchange place = {
    {{0, 0, 0, "aaaaaaa"}, {0, 7, 0, "WXYZ"}, {0, 11, 0, "WXYZ"}}, 3, {"Place.UNOFFICIAL"}, 0};

/* Bytes before a new one are others than came. Those of Gap's second word alone are new. */
static const struct exchange old_bytes = {
    {{0, 0, 0, "11223344aaaaaa"}, {0, 6, 0, "bbbbbbbb55667788"}}, 2, {"Gap.UNOFFICIAL"}, 0};

struct replay {
    const struct exchange *exchange;
    uint32_t batch_max, sent;
    uint32_t n_found[EXPECTED];
};

static enum sl_status fill_exchange(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct replay *replay = user;
    static struct frame f;

    (void)diag;
    for (uint32_t room = replay->batch_max; replay->sent < replay->exchange->n && room != 0;
         room--) {
        const uint32_t i = replay->sent++, side = replay->exchange->packet[i].side;
        const char *bytes = replay->exchange->packet[i].bytes;

        frame_segment(&f, &(struct frame_segment){.src = side == 0 ? 0x0A000001 : 0xC0A80001,
                                                  .dst = side == 0 ? 0xC0A80001 : 0x0A000001,
                                                  .src_port = side == 0 ? FIRST_PORT : 5555,
                                                  .dst_port = side == 0 ? 5555 : FIRST_PORT,
                                                  .flags = 24,
                                                  .seq = 1000 + replay->exchange->packet[i].seq,
                                                  .ack = 1000 + replay->exchange->packet[i].ack,
                                                  .bytes = bytes,
                                                  .len = (uint32_t)strlen(bytes)});
        assert_true(sl_run_add_packet(batch, f.byte, f.len, replay->sent, 1));
    }
    return replay->sent < replay->exchange->n ? SL_OK : SL_END;
}

static enum sl_status on_exchange(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct replay *replay = user;

    (void)diag;
    for (uint32_t i = 0; event->kind == SL_EVENT_ALERT && i < EXPECTED; i++)
        replay->n_found[i] += replay->exchange->expected[i] != NULL &&
                              strcmp(event->signature->msg, replay->exchange->expected[i]) == 0;
    return SL_OK;
}

static void replay_in_batches(const struct exchange *exchange, const char *const *databases)
{
    for (uint32_t batch_max = 1; batch_max <= PACKETS_MAX; batch_max++) {
        struct replay replay = {.exchange = exchange, .batch_max = batch_max};
        struct sl_run_config config;
        struct sl_run_result result;
        uint32_t n = 0;

        sl_run_config_init(&config);
        config.fill = fill_exchange;
        config.event = on_exchange;
        config.user = &replay;
        execute(&config, databases, 1, &result);
        for (uint32_t i = 0; i < EXPECTED; i++) {
            assert_int_equal(replay.n_found[i], exchange->expected[i] != NULL);
            n += replay.n_found[i];
        }
        assert_int_equal(result.viruses, n);
        assert_int_equal(result.virus_hits_left_out, exchange->n_left_out);
    }
}

static void test_sides_and_holes_part_windows(void **state)
{
    static const struct exchange *const all[] = {&turns, &hole,  &end_behind_hole, &far_words,
                                                 &again, &place, &old_bytes};
    char ndb[] = "/tmp/virus_segments_XXXXXX.ndb", ldb[] = "/tmp/virus_segments_XXXXXX.ldb";
    const char *const databases[] = {ndb, ldb, NULL};

    (void)state;
    write_set(ndb, exchange_set);
    write_set(ldb, exchange_logical_set);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        replay_in_batches(all[i], databases);
    unlink(ndb);
    unlink(ldb);
}

/* ---- the room of a shard --------------------------------------------------------------------- */

/* A table so small has one shard. Each flow has as many first words as a stream may, and together
 * they have more than a shard may: those of the last flows find no room. */
enum { CROWD = VIRUS_WAITING_MAX / VIRUS_SIDE_MAX + 12, CROWD_MEMORY = 100 << 10 };

struct crowd {
    uint32_t batch_max, n_sent;
    uint32_t n_found[CROWD];
};

static void write_crowd_set(char *path)
{
    char set[VIRUS_SIDE_MAX * FLOOD_LINE] = "";

    for (uint32_t i = 0, n = 0; i < VIRUS_SIDE_MAX; i++)
        n += (uint32_t)snprintf(set + n, sizeof set - n, "Crowd%u:0:*:3%u3%u373737373737*2b2b\n", i,
                                i / 10, i % 10);
    write_set(path, set);
}

static enum sl_status fill_crowd(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct crowd *crowd = user;
    static struct frame f;
    char words[VIRUS_SIDE_MAX * WORD_LEN + 1];

    (void)diag;
    for (uint32_t i = 0; i < VIRUS_SIDE_MAX; i++)
        snprintf(words + (size_t)i * WORD_LEN, WORD_LEN + 1, "%02u777777", i);
    for (uint32_t room = crowd->batch_max; room != 0 && crowd->n_sent < 2 * CROWD; room--) {
        const uint32_t flow = crowd->n_sent % CROWD;
        const bool first = crowd->n_sent++ < CROWD;
        const uint32_t n = (uint32_t)strlen(words);

        frame_segment(&f, &(struct frame_segment){.src = 0x0A000001,
                                                  .dst = 0xC0A80001,
                                                  .src_port = (uint16_t)(FIRST_PORT + flow),
                                                  .dst_port = 5555,
                                                  .flags = 24,
                                                  .seq = first ? 1 : 1 + n,
                                                  .ack = 1,
                                                  .bytes = first ? words : "++",
                                                  .len = first ? n : 2});
        assert_true(sl_run_add_packet(batch, f.byte, f.len, crowd->n_sent, 1));
    }
    return crowd->n_sent < 2 * CROWD ? SL_OK : SL_END;
}

static enum sl_status on_crowd(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct crowd *crowd = user;

    (void)diag;
    if (event->kind == SL_EVENT_ALERT)
        crowd->n_found[event->tuple.src_port - FIRST_PORT]++;
    return SL_OK;
}

static void test_last_flows_give_way(void **state)
{
    char ndb[] = "/tmp/virus_segments_XXXXXX.ndb";
    const char *const databases[] = {ndb, NULL};

    (void)state;
    write_crowd_set(ndb);
    for (uint32_t batch_max = 1; batch_max <= 3 * CROWD; batch_max *= 7) {
        struct crowd crowd = {.batch_max = batch_max};
        struct sl_run_config config;
        struct sl_run_result result;

        sl_run_config_init(&config);
        config.fill = fill_crowd;
        config.event = on_crowd;
        config.user = &crowd;
        config.flow_memory = CROWD_MEMORY;
        execute(&config, databases, 1 + batch_max % 3, &result);
        for (uint32_t flow = 0; flow < CROWD; flow++)
            assert_int_equal(crowd.n_found[flow],
                             flow < VIRUS_WAITING_MAX / VIRUS_SIDE_MAX ? VIRUS_SIDE_MAX : 0);
        assert_int_equal(result.virus_hits_left_out, CROWD * VIRUS_SIDE_MAX - VIRUS_WAITING_MAX);
    }
    unlink(ndb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_viruses_depend_on_bytes_alone),
        cmocka_unit_test(test_hits_without_room_are_counted),
        cmocka_unit_test(test_first_words_may_come_again),
        cmocka_unit_test(test_sides_and_holes_part_windows),
        cmocka_unit_test(test_last_flows_give_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
