/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "stream/test/defrag_trial.h"

enum { LINK_LEN = 14, IPV4_LEN = 24 /* with an option */, IPV6_LEN = 48 /* with hop-by-hop */ };

static void put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

/* A frame whose IP payload are n bytes; those of UDP without a checksum. */
static uint32_t make_frame(uint8_t *frame, bool is_ipv6, const uint8_t *payload, uint32_t n)
{
    uint8_t *ip = frame + LINK_LEN;
    const uint32_t headers_len = is_ipv6 ? IPV6_LEN : IPV4_LEN;
    uint32_t sum = 0;

    memset(frame, 0, LINK_LEN + headers_len);
    memset(frame, 0x5A, 12);
    put16(frame + 12, is_ipv6 ? 0x86DD : 0x0800);
    if (is_ipv6) {
        ip[0] = 0x60;
        put16(ip + 4, IPV6_LEN - 40 + n);
        ip[23] = 1;
        ip[39] = 2;
        ip[40] = SL_IP_UDP;
        ip[42] = 1; /* PadN */
        ip[43] = 4;
    } else {
        ip[0] = 0x40 | IPV4_LEN / 4;
        put16(ip + 2, IPV4_LEN + n);
        put16(ip + 4, 77);
        ip[8] = 64;
        ip[9] = SL_IP_UDP;
        ip[15] = 1;
        ip[19] = 2;
        memset(ip + 20, 1, 4);
        for (uint32_t i = 0; i < IPV4_LEN; i += 2)
            sum += (uint32_t)ip[i] << 8 | ip[i + 1];
        sum = (sum & 0xFFFF) + (sum >> 16);
        put16(ip + 10, ~(sum + (sum >> 16)));
    }
    memcpy(ip + headers_len, payload, n);
    return LINK_LEN + headers_len + n;
}

/* The frame of a fragment of such a frame. */
static uint32_t make_fragment(uint8_t *out, const uint8_t *frame, uint32_t offset, uint32_t n,
                              bool more)
{
    const bool is_ipv6 = frame[12] == 0x86;
    const uint32_t headers_len = LINK_LEN + (is_ipv6 ? IPV6_LEN : IPV4_LEN);
    uint8_t *ip = out + LINK_LEN;
    uint32_t len = headers_len;

    memcpy(out, frame, headers_len);
    if (is_ipv6) {
        memset(out + len, 0, 8);
        out[len] = SL_IP_UDP;
        put16(out + len + 2, offset | more);
        out[len + 7] = 9;
        len += 8;
        ip[40] = 44;
        put16(ip + 4, IPV6_LEN - 40 + 8 + n);
    } else {
        put16(ip + 2, IPV4_LEN + n);
        put16(ip + 6, offset / 8 | (more ? 0x2000 : 0));
    }
    memcpy(out + len, frame + headers_len + offset, n);
    return len + n;
}

struct joining {
    struct defrag *defrag;
    struct sl_batch *batch;
    struct defrag_datagram datagram;
    uint8_t policy;
    int64_t time;
};

static struct joining begin(uint64_t memory)
{
    struct joining joining = {.time = 1};
    struct defrag_config config;

    defrag_config_init(&config);
    config.memory = memory;
    assert_int_equal(defrag_create(&joining.defrag, &config, NULL), SL_OK);
    assert_int_equal(sl_batch_create(&joining.batch, 1 << 17, 4, NULL), SL_OK);
    return joining;
}

static void end(struct joining *joining)
{
    defrag_free(joining->defrag);
    sl_batch_free(joining->batch);
}

/* Dissects a frame and takes it. False: it is no fragment, or the datagram is not whole. */
static bool take(struct joining *joining, const uint8_t *frame, uint32_t len, uint32_t wire_len)
{
    struct sl_dissect_stats stats = {0};
    struct defrag_fragment fragment;

    sl_batch_reset(joining->batch);
    sl_batch_add(joining->batch, frame, len, 0);
    joining->batch->origin[0].wire_len = wire_len;
    joining->batch->origin[0].link_type = 1;
    joining->batch->origin[0].time_ns = joining->time;
    sl_dissect(joining->batch, &stats);
    if (!defrag_read(&fragment, joining->batch, 0))
        return false;
    fragment.policy = joining->policy;
    return defrag_take(joining->defrag, &fragment, &joining->datagram).is_whole;
}

