/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "stream/stream_half.h"
#include "stream/stream_tcp.h"
#include "stream_operations.h"
#include "stream_ref.h"
#include "stream_trial.h"

enum { CLIENT, SERVER, CLIENT_ISN = -20 /* wraps */, SERVER_ISN = 7000 };

/* A segment by offsets of the streams. */
static struct stream_segment segment(uint32_t half, uint32_t offset, uint32_t ack, uint32_t len)
{
    const uint32_t isn[2] = {(uint32_t)CLIENT_ISN, SERVER_ISN};

    return (struct stream_segment){.half = (uint8_t)half,
                                   .seq = isn[half] + 1 + offset,
                                   .ack = isn[half ^ 1] + 1 + ack,
                                   .flags = TCP_ACK,
                                   .window = 60000,
                                   .wscale = STREAM_NO_WSCALE,
                                   .len = len};
}

static void send_text(struct trial *trial, uint32_t half, uint32_t offset, uint32_t ack,
                      const char *text)
{
    trial_send(trial, segment(half, offset, ack, (uint32_t)strlen(text)), text);
}

static void send_flags(struct trial *trial, uint32_t half, uint32_t offset, uint32_t ack,
                       uint8_t flags)
{
    struct stream_segment s = segment(half, offset, ack, 0);

    s.flags = flags;
    trial_send(trial, s, NULL);
}

static void shake_hands(struct trial *trial)
{
    send_flags(trial, CLIENT, UINT32_MAX, UINT32_MAX, TCP_SYN);
    send_flags(trial, SERVER, UINT32_MAX, 0, TCP_SYN | TCP_ACK);
    send_flags(trial, CLIENT, 0, 0, TCP_ACK);
}

static struct trial *begin(uint32_t batch_len)
{
    struct trial *trial = trial_new(NULL, batch_len);

    shake_hands(trial);
    return trial;
}

/* The text that a half has sent so far. */
static void expect_text(struct trial *trial, uint32_t half, const char *text)
{
    trial_flush(trial);
    trial->half[half].text[trial->half[half].len] = '\0';
    assert_string_equal(trial->half[half].text, text);
    assert_null(trial->fault);
}

static void finish(struct trial *trial)
{
    trial_end(trial);
    assert_null(trial->fault);
    trial_free(trial);
}

static void test_plain(void **state)
{
    (void)state;
    for (uint32_t batch_len = 0; batch_len < 4; batch_len++) {
        struct trial *trial = begin(batch_len);

        send_text(trial, CLIENT, 0, 0, "GET / ");
        send_text(trial, CLIENT, 6, 0, "HTTP/1.1");
        send_text(trial, SERVER, 0, 14, "200");
        expect_text(trial, CLIENT, "GET / HTTP/1.1");
        expect_text(trial, SERVER, "200");
        assert_int_equal(trial->half[CLIENT].edge, 14);
        assert_int_equal(trial->half[SERVER].edge, 0);
        send_text(trial, CLIENT, 14, 3, "x");
        expect_text(trial, CLIENT, "GET / HTTP/1.1x");
        assert_int_equal(trial->half[SERVER].edge, 3);
        assert_int_equal(trial->half[CLIENT].edge, 14);
        finish(trial);
    }
}

static void test_order(void **state)
{
    (void)state;
    for (uint32_t batch_len = 0; batch_len < 3; batch_len++) {
        struct trial *trial = begin(batch_len);

        send_text(trial, CLIENT, 6, 0, "ghi");
        send_text(trial, CLIENT, 3, 0, "def");
        expect_text(trial, CLIENT, "");
        send_text(trial, CLIENT, 0, 0, "abc");
        expect_text(trial, CLIENT, "abcdefghi");
        assert_int_equal(trial->stats.queued, 2);
        finish(trial);
    }
}

/* Each shape of two segments that overlap behind a hole, for each policy. Upper case is the new. */
static void test_overlap(void **state)
{
    static const struct {
        uint32_t old_begin, old_end, new_begin, new_end;
        const char *original; /* where the original wins */
        const char *newer;
    } shape[] = {
        {2, 6, 1, 4, "_Abbbb", "_AAAbb"}, /* begins before, ends before */
        {2, 6, 1, 6, "_Abbbb", "_AAAAA"}, /* ends at the same */
        {2, 6, 1, 7, "_AbbbbA", "_AAAAAA"},
        {2, 6, 2, 4, "__bbbb", "__AAbb"}, /* begins at the same */
        {2, 6, 2, 6, "__bbbb", "__AAAA"},
        {2, 6, 2, 7, "__bbbbA", "__AAAAA"},
        {2, 6, 3, 5, "__bbbb", "__bAAb"}, /* begins behind */
        {2, 6, 3, 6, "__bbbb", "__bAAA"},
        {2, 6, 3, 7, "__bbbbA", "__bAAAA"},
    };
    (void)state;
    for (uint32_t policy = 0; policy < SL_N_HOST_POLICIES; policy++)
        for (uint32_t i = 0; i < sizeof shape / sizeof *shape; i++) {
            struct trial *trial = trial_new(NULL, 1);
            const bool wins = stream_ref_new_wins((enum sl_host_policy)policy, (int)(i / 3) - 1,
                                                  (int)(i % 3) - 1);
            const char *expected = wins ? shape[i].newer : shape[i].original;

            trial->stream.half[CLIENT].policy = (uint8_t)policy;
            shake_hands(trial);
            trial_send(
                trial,
                segment(CLIENT, shape[i].old_begin, 0, shape[i].old_end - shape[i].old_begin),
                "bbbb");
            trial_send(
                trial,
                segment(CLIENT, shape[i].new_begin, 0, shape[i].new_end - shape[i].new_begin),
                "AAAAAA");
            assert_int_equal(trial->events[STREAM_OVERLAP_DIFFERENT], 1);
            trial_end(trial);
            trial->half[CLIENT].text[trial->half[CLIENT].len] = '\0';
            assert_string_equal(trial->half[CLIENT].text, expected);
            assert_null(trial->fault);
            trial_free(trial);
        }
}

