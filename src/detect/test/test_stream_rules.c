/* SPDX-License-Identifier: MIT */
/* Rules over parts of a stream that are laid by hand. */
#include "detect/evaluate/evaluate_stream.h"
#include "detect_fixture.h"
#include "sluice/app.h"
#include "stream/stream.h"

enum { N_PACKETS = 4 };

/* The packets of one side. */
static const char *const payload[N_PACKETS] = {"head near", " the lite", "ral is here", "literal"};

static struct sl_batch *batch;
static struct sl_stream_part part[N_PACKETS];
static const struct sl_stream_part *of_item[N_PACKETS];

/* Of the third: 100 bytes of the client, and a SYN of the server. */
static const struct sl_stream_facts of_sequence[N_PACKETS] = {
    [2] = {.size = {101, 1},
           .events = UINT64_C(1) << STREAM_SEQ_GAP | UINT64_C(1) << (STREAM_N_EVENTS - 1)}};

static const struct sl_stream_facts *facts = of_sequence;

/* In the place of the third's bytes; NULL: they are its own. */
static const uint8_t *joined;
static uint32_t joined_len;

/* The first's bytes lie in two pieces. */
static bool first_in_pieces;

static void lay_in_pieces(struct sl_stream_part *first)
{
    enum { BEFORE_CUT = 4 };
    static uint8_t pieces[2][SL_STREAM_PIECE];
    static const uint8_t *const piece[] = {pieces[0], pieces[1]};

    memcpy(pieces[0] + SL_STREAM_PIECE - BEFORE_CUT, first->bytes, BEFORE_CUT);
    memcpy(pieces[1], first->bytes + BEFORE_CUT, first->len - BEFORE_CUT);
    first->piece = piece;
    first->in_pieces = true;
    first->skip = SL_STREAM_PIECE - BEFORE_CUT;
    of_item[0] = NULL;
}

/* The first three follow one another. The last is in no stream. */
static void lay_parts(uint64_t begin)
{
    uint64_t offset = begin;

    memset(part, 0, sizeof part);
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        part[i].bytes = batch->bytes + batch->payload[i].offset;
        part[i].whole = true;
        part[i].len = batch->payload[i].len;
        if (i == 2 && joined != NULL) {
            part[i].bytes = joined;
            part[i].len = joined_len;
        }
        part[i].offset = offset;
        part[i].before = i != 0 ? &part[i - 1] : NULL;
        part[i].known = (uint32_t)(offset - begin);
        offset += part[i].len;
        of_item[i] = i < 3 ? &part[i] : NULL;
    }
    if (first_in_pieces)
        lay_in_pieces(&part[0]);
}

/* The packets that match the rule, a bit for each. `across` is where its literal ends in the third,
 * 0: nowhere. */
static unsigned matches(const char *options, uint64_t begin, uint32_t across)
{
    char text[300];
    const struct sl_literal *literals;
    const struct sl_alert *alerts;
    struct sl_evaluator *evaluator;
    struct sl_hits hits;
    struct sl_diag diag;
    size_t n_literals, n;
    unsigned found = 0;

    snprintf(text, sizeof text, "alert %s sid:1;)", options);
    struct sl_rules *rules = load_rules(text);
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    lay_parts(begin);
    find_hits(&hits, batch, literals, n_literals);
    assert_true(hits.n < hits.cap);
    if (across != 0)
        hits.hit[hits.n++] =
            (struct sl_hit){2, SL_STREAM_HIT_BASE + across, (uint64_t)SL_BUFFER_STREAM << 32};
    hits.in_order = false;
    sl_hits_sort(&hits);
    sl_rules_sift(rules, batch, &hits);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
    sl_evaluator_set_streams(evaluator, of_item);
    if (sl_rules_ask_stream_facts(rules))
        sl_evaluator_set_stream_facts(evaluator, facts);
    assert_int_equal(sl_evaluator_run(evaluator, batch, &hits, &alerts, &n), SL_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(found >> alerts[i].item & 1, 0);
        found |= 1u << alerts[i].item;
    }
    sl_evaluator_free(evaluator);
    free(hits.hit);
    sl_rules_free(rules);
    return found;
}

