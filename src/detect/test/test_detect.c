/* SPDX-License-Identifier: MIT */
/* Each keyword on a packet that matches and on one that just does not. */
#include "detect_pairs.h"

#define TO_SERVER SL_FLOW_TO_SERVER
#define ESTABLISHED SL_FLOW_ESTABLISHED
#define IP4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* A packet from outside to home. */
#define OUTSIDE                                                \
    {                                                          \
        .src = IP4(203, 0, 113, 1), .dst = IP4(192, 168, 3, 4) \
    }

static void test_protocols(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", ""), {.kind = TCP}, {.kind = UDP}},
        {RULE("tcp", ""), {.kind = TCP6}, {.kind = ICMP6}},
        {RULE("tcp-pkt", ""), {.kind = TCP}, {.kind = UDP}},
        {RULE("tcp-stream", ""), {.kind = TCP}, {.kind = UDP}},
        {RULE("udp", ""), {.kind = UDP}, {.kind = TCP}},
        {RULE("sctp", ""), {.kind = SCTP}, {.kind = TCP}},
        {RULE("icmp", ""), {.kind = ICMP}, {.kind = TCP}},
        {RULE("icmp", ""), {.kind = ICMP6}, {.kind = TCP6}},
        {RULE("icmpv4", ""), {.kind = ICMP}, {.kind = ICMP6}},
        {RULE("icmpv6", ""), {.kind = ICMP6}, {.kind = ICMP}},
        {RULE("ip", ""), {.kind = OTHER_IP, .ip_protocol = 89}, {.kind = ARP}},
        {RULE("ip", ""), {.kind = TCP6}, {.kind = ARP}},
        {RULE("ipv4", ""), {.kind = UDP}, {.kind = TCP6}},
        {RULE("ip4", ""), {.kind = UDP}, {.kind = TCP6}},
        {RULE("ipv6", ""), {.kind = TCP6}, {.kind = TCP}},
        {RULE("ip6", ""), {.kind = TCP6}, {.kind = TCP}},
        {RULE("pkthdr", "dsize:0;"), {.kind = ARP}, {.kind = TCP, .payload = "x"}},
        /* A fragment that is not the first is TCP, without ports. */
        {RULE("tcp", ""), {.fragment = 10, .payload = "x"}, {.kind = UDP, .fragment = 10}},
        {"alert tcp any any -> any 2000 (sid:1;)", {.kind = TCP}, {.fragment = 10}},
        {"alert tcp any any -> any !1 (sid:1;)", {.kind = TCP}, {.fragment = 10}},
        {"alert tcp any any -> any 2000 (sid:1;)", {.fragment = 0x2000}, {.kind = UDP}},
        /* A header that was cut off is none. */
        {RULE("tcp", ""), {.kind = TCP}, {.kind = TCP, .captured = 40}},
        {RULE("ip", ""), {.kind = TCP, .captured = 40}, {.kind = TCP, .captured = 30}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_addresses(void **state)
{
    static const struct pair pairs[] = {
        {"alert ip 192.168.0.1 any -> any any (sid:1;)",
         {.kind = TCP},
         {.src = IP4(192, 168, 0, 2)}},
        {"alert ip any any -> 203.0.113.8/31 any (sid:1;)",
         {.kind = TCP},
         {.dst = IP4(203, 0, 113, 10)}},
        {"alert ip any any -> 203.0.113.9/255.255.255.0 any (sid:1;)",
         {.dst = IP4(203, 0, 113, 255)},
         {.dst = IP4(203, 0, 114, 0)}},
        {"alert ip 192.168.0.0-192.168.0.1 any -> any any (sid:1;)",
         {.kind = TCP},
         {.src = IP4(192, 168, 0, 2)}},
        {"alert ip !192.168.0.1 any -> any any (sid:1;)", {.src = 1}, {.kind = TCP}},
        {"alert ip [1.0.0.0/8,!1.2.3.0/24] any -> any any (sid:1;)",
         {.src = IP4(1, 2, 4, 0)},
         {.src = IP4(1, 2, 3, 255)}},
        {"alert ip [!1.2.3.0/24, 1.0.0.0/8] any -> any any (sid:1;)",
         {.src = IP4(1, 2, 2, 255)},
         {.src = IP4(1, 2, 3, 0)}},
        {"alert ip ![1.0.0.0/8,2.0.0.0/8] any -> any any (sid:1;)",
         {.src = IP4(3, 0, 0, 0)},
         {.src = IP4(2, 255, 255, 255)}},
        {"alert ip [1.0.0.0/8,![1.2.0.0/16,!1.2.3.4]] any -> any any (sid:1;)",
         {.src = IP4(1, 2, 3, 4)},
         {.src = IP4(1, 2, 3, 5)}},
        {"alert ip [1.0.0.0/8,[2.0.0.0/8,!1.2.3.4]] any -> any any (sid:1;)",
         {.src = IP4(1, 2, 3, 5)},
         {.src = IP4(1, 2, 3, 4)}},
        {"alert ip [1.2.3.4,1.2.3.6] any -> any any (sid:1;)",
         {.src = IP4(1, 2, 3, 6)},
         {.src = IP4(1, 2, 3, 5)}},
        {"alert ip any any -> any any (sid:1;)", {.kind = TCP6}, {.kind = ARP}},
        {"alert ip 0.0.0.0/0 any -> any any (sid:1;)", {.kind = TCP}, {.kind = TCP6}},
        {"alert ip 2001:db8::1 any -> any any (sid:1;)", {.kind = TCP6}, {.kind = TCP}},
        {"alert ip [2001:db8::/126,1.2.3.4] any -> 2001:db8::2/127 any (sid:1;)",
         {.kind = TCP6},
         {.src = IP4(1, 2, 3, 4)}},
        {"alert ip !10.0.0.0/8 any -> any any (sid:1;)", {.kind = TCP6}, {.src = IP4(10, 1, 1, 1)}},
        {"alert ip $HOME_NET any -> $EXTERNAL_NET any (sid:1;)", {.kind = TCP}, OUTSIDE},
        {"alert ip $EXTERNAL_NET any -> $HOME_NET any (sid:1;)", OUTSIDE, {.kind = TCP}},
        {"alert ip $EXTERNAL_NET any -> [$HOME_NET,$HTTP_SERVERS] any (sid:1;)",
         OUTSIDE,
         {.kind = TCP}},
        {"alert ip $HOME_NET any <> 203.0.113.0/24 any (sid:1;)",
         OUTSIDE,
         {.src = IP4(9, 9, 9, 9)}},
        {"alert ip 203.0.113.9 any <> $HOME_NET any (sid:1;)",
         {.kind = TCP},
         {.dst = IP4(9, 9, 9, 9)}},
        {RULE("ip", "sameip;"), {.dst = IP4(192, 168, 0, 1)}, {.kind = TCP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_ports(void **state)
{
    static const struct pair pairs[] = {
        {"alert tcp any 1000 -> any any (sid:1;)", {.kind = TCP}, {.src_port = 1001}},
        {"alert udp any any -> any 2000 (sid:1;)", {.kind = UDP}, {.kind = UDP, .dst_port = 2001}},
        {"alert sctp any any -> any 2000 (sid:1;)", {.kind = SCTP}, {.kind = SCTP, .dst_port = 1}},
        {"alert tcp any any -> any 2000: (sid:1;)", {.dst_port = 65535}, {.dst_port = 1999}},
        {"alert tcp any any -> any :2000 (sid:1;)", {.dst_port = 2000}, {.dst_port = 2001}},
        {"alert tcp any any -> any 1999:2001 (sid:1;)", {.dst_port = 1999}, {.dst_port = 1998}},
        {"alert tcp any any -> any !2000 (sid:1;)", {.dst_port = 2001}, {.dst_port = 2000}},
        {"alert tcp any any -> any [80, 2000] (sid:1;)", {.kind = TCP}, {.dst_port = 81}},
        {"alert tcp any any -> any [1000:3000,!2000] (sid:1;)",
         {.dst_port = 1999},
         {.dst_port = 2000}},
        {"alert tcp any any -> any [1:80,![2,4]] (sid:1;)", {.dst_port = 3}, {.dst_port = 4}},
        {"alert tcp any any -> any $HTTP_PORTS (sid:1;)", {.dst_port = 80}, {.dst_port = 81}},
        {"alert tcp any any -> any $FILE_DATA_PORTS (sid:1;)",
         {.dst_port = 143},
         {.dst_port = 144}},
        {"alert tcp any $SHELLCODE_PORTS -> any any (sid:1;)", {.src_port = 81}, {.src_port = 80}},
        {"alert tcp any 2000 <> any 1000 (sid:1;)", {.kind = TCP}, {.dst_port = 2001}},
        {"alert tcp any 1000 <> any 2000 (sid:1;)",
         {.src_port = 2000, .dst_port = 1000},
         {.src_port = 2000, .dst_port = 1001}},
        {"alert tcp 192.168.0.1 any <> any 1000 (sid:1;)",
         {.src = 9, .dst = IP4(192, 168, 0, 1)},
         {.kind = TCP}},
        {"alert ip any any -> any 2000 (sid:1;)", {.kind = UDP}, {.kind = ICMP}},
        {"alert ip any any -> any 0:65535 (sid:1;)", {.kind = ICMP}, {.kind = ARP}},
        {"alert ip any [101:65535,0:100] -> any any (sid:1;)", {.kind = ICMP}, {.kind = ARP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_header_fields(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "dsize:3;"), {.payload = "abc"}, {.payload = "abcd"}},
        {RULE("tcp", "dsize:<3;"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "dsize:>3;"), {.payload = "abcd"}, {.payload = "abc"}},
        {RULE("tcp", "dsize:>=3;"), {.payload = "abc"}, {.payload = "ab"}},
        {RULE("tcp", "dsize:<=3;"), {.payload = "abc"}, {.payload = "abcd"}},
        {RULE("tcp", "dsize:!3;"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "dsize:1<>3;"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "dsize: 1 <> 3 ;"), {.payload = "ab"}, {.payload = "a"}},
        {RULE("tcp", "dsize:1<=>3;"), {.payload = "abc"}, {.payload = "abcd"}},
        {RULE("udp", "dsize:0;"), {.kind = UDP}, {.kind = UDP, .payload = "a"}},
        {RULE("ip", "ttl:5;"), {.ttl = 5}, {.ttl = 6}},
        {RULE("ip", "ttl:<5;"), {.kind = TCP6, .ttl = 4}, {.kind = TCP6, .ttl = 5}},
        {RULE("ip", "ttl:4-6;"), {.ttl = 5}, {.ttl = 6}},
        {RULE("ip", "id:4660;"), {.id = 0x1234}, {.id = 0x1235}},
        {RULE("ip", "id:0;"), {.kind = TCP}, {.kind = TCP6}},
        {RULE("ip", "ip_proto:89;"), {.kind = OTHER_IP, .ip_protocol = 89}, {.kind = UDP}},
        {RULE("ip", "ip_proto:UDP;"), {.kind = UDP}, {.kind = TCP}},
        {RULE("ip", "ip_proto:!tcp;"), {.kind = UDP}, {.kind = TCP}},
        {RULE("ip", "ip_proto:>16;"), {.kind = UDP}, {.kind = TCP}},
        {RULE("ip", "ip_proto:!tcp; ip_proto:!udp;"), {.kind = ICMP}, {.kind = UDP}},
        {RULE("ip", "fragbits:D;"), {.fragment = 0x4000}, {.fragment = 0x6000}},
        {RULE("ip", "fragbits:MD;"), {.fragment = 0x6000}, {.fragment = 0x4000}},
        {RULE("ip", "fragbits:+D;"), {.fragment = 0x6000}, {.fragment = 0x2000}},
        {RULE("ip", "fragbits:M+;"), {.fragment = 0x2000}, {.fragment = 0x4000}},
        {RULE("ip", "fragbits:*MR;"), {.fragment = 0x8000}, {.fragment = 0x4000}},
        {RULE("ip", "fragbits:!MR;"), {.fragment = 0x4000}, {.fragment = 0xC000}},
        {RULE("icmp", "itype:8;"), {.kind = ICMP, .type = 8}, {.kind = ICMP, .type = 0}},
        {RULE("icmp", "itype:<8;"), {.kind = ICMP, .type = 7}, {.kind = ICMP, .type = 8}},
        {RULE("icmp", "itype:7<>20;"), {.kind = ICMP, .type = 8}, {.kind = ICMP, .type = 20}},
        {RULE("icmp", "itype:128;"), {.kind = ICMP6, .type = 128}, {.kind = ICMP6, .type = 129}},
        {RULE("icmp", "icode:>0;"), {.kind = ICMP, .code = 1}, {.kind = ICMP, .code = 0}},
        {RULE("icmp", "icode:3; itype:3;"),
         {.kind = ICMP, .type = 3, .code = 3},
         {.kind = ICMP, .type = 3, .code = 4}},
        {RULE("ip", "itype:0;"), {.kind = ICMP}, {.kind = TCP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_tcp_flags(void **state)
{
    enum { F = 1, S = 2, R = 4, P = 8, A = 16, U = 32, E = 64, C = 128 };
    static const struct pair pairs[] = {
        {RULE("tcp", "flags:S;"), {.tcp_flags = S}, {.tcp_flags = S | A}},
        {RULE("tcp", "flags:SA;"), {.tcp_flags = S | A}, {.tcp_flags = S}},
        {RULE("tcp", "flags:sa;"), {.tcp_flags = S | A}, {.tcp_flags = S | A | E}},
        {RULE("tcp", "tcp.flags:S;"), {.tcp_flags = S}, {.tcp_flags = A}},
        {RULE("tcp", "flags:S,12;"), {.tcp_flags = S | E | C}, {.tcp_flags = S | U}},
        {RULE("tcp", "flags:S,CE;"), {.tcp_flags = S | E}, {.tcp_flags = S | P}},
        {RULE("tcp", "flags:AP,SR;"), {.tcp_flags = A | P | S}, {.tcp_flags = A | P | U}},
        {RULE("tcp", "flags:12FS;"), {.tcp_flags = C | E | F | S}, {.tcp_flags = F | S}},
        {RULE("tcp", "flags:A+;"), {.tcp_flags = A | P}, {.tcp_flags = P}},
        {RULE("tcp", "flags:+SA;"), {.tcp_flags = A | S | U}, {.tcp_flags = A | U}},
        {RULE("tcp", "flags:FRS*;"), {.tcp_flags = A | R}, {.tcp_flags = A | P}},
        {RULE("tcp", "flags:!SF;"), {.tcp_flags = A}, {.tcp_flags = A | F}},
        {RULE("tcp", "flags:0;"), {.tcp_flags = 0}, {.tcp_flags = P}},
        {RULE("tcp", "flags:0,12;"), {.tcp_flags = C}, {.tcp_flags = C | A}},
        {RULE("tcp", "flags:!0;"), {.tcp_flags = U}, {.tcp_flags = 0}},
        {RULE("ip", "flags:0;"), {.kind = TCP}, {.kind = UDP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_flow(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "flow:to_server;"), {.flow = TO_SERVER}, {.flow = 0}},
        {RULE("tcp", "flow:from_client;"), {.flow = TO_SERVER}, {.flow = NO_FLOW}},
        {RULE("tcp", "flow:to_client;"), {.flow = 0}, {.flow = TO_SERVER}},
        {RULE("tcp", "flow:from_server;"), {.flow = 0}, {.flow = NO_FLOW}},
        {RULE("tcp", "flow:established;"), {.flow = ESTABLISHED}, {.flow = TO_SERVER}},
        {RULE("tcp", "flow: established , to_server ;"),
         {.flow = ESTABLISHED | TO_SERVER},
         {.flow = ESTABLISHED}},
        {RULE("tcp", "flow:to_server,established,no_stream;"),
         {.flow = ESTABLISHED | TO_SERVER},
         {.flow = TO_SERVER}},
        {RULE("tcp", "flow:not_established;"), {.flow = NO_FLOW}, {.flow = ESTABLISHED}},
        {RULE("tcp", "flow:not_established,to_server;"), {.flow = TO_SERVER}, {.flow = NO_FLOW}},
        {RULE("tcp", "flow:stateless;"), {.flow = NO_FLOW}, {.kind = UDP}},
        {RULE("tcp", "flow:stateless;"), {.flow = ESTABLISHED}, {.kind = UDP}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_contents(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "content:\"abc\";"), {.payload = "xabcx"}, {.payload = "xabCx"}},
        {RULE("tcp", "content:\"aBc\"; nocase;"), {.payload = "xAbCx"}, {.payload = "xabx"}},
        {RULE("tcp", "content:\"a|62 63|d\";"), {.payload = "abcd"}, {.payload = "abd"}},
        {RULE("tcp", "content:\"|41|\"; nocase;"), {.payload = "a"}, {.payload = "b"}},
        {RULE("tcp", "content:\"|61 6263|\";"), {.payload = "abc"}, {.payload = "ab"}},
        {RULE("tcp", "content:\"a\\\"b\\;c\\:d\\\\e\";"),
         {.payload = "a\"b;c:d\\e"},
         {.payload = "abcde"}},
        {RULE("tcp", "content:\"a;b)c\";"), {.payload = "a;b)c"}, {.payload = "a"}},
        {RULE("tcp", "content:\"longer-than-the-longest-literal-of-rules\";"),
         {.payload = "a longer-than-the-longest-literal-of-rules"},
         {.payload = "a wonger-than-the-longest-literal-of-rules"}},
        {RULE("tcp", "content:\"|00 ff 00|\";"),
         {.payload = "\0\377\0", .payload_len = 3},
         {.payload = "\0\377\1", .payload_len = 3}},
        {RULE("tcp", "content:!\"abc\";"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "content:! \"abc\" ;"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "content:!\"abc\";"), {.kind = TCP}, {.payload = "abc"}},
        {RULE("tcp", "content:!\"abc\"; nocase;"), {.payload = "ab"}, {.payload = "aBc"}},
        {RULE("tcp", "content:\"b\"; offset:1;"), {.payload = "ab"}, {.payload = "ba"}},
        {RULE("tcp", "content:\"ab\"; depth:3;"), {.payload = "xab"}, {.payload = "xxab"}},
        {RULE("tcp", "content:\"ab\"; offset:2; depth:3;"),
         {.payload = "xxxab"},
         {.payload = "xxxxab"}},
        {RULE("tcp", "content:\"ab\"; depth:3; offset:2;"),
         {.payload = "xxab"},
         {.payload = "xabx"}},
        {RULE("tcp", "content:!\"ab\"; depth:3;"), {.payload = "xxab"}, {.payload = "xab"}},
        {RULE("tcp", "content:!\"ab\"; offset:1;"), {.payload = "abx"}, {.payload = "xab"}},
        {RULE("tcp", "content:\"ab\"; startswith;"), {.payload = "abx"}, {.payload = "xab"}},
        {RULE("tcp", "content:\"ab\"; endswith;"), {.payload = "abxab"}, {.payload = "abx"}},
        {RULE("tcp", "content:\"ab\"; startswith; endswith;"),
         {.payload = "ab"},
         {.payload = "abab"}},
        {RULE("tcp", "content:!\"ab\"; endswith;"), {.payload = "abx"}, {.payload = "xab"}},
        {RULE("tcp", "content:\"ab\"; depth:3; endswith;"),
         {.payload = "xab"},
         {.payload = "abxx"}},
        {RULE("tcp", "content:\"abc\"; rawbytes;"), {.payload = "abc"}, {.payload = "ab"}},
        {RULE("tcp", "pkt_data; content:\"abc\";"), {.payload = "abc"}, {.payload = "ab"}},
        {RULE("ip", "content:\"abc\";"), {.kind = UDP, .payload = "abc"}, {.kind = ARP}},
        {RULE("icmp", "content:\"abc\";"),
         {.kind = ICMP, .payload = "abc"},
         {.kind = TCP, .payload = "abc"}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_relative_contents(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "content:\"a\"; content:\"b\"; distance:0;"),
         {.payload = "xab"},
         {.payload = "ba"}},
        {RULE("tcp", "content:\"a\"; content:\"b\"; distance:2;"),
         {.payload = "axxb"},
         {.payload = "axb"}},
        {RULE("tcp", "content:\"a\"; content:\"b\"; within:1;"),
         {.payload = "xab"},
         {.payload = "xaxb"}},
        {RULE("tcp", "content:\"a\"; content:\"bc\"; distance:1; within:3;"),
         {.payload = "axxbc"},
         {.payload = "axxxbc"}},
        {RULE("tcp", "content:\"a\"; content:\"bc\"; within:3; distance:1;"),
         {.payload = "axbc"},
         {.payload = "abc"}},
        {RULE("tcp", "content:\"ab\"; content:\"b\"; distance:-1;"),
         {.payload = "ab"},
         {.payload = "bxa"}},
        {RULE("tcp", "content:\"b\"; content:\"a\"; distance:-9; within:10;"),
         {.payload = "axxxb"},
         {.payload = "xxxxb"}},
        /* An earlier occurrence is given up for a later one. */
        {RULE("tcp", "content:\"a\"; content:\"b\"; within:1;"),
         {.payload = "axab"},
         {.payload = "axaxb"}},
        {RULE("tcp", "content:\"a\"; content:\"b\"; within:2; content:\"c\"; within:1;"),
         {.payload = "abxaxbc"},
         {.payload = "abxaxbxc"}},
        {RULE("tcp", "content:\"a\"; content:!\"b\"; within:1;"),
         {.payload = "abax"},
         {.payload = "abab"}},
        {RULE("tcp", "content:\"a\"; content:!\"b\"; distance:0;"),
         {.payload = "aba"},
         {.payload = "aab"}},
        {RULE("tcp", "content:\"a\"; content:!\"b\"; within:1; content:\"c\"; distance:0;"),
         {.payload = "abacx"},
         {.payload = "abcax"}},
        {RULE("tcp", "content:\"a\"; content:\"x\"; content:\"b\"; distance:0;"),
         {.payload = "bxab"},
         {.payload = "abx"}},
        {RULE("tcp", "content:\"a\"; content:\"b\"; distance:0; endswith;"),
         {.payload = "abxb"},
         {.payload = "abx"}},
        {RULE("tcp", "content:\"b\"; distance:1; within:2;"), {.payload = "xxb"}, {.payload = "b"}},
        {RULE("tcp", "content:\"a\"; isdataat:2,relative;"), {.payload = "axx"}, {.payload = "ax"}},
        {RULE("tcp", "content:\"a\"; isdataat:!2,relative;"),
         {.payload = "ax"},
         {.payload = "axx"}},
        {RULE("tcp", "content:\"a\"; isdataat:!1,relative;"),
         {.payload = "axa"},
         {.payload = "ax"}},
        {RULE("tcp", "content:\"a\"; isdataat:!0,relative;"),
         {.payload = "axa"},
         {.payload = "ax"}},
        {RULE("tcp", "content:\"a\"; isdataat: ! 1 , relative,rawbytes;"),
         {.payload = "a"},
         {.payload = "ax"}},
        {RULE("tcp", "isdataat:2;"), {.payload = "abc"}, {.payload = "ab"}},
        {RULE("tcp", "isdataat:!2;"), {.payload = "ab"}, {.payload = "abc"}},
        {RULE("tcp", "content:\"a\"; nocase; isdataat:1,relative; content:\"b\"; within:1;"),
         {.payload = "Ab"},
         {.payload = "Axb"}},
        /* In Snort the byte that many behind the cursor must be there: one byte more. */
        {RULE("tcp", "content:\"a\",nocase; isdataat:2,relative;"),
         {.payload = "axxx"},
         {.payload = "axx"}},
        {RULE("tcp", "service:http; content:\"a\"; isdataat:!2,relative;"),
         {.payload = "axx"},
         {.payload = "axxx"}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_numbers_in_the_payload(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "byte_test:2,=,0x0102,1;"), {.payload = "x\1\2"}, {.payload = "x\2\1"}},
        {RULE("tcp", "byte_test:2,=,513,1,little;"), {.payload = "x\1\2"}, {.payload = "x\2\1"}},
        {RULE("tcp", "byte_test:3,>=,66051,0;"), {.payload = "\1\2\3"}, {.payload = "\1\2\2"}},
        {RULE("tcp", "content:\"a\"; byte_test:1,!&,2,0,relative;"),
         {.payload = "a\1"},
         {.payload = "a\3"}},
        {RULE("tcp", "byte_test:1,^,65,0;"), {.payload = "B"}, {.payload = "A"}},
        {RULE("tcp", "byte_test:2,<,46,0,string,dec;"), {.payload = "45"}, {.payload = "46"}},
        {RULE("tcp", "byte_test:4,=,255,0,string,hex;"), {.payload = "0xfF"}, {.payload = "0xfg"}},
        {RULE("tcp", "byte_test:3,=,8,0,string,oct;"), {.payload = " 10"}, {.payload = "8  "}},
        /* Without a base a prefix states it. */
        {RULE("tcp", "byte_test:3,=,8,0,string;"), {.payload = "010"}, {.payload = "10 "}},
        {RULE("tcp", "byte_test:1,=,9,0,bitmask 0xf8;"), {.payload = "\x4F"}, {.payload = "\x9"}},
        /* Digits that the payload cuts are a number in Snort 3 alone. */
        {RULE("tcp", "service:x; byte_test:4,=,12,0,string,dec;"),
         {.payload = "12"},
         {.payload = "13"}},
        {RULE("tcp", "byte_test:4,=,12,0,string,dec;"), {.payload = "12  "}, {.payload = "12"}},
        {RULE("tcp", "byte_jump:1,0; content:\"a\"; within:1;"),
         {.payload = "\2xxa"},
         {.payload = "\2xax"}},
        {RULE("tcp", "content:\"a\"; byte_jump:1,0,relative,align; content:\"b\"; within:1;"),
         {.payload = "a\1xxxxb"},
         {.payload = "a\1xxxb"}},
        {RULE("tcp", "byte_jump:1,0,multiplier 2,post_offset -1; content:\"b\"; within:1;"),
         {.payload = "\2xxxb"},
         {.payload = "\2xxb"}},
        {RULE("tcp", "byte_jump:1,1,from_beginning; content:\"b\"; within:1;"),
         {.payload = "x\3xb"},
         {.payload = "x\2xb"}},
        {RULE("tcp", "byte_jump:0,0,from_end,post_offset -3; content:\"b\"; within:1;"),
         {.payload = "xxbxx"},
         {.payload = "xbxxx"}},
        {RULE("tcp", "byte_jump:1,0;"), {.payload = "\2xx"}, {.payload = "\3xx"}},
        /* A jump to before the payload stays at its begin in Suricata, and fails in Snort. */
        {RULE("tcp", "byte_jump:1,0,post_offset -9; content:\"|01|\"; within:1;"),
         {.payload = "\1x"},
         {.payload = "\2x"}},
        {RULE("tcp", "service:x; byte_jump:1,0,post_offset -3;"),
         {.payload = "\3x"},
         {.payload = "\1x"}},
        {RULE("tcp", "byte_extract:1,0,n; content:\"a\"; offset:n; depth:1;"),
         {.payload = "\2xa"},
         {.payload = "\1xa"}},
        {RULE("tcp", "byte_extract:1,0,n,multiplier 2,align 4; byte_test:1,=,n,1;"),
         {.payload = "\3\10"},
         {.payload = "\3\6"}},
        /* Each occurrence sets the name anew. */
        {RULE("tcp", "content:\"a\"; byte_extract:1,0,n,relative; content:\"b\"; distance:n; "
                     "within:1;"),
         {.payload = "a\3xa\1xbx"},
         {.payload = "a\3xa\2xbx"}},
        {RULE("tcp", "byte_math:bytes 1,offset 0,oper +,rvalue 1,result n; isdataat:!n,relative;"),
         {.payload = "\1x"},
         {.payload = "\1xx"}},
        {RULE("tcp", "byte_math:bytes 1,offset 0,oper <<,rvalue 4,result n,bitmask 0xf0; "
                     "byte_test:1,=,n,1;"),
         {.payload = "\3\3"},
         {.payload = "\3\x30"}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_expressions(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "pcre:\"/a[bc]+d/\";"), {.payload = "xabcbd"}, {.payload = "xad"}},
        {RULE("tcp", "pcre:!\"/a.c/\";"), {.payload = "a\nc"}, {.payload = "abc"}},
        {RULE("tcp", "pcre:\"/A.C/is\";"), {.payload = "xa\nc"}, {.payload = "ac"}},
        {RULE("tcp", "pcre:\"/^b/m\";"), {.payload = "a\nb"}, {.payload = "ab"}},
        {RULE("tcp", "pcre:\"/b/A\";"), {.payload = "ba"}, {.payload = "ab"}},
        {RULE("tcp", "pcre:\"/a b #c/x\";"), {.payload = "ab"}, {.payload = "a b"}},
        {RULE("tcp", "pcre:\"/b$/E\";"), {.payload = "ab"}, {.payload = "ab\n"}},
        {RULE("tcp", "pcre:\"/a+/G\"; content:\"a\"; within:1;"),
         {.payload = "aa"},
         {.payload = "a"}},
        {RULE("tcp", "pcre:\"mxa/bx\";"), {.payload = "a/b"}, {.payload = "ab"}},
        {RULE("tcp", "pcre:\"/a\"[^x]/\";"), {.payload = "a\";"}, {.payload = "a;"}},
        /* Relative: the expression begins at the cursor. */
        {RULE("tcp", "content:\"a\"; pcre:\"/^b/R\";"), {.payload = "axab"}, {.payload = "axb"}},
        {RULE("tcp", "content:\"a\"; pcre:\"/b/R\";"), {.payload = "axb"}, {.payload = "bxa"}},
        {RULE("tcp", "content:\"a\"; pcre:!\"/b/R\";"), {.payload = "bxa"}, {.payload = "axb"}},
        {RULE("tcp", "content:\"a\"; pcre:\"/\\bb/R\";"), {.payload = "ab"}, {.payload = "axb"}},
        /* The content behind may begin at the end of a later match. */
        {RULE("tcp", "pcre:\"/a.*z|b/\"; content:\"c\"; within:1;"),
         {.payload = "axbcxz"},
         {.payload = "axbxcz"}},
        {RULE("tcp", "pcre:\"/ab/\"; content:\"c\"; within:1; pcre:\"/d/R\";"),
         {.payload = "abxabcxd"},
         {.payload = "dabxabc"}},
        /* Without a literal, in a packet without payload. */
        {RULE("tcp", "pcre:\"/^$/\";"), {.payload_len = 0}, {.payload = "a"}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_base64(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "base64_decode; base64_data; content:\"foobar\";"),
         {.payload = "Zm9vYmFy"},
         {.payload = " Zm9vYmFy"}},
        {RULE("tcp", "content:\"a=\"; base64_decode:bytes 8, offset 1, relative; base64_data; "
                     "content:\"FOO\"; nocase; content:\"bar\"; distance:0; bsize:6;"),
         {.payload = "a=Zm9v a=.Zm9vYmFyZm9v"},
         {.payload = "a=Zm9v a=.Zm9vYmF"}},
        {RULE("tcp", "base64_decode:bytes 4; base64_data; content:!\"b\"; isdataat:!3;"),
         {.payload = "Zm9vYmFy"},
         {.payload = "YmFyZm9v"}},
        {RULE("tcp", "base64_decode:offset 2; base64_data; pcre:\"/^fo+$/\"; pkt_data;"),
         {.payload = "--Zm9v"},
         {.payload = "--Zm9vYmFy"}},
        {RULE("tcp", "service:x; base64_decode:relative; base64_data; content:\"foobar\";"),
         {.payload = "Zm9v\r\n\tYmFy"},
         {.payload = "Zm9v\r\nYmFy"}},
        {RULE("tcp", "content:\"x\"; base64_decode:relative; ip.src; bsize:4; base64_data; "
                     "byte_extract:1,0,n; content:\"o\"; offset:n; depth:1; endswith;"),
         {.payload = "xAW8="},
         {.payload = "xAm8="}},
        {RULE("ip", "ip.src; content:\"Z\"; base64_decode; base64_data; content:\"foo\";"),
         {.src = 0x5A6D3976},
         {.src = 0x5A6D3977}},
        {RULE("tcp", "content:\"x\"; base64_decode:relative;"),
         {.payload = "x.xZg"},
         {.payload = "x.x"}},
    };

    (void)state;
    CHECK(pairs);
}

static void test_fast_patterns(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "content:\"abc\"; content:\"x\"; fast_pattern;"),
         {.payload = "xabc"},
         {.payload = "xab"}},
        {RULE("tcp", "content:\"abc\"; fast_pattern:only; content:\"x\";"),
         {.payload = "xabc"},
         {.payload = "abc"}},
        {RULE("tcp", "content:\"abcdef\"; fast_pattern:1,3;"),
         {.payload = "abcdef"},
         {.payload = "abcdxx"}},
        {RULE("tcp", "content:\"abcDEF\"; nocase; fast_pattern:3,3;"),
         {.payload = "ABCdef"},
         {.payload = "xxxdef"}},
        {RULE("tcp",
              "content:\"abcdef\",fast_pattern,fast_pattern_offset 2,fast_pattern_length 2;"),
         {.payload = "abcdef"},
         {.payload = "xxcdxx"}},
        {RULE("tcp", "content:!\"abc\"; fast_pattern; content:\"x\";"),
         {.payload = "x"},
         {.payload = "xabc"}},
    };

    (void)state;
    CHECK(pairs);
}

/* Options that Snort 3 writes another way mean the same. */
static void test_snort3_means_the_same(void **state)
{
    static const struct pair pairs[] = {
        {RULE("tcp", "content:\"aB\",nocase;"), {.payload = "Ab"}, {.payload = "a"}},
        {RULE("tcp", "content:\"ab\",depth 3,offset 2;"), {.payload = "xxab"}, {.payload = "xabx"}},
        {RULE("tcp", "content:\"ab\", offset 2 , depth 3;"),
         {.payload = "xxxab"},
         {.payload = "xxxxab"}},
        {RULE("tcp", "content:\"a\"; content:\"b\",within 3,distance 1;"),
         {.payload = "axxb"},
         {.payload = "axxxxb"}},
        {RULE("tcp", "content:!\"ab\",depth 3;"), {.payload = "xxab"}, {.payload = "xab"}},
        {RULE("tcp", "content:\"x\"; content:\"a\",distance -2,within 1;"),
         {.payload = "ax"},
         {.payload = "xa"}},
        {"alert tcp (content:\"a\"; sid:1;)", {.payload = "a"}, {.kind = UDP, .payload = "a"}},
        {"alert tcp any any -> any [80,2000] ( msg:\"m\"; service:http; rem:\"r\"; gid:3; "
         "content:\"a\"; sid:1; )",
         {.payload = "a"},
         {.dst_port = 81, .payload = "a"}},
    };

    (void)state;
    CHECK(pairs);
}

/* Rules by the outer header of a tunnel too; with both, one alert. */
static void test_tunnels(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "ip_proto:47;"), {.kind = GRE_TCP}, {.kind = TCP}},
        {RULE("ip", "ip_proto:6;"), {.kind = GRE_TCP}, {.kind = UDP}},
        {RULE("ip", "content:!\"x\";"), {.kind = GRE_TCP}, {.kind = ARP}},
        {"alert ip 10.0.0.1 any -> 10.0.0.2 any (sid:1;)", {.kind = GRE_TCP}, {.kind = TCP}},
        {"alert ip 192.168.0.1 any -> any any (sid:1;)", {.kind = GRE_TCP}, {.src = 9}},
        {"alert tcp any any -> any 2000 (content:\"ab\"; sid:1;)",
         {.kind = GRE_TCP, .payload = "ab"},
         {.kind = GRE_TCP, .payload = "a"}},
    };

    (void)state;
    CHECK(pairs);
}

/* A pass rule by the outer header passes what is by it, and not what is inside. */
static void test_passed_tunnels(void **state)
{
    struct sl_rules *rules = load_rules("pass ip any any -> any any (ip_proto:47; sid:1;)\n"
                                        "alert ip any any -> any any (ip_proto:47; sid:2;)\n"
                                        "alert ip any any -> any any (ip_proto:6; sid:3;)\n");
    struct sl_batch *batch = fixture_batch(1);
    struct sl_alert *alerts;
    size_t n;

    (void)state;
    add_packet(batch, &(struct packet){.kind = GRE_TCP});
    dissect_batch(batch);
    alerts = alerts_of(rules, batch, &n);
    assert_int_equal(n, 1);
    assert_int_equal(alerts[0].signature, 2);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

/* Alerts come by item, priority, place of the rule; once for each packet and rule. */
static void test_order(void **state)
{
    struct sl_rules *rules =
        load_rules("alert tcp any any -> any any (content:\"aa\"; sid:1;)\n"
                   "drop tcp any any -> any any (priority:1; sid:2;)\n"
                   "alert tcp any any -> any any (content:\"AA\"; nocase; sid:3; "
                   "classtype:trojan-activity;)\n"
                   "log udp any any -> any any (sid:4;)\n");
    struct sl_batch *batch = fixture_batch(4);
    static const uint32_t expected[][2] = {{0, 1}, {1, 1}, {1, 2}, {1, 0}, {2, 3}};
    struct sl_alert few[2];
    size_t n;

    (void)state;
    add_packet(batch, &(struct packet){.payload = "a"});
    add_packet(batch, &(struct packet){.payload = "aaaa"});
    add_packet(batch, &(struct packet){.kind = UDP, .payload = "aa"});
    add_packet(batch, &(struct packet){.kind = ARP});
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(alerts[i].item, expected[i][0]);
        assert_int_equal(alerts[i].signature, expected[i][1]);
    }
    free(alerts);

    struct sl_hits hits;

    claim_hits(&hits, batch, 2);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, few, 2, &n), SL_EOVERFLOW);
    assert_int_equal(n, 5);
    assert_int_equal(few[1].item, 1);
    assert_int_equal(few[1].signature, 1);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, NULL, 0, &n), SL_EOVERFLOW);
    assert_int_equal(sl_rules_evaluate(rules, batch, NULL, few, 2, &n), SL_EINVAL);
    free(hits.hit);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

/* Batches of one evaluator are independent, whatever their sizes. Claimed hits of an item do not
 * count for the same item of the next batch. */
static void test_an_evaluator_takes_batch_after_batch(void **state)
{
    static const char *const payloads[] = {"aa", "",   "bcdefghijklmnopqrstuvwxyzaa",
                                           "AA", "bb", "aab"};
    struct sl_rules *rules =
        load_rules("alert tcp any any -> any any (content:\"aa\"; nocase; sid:1;)\n"
                   "alert tcp any any -> any any (content:!\"b\"; sid:2;)\n");
    const struct sl_literal *literals;
    struct sl_evaluator *evaluator;
    size_t n_literals;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_EINVAL);
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
    for (size_t round = 0; round < 36; round++) {
        struct sl_batch *batch = fixture_batch(2);
        const struct sl_alert *alerts;
        struct sl_alert expected[8];
        struct sl_hits hits;
        size_t n, n_expected;

        add_packet(batch, &(struct packet){.payload = payloads[round % 6]});
        if (round % 5 != 0)
            add_packet(batch, &(struct packet){.payload = payloads[round / 6]});
        dissect_batch(batch);
        claim_hits(&hits, batch, n_literals);
        assert_int_equal(sl_evaluator_run(evaluator, batch, NULL, &alerts, &n), SL_EINVAL);
        assert_int_equal(sl_evaluator_run(evaluator, batch, &hits, &alerts, &n), SL_OK);
        assert_int_equal(sl_rules_evaluate(rules, batch, &hits, expected, 8, &n_expected), SL_OK);
        assert_int_equal(n, n_expected);
        if (n != 0)
            assert_memory_equal(alerts, expected, n * sizeof *alerts);
        free(hits.hit);
        sl_batch_free(batch);
    }
    sl_evaluator_free(evaluator);
    sl_evaluator_free(NULL);
    sl_rules_free(rules);
}

/* Hits go that lie in a buffer, protocol, direction or port that no rule of their literal asks for.
 * The others keep their order. */
static void test_sifted_hits(void **state)
{
    struct sl_rules *rules =
        load_rules("alert tcp any any -> any 80 (content:\"abc\"; flow:to_server; sid:1;)\n"
                   "alert udp any 53 <> any 99 (content:\"def\"; sid:2;)\n"
                   "alert udp any any -> any any (dns.query; content:\"ghi\"; sid:3;)\n");
    static const struct packet packets[] = {
        {.kind = TCP, .dst_port = 80, .flow = SL_FLOW_TO_SERVER},
        {.kind = TCP, .dst_port = 80},
        {.kind = TCP, .dst_port = 81, .flow = SL_FLOW_TO_SERVER},
        {.kind = UDP, .src_port = 99, .dst_port = 53},
        {.kind = UDP, .src_port = 99, .dst_port = 2},
    };
    const uint64_t back = (uint64_t)SL_BUFFER_STREAM_BACK << 32,
                   name = (uint64_t)SL_BUFFER_DNS_QUERY << 32;
    struct sl_hit hits[] = {{4, 1, 1}, {3, 2, 1},        {3, 1, 0},           {3, 9, name | 2},
                            {3, 9, 2}, {3, 9, name | 1}, {0, 1, 0},           {0, 2, back},
                            {1, 1, 0}, {2, 1, 0},        {0, 1, 3 /* none */}};
    static const struct sl_hit left[] = {
        {3, 2, 1}, {3, 9, (uint64_t)SL_BUFFER_DNS_QUERY << 32 | 2}, {0, 1, 0}};
    struct sl_hits list = {hits, sizeof hits / sizeof hits[0], sizeof hits / sizeof hits[0], false};
    struct sl_batch *batch = fixture_batch(8);
    const struct sl_literal *literals;
    size_t n_literals;

    (void)state;
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    assert_int_equal(n_literals, 3);
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
        add_packet(batch, &packets[i]);
    dissect_batch(batch);
    sl_rules_sift(rules, batch, &list);
    assert_int_equal(list.n, sizeof left / sizeof left[0]);
    assert_memory_equal(list.hit, left, sizeof left);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

static void test_pass(void **state)
{
    struct sl_rules *rules = load_rules("alert tcp any any -> any any (content:\"a\"; sid:1;)\n"
                                        "alert tcp any any -> any any (sid:2;)\n"
                                        "pass tcp any any -> any any (content:\"b\"; sid:3;)\n"
                                        "pass udp any any -> any any (sid:4;)\n"
                                        "alert ip any any -> any any (sid:5;)\n");
    struct sl_batch *batch = fixture_batch(3);
    size_t n;

    (void)state;
    add_packet(batch, &(struct packet){.payload = "ab"});
    add_packet(batch, &(struct packet){.payload = "a"});
    add_packet(batch, &(struct packet){.kind = UDP, .payload = "a"});
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(alerts[i].item, 1);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

/* The sids that alert on packet "ab" with this order of actions, as digits. */
static void alerts_in_order(const char *order, const char *expected)
{
    struct sl_rules *rules = load_rules("alert tcp any any -> any any (content:\"a\"; sid:1;)\n"
                                        "drop tcp any any -> any any (content:\"a\"; sid:2;)\n"
                                        "pass tcp any any -> any any (content:\"b\"; sid:3;)\n"
                                        "reject tcp any any -> any any (sid:4;)\n");
    struct sl_batch *batch = fixture_batch(1);
    struct sl_diag diag;
    char sids[8] = "";
    size_t n;

    assert_int_equal(sl_rules_order_actions(rules, order, &diag), SL_OK);
    add_packet(batch, &(struct packet){.payload = "ab"});
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    for (size_t i = 0; i < n; i++)
        sids[i] = (char)('0' + sl_rules_signature(rules, alerts[i].signature)->sid);
    assert_string_equal(sids, expected);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

static void test_order_of_actions(void **state)
{
    static const char *const wrong[] = {"",
                                        "pass",
                                        "pass,drop,reject",
                                        "pass,drop,reject,pass",
                                        "pass,drop,reject,log",
                                        "pass,drop,reject,alert,",
                                        "pass,drop,reject,alert,alert",
                                        "pass, drop,reject,alert"};
    struct sl_rules *rules = load_rules("");
    struct sl_diag diag;

    (void)state;
    alerts_in_order("pass,drop,reject,alert", "");
    alerts_in_order("drop,pass,reject,alert", "2");
    alerts_in_order("alert,reject,pass,drop", "14");
    alerts_in_order("alert,reject,drop,pass", "124");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(sl_rules_order_actions(rules, wrong[i], &diag), SL_EINVAL);
    sl_rules_free(rules);
}

/* Hits that name no literal or no item are nothing; a batch without origins has no flows. */
static void test_what_is_not_there(void **state)
{
    struct sl_rules *rules = load_rules(RULE("tcp", "content:\"ab\";"));
    struct sl_rules *empty = load_rules("");
    struct sl_batch *batch = fixture_batch(1);
    struct sl_hit hit[] = {{0, 1, 7}, {0, 1, 0}, {9, 1, 0}};
    struct sl_hits hits = {hit, 3, 3, false};
    struct sl_origin *origin = batch->origin;
    const struct sl_literal *literals;
    struct sl_diag diag;
    struct sl_alert alert;
    size_t n;

    (void)state;
    add_packet(batch, &(struct packet){.payload = "ab"});
    dissect_batch(batch);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, &alert, 1, &n), SL_EINVAL);
    assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
    assert_int_equal(n, 1);
    batch->origin = NULL;
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, &alert, 1, &n), SL_OK);
    assert_int_equal(n, 1);
    batch->origin = origin;

    assert_int_equal(sl_rules_compile(empty, &literals, &n, &diag), SL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sl_rules_evaluate(empty, batch, NULL, &alert, 1, &n), SL_OK);
    assert_int_equal(n, 0);
    sl_batch_free(batch);
    sl_rules_free(rules);
    sl_rules_free(empty);
}

/* A rule of each way of finding those without a literal, among many, meets just its packets. */
static void test_rules_without_literal_are_found(void **state)
{
    char text[65536], *at = text;
    struct sl_batch *batch = fixture_batch(800);
    size_t n, expected = 0;

    (void)state;
    for (unsigned i = 1; i <= 100; i++)
        at += sprintf(at,
                      "alert tcp any any -> any [%u,%u] (sid:%u;)\n"
                      "alert icmp any any -> any any (itype:%u; sid:%u;)\n"
                      "alert udp any any -> any !%u (ttl:%u; sid:%u;)\n"
                      "alert sctp any [%u,%u] -> any !9 (sid:%u;)\n",
                      i, i + 1000, i, i, 1000 + i, i, i, 2000 + i, i, i + 1000, 3000 + i);
    for (unsigned i = 1; i <= 200; i++) {
        add_packet(batch, &(struct packet){.dst_port = (uint16_t)i});
        add_packet(batch, &(struct packet){.kind = ICMP, .type = (uint8_t)i});
        add_packet(batch, &(struct packet){.kind = UDP, .ttl = (uint8_t)i});
        add_packet(batch, &(struct packet){.kind = SCTP, .src_port = (uint16_t)i});
        expected += i <= 100 ? 4 : 0;
    }
    dissect_batch(batch);

    struct sl_rules *rules = load_rules(text);
    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    assert_int_equal(n, expected);
    for (size_t i = 0; i < n; i++) {
        const uint32_t sid = sl_rules_signature(rules, alerts[i].signature)->sid;

        assert_int_equal(sid / 1000, alerts[i].item % 4);
        assert_int_equal(sid % 1000, alerts[i].item / 4 + 1);
    }
    free(alerts);
    sl_rules_free(rules);
    sl_batch_free(batch);
}

/* The last packet of a handshake is of a flow that is not established; what it says is of one that
 * is. */
static void test_established_behind_a_handshake(void **state)
{
    static const char *const established =
        "alert tcp any any -> any any (flow:established; sid:1;)";
    static const char *const before = "alert tcp any any -> any any (flow:not_established; sid:1;)";
    struct packet packet = {.kind = TCP,
                            .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED | SL_FLOW_OPENED};

    (void)state;
    assert_false(rule_matches(established, &packet));
    assert_true(rule_matches(before, &packet));
    packet.payload = "x";
    assert_true(rule_matches(established, &packet));
    packet.payload = NULL;
    packet.flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED;
    assert_true(rule_matches(established, &packet));
}

/* Rules that ask in turns for networks at home, for others, and for a third set. */
static void test_sets_of_addresses_in_turns(void **state)
{
    static const char *const sources[] = {"$HOME_NET", "$EXTERNAL_NET", "[192.168.0.1,10.9.9.9]"};
    static const bool matches[] = {true, false, true};
    struct sl_batch *batch = fixture_batch(1);
    char text[4096] = "";
    uint32_t n_expected = 0;
    size_t n;

    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t which = i % 2 == 0 ? i / 2 % 3 : i / 3 % 2;

        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "alert tcp %s any -> any any (content:\"a word\"; sid:%u;)\n", sources[which],
                 i + 1);
        n_expected += matches[which];
    }
    struct sl_rules *rules = load_rules(text);

    add_packet(batch, &(struct packet){.payload = "here is a word"});
    dissect_batch(batch);
    free(alerts_of(rules, batch, &n));
    assert_int_equal(n, n_expected);
    sl_batch_free(batch);
    sl_rules_free(rules);
}