static bool send(struct joining *joining, const uint8_t *frame, uint32_t offset, uint32_t n,
                 bool more)
{
    static uint8_t fragment[70000];
    const uint32_t len = make_fragment(fragment, frame, offset, n, more);

    return take(joining, fragment, len, len);
}

static void shuffle(uint32_t *order, uint32_t n, uint64_t *random)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = test_below(random, i), held = order[i - 1];

        order[i - 1] = order[j];
        order[j] = held;
    }
}

/* Any cut, in any order, with repetitions, gives the frame that was cut. */
static void test_join(void **state)
{
    static uint8_t payload[65000], frame[66000];
    uint64_t random = 7;

    (void)state;
    for (uint32_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)(test_random(&random) >> 40);
    for (uint32_t trial = 0; trial < 300; trial++) {
        struct joining joining = begin(1 << 20);
        const uint32_t n = 9 + test_below(&random, trial % 10 == 0 ? 60000 : 3000);
        const uint32_t len = make_frame(frame, trial % 2 == 1, payload, n);
        const uint32_t cut = 8 * (1 + test_below(&random, n / 8));
        const uint32_t n_cuts = (n + cut - 1) / cut;
        uint32_t order[10000];

        joining.policy = (uint8_t)(trial % SL_N_HOST_POLICIES);
        shuffle(order, n_cuts, &random);
        for (uint32_t i = 0; i < n_cuts && n_cuts > 1; i++) {
            const uint32_t at = order[i] * cut;
            const bool is_last = order[i] == n_cuts - 1;
            const bool whole = send(&joining, frame, at, is_last ? n - at : cut, !is_last);

            assert_int_equal(whole, i == n_cuts - 1);
            if (i == 0 && n_cuts > 2)
                assert_false(send(&joining, frame, at, is_last ? n - at : cut, !is_last));
        }
        if (n_cuts > 1) {
            assert_int_equal(joining.datagram.len, len);
            assert_memory_equal(joining.datagram.bytes, frame, len);
            assert_int_equal(defrag_get_stats(joining.defrag)->joined, 1);
            assert_int_equal(defrag_get_stats(joining.defrag)->conflicts, 0);
        }
        assert_int_equal(defrag_held(joining.defrag), 0);
        end(&joining);
    }
}

/* Each shape of two fragments that overlap, for each policy. The last fragment comes at the end. */
static void test_overlap(void **state)
{
    static const uint32_t shape[9][4] = {/* in 8 bytes: original, new */
                                         {2, 6, 1, 4}, {2, 6, 1, 6}, {2, 6, 1, 7},
                                         {2, 6, 2, 4}, {2, 6, 2, 6}, {2, 6, 2, 7},
                                         {2, 6, 3, 5}, {2, 6, 3, 6}, {2, 6, 3, 7}};
    static const char *const wins[SL_N_HOST_POLICIES] = {
        [SL_HOST_FIRST] = "000000000",      [SL_HOST_LAST] = "111111111",
        [SL_HOST_BSD] = "111000000",        [SL_HOST_WINDOWS] = "001000000",
        [SL_HOST_WINDOWS2K3] = "001000000", [SL_HOST_IRIX] = "111000000",
        [SL_HOST_HPUX10] = "111000000",     [SL_HOST_MACOS] = "000000000",
        [SL_HOST_LINUX] = "111111000",      [SL_HOST_OLD_LINUX] = "111111000",
        [SL_HOST_SOLARIS] = "011000000",    [SL_HOST_HPUX11] = "000000000"};

    (void)state;
    for (uint32_t trial = 0; trial < 2 * 9 * SL_N_HOST_POLICIES; trial++) {
        const uint32_t *s = shape[trial % 9];
        const uint32_t policy = trial / 9 % SL_N_HOST_POLICIES;
        uint8_t payload[80], frame[200], other[200], expected[80];
        struct joining joining = begin(1 << 20);

        memset(payload, 'a', sizeof payload);
        memset(expected, 'A', sizeof expected);
        make_frame(frame, trial % 2 == 1, payload, sizeof payload);
        make_frame(other, trial % 2 == 1, expected, sizeof expected);
        for (uint32_t i = s[0]; i < s[1]; i++) /* the original, but where the new wins */
            if (i < s[2] || i >= s[3] || wins[policy][trial % 9] == '0')
                memset(expected + 8 * i, 'a', 8);
        joining.policy = (uint8_t)policy;
        assert_false(send(&joining, frame, 8 * s[0], 8 * (s[1] - s[0]), true));
        assert_false(send(&joining, other, 8 * s[2], 8 * (s[3] - s[2]), true));
        assert_int_equal(defrag_get_stats(joining.defrag)->conflicts, 1);
        joining.policy = SL_HOST_FIRST; /* the rest yields */
        assert_false(send(&joining, other, 0, 72, true));
        assert_true(send(&joining, other, 72, 8, false));
        assert_memory_equal(joining.datagram.bytes + joining.datagram.len - sizeof expected,
                            expected, sizeof expected);
        end(&joining);
    }
}

