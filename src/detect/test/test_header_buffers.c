/* SPDX-License-Identifier: MIT */
/* Contents of headers and addresses, on a packet that matches and on one that just does not. */
#include "detect_pairs.h"

#define IP_OPTIONS .ip_options = "\x94\4\0\0", .ip_words = 1
#define TCP_OPTIONS .tcp_options = "\2\4\5\xB4\3\3\7\0", .tcp_words = 2

static void test_headers(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "ipv4.hdr; content:\"|40 11|\"; offset:8; depth:2;"),
         {.kind = UDP},
         {.kind = UDP, .ttl = 65}},
        {RULE("ip", "ipv4.hdr; bsize:20;"), {.kind = UDP}, {.kind = UDP, IP_OPTIONS}},
        {RULE("ip", "ipv4.hdr; content:\"|94 04|\"; offset:20;"),
         {.kind = UDP, IP_OPTIONS},
         {.kind = UDP, .payload = "\x94\4"}},
        {RULE("ip", "ipv4.hdr; content:!\"|94 04 00 00|\"; offset:20;"),
         {.kind = UDP},
         {.kind = UDP, IP_OPTIONS}},
        {RULE("ip", "ipv4.hdr; content:!\"|94|\";"), {.kind = UDP}, {.kind = TCP6}},
        {RULE("ip", "ipv6.hdr; bsize:40; content:\"|20 01 0d b8|\"; offset:8; depth:4;"),
         {.kind = TCP6},
         {.kind = TCP}},
        {RULE("tcp", "tcp.hdr; bsize:28;"), {.kind = TCP, TCP_OPTIONS}, {.kind = TCP}},
        {RULE("tcp", "tcp.hdr; content:\"|02 04|\"; content:\"|03 03 07|\"; distance:2; within:3;"),
         {.kind = TCP, TCP_OPTIONS},
         {.kind = TCP, .payload = "\2\4\5\xB4\3\3\7"}},
        {RULE("tcp", "tcp.hdr; content:\"|07 d0|\"; offset:2; depth:2;"),
         {.kind = TCP6},
         {.kind = TCP, .dst_port = 2001}},
        {RULE("udp", "udp.hdr; content:\"|00 09|\"; offset:4; depth:2; bsize:8;"),
         {.kind = UDP, .payload = "x"},
         {.kind = UDP, .payload = "xy"}},
        {RULE("sctp", "sctp.hdr; content:\"|03 e8|\"; startswith; bsize:12;"),
         {.kind = SCTP},
         {.kind = SCTP, .src_port = 1001}},
        {RULE("icmp", "icmpv4.hdr; content:\"|08 07|\"; startswith; bsize:8;"),
         {.kind = ICMP, .type = 8, .code = 7},
         {.kind = ICMP6, .type = 8, .code = 7}},
        {RULE("icmp", "icmpv6.hdr; content:\"|80|\"; startswith; bsize:8;"),
         {.kind = ICMP6, .type = 128},
         {.kind = ICMP, .type = 128}},
        {RULE("ip", "tcp.hdr; content:\"|03 e8|\";"), {.kind = TCP}, {.kind = UDP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_addresses(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "ip.src; content:\"|c0 a8 00 01|\"; bsize:4;"), {.kind = TCP}, {.src = 1}},
        {RULE("ip", "ip.dst; content:\"|cb 00 71|\"; startswith;"), {.kind = UDP}, {.dst = 1}},
        {RULE("ip", "ip.src; content:\"|20 01|\"; content:\"|01|\"; endswith; bsize:16;"),
         {.kind = TCP6},
         {.kind = TCP}},
        {RULE("ip", "ip.dst; content:\"|02|\"; offset:15;"), {.kind = ICMP6}, {.kind = ICMP}},
        {RULE("pkthdr", "ip.src; bsize:>0;"), {.kind = TCP}, {.kind = ARP}},
    };

    (void)state;
    CHECK(pairs);
}

/* Sections of one buffer are one, wherever the rule names it; a payload has its own. */
static void test_sections(void **state)
{
    static const struct pair pairs[] = {
        {RULE("udp", "ipv4.hdr; content:\"|40|\"; offset:8; pkt_data; content:\"ab\"; ipv4.hdr; "
                     "content:\"|11|\"; distance:0; within:1;"),
         {.kind = UDP, .payload = "xab"},
         {.kind = UDP, .payload = "xa"}},
        {RULE("tcp", "content:\"ab\"; tcp.hdr; content:\"|03 e8|\"; startswith;"),
         {.kind = TCP, .payload = "ab"},
         {.kind = TCP, .payload = "ab", .src_port = 1001}},
        {RULE("tcp", "tcp.hdr; content:\"|03 e8|\"; startswith; fast_pattern; pkt_data; "
                     "content:\"ab\"; depth:2;"),
         {.kind = TCP, .payload = "ab"},
         {.kind = TCP, .payload = "cab"}},
    };

    (void)state;
    CHECK(pairs);
}

/* In a tunnel the buffers are those of the header that the rule is tried with. */
static void test_tunnels(void **state)
{
    static const struct packet tunnel = {.kind = GRE_TCP, .payload = "ab"};

    (void)state;
    assert_true(
        rule_matches(RULE("ip", "ipv4.hdr; content:\"|2f|\"; offset:9; depth:1;"), &tunnel));
    assert_true(
        rule_matches(RULE("ip", "ipv4.hdr; content:\"|06|\"; offset:9; depth:1;"), &tunnel));
    assert_false(rule_matches(RULE("ip", "ipv4.hdr; content:\"|2f|\"; offset:9; depth:1; ip.src; "
                                         "content:\"|c0 a8 00 01|\";"),
                              &tunnel));
    assert_true(rule_matches(RULE("ip", "ipv4.hdr; content:\"|2f|\"; offset:9; depth:1; ip.src; "
                                        "content:\"|0a 00 00 01|\";"),
                             &tunnel));
    assert_true(rule_matches(RULE("ip", "tcp.hdr; content:\"|03 e8|\"; startswith;"), &tunnel));
    assert_false(rule_matches(RULE("ip", "content:\"ab\"; ipv4.hdr; content:\"|2f|\"; offset:9; "
                                         "depth:1;"),
                              &tunnel));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_tunnels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