/* Rules of addresses, ports and protocols alone are judged on the first packet of each side of a
 * flow, and on each packet without one. */
static void test_addresses_alone_once_a_side(void **state)
{
    static const struct {
        const char *rule;
        bool later; /* it matches packets behind the first */
    } cases[] = {
        {"alert udp any any -> any any (sid:1;)", false},
        {"alert ip any any -> any any (msg:\"a\"; sid:1;)", false},
        {"alert udp any any -> any 2000 (sid:1;)", false},
        {"alert udp any any -> any any (flowbits:set,a; sid:1;)", false},
        {"alert udp any any -> any any (threshold:type limit, track by_src, count 1, seconds 1; "
         "sid:1;)",
         false},
        {"alert udp any any -> any any (flow:stateless; sid:1;)", true},
        {"alert udp any any -> any any (flowbits:isnotset,a; sid:1;)", true},
        {"alert udp any any -> any any (flowint:a,+,1; sid:1;)", true},
        {"alert ip any any -> any any (ip_proto:17; sid:1;)", true},
        {"alert pkthdr any any -> any any (sid:1;)", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct packet packet = {.kind = UDP, .flow = SL_FLOW_TO_SERVER};

        print_message("%s\n", cases[i].rule);
        assert_true(rule_matches(cases[i].rule, &packet));
        packet.later = true;
        assert_int_equal(rule_matches(cases[i].rule, &packet), cases[i].later);
        packet.flow = NO_FLOW;
        if (strstr(cases[i].rule, "isnotset") == NULL)
            assert_true(rule_matches(cases[i].rule, &packet));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_of_addresses_in_turns),
        cmocka_unit_test(test_addresses_alone_once_a_side),
        cmocka_unit_test(test_established_behind_a_handshake),
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_header_fields),
        cmocka_unit_test(test_tcp_flags),
        cmocka_unit_test(test_flow),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_relative_contents),
        cmocka_unit_test(test_numbers_in_the_payload),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_fast_patterns),
        cmocka_unit_test(test_snort3_means_the_same),
        cmocka_unit_test(test_tunnels),
        cmocka_unit_test(test_passed_tunnels),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_an_evaluator_takes_batch_after_batch),
        cmocka_unit_test(test_sifted_hits),
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_order_of_actions),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_rules_without_literal_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
