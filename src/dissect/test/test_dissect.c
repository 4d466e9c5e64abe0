/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <sys/mman.h>

#include "dissect/dissection.h"
#include "dissect_invariants.h"
#include "frame_fixture.h"
#include "frame_samples.h"

/* One dissected packet. Its bytes ended where the next page may not be read. */
struct dissected {
    struct sl_packet packet;
    struct sl_span payload; /* from the packet's first byte */
    struct sl_origin origin;
    struct sl_dissect_stats stats;
    uint32_t seen;
};

enum { GUARDED_LEN = 20 * 4096 };

static uint8_t *guard;

static int make_guard(void **state)
{
    uint8_t *pages = (uint8_t *)mmap(NULL, GUARDED_LEN + 4096, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (pages == MAP_FAILED)
        return -1;
    guard = pages + GUARDED_LEN;
    return mprotect(guard, 4096, PROT_NONE);
}

static int free_guard(void **state)
{
    (void)state;
    return munmap(guard - GUARDED_LEN, GUARDED_LEN + 4096);
}

static struct dissected dissect(const uint8_t *bytes, uint32_t captured_len, uint32_t wire_len,
                                uint16_t link_type)
{
    struct dissected d = {.packet = {.len = captured_len},
                          .origin = {.wire_len = wire_len, .link_type = link_type}};
    struct sl_batch view = {.n_items = 1,
                            .max_items = 1,
                            .bytes = guard - captured_len,
                            .bytes_len = captured_len,
                            .payload = &d.payload,
                            .packet = &d.packet,
                            .origin = &d.origin};

    if (captured_len != 0)
        memcpy(view.bytes, bytes, captured_len);
    sl_dissect(&view, &d.stats);

    const char *violation = dissect_violation(&view, 0);
    if (violation != NULL)
        fail_msg("%s (link type %u, %u of %u bytes)", violation, link_type, captured_len, wire_len);
    assert_int_equal(d.stats.defects[d.packet.defect], 1);
    for (uint32_t i = 0; i < SL_N_PROTOCOLS; i++) {
        assert_true(d.stats.packets[i] <= 1);
        assert_int_equal(d.stats.bytes[i], d.stats.packets[i] * captured_len);
        d.seen |= (uint32_t)d.stats.packets[i] << i;
    }
    return d;
}

static struct frame *build(const struct sample *sample)
{
    static struct frame frame;

    frame.len = 0;
    sample->build(&frame);
    return &frame;
}

/* In what a dissected sample differs from what it must be; NULL: in nothing. */
static const char *difference(const struct sample *sample, const struct frame *f,
                              const struct dissected *d)
{
    const struct sl_packet *packet = &sample->packet;

    if (d->packet.defect != sample->packet.defect)
        return sl_defect_name(d->packet.defect);
    if (d->seen != sample->seen)
        return "protocols";
    if (d->packet.flags != packet->flags || d->packet.protocol != packet->protocol)
        return "flags or protocol";
    if (d->packet.outer != packet->outer || d->packet.network != packet->network ||
        d->packet.transport != packet->transport)
        return "offsets";
    for (uint32_t i = 0; i < 2; i++)
        if (d->origin.vlan[i] != (sample->vlan[i] ? sample->vlan[i] : SL_NO_VLAN))
            return "VLAN ids";
    if (d->payload.len != sample->payload.len ||
        (d->payload.len != 0 && d->payload.offset != sample->payload.offset))
        return "payload";
    if (d->payload.len == 7 && memcmp(f->byte + d->payload.offset, "payload", 7) != 0)
        return "payload bytes";
    return NULL;
}

static void test_samples_are_dissected(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < n_samples; i++) {
        const struct frame *f = build(&samples[i]);
        const struct dissected d = dissect(f->byte, f->len, f->len, samples[i].link_type);
        const char *what = difference(&samples[i], f, &d);

        if (what != NULL)
            fail_msg("%s: %s", samples[i].name, what);
    }
}

