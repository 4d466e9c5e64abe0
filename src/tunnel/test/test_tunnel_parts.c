/* SPDX-License-Identifier: MIT */
/* The parts of a tunnel that need no peer: networks, datagrams, the window, the path's length, and
 * changes of packets. Checksums are judged by their sum over the whole header. */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "test.h"
#include "tunnel/datagram.h"
#include "tunnel/inner_packet.h"
#include "tunnel/join.h"
#include "tunnel/networks.h"
#include "tunnel/path_mtu.h"
#include "tunnel/replay_window.h"
#include "tunnel/rtnetlink.h"
#include "tunnel/segments.h"

static bool holds(const char *text, const char *host)
{
    struct network network, address;

    assert_true(network_parse(&network, text));
    assert_true(network_parse(&address, host));
    return network_holds(&network, address.address);
}

static void test_networks(void **state)
{
    static const char *const bad[] = {"",          "10.0.0.0/33", "10.0.0/8",    "::/129",
                                      "10.0.0.0/", "a",           "10.0.0.0/-1", "1.2.3.4/8 "};
    struct network network;
    char text[NETWORK_TEXT];

    (void)state;
    assert_true(holds("10.0.0.0/8", "10.255.0.1"));
    assert_false(holds("10.0.0.0/8", "11.0.0.0"));
    assert_true(holds("10.1.2.128/25", "10.1.2.255"));
    assert_false(holds("10.1.2.128/25", "10.1.2.127"));
    assert_true(holds("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(holds("2001:db8::/33", "2001:db8:8000::1"));
    assert_true(holds("::/0", "2001::1"));
    assert_false(holds("0.0.0.0/0", "2001::1"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(network_parse(&network, bad[i]));
    assert_true(network_parse(&network, "192.0.2.0/24"));
    assert_string_equal(network_text(&network, text), "192.0.2.0/24");
    assert_true(network_parse(&network, "2001:db8::1"));
    assert_string_equal(network_text(&network, text), "2001:db8::1/128");
}

static void test_endpoints(void **state)
{
    static const char *const bad[] = {"",           "10.0.0.1", "10.0.0.1:",     "10.0.0.1:0",
                                      "10.0.0.1:x", "::1:5",    "[::1]",         "[::1:5",
                                      "[::1]5",     "host:5",   "10.0.0.1:65536"};
    struct sockaddr_storage a, b;
    char text[NETWORK_TEXT];

    (void)state;
    assert_true(endpoint_parse(&a, "10.0.0.1:5182"));
    assert_string_equal(endpoint_text(&a, text), "10.0.0.1:5182");
    assert_true(endpoint_parse(&b, "[2001:db8::1]:1"));
    assert_string_equal(endpoint_text(&b, text), "[2001:db8::1]:1");
    assert_false(endpoint_equal(&a, &b));
    assert_true(endpoint_equal(&a, &a) && endpoint_equal(&b, &b));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(endpoint_parse(&a, bad[i]));
}

static void test_datagrams(void **state)
{
    const struct datagram_header header = {UINT64_C(0x123456789ABC), 7, 9};
    struct datagram_header read;
    struct record record;
    uint8_t bytes[64];
    uint32_t at = DATAGRAM_HEADER;

    (void)state;
    datagram_write_header(bytes, &header);
    record_write_header(bytes + 16, RECORD_PACKET, 5);
    memcpy(bytes + 19, "hello", 5);
    record_write_header(bytes + 24, RECORD_FEEDBACK, 0);
    assert_true(datagram_read(&read, bytes, 27));
    assert_memory_equal(&read, &header, sizeof read);
    assert_true(record_next(&record, bytes, 27, &at));
    assert_int_equal(record.kind, RECORD_PACKET);
    assert_int_equal(record.len, 5);
    assert_memory_equal(record.bytes, "hello", 5);
    assert_true(record_next(&record, bytes, 27, &at));
    assert_int_equal(record.len, 0);
    assert_false(record_next(&record, bytes, 27, &at));
    /* Cut anywhere but behind a record, it is none. */
    for (uint32_t len = 0; len < 27; len++)
        assert_int_equal(datagram_read(&read, bytes, len), len == 16 || len == 24);
    bytes[16] = RECORD_KINDS;
    assert_false(datagram_read(&read, bytes, 27));
}

/* Against a list of all numbers that came. */
static void test_window(void **state)
{
    enum { NUMBERS = 400000, TRIALS = 200000 };
    static struct replay_window window;
    bool *const came = calloc(NUMBERS, 1);
    uint64_t random = 5, newest = 0;

    (void)state;
    assert_non_null(came);
    for (int i = 0; i < TRIALS; i++) {
        const uint32_t jump = test_below(&random, 100) == 0 ? 5000 : 3;
        const uint64_t up = newest + test_below(&random, jump);
        const uint64_t back = test_below(&random, 2) == 0 ? test_below(&random, 40000) : 0;
        const uint64_t number = up > back ? up - back : 1;

        if (number >= NUMBERS || number == 0)
            continue;
        const bool is_old = newest > number && newest - number >= REPLAY_WINDOW - 64;
        assert_int_equal(replay_take(&window, number), !is_old && !came[number]);
        came[number] |= !is_old;
        newest = number > newest ? number : newest;
    }
    free(came);
}

/* The length that the path carries is found, and found again when the path has shrunk. */
static void test_path(void **state)
{
    struct path_mtu path;
    uint64_t now = 0;

    (void)state;
    for (uint32_t carries = 1200; carries <= 1500; carries += 7) {
        path_begin(&path, 1200, 1472, now);
        for (uint32_t now_carries = carries; now_carries >= 1200; now_carries -= 100) {
            for (int i = 0; i < 3000; i++, now += 10000000) {
                uint32_t len;

                path.used = true;
                while ((len = path_step(&path, now)) > 0)
                    if (len <= now_carries)
                        path_answered(&path, len, now);
                assert_true(path.known >= 1200 && path.known <= 1472);
            }
            const uint32_t best = now_carries < 1472 ? now_carries : 1472;
            assert_true(path.known <= best && best - path.known <= 8);
        }
    }
}

static uint16_t sum_of(const uint8_t *bytes, uint32_t len, uint32_t sum)
{
    for (uint32_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/* A SYN over IPv4 whose size stands behind `n_nops` options of one byte. */
static uint32_t make_syn(uint8_t *packet, uint32_t n_nops, uint16_t mss)
{
    const uint32_t options = (n_nops + 4 + 3) / 4 * 4, len = 20 + 20 + options;
    uint8_t *const tcp = packet + 20;

    memset(packet, 0, len);
    packet[0] = 0x45;
    packet[3] = (uint8_t)len;
    packet[9] = IPPROTO_TCP;
    packet[12] = packet[16] = 10;
    tcp[12] = (uint8_t)((20 + options) / 4 << 4);
    tcp[13] = 2;
    memset(tcp + 20, 1, options);
    tcp[20 + n_nops] = 2;
    tcp[21 + n_nops] = 4;
    tcp[22 + n_nops] = (uint8_t)(mss >> 8);
    tcp[23 + n_nops] = (uint8_t)mss;
    const uint16_t check = sum_of(tcp, 20 + options, 0);
    tcp[16] = (uint8_t)(check >> 8);
    tcp[17] = (uint8_t)check;
    return len;
}

static void test_segment_size(void **state)
{
    struct inner_packet inner;
    uint8_t packet[128], before[128];

    (void)state;
    for (uint32_t n_nops = 0; n_nops < 12; n_nops++) {
        const uint32_t len = make_syn(packet, n_nops, 1460);

        assert_true(inner_read(&inner, packet, len));
        assert_true(inner_clamp_mss(&inner, packet, len, 1400));
        assert_int_equal(packet[42 + n_nops] << 8 | packet[43 + n_nops], 1360);
        assert_int_equal(sum_of(packet + 20, len - 20, 0), 0);
        memcpy(before, packet, len);
        assert_false(inner_clamp_mss(&inner, packet, len, 1400));
        assert_memory_equal(packet, before, len);
        packet[21 + n_nops + 20] = 0; /* an option of no length */
        assert_false(inner_clamp_mss(&inner, packet, len, 1000));
    }
}

static void test_congestion(void **state)
{
    uint8_t ipv4[20] = {0x45, 0xB8 | 2, 0, 20}, ipv6[40] = {0x6B, 0x81};
    struct inner_packet inner;

    (void)state;
    const uint16_t check = sum_of(ipv4, 20, 0);
    ipv4[10] = (uint8_t)(check >> 8);
    ipv4[11] = (uint8_t)check;
    assert_true(inner_read(&inner, ipv4, sizeof ipv4));
    assert_int_equal(inner.traffic_class, 0xBA);
    inner_mark_ce(&inner, ipv4);
    assert_int_equal(ipv4[1], 0xBB);
    assert_int_equal(sum_of(ipv4, 20, 0), 0);
    ipv6[1] = 0xA1;
    assert_true(inner_read(&inner, ipv6, sizeof ipv6));
    assert_int_equal(inner.traffic_class, 0xBA);
    inner_mark_ce(&inner, ipv6);
    assert_true(inner_read(&inner, ipv6, sizeof ipv6));
    assert_int_equal(inner.traffic_class, 0xBB);
    assert_false(inner_read(&inner, ipv6, sizeof ipv6 - 1));
}

/* ---- segments -------------------------------------------------------------------------------- */

enum { SEGMENT = 100, PAYLOAD = 1030 };

struct cut_packets {
    uint8_t content[PAYLOAD + SEGMENT];
    uint32_t n, len, headers_len;
    bool is_ipv6, is_tcp;
};

/* The checksum over pseudo header and transport, by definition. */
static uint16_t transport_sum(const uint8_t *packet, uint32_t len, bool is_ipv6, uint8_t protocol)
{
    const uint32_t at = is_ipv6 ? 40 : 20, n = len - at;
    uint8_t whole[2048] = {0};
    uint32_t head = is_ipv6 ? 32 : 8;

    memcpy(whole, packet + (is_ipv6 ? 8 : 12), head);
    whole[head + 1] = protocol;
    whole[head + 2] = (uint8_t)(n >> 8);
    whole[head + 3] = (uint8_t)n;
    memcpy(whole + head + 4, packet + at, n);
    return sum_of(whole, head + 4 + n, 0);
}

static void take_segment(void *user, const uint8_t *packet, uint32_t len)
{
    struct cut_packets *const cut = user;
    const uint32_t at = cut->is_ipv6 ? 40 : 20, payload_len = len - cut->headers_len;
    struct inner_packet inner;

    assert_true(inner_read(&inner, packet, len));
    assert_int_equal(transport_sum(packet, len, cut->is_ipv6, cut->is_tcp ? 6 : 17), 0);
    if (!cut->is_ipv6) {
        assert_int_equal(sum_of(packet, 20, 0), 0);
        assert_int_equal(packet[4] << 8 | packet[5], (0xFFFE + cut->n) & 0xFFFF);
    }
    if (cut->is_tcp) {
        const bool is_last = cut->len + payload_len == PAYLOAD;

        assert_int_equal(ntohl(*(const uint32_t *)(const void *)(packet + at + 4)),
                         0xFFFFFFF0u + cut->len);
        assert_int_equal(packet[at + 13], (cut->n == 0 ? 0x90 : 0x10) | (is_last ? 9 : 0));
    } else {
        assert_int_equal(packet[at + 4] << 8 | packet[at + 5], len - at);
    }
    memcpy(cut->content + cut->len, packet + cut->headers_len, payload_len);
    cut->len += payload_len;
    cut->n++;
}

static void cut_one(bool is_ipv6, bool is_tcp, uint32_t options)
{
    const uint32_t at = is_ipv6 ? 40 : 20, headers_len = at + (is_tcp ? 20 + options : 8);
    const uint32_t len = headers_len + PAYLOAD;
    const struct segments_of of = {.is_tcp = is_tcp,
                                   .segment_len = SEGMENT,
                                   .needs_checksum = true,
                                   .checksum_start = at,
                                   .checksum_offset = is_tcp ? 16 : 6};
    struct cut_packets cut = {.headers_len = headers_len, .is_ipv6 = is_ipv6, .is_tcp = is_tcp};
    uint8_t packet[2048] __attribute__((aligned(4))) = {0};
    uint64_t random = 3;

    for (uint32_t i = at; i < len; i++)
        packet[i] = (uint8_t)test_random(&random);
    packet[0] = is_ipv6 ? 0x60 : 0x45;
    packet[is_ipv6 ? 6 : 9] = is_tcp ? 6 : 17;
    for (uint32_t i = is_ipv6 ? 8 : 12; i < at; i++)
        packet[i] = (uint8_t)test_random(&random);
    if (!is_ipv6) {
        packet[4] = 0xFF;
        packet[5] = 0xFE;
    }
    if (is_tcp) {
        memcpy(packet + at + 4, "\xFF\xFF\xFF\xF0", 4);
        packet[at + 12] = (uint8_t)((20 + options) / 4 << 4);
        packet[at + 13] = 0x99; /* CWR, ACK, PSH, FIN */
    }

    uint8_t before[2048];
    memcpy(before, packet, len);
    assert_int_equal(segments_cut(&of, packet, len, take_segment, &cut), PAYLOAD / SEGMENT + 1);
    assert_int_equal(cut.len, PAYLOAD);
    assert_memory_equal(cut.content, before + headers_len, PAYLOAD);
    for (uint32_t cut_len = 1; cut_len < headers_len; cut_len++) /* headers that are not there */
        assert_int_equal(segments_cut(&of, packet, cut_len, take_segment, &cut), 0);
}

static void test_segments(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        cut_one(i & 1, i & 2, 12);
    cut_one(false, true, 40);
}

/* ---- joined segments ------------------------------------------------------------------------- */

enum { JOINED = 40 };

struct joined {
    uint8_t bytes[JOINED][256];
    uint32_t len[JOINED], n, n_out, n_writes, most;
};

/* A segment of one of two flows; the sequence and the datagram's number go on, or do not. */
static uint32_t make_segment(uint8_t *packet, uint64_t *random, bool is_ipv6, uint32_t flow,
                             uint32_t *sequence, uint16_t *id)
{
    const uint32_t at = is_ipv6 ? 40 : 20, odd = test_below(random, 12);
    const uint32_t payload_len = odd == 0 ? 1 + test_below(random, 99) : 100;
    const uint32_t len = at + 32 + payload_len;

    memset(packet, 0, 256);
    for (uint32_t i = at + 32; i < len; i++)
        packet[i] = (uint8_t)test_random(random);
    packet[0] = is_ipv6 ? 0x60 : 0x45;
    packet[is_ipv6 ? 6 : 9] = 6;
    packet[is_ipv6 ? 39 : 19] = (uint8_t)flow;
    *sequence += odd == 1 ? 7 : 0;
    packet[is_ipv6 ? 5 : 3] = (uint8_t)(is_ipv6 ? len - 40 : len);
    for (int i = 0; i < 4; i++)
        packet[at + 4 + (uint32_t)i] = (uint8_t)(*sequence >> (24 - 8 * i));
    packet[at + 12] = 0x80;
    packet[at + 13] = odd == 2 ? 0x18 : odd == 3 ? 0x11 : 0x10;
    packet[at + 15] = odd == 4;
    packet[at + 22] = odd == 5;
    if (!is_ipv6) {
        *id = (uint16_t)(*id + (odd == 6 ? 2 : 1));
        packet[4] = (uint8_t)(*id >> 8);
        packet[5] = (uint8_t)*id;
        const uint16_t check = sum_of(packet, 20, 0);
        packet[10] = (uint8_t)(check >> 8);
        packet[11] = (uint8_t)check;
    }
    const uint16_t check = transport_sum(packet, len, is_ipv6, 6);
    packet[at + 16] = (uint8_t)(check >> 8);
    packet[at + 17] = (uint8_t)check;
    packet[at + 17] ^= odd == 7; /* a wrong checksum stays as it is */
    *sequence += payload_len;
    return len;
}

static void expect_next(void *user, const uint8_t *packet, uint32_t len)
{
    struct joined *const all = user;

    assert_int_equal(len, all->len[all->n_out]);
    assert_memory_equal(packet, all->bytes[all->n_out], len);
    all->n_out++;
}

static void write_join(struct join *join, struct joined *all)
{
    const struct segments_of of = {.is_tcp = true,
                                   .segment_len = join->n > 1 ? join->segment_len : 0,
                                   .checksum_start = join->transport,
                                   .checksum_offset = 16};

    all->n_writes++;
    all->most = join->n > all->most ? join->n : all->most;
    join_finish(join);
    segments_cut(&of, join->bytes, join->len, expect_next, all);
    join->len = 0;
}

/* The kernel would cut joined packets into the packets as they were, byte by byte. */
static void test_joined(void **state)
{
    static struct join join;
    uint64_t random = 11;
    uint32_t most = 0;

    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        static struct joined all;
        const bool is_ipv6 = trial % 2 == 0;
        uint32_t sequence = UINT32_MAX - 500;
        uint16_t id = 0xFFF0;

        all = (struct joined){.n = 1 + test_below(&random, JOINED)};
        for (uint32_t i = 0; i < all.n; i++) {
            all.len[i] = make_segment(all.bytes[i], &random, is_ipv6, test_below(&random, 20) == 0,
                                      &sequence, &id);
            if (!join_add(&join, all.bytes[i], all.len[i])) {
                write_join(&join, &all);
                assert_true(join_add(&join, all.bytes[i], all.len[i]));
            }
        }
        write_join(&join, &all);
        assert_int_equal(all.n_out, all.n);
        most = all.most > most ? all.most : most;
    }
    assert_true(most >= 8);
}

/* ---- the underlay ---------------------------------------------------------------------------- */

/* The kernel's answer for a link, as the format says. */
static uint32_t fake_answer(uint8_t *out, const char *kind, uint32_t mtu)
{
    const uint16_t kind_len = (uint16_t)(strlen(kind) + 1);
    struct nlmsghdr header = {.nlmsg_type = RTM_NEWLINK};
    const struct ifinfomsg info = {.ifi_index = 7};
    const struct rtattr mtu_head = {8, IFLA_MTU};
    const struct rtattr kind_head = {(uint16_t)(4 + kind_len), IFLA_INFO_KIND};
    const struct rtattr info_head = {(uint16_t)(8 + kind_len), IFLA_LINKINFO};
    uint32_t len = NLMSG_LENGTH(sizeof info);

    memset(out, 0, 256);
    memcpy(out + NLMSG_HDRLEN, &info, sizeof info);
    memcpy(out + len, &mtu_head, 4);
    memcpy(out + len + 4, &mtu, 4);
    memcpy(out + len + 8, &info_head, 4);
    memcpy(out + len + 12, &kind_head, 4);
    memcpy(out + len + 16, kind, kind_len);
    len += 16 + kind_len;
    header.nlmsg_len = len;
    memcpy(out, &header, sizeof header);
    return len;
}

static void test_trust(void **state)
{
    struct sl_diag diag;
    struct link_info link;
    uint8_t answer[256];

    (void)state;
    const uint32_t len = fake_answer(answer, "wireguard", 1420);
    assert_true(link_read(&link, answer, len));
    assert_string_equal(link.kind, "wireguard");
    assert_int_equal(link.mtu, 1420);
    assert_int_equal(link.index, 7);
    assert_int_equal(link_check_trust(&link, "wg0", &diag), SL_OK);
    for (uint32_t cut = 0; cut < len; cut++) /* a cut answer trusts nothing */
        assert_false(link_read(&link, answer, cut) && link_check_trust(&link, "", &diag) == SL_OK);
    static const char *const others[] = {"wireguar", "wireguardx", "tun", "veth", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_true(link_read(&link, answer, fake_answer(answer, others[i], 1500)));
        assert_int_equal(link_check_trust(&link, "x0", &diag), SL_EUNSUPPORTED);
        assert_non_null(strstr(diag.text, "x0"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),   cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_datagrams),  cmocka_unit_test(test_window),
        cmocka_unit_test(test_path),       cmocka_unit_test(test_segment_size),
        cmocka_unit_test(test_congestion), cmocka_unit_test(test_segments),
        cmocka_unit_test(test_trust),      cmocka_unit_test(test_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
