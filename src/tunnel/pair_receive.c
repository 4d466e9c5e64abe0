/* SPDX-License-Identifier: MIT */
/* Datagrams to packets. */
#include <string.h>

#include "pair_state.h"

enum { PROBE_LEAST = 8, ANSWER_LEN = 12 };

/* ---- packets --------------------------------------------------------------------------------- */

/* Gives a packet to the inside. Congestion that the outer header signals becomes the packet's, and
 * a packet whose sender does not listen to that is dropped (RFC 6040). */
static void deliver(struct pair *p, const uint8_t *packet, uint32_t len, uint8_t traffic_class)
{
    struct inner_packet inner;
    const bool congested = (traffic_class & ECN_MASK) == ECN_CE;

    if (len > PAIR_PACKET_MAX || !inner_read(&inner, packet, len) ||
        (congested && (inner.traffic_class & ECN_MASK) == ECN_NONE)) {
        p->stats.dropped[PAIR_BAD_PACKET]++;
        return;
    }
    if (networks_find(p->config.allowed, p->config.n_allowed, inner.tuple.source) < 0) {
        p->stats.dropped[PAIR_FOREIGN]++;
        return;
    }
    memcpy(p->inside, packet, len);
    if (congested)
        inner_mark_ce(&inner, p->inside);
    inner_clamp_mss(&inner, p->inside, len, p->config.mtu);
    p->stats.packets_out++;
    p->stats.bytes_out += len;
    p->world.deliver(p->world.user, p->inside, len);
}

static void take_frame(struct pair *p, const uint8_t *frame, uint32_t len, uint8_t traffic_class,
                       uint64_t now)
{
    const uint8_t *packet;
    uint32_t packet_len;
    const enum sl_frame_verdict verdict =
        sl_decoder_decode(p->decoder, frame, len, &packet, &packet_len);

    if (verdict == SL_FRAME_DELIVERED)
        deliver(p, packet, packet_len, traffic_class);
    feedback_note(p, verdict, packet_len, now);
}

/* A half waits for the other one. The oldest gives its place to a new one. */
static void take_half(struct pair *p, const struct record *record, uint8_t traffic_class,
                      uint64_t now)
{
    if (record->len < HALF_HEADER || record->bytes[5] > 1 ||
        record->len - HALF_HEADER > sizeof p->halves[0].bytes[0]) {
        p->stats.dropped[PAIR_MALFORMED]++;
        return;
    }

    const uint32_t number = (uint32_t)datagram_get(record->bytes, 4);
    const uint8_t kind = record->bytes[4], i = record->bytes[5];
    struct half *const half = &p->halves[number % HALVES];
    if (half->came == 0 || half->number != number || half->kind != kind) {
        half->number = number;
        half->kind = kind;
        half->came = 0;
    }
    half->len[i] = record->len - HALF_HEADER;
    memcpy(half->bytes[i], record->bytes + HALF_HEADER, half->len[i]);
    half->came |= (uint8_t)(1 << i);
    if (half->came != 3 || half->len[0] + half->len[1] > sizeof half->bytes[0])
        return;
    half->came = 0;
    memcpy(half->bytes[0] + half->len[0], half->bytes[1], half->len[1]);

    const struct record whole = {(enum record_kind)kind, half->bytes[0],
                                 half->len[0] + half->len[1]};
    if (kind == RECORD_PACKET || kind == RECORD_FRAME || kind == RECORD_PACKED)
        pair_take_record(p, &whole, traffic_class, now);
}

static void take_packed(struct pair *p, const struct record *record, uint8_t traffic_class,
                        uint64_t now)
{
    struct record whole;

    if (packed_read(p, record, &whole))
        pair_take_record(p, &whole, traffic_class, now);
    else
        p->stats.dropped[PAIR_MALFORMED]++;
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void take_probe(struct pair *p, const struct record *record)
{
    uint8_t answer[ANSWER_LEN];

    if (record->len < PROBE_LEAST)
        return;
    memcpy(answer, record->bytes, 8);
    datagram_put(answer + 8, DATAGRAM_HEADER + RECORD_HEADER + record->len, 4);
    pair_send_alone(p, RECORD_ANSWER, answer, sizeof answer, p->session.peer, &p->endpoint);
}

static void take_answer(struct pair *p, const struct record *record, uint64_t now)
{
    if (record->len != ANSWER_LEN)
        return;

    const uint64_t sent = datagram_get(record->bytes, 8);
    if (sent <= now && now - sent < p->config.dead_after) {
        const uint64_t trip = now - sent, smoothed = p->stats.round_trip;

        p->stats.round_trip = smoothed == 0 ? trip : smoothed - smoothed / 8 + trip / 8;
    }
    path_answered(&p->path, (uint32_t)datagram_get(record->bytes + 8, 4), now);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

void pair_take_record(struct pair *pair, const struct record *record, uint8_t traffic_class,
                      uint64_t now)
{
    switch (record->kind) {
    case RECORD_PACKET:
        deliver(pair, record->bytes, record->len, traffic_class);
        return;
    case RECORD_FRAME:
        take_frame(pair, record->bytes, record->len, traffic_class, now);
        return;
    case RECORD_FEEDBACK:
        sl_encoder_feedback(pair->encoder, record->bytes, record->len);
        pair_resend(pair);
        return;
    case RECORD_HALF:
        take_half(pair, record, traffic_class, now);
        return;
    case RECORD_PROBE:
        take_probe(pair, record);
        return;
    case RECORD_ANSWER:
        take_answer(pair, record, now);
        return;
    case RECORD_PACKED:
        take_packed(pair, record, traffic_class, now);
        return;
    default: /* hellos are the session's, padding is nothing */
        return;
    }
}

static void take_hellos(struct pair *p, const struct datagram_header *header, const uint8_t *bytes,
                        uint32_t len, const struct sockaddr_storage *from, uint64_t now)
{
    struct record record;
    bool has_hello = false;

    for (uint32_t at = DATAGRAM_HEADER; record_next(&record, bytes, len, &at);) {
        if (record.kind != RECORD_HELLO)
            continue;
        session_hello(p, header, &record, from, now);
        has_hello = true;
    }
    if (has_hello)
        return;
    p->stats.dropped[PAIR_SESSION]++;
    session_stranger(p, header, from, now);
}

void pair_datagram(struct pair *pair, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                   const struct sockaddr_storage *from, uint64_t now)
{
    struct pair_session *const session = &pair->session;
    struct datagram_header header;
    struct record record;

    if (!datagram_read(&header, bytes, len)) {
        pair->stats.dropped[PAIR_MALFORMED]++;
        return;
    }
    if (header.from == session->own) {
        pair->stats.dropped[PAIR_REFLECTED]++;
        return;
    }
    if (header.to != session->own || header.from != session->peer) {
        take_hellos(pair, &header, bytes, len, from, now);
        return;
    }
    if (!replay_take(&session->window, header.sequence)) {
        pair->stats.dropped[PAIR_REPLAYED]++;
        return;
    }
    session->n_came++;
    session->heard_at = now;
    pair->alive = true;
    pair->stats.datagrams_received++;
    pair->stats.bytes_received += len;
    if (!endpoint_equal(from, &pair->endpoint))
        session_moved(pair, from, now);
    for (uint32_t at = DATAGRAM_HEADER; record_next(&record, bytes, len, &at);) {
        if (record.kind == RECORD_HELLO)
            session_hello(pair, &header, &record, from, now);
        else
            pair_take_record(pair, &record, traffic_class, now);
    }
}
