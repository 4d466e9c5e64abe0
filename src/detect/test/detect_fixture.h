/* SPDX-License-Identifier: MIT */
/* For tests: rules from text, packets from a description, and the alerts. The matcher is the
 * definition: each literal is compared at each place. */
#ifndef DETECT_FIXTURE_H
#define DETECT_FIXTURE_H

#include "test.h"

#include "dissect/test/frame_fixture.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

enum kind { TCP, UDP, ICMP, SCTP, GRE_TCP, TCP6, ICMP6, OTHER_IP, ARP };

enum { NO_FLOW = 1000 };

/* A field of 0 gets a default: from 192.168.0.1 port 1000 to 203.0.113.9 port 2000, TTL 64. The
 * packet is of a flow, from the server, not established. Over IPv6 it is from 2001:db8::1 to
 * 2001:db8::2. */
struct packet {
    enum kind kind;
    uint32_t src, dst;
    uint16_t src_port, dst_port;
    uint8_t tcp_flags, ttl, type, code, ip_protocol;
    uint16_t id, fragment; /* as in the header: bits and offset */
    const char *payload;
    uint32_t payload_len;                 /* 0: a text's length */
    const char *ip_options, *tcp_options; /* of 4 * words bytes */
    uint8_t ip_words, tcp_words;          /* TCP: 0 is a word of no operations */
    uint16_t vlan[2];                     /* ids, the outer one first; 0: none */
    unsigned flow;                        /* SL_FLOW_*, or NO_FLOW */
    bool later;                           /* it is not its sender's first of the flow */
    uint32_t captured;                    /* 0: all of it */
};

static inline uint32_t packet_or(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static inline void put_transport(struct frame *f, const struct packet *packet, enum kind kind,
                                 uint32_t payload_len)
{
    const uint16_t src = (uint16_t)packet_or(packet->src_port, 1000);
    const uint16_t dst = (uint16_t)packet_or(packet->dst_port, 2000);
    uint8_t *header;

    switch (kind) {
    case UDP:
        frame_udp(f, src, dst, payload_len);
        break;
    case SCTP:
        header = frame_put(f, 12);
        store_be16(header, src);
        store_be16(header + 2, dst);
        break;
    case ICMP:
    case ICMP6:
        header = frame_put(f, 8);
        header[0] = packet->type;
        header[1] = packet->code;
        break;
    case OTHER_IP:
        break;
    default:
        header = frame_tcp(f, src, dst, packet->tcp_flags, packet_or(packet->tcp_words, 1));
        if (packet->tcp_words != 0)
            memcpy(header + 20, packet->tcp_options, 4u * packet->tcp_words);
    }
}

static inline uint32_t put_ipv4(struct frame *f, const struct packet *packet, uint8_t protocol)
{
    const uint32_t begin = frame_ipv4(f, protocol, packet->ip_words);
    uint8_t *ip = f->byte + begin;

    if (packet->ip_words != 0)
        memcpy(ip + 20, packet->ip_options, 4u * packet->ip_words);

    store_be16(ip + 4, packet->id);
    store_be16(ip + 6, packet->fragment);
    ip[8] = (uint8_t)packet_or(packet->ttl, 64);
    store_be32(ip + 12, packet_or(packet->src, 0xC0A80001));
    store_be32(ip + 16, packet_or(packet->dst, 0xCB007109));
    return begin;
}

/* The header of Ethernet, with the tags of VLANs. */
static inline void put_link(struct frame *f, const struct packet *packet, uint16_t type)
{
    const uint32_t n = (packet->vlan[0] != 0) + (packet->vlan[1] != 0);

    frame_ethernet(f, n != 0 ? 0x8100 : type);
    for (uint32_t i = 0; i < n; i++)
        frame_tag(f, packet->vlan[i], i + 1 < n ? 0x8100 : type);
}

static inline void build_frame(struct frame *f, const struct packet *packet)
{
    static const uint8_t protocols[] = {
        [TCP] = 6, [UDP] = 17, [ICMP] = 1, [SCTP] = 132, [TCP6] = 6, [ICMP6] = 58, [GRE_TCP] = 6};
    const char *payload = packet->payload != NULL ? packet->payload : "";
    const uint32_t payload_len =
        packet->payload_len != 0 ? packet->payload_len : (uint32_t)strlen(payload);
    uint32_t outer = 0, begin;

    f->len = 0;
    if (packet->kind == ARP) {
        frame_ethernet(f, 0x0806);
        frame_put(f, 28);
        return;
    }
    if (packet->kind == TCP6 || packet->kind == ICMP6) {
        put_link(f, packet, 0x86DD);
        begin = frame_ipv6(f, protocols[packet->kind]);
        f->byte[begin + 7] = (uint8_t)packet_or(packet->ttl, 64);
        put_transport(f, packet, packet->kind, payload_len);
        frame_bytes(f, payload, payload_len);
        frame_end_ipv6(f, begin);
        return;
    }
    put_link(f, packet, 0x0800);
    if (packet->kind == GRE_TCP) { /* from 10.0.0.1 to 10.0.0.2 */
        outer = frame_ipv4(f, 47, 0);
        frame_be32(f, 0x0800);
    }
    begin = put_ipv4(f, packet,
                     packet->kind == OTHER_IP ? packet->ip_protocol : protocols[packet->kind]);
    if ((packet->fragment & 0x1FFF) == 0)
        put_transport(f, packet, packet->kind, payload_len);
    frame_bytes(f, payload, payload_len);
    frame_end_ipv4(f, begin);
    if (outer != 0)
        frame_end_ipv4(f, outer);
}

static inline struct sl_batch *fixture_batch(uint32_t max_items)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, max_items * 2048 + 131072, max_items, &diag), SL_OK);
    return batch;
}

