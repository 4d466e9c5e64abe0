/* SPDX-License-Identifier: MIT */
/* Each option of a header on a packet that matches, and on one that just does not. */
#include "detect_pairs.h"

/* An IPv4 packet whose transport header and payload are the bytes of a string. */
#define RAW(number, bytes)                                             \
    {                                                                  \
        .kind = OTHER_IP, .ip_protocol = (number), .payload = (bytes), \
        .payload_len = sizeof(bytes) - 1                               \
    }

/* From port 1 to port 2: sequence 0xFEDCBA98, acknowledgment 0x01020304, SYN, window 0x8000. */
#define TCP_HEADER(words) "\0\1\0\2\xFE\xDC\xBA\x98\1\2\3\4" words "\x02\x80\0\0\0\0\0"

/* A message of ICMP: type, code, checksum, identifier, sequence number. */
#define ICMP_MESSAGE(type) RAW(1, type "\0\0\0\x12\x34\x56\x78")

/* A packet of TCP with options. */
#define WITH_OPTIONS(bytes)                                                       \
    {                                                                             \
        .kind = TCP, .tcp_options = (bytes), .tcp_words = (sizeof(bytes) - 1) / 4 \
    }

/* A packet of UDP with options of IPv4. */
#define WITH_IP_OPTIONS(bytes)                                                  \
    {                                                                           \
        .kind = UDP, .ip_options = (bytes), .ip_words = (sizeof(bytes) - 1) / 4 \
    }

/* A packet of UDP in VLANs. */
#define IN_VLANS(outer, inner)                   \
    {                                            \
        .kind = UDP, .vlan = {(outer), (inner) } \
    }