static void test_faults(void **state)
{
    static uint8_t payload[65000], frame[66000], fragment[66000];
    struct joining joining = begin(1 << 20);
    const struct sl_fragment_stats *stats = defrag_get_stats(joining.defrag);
    uint32_t len;

    (void)state;
    make_frame(frame, false, payload, 64000);
    assert_false(send(&joining, frame, 0, 12, true));
    assert_int_equal(stats->faults[SL_FRAGMENT_LENGTH], 1);
    len = make_fragment(fragment, frame, 0, 800, true);
    assert_false(take(&joining, fragment, len - 100, len));
    assert_int_equal(stats->faults[SL_FRAGMENT_SNAPPED], 1);
    make_fragment(fragment, frame, 0, 2000, false);
    put16(fragment + LINK_LEN + 6, 65000 / 8);
    assert_false(take(&joining, fragment, LINK_LEN + IPV4_LEN + 2000, LINK_LEN + IPV4_LEN + 2000));
    assert_int_equal(stats->faults[SL_FRAGMENT_TOO_LONG], 1);
    assert_int_equal(defrag_held(joining.defrag), 0);
    assert_false(send(&joining, frame, 80, 80, true));
    assert_false(send(&joining, frame, 8, 72, false)); /* ends before */
    assert_int_equal(stats->overlaps, 0);
    assert_false(send(&joining, frame, 8, 80, false)); /* and in a piece */
    assert_int_equal(stats->overlaps, 1);
    assert_false(send(&joining, frame, 160, 80, false));
    assert_false(send(&joining, frame, 240, 80, true)); /* behind the last */
    assert_int_equal(stats->faults[SL_FRAGMENT_ENDS], 3);
    assert_int_equal(stats->overlaps, 1);
    assert_true(send(&joining, frame, 0, 80, true));
    assert_int_equal(stats->tiny, 0);
    end(&joining);
}

/* Adds options of 1 byte to a fragment's first header. Returns the fragment's length. */
static uint32_t pad_headers(uint8_t *fragment, uint32_t len, uint32_t n)
{
    const bool is_ipv6 = fragment[12] == 0x86;
    uint8_t *ip = fragment + LINK_LEN;
    uint8_t *at = ip + (is_ipv6 ? IPV6_LEN : IPV4_LEN);
    uint8_t *total_len = ip + (is_ipv6 ? 4 : 2);

    memmove(at + n, at, (size_t)(fragment + len - at));
    memset(at, is_ipv6 ? 0 : 1, n);
    if (is_ipv6)
        ip[41] += (uint8_t)(n / 8);
    else
        ip[0] += (uint8_t)(n / 4);
    put16(total_len, ((uint32_t)total_len[0] << 8 | total_len[1]) + n);
    return len + n;
}