static void test_contents_are_looked_for_in_streams(void **state)
{
    (void)state;
    assert_int_equal(matches("tcp any any -> any any (content:\"literal\";", 0, 3),
                     1 << 2 | 1 << 3);
    assert_int_equal(matches("tcp any any -> any any (content:\"literal\";", 0, 0), 1 << 3);
    assert_int_equal(matches("tcp-stream any any -> any any (content:\"literal\";", 0, 3), 1 << 2);
    assert_int_equal(matches("tcp-pkt any any -> any any (content:\"literal\";", 0, 3), 1 << 3);
    assert_int_equal(
        matches("tcp any any -> any any (flow:only_stream; content:\"literal\";", 0, 3), 1 << 2);
    assert_int_equal(matches("tcp any any -> any any (flow:no_stream; content:\"literal\";", 0, 3),
                     1 << 3);
    /* A literal that ends before the part was found there. */
    assert_int_equal(matches("tcp-stream any any -> any any (content:\"literal\";", 0, 0), 0);
}

static void test_steps_reach_back_into_parts_before(void **state)
{
    (void)state;
    assert_int_equal(
        matches("tcp any any -> any any (content:\"near\"; content:\"is here\"; distance:2;", 0, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp any any -> any any (content:\"near\"; content:\"is here\"; distance:14;", 0,
                0),
        0);
    assert_int_equal(
        matches("tcp any any -> any any (content:\"is here\"; pcre:\"/^head.*is/\";", 0, 0),
        1 << 2);
}

static void test_parts_before_lie_in_pieces(void **state)
{
    (void)state;
    first_in_pieces = true;
    assert_int_equal(
        matches("tcp any any -> any any (content:\"near\"; content:\"is here\"; distance:2;", 0, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp any any -> any any (content:\"is here\"; pcre:\"/^head near the.*is/\";", 0,
                0),
        1 << 2);
    assert_int_equal(
        matches("tcp any any -> any any (content:\"is here\"; pcre:\"/^head  near/\";", 0, 0), 0);
    first_in_pieces = false;
}

static void test_parts_are_copied(void **state)
{
    enum { N = 3 * SL_STREAM_PIECE };
    static uint8_t bytes[N], apart[3][SL_STREAM_PIECE];
    const uint8_t *const piece[] = {apart[2], apart[0], apart[1]};
    uint8_t copy[N];

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        bytes[i] = apart[(i / SL_STREAM_PIECE + 2) % 3][i % SL_STREAM_PIECE] =
            (uint8_t)(i * 7 + i / SL_STREAM_PIECE);
    for (uint32_t skip = 0; skip < SL_STREAM_PIECE; skip += 51)
        for (uint32_t from = 0; skip + from < N; from += 17)
            for (uint32_t len = 0; skip + from + len <= N; len += 1 + len / 5) {
                const struct sl_stream_part in_pieces = {
                    .piece = piece, .in_pieces = true, .skip = (uint8_t)skip, .len = N - skip};
                const struct sl_stream_part flat = {.bytes = bytes + skip, .len = N - skip};

                sl_stream_part_copy(&in_pieces, from, copy, len);
                assert_memory_equal(copy, bytes + skip + from, len);
                memset(copy, 0, sizeof copy);
                sl_stream_part_copy(&flat, from, copy, len);
                assert_memory_equal(copy, bytes + skip + from, len);
            }
}

static void test_places_are_those_of_the_stream(void **state)
{
    (void)state;
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:22;", 0, 0), 1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:23;", 0, 0), 0);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:5000;", 5000, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; depth:5000;", 5000, 0), 0);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:22; depth:7;", 0, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:21; depth:7;", 0, 0),
        0);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; offset:5022; depth:7;", 5000,
                0),
        1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; pcre:\"/^head/\";", 5000, 0),
        0);
    /* Nor does it where another alternative is not anchored. */
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; pcre:\"/(^head|nowhere)/\";",
                0, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; pcre:\"/(^head|nowhere)/\";",
                5000, 0),
        0);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; byte_test:1,=,104,0;", 0, 0),
        1 << 2);
    assert_int_equal(
        matches("tcp-stream any any -> any any (content:\"is here\"; byte_test:1,=,104,0;", 5000,
                0),
        0);
}