/* Appends a packet; dissect_batch is to follow. */
static inline void add_packet(struct sl_batch *batch, const struct packet *packet)
{
    static struct frame f;

    build_frame(&f, packet);
    if (packet->captured != 0)
        f.len = packet->captured;

    const uint32_t item = sl_batch_add(batch, f.byte, f.len, 0);

    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = f.len;
    batch->origin[item].flow = packet->flow != NO_FLOW;
    batch->origin[item].flow_flags =
        packet->flow != NO_FLOW ? (uint8_t)(packet->flow | (packet->later ? 0 : SL_FLOW_FIRST)) : 0;
}

static inline void dissect_batch(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};

    sl_dissect(batch, &stats);
}

static inline uint8_t fixture_fold(uint8_t byte, uint32_t flags)
{
    if ((flags & SL_LITERAL_NOCASE) != 0 && byte >= 'A' && byte <= 'Z')
        return (uint8_t)(byte + 32);
    return byte;
}

static inline bool literal_is_at(const struct sl_literal *literal, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < literal->len; i++)
        if (fixture_fold(literal->bytes[i], literal->flags) !=
            fixture_fold(bytes[i], literal->flags))
            return false;
    return true;
}

/* All hits of a batch, sorted. hits->hit is malloc'ed. */
static inline void find_hits(struct sl_hits *hits, const struct sl_batch *batch,
                             const struct sl_literal *literals, size_t n_literals)
{
    *hits = (struct sl_hits){malloc(64 * sizeof *hits->hit), 64, 0, false};
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        for (uint32_t at = 0; at < span.len; at++)
            for (uint32_t id = 0; id < n_literals; id++) {
                if (literals[id].len > span.len - at ||
                    !literal_is_at(&literals[id], batch->bytes + span.offset + at))
                    continue;
                if (hits->n == hits->cap) {
                    hits->cap *= 2;
                    hits->hit = realloc(hits->hit, hits->cap * sizeof *hits->hit);
                }
                assert_non_null(hits->hit);
                hits->hit[hits->n++] = (struct sl_hit){item, at + literals[id].len, id};
            }
    }
    sl_hits_sort(hits);
}

static inline bool is_run(const struct sl_literal *literal)
{
    for (uint32_t i = 1; i < literal->len; i++)
        if (fixture_fold(literal->bytes[i], literal->flags) !=
            fixture_fold(literal->bytes[0], literal->flags))
            return false;
    return true;
}

/* Whether sorted hits, of which `at` is one, have one of the same literal beside it. */
static inline bool has_hit_beside(const struct sl_hits *hits, size_t at, int apart)
{
    const struct sl_hit *const hit = &hits->hit[at];

    for (size_t i = at; i < hits->n; i += (size_t)apart) { /* ends below 0, too */
        const int64_t behind = (int64_t)hits->hit[i].offset - hit->offset;

        if (hits->hit[i].item != hit->item || behind * apart > 1)
            return false;
        if (behind == apart && hits->hit[i].id == hit->id)
            return true;
    }
    return false;
}