static void test_retransmission(void **state)
{
    (void)state;
    for (uint32_t batch_len = 0; batch_len < 2; batch_len++) {
        struct trial *trial = begin(batch_len);

        send_text(trial, CLIENT, 0, 0, "abcdef");
        send_text(trial, CLIENT, 2, 0, "cdefgh"); /* partly new */
        expect_text(trial, CLIENT, "abcdefgh");
        assert_int_equal(trial->stats.retransmitted, 4);
        assert_int_equal(trial->stats.conflicts, 0);
        assert_int_equal(trial->events[STREAM_RETRANSMISSION], 1);
        send_text(trial, CLIENT, 4, 0, "eXgh"); /* differs */
        expect_text(trial, CLIENT, "abcdefgh");
        assert_int_equal(trial->stats.conflicts, 1);
        send_text(trial, SERVER, 0, 8, "");
        send_text(trial, CLIENT, 7, 0, "?"); /* a keep-alive */
        send_text(trial, CLIENT, 6, 0, "gh");
        trial_flush(trial);
        assert_int_equal(trial->stats.keep_alives, 1);
        assert_int_equal(trial->stats.conflicts, 1);
        assert_int_equal(trial->events[STREAM_SPURIOUS_RETRANSMISSION], 1);
        finish(trial);
    }
}

static void test_gap(void **state)
{
    struct trial *trial = begin(1);

    (void)state;
    send_text(trial, CLIENT, 0, 0, "ab");
    send_text(trial, CLIENT, 5, 0, "fg");
    send_text(trial, SERVER, 0, 4, ""); /* not the whole hole */
    expect_text(trial, CLIENT, "ab");
    send_text(trial, SERVER, 0, 7, "");
    expect_text(trial, CLIENT, "ab___fg");
    assert_int_equal(trial->half[CLIENT].edge, 7);
    assert_int_equal(trial->stats.gaps[SL_GAP_LOST], 1);
    assert_int_equal(trial->stats.gap_bytes[SL_GAP_LOST], 3);
    assert_int_equal(trial->events[STREAM_SEQ_GAP], 1);
    send_text(trial, SERVER, 0, 9, ""); /* ahead of what was seen: the next bytes may come yet */
    send_text(trial, CLIENT, 7, 0, "hi");
    send_text(trial, SERVER, 0, 12, "");
    send_text(trial, CLIENT, 12, 0, "m");
    expect_text(trial, CLIENT, "ab___fghi___m");
    send_text(trial, CLIENT, 15, 0, "p");
    trial_end(trial);
    expect_text(trial, CLIENT, "ab___fghi___m__p");
    assert_int_equal(trial->stats.gaps[SL_GAP_END], 1);
    trial_free(trial);
}

/* What the flow's last bytes lack: acknowledged, or before a FIN. */
static void test_missing_tails(void **state)
{
    static const struct {
        uint32_t ack, fin; /* offsets; fin 0: none */
        const char *text;
        uint32_t lost, end; /* bytes */
    } tails[] = {
        {5, 0, "ab___", 3, 0}, {6, 5, "ab___", 3, 0}, {2, 5, "ab___", 0, 3},
        {4, 5, "ab___", 0, 3}, {3, 0, "ab", 0, 0}, /* a FIN alone may have been acknowledged */
        {3, 2, "ab", 0, 0},    {2, 0, "ab", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        struct trial *trial = begin(1);

        send_text(trial, CLIENT, 0, 0, "ab");
        if (tails[i].fin != 0)
            send_flags(trial, CLIENT, tails[i].fin, 0, TCP_FIN | TCP_ACK);
        send_text(trial, SERVER, 0, tails[i].ack, "");
        trial_end(trial);
        expect_text(trial, CLIENT, tails[i].text);
        assert_int_equal(trial->stats.gap_bytes[SL_GAP_LOST], tails[i].lost);
        assert_int_equal(trial->stats.gap_bytes[SL_GAP_END], tails[i].end);
        trial_free(trial);
    }
}

static void test_snapped(void **state)
{
    struct trial *trial = begin(1);
    struct stream_segment s = segment(CLIENT, 0, 0, 2);

    (void)state;
    s.snapped = 3;
    trial_send(trial, s, "ab");
    send_text(trial, CLIENT, 5, 0, "fg");
    expect_text(trial, CLIENT, "ab___fg");
    s = segment(CLIENT, 9, 0, 1); /* behind a hole */
    s.snapped = 2;
    trial_send(trial, s, "j");
    send_text(trial, CLIENT, 7, 0, "hi");
    expect_text(trial, CLIENT, "ab___fghij__");
    assert_int_equal(trial->stats.gaps[SL_GAP_SNAPPED], 2);
    finish(trial);
}

static void test_syn_payload(void **state)
{
    (void)state;
    for (uint32_t acked = 0; acked < 4; acked++) { /* 3: no answer */
        struct trial *trial = trial_new(NULL, 1);
        struct stream_segment s = segment(CLIENT, UINT32_MAX, 0, 2);

        s.flags = TCP_SYN;
        trial_send(trial, s, "AB");
        assert_int_equal(trial->stats.doubts[SL_DOUBT_SYN], 1);
        if (acked < 3)
            send_flags(trial, SERVER, UINT32_MAX, acked, TCP_SYN | TCP_ACK);
        send_text(trial, CLIENT, acked < 3 ? acked : 2, 0, "xyz");
        expect_text(trial, CLIENT, acked == 0 ? "xyz" : acked == 1 ? "Axyz" : "ABxyz");
        finish(trial);
    }
}

static void test_doubt(void **state)
{
    struct trial *trial = begin(1);
    struct stream_segment s = segment(CLIENT, 0, 0, 3);

    (void)state;
    s.bad_checksum = true;
    trial_send(trial, s, "bad");
    s = segment(CLIENT, 0, 0, 3);
    s.flags = 0;
    trial_send(trial, s, "no!");
    s = segment(CLIENT, 0, 900000, 3);
    trial_send(trial, s, "ack");
    expect_text(trial, CLIENT, "");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_CHECKSUM], 1);
    assert_int_equal(trial->stats.doubts[SL_DOUBT_NO_ACK], 1);
    assert_int_equal(trial->stats.doubts[SL_DOUBT_ACK], 1);
    send_text(trial, CLIENT, 0, 0, "abc");
    expect_text(trial, CLIENT, "abc");
    send_text(trial, CLIENT, 60000, 0, "far");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_WINDOW], 1);
    assert_int_equal(trial->events[STREAM_STATE_OUT_OF_WINDOW], 1);
    s = segment(CLIENT, 3, 0, 3);
    s.flags = 0;
    trial_send(trial, s, "def"); /* in doubt, until the receiver says that it has them */
    expect_text(trial, CLIENT, "abc");
    send_text(trial, SERVER, 0, 5, "");
    expect_text(trial, CLIENT, "abcde");
    finish(trial);
}