/* A rule that is found by its header alerts where its content ends, as others do. */
static void test_contents_are_found_once(void **state)
{
    static const char head[] = "tcp-stream any any -> any any (content:";
    static const struct {
        const char *content;
        unsigned items;
    } rows[] = {
        {"\"n\";", 1 << 0},
        {"\"e\";", 1 << 0 | 1 << 1 | 1 << 2},
        {"\"E\"; nocase;", 1 << 0 | 1 << 1 | 1 << 2},
        {"\"e\"; depth:3;", 1 << 0},
        {"\"h\"; offset:0; depth:1;", 1 << 0},
        {"\"h\"; content:\"e\"; distance:0;", 1 << 0 | 1 << 1 | 1 << 2},
        {"!\"z\";", 1 << 0 | 1 << 1 | 1 << 2},
    };
    char options[128];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(options, sizeof options, "%s%s", head, rows[i].content);
        if (matches(options, 0, 0) != rows[i].items)
            fail_msg("%s: 0x%x, not 0x%x", options, matches(options, 0, 0), rows[i].items);
    }
}

/* A part of any length is seen whole: a card may join packets. */
static void test_long_parts_are_seen_whole(void **state)
{
    enum { LEN = 60000 };
    static uint8_t bytes[LEN];

    (void)state;
    joined = bytes;
    joined_len = LEN;
    for (uint32_t at = 0; at < LEN; at += 997) {
        memset(bytes, 'x', LEN);
        bytes[at] = 5;
        assert_int_equal(matches("tcp-stream any any -> any any (content:\"|05|\";", 0, 0), 1 << 2);
        assert_int_equal(matches("tcp-stream any any -> any any (content:\"|05|\";", 3000, 0),
                         1 << 2);
        assert_int_equal(
            matches("tcp-stream any any -> any any (content:\"|05|\"; offset:30000; depth:20000;",
                    0, 0),
            at + 18 >= 30000 && at + 18 < 50000 ? 1 << 2 : 0);
    }
    joined = NULL;
}

/* Of a packet that says where, packets are looked at as well, and no alert comes twice. */
static void test_offset_and_depth_ask_for_packets_too(void **state)
{
    (void)state;
    assert_int_equal(matches("tcp any any -> any any (content:\" the\"; depth:4;", 0, 0), 1 << 1);
    assert_int_equal(matches("tcp any any -> any any (content:\" the\"; depth:13;", 0, 0), 1 << 1);
    assert_int_equal(matches("tcp-stream any any -> any any (content:\" the\"; depth:4;", 0, 0), 0);
    assert_int_equal(matches("tcp any any -> any any (dsize:7; content:\"literal\";", 0, 3),
                     1 << 3);
}

static void test_sizes_are_those_of_sequence_numbers(void **state)
{
    static const struct {
        const char *value;
        bool found;
    } cases[] = {{"client,=,101", true}, {"client,>,101", false},     {"client, >, 100", true},
                 {"server,=,1", true},   {"server,<,1", false},       {"either,=,101", true},
                 {"either,=,2", false},  {"both,>=,1", true},         {"both,>,1", false},
                 {"=101", true},         {">100,to_server", true},    {"1,to_client", true},
                 {">1,both", false},     {"50<>200,to_server", true}, {"client,!=,101", false}};
    char options[120];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned expected = cases[i].found ? 1 << 2 : 0;

        snprintf(options, sizeof options,
                 "tcp any any -> any any (stream_size:%s; content:\"literal\";", cases[i].value);
        assert_int_equal(matches(options, 0, 3) & 1 << 2, expected);
        snprintf(options, sizeof options, "tcp any any -> any any (ack:!1; stream_size:%s;",
                 cases[i].value);
        assert_int_equal(matches(options, 0, 0) & 1 << 2, expected);
    }
}