/* Removes hits of packets inside runs (sl_limits.run_ends). They are sorted. */
static inline void keep_run_ends(struct sl_hits *hits, const struct sl_literal *literals)
{
    const struct sl_hits all = {malloc((hits->n + 1) * sizeof *hits->hit), hits->n, hits->n, false};

    assert_non_null(all.hit);
    memcpy(all.hit, hits->hit, hits->n * sizeof *hits->hit);
    hits->n = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct sl_hit hit = all.hit[i];

        if (hit.id >> 32 != 0 || !is_run(&literals[hit.id]) || !has_hit_beside(&all, i, -1) ||
            !has_hit_beside(&all, i, 1))
            hits->hit[hits->n++] = hit;
    }
    free(all.hit);
}

/* Every literal in every item, true or not: an evaluation must not believe it. */
static inline void claim_hits(struct sl_hits *hits, const struct sl_batch *batch, size_t n_literals)
{
    const size_t n = batch->n_items * n_literals;

    *hits = (struct sl_hits){malloc((n + 1) * sizeof *hits->hit), n, n, false};
    for (size_t i = 0; i < n; i++)
        hits->hit[i] = (struct sl_hit){(uint32_t)(i / n_literals), 1, (uint32_t)(i % n_literals)};
}

static inline struct sl_rules *load_rules(const char *text)
{
    struct sl_rules *rules;
    struct sl_diag diag;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    const enum sl_status status =
        sl_rules_load_text(rules, "test.rules", text, strlen(text), &diag);
    if (status != SL_OK) /* no rule can be used, and one is bad */
        assert_int_equal(status, SL_EFORMAT);
    return rules;
}

/* The alerts of compiled rules, malloc'ed; they are the same with true, sifted and claimed hits,
 * and without those inside runs. */
static inline struct sl_alert *evaluate_rules(const struct sl_rules *rules,
                                              const struct sl_batch *batch,
                                              const struct sl_literal *literals, size_t n_literals,
                                              size_t *n)
{
    struct sl_rules_count count;
    struct sl_hits hits;
    size_t n_claimed;

    sl_rules_count(rules, &count);

    const size_t cap = batch->n_items * count.loaded;
    struct sl_alert *alerts = calloc(cap + 1, sizeof *alerts);
    struct sl_alert *claimed = calloc(cap + 1, sizeof *claimed);

    find_hits(&hits, batch, literals, n_literals);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, alerts, cap, n), SL_OK);
    sl_rules_sift(rules, batch, &hits);
    keep_run_ends(&hits, literals);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, claimed, cap, &n_claimed), SL_OK);
    assert_int_equal(*n, n_claimed);
    assert_memory_equal(alerts, claimed, *n * sizeof *alerts);
    free(hits.hit);
    claim_hits(&hits, batch, n_literals);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, claimed, cap, &n_claimed), SL_OK);
    free(hits.hit);
    assert_int_equal(*n, n_claimed);
    assert_memory_equal(alerts, claimed, *n * sizeof *alerts);
    free(claimed);
    return alerts;
}

/* Loads and compiles rules, all of which must be understood, and gives the batch's alerts,
 * malloc'ed. */
static inline struct sl_alert *alerts_of(struct sl_rules *rules, const struct sl_batch *batch,
                                         size_t *n)
{
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_diag diag;

    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    return evaluate_rules(rules, batch, literals, n_literals, n);
}

/* Whether the one rule of the text matches the packet. */
static inline bool rule_matches(const char *text, const struct packet *packet)
{
    struct sl_rules *rules = load_rules(text);
    struct sl_batch *batch = fixture_batch(1);
    struct sl_rules_count count;
    size_t n;

    sl_rules_count(rules, &count);
    if (count.loaded != 1) {
        const struct sl_diag *diag = sl_rules_bad_line(rules, 0);

        if (diag == NULL)
            diag = sl_rules_skipped_rule(rules, 0);
        fail_msg("%s: %s", text, diag != NULL ? diag->text : "no rule");
    }
    add_packet(batch, packet);
    dissect_batch(batch);

    struct sl_alert *alerts = alerts_of(rules, batch, &n);

    assert_in_range(n, 0, 1);
    free(alerts);
    sl_batch_free(batch);
    sl_rules_free(rules);
    return n == 1;
}

#endif