/* Hosts take a window scale above 14 as 14 (RFC 7323). */
static void test_window_scale(void **state)
{
    struct trial *trial = trial_new(NULL, 1);

    (void)state;
    for (uint32_t half = 0; half < 2; half++) { /* the handshake */
        struct stream_segment s = segment(half, UINT32_MAX, half == CLIENT ? UINT32_MAX : 0, 0);

        s.flags = half == CLIENT ? TCP_SYN : TCP_SYN | TCP_ACK;
        s.wscale = 15;
        s.window = 1;
        trial_send(trial, s, NULL);
    }
    struct stream_segment answer = segment(SERVER, 0, 0, 0);

    answer.window = 1;
    trial_send(trial, answer, NULL);
    send_text(trial, CLIENT, 1 << 14, 0, "beyond");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_WINDOW], 1);
    send_text(trial, CLIENT, (1 << 14) - 6, 0, "within");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_WINDOW], 1);
    finish(trial);
}

/* ---- trains ---- */

/* A flow whose segments may go as trains; all bytes of its batch are x. */
static struct trial *begin_trains(uint8_t min_ttl)
{
    struct stream_config config;

    stream_config_init(&config);
    config.memory = 1 << 22;
    config.omits_edges = true;
    config.min_ttl = min_ttl;

    struct trial *const trial = trial_new(&config, 0);

    memset(trial->bytes, 'x', sizeof trial->bytes);
    return trial;
}

static struct sl_flow_packet packet_of(const struct stream_segment *s)
{
    return (struct sl_flow_packet){.sequence = s->seq,
                                   .acknowledged = s->ack,
                                   .window = s->window,
                                   .tcp_flags = s->flags,
                                   .ttl = 64,
                                   .is_usual = true};
}

/* A train ends where a TTL is too low, and where the window ends. */
static void test_end_of_train(void **state)
{
    enum { LEN = 1500, N = 41, LOW = 20 };
    struct sl_flow_packet packet[N];
    struct sl_span payload[N];
    struct trial *const trial = begin_trains(5);

    (void)state;
    shake_hands(trial);
    send_flags(trial, SERVER, 0, 0, TCP_ACK);
    for (uint32_t i = 0; i < N; i++) {
        const struct stream_segment s = segment(CLIENT, i * LEN, 0, LEN);

        packet[i] = packet_of(&s);
        packet[i].ttl = i == LOW ? 4 : 5;
        payload[i] = (struct sl_span){i * LEN, LEN};
    }
    const struct sl_batch batch = {.bytes = trial->bytes, .payload = payload};
    struct sl_flow_train train = {.flow = 1, .n = N, .packet = packet};

    assert_int_equal(stream_take_train(trial->shards, &trial->stream, &batch, &train), LOW);
    packet[LOW].ttl = 5;
    train.first = LOW;
    train.n = N - LOW;
    train.packet = &packet[LOW];
    assert_int_equal(stream_take_train(trial->shards, &trial->stream, &batch, &train), N - 1 - LOW);
    trial_flush(trial);
    assert_int_equal(trial->half[CLIENT].len, 60000);
    for (uint32_t i = 0; i < 60000; i++)
        assert_int_equal(trial->half[CLIENT].text[i], 'x');
    finish(trial);
}

static void test_timestamps(void **state)
{
    struct trial *trial = trial_new(NULL, 1);
    struct stream_segment s = segment(CLIENT, UINT32_MAX, 0, 0);

    (void)state;
    s.flags = TCP_SYN;
    s.has_timestamp = true;
    s.timestamp = UINT32_MAX - 1;
    trial_send(trial, s, NULL);
    s = segment(SERVER, UINT32_MAX, 0, 0);
    s.flags = TCP_SYN | TCP_ACK;
    s.has_timestamp = true;
    trial_send(trial, s, NULL);
    s = segment(CLIENT, 0, 0, 3);
    s.has_timestamp = true;
    s.timestamp = 5; /* wraps */
    trial_send(trial, s, "abc");
    s.seq += 3;
    s.timestamp = 4;
    trial_send(trial, s, "DEF");
    expect_text(trial, CLIENT, "abc");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_PAWS], 1);
    s.timestamp = 5;
    trial_send(trial, s, "def");
    expect_text(trial, CLIENT, "abcdef");
    finish(trial);
}

static void test_urgent(void **state)
{
    (void)state;
    for (uint32_t keeps = 0; keeps < 2; keeps++) {
        struct stream_config config;
        struct trial *trial;
        struct stream_segment s = segment(CLIENT, 0, 0, 6);

        stream_config_init(&config);
        config.memory = 1 << 20;
        config.keeps_urgent = keeps != 0;
        trial = trial_new(&config, 1);
        shake_hands(trial);
        s.flags |= TCP_URG;
        s.urgent = 3;
        trial_send(trial, s, "ab!cde");
        send_text(trial, CLIENT, 6, 0, "fg");
        send_text(trial, CLIENT, 3, 0, "cde"); /* the same again */
        trial_send(trial, s, "ab!cde");        /* and with the byte that was taken out */
        expect_text(trial, CLIENT, keeps ? "ab!cdefg" : "abcdefg");
        assert_int_equal(trial->stats.urgent, !keeps);
        assert_int_equal(trial->stats.conflicts, 0);
        finish(trial);
    }
}

static void test_fin(void **state)
{
    struct trial *trial = begin(1);
    struct stream_segment s = segment(CLIENT, 3, 0, 2);

    (void)state;
    s.flags |= TCP_FIN;
    trial_send(trial, s, "de");
    send_text(trial, CLIENT, 0, 0, "abc");
    expect_text(trial, CLIENT, "abcde");
    send_text(trial, CLIENT, 5, 0, "fgh"); /* behind the FIN */
    expect_text(trial, CLIENT, "abcde");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_FIN], 1);
    send_text(trial, SERVER, 0, 6, ""); /* of the FIN */
    expect_text(trial, CLIENT, "abcde");
    send_text(trial, SERVER, 0, 8, ""); /* but the receiver got no FIN */
    expect_text(trial, CLIENT, "abcdefgh");
    send_text(trial, CLIENT, 8, 0, "i");
    expect_text(trial, CLIENT, "abcdefghi");
    finish(trial);
}