static void test_all_families_of_null(void **state)
{
    static const uint8_t families[] = {10, 24, 28, 30};

    (void)state;
    for (uint32_t i = 0; i < sizeof families; i++) {
        struct frame f = {.len = 0};

        frame_be32(&f, families[i]);
        frame_end_ipv6(&f, frame_ipv6(&f, 59));
        assert_int_equal(dissect(f.byte, f.len, f.len, 0).packet.flags, SL_PACKET_IPV6);
        f.byte[0] = families[i];
        f.byte[3] = 0;
        assert_int_equal(dissect(f.byte, f.len, f.len, 0).packet.flags, SL_PACKET_IPV6);
    }
}

/* The findings of a capture that keeps captured_len bytes, in a packet dissected whole as `whole`.
 * They are the same, as far as it goes, or state that it does not reach. */
static void check_snapped(const struct dissected *whole, const struct dissected *snapped)
{
    const uint32_t end = whole->payload.offset + whole->payload.len;
    const uint32_t kept = snapped->packet.len < end ? snapped->packet.len : end;

    if (snapped->packet.defect == SL_DEFECT_SNAPPED)
        return;
    assert_int_equal(snapped->packet.defect, whole->packet.defect);
    assert_int_equal(snapped->packet.network, whole->packet.network);
    assert_int_equal(snapped->packet.transport, whole->packet.transport);
    assert_int_equal(snapped->packet.outer, whole->packet.outer);
    assert_int_equal(snapped->seen, whole->seen);
    assert_int_equal(snapped->payload.len,
                     kept > whole->payload.offset ? kept - whole->payload.offset : 0);
    if (snapped->payload.len != 0)
        assert_int_equal(snapped->payload.offset, whole->payload.offset);
}

static void test_snapped_anywhere(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < n_samples; i++) {
        const struct frame *f = build(&samples[i]);
        const uint16_t link_type = samples[i].link_type;
        const struct dissected whole = dissect(f->byte, f->len, f->len, link_type);
        uint32_t n_snapped = 0;

        for (uint32_t len = 0; len < f->len; len++) {
            const struct dissected snapped = dissect(f->byte, len, f->len, link_type);

            check_snapped(&whole, &snapped);
            n_snapped += len < whole.payload.offset && snapped.packet.defect == SL_DEFECT_SNAPPED;
        }
        /* Each byte before the payload belongs to a header, those of ICMP's second half excepted.
         */
        if (whole.payload.len != 0 && whole.packet.transport != 0)
            assert_in_range(
                whole.payload.offset - n_snapped, 0,
                whole.packet.protocol == SL_IP_ICMP || whole.packet.protocol == SL_IP_ICMPV6 ? 4
                                                                                             : 0);
    }
}

static void test_cut_anywhere_on_the_wire(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < n_samples; i++) {
        const struct frame *f = build(&samples[i]);

        for (uint32_t len = 0; len < f->len; len++) {
            const struct dissected d = dissect(f->byte, len, len, samples[i].link_type);

            assert_int_not_equal(d.packet.defect, SL_DEFECT_SNAPPED);
        }
    }
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

static void test_altered_samples(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 500000; round++) {
        const struct sample *sample = &samples[random_below(n_samples)];
        struct frame *f = build(sample);

        for (uint32_t n = random_below(4); n != 0; n--)
            f->byte[random_below(f->len)] = (uint8_t)random_below(256);

        const uint32_t wire_len = random_below(8) != 0 ? f->len : random_below(f->len + 1);
        const struct dissected whole = dissect(f->byte, wire_len, wire_len, sample->link_type);
        const struct dissected snapped =
            dissect(f->byte, random_below(wire_len + 1), wire_len, sample->link_type);

        check_snapped(&whole, &snapped);
    }
}

