/* SPDX-License-Identifier: MIT */
/* Packets to datagrams. */
#include <string.h>

#include "pair_state.h"
#include "redundancy/live/expected.h"

static void put_packet(struct pair *p, const struct gathered *g, const uint8_t *packet)
{
    pair_put(p, RECORD_PACKET, packet, g->len, g->inner.traffic_class);
    flow_count(g->flow, g->len, RECORD_HEADER + g->len, false, false);
    savings_count(p, g->inner.tuple.protocol, g->len, RECORD_HEADER + g->len);
    p->stats.bypassed++;
}

static void put_frame(struct pair *p, const struct gathered *g, uint32_t item)
{
    const uint32_t len = sl_encoder_frame(p->encoder, item, p->frame);
    const bool packs = p->config.compresses && flow_packs(g->flow);
    const uint32_t packed_len = packs ? packed_write(p, RECORD_FRAME, p->frame, len) : 0;

    if (packs)
        flow_packed(g->flow, packed_len > 0);
    if (packed_len > 0)
        pair_put(p, RECORD_PACKED, p->packed, packed_len, g->inner.traffic_class);
    else
        pair_put(p, RECORD_FRAME, p->frame, len, g->inner.traffic_class);
    p->stats.packed += packed_len > 0 ? 1 : 0;

    const uint32_t sent = RECORD_HEADER + (packed_len > 0 ? packed_len : len);
    flow_count(g->flow, g->len, sent, true, len < g->len + SL_FRAME_HEADER_LEN);
    savings_count(p, g->inner.tuple.protocol, g->len, sent);
}

/* Samples what was gathered, but for items that need no samples. */
static bool sample(struct pair *p)
{
    const uint32_t first = encoder_expected(p->encoder, p->batch);
    struct sl_batch rest = *p->batch;

    rest.payload += first;
    rest.n_items -= first;
    if (sampler_take(&p->sampler, &rest, NULL) != SL_OK)
        return false;
    for (size_t i = 0; first > 0 && i < p->sampler.hits.n; i++)
        p->sampler.hits.hit[i].item += first;
    return true;
}

/* Encodes what was gathered. Records keep the order of packets, so that no flow is reordered. */
static void encode(struct pair *p)
{
    const bool encodes = p->batch->n_items > 0 && sample(p) &&
                         sl_encoder_batch(p->encoder, p->batch, &p->sampler.hits, NULL) == SL_OK;
    uint32_t item = 0;

    for (uint32_t i = 0; i < p->n_gathered; i++) {
        const struct gathered *const g = &p->gathered[i];

        if (g->passes)
            put_packet(p, g, p->raw + g->offset);
        else if (encodes)
            put_frame(p, g, item++);
        else
            put_packet(p, g, p->batch->bytes + g->offset);
    }
    p->n_gathered = p->raw_len = 0;
    sl_batch_reset(p->batch);
}

static bool passes_by_port(const struct pair *p, const struct inner_tuple *tuple)
{
    for (uint32_t i = 0; i < p->config.n_bypass; i++) {
        const struct pair_port *const port = &p->config.bypass[i];

        if (port->protocol == tuple->protocol &&
            (port->port == tuple->source_port || port->port == tuple->destination_port))
            return true;
    }
    return false;
}

/* The packet's copy in the arena where it belongs. */
static uint8_t *gather(struct pair *p, struct gathered *g, const uint8_t *packet)
{
    uint8_t *copy;

    if (g->passes) {
        g->offset = p->raw_len;
        copy = p->raw + g->offset;
        memcpy(copy, packet, g->len);
        p->raw_len += g->len;
        return copy;
    }
    g->offset = p->batch->payload[sl_batch_add(p->batch, packet, g->len, 0)].offset;
    return p->batch->bytes + g->offset;
}

void pair_packet(struct pair *pair, const uint8_t *packet, uint32_t len, uint64_t now)
{
    struct gathered *const g = &pair->gathered[pair->n_gathered];

    (void)now;
    pair->stats.packets_in++;
    pair->stats.bytes_in += len;
    if (pair->session.peer == 0) {
        pair->stats.dropped[PAIR_NO_PEER]++;
        return;
    }
    if (len > PAIR_PACKET_MAX) {
        pair->stats.dropped[PAIR_TOO_LONG]++;
        return;
    }
    if (!inner_read(&g->inner, packet, len)) {
        pair->stats.dropped[PAIR_NOT_IP]++;
        return;
    }
    g->len = len;
    g->flow = flow_of(pair->flows, &g->inner.tuple);
    g->passes = passes_by_port(pair, &g->inner.tuple) || (pair->busy && flow_passes(g->flow));
    inner_clamp_mss(&g->inner, gather(pair, g, packet), len, pair->config.mtu);
    if (++pair->n_gathered == GATHERED_MAX)
        encode(pair);
}

void pair_flush(struct pair *pair, uint64_t now)
{
    encode(pair);
    feedback_tick(pair, now);
    pair_send(pair);
}

void pair_resend(struct pair *pair)
{
    uint32_t len;

    while ((len = sl_encoder_resend(pair->encoder, pair->frame)) > 0)
        pair_put(pair, RECORD_FRAME, pair->frame, len, 0);
    pair_send(pair);
}