static void test_rst(void **state)
{
    struct trial *trial = begin(1);

    (void)state;
    send_text(trial, CLIENT, 0, 0, "abc");
    send_flags(trial, CLIENT, 700, 0, TCP_RST);
    assert_int_equal(trial->events[STREAM_RST_OUT_OF_SEQUENCE], 1);
    send_text(trial, CLIENT, 3, 0, "def");
    assert_int_equal(trial->half[CLIENT].edge, 0);
    send_flags(trial, CLIENT, 6, 0, TCP_RST);
    trial_flush(trial);
    assert_int_equal(trial->half[CLIENT].edge, 6); /* all that came */
    send_text(trial, CLIENT, 6, 0, "ghi");
    expect_text(trial, CLIENT, "abcdef");
    assert_int_equal(trial->stats.doubts[SL_DOUBT_RST], 1);
    send_text(trial, SERVER, 0, 9, ""); /* the receiver got no RST */
    expect_text(trial, CLIENT, "abcdefghi");
    finish(trial);
}

static void test_midstream(void **state)
{
    struct trial *trial = trial_new(NULL, 1);

    (void)state;
    send_text(trial, SERVER, 100, 50, "abc"); /* one-sided */
    send_text(trial, SERVER, 103, 50, "def");
    expect_text(trial, SERVER, "abcdef");
    assert_int_equal(trial->half[SERVER].edge, 6);
    send_text(trial, SERVER, 98, 50, "??abc");
    assert_int_equal(trial->events[STREAM_BEFORE_BASE], 1);
    assert_int_equal(trial->stats.conflicts, 0);
    send_text(trial, CLIENT, 50, 106, "xyz");
    send_text(trial, SERVER, 106, 50, "ghi");
    trial_flush(trial);
    assert_int_equal(trial->half[SERVER].edge, 6);
    assert_int_equal(trial->half[CLIENT].edge, 0);
    send_text(trial, SERVER, 109, 53, "");
    expect_text(trial, CLIENT, "xyz");
    assert_int_equal(trial->half[CLIENT].edge, 3);
    finish(trial);
}

static void test_handshakes(void **state)
{
    struct trial *trial = trial_new(NULL, 1);

    (void)state;
    send_flags(trial, CLIENT, 7, UINT32_MAX, TCP_SYN); /* another one before */
    send_flags(trial, CLIENT, UINT32_MAX, UINT32_MAX, TCP_SYN);
    assert_int_equal(trial->events[STREAM_SYN_RESEND_OTHER_SEQ], 1);
    send_flags(trial, SERVER, UINT32_MAX, 8, TCP_SYN | TCP_ACK);
    assert_int_equal(trial->events[STREAM_SYNACK_WRONG_ACK], 1);
    send_flags(trial, SERVER, UINT32_MAX, 0, TCP_SYN | TCP_ACK);
    send_text(trial, CLIENT, 0, 0, "abc");
    send_flags(trial, CLIENT, 90, 0, TCP_SYN);
    assert_int_equal(trial->events[STREAM_EST_SYN_OTHER_SEQ], 1);
    send_text(trial, CLIENT, 3, 0, "def");
    expect_text(trial, CLIENT, "abcdef");
    send_flags(trial, SERVER, UINT32_MAX, 0, TCP_RST | TCP_ACK);
    assert_int_equal(trial->events[STREAM_RST_OUT_OF_SEQUENCE], 1);
    finish(trial);
}

/* The capture lacks the SYN. */
static void test_half_handshake(void **state)
{
    struct trial *trial = trial_new(NULL, 1);

    (void)state;
    send_flags(trial, SERVER, UINT32_MAX, 0, TCP_SYN | TCP_ACK);
    send_text(trial, CLIENT, 0, 0, "abc");
    send_text(trial, SERVER, 0, 3, "def");
    expect_text(trial, CLIENT, "abc");
    expect_text(trial, SERVER, "def");
    assert_int_equal(trial->half[CLIENT].edge, 3);
    finish(trial);
}

static void test_refused(void **state)
{
    struct trial *trial = trial_new(NULL, 1);

    (void)state;
    send_flags(trial, SERVER, 9, 0, TCP_RST | TCP_ACK);
    assert_int_equal(trial->events[STREAM_RST_NO_SESSION], 1);
    send_flags(trial, CLIENT, UINT32_MAX, 0, TCP_SYN);
    send_flags(trial, SERVER, UINT32_MAX, 0, TCP_RST | TCP_ACK);
    trial_flush(trial);
    assert_int_equal(trial->events[STREAM_RST_NO_SESSION], 1);
    finish(trial);
}

/* The events of a segment that is odd in each state of a connection. */
static void test_states(void **state)
{
    static const struct {
        uint32_t n_fins;
        uint8_t fin[4]; /* in this order: a side's FIN, or the other's acknowledgement (+2) */
        uint32_t state;
    } way[] = {
        {0, {0}, 0},
        {1, {CLIENT}, 1},
        {1, {SERVER}, 2},
        {2, {SERVER, SERVER + 2}, 3},
        {2, {CLIENT, SERVER}, 4},
        {2, {SERVER, CLIENT}, 5},
        {3, {SERVER, SERVER + 2, CLIENT}, 6},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof way / sizeof *way; i++) {
        struct trial *trial = begin(1);
        uint32_t sent[2] = {0, 0}; /* FINs */
        uint32_t acked[2] = {0, 0};

        for (uint32_t k = 0; k < way[i].n_fins; k++) {
            const uint32_t half = way[i].fin[k] % 2;

            if (way[i].fin[k] < 2)
                send_flags(trial, half, sent[half]++, acked[half ^ 1], TCP_FIN | TCP_ACK);
            else
                send_flags(trial, half ^ 1, sent[half ^ 1], acked[half] = 1, TCP_ACK);
        }
        send_text(trial, SERVER, 5, 500000, "x");
        assert_int_equal(trial->events[STREAM_STATE_INVALID_ACK + way[i].state], 1);
        assert_int_equal(trial->events[STREAM_INVALID_ACK], 1);
        send_text(trial, CLIENT, 500000, 0, "x");
        assert_int_equal(trial->events[STREAM_STATE_OUT_OF_WINDOW + way[i].state], 1);
        send_flags(trial, CLIENT, 500000, 0, TCP_FIN | TCP_ACK);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(trial->events[STREAM_STATE_FIN + k], k == way[i].state);
        send_flags(trial, CLIENT, UINT32_MAX, 0, TCP_SYN);
        assert_int_equal(trial->events[STREAM_SHUTDOWN_SYN], i != 0);
        assert_int_equal(trial->events[STREAM_EST_SYN], i == 0);
        finish(trial);
    }
}