/* The packet with a priority tag, which names no VLAN. */
static struct dissected dissect_tagged(const uint8_t *bytes, uint32_t captured_len,
                                       uint32_t wire_len)
{
    uint8_t tagged[2048] = {0};

    memcpy(tagged, bytes, 12);
    tagged[12] = 0x81;
    memcpy(tagged + 16, bytes + 12, captured_len - 12);
    return dissect(tagged, captured_len + 4, wire_len + 4, LINK_ETHERNET);
}

/* Makes a packet of IPv4 with TCP or UDP whose lengths are near the truth. */
static void make_nearly_plain(uint8_t bytes[128], uint32_t len)
{
    const bool is_tcp = random_below(2) != 0;
    const uint32_t total_len = len - 14 + random_below(5) - 2;
    const uint32_t udp_len = total_len - 20 + random_below(5) - 2;

    memcpy(bytes + 12, "\x08\x00\x45", 3);
    bytes[16] = (uint8_t)(total_len >> 8);
    bytes[17] = (uint8_t)total_len;
    bytes[23] = is_tcp ? SL_IP_TCP : SL_IP_UDP;
    bytes[38] = (uint8_t)(udp_len >> 8);
    bytes[39] = (uint8_t)udp_len;
    bytes[46] = (uint8_t)(random_below(16) << 4);
}

