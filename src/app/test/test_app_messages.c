/* SPDX-License-Identifier: MIT */
/* Messages of a shard's flows: the same for all cuts into batches, and in bounded memory whatever
 * flows say. */
#include "test.h"

#include <stdio.h>

#include "app/app_messages.h"
#include "base/fd.h"

enum { FLOWS = 12, TEXT_MAX = 400000, GIVE_MAX = 3000, PACKETS_MAX = 1 << 16 };

static const struct app_config everything = {.memory = 64 << 20,
                                             .values = UINT64_MAX,
                                             .has_steps = true,
                                             .has_events = true,
                                             .has_files = true,
                                             .is_done = UINT32_MAX,
                                             .files = {.hashes = 1 << SL_FILE_MD5}};

/* The bytes that a flow sends: a side after another. */
struct flow {
    char text[2][TEXT_MAX];
    uint32_t len[2], given[2];
    struct app_slot slot;
};

struct scene {
    struct flow flow[FLOWS];
    struct app_shard *shard;
    struct app_output output;
    struct app_text told;
    struct sl_app_stats stats;
    uint8_t *payload[PACKETS_MAX];                /* of the packets of the batch, malloc'ed */
    uint32_t n_packets, n_in_pieces, n_elsewhere; /* messages with more of a body */
};

/* ---- reports --------------------------------------------------------------------------------- */

static void say(struct app_text *told, const void *bytes, uint32_t len)
{
    app_text_add(told, bytes, len);
    app_text_add_byte(told, '\n');
}

/* The bytes of a value; those of a body in packets are joined, up to the next call. */
static const uint8_t *bytes_of(const struct sl_app_message *message,
                               const struct sl_app_value *value)
{
    static uint8_t joined[SL_APP_BODY_MAX];

    if (value->id != SL_APP_BODY || value->bytes != NULL)
        return value->bytes;
    app_parts_read(message->parts, 0, value->len, joined);
    return joined;
}

/* All but the item. */
static void write_message(struct app_text *told, const struct sl_app_message *message)
{
    char line[256];

    say(told, line,
        (uint32_t)snprintf(
            line, sizeof line, "%u %u %u %llu %llu %u %u status %u port %u event %u of %llx",
            message->app, message->side, message->step, (unsigned long long)message->flow,
            (unsigned long long)message->transaction, message->body_len, message->body_shown,
            message->status, message->port, message->event, (unsigned long long)message->events));
    if (message->file != NULL) {
        const struct sl_app_file *file = message->file;

        say(told, file->name.bytes, file->name.len);
        say(told, file->hash[SL_FILE_MD5], 16);
        say(told, line,
            (uint32_t)snprintf(line, sizeof line, "file %u: %llu %u %d %u", file->number,
                               (unsigned long long)file->size, file->state, file->has_gaps,
                               file->hashes));
    }
    for (int i = 0; i < 2; i++) {
        const struct sl_app_half *half = &message->half[i];

        say(told, line,
            (uint32_t)snprintf(line, sizeof line, "half %d: %d %d %llu", i, half->has_head,
                               half->has_ended, (unsigned long long)half->body_len));
        for (uint32_t v = 0; v < half->n_values; v++) {
            assert_true(v == 0 || half->value[v].id >= half->value[v - 1].id);
            say(told, bytes_of(message, &half->value[v]), half->value[v].len);
        }
    }
}

/* What a message adds to a body is what its pieces are. */
static void check_pieces(struct scene *scene, const struct sl_app_message *message)
{
    const struct sl_app_half *half = &message->half[message->side];
    uint32_t at = message->body_shown;

    if (message->step != SL_APP_MORE && message->step != SL_APP_END)
        assert_null(message->pieces);
    for (const struct sl_app_piece *piece = message->pieces; piece != NULL; piece = piece->next) {
        const struct sl_app_value *body = &half->value[half->n_values - 1];

        assert_true(piece->item < scene->n_packets && piece->len <= body->len - at);
        assert_memory_equal(scene->payload[piece->item] + piece->begin,
                            bytes_of(message, body) + at, piece->len);
        at += piece->len;
    }
    assert_true(message->pieces == NULL || at == message->body_len);
    scene->n_in_pieces += message->pieces != NULL;
    scene->n_elsewhere += message->pieces == NULL && message->body_len > message->body_shown;
}