/* SYNs that come again, from either side, before the handshake is over and after it. */
static void test_syns(void **state)
{
    static const struct {
        uint32_t half, offset, ack;
        uint8_t flags;
        enum stream_event early, late;
    } syn[] = {
        {CLIENT, 70, 0, TCP_SYN, STREAM_SYN_RESEND_OTHER_SEQ, STREAM_EST_SYN_OTHER_SEQ},
        {SERVER, 70, 0, TCP_SYN, STREAM_SYN_TO_CLIENT, STREAM_EST_SYN_TO_CLIENT},
        {CLIENT, 70, 0, TCP_SYN | TCP_ACK, STREAM_SYNACK_TO_SERVER, STREAM_EST_SYNACK_TO_SERVER},
        {SERVER, 70, 0, TCP_SYN | TCP_ACK, STREAM_SYNACK_RESEND_OTHER_SEQ,
         STREAM_EST_SYNACK_OTHER_SEQ},
        {SERVER, UINT32_MAX, 1, TCP_SYN | TCP_ACK, STREAM_SYNACK_WRONG_ACK,
         STREAM_EST_SYNACK_OTHER_ACK},
    };

    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof syn / sizeof *syn; i++) {
        const bool late = i % 2 == 1;
        struct trial *trial = trial_new(NULL, 1);

        send_flags(trial, CLIENT, UINT32_MAX, UINT32_MAX, TCP_SYN);
        send_flags(trial, SERVER, UINT32_MAX, 0, TCP_SYN | TCP_ACK);
        if (late) {
            send_text(trial, CLIENT, 0, 0, "a");
            send_text(trial, SERVER, 0, 0, "b");
        }
        send_flags(trial, syn[i / 2].half, syn[i / 2].offset, syn[i / 2].ack, syn[i / 2].flags);
        assert_int_equal(trial->events[late ? syn[i / 2].late : syn[i / 2].early], 1);
        finish(trial);
    }
}

/* ---- insertion (Ptacek and Newsham, 1998; Handley, Paxson and Kreibich, 2001) ---- */

enum { TRUTH_LEN = 3000, CUTS_MAX = 200 };

/* A segment that the receiver does not take, with other bytes. */
static void send_decoy(struct trial *trial, uint64_t *random, uint32_t next)
{
    static const char other[400] = {'X'};
    struct stream_segment s =
        segment(CLIENT, next + test_below(random, 300), 0, 1 + test_below(random, 400));

    s.has_timestamp = true;
    s.timestamp = UINT32_MAX / 2;
    switch (test_below(random, 9)) {
    case 0:
        s.bad_checksum = true;
        break;
    case 1:
        s.ttl = 1;
        break;
    case 2:
        s.timestamp = 1;
        break;
    case 3:
        s.seq += 60000 + TRUTH_LEN;
        break;
    case 4:
        s.flags = 0;
        break;
    case 5:
        s.ack += 1 << 20;
        break;
    case 6: /* a RST in sequence */
        s.flags = TCP_RST;
        s.seq = trial->stream.half[CLIENT].seq;
        s.len = 0;
        break;
    case 7: /* a FIN in sequence */
        s.timestamp = 1000;
        s.flags = TCP_FIN | TCP_ACK;
        s.seq = trial->stream.half[CLIENT].seq;
        s.len = 0;
        if (next + 800 > TRUTH_LEN)
            return;
        break;
    case 8: /* another connection's SYN */
        s.flags = TCP_SYN;
        break;
    }
    trial_send(trial, s, other);
}

/* Decoys of all kinds stand between true segments, which come in any order. The receiver takes the
 * true ones, and acknowledges them. */
static void test_insertion(void **state)
{
    static char truth[TRUTH_LEN];
    uint64_t random = 5;

    (void)state;
    for (uint32_t i = 0; i < TRUTH_LEN; i++)
        truth[i] = (char)('a' + i % 26);
    for (uint32_t round = 0; round < 300; round++) {
        struct stream_config config;
        struct trial *trial;
        struct stream_segment s = segment(CLIENT, UINT32_MAX, 0, 0);
        uint32_t next = 0;

        stream_config_init(&config);
        config.memory = 1 << 20;
        config.min_ttl = 5;
        trial = trial_new(&config, round % 4);
        for (uint32_t half = 0; half < 2; half++)
            trial->stream.half[half].policy = (uint8_t)(round % SL_N_HOST_POLICIES);
        s.has_timestamp = true;
        s.timestamp = 900;
        s.flags = TCP_SYN;
        trial_send(trial, s, NULL);
        s = segment(SERVER, UINT32_MAX, 0, 0);
        s.has_timestamp = true;
        s.flags = TCP_SYN | TCP_ACK;
        trial_send(trial, s, NULL);
        s = segment(CLIENT, 0, 0, 0);
        s.has_timestamp = true;
        s.timestamp = 950;
        trial_send(trial, s, NULL);
        while (next < TRUTH_LEN) {
            const uint32_t rest = TRUTH_LEN - next;
            const uint32_t len = 1 + test_below(&random, rest < 200 ? rest : 200);
            const uint32_t first = test_below(&random, len); /* this part comes before its begin */

            for (uint32_t part = 0; part < 2; part++) {
                const uint32_t from = part == 0 ? first : 0;
                const uint32_t n = part == 0 ? len - first : first;

                if (test_below(&random, 3) == 0)
                    send_decoy(trial, &random, next);
                s = segment(CLIENT, next + from, 0, n);
                s.has_timestamp = true;
                s.timestamp = 1000;
                trial_send(trial, s, truth + next + from);
            }
            next += len;
            send_text(trial, SERVER, 0, next, "");
        }
        trial_flush(trial);
        assert_null(trial->fault);
        assert_int_equal(trial->half[CLIENT].len, TRUTH_LEN);
        assert_memory_equal(trial->half[CLIENT].text, truth, TRUTH_LEN);
        assert_int_equal(trial->half[CLIENT].edge, TRUTH_LEN);
        trial_free(trial);
    }
}

