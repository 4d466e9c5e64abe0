/* SPDX-License-Identifier: MIT */
/* Reassembly beside the slow way, which keeps every segment and decides byte by byte. */
#include "test.h"

#include "stream/stream_tcp.h"
#include "stream_ref.h"
#include "stream_trial.h"

enum { CLIENT, SERVER, CLIENT_ISN = -1000 /* wraps */, SERVER_ISN = 50, STEPS = 100 };

/* The same segments for both. */
struct duel {
    struct trial *trial;
    struct stream_ref ref;
    uint64_t random;
    uint32_t sent; /* the offset behind all bytes that were sent */
    bool has_server;
};

static struct stream_segment make_segment(uint32_t half, uint32_t seq, uint32_t ack, uint8_t flags)
{
    return (struct stream_segment){
        .half = (uint8_t)half,
        .seq = (half != SERVER ? (uint32_t)CLIENT_ISN : SERVER_ISN) + seq,
        .ack = (half != SERVER ? SERVER_ISN : (uint32_t)CLIENT_ISN) + ack,
        .flags = flags,
        .window = 65535,
        .wscale = STREAM_NO_WSCALE,
        .has_timestamp = half == CLIENT,
        .timestamp = 1000};
}

static struct duel *begin(enum sl_host_policy policy, bool has_server, uint32_t batch_len)
{
    struct duel *duel = calloc(1, sizeof *duel);

    assert_non_null(duel);
    stream_ref_begin(&duel->ref, policy, has_server);
    duel->has_server = has_server;
    duel->trial = trial_new(NULL, batch_len);
    duel->trial->stream.half[CLIENT].policy = (uint8_t)policy;
    struct stream_segment syn_ack = make_segment(SERVER, 0, 1, TCP_SYN | TCP_ACK);
    syn_ack.has_timestamp = true;
    trial_send(duel->trial, make_segment(CLIENT, 0, 0, TCP_SYN), NULL);
    if (has_server)
        trial_send(duel->trial, syn_ack, NULL);
    trial_send(duel->trial, make_segment(CLIENT, 1, 1, TCP_ACK), NULL);
    return duel;
}

/* Bytes that a receiver takes, with others behind them that the capture has cut off. */
static void take(struct duel *duel, uint32_t offset, const void *bytes, uint32_t len, uint32_t cut)
{
    struct stream_segment s = make_segment(CLIENT, 1 + offset, 1, TCP_ACK);

    s.len = len;
    s.snapped = cut;
    trial_send(duel->trial, s, bytes);
    stream_ref_take(&duel->ref, STREAM_REF_TAKEN, offset, bytes, len);
    if (cut != 0)
        stream_ref_take(&duel->ref, STREAM_REF_CUT, offset + len, NULL, cut);
}

/* Bytes that none takes: without ACK (RFC 793), with an old timestamp (RFC 7323). */
static void refuse(struct duel *duel, uint32_t offset, const void *bytes, uint32_t len)
{
    const bool is_old = !duel->has_server || test_below(&duel->random, 2) == 0;
    struct stream_segment s = make_segment(CLIENT, 1 + offset, 1, is_old ? TCP_ACK : 0);

    s.len = len;
    s.timestamp = is_old ? 5 : s.timestamp;
    trial_send(duel->trial, s, bytes);
    stream_ref_take(&duel->ref, STREAM_REF_REFUSED, offset, bytes, len);
}

static void acknowledge(struct duel *duel, uint32_t behind)
{
    trial_send(duel->trial, make_segment(SERVER, 1, 1 + behind, TCP_ACK), NULL);
    stream_ref_acknowledge(&duel->ref, behind);
}

static void compare(struct duel *duel)
{
    const struct trial_half *const half = &duel->trial->half[CLIENT];

    trial_flush(duel->trial);
    assert_null(duel->trial->fault);
    assert_int_equal(half->len, duel->ref.next);
    assert_memory_equal(half->text, duel->ref.text, half->len);
    assert_int_equal(half->edge, stream_ref_edge(&duel->ref));
    assert_memory_equal(duel->trial->stats.gap_bytes, duel->ref.gap_bytes,
                        sizeof duel->ref.gap_bytes);
}

static void end(struct duel *duel)
{
    trial_end(duel->trial);
    stream_ref_end(&duel->ref);
    duel->ref.acked = duel->ref.next < duel->ref.acked ? duel->ref.next : duel->ref.acked;
    assert_null(duel->trial->fault);
    assert_int_equal(duel->trial->half[CLIENT].len, duel->ref.next);
    assert_memory_equal(duel->trial->half[CLIENT].text, duel->ref.text, duel->ref.next);
    assert_memory_equal(duel->trial->stats.gap_bytes, duel->ref.gap_bytes,
                        sizeof duel->ref.gap_bytes);
    trial_free(duel->trial);
    free(duel);
}