/* A tag takes a packet out of the plain case, and changes nothing else. */
static void test_plain_case_agrees(void **state)
{
    uint32_t n_plain = 0;

    (void)state;
    for (uint32_t run = 0; run < 20000; run++) {
        const uint32_t wire_len = 54 + random_below(70);
        const uint32_t len = wire_len - (random_below(4) == 0 ? random_below(40) : 0);
        uint8_t bytes[128] = {0};

        make_nearly_plain(bytes, wire_len);
        if (random_below(4) == 0)
            bytes[12 + random_below(40)] ^= (uint8_t)(1u << random_below(8));

        const struct dissected d = dissect(bytes, len, wire_len, LINK_ETHERNET);
        const struct dissected tagged = dissect_tagged(bytes, len, wire_len);
        const bool has_ip = (d.packet.flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0;

        assert_int_equal(d.seen | 1u << SL_PROTOCOL_VLAN, tagged.seen);
        assert_int_equal(d.packet.defect, tagged.packet.defect);
        assert_int_equal(d.packet.flags, tagged.packet.flags);
        assert_int_equal(d.packet.protocol, tagged.packet.protocol);
        assert_int_equal(d.packet.network + (has_ip ? 4 : 0), tagged.packet.network);
        assert_int_equal(d.packet.transport + (d.packet.transport != 0 ? 4 : 0),
                         tagged.packet.transport);
        assert_int_equal(d.payload.len, tagged.payload.len);
        if (d.payload.len != 0)
            assert_int_equal(d.payload.offset + 4, tagged.payload.offset);
        assert_memory_equal(d.origin.vlan, tagged.origin.vlan, sizeof d.origin.vlan);
        n_plain += d.packet.transport == 34 && d.payload.len != 0;
    }
    assert_in_range(n_plain, 4000, 16000);
}

/* A sample with bytes changed or cut off, and the defect that it then has. */
struct altered {
    const char *sample;
    uint32_t len; /* captured and on the wire; 0: all, EMPTY: none */
    struct {
        uint8_t at, n; /* which bytes; 0: none are changed */
        uint16_t value;
    } field;
    enum sl_defect defect;
};

#define ALL 0
#define EMPTY UINT32_MAX
#define SAME    \
    {           \
        0, 0, 0 \
    }

/* For each defect one packet that has it and one that just has not. */
static const struct altered altered[] = {
    {"ethernet", 13, SAME, SL_DEFECT_LINK_SHORT},
    {"ethernet", 14, SAME, SL_DEFECT_IPV4_SHORT},
    {"null, little endian", 3, SAME, SL_DEFECT_LINK_SHORT},
    {"null, little endian", 4, SAME, SL_DEFECT_IPV4_SHORT},
    {"sll", 15, SAME, SL_DEFECT_LINK_SHORT},
    {"sll", 16, SAME, SL_DEFECT_IPV4_SHORT},
    {"sll2", 19, SAME, SL_DEFECT_LINK_SHORT},
    {"sll2", 20, SAME, SL_DEFECT_VLAN_SHORT},
    {"raw, version 4", EMPTY, SAME, SL_DEFECT_LINK_SHORT},
    {"raw, version 4", 1, SAME, SL_DEFECT_IPV4_SHORT},
    {"hdlc, cisco", 3, SAME, SL_DEFECT_LINK_SHORT},
    {"hdlc, cisco", 4, SAME, SL_DEFECT_IPV4_SHORT},
    {"cisco hdlc", 3, SAME, SL_DEFECT_LINK_SHORT},
    {"cisco hdlc", 4, SAME, SL_DEFECT_IPV4_SHORT},
    {"llc", 16, SAME, SL_DEFECT_LINK_SHORT},
    {"llc", 17, SAME, SL_DEFECT_NONE},
    {"snap", 21, SAME, SL_DEFECT_LINK_SHORT},
    {"snap", 22, SAME, SL_DEFECT_IPV4_SHORT},

    {"vlan", 17, SAME, SL_DEFECT_VLAN_SHORT},
    {"vlan", 18, SAME, SL_DEFECT_IPV4_SHORT},
    {"vlan, eight", ALL, {44, 2, 0x8100}, SL_DEFECT_VLAN_DEEP},
    {"vlan, eight", ALL, {44, 2, 0x0806}, SL_DEFECT_NONE},
    {"mpls", 17, SAME, SL_DEFECT_MPLS_SHORT},
    {"mpls", 18, SAME, SL_DEFECT_MPLS_SHORT},
    {"mpls", 19, SAME, SL_DEFECT_IPV4_SHORT},
    {"mpls, pseudowire", 25, SAME, SL_DEFECT_MPLS_SHORT},
    {"mpls, pseudowire", 39, SAME, SL_DEFECT_LINK_SHORT},
    {"nsh", 21, SAME, SL_DEFECT_LINK_SHORT},
    {"nsh", 22, SAME, SL_DEFECT_IPV6_SHORT},
    {"nsh, long", 37, SAME, SL_DEFECT_LINK_SHORT},
    {"pppoe", 19, SAME, SL_DEFECT_PPPOE_SHORT},
    {"pppoe", 20, SAME, SL_DEFECT_PPP_SHORT},
    {"pppoe", 21, SAME, SL_DEFECT_PPP_SHORT},
    {"pppoe", 22, SAME, SL_DEFECT_IPV6_SHORT},
    {"ppp, compressed", EMPTY, SAME, SL_DEFECT_PPP_SHORT},
    {"ppp, compressed", 1, SAME, SL_DEFECT_IPV4_SHORT},
    {"hdlc", EMPTY, SAME, SL_DEFECT_PPP_SHORT},
    {"hdlc", 2, SAME, SL_DEFECT_PPP_SHORT},
    {"hdlc", 4, SAME, SL_DEFECT_IPV6_SHORT},

    {"ethernet", ALL, {14, 1, 0x55}, SL_DEFECT_IPV4_VERSION},
    {"ethernet", ALL, {14, 1, 0x44}, SL_DEFECT_IPV4_HEADER_LEN},
    {"ethernet", ALL, {14, 1, 0x45}, SL_DEFECT_NONE},
    {"ethernet", ALL, {14, 1, 0x49}, SL_DEFECT_IPV4_HEADER_LEN},
    {"ethernet", ALL, {14, 1, 0x48}, SL_DEFECT_UDP_SHORT},
    {"ethernet", 33, SAME, SL_DEFECT_IPV4_SHORT},
    {"ethernet", 34, SAME, SL_DEFECT_IPV4_TOTAL_LEN},
    {"ethernet", ALL, {16, 2, 36}, SL_DEFECT_IPV4_TOTAL_LEN},
    {"ethernet", ALL, {16, 2, 35}, SL_DEFECT_NONE},
    {"ethernet", ALL, {16, 2, 19}, SL_DEFECT_IPV4_TOTAL_LEN},
    {"ethernet", ALL, {16, 2, 20}, SL_DEFECT_UDP_SHORT},
    {"ethernet", ALL, {16, 2, 0}, SL_DEFECT_NONE},
    {"ipv4, options", ALL, {2, 2, 59}, SL_DEFECT_IPV4_HEADER_LEN},
    {"ipv4, options", ALL, {2, 2, 60}, SL_DEFECT_UDP_SHORT},
    {"raw ipv6", ALL, {0, 1, 0x50}, SL_DEFECT_IPV6_VERSION},
    {"raw ipv6", ALL, {0, 1, 0x6F}, SL_DEFECT_NONE},
    {"raw ipv6", 39, SAME, SL_DEFECT_IPV6_SHORT},
    {"raw ipv6", 40, SAME, SL_DEFECT_IPV6_PAYLOAD_LEN},
    {"raw ipv6", ALL, {4, 2, 16}, SL_DEFECT_IPV6_PAYLOAD_LEN},
    {"raw ipv6", ALL, {4, 2, 15}, SL_DEFECT_NONE},
    {"ipv6, esp", ALL, {4, 2, 7}, SL_DEFECT_IPV6_EXT_SHORT},
    {"ipv6, esp", ALL, {4, 2, 8}, SL_DEFECT_NONE},
    {"ipv6, esp", ALL, {41, 1, 1}, SL_DEFECT_IPV6_EXT_SHORT},
    {"ipv6, ah", ALL, {41, 1, 8}, SL_DEFECT_IPV6_EXT_SHORT},
    {"ipv6, ah", ALL, {41, 1, 7}, SL_DEFECT_UDP_SHORT},
    {"ipv6, first", ALL, {4, 2, 7}, SL_DEFECT_IPV6_EXT_SHORT},
    {"ipv6, first", ALL, {4, 2, 8}, SL_DEFECT_NONE},
    {"ipv6, sixteen", ALL, {160, 1, 60}, SL_DEFECT_IPV6_EXT_DEEP},
    {"ipv6, sixteen", ALL, {160, 1, 59}, SL_DEFECT_NONE},

    {"tcp, options", ALL, {2, 2, 39}, SL_DEFECT_TCP_SHORT},
    {"tcp, options", ALL, {2, 2, 40}, SL_DEFECT_TCP_HEADER_LEN},
    {"tcp, options", ALL, {2, 2, 79}, SL_DEFECT_TCP_HEADER_LEN},
    {"tcp, options", ALL, {2, 2, 80}, SL_DEFECT_NONE},
    {"tcp, options", ALL, {32, 1, 0x40}, SL_DEFECT_TCP_HEADER_LEN},
    {"tcp, options", ALL, {32, 1, 0x50}, SL_DEFECT_NONE},
    {"raw ipv4", ALL, {2, 2, 27}, SL_DEFECT_UDP_SHORT},
    {"raw ipv4", ALL, {2, 2, 28}, SL_DEFECT_UDP_LEN},
    {"raw ipv4", ALL, {24, 2, 7}, SL_DEFECT_UDP_LEN},
    {"raw ipv4", ALL, {24, 2, 8}, SL_DEFECT_NONE},
    {"raw ipv4", ALL, {24, 2, 16}, SL_DEFECT_UDP_LEN},
    {"ipv4, first of udp", ALL, {24, 2, 16}, SL_DEFECT_NONE},
    {"ipv4, first of udp", ALL, {24, 2, 7}, SL_DEFECT_UDP_LEN},
    {"ipv4, first", ALL, {32, 1, 0x40}, SL_DEFECT_TCP_HEADER_LEN},
    {"sctp", ALL, {2, 2, 31}, SL_DEFECT_SCTP_SHORT},
    {"sctp", ALL, {2, 2, 32}, SL_DEFECT_NONE},
    {"icmp", ALL, {2, 2, 23}, SL_DEFECT_ICMP_SHORT},
    {"icmp", ALL, {2, 2, 24}, SL_DEFECT_NONE},
    {"icmpv6", ALL, {4, 2, 3}, SL_DEFECT_ICMP_SHORT},
    {"icmpv6", ALL, {4, 2, 4}, SL_DEFECT_NONE},

    {"gre", ALL, {2, 2, 23}, SL_DEFECT_GRE_SHORT},
    {"gre", ALL, {2, 2, 24}, SL_DEFECT_TUNNEL_SHORT},
    {"gre, all fields", ALL, {2, 2, 35}, SL_DEFECT_GRE_SHORT},
    {"gre, all fields", ALL, {2, 2, 36}, SL_DEFECT_TUNNEL_SHORT},
    {"gre, ethernet", ALL, {2, 2, 37}, SL_DEFECT_TUNNEL_SHORT},
    {"gre, ethernet", ALL, {36, 2, 0x88CC}, SL_DEFECT_NONE},
    {"gre, ethernet", ALL, {42, 1, 0x55}, SL_DEFECT_TUNNEL_SHORT},
    {"gre, pptp", ALL, {2, 2, 38}, SL_DEFECT_TUNNEL_SHORT},
    {"ipip", ALL, {2, 2, 20}, SL_DEFECT_TUNNEL_SHORT},
    {"ipip", ALL, {2, 2, 39}, SL_DEFECT_TUNNEL_SHORT},
    {"ipip", ALL, {2, 2, 40}, SL_DEFECT_IPV4_TOTAL_LEN},
    {"ipip", ALL, {20, 1, 0x35}, SL_DEFECT_TUNNEL_SHORT},
    {"ipip", ALL, {20, 1, 0x44}, SL_DEFECT_IPV4_HEADER_LEN},
    {"6in4", ALL, {34, 1, 0x40}, SL_DEFECT_TUNNEL_SHORT},
    {"gre, all fields", ALL, {36, 1, 0x45}, SL_DEFECT_TUNNEL_SHORT},
    {"gre", ALL, {24, 1, 0x65}, SL_DEFECT_TUNNEL_SHORT},
    {"unknown link", ALL, SAME, SL_DEFECT_LINK_TYPE},
};

static const struct sample *find_sample(const char *name)
{
    for (uint32_t i = 0; i < n_samples; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    fail_msg("no sample %s", name);
    return NULL;
}

static void test_defects(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof altered / sizeof altered[0]; i++) {
        const struct altered *a = &altered[i];
        const struct sample *sample = find_sample(a->sample);
        struct frame *f = build(sample);
        const uint32_t len = a->len == ALL ? f->len : a->len == EMPTY ? 0 : a->len;

        if (a->field.n == 2)
            store_be16(f->byte + a->field.at, a->field.value);
        else if (a->field.n == 1)
            f->byte[a->field.at] = (uint8_t)a->field.value;

        const struct dissected d = dissect(f->byte, len, len, sample->link_type);
        if (d.packet.defect != a->defect)
            fail_msg("%s, altered as in row %u: %s (expected %s)", a->sample, i,
                     sl_defect_name(d.packet.defect), sl_defect_name(a->defect));
    }
}

static void test_inner_header_of_a_tunnel_may_lie(void **state)
{
    const struct sample *sample = find_sample("ipip");
    struct frame *f = build(sample);

    (void)state;
    f->byte[20] = 0x44;

    struct dissected d = dissect(f->byte, f->len, f->len, sample->link_type);
    assert_int_equal(d.packet.network, 20);
    assert_int_equal(d.packet.outer, 0);
    assert_int_equal(d.packet.flags, SL_PACKET_IPV4 | SL_PACKET_OUTER_IPV4);

    /* Where it is no IP header at all, the outer one is what there is. */
    f->byte[20] = 0x35;
    d = dissect(f->byte, f->len, f->len, sample->link_type);
    assert_int_equal(d.packet.network, 0);
    assert_int_equal(d.packet.flags, SL_PACKET_IPV4);
    assert_int_equal(d.packet.protocol, SL_IP_IPIP);
}

/* A packet whose IP header lies behind a stack of n labels. */
static struct dissected dissect_behind_labels(uint32_t n, uint8_t protocol)
{
    static struct frame f;

    f.len = 0;
    frame_ethernet(&f, 0x8847);
    for (uint32_t i = 1; i < n; i++)
        frame_be32(&f, 0x000010FF);
    frame_be32(&f, 0x000011FF);

    const uint32_t ip = frame_ipv4(&f, protocol, 0);
    const uint32_t inner = frame_ipv4(&f, 89, 0);
    frame_end_ipv4(&f, inner);
    frame_end_ipv4(&f, ip);
    return dissect(f.byte, f.len, f.len, 1);
}

static void test_headers_out_of_reach(void **state)
{
    struct dissected d = dissect_behind_labels(16375, SL_IP_UDP);

    (void)state;
    assert_int_equal(d.packet.network, 65514);
    assert_int_equal(d.packet.transport, 65534);
    assert_int_equal(d.packet.defect, SL_DEFECT_UDP_LEN); /* and no offset */

    d = dissect_behind_labels(16376, SL_IP_UDP);
    assert_int_equal(d.packet.defect, SL_DEFECT_OFFSET);
    assert_int_equal(d.packet.network, 65518);
    assert_int_equal(d.packet.flags, SL_PACKET_IPV4);

    d = dissect_behind_labels(16381, SL_IP_UDP);
    assert_int_equal(d.packet.defect, SL_DEFECT_OFFSET);
    assert_int_equal(d.packet.flags, 0);

    d = dissect_behind_labels(60, SL_IP_IPIP);
    assert_int_equal(d.packet.defect, SL_DEFECT_NONE);
    assert_int_equal(d.packet.outer, 254);
    assert_int_equal(d.packet.network, 274);

    d = dissect_behind_labels(61, SL_IP_IPIP);
    assert_int_equal(d.packet.defect, SL_DEFECT_OFFSET);
    assert_int_equal(d.packet.network, 258);
    assert_int_equal(d.packet.flags, SL_PACKET_IPV4);
}

static void test_wire_length_below_the_captured(void **state)
{
    const struct sample *sample = find_sample("ethernet");
    const struct frame *f = build(sample);
    const struct dissected d = dissect(f->byte, f->len, f->len - 1, sample->link_type);

    (void)state;
    assert_int_equal(d.packet.defect, SL_DEFECT_NONE);
    assert_int_equal(d.payload.len, 7);
}

static void test_a_batch_is_counted(void **state)
{
    static const uint16_t link_types[] = {1, 1, 148, 254, 255, 300, 65535};
    const struct frame *f = build(find_sample("vlan"));
    struct sl_dissect_stats stats = {.packets = {[SL_PROTOCOL_UDP] = 5}};
    struct sl_batch *batch;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 4096, 16, &diag), SL_OK);
    for (uint32_t i = 0; i < 7; i++) {
        sl_batch_add(batch, f->byte, f->len, 0);
        batch->origin[i].wire_len = f->len;
        batch->origin[i].link_type = link_types[i];
    }
    sl_dissect(batch, &stats);
    assert_int_equal(batch->payload[1].offset, batch->packet[1].offset + 46);
    assert_int_equal(batch->payload[1].len, 7);
    assert_int_equal(batch->payload[2].len, 0);
    assert_int_equal(stats.packets[SL_PROTOCOL_UDP], 7);
    assert_int_equal(stats.bytes[SL_PROTOCOL_UDP], 2 * f->len);
    assert_int_equal(stats.packets[SL_PROTOCOL_UNKNOWN_LINK], 5);
    assert_int_equal(stats.unknown_links[148], 1);
    assert_int_equal(stats.unknown_links[254], 1);
    assert_int_equal(stats.unknown_links[255], 3);
    assert_int_equal(stats.defects[SL_DEFECT_NONE], 2);
    assert_int_equal(stats.defects[SL_DEFECT_LINK_TYPE], 5);
    sl_batch_free(batch);
}