static void test_events_are_those_of_the_packet(void **state)
{
    (void)state;
    assert_int_equal(matches("tcp any any -> any any (stream-event:reassembly_seq_gap;", 0, 0),
                     1 << 2);
    assert_int_equal(matches("tcp any any -> any any (stream-event:fin2_fin_wrong_seq;", 0, 0),
                     1 << 2);
    assert_int_equal(matches("tcp any any -> any any (stream-event:fin_syn;", 0, 0), 0);
}

/* A client's packet with which HTTP is found, one of a tunnel whose server speaks another protocol,
 * one of a server, and one of a flow that shows no protocol. */
static void test_protocols_are_those_of_sides(void **state)
{
    static const struct sl_stream_facts of_sides[N_PACKETS] = {
        {.app = {SL_APP_HTTP, 0}, .app_found = true},
        {.app = {SL_APP_HTTP2, SL_APP_SSH}, .app_before = SL_APP_HTTP, .app_found = true},
        {.app = {SL_APP_HTTP, SL_APP_SSH}},
        {.app = {SL_N_APPS, SL_N_APPS}, .app_found = true}};
    static const uint8_t apps[N_PACKETS] = {SL_APP_HTTP, SL_APP_HTTP2, SL_APP_HTTP, 0};
    static const struct {
        const char *options;
        unsigned found; /* a bit for each packet */
    } cases[] = {
        {"dsize:>0; app-layer-protocol:http1;", 1},
        {"dsize:>0; app-layer-protocol:http;", 1 | 2},
        {"dsize:>0; app-layer-protocol:!http;", 4 | 8},
        {"dsize:>0; app-layer-protocol:!http1,direction;", 2 | 4 | 8},
        {"dsize:>0; app-layer-protocol:ssh;", 4},
        {"dsize:>0; app-layer-protocol:http1,final;", 1 | 4},
        {"dsize:>0; app-layer-protocol:!http1,final;", 2 | 8},
        {"dsize:>0; app-layer-protocol:http1,original;", 2},
        {"dsize:>0; app-layer-protocol:!http1,original;", 0},
        {"dsize:>0; app-layer-protocol:!tls,original;", 2},
        {"dsize:>0; app-layer-protocol:ssh,either;", 2 | 4},
        {"dsize:>0; app-layer-protocol:!ssh,either;", 1 | 8},
        {"dsize:>0; app-layer-protocol:http1,to_server;", 1 | 4},
        {"dsize:>0; app-layer-protocol:!http1,to_server;", 2 | 8},
        {"dsize:>0; app-layer-protocol:ssh,to_client;", 2 | 4},
        {"dsize:>0; app-layer-protocol:!ssh,to_client;", 8},
        {"app-layer-protocol:ssh,to_client;", 2},
        {"app-layer-protocol:!tls;", 1 | 2 | 8},
        {"flow:to_client; app-layer-protocol:!tls;", 0},
        {"flow:to_server; app-layer-protocol:!tls; flowbits:set,a;", 1 | 2 | 8},
        {"app-layer-protocol:!tls; flowbits:isnotset,a;", 1 | 2 | 4 | 8},
    };
    char options[200];

    (void)state;
    facts = of_sides;
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        batch->origin[i].flow = 1;
        batch->origin[i].app = apps[i];
        batch->origin[i].flow_flags = i != 2 ? SL_FLOW_TO_SERVER : 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(options, sizeof options, "tcp any any -> any any (%s", cases[i].options);
        print_message("%s\n", options);
        assert_int_equal(matches(options, 0, 0), cases[i].found);
    }
    for (uint32_t i = 0; i < N_PACKETS; i++)
        batch->origin[i].flow = batch->origin[i].app = batch->origin[i].flow_flags = 0;
    facts = of_sequence;
}

/* The blocks of a part, and the literals that end in each. */
enum { BLOCKS_MAX = 64 };

struct blocks {
    uint32_t n;
    struct {
        uint64_t from, to;
        uint32_t literals;
        bool is_key;
    } block[BLOCKS_MAX];
};