/* CVE-2021-37592: what a server cannot have sent before its SYN+ACK. */
static void test_early(void **state)
{
    (void)state;
    for (uint32_t timed = 0; timed < 2; timed++) {
        struct trial *trial = trial_new(NULL, 1);
        struct stream_segment s = segment(CLIENT, UINT32_MAX, 0, 0);

        s.flags = TCP_SYN;
        s.has_timestamp = timed != 0;
        s.timestamp = 17;
        trial_send(trial, s, NULL);
        s = segment(SERVER, 900, 0, 0);
        s.has_timestamp = true;
        s.timestamp = s.echo = 100;
        s.flags = TCP_RST | TCP_ACK;
        trial_send(trial, s, NULL);
        s.flags = TCP_FIN | TCP_ACK;
        trial_send(trial, s, NULL);
        assert_int_equal(trial->events[STREAM_INVALID_TIMESTAMP], 2);
        s.has_timestamp = false;
        trial_send(trial, s, NULL);
        assert_int_equal(trial->stats.doubts[SL_DOUBT_EARLY], 3);
        send_flags(trial, SERVER, UINT32_MAX, 0, TCP_SYN | TCP_ACK);
        send_text(trial, CLIENT, 0, 0, "abc");
        send_text(trial, SERVER, 0, 3, "def");
        expect_text(trial, CLIENT, "abc");
        expect_text(trial, SERVER, "def");
        assert_int_equal(trial->half[CLIENT].edge, 3);
        finish(trial);
    }
}

/* Every other byte: one hole more than a half may have. */
static void test_holes(void **state)
{
    struct trial *trial = begin(0);

    (void)state;
    for (uint32_t i = 0; i < STREAM_HOLES_MAX; i++)
        send_text(trial, CLIENT, 2 * i + 1, 0, "x");
    expect_text(trial, CLIENT, "");
    send_text(trial, CLIENT, 2 * STREAM_HOLES_MAX + 1, 0, "x");
    expect_text(trial, CLIENT, "_x");
    assert_int_equal(trial->stats.gaps[SL_GAP_HOLES], 1);
    finish(trial);
}

static void test_queue_bound(void **state)
{
    struct trial *trial = begin(1);
    static char payload[1024];

    (void)state;
    memset(payload, 'x', sizeof payload);
    for (uint32_t i = 0; trial->stats.gaps[SL_GAP_QUEUE] == 0; i++) {
        /* The receiver's window grows with what it has. */
        struct stream_segment s = segment(SERVER, 0, 0, 0);

        s.window = 65535;
        s.ack += 1024 * i;
        trial->stream.half[CLIENT].window_end += 1024;
        trial_send(trial, segment(CLIENT, 1 + 1024 * i, 0, 1024), payload);
        assert_true(stream_shard_held(trial->shards) <= STREAM_QUEUE_MAX);
        assert_true(i < 256);
    }
    assert_true(trial->half[CLIENT].len > 200000);
    finish(trial);
}

/* Where one side was seen, its segments go as a train, and one of the other side does not. */
static void test_lone_train(void **state)
{
    enum { LEN = 10, N = 8, OTHER = 5 };
    struct sl_flow_packet packet[N];
    struct sl_span payload[N];
    struct trial *const trial = begin_trains(0);

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        const struct stream_segment s = segment(CLIENT, LEN + i * LEN, i * 1000, LEN);

        packet[i] = packet_of(&s);
        payload[i] = (struct sl_span){i * LEN, LEN};
    }
    packet[OTHER].sequence = 0;
    packet[OTHER].sender = 1;
    const struct sl_batch batch = {.bytes = trial->bytes, .payload = payload};
    const struct sl_flow_train train = {.flow = 1, .n = N, .packet = packet};

    send_text(trial, CLIENT, 0, 0, "0123456789");
    assert_int_equal(stream_take_train(trial->shards, &trial->stream, &batch, &train), OTHER);
    assert_int_equal(trial->stream.half[CLIENT].acked, trial->stream.half[CLIENT].seq);
    trial_flush(trial);
    assert_int_equal(trial->half[CLIENT].len, LEN + OTHER * LEN);
    assert_int_equal(trial->half[SERVER].len, 0);
    finish(trial);
}

/* Blocks for the last bytes of a half, or it is known to have none. */
static void expect_context(const struct stream_shard *shard, const struct stream *stream,
                           uint32_t half)
{
    const struct stream_rest *rest = &stream->rest[half];
    const uint64_t next = stream->half[half].next;

    if (rest->context == 0)
        assert_int_equal(rest->solid, (uint32_t)next);
    else
        assert_true(stream_context_held(shard, stream, half) >= stream_context_blocks(shard, next));
}

/* 128 KiB to 4 GiB a shard. */
static void test_memory_range(void **state)
{
    static const uint64_t least = 128 << 10, most = UINT64_C(4) << 30;
    struct stream_config config;
    struct stream_shard *shard = NULL;
    struct sl_diag diag;

    (void)state;
    stream_config_init(&config);
    config.memory = 2 * least - 1;
    assert_int_equal(stream_shards_create(&shard, 2, &config, &diag), SL_EINVAL);
    config.memory = 2 * most + 2;
    assert_int_equal(stream_shards_create(&shard, 2, &config, &diag), SL_EINVAL);
    config.memory = 2 * least;
    assert_int_equal(stream_shards_create(&shard, 2, &config, &diag), SL_OK);
    stream_shards_free(shard, 2);
}