/* The headers of the first fragment are kept up to a limit. */
static void test_long_headers(void **state)
{
    static uint8_t frame[200], fragment[DEFRAG_HEADERS_MAX + 200];
    const uint8_t payload[64] = {0};

    (void)state;
    make_frame(frame, true, payload, sizeof payload);
    for (uint32_t over = 0; over <= 8; over += 8) {
        struct joining joining = begin(1 << 20);
        const struct sl_fragment_stats *stats = defrag_get_stats(joining.defrag);
        uint32_t len = make_fragment(fragment, frame, 0, 32, true);

        len = pad_headers(fragment, len, DEFRAG_HEADERS_MAX - IPV6_LEN + over);
        assert_false(take(&joining, fragment, len, len));
        assert_int_equal(stats->faults[SL_FRAGMENT_HEADERS], over != 0);
        assert_int_equal(send(&joining, frame, 32, 32, false), over == 0);
        end(&joining);
    }
}

/* The first fragment's headers decide whether the datagram fits. The last has shorter ones. */
static void test_longest(void **state)
{
    enum { LONGEST = 65535, PAD = 8, CUT = 32000 };
    static uint8_t payload[LONGEST], frame[66000], fragment[66000];

    (void)state;
    for (uint32_t trial = 0; trial < 4; trial++) {
        const bool is_ipv6 = trial % 2 == 1, fits = trial < 2;
        const uint32_t headers_len = PAD + (is_ipv6 ? IPV6_LEN - 40 : IPV4_LEN);
        const uint32_t n = LONGEST - headers_len + !fits;
        struct joining joining = begin(1 << 20);
        const struct sl_fragment_stats *stats = defrag_get_stats(joining.defrag);
        uint32_t len;

        make_frame(frame, is_ipv6, payload, n);
        len = make_fragment(fragment, frame, 0, CUT, true);
        len = pad_headers(fragment, len, PAD);
        assert_false(take(&joining, fragment, len, len));
        assert_int_equal(send(&joining, frame, CUT, n - CUT, false), fits);
        assert_int_equal(stats->joined, fits);
        assert_int_equal(stats->faults[SL_FRAGMENT_TOO_LONG], !fits);
        end(&joining);
    }
}

/* The transport header lies in two fragments. */
static void test_tiny(void **state)
{
    static uint8_t frame[200];
    const uint8_t payload[64] = {1, 2, 3};
    struct joining joining = begin(1 << 20);

    (void)state;
    make_frame(frame, false, payload, sizeof payload);
    frame[LINK_LEN + 9] = SL_IP_TCP;
    assert_false(send(&joining, frame, 0, 8, true));
    assert_int_equal(defrag_get_stats(joining.defrag)->tiny, 1);
    assert_true(send(&joining, frame, 8, 56, false));
    end(&joining);
}

static void test_timeout(void **state)
{
    static uint8_t frame[200];
    const uint8_t payload[64] = {0};
    struct joining joining = begin(1 << 20);

    (void)state;
    make_frame(frame, false, payload, sizeof payload);
    assert_false(send(&joining, frame, 0, 32, true));
    joining.time += INT64_C(61000000000);
    assert_false(send(&joining, frame, 32, 32, false));
    assert_int_equal(defrag_get_stats(joining.defrag)->timed_out, 1);
    assert_true(send(&joining, frame, 0, 32, true));
    assert_false(send(&joining, frame, 0, 32, true));
    joining.time = 1; /* the clock is set back */
    assert_false(send(&joining, frame, 32, 32, false));
    assert_int_equal(defrag_get_stats(joining.defrag)->timed_out, 2);
    assert_true(send(&joining, frame, 0, 32, true)); /* and goes on from there */
    end(&joining);
}

/* A flood of first fragments: the oldest give way. */
static void test_memory(void **state)
{
    enum { MEMORY = 256 << 10, FLOOD = 5000 };
    static uint8_t payload[3000], frame[4000];
    struct joining joining = begin(MEMORY);

    (void)state;
    make_frame(frame, false, payload, sizeof payload);
    for (uint32_t i = 0; i < FLOOD; i++) {
        put16(frame + LINK_LEN + 4, i);
        assert_false(send(&joining, frame, 0, 8 + i % 2000 / 8 * 8, true));
        assert_true(defrag_held(joining.defrag) <= MEMORY);
    }
    assert_true(defrag_get_stats(joining.defrag)->evicted > FLOOD / 2);
    assert_true(defrag_get_stats(joining.defrag)->evicted < FLOOD);
    assert_true(send(&joining, frame, 8 + (FLOOD - 1) % 2000 / 8 * 8, 80, false)); /* the newest */
    end(&joining);
}