/* Dissects a sample in a batch view and reads its tuple. */
static bool tuple_of(const char *name, struct sl_tuple *tuple)
{
    const struct sample *sample = find_sample(name);
    struct frame *f = build(sample);
    struct sl_packet packet = {.len = f->len};
    struct sl_origin origin = {.wire_len = f->len, .link_type = sample->link_type};
    struct sl_span payload;
    struct sl_dissect_stats stats = {.packets = {0}};
    struct sl_batch view = {
        .n_items = 1, .bytes = f->byte, .payload = &payload, .packet = &packet, .origin = &origin};

    sl_dissect(&view, &stats);
    return sl_packet_tuple(&view, 0, tuple);
}

static void test_tuples(void **state)
{
    struct sl_tuple tuple;
    char text[SL_ADDR_TEXT_LEN];

    (void)state;
    assert_true(tuple_of("raw ipv4", &tuple));
    assert_string_equal(sl_addr_format(&tuple.src, text), "10.0.0.1");
    assert_string_equal(sl_addr_format(&tuple.dst, text), "10.0.0.2");
    assert_int_equal(tuple.protocol, SL_IP_UDP);
    assert_int_equal(tuple.src_port, 1000);
    assert_int_equal(tuple.dst_port, 2000);

    assert_true(tuple_of("6in4", &tuple));
    assert_string_equal(sl_addr_format(&tuple.src, text), "2001:db8::1");
    assert_string_equal(sl_addr_format(&tuple.dst, text), "2001:db8::2");
    assert_int_equal(tuple.dst_port, 2000);

    assert_true(tuple_of("ipv4, later", &tuple));
    assert_int_equal(tuple.protocol, SL_IP_TCP);
    assert_int_equal(tuple.src_port, 0);
    assert_int_equal(tuple.dst_port, 0);
    assert_false(tuple_of("arp", &tuple));
}