static void test_numbers(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "ttl:0x40;"), {.ttl = 64}, {.ttl = 40}},
        {RULE("ip", "ttl:!0x40;"), {.ttl = 65}, {.ttl = 64}},
        {RULE("ip", "ttl:>=0xFF;"), {.ttl = 255}, {.ttl = 254}},
        {RULE("ip", "ttl:0x0a-0x0c;"), {.ttl = 11}, {.ttl = 12}},
        {RULE("ip", "ttl:!10-12;"), {.ttl = 12}, {.ttl = 11}},
        {RULE("ip", "ttl:! 10 <> 12;"), {.ttl = 10}, {.ttl = 11}},
        {RULE("ip", "ttl:10<=>12;"), {.ttl = 12}, {.ttl = 13}},
        {RULE("ip", "ttl:!10<=>12;"), {.ttl = 13}, {.ttl = 12}},
        {RULE("ip", "ttl:-5;"), {.ttl = 5}, {.ttl = 6}},
        {RULE("ip", "ttl:5-;"), {.ttl = 5}, {.ttl = 4}},
        {RULE("ip", "ttl:&0xf0=0x40;"), {.ttl = 0x4F}, {.ttl = 0x50}},
        {RULE("ip", "ttl: & 3 != 1;"), {.ttl = 2}, {.ttl = 5}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_ip(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "fragoffset:10;"), {.fragment = 10}, {.fragment = 0x200B}},
        {RULE("ip", "fragoffset:10;"), {.fragment = 0x200A}, {.kind = TCP6}},
        {RULE("ip", "fragoffset:!0;"), {.fragment = 1}, {.fragment = 0x2000}},
        {RULE("ip", "fragoffset:>=8191;"), {.fragment = 8191}, {.fragment = 8190}},
        {RULE("ip", "tos:0;"), {.kind = TCP}, {.kind = TCP6}},
        {RULE("ip", "ipopts:any;"), WITH_IP_OPTIONS("\1\1\1\1"), {.kind = UDP}},
        {RULE("ip", "ipopts:any;"), WITH_IP_OPTIONS("\x99\4\0\0"), {.kind = TCP6}},
        {RULE("ip", "ipopts:nop;"), WITH_IP_OPTIONS("\1\0\0\0"), WITH_IP_OPTIONS("\0\1\1\1")},
        {RULE("ip", "ipopts:eol;"), WITH_IP_OPTIONS("\1\0\0\0"), WITH_IP_OPTIONS("\1\1\1\1")},
        {RULE("ip", "ipopts:rr;"), WITH_IP_OPTIONS("\7\3\4\0"), WITH_IP_OPTIONS("\x44\4\7\0")},
        {RULE("ip", "ipopts:ts;"), WITH_IP_OPTIONS("\1\x44\3\7"), WITH_IP_OPTIONS("\x84\4\1\1")},
        {RULE("ip", "ipopts:lsrre;"), WITH_IP_OPTIONS("\x84\4\1\1"), WITH_IP_OPTIONS("\x83\4\1\1")},
        {RULE("ip", "ipopts:lsrr;"), WITH_IP_OPTIONS("\x83\3\4\1"), WITH_IP_OPTIONS("\x89\3\4\1")},
        {RULE("ip", "ipopts:ssrr;"), WITH_IP_OPTIONS("\x89\3\4\1"), WITH_IP_OPTIONS("\x83\3\4\1")},
        {RULE("ip", "ipopts:sec;"), WITH_IP_OPTIONS("\x82\4\1\1"), WITH_IP_OPTIONS("\x85\4\1\1")},
        {RULE("ip", "ipopts:esec;"), WITH_IP_OPTIONS("\x85\4\1\1"), WITH_IP_OPTIONS("\x82\4\1\1")},
        {RULE("ip", "ipopts:cipso;"), WITH_IP_OPTIONS("\x86\4\1\1"), WITH_IP_OPTIONS("\6\4\1\1")},
        {RULE("ip", "ipopts:satid;"), WITH_IP_OPTIONS("\x88\4\1\1"), WITH_IP_OPTIONS("\x8\4\1\1")},
        {RULE("ip", "ipopts:qs;"), WITH_IP_OPTIONS("\x19\4\1\1"), WITH_IP_OPTIONS("\x1a\4\1\1")},
        {RULE("ip", "ipopts:rtralt;"), WITH_IP_OPTIONS("\x94\4\0\0"),
         WITH_IP_OPTIONS("\1\1\1\x94")},
        /* An option whose length is wrong ends them. */
        {RULE("ip", "ipopts:rr;"), WITH_IP_OPTIONS("\1\7\3\4"), WITH_IP_OPTIONS("\x82\1\7\3")},
        {RULE("ip", "ipopts:rr;"), WITH_IP_OPTIONS("\7\4\4\0"), WITH_IP_OPTIONS("\1\1\7\3")},
        {RULE("ip", "igmp.type:0x16;"), RAW(2, "\x16\0\0\0\0\0\0\0"), RAW(3, "\x16\0\0\0\0\0\0\0")},
        {RULE("ip", "igmp.type:>21;"), RAW(2, "\x16\0\0\0"), RAW(2, "\x15\0\0\0")},
    };

    (void)state;
    CHECK(pairs);
}

static void test_tos(void **state)
{
    static const char *const rules[] = {"8", "x8", "!x9", "0x8", "<9", "7-9", "!9"};
    static const char *const others[] = {"9", "x9", "!x8", "0x80", "<8", "6-8", "!8"};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof rules / sizeof rules[0]; i++) {
        const size_t n = sizeof rules / sizeof rules[0];
        const struct packet packet = {.kind = UDP};
        struct sl_batch *batch = fixture_batch(1);
        char text[128];
        size_t n_alerts;

        snprintf(text, sizeof text, RULE("ip", "tos:%s;"), i < n ? rules[i] : others[i - n]);
        add_packet(batch, &packet);
        batch->bytes[15] = 8;
        dissect_batch(batch);

        struct sl_rules *set = load_rules(text);

        free(alerts_of(set, batch, &n_alerts));
        if (n_alerts != (i < n))
            fail_msg("%s: %zu alerts", text, n_alerts);
        sl_rules_free(set);
        sl_batch_free(batch);
    }
}