static void list_blocks(struct blocks *list, const struct sl_rules *rules,
                        const struct sl_batch *packet, const struct sl_stream_part *only,
                        const struct sl_hits *hits, bool with_keys)
{
    const struct rule_hits all = {hits->hit, hits->n};
    struct rule_stream stream = {.index = rules->index};

    memset(list, 0, sizeof *list);
    rule_stream_begin(&stream, packet, 0, only, only);
    for (; rule_stream_next_block(&stream, &all, with_keys); list->n++) {
        assert_true(list->n < BLOCKS_MAX);
        list->block[list->n].from = stream.from;
        list->block[list->n].to = stream.to;
        list->block[list->n].is_key = stream.is_key;
        for (size_t i = 0; i < hits->n; i++)
            if (rule_stream_has(&stream, &hits->hit[i]))
                list->block[list->n].literals |= 1u << hits->hit[i].id;
    }
    rule_stream_free(&stream);
}

/* Blocks of a stream begin and end inside runs, whose hits there are left out. */
static void test_blocks_inside_runs(void **state)
{
    enum { ROUNDS = 300, LEN = 9000, STREAM = 40000 };
    static char text[LEN];
    const char *const rules_text = "alert tcp any any -> any any (content:\"AAAA\"; sid:1;)\n"
                                   "alert tcp any any -> any any (content:\"aaaaa\"; nocase; "
                                   "sid:2;)\n"
                                   "alert tcp any any -> any any (content:\"AAAAAAb\"; sid:3;)\n";
    struct sl_rules *rules = load_rules(rules_text);
    const struct sl_literal *literals;
    size_t n_literals, n_left_out = 0;
    uint64_t random = 7;

    (void)state;
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    assert_int_equal(n_literals, 3);
    for (int round = 0; round < ROUNDS; round++) {
        struct sl_batch *packet = fixture_batch(1);
        struct blocks whole, sparse;
        struct sl_hits hits;
        const uint32_t begin = test_below(&random, LEN);
        const struct sl_stream_part only = {.offset = test_below(&random, STREAM),
                                            .len = 1 + test_below(&random, LEN - begin)};
        struct sl_stream_part laid = only;

        memset(text, 'A', LEN);
        for (uint32_t i = test_below(&random, 4); i != 0; i--)
            text[test_below(&random, LEN)] = "ab"[i % 2];
        add_packet(packet, &(struct packet){.kind = TCP, .payload = text, .payload_len = LEN});
        dissect_batch(packet);
        laid.bytes = packet->bytes + packet->payload[0].offset + begin;
        find_hits(&hits, packet, literals, n_literals);
        list_blocks(&whole, rules, packet, &laid, &hits, round % 2 == 0);

        const size_t n = hits.n;
        keep_run_ends(&hits, literals);
        n_left_out += n - hits.n;
        list_blocks(&sparse, rules, packet, &laid, &hits, round % 2 == 0);
        assert_memory_equal(&sparse, &whole, sizeof whole);
        free(hits.hit);
        sl_batch_free(packet);
    }
    assert_true(n_left_out > ROUNDS * LEN);
    sl_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_sequence_numbers),
        cmocka_unit_test(test_events_are_those_of_the_packet),
        cmocka_unit_test(test_protocols_are_those_of_sides),
        cmocka_unit_test(test_contents_are_looked_for_in_streams),
        cmocka_unit_test(test_steps_reach_back_into_parts_before),
        cmocka_unit_test(test_parts_before_lie_in_pieces),
        cmocka_unit_test(test_parts_are_copied),
        cmocka_unit_test(test_places_are_those_of_the_stream),
        cmocka_unit_test(test_contents_are_found_once),
        cmocka_unit_test(test_long_parts_are_seen_whole),
        cmocka_unit_test(test_offset_and_depth_ask_for_packets_too),
        cmocka_unit_test(test_blocks_inside_runs),
    };

    batch = fixture_batch(N_PACKETS);
    for (uint32_t i = 0; i < N_PACKETS; i++)
        add_packet(batch, &(struct packet){.kind = TCP, .payload = payload[i]});
    dissect_batch(batch);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sl_batch_free(batch);
    return failed;
}