static void test_tuple_of_icmp_has_type_and_code(void **state)
{
    struct frame f = {.len = 0};
    struct sl_packet packet = {.flags = SL_PACKET_IPV4, .protocol = SL_IP_ICMP, .transport = 20};
    struct sl_batch view = {.n_items = 1, .bytes = f.byte, .packet = &packet};
    struct sl_tuple tuple;

    (void)state;
    frame_ipv4(&f, SL_IP_ICMP, 0);
    frame_bytes(&f, "\x03\x0A\x00\x00", 4);
    assert_true(sl_packet_tuple(&view, 0, &tuple));
    assert_int_equal(tuple.src_port, 3);
    assert_int_equal(tuple.dst_port, 10);
}

static void test_all_have_names(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SL_N_DEFECTS; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(sl_defect_name(i), sl_defect_name(j));
    for (uint32_t i = 0; i < SL_N_PROTOCOLS; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(sl_protocol_name(i), sl_protocol_name(j));
    assert_string_equal(sl_defect_name(SL_DEFECT_IPV4_TOTAL_LEN), "ipv4-total-length");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_dissected),
        cmocka_unit_test(test_all_families_of_null),
        cmocka_unit_test(test_snapped_anywhere),
        cmocka_unit_test(test_cut_anywhere_on_the_wire),
        cmocka_unit_test(test_altered_samples),
        cmocka_unit_test(test_plain_case_agrees),
        cmocka_unit_test(test_defects),
        cmocka_unit_test(test_inner_header_of_a_tunnel_may_lie),
        cmocka_unit_test(test_headers_out_of_reach),
        cmocka_unit_test(test_wire_length_below_the_captured),
        cmocka_unit_test(test_a_batch_is_counted),
        cmocka_unit_test(test_tuples),
        cmocka_unit_test(test_tuple_of_icmp_has_type_and_code),
        cmocka_unit_test(test_all_have_names),
    };

    return cmocka_run_group_tests(tests, make_guard, free_guard);
}
