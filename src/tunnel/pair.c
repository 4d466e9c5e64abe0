/* SPDX-License-Identifier: MIT */
/* A pair's making, memory, clock and counters. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "pair_state.h"
#include "redundancy/live/held_cache.h"

enum {
    BATCH_LEN = GATHERED_MAX * (PAIR_PACKET_MAX + SL_BATCH_ALIGN),
    /* Feedback reports the last 8 MiB: these are as many frames of 512 bytes. So the table does not
     * limit what is in flight, whatever rate and round trip are. */
    IN_FLIGHT = 16384,
    IN_FLIGHT_LEN = 16 + 64 * 16, /* bytes of a frame in flight, and of its samples */
    FRAME_MAX = PAIR_PACKET_MAX + SL_FRAME_HEADER_LEN,
    PACK_LEN = 1 << 20,    /* bytes of zstd's states, measured */
    SHARED_SLACK = 8 << 20 /* bytes that come between two checks of caches that are shared, and of
                              pages that are not given back */
};

static const char *const drop_names[PAIR_DROPS] = {
    [PAIR_NO_PEER] = "no_peer",       [PAIR_NOT_IP] = "not_ip",
    [PAIR_TOO_LONG] = "too_long",     [PAIR_FOREIGN] = "foreign_source",
    [PAIR_BAD_PACKET] = "bad_packet", [PAIR_MALFORMED] = "malformed",
    [PAIR_SESSION] = "other_session", [PAIR_REPLAYED] = "replayed",
    [PAIR_REFLECTED] = "reflected",
};

const char *pair_drop_name(enum pair_drop drop)
{
    return drop_names[drop];
}

/* A pair that shares its caches has an index of twice its even part of them. */
static uint64_t index_len(const struct pair_config *config)
{
    const uint64_t whole = config->cache_len / config->sampling.period * 8 / 3 * 4;

    return config->n_sharing > 2 ? whole * 2 / config->n_sharing : whole;
}

static void redundancy_config(struct sl_redundancy_config *redundancy,
                              const struct pair_config *config)
{
    sl_redundancy_config_init(redundancy);
    redundancy->cache_len = config->cache_len;
    redundancy->batch_len = BATCH_LEN;
    redundancy->max_items = GATHERED_MAX;
    redundancy->frame_max = PAIR_PACKET_MAX;
    redundancy->window = config->sampling.window;
    redundancy->period = config->sampling.period;
    redundancy->min_match =
        config->sampling.window < SL_REFERENCE_MIN ? SL_REFERENCE_MIN : config->sampling.window;
    redundancy->acknowledged = true;
    redundancy->n_in_flight = IN_FLIGHT;
    redundancy->index_len = config->n_sharing > 2 ? index_len(config) : 0;
    redundancy->epoch = config->epoch;
}

/* The decoder keeps more than the encoder refers to: late frames still find their references, as
 * far as feedback reaches. */
static uint64_t decoder_len(const struct pair_config *config)
{
    const uint64_t slack = UINT64_C(8) << 20;

    return config->cache_len + (config->cache_len < slack ? config->cache_len : slack);
}

/* Both logs, the decoder's map of what it has, the index, the tables of flows and of what is in
 * flight, and buffers. */
uint64_t pair_memory(const struct pair_config *config)
{
    const uint64_t own = config->n_sharing > 1 ? SHARED_SLACK : 2 * config->cache_len;
    const uint64_t logs = own + decoder_len(config) - config->cache_len + BATCH_LEN;
    const uint64_t known = decoder_len(config) / SL_BATCH_ALIGN / 8;
    const uint64_t samples =
        (BATCH_LEN / config->sampling.period * 4 + 64) * (uint64_t)sizeof(struct sl_hit);

    return logs + known + index_len(config) + 2 * samples + (uint64_t)IN_FLIGHT * IN_FLIGHT_LEN +
           sizeof(struct flow_bypass) + sizeof(struct pair) + UINT64_C(2) * BATCH_LEN +
           DATAGRAM_MAX + 6 * FRAME_MAX + PACK_LEN;
}