/* The batch is read behind its end, as a run reads it. Then its packets are gone. */
static void end_batch(struct scene *scene)
{
    app_shard_end(scene->shard);
    assert_false(scene->output.no_memory);
    for (uint32_t i = 0; i < scene->output.n; i++) {
        write_message(&scene->told, &scene->output.message[i]);
        check_pieces(scene, &scene->output.message[i]);
    }
    while (scene->n_packets != 0)
        free(scene->payload[--scene->n_packets]);
    app_stats_add(&scene->stats, &scene->output.stats);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static void add(struct flow *flow, int side, const char *text)
{
    const uint32_t len = (uint32_t)strlen(text);

    assert_true(flow->len[side] + len <= TEXT_MAX);
    memcpy(flow->text[side] + flow->len[side], text, len);
    flow->len[side] += len;
}

static void add_body(struct flow *flow, int side, uint32_t len, uint64_t *seed)
{
    assert_true(flow->len[side] + len <= TEXT_MAX);
    for (uint32_t i = 0; i < len; i++)
        flow->text[side][flow->len[side]++] = (char)('a' + test_below(seed, 26));
}

/* A form with a file, and a body that goes on behind it. */
static void add_form(struct flow *flow, uint64_t *seed)
{
    static const char begin[] = "--b\r\nContent-Disposition: form-data; filename=one\r\n\r\n";
    static const char end[] = "\r\n--b--\r\n";
    const uint32_t len = test_below(seed, GIVE_MAX), rest = test_below(seed, 2 * GIVE_MAX);
    char head[256];

    snprintf(head, sizeof head,
             "POST /form HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
             "Content-Length: %u\r\n\r\n",
             (uint32_t)(strlen(begin) + len + strlen(end) + rest));
    add(flow, 0, head);
    add(flow, 0, begin);
    add_body(flow, 0, len, seed);
    add(flow, 0, end);
    add_body(flow, 0, rest, seed);
    add(flow, 1, "HTTP/1.1 204 No Content\r\n\r\n");
}

static void draw_transaction(struct flow *flow, uint64_t *seed)
{
    static const uint32_t lens[] = {0, 1, 100, 32767, 32768, 32769, 65536, 102400, 120000};
    const uint32_t sent = lens[test_below(seed, 5)], got = lens[test_below(seed, 9)];
    char head[256];

    snprintf(head, sizeof head,
             "POST /a%%20b?n=%u HTTP/1.1\r\nHost: Host.Example:8080\r\nContent-Length: %u\r\n"
             "User-Agent: none\r\nCookie: a=b\r\nAuthorization: %s\r\n\r\n",
             test_below(seed, 1000), sent, test_below(seed, 2) != 0 ? "Basic e" : "other");
    add(flow, 0, head);
    add_body(flow, 0, sent, seed);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: %u\r\n\r\n", got);
    add(flow, 1, head);
    add_body(flow, 1, got, seed);
}

static struct scene *open_scene(const struct app_config *config)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct sl_diag diag;

    assert_non_null(scene);
    assert_int_equal(app_shards_create(&scene->shard, 1, config, &diag), SL_OK);
    return scene;
}

static void close_scene(struct scene *scene)
{
    app_shards_free(scene->shard, 1);
    app_output_free(&scene->output);
    app_text_free(&scene->told);
    free(scene);
}

/* The next bytes of some side; false: there are none. */
static bool give_some(struct scene *scene, uint64_t *seed)
{
    uint32_t flow, side, n_left = 0;

    for (uint32_t i = 0; i < FLOWS; i++)
        for (uint32_t s = 0; s < 2; s++)
            n_left += scene->flow[i].given[s] < scene->flow[i].len[s];
    if (n_left == 0)
        return false;
    do {
        flow = test_below(seed, FLOWS);
        side = test_below(seed, 2);
    } while (scene->flow[flow].given[side] == scene->flow[flow].len[side]);
    struct flow *const mine = &scene->flow[flow];
    struct app_place place = {.slot = &mine->slot, .flow = flow};
    const uint8_t *bytes = (const uint8_t *)mine->text[side] + mine->given[side];
    uint32_t len = 1 + test_below(seed, GIVE_MAX);

    if (len > mine->len[side] - mine->given[side])
        len = mine->len[side] - mine->given[side];
    if (test_below(seed, 50) != 0) { /* others are copied */
        assert_true(scene->n_packets < PACKETS_MAX);
        place.source = scene->n_packets;
        scene->payload[scene->n_packets] = malloc(len);
        assert_non_null(scene->payload[scene->n_packets]);
        bytes = memcpy(scene->payload[scene->n_packets++], bytes, len);
        place.payload = bytes;
        place.len = len;
    }
    if (test_below(seed, 100) == 0)
        app_gap(scene->shard, &place, (enum app_side)side, len);
    else
        app_give(scene->shard, &place, (enum app_side)side, bytes, len);
    mine->given[side] += len;
    if (mine->given[side] == mine->len[side])
        app_end_side(scene->shard, &place, (enum app_side)side);
    return true;
}