/* ---- lists ----------------------------------------------------------------------------------- */

enum { N_SENDERS = 4, PAYLOAD_MAX = 20000, MANY = 6000 };

/* A sender of one datagram after another. */
struct sender {
    uint8_t frame[PAYLOAD_MAX + 100];
    uint32_t len, cut, at; /* of the payload; bytes of a fragment; where the next begins */
};

static void add_frame(struct sl_batch *batch, const uint8_t *frame, uint32_t len, int64_t time)
{
    const uint32_t item = sl_batch_add(batch, frame, len, 0);

    batch->origin[item].wire_len = len;
    batch->origin[item].link_type = 1;
    batch->origin[item].time_ns = time;
}

static void begin_datagram(struct sender *sender, uint32_t trial, uint64_t *random)
{
    static const uint8_t protocol[8] = {SL_IP_IPIP, SL_IP_TCP, SL_IP_TCP, SL_IP_UDP,
                                        SL_IP_UDP,  SL_IP_UDP, SL_IP_UDP, SL_IP_UDP};
    static uint8_t payload[PAYLOAD_MAX];

    for (uint32_t i = 0; i < 64; i++)
        payload[test_below(random, sizeof payload)] = (uint8_t)test_below(random, 256);
    sender->len = 16 + test_below(random, trial % 3 == 0 ? PAYLOAD_MAX - 16 : 2000);
    sender->cut = 8 * (1 + test_below(random, trial % 4 == 0 ? 2 : 100));
    sender->at = 0;
    make_frame(sender->frame, test_below(random, 4) == 0, payload, sender->len);
    if (sender->frame[12] == 0x08) {
        put16(sender->frame + LINK_LEN + 4, test_below(random, trial % 2 == 0 ? 3 : 50000));
        sender->frame[LINK_LEN + 9] = protocol[test_below(random, 8)];
    }
}

/* The next fragment of a datagram, or at times something else. */
static uint32_t next_fragment(struct sender *sender, uint32_t trial, uint8_t *out, uint64_t *random)
{
    const uint32_t what = test_below(random, trial % 12 == 0 ? 20000 : 40);
    uint32_t at = sender->at, n = sender->cut;

    if (what != 0) /* else it comes twice */
        sender->at += sender->cut;
    if (what == 1 && at >= 8) /* it overlaps */
        at -= 8;
    if (what == 2 && sender->at < sender->len) { /* the one before is lost */
        at = sender->at;
        sender->at += sender->cut;
    }
    n = n < sender->len - at ? n : sender->len - at;
    const bool more = at + n < sender->len;
    const uint32_t len =
        make_fragment(out, sender->frame, at, what == 3 && n > 4 ? n - 4 : n, more);

    if (what == 4 || sender->at >= sender->len)
        begin_datagram(sender, trial, random);
    return len;
}

static int64_t next_time(int64_t time, uint64_t *random)
{
    const uint32_t what = test_below(random, 4000);

    if (what == 0)
        return time > INT64_C(100000000000) ? time - INT64_C(100000000000) : time;
    return time + (what < 8 ? INT64_C(40000000000) : 1000000);
}

/* A list gives what fragments one after another do: the same fates, datagrams, counters and memory,
 * wherever batches end, and whatever comes between. */