static uint32_t below(struct duel *duel, uint32_t n)
{
    return test_below(&duel->random, n);
}

/* Bytes of a segment are its own, so that those that win can be seen. Most lie near the first hole:
 * out of order, again, over others. */
static void play_segment(struct duel *duel)
{
    uint8_t bytes[200];
    const uint32_t len = 1 + below(duel, below(duel, 3) == 0 ? sizeof bytes : 12);
    const uint32_t back = below(duel, 20), next = duel->ref.next;
    uint32_t offset = next > back ? next - back + below(duel, 80) : below(duel, 80);

    if (below(duel, 4) == 0)
        offset = duel->sent;
    if (offset + 2 * sizeof bytes > STREAM_REF_MAX)
        return;
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(33 + (duel->ref.n_segments + i / 7) % 62);
    duel->sent = offset + len > duel->sent ? offset + len : duel->sent;
    if (below(duel, 6) == 0)
        refuse(duel, offset, bytes, len);
    else
        take(duel, offset, bytes, len, below(duel, 12) == 0 ? 1 + below(duel, 30) : 0);
}

static void play(struct duel *duel, bool compares)
{
    for (uint32_t i = 0; i < STEPS; i++) {
        if (duel->has_server && below(duel, 8) == 0)
            acknowledge(duel, below(duel, 2) == 0 ? duel->ref.next : below(duel, duel->sent + 20));
        else
            play_segment(duel);
        if (compares)
            compare(duel);
    }
}

/* Segments in any order, cut, lost, sent again with other bytes, in batches of any length. */
static void test_random_overlaps(void **state)
{
    const uint32_t n = test_fewer(960, 240) * test_times();

    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        struct duel *duel = begin((enum sl_host_policy)(i % SL_N_HOST_POLICIES), i % 5 != 0, i % 7);

        duel->random = i + 1;
        play(duel, i / SL_N_HOST_POLICIES % 2 == 0);
        end(duel);
    }
}

/* All three segments within seven bytes behind a hole, whatever their order: each policy by each
 * overlap of pieces that were trimmed before. */
static void test_all_of_three(void **state)
{
    enum { WIDTH = 4, RANGES = WIDTH * (WIDTH + 1) / 2 };
    uint32_t range[RANGES][2], n = 0;

    (void)state;
    for (uint32_t from = 0; from < WIDTH; from++)
        for (uint32_t to = from + 1; to <= WIDTH; to++) {
            range[n][0] = from;
            range[n++][1] = to;
        }
    for (uint32_t i = 0; i < SL_N_HOST_POLICIES * RANGES * RANGES * RANGES;
         i += test_fewer(1, 17)) {
        struct duel *duel = begin((enum sl_host_policy)(i % SL_N_HOST_POLICIES), false, 0);

        for (uint32_t k = 0, rest = i / SL_N_HOST_POLICIES; k < 3; k++, rest /= RANGES) {
            const uint32_t *const r = range[rest % RANGES];

            take(duel, 1 + r[0], (const char *[]){"1111", "2222", "3333"}[k], r[1] - r[0], 0);
        }
        end(duel);
    }
}

/* Shankar and Paxson, Active Mapping, 2003: six fragments tell systems apart. Their policies of TCP
 * are of the same names. */
static void test_active_mapping(void **state)
{
    static const struct {
        uint32_t offset;
        const char *text;
    } sent[] = {{0, "111"}, {4, "22"}, {6, "333"}, {1, "4444"}, {6, "555"}, {9, "666"}};
    static const struct {
        enum sl_host_policy policy;
        const char *text;
    } expected[] = {{SL_HOST_BSD, "111442333666"},
                    {SL_HOST_FIRST, "111422333666"},
                    {SL_HOST_LAST, "144442555666"},
                    {SL_HOST_SOLARIS, "144422555666"} /* BSD-right */};

    (void)state;
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct duel *duel = begin(expected[i].policy, true, 1);

        for (uint32_t k = 0; k < 6; k++)
            take(duel, 1 + sent[k].offset, sent[k].text, (uint32_t)strlen(sent[k].text), 0);
        take(duel, 0, ".", 1, 0);
        compare(duel);
        assert_memory_equal(duel->ref.text + 1, expected[i].text, 12);
        end(duel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_active_mapping),
        cmocka_unit_test(test_all_of_three),
        cmocka_unit_test(test_random_overlaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