/* Plays the same flows, in batches of about `mean` calls. */
static struct scene *play(const struct app_config *config, uint64_t seed, uint32_t mean)
{
    struct scene *scene = open_scene(config);
    uint64_t draw = seed, cuts = seed + mean;
    bool more = true;

    for (uint32_t i = 0; i < FLOWS; i++)
        for (uint32_t n = 1 + test_below(&draw, 3); n != 0; n--)
            (test_below(&draw, 4) == 0 ? add_form : draw_transaction)(&scene->flow[i], &draw);
    while (more) {
        app_shard_begin(scene->shard, &scene->output);
        for (uint32_t n = 1 + test_below(&cuts, 2 * mean); n != 0 && more; n--)
            more = give_some(scene, &draw);
        end_batch(scene);
    }
    app_shard_begin(scene->shard, &scene->output);
    for (uint32_t i = 0; i < FLOWS; i++)
        app_end(scene->shard, &(struct app_place){.slot = &scene->flow[i].slot, .flow = i});
    end_batch(scene);
    assert_int_equal(app_shard_held(scene->shard), 0);
    return scene;
}

static void test_batches_change_nothing(void **state)
{
    static const uint32_t means[] = {1, 3, 50, 100000};
    static const struct app_config tight = {
        .memory = 60000, .values = UINT64_MAX, .has_steps = true, .is_done = UINT32_MAX};

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const struct app_config *config = seed % 3 == 0 ? &tight : &everything;
        struct scene *first = play(config, seed, 7);

        assert_true(first->stats.messages > 3 * FLOWS);
        assert_true((first->stats.flows_evicted != 0) == (config == &tight));
        for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
            struct scene *other = play(config, seed, means[i]);

            assert_int_equal(other->told.len, first->told.len);
            assert_memory_equal(other->told.bytes, first->told.bytes, first->told.len);
            assert_memory_equal(&other->stats, &first->stats, sizeof first->stats);
            assert_true(other->n_elsewhere != 0 && (means[i] < 50 || other->n_in_pieces != 0));
            close_scene(other);
        }
        close_scene(first);
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* A body is shown at each step, at its end or its bound, and each byte is new once. */
static void test_bodies_are_shown_in_steps(void **state)
{
    static const struct {
        uint32_t len, n, shown;
    } cases[] = {{0, 1, 0},         {1, 1, 1},           {32768, 2, 32768},   {32769, 2, 32769},
                 {70000, 3, 70000}, {102400, 5, 102400}, {200000, 5, 102400}, {102399, 4, 102399}};

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct scene *scene = open_scene(&everything);
        struct flow *const flow = &scene->flow[0];
        uint64_t seed = c + 1;
        uint32_t n = 0, n_files = 0, shown = 0;
        char head[64];

        snprintf(head, sizeof head, "PUT / HTTP/1.1\r\nContent-Length: %u\r\n\r\n", cases[c].len);
        add(flow, 0, head);
        add_body(flow, 0, cases[c].len, &seed);
        app_shard_begin(scene->shard, &scene->output);
        app_give(scene->shard, &(struct app_place){.slot = &flow->slot}, APP_CLIENT,
                 (uint8_t *)flow->text[0], flow->len[0]);
        for (uint32_t i = 0; i < scene->output.n; i++) {
            const struct sl_app_message *message = &scene->output.message[i];
            const struct sl_app_half *half = &message->half[0];

            n_files += message->step == SL_APP_FILE;
            if (message->step == SL_APP_FILE || (message->step == SL_APP_END && n_files != 0))
                assert_int_equal(message->file->size, cases[c].len);
            else
                assert_null(message->file);
            if (message->step != SL_APP_MORE && message->step != SL_APP_END)
                continue;
            n++;
            assert_int_equal(message->body_shown, shown);
            shown = message->body_len;
            if (shown != 0)
                assert_memory_equal(half->value[half->n_values - 1].bytes,
                                    flow->text[0] + strlen(head), shown);
        }
        assert_int_equal(n, cases[c].n);
        assert_int_equal(n_files, cases[c].len != 0);
        assert_int_equal(shown, cases[c].shown);
        assert_int_equal(scene->output.stats.bodies_cut, cases[c].len > SL_APP_BODY_MAX);
        app_end(scene->shard, &(struct app_place){.slot = &flow->slot});
        close_scene(scene);
    }
}

/* What a batch shows of a body stays where it is, while later ones add to it, end it and begin
 * others. */