static void test_lists(void **state)
{
    static struct sender sender[N_SENDERS];
    static uint8_t frame[PAYLOAD_MAX + 200];
    struct sl_fragment_stats sum = {0};
    uint32_t n_ready = 0;
    uint64_t random = 11;

    (void)state;
    for (uint32_t trial = 0; trial < 60; trial++) {
        struct joining outside = begin(1 << 20);
        struct defrag_config config;
        struct defrag_trial both;
        struct defrag_fragment fragment;
        struct sl_dissect_stats stats = {0};
        struct sl_batch *batch;
        int64_t time = 1;

        defrag_config_init(&config);
        config.memory = trial % 3 == 2 ? 1 << 20 : 256 << 10;
        assert_true(defrag_trial_open(&both, &config));
        assert_int_equal(sl_batch_create(&batch, 1 << 22, MANY, NULL), SL_OK);
        for (uint32_t i = 0; i < N_SENDERS; i++)
            begin_datagram(&sender[i], trial, &random);
        for (uint32_t i = 0; i < 60; i++) {
            const uint32_t n = 1 + test_below(&random, trial % 12 == 0 ? MANY
                                                       : i % 2 == 0    ? 10
                                                                       : 150);
            struct sender *other = &sender[test_below(&random, N_SENDERS)];

            sl_batch_reset(batch);
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t who = test_below(&random, 3) == 0 ? k % N_SENDERS : 0;

                time = next_time(time, &random);
                add_frame(batch, frame, next_fragment(&sender[who], trial, frame, &random), time);
            }
            sl_dissect(batch, &stats);
            sl_batch_reset(outside.batch);
            add_frame(outside.batch, frame, make_fragment(frame, other->frame, 8, 8, true), time);
            sl_dissect(outside.batch, &stats);
            assert_true(defrag_read(&fragment, outside.batch, 0));
            const struct defrag_other between = {&fragment, test_below(&random, n)};
            assert_true(
                defrag_trial_take(&both, batch, test_below(&random, 4) == 0 ? &between : NULL));
        }
        n_ready += both.n_ready;
        sum.joined += defrag_get_stats(both.single)->joined;
        sum.evicted += defrag_get_stats(both.single)->evicted;
        sum.timed_out += defrag_get_stats(both.single)->timed_out;
        sum.dropped += defrag_get_stats(both.single)->dropped;
        sum.conflicts += defrag_get_stats(both.single)->conflicts;
        defrag_trial_close(&both);
        sl_batch_free(batch);
        end(&outside);
    }
    assert_in_range(n_ready, 1000, sum.joined - 100);
    assert_true(sum.evicted != 0 && sum.timed_out != 0 && sum.conflicts != 0 && sum.dropped != 0);
}

/* A fragment with a VLAN tag. Returns its length. */
static uint32_t make_tagged(uint8_t *out, const uint8_t *frame, uint32_t offset, uint32_t n,
                            bool more, uint32_t vlan)
{
    const uint32_t len = make_fragment(out, frame, offset, n, more);

    memmove(out + 16, out + 12, len - 12);
    put16(out + 12, 0x8100);
    put16(out + 14, vlan);
    return len + 4;
}

/* Fragments that differ in nothing but the VLAN are of two datagrams, in a list as in the table. */
static void test_vlans(void **state)
{
    enum { N = 64, HALF = 32 };
    static const uint8_t payload[N] = {0};
    uint8_t frame[200], fragment[200];
    struct sl_dissect_stats stats = {0};
    struct defrag_config config;
    struct defrag_trial both;
    struct sl_batch *batch;

    (void)state;
    defrag_config_init(&config);
    assert_true(defrag_trial_open(&both, &config));
    assert_int_equal(sl_batch_create(&batch, 1 << 12, 2, NULL), SL_OK);
    make_frame(frame, false, payload, N);
    frame[LINK_LEN + 9] = SL_IP_TCP;   /* a list leaves out what may be a tunnel */
    for (uint32_t i = 0; i < 2; i++) { /* the first half of VLAN 5 and the last of 6; the others */
        sl_batch_reset(batch);
        add_frame(batch, fragment, make_tagged(fragment, frame, 0, HALF, true, 5 + i), 1);
        add_frame(batch, fragment, make_tagged(fragment, frame, HALF, HALF, false, 6 - i), 1);
        sl_dissect(batch, &stats);
        assert_true(defrag_trial_take(&both, batch, NULL));
        assert_int_equal(both.n_ready, 0);
        assert_int_equal(defrag_get_stats(both.single)->joined, 2 * i);
    }
    defrag_trial_close(&both);
    sl_batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),    cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_long_headers),
        cmocka_unit_test(test_longest), cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_timeout), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lists),   cmocka_unit_test(test_vlans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