static enum sl_status make_buffers(struct pair *p, struct sl_diag *diag)
{
    p->raw = malloc(BATCH_LEN);
    p->frame = malloc(FRAME_MAX);
    p->inside = malloc(FRAME_MAX);
    p->datagram = malloc(DATAGRAM_MAX);
    p->flows = calloc(1, sizeof *p->flows);
    if (p->raw == NULL || p->frame == NULL || p->inside == NULL || p->datagram == NULL ||
        p->flows == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a peer's buffers");
    p->flows->secret[0] = p->world.random(p->world.user);
    p->flows->secret[1] = p->world.random(p->world.user);
    return sl_batch_create(&p->batch, BATCH_LEN, GATHERED_MAX, diag);
}

enum sl_status pair_create(struct pair **pair, const struct pair_config *config,
                           const struct pair_world *world, uint64_t now, struct sl_diag *diag)
{
    struct sl_redundancy_config redundancy;
    struct pair *const p = calloc(1, sizeof *p);

    if (p == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a peer");
    p->config = *config;
    p->world = *world;
    p->endpoint = config->endpoint;
    redundancy_config(&redundancy, config);
    enum sl_status status = make_buffers(p, diag);
    if (status == SL_OK)
        status = packed_open(p, diag);
    if (status == SL_OK)
        status = sampler_open(&p->sampler, &config->sampling, BATCH_LEN, GATHERED_MAX, diag);
    if (status == SL_OK)
        status = sl_encoder_create(&p->encoder, &redundancy, diag);
    redundancy.cache_len = decoder_len(config);
    if (status == SL_OK)
        status = sl_decoder_create(&p->decoder, &redundancy, diag);
    if (status != SL_OK) {
        pair_free(p);
        return status;
    }
    if (config->n_sharing > 1) {
        encoder_share(p->encoder);
        decoder_share(p->decoder, decoder_len(config) - config->cache_len);
    }
    path_begin(&p->path,
               config->datagram_max < PAIR_DATAGRAM_BASE ? config->datagram_max
                                                         : PAIR_DATAGRAM_BASE,
               config->datagram_max, now);
    p->minute = now / PAIR_MINUTE;
    session_begin(p, now);
    *pair = p;
    return SL_OK;
}

void pair_free(struct pair *pair)
{
    if (pair == NULL)
        return;
    sampler_close(&pair->sampler);
    packed_close(pair);
    sl_encoder_free(pair->encoder);
    sl_decoder_free(pair->decoder);
    sl_batch_free(pair->batch);
    free(pair->flows);
    free(pair->raw);
    free(pair->frame);
    free(pair->inside);
    free(pair->datagram);
    free(pair);
}

void pair_set_busy(struct pair *pair, bool busy)
{
    pair->busy = busy;
}

uint32_t pair_session(const struct pair *pair)
{
    return pair->session.own;
}

bool pair_is_alive(const struct pair *pair)
{
    return pair->alive;
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void send_probe(struct pair *p, uint32_t datagram_len, uint64_t now)
{
    const uint32_t least = DATAGRAM_HEADER + RECORD_HEADER + 8;
    uint8_t probe[DATAGRAM_MAX] = {0};

    datagram_put(probe, now, 8);
    pair_send_alone(p, RECORD_PROBE, probe, 8 + (datagram_len > least ? datagram_len - least : 0),
                    p->session.peer, &p->endpoint);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t pair_tick(struct pair *pair, uint64_t now)
{
    uint64_t next = session_tick(pair, now);

    savings_tick(pair, now);
    if (pair_learn(pair))
        next = now;
    if (pair->session.peer == 0)
        return next;
    next = earlier(next, feedback_tick(pair, now));
    if (pair->alive && now - pair->session.heard_at >= pair->config.dead_after) {
        pair->alive = false;
        pair->stats.deaths++;
    }
    if (now >= pair->session.probe_at) {
        send_probe(pair, 0, now);
        pair->session.probe_at = now + pair->config.dead_after / 4;
    }
    if (pair->alive) {
        const uint32_t len = path_step(&pair->path, now);

        if (len > 0)
            send_probe(pair, len, now);
        next = earlier(next,
                       earlier(pair->path.due, pair->path.confirm_at > now ? pair->path.confirm_at
                                                                           : pair->path.due));
        next = earlier(next, pair->session.heard_at + pair->config.dead_after);
    }
    return earlier(next, pair->session.probe_at);
}

void pair_too_long(struct pair *pair, uint32_t len, uint64_t now)
{
    path_refused(&pair->path, len, now);
}

uint32_t pair_mtu(const struct pair *pair)
{
    const uint32_t room = pair->path.known - PAIR_OVERHEAD;

    return path_is_known(&pair->path) && room < pair->config.mtu ? room : pair->config.mtu;
}

/* ---- counters -------------------------------------------------------------------------------- */

void pair_stats(const struct pair *pair, struct pair_stats *stats)
{
    struct sl_encoder_stats encoder;
    struct sl_decoder_stats decoder;

    sl_encoder_stats(pair->encoder, &encoder);
    sl_decoder_stats(pair->decoder, &decoder);
    *stats = pair->stats;
    for (int i = 0; i < SL_N_FRAME_VERDICTS; i++)
        stats->frames[i] = decoder.frames[i];
    stats->resent = encoder.resent;
    stats->epochs = encoder.epochs;
    stats->bad_feedback = encoder.bad_feedback;
    stats->matched_bytes = encoder.match.matched_bytes;
    stats->lost += pair_lost(&pair->session);
    stats->path = pair->path.known;
    stats->alive = pair->alive;
    stats->endpoint = pair->endpoint;
}

static int64_t saved_of(const struct flow *flow)
{
    return (int64_t)flow->bytes - (int64_t)flow->sent;
}

static void list_flow(const struct flow *flow, struct pair_flow *out)
{
    const struct inner_tuple *const tuple = &flow->tuple;
    struct network network = {.bits = 128};
    char host[NETWORK_TEXT];

    memcpy(network.address, tuple->source, sizeof network.address);
    network_text(&network, host);
    *strchr(host, '/') = '\0';
    snprintf(out->source, sizeof out->source, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
             tuple->source_port);
    memcpy(network.address, tuple->destination, sizeof network.address);
    network_text(&network, host);
    *strchr(host, '/') = '\0';
    snprintf(out->destination, sizeof out->destination, strchr(host, ':') ? "[%s]:%u" : "%s:%u",
             host, tuple->destination_port);
    out->protocol = tuple->protocol;
    out->packets = flow->packets;
    out->bytes = flow->bytes;
    out->sent = flow->sent;
}

size_t pair_flows(const struct pair *pair, struct pair_flow flows[PAIR_FLOWS_LISTED])
{
    const struct flow *best[PAIR_FLOWS_LISTED];
    size_t n = 0;

    for (size_t i = 0; i < FLOWS; i++) {
        const struct flow *const flow = &pair->flows->flows[i];
        size_t at = n;

        if (flow->packets == 0)
            continue;
        while (at > 0 && saved_of(best[at - 1]) < saved_of(flow))
            at--;
        if (at == PAIR_FLOWS_LISTED)
            continue;
        n += n < PAIR_FLOWS_LISTED ? 1 : 0;
        memmove(best + at + 1, best + at, (n - at - 1) * sizeof *best);
        best[at] = flow;
    }
    for (size_t i = 0; i < n; i++)
        list_flow(best[i], &flows[i]);
    return n;
}