static void test_later_batches_leave_bodies(void **state)
{
    enum { FIRST = 40000, WHOLE = 100000 };
    struct scene *scene = open_scene(&everything);
    struct flow *const flow = &scene->flow[0];
    const struct app_place place = {.slot = &flow->slot};
    struct app_output later = {0};
    uint64_t seed = 1;
    uint32_t head, n = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        add(flow, 0, "PUT / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
        head = flow->len[0];
        add_body(flow, 0, WHOLE, &seed);
    }
    head -= 2 * (flow->len[0] / 3);
    app_shard_begin(scene->shard, &scene->output);
    app_give(scene->shard, &place, APP_CLIENT, (uint8_t *)flow->text[0], head + FIRST);
    app_shard_begin(scene->shard, &later);
    app_give(scene->shard, &place, APP_CLIENT, (uint8_t *)flow->text[0] + head + FIRST,
             flow->len[0] - head - FIRST);
    for (uint32_t i = 0; i < scene->output.n; i++) {
        const struct sl_app_message *message = &scene->output.message[i];
        const struct sl_app_half *half = &message->half[0];

        if (message->step != SL_APP_MORE)
            continue;
        n++;
        assert_int_equal(message->body_len, SL_APP_BODY_STEP);
        assert_memory_equal(half->value[half->n_values - 1].bytes, flow->text[0] + head,
                            SL_APP_BODY_STEP);
    }
    assert_int_equal(n, 1);
    app_end(scene->shard, &place);
    app_output_free(&scene->output);
    scene->output = (struct app_output){0};
    app_shard_begin(scene->shard, &scene->output);
    app_output_free(&later);
    close_scene(scene);
}