static void test_tcp(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "seq:4275878552;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("tcp", "tcp.seq:>0xFEDCBA97;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("tcp", "ack:16909060;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("ip", "ack:0;"), {.kind = TCP}, {.kind = UDP}},
        {RULE("tcp", "tcp.ack:!0;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("tcp", "window:32768;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("tcp", "window:!0;"), RAW(6, TCP_HEADER("\x50")), {.kind = TCP}},
        {RULE("tcp", "tcp.window:0;"), {.kind = TCP}, RAW(6, TCP_HEADER("\x50"))},
        {RULE("tcp", "tcp.mss:536;"), WITH_OPTIONS("\2\4\2\x18"), WITH_OPTIONS("\2\4\2\x19")},
        {RULE("tcp", "tcp.mss:<536;"), WITH_OPTIONS("\1\1\2\4\2\x17\0\0"), {.kind = TCP}},
        {RULE("tcp", "tcp.mss:>0;"), WITH_OPTIONS("\2\4\2\x18"), WITH_OPTIONS("\2\3\2\x18")},
        {RULE("tcp", "tcp.wscale:>5;"), WITH_OPTIONS("\3\3\6\0"), WITH_OPTIONS("\3\3\5\0")},
        {RULE("tcp", "tcp.wscale:6;"), WITH_OPTIONS("\3\3\6\0"), WITH_OPTIONS("\0\3\3\6")},
        /* Options behind one whose length is wrong, and behind the packet, are not there. */
        {RULE("tcp", "tcp.wscale:6;"), WITH_OPTIONS("\x8\3\0\3\3\6\0\0"),
         WITH_OPTIONS("\x8\0\0\3\3\6\0\0")},
        {RULE("tcp", "seq:>0;"), RAW(6, TCP_HEADER("\x50")), RAW(17, TCP_HEADER("\x50"))},
        {RULE("tcp", "tcp.wscale:6;"), RAW(6, TCP_HEADER("\x60") "\3\3\6\0"),
         RAW(6, TCP_HEADER("\x70") "\3\3\6\0")},
    };

    (void)state;
    CHECK(pairs);
}

static void test_icmp(void **state)
{
    static const struct pair pairs[] = {
        {RULE("icmp", "icmp_id:4660;"), ICMP_MESSAGE("\0"), ICMP_MESSAGE("\3")},
        {RULE("icmp", "icmp_id:\"4660\";"), ICMP_MESSAGE("\x8"), ICMP_MESSAGE("\5")},
        {RULE("icmp", "icmp_id:!0;"), ICMP_MESSAGE("\xd"), {.kind = ICMP}},
        {RULE("icmp", "icmp_id:>4659;"), ICMP_MESSAGE("\x12"), ICMP_MESSAGE("\x13")},
        {RULE("icmp", "icmp_seq:22136;"), ICMP_MESSAGE("\0"), {.kind = ICMP}},
        {RULE("icmp", "icmp_seq:0x5000-0x6000;"), ICMP_MESSAGE("\0"), ICMP_MESSAGE("\3")},
        {RULE("icmp", "icmp_seq:0;"), {.kind = ICMP6, .type = 128}, {.kind = ICMP6, .type = 2}},
        {RULE("icmp", "icmp_id:0;"), {.kind = ICMP6, .type = 129}, {.kind = ICMP6, .type = 8}},
        {RULE("icmp", "icmpv6.mtu:<1280;"), {.kind = ICMP6, .type = 2}, {.kind = ICMP6, .type = 3}},
        {RULE("icmp", "icmpv6.mtu:0;"), {.kind = ICMP6, .type = 2}, {.kind = ICMP, .type = 2}},
        /* A message too short for the identifier. */
        {RULE("icmp", "icmp_id:0;"), RAW(1, "\0\0\0\0\0\0"), RAW(1, "\0\0\0\0\0")},
    };

    (void)state;
    CHECK(pairs);
}

static void test_vlan(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "vlan.layers:0;"), {.kind = UDP}, IN_VLANS(5, 0)},
        {RULE("ip", "vlan.layers:>0;"), IN_VLANS(5, 0), {.kind = UDP}},
        {RULE("ip", "vlan.layers:2;"), IN_VLANS(5, 6), IN_VLANS(5, 0)},
        {RULE("ip", "vlan.id:6;"), IN_VLANS(5, 6), IN_VLANS(5, 7)},
        {RULE("ip", "vlan.id:5,any;"), IN_VLANS(5, 6), {.kind = UDP}},
        {RULE("ip", "vlan.id:!5;"), IN_VLANS(5, 6), IN_VLANS(5, 5)},
        {RULE("ip", "vlan.id:!5;"), IN_VLANS(6, 0), {.kind = UDP}},
        {RULE("ip", "vlan.id:<6,all;"), IN_VLANS(4, 5), IN_VLANS(4, 6)},
        {RULE("ip", "vlan.id:<6,all;"), IN_VLANS(4, 0), {.kind = UDP}},
        {RULE("ip", "vlan.id:5,0;"), IN_VLANS(5, 6), IN_VLANS(6, 5)},
        {RULE("ip", "vlan.id:5, 1;"), IN_VLANS(6, 5), IN_VLANS(5, 0)},
        {RULE("ip", "vlan.id:5,-1;"), IN_VLANS(5, 0), IN_VLANS(5, 6)},
        {RULE("ip", "vlan.id:5,-2;"), IN_VLANS(5, 6), IN_VLANS(5, 0)},
        {RULE("ip", "vlan.id:0x10-0x12,-1;"), IN_VLANS(1, 0x11), IN_VLANS(1, 0x12)},
        {RULE("ip", "vlan.id:>=0;"), IN_VLANS(1, 0), {.kind = TCP6}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_events(void **state)
{
    static const struct pair pairs[] = {
        {RULE("pkthdr", "decode-event:ipv4.pkt_too_small;"),
         {.kind = UDP, .captured = 33},
         {.kind = UDP, .captured = 34}},
        {RULE("pkthdr", "decode-event:ipv6.pkt_too_small;"),
         {.kind = TCP6, .captured = 53},
         {.kind = TCP6, .captured = 54}},
        {RULE("pkthdr", "decode-event:ipv6.trunc_pkt;"),
         {.kind = TCP6, .captured = 54},
         {.kind = TCP6, .captured = 53}},
        {RULE("pkthdr", "decode-event:tcp.pkt_too_small;"), RAW(6, "\0\1\0\2"),
         RAW(17, "\0\1\0\2")},
        {RULE("pkthdr", "decode-event:udp.pkt_too_small;"), RAW(17, "\0\1\0\2"),
         RAW(6, "\0\1\0\2")},
        {RULE("pkthdr", "decode-event:sctp.pkt_too_small;"), RAW(132, "\0\1\0\2"), {.kind = SCTP}},
        {RULE("pkthdr", "decode-event:vlan.header_too_small;"),
         {.kind = UDP, .vlan = {5, 0}, .captured = 17},
         {.kind = UDP, .vlan = {5, 0}, .captured = 18}},
        {RULE("pkthdr", "decode-event:ipv4.icmpv6;"),
         RAW(58, "\x80\0\0\0\0\0\0\0"),
         {.kind = ICMP6, .type = 128}},
    };

    (void)state;
    CHECK(pairs);
}

/* A layer that the batch does not have never matches, also where the check is negated. */
static void test_third_vlan(void **state)
{
    static const char *const rules[] = {RULE("ip", "vlan.id:!1,2;"), RULE("ip", "vlan.id:!1,-3;")};
    static const struct packet packet = IN_VLANS(5, 6);

    (void)state;
    assert_false(rule_matches(rules[0], &packet));
    assert_false(rule_matches(rules[1], &packet));
}

/* Fewer protocols than keys, and more. */
static void test_keys(void **state)
{
    static const struct {
        const char *rule, *key;
    } found[] = {
        {RULE("ip", "ip_proto:2;"), "found by the protocol in the IP header"},
        {RULE("tcp", "ip_proto:>16;"), "found by the protocol of the packet"},
        {RULE("ip", "ip_proto:!2;"), "found by the protocol of the packet"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        struct sl_rules *rules = load_rules(found[i].rule);
        char text[1024];

        assert_true(sl_rules_explain(rules, 1, 1, text, sizeof text));
        if (strstr(text, found[i].key) == NULL)
            fail_msg("%s: %s", found[i].rule, text);
        sl_rules_free(rules);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_ip),
        cmocka_unit_test(test_tos),        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_icmp),       cmocka_unit_test(test_vlan),
        cmocka_unit_test(test_third_vlan), cmocka_unit_test(test_events),
        cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