/* The flow that has waited for the longest gives way. */
static void test_memory_bound(void **state)
{
    enum { FLOWS = 64, LEN = 4000 };
    struct stream_config config;
    struct stream_shard *shard;
    struct stream_output output = {0};
    static struct stream stream[FLOWS];
    static const uint8_t payload[LEN];
    uint32_t next = 1;

    (void)state;
    stream_config_init(&config);
    config.memory = 128 << 10;
    assert_int_equal(stream_shards_create(&shard, 1, &config, NULL), SL_OK);
    stream_shard_begin(shard, &output, payload);
    for (uint32_t i = 0; i < 2 * FLOWS; i++) {
        struct stream_segment s = segment(CLIENT, i < FLOWS ? 0 : 10, 0, i < FLOWS ? 0 : LEN);

        s.ttl = 64;
        stream_take(shard, &stream[i % FLOWS], 1 + i % FLOWS, &s);
        assert_true(stream_shard_held(shard) <= config.memory);
        for (uint32_t flow = 0; flow < FLOWS; flow++)
            expect_context(shard, &stream[flow], CLIENT);
    }
    for (uint32_t i = 1; i < output.n; i++)
        if (output.record[i].kind == STREAM_GAP) {
            assert_int_equal(output.record[i].flow, next++);
            assert_int_equal(output.record[i].cause, SL_GAP_MEMORY);
        }
    assert_true(next > FLOWS / 2);
    assert_int_equal(output.stats.gaps[SL_GAP_MEMORY], next - 1);
    for (uint32_t i = 0; i < FLOWS; i++)
        stream_end(shard, &stream[i], 1 + i, 0);
    assert_int_equal(stream_shard_held(shard), 0);
    stream_shard_end(shard);
    stream_output_free(&output);
    stream_shards_free(shard, 1);
}

/* Random flows. $SLUICE_TEST_STREAMS lengthens the trial. */
static void test_operations(void **state)
{
    const char *wanted = getenv("SLUICE_TEST_STREAMS");
    const long n = wanted != NULL ? strtol(wanted, NULL, 10) : 400;
    uint64_t random = 1, n_trained = 0;
    uint8_t input[8 * 300];

    (void)state;
    for (long i = 0; i < n; i++) {
        const uint64_t seed = random;

        for (size_t at = 0; at < sizeof input; at++)
            input[at] = (uint8_t)(test_random(&random) >> 56);
        for (size_t at = 8; at < sizeof input && i % 2 == 0; at += 8) {
            input[at] = (uint8_t)((input[at] & 0x41) | (i % 4 == 0 ? 0x10 : 0)); /* few flags */
            input[at + 4] &= 7;
            if (i % 8 == 4)
                input[at] |= 0x20; /* times that go on, and back at times */
            if (i % 8 == 4 && at % 64 != 0)
                input[at + 6] = (uint8_t)(at / 16);
        }
        const char *fault = stream_operations_check(input, sizeof input, &n_trained);

        if (fault != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, fault);
    }
    assert_true(n_trained > (uint64_t)n);
}

/* What the lent memory lacks comes from the heap, with what was there. */
static void test_lent_memory(void **state)
{
    enum { N_RECORDS = 100, LEN_COPIED = 4, SEGMENTS = N_RECORDS + 10 };
    struct trial *trial = trial_new(NULL, 0);
    struct stream_record record[N_RECORDS];
    _Alignas(8) uint8_t copied[LEN_COPIED];

    (void)state;
    stream_output_lend_copied(&trial->output, copied, sizeof copied);
    stream_output_lend_records(&trial->output, record, N_RECORDS);
    for (uint32_t batch = 0; batch < 3; batch++) {
        const uint32_t n = batch == 0 ? N_RECORDS / 4 : SEGMENTS;

        for (uint32_t i = 0; i < n; i++)
            send_text(trial, CLIENT, trial->half[CLIENT].len + i, 0, "a");
        assert_int_equal(trial->output.record == record, batch == 0);
        trial_flush(trial);
    }
    assert_int_equal(trial->half[CLIENT].len, N_RECORDS / 4 + 2 * SEGMENTS);
    assert_true(trial->output.copied != copied);
    finish(trial);
}

/* Records that were lent are gone with their memory; others stay the output's. */
static void test_returned_memory(void **state)
{
    struct stream_record few[4], *const many = malloc(sizeof few);
    struct stream_output output = {0};

    (void)state;
    stream_output_lend_records(&output, few, 4);
    assert_true(output.record == few && output.max == 4);
    stream_output_return_records(&output);
    assert_true(output.record == NULL && output.max == 0);
    output.record = many;
    output.max = 4;
    stream_output_lend_records(&output, few, 4);
    stream_output_return_records(&output);
    assert_true(output.record == many && output.max == 4);
    stream_output_free(&output);
}

/* ---- flows that share memory ---- */

enum { SHARED_FLOWS = 300, SHARED_SEGMENTS = 6000, SHARED_LEN_MAX = 700, CONTEXT_LEN = 4096 };

struct shared {
    struct stream_shard *shard;
    struct stream_output output;
    struct stream stream[SHARED_FLOWS];
    uint64_t bytes[SHARED_FLOWS][2]; /* a hash of each half's bytes and gaps */
    uint64_t others;                 /* and one of all other records, in order */
    struct sl_stream_stats stats;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001B3);
}

static void end_shared_batch(struct shared *shared, const uint8_t *bytes)
{
    const struct sl_stream_stats *more = &shared->output.stats;

    stream_shard_end(shared->shard);
    for (uint32_t i = 1; i < shared->output.n; i++) {
        const struct stream_record *r = &shared->output.record[i];
        const uint8_t *from = (r->kind == STREAM_PACKET ? bytes : shared->output.copied) + r->at;
        uint64_t *hash = &shared->bytes[r->flow - 1][r->half];

        if (r->kind == STREAM_PACKET || r->kind == STREAM_COPIED)
            for (uint32_t k = 0; k < r->len; k++)
                *hash = mix(*hash, from[k]);
        else if (r->kind == STREAM_GAP)
            *hash = mix(*hash, 1000 + r->len * UINT64_C(8) + r->cause);
        if (r->kind > STREAM_CONTEXT)
            shared->others = mix(shared->others, r->flow << 40 ^ r->offset << 16 ^ r->item << 8 ^
                                                     r->kind << 4 ^ r->half);
    }
    shared->stats.contexts_lost += more->contexts_lost;
    shared->stats.gaps[SL_GAP_MEMORY] += more->gaps[SL_GAP_MEMORY];
}