/* A body that grows, by bytes of packets first: what was shown of it stays where it is. */
static void test_bodies_grow(void **state)
{
    enum { STEP = 700, MOST = 40 * STEP };
    static uint8_t text[MOST];
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < MOST; i++)
        text[i] = (uint8_t)test_below(&seed, 256);
    for (uint32_t n_lent = 0; n_lent <= 40; n_lent += 8) {
        struct app_body body = {0};
        struct app_blocks blocks = {0};
        struct app_arena arena = {0};
        struct app_block *left = NULL;
        const uint8_t *shown = NULL;
        uint32_t shown_len = 0;

        for (uint32_t at = 0; at < MOST; at += STEP) {
            assert_true(at < n_lent * STEP ? app_body_lend(&body, &blocks, &arena, text + at, STEP)
                                           : app_body_add(&body, &blocks, &left, text + at, STEP));
            assert_true(body.len == at + STEP && app_body_held(&body) >= body.len);
            assert_int_equal(body.block == NULL, at < n_lent * STEP);
            if (at == 20 * STEP && body.block != NULL) {
                shown = body.block->bytes;
                shown_len = body.len;
                body.is_shown = true;
            }
        }
        assert_true(app_body_gather(&body, &blocks) && blocks.in_packets == NULL);
        assert_memory_equal(body.block->bytes, text, MOST);
        assert_true(shown == NULL || (left != NULL && shown == left->bytes));
        if (shown != NULL)
            assert_memory_equal(shown, text, shown_len);
        app_body_end(&body, &blocks, &left);
        app_blocks_take_back(&blocks, &left);
        app_blocks_free(&blocks);
        app_arena_free(&arena);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t len_of(const char *text, uint32_t len)
{
    return text == NULL ? 0 : len != 0 ? len : (uint32_t)strlen(text);
}

/* Names of the events reported with a side's bytes, each once, in front of what ends them. */
static void test_events_are_reported(void **state)
{
    static const struct {
        const char *text[2], *names[2];
        uint32_t len; /* of the client; 0: a text's */
    } cases[] = {
        {.text = {"GET / HTTP/1.1\r\nAuthorization: Turbo x\r\n\r\n"},
         .names = {"http.request_auth_unrecognized"}},
        {.text = {"GET /\nHost: a\n\n"}, .names = {"http.request_line_missing_protocol"}},
        {.text = {"GET /\r\n\r\n"}},
        {.text = {"GET /a%252e%252E HTTP/1.1\r\nHost: a_b-c.example:80\r\n\r\n"},
         .names = {"http.double_encoded_uri"}},
        {.text = {"GET /%25%252x HTTP/1.1\r\nHost: [2001:db8::192.0.2.1]:80\r\n\r\n"}},
        {.text = {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n"},
         .names = {"http.request_header_host_invalid"}},
        {.text = {"GET / HTTP/1.1\r\nHost: [a/]\r\n\r\n"},
         .names = {"http.request_header_host_invalid"}},
        {.text = {"GET / HTTP/1.1\r\nHost: "
                  "a123456789a123456789a123456789a123456789a123456789a123456789abc.b\r\n\r\n"}},
        {.text = {"GET / HTTP/1.1\r\nHost: "
                  "a123456789a123456789a123456789a123456789a123456789a123456789abcd.b\r\n\r\n"},
         .names = {"http.request_header_host_invalid"}},
        {.text = {"GET / HTTP/1.1\r\nAuthorization: bearer x\r\n\r\n"}},
        {.text = {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked, x\r\n\r\n"
                  "1 \r\na\r\n1;x\r\nb\r\n0\r\n\r\n"},
         .names = {"http.invalid_transfer_encoding_value_in_request",
                   "http.request_chunk_extension"}},
        {.text = {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"}},
        {.text = {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\na\r\n"},
         .names = {"http.invalid_request_chunk_len"}},
        {.text = {"GET / HTTP/1.1\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: x\r\n\r\n"},
         .names = {"http.invalid_transfer_encoding_value_in_response",
                   "http.invalid_content_length_field_in_response"}},
        {.text = {"\x16\x03\x01\x00\x04\x01\x00\x00\x00"},
         .names = {"tls.invalid_handshake_message"},
         .len = 9},
    };

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct scene *scene = open_scene(&everything);
        const struct app_place place = {.slot = &scene->flow[0].slot};
        uint32_t n = 0;

        app_shard_begin(scene->shard, &scene->output);
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < len_of(cases[c].text[side], side == 0 ? cases[c].len : 0); i++)
                app_give(scene->shard, &place, (enum app_side)side,
                         (const uint8_t *)cases[c].text[side] + i, 1);
        for (uint32_t i = 0; i < scene->output.n; i++) {
            const struct sl_app_message *message = &scene->output.message[i];
            enum sl_app app = SL_APP_UNKNOWN;

            if (message->step != SL_APP_EVENT)
                continue;
            assert_true(n < 2 && cases[c].names[n] != NULL);
            assert_int_equal(message->event,
                             sl_app_event_find(cases[c].names[n], strlen(cases[c].names[n]), &app));
            assert_int_equal(message->app, app);
            assert_true((message->events >> message->event & 1) != 0);
            n++;
        }
        assert_true(n == 2 || cases[c].names[n] == NULL);
        app_end(scene->shard, &place);
        close_scene(scene);
    }
}

/* ---- QUIC ------------------------------------------------------------------------------------ */

/* Rules see the version of the server's first packet, once, behind a client's packets. */
static void test_an_answer_is_reported_once(void **state)
{
    static const struct app_config configs[] = {
        {.memory = 1 << 20, .values = UINT64_MAX, .has_steps = true, .is_done = UINT32_MAX},
        {.memory = 1 << 20, .values = UINT64_MAX, .is_done = UINT32_MAX}};
    uint8_t packet[64] = {0xD0, 0x6B, 0x33, 0x43, 0xCF, 0, 0, 0, 52};

    (void)state;
    for (uint32_t c = 0; c < 2; c++) {
        struct scene *scene = open_scene(&configs[c]);
        const struct app_place place = {.slot = &scene->flow[0].slot, .item = 7};

        app_shard_begin(scene->shard, &scene->output);
        app_datagram(scene->shard, &place, APP_SERVER, packet, sizeof packet);
        assert_int_equal(scene->output.n, 0);
        place.slot->app = SL_APP_QUIC;
        place.slot->is_left = true; /* behind the hello */
        packet[0] = 0xC0;           /* Retry of version 2 */
        app_datagram(scene->shard, &place, APP_SERVER, packet, sizeof packet);
        packet[0] = 0xD0;
        app_datagram(scene->shard, &place, APP_SERVER, packet, sizeof packet);
        app_datagram(scene->shard, &place, APP_SERVER, packet, sizeof packet);
        assert_int_equal(scene->output.n, c == 0 ? 1 : 0);
        if (c == 0) {
            const struct sl_app_message *message = scene->output.message;

            assert_int_equal(message->app, SL_APP_QUIC);
            assert_int_equal(message->side, APP_SERVER);
            assert_int_equal(message->step, SL_APP_HEAD);
            assert_int_equal(message->item, 7);
            assert_int_equal(message->quic_version, 0x6B3343CF);
            assert_int_equal(message->half[0].n_values + message->half[1].n_values, 0);
        }
        app_end(scene->shard, &place);
        close_scene(scene);
    }
}

/* A line of a head that is too long is an event of no transaction. */
static void test_a_long_line_is_reported(void **state)
{
    struct scene *scene = open_scene(&everything);
    const struct app_place place = {.slot = &scene->flow[0].slot};
    enum sl_app app;
    uint32_t n = 0;

    (void)state;
    app_shard_begin(scene->shard, &scene->output);
    app_give(scene->shard, &place, APP_CLIENT, (const uint8_t *)"GET / HTTP/1.1\r\nA: ", 19);
    for (uint32_t i = 3; i < 18000; i++)
        app_give(scene->shard, &place, APP_CLIENT, (const uint8_t *)"x", 1);
    assert_int_equal(scene->output.n, 0);
    for (uint32_t i = 0; i < 3000; i++)
        app_give(scene->shard, &place, APP_CLIENT, (const uint8_t *)"x", 1);
    app_give(scene->shard, &place, APP_CLIENT, (const uint8_t *)"\r\n\r\n", 4);
    for (uint32_t i = 0; i < scene->output.n; i++)
        n += scene->output.message[i].event ==
             sl_app_event_find("HTTP.request_field_too_long", 27, &app);
    assert_int_equal(n, 1);
    assert_int_equal(sl_app_event_find("http.none", 9, &app), 0);
    assert_int_equal(sl_app_event_find("http.", 5, &app), 0);
    app_end(scene->shard, &place);
    close_scene(scene);
}

struct said {
    int side;
    const char *text;
};

/* Plays a flow; the batch is cut before this piece. */
static struct scene *play_cut(const struct said *said, uint32_t n, uint32_t cut)
{
    const struct app_config config = {.memory = 1 << 20,
                                      .values = UINT64_MAX,
                                      .has_steps = true,
                                      .has_files = true,
                                      .is_done = UINT32_MAX};
    struct scene *scene = open_scene(&config);
    const struct app_place place = {.slot = &scene->flow[0].slot};

    app_shard_begin(scene->shard, &scene->output);
    for (uint32_t i = 0; i < n; i++) {
        if (i == cut) {
            end_batch(scene);
            app_shard_begin(scene->shard, &scene->output);
        }
        app_give(scene->shard, &place, (enum app_side)said[i].side, (const uint8_t *)said[i].text,
                 (uint32_t)strlen(said[i].text));
    }
    app_end(scene->shard, &place);
    end_batch(scene);
    return scene;
}

static void check_cuts(const struct said *said, uint32_t n)
{
    struct scene *whole = play_cut(said, n, n);

    assert_true(whole->stats.messages > 1);
    for (uint32_t cut = 1; cut < n; cut++) {
        struct scene *scene = play_cut(said, n, cut);

        assert_int_equal(scene->told.len, whole->told.len);
        assert_memory_equal(scene->told.bytes, whole->told.bytes, whole->told.len);
        close_scene(scene);
    }
    close_scene(whole);
}

/* Also what a side says behind its head. */
static void test_cuts_change_no_values(void **state)
{
    static const struct said ftp[] = {{1, "220 ready\r\n"},
                                      {0, "USER a\r\n"},
                                      {1, "230 in\r\n"},
                                      {0, "RETR b\r\n"},
                                      {1, "150 it comes\r\n"}};
    static const struct said smtp[] = {{1, "220 ready\r\n"},
                                       {0, "EHLO a\r\n"},
                                       {1, "250 a\r\n"},
                                       {0, "MAIL FROM:<a@b>\r\n"},
                                       {1, "250 b\r\n"},
                                       {0, "RCPT TO:<c@d>\r\n"},
                                       {1, "250 c\r\n"},
                                       {0, "DATA\r\n"},
                                       {1, "354 d\r\n"},
                                       {0, "Subject: hello\r\n"},
                                       {0, "Content-Type: multipart/mixed; boundary=x\r\n\r\n"},
                                       {0, "--x\r\nContent-Disposition: attachment; "},
                                       {0, "filename=f\r\n\r\nbytes\r\n"},
                                       {0, "more bytes\r\n"},
                                       {0, "--x--\r\n.\r\n"},
                                       {1, "250 e\r\n"}};

    (void)state;
    check_cuts(ftp, sizeof ftp / sizeof *ftp);
    check_cuts(smtp, sizeof smtp / sizeof *smtp);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A million pipelined requests in calls of 64 KiB: the messages of a batch are bounded, and those
 * left out are counted. */
static void test_pipelined_requests_are_bounded(void **state)
{
    enum { OF_CALL = 4000 };
    static const char request[] = "GET / HTTP/1.0\n\n";
    const uint32_t n = test_fewer(1000000, 100000);
    struct scene *scene = open_scene(&everything);
    struct app_text text = {0};
    const struct app_place place = {.slot = &scene->flow[0].slot};

    (void)state;
    for (uint32_t i = 0; i < OF_CALL; i++)
        app_text_add(&text, request, sizeof request - 1);
    for (uint32_t i = 0; i < n / OF_CALL; i++) {
        app_shard_begin(scene->shard, &scene->output);
        app_give(scene->shard, &place, APP_CLIENT, text.bytes, text.len);
        assert_true(scene->output.n * sizeof *scene->output.message <=
                    APP_CREDIT_MAX + APP_CREDIT * (text.len + APP_CREDIT_MORE));
        assert_true(app_shard_held(scene->shard) < 1 << 20);
        app_stats_add(&scene->stats, &scene->output.stats);
    }
    app_shard_begin(scene->shard, &scene->output);
    app_end(scene->shard, &place);
    app_stats_add(&scene->stats, &scene->output.stats);
    assert_int_equal(scene->stats.transactions, n);
    assert_int_equal(scene->stats.messages + scene->stats.left_out, 3 * n);
    assert_true(scene->stats.left_out != 0);
    app_text_free(&text);
    close_scene(scene);
}

/* What unpacks to far more than came takes the pool alone: other flows pay with what they bring. */
static void test_a_bomb_costs_no_other_file(void **state)
{
    enum { BLOCK = 1 << 16, CALL = 400 };
    struct app_contents_budget budget = {.credit.pool = APP_CREDIT_MAX};
    struct app_contents *bomb = app_contents_create(), *small = app_contents_create();
    struct app_contents *large = app_contents_create();
    static uint8_t block[BLOCK];

    (void)state;
    for (uint32_t i = 0; i < BLOCK; i++)
        block[i] = (uint8_t)(i * 7);
    assert_true(bomb != NULL && small != NULL && large != NULL);
    app_contents_call(&budget, CALL);
    for (uint32_t i = 0; i < APP_CONTENTS_MAX / BLOCK; i++)
        app_contents_add(bomb, &budget, block, BLOCK);
    assert_true(bomb->is_lost);
    assert_true(budget.credit.pool <= 0 && budget.credit.pool > -APP_CREDIT_MAX);
    app_contents_call(&budget, CALL);
    app_contents_add(small, &budget, block, CALL);
    assert_false(small->is_lost);
    for (uint32_t len = 0; len < 2 * APP_CONTENTS_MEMORY; len += CALL) {
        budget.credit.pool = -APP_CREDIT_MAX; /* others take it all the time */
        app_contents_call(&budget, CALL);
        app_contents_add(large, &budget, block, CALL);
    }
    assert_false(large->is_lost);
    assert_non_null(large->spilled);
    app_contents_end(large, &budget);
    app_contents_complete(large);
    assert_int_equal(budget.n_spilled, 0);
    assert_false(large->is_lost);
    for (uint64_t at = 0; at < large->len; at += CALL) {
        uint8_t bytes[CALL];

        assert_int_equal(fd_read_at(fileno(large->spilled), bytes, CALL, at), CALL);
        assert_memory_equal(bytes, block, CALL);
    }
    app_contents_free(bomb);
    app_contents_free(small);
    app_contents_free(large);
}

/* The last block of a file does not fit: no part of the file counts. */
static void test_a_full_disk_loses_contents(void **state)
{
    enum { LEN = 1000 };
    struct app_contents_budget budget = {.credit.pool = APP_CREDIT_MAX};
    struct app_contents *contents = app_contents_create();
    static const uint8_t block[APP_CONTENTS_MEMORY];

    (void)state;
    assert_non_null(contents);
    app_contents_call(&budget, sizeof block);
    app_contents_add(contents, &budget, block, sizeof block);
    app_contents_add(contents, &budget, block, LEN);
    assert_non_null(contents->spilled);
    (void)fclose(contents->spilled);
    contents->spilled = fopen("/dev/full", "w");
    assert_non_null(contents->spilled);
    app_contents_end(contents, &budget);
    app_contents_complete(contents);
    assert_true(contents->is_lost);
    app_contents_free(contents);
}

/* Heads that never end: the flows hold no more than they may, and those that give way are counted.
 */
static void test_open_flows_are_bounded(void **state)
{
    enum { N = 4000, LEN = 9000 };
    const struct app_config config = {.memory = 1 << 20, .values = UINT64_MAX, .has_steps = true};
    struct scene *scene = open_scene(&config);
    struct app_slot *slot = calloc(N, sizeof *slot);
    char *head = calloc(1, LEN);

    (void)state;
    assert_true(slot != NULL && head != NULL);
    memset(head, 'x', LEN);
    memcpy(head, "GET / HTTP/1.1\r\nName: ", 22);
    app_shard_begin(scene->shard, &scene->output);
    for (uint32_t i = 0; i < N; i++) {
        app_give(scene->shard, &(struct app_place){.slot = &slot[i], .flow = i}, APP_CLIENT,
                 (uint8_t *)head, LEN);
        assert_true(app_shard_held(scene->shard) <= config.memory);
    }
    assert_true(scene->output.stats.flows_evicted > N / 2);
    assert_int_equal(scene->output.stats.flows, N);
    assert_true(slot[0].is_left && !slot[N - 1].is_left);
    close_scene(scene);
    free(slot);
    free(head);
}

/* A flow that holds more than all may gives way before the others: they make no room for it. */
static void test_a_large_flow_gives_way_alone(void **state)
{
    enum { LEN = 32000 };
    static const char begin[] = "GET / HTTP/1.1\r\nName: ", end[] = "x\r\n\r\n";
    const struct app_config config = {.memory = 16 << 10, .values = UINT64_MAX, .has_steps = true};
    struct scene *scene = open_scene(&config);
    const struct app_place small = {.slot = &scene->flow[0].slot, .flow = 1};
    const struct app_place large = {.slot = &scene->flow[1].slot, .flow = 2};
    uint8_t *head = calloc(1, LEN);

    (void)state;
    assert_non_null(head);
    memset(head, 'x', LEN);
    memcpy(head, begin, sizeof begin - 1);
    app_shard_begin(scene->shard, &scene->output);
    app_give(scene->shard, &small, APP_CLIENT, (const uint8_t *)begin, sizeof begin - 1);
    app_give(scene->shard, &large, APP_CLIENT, head, LEN);
    assert_true(app_shard_held(scene->shard) <= config.memory);
    assert_true(large.slot->is_left && !small.slot->is_left);
    assert_int_equal(scene->output.stats.flows_evicted, 1);
    const uint32_t n = scene->output.n;

    app_give(scene->shard, &small, APP_CLIENT, (const uint8_t *)end, sizeof end - 1);
    assert_true(scene->output.n > n); /* the request */
    app_end(scene->shard, &small);
    close_scene(scene);
    free(head);
}

/* The state of an ordinary flow, in the middle of a response. */
static void test_memory_of_an_open_flow(void **state)
{
    static const char request[] =
        "GET /assets/site/css/main.css?v=20240117 HTTP/1.1\r\nHost: www.example.com\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120 Safari\r\n"
        "Accept: text/css,*/*;q=0.1\r\nAccept-Encoding: gzip, deflate\r\n"
        "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n";
    static const char head[] = "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/css\r\n"
                               "Content-Length: 10000\r\n\r\n";
    const struct app_config config = {.memory = 1 << 20, .values = UINT64_MAX, .has_steps = true};
    struct scene *scene = open_scene(&config);
    struct app_slot slot = {0};
    const struct app_place place = {.slot = &slot};
    uint8_t segment[1460];

    (void)state;
    memset(segment, 'x', sizeof segment);
    memcpy(segment, head, sizeof head - 1);
    app_shard_begin(scene->shard, &scene->output);
    app_give(scene->shard, &place, APP_CLIENT, (const uint8_t *)request, sizeof request - 1);
    app_give(scene->shard, &place, APP_SERVER, segment, sizeof segment);
    print_message("bytes of an open flow: %u\n", (unsigned)app_shard_held(scene->shard));
    assert_in_range(app_shard_held(scene->shard), sizeof segment, 4096 - sizeof slot - 128);
    app_end(scene->shard, &place);
    assert_int_equal(app_shard_held(scene->shard), 0);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_change_nothing),
        cmocka_unit_test(test_bodies_are_shown_in_steps),
        cmocka_unit_test(test_later_batches_leave_bodies),
        cmocka_unit_test(test_bodies_grow),
        cmocka_unit_test(test_events_are_reported),
        cmocka_unit_test(test_an_answer_is_reported_once),
        cmocka_unit_test(test_a_long_line_is_reported),
        cmocka_unit_test(test_pipelined_requests_are_bounded),
        cmocka_unit_test(test_a_bomb_costs_no_other_file),
        cmocka_unit_test(test_a_full_disk_loses_contents),
        cmocka_unit_test(test_cuts_change_no_values),
        cmocka_unit_test(test_open_flows_are_bounded),
        cmocka_unit_test(test_a_large_flow_gives_way_alone),
        cmocka_unit_test(test_memory_of_an_open_flow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