static void play_shared(struct shared *shared, uint32_t context_len, uint32_t batch_len)
{
    static uint8_t bytes[SHARED_LEN_MAX];
    struct stream_config config;
    uint64_t random = 99;

    memset(shared, 0, sizeof *shared);
    stream_config_init(&config);
    config.memory = 128 << 10;
    config.context_len = context_len;
    assert_int_equal(stream_shards_create(&shared->shard, 1, &config, NULL), SL_OK);
    stream_shard_begin(shared->shard, &shared->output, bytes);
    for (uint32_t i = 0; i < SHARED_SEGMENTS; i++) {
        const uint32_t flow = test_below(&random, SHARED_FLOWS);
        struct stream_segment s =
            segment(test_below(&random, 4) == 0, test_below(&random, 3000),
                    test_below(&random, 3000), test_below(&random, SHARED_LEN_MAX));

        s.item = i;
        s.ttl = 64;
        if (test_below(&random, 50) == 0)
            stream_end(shared->shard, &shared->stream[flow], 1 + flow, i);
        stream_take(shared->shard, &shared->stream[flow], 1 + flow, &s);
        if ((i + 1) % batch_len == 0) {
            end_shared_batch(shared, bytes);
            stream_shard_begin(shared->shard, &shared->output, bytes);
        }
        assert_true(stream_shard_held(shared->shard) <= config.memory);
    }
    for (uint32_t flow = 0; flow < SHARED_FLOWS; flow++)
        stream_end(shared->shard, &shared->stream[flow], 1 + flow, SHARED_SEGMENTS);
    assert_int_equal(stream_shard_held(shared->shard), 0);
    end_shared_batch(shared, bytes);
    stream_output_free(&shared->output);
    stream_shards_free(shared->shard, 1);
}

/* The loss of bytes and contexts depends on no cut. */
static void check_shared_memory(uint32_t context_len)
{
    static struct shared whole, cut;

    play_shared(&whole, context_len, SHARED_SEGMENTS + 1);
    assert_true(whole.stats.contexts_lost > 100);
    assert_true(whole.stats.gaps[SL_GAP_MEMORY] > 100);
    for (uint32_t batch_len = 1; batch_len < 200; batch_len += 33) {
        play_shared(&cut, context_len, batch_len);
        assert_memory_equal(cut.bytes, whole.bytes, sizeof cut.bytes);
        assert_int_equal(cut.others, whole.others);
        assert_int_equal(cut.stats.contexts_lost, whole.stats.contexts_lost);
    }
}

static void test_shared_memory(void **state)
{
    (void)state;
    check_shared_memory(100);
    check_shared_memory(CONTEXT_LEN);
}

/* Pieces beyond holes take all blocks but a few. */
static void crowd(struct shared *shared, uint64_t memory)
{
    enum { PIECES = 60, FEW = 1 << 10 /* bytes */ };

    for (uint32_t i = 0; stream_shard_held(shared->shard) + FEW < memory; i++) {
        const uint32_t flow = 1 + i / PIECES, number = i % PIECES;
        const struct stream_segment s = segment(0, 200 * number, 0, number == 0 ? 1 : 100);

        stream_take(shared->shard, &shared->stream[flow], 1 + flow, &s);
    }
}

/* A context that finds no room is given up, and the bytes come all the same. */
static void test_pieces_leave_no_room_for_a_context(void **state)
{
    static struct shared shared;
    static uint8_t bytes[SHARED_LEN_MAX];
    struct stream_config config;
    uint64_t n = 0;

    (void)state;
    stream_config_init(&config);
    config.memory = 128 << 10;
    config.context_len = CONTEXT_LEN;
    assert_int_equal(stream_shards_create(&shared.shard, 1, &config, NULL), SL_OK);
    stream_shard_begin(shared.shard, &shared.output, bytes);
    crowd(&shared, config.memory);
    for (uint32_t i = 0; i < 30; i++) {
        const struct stream_segment s = segment(0, i * SHARED_LEN_MAX, 0, SHARED_LEN_MAX);

        stream_take(shared.shard, &shared.stream[0], 1, &s);
    }
    stream_shard_end(shared.shard);
    for (uint32_t i = 1; i < shared.output.n; i++)
        if (shared.output.record[i].flow == 1 && shared.output.record[i].kind == STREAM_PACKET)
            n += shared.output.record[i].len;
    assert_int_equal(n, 30 * SHARED_LEN_MAX);
    assert_in_range(shared.output.stats.contexts_lost, 1, 100);
    assert_int_equal(shared.output.stats.gaps[SL_GAP_MEMORY], 0);
    stream_output_free(&shared.output);
    stream_shards_free(shared.shard, 1);
}

static void test_names(void **state)
{
    enum sl_host_policy policy;

    (void)state;
    for (uint32_t i = 0; i < SL_N_HOST_POLICIES; i++) {
        const char *name = sl_host_policy_name((enum sl_host_policy)i);

        assert_int_equal(sl_host_policy_parse(&policy, name, strlen(name)), SL_OK);
        assert_int_equal(policy, i);
    }
    assert_int_equal(sl_host_policy_parse(&policy, "vista", 5), SL_EINVAL);
    for (uint32_t i = 0; i < STREAM_N_EVENTS; i++)
        assert_non_null(stream_event_name((enum stream_event)i));
    for (uint32_t i = 0; i < SL_N_GAPS; i++)
        assert_non_null(sl_stream_gap_name((enum sl_stream_gap)i));
    for (uint32_t i = 0; i < SL_N_DOUBTS; i++)
        assert_non_null(sl_stream_doubt_name((enum sl_stream_doubt)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_retransmission),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_missing_tails),
        cmocka_unit_test(test_snapped),
        cmocka_unit_test(test_syn_payload),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_window_scale),
        cmocka_unit_test(test_end_of_train),
        cmocka_unit_test(test_lone_train),
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_urgent),
        cmocka_unit_test(test_fin),
        cmocka_unit_test(test_rst),
        cmocka_unit_test(test_midstream),
        cmocka_unit_test(test_handshakes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_half_handshake),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_insertion),
        cmocka_unit_test(test_syns),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_queue_bound),
        cmocka_unit_test(test_memory_range),
        cmocka_unit_test(test_memory_bound),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_lent_memory),
        cmocka_unit_test(test_returned_memory),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_pieces_leave_no_room_for_a_context),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
