/* SPDX-License-Identifier: MIT */
/* A tunnel's counters: as a table, as an EVE event, for Prometheus. */
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sluice/redundancy.h"
#include "tunnel_state.h"

/* A counter of a peer: its name in JSON and for Prometheus, and where it is. */
struct counter {
    const char *name;
    const char *help;
    size_t at;
};

#define COUNTER(name, help)                            \
    {                                                  \
#name, help, offsetof(struct pair_stats, name) \
    }

static const struct counter counters[] = {
    COUNTER(packets_in, "Packets from the inside"),
    COUNTER(bytes_in, "Bytes of packets from the inside"),
    COUNTER(bytes_sent, "Bytes of datagrams sent"),
    COUNTER(datagrams_sent, "Datagrams sent"),
    COUNTER(packets_out, "Packets to the inside"),
    COUNTER(bytes_out, "Bytes of packets to the inside"),
    COUNTER(bytes_received, "Bytes of datagrams received"),
    COUNTER(datagrams_received, "Datagrams received"),
    COUNTER(matched_bytes, "Bytes of packets that were sent before"),
    COUNTER(bypassed, "Packets that passed by the encoder"),
    COUNTER(packed, "Packets that zstd shortened"),
    COUNTER(halved, "Packets that no datagram held"),
    COUNTER(lost, "Datagrams that did not come"),
    COUNTER(resent, "Packets sent again"),
    COUNTER(epochs, "Epochs of the encoder"),
    COUNTER(sessions, "Sessions begun"),
    COUNTER(deaths, "Times that the peer fell silent"),
    COUNTER(moves, "Times that the peer's address changed"),
    COUNTER(bad_feedback, "Feedback that could not be used"),
};

enum { N_COUNTERS = sizeof counters / sizeof *counters };

static const char *const verdicts[SL_N_FRAME_VERDICTS] = {"delivered", "repeated", "late",
                                                          "unresolved", "damaged"};

static uint64_t value_of(const struct pair_stats *stats, const struct counter *counter)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)stats + counter->at, sizeof value);
    return value;
}

/* The share of the bytes from the inside that was not sent, percent. */
static double saved(const struct pair_stats *stats)
{
    return stats->bytes_in > 0 ? 100.0 * (1.0 - (double)stats->bytes_sent / (double)stats->bytes_in)
                               : 0.0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *queue_json(const struct tunnel_peer *peer)
{
    struct fair_stats stats;

    fair_stats(peer->queue, &stats);
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)stats.bytes, "packets",
                     (json_int_t)stats.packets, "marked", (json_int_t)stats.marked, "dropped",
                     (json_int_t)stats.dropped, "overflow", (json_int_t)stats.overflow);
}

static json_t *saving_json(const struct pair_saving *saving)
{
    return json_pack("{s:I, s:I, s:I}", "packets", (json_int_t)saving->packets, "bytes",
                     (json_int_t)saving->bytes, "sent", (json_int_t)saving->sent);
}

static json_t *protocols_json(const struct tunnel_peer *peer)
{
    const struct pair_saving *const protocols = pair_protocols(peer->pair);
    json_t *const out = json_object();

    for (int i = 0; i < PAIR_PROTOCOLS; i++) {
        char name[8];

        snprintf(name, sizeof name, "%d", i);
        if (protocols[i].packets > 0)
            json_object_set_new(out, name, saving_json(&protocols[i]));
    }
    return out;
}

static json_t *minutes_json(const struct tunnel_peer *peer)
{
    struct pair_saving minutes[PAIR_MINUTES];
    const size_t n = pair_minutes(peer->pair, minutes);
    json_t *const out = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, saving_json(&minutes[i]));
    return out;
}

static json_t *peer_json(const struct tunnel_peer *peer)
{
    struct pair_stats stats;
    char endpoint[NETWORK_TEXT];
    json_t *const dropped = json_object(), *const frames = json_object();

    pair_stats(peer->pair, &stats);
    for (int i = 0; i < PAIR_DROPS; i++)
        json_object_set_new(dropped, pair_drop_name((enum pair_drop)i),
                            json_integer((json_int_t)stats.dropped[i]));
    for (int i = 0; i < SL_N_FRAME_VERDICTS; i++)
        json_object_set_new(frames, verdicts[i], json_integer((json_int_t)stats.frames[i]));

    json_t *const out =
        json_pack("{s:s, s:b, s:s, s:f, s:f, s:i, s:o, s:o}", "name", peer->config->name, "alive",
                  stats.alive, "endpoint", endpoint_text(&stats.endpoint, endpoint),
                  "saved_percent", saved(&stats), "round_trip_ms", (double)stats.round_trip / 1e6,
                  "datagram_max", (int)stats.path, "frames", frames, "dropped", dropped);
    if (peer->queue != NULL)
        json_object_set_new(out, "queue", queue_json(peer));
    for (size_t i = 0; i < N_COUNTERS; i++)
        json_object_set_new(out, counters[i].name,
                            json_integer((json_int_t)value_of(&stats, &counters[i])));
    return out;
}

static json_t *flows_json(const struct tunnel_peer *peer)
{
    struct pair_flow flows[PAIR_FLOWS_LISTED];
    const size_t n = pair_flows(peer->pair, flows);
    json_t *const out = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            out, json_pack("{s:s, s:s, s:i, s:I, s:I, s:I}", "src", flows[i].source, "dest",
                           flows[i].destination, "proto", flows[i].protocol, "packets",
                           (json_int_t)flows[i].packets, "bytes", (json_int_t)flows[i].bytes,
                           "sent", (json_int_t)flows[i].sent));
    return out;
}

static void put_timestamp(char out[40])
{
    struct timespec now;
    struct tm parts;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t n = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + n, 40 - n, ".%06ld+0000", now.tv_nsec / 1000);
}

static json_t *status_json(const struct sl_tunnel *t, bool with_flows)
{
    json_t *const peers = json_array();
    char timestamp[40];

    put_timestamp(timestamp);
    for (size_t i = 0; i < t->config.n_peers; i++) {
        json_t *const peer = peer_json(&t->peers[i]);

        json_object_set_new(peer, "protocols", protocols_json(&t->peers[i]));
        json_object_set_new(peer, "minutes", minutes_json(&t->peers[i]));
        if (with_flows)
            json_object_set_new(peer, "flows", flows_json(&t->peers[i]));
        json_array_append_new(peers, peer);
    }
    return json_pack("{s:s, s:s, s:{s:I, s:{s:s, s:i, s:b, s:I, s:I, s:I, s:o}}}", "timestamp",
                     timestamp, "event_type", "stats", "stats", "uptime",
                     (json_int_t)((t->now - t->began) / 1000000000u), "tunnel", "interface",
                     t->config.interface, "mtu", (int)t->tun.mtu, "carrier", t->tun.carrier,
                     "no_route", (json_int_t)t->no_route, "refused_packets",
                     (json_int_t)t->tun.refused, "refused_datagrams", (json_int_t)t->udp.refused,
                     "peers", peers);
}

static char *json_answer(const struct sl_tunnel *t, bool with_flows)
{
    json_t *const json = status_json(t, with_flows);
    char *const text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    char *answer = NULL;

    if (text != NULL && asprintf(&answer, "%s\n", text) < 0)
        answer = NULL;
    free(text);
    json_decref(json);
    return answer;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_queue(FILE *out, const struct tunnel_peer *peer)
{
    struct fair_stats stats;

    fair_stats(peer->queue, &stats);
    fprintf(out,
            "    waiting %" PRIu64 " packets, %" PRIu64 " bytes; marked %" PRIu64
            ", dropped %" PRIu64 ", overflow %" PRIu64 "\n",
            stats.packets, stats.bytes, stats.marked, stats.dropped, stats.overflow);
}

static void print_saving(FILE *out, const char *name, const struct pair_saving *saving)
{
    fprintf(out, "    %-12s %12" PRIu64 " bytes as %12" PRIu64 "\n", name, saving->bytes,
            saving->sent);
}

static void print_savings(FILE *out, const struct tunnel_peer *peer)
{
    const struct pair_saving *const protocols = pair_protocols(peer->pair);
    struct pair_saving minutes[PAIR_MINUTES];
    const size_t n = pair_minutes(peer->pair, minutes);
    char name[32];

    for (int i = 0; i < PAIR_PROTOCOLS; i++) {
        snprintf(name, sizeof name, "proto %d", i);
        if (protocols[i].packets > 0)
            print_saving(out, name, &protocols[i]);
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "minute -%zu", i + 1);
        print_saving(out, name, &minutes[i]);
    }
}

static void print_peer(FILE *out, const struct tunnel_peer *peer)
{
    struct pair_stats stats;
    char endpoint[NETWORK_TEXT];

    pair_stats(peer->pair, &stats);
    fprintf(out, "  peer %s  %s  %s\n", peer->config->name,
            endpoint_text(&stats.endpoint, endpoint), stats.alive ? "alive" : "silent");
    fprintf(out, "    round trip %.2f ms, datagrams of at most %u bytes\n",
            (double)stats.round_trip / 1e6, stats.path);
    fprintf(out,
            "    sent      %" PRIu64 " packets, %" PRIu64 " bytes as %" PRIu64
            " (%.1f %% saved), %" PRIu64 " passed by\n",
            stats.packets_in, stats.bytes_in, stats.bytes_sent, saved(&stats), stats.bypassed);
    fprintf(out, "    received  %" PRIu64 " packets, %" PRIu64 " bytes as %" PRIu64 "\n",
            stats.packets_out, stats.bytes_out, stats.bytes_received);
    fprintf(out,
            "    lost %" PRIu64 ", unresolved %" PRIu64 ", sessions %" PRIu64 ", silent %" PRIu64
            " times\n",
            stats.lost, stats.frames[SL_FRAME_UNRESOLVED], stats.sessions, stats.deaths);
    if (peer->queue != NULL)
        print_queue(out, peer);
    for (int i = 0; i < PAIR_DROPS; i++)
        if (stats.dropped[i] > 0)
            fprintf(out, "    dropped: %s %" PRIu64 "\n", pair_drop_name((enum pair_drop)i),
                    stats.dropped[i]);
}

static void print_flows(FILE *out, const struct tunnel_peer *peer)
{
    struct pair_flow flows[PAIR_FLOWS_LISTED];
    const size_t n = pair_flows(peer->pair, flows);

    fprintf(out, "  peer %s: protocols, minutes, and the flows that saved most\n",
            peer->config->name);
    print_savings(out, peer);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    %-24s %-24s proto %-3u %12" PRIu64 " bytes as %12" PRIu64 "\n",
                flows[i].source, flows[i].destination, flows[i].protocol, flows[i].bytes,
                flows[i].sent);
}

static void print_text(FILE *out, const struct sl_tunnel *t, bool flows)
{
    fprintf(out, "%s  mtu %u  carrier %s\n", t->config.interface, t->tun.mtu,
            t->tun.carrier ? "on" : "off");
    for (size_t i = 0; i < t->config.n_peers; i++) {
        if (flows)
            print_flows(out, &t->peers[i]);
        else
            print_peer(out, &t->peers[i]);
    }
}

static char *text_answer(const struct sl_tunnel *t, bool flows)
{
    char *text = NULL;
    size_t len;
    FILE *const out = open_memstream(&text, &len);

    if (out == NULL)
        return NULL;
    print_text(out, t, flows);
    return fclose(out) == 0 ? text : NULL;
}

bool tunnel_answer(void *user, const char *request, char **answer, size_t *len)
{
    const struct sl_tunnel *const t = user;

    if (strcmp(request, "json") == 0)
        *answer = json_answer(t, false);
    else if (strcmp(request, "flows json") == 0)
        *answer = json_answer(t, true);
    else if (strcmp(request, "text") == 0 || strcmp(request, "flows") == 0)
        *answer = text_answer(t, request[0] == 'f');
    else
        *answer = strdup("unknown request\n");
    *len = *answer != NULL ? strlen(*answer) : 0;
    return *answer != NULL;
}

/* ---- Prometheus ------------------------------------------------------------------------------ */

static void begin_metric(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP sluice_tunnel_%s %s\n# TYPE sluice_tunnel_%s %s\n", name, help, name,
            type);
}

static void print_gauges(FILE *out, const struct sl_tunnel *t, const struct pair_stats *stats)
{
    begin_metric(out, "alive", "gauge", "Whether the peer is heard");
    for (size_t i = 0; i < t->config.n_peers; i++)
        fprintf(out, "sluice_tunnel_alive{peer=\"%s\"} %d\n", t->config.peers[i].name,
                stats[i].alive);
    begin_metric(out, "round_trip_seconds", "gauge", "Smoothed round trip");
    for (size_t i = 0; i < t->config.n_peers; i++)
        fprintf(out, "sluice_tunnel_round_trip_seconds{peer=\"%s\"} %.6f\n",
                t->config.peers[i].name, (double)stats[i].round_trip / 1e9);
    begin_metric(out, "datagram_max_bytes", "gauge", "What the path carries");
    for (size_t i = 0; i < t->config.n_peers; i++)
        fprintf(out, "sluice_tunnel_datagram_max_bytes{peer=\"%s\"} %u\n", t->config.peers[i].name,
                stats[i].path);
}

static void print_queues(FILE *out, const struct sl_tunnel *t)
{
    begin_metric(out, "queue_packets_total", "counter",
                 "Packets that the queue told congestion by");
    for (size_t i = 0; i < t->config.n_peers; i++) {
        const char *const name = t->config.peers[i].name;
        struct fair_stats stats = {0};

        if (t->peers[i].queue != NULL)
            fair_stats(t->peers[i].queue, &stats);
        fprintf(out,
                "sluice_tunnel_queue_packets_total{peer=\"%s\",fate=\"marked\"} %" PRIu64 "\n"
                "sluice_tunnel_queue_packets_total{peer=\"%s\",fate=\"dropped\"} %" PRIu64 "\n"
                "sluice_tunnel_queue_packets_total{peer=\"%s\",fate=\"overflow\"} %" PRIu64 "\n",
                name, stats.marked, name, stats.dropped, name, stats.overflow);
    }
}

static void print_lists(FILE *out, const struct sl_tunnel *t, const struct pair_stats *stats)
{
    begin_metric(out, "frames_total", "counter", "Frames received, by verdict");
    for (size_t i = 0; i < t->config.n_peers; i++)
        for (int k = 0; k < SL_N_FRAME_VERDICTS; k++)
            fprintf(out, "sluice_tunnel_frames_total{peer=\"%s\",verdict=\"%s\"} %" PRIu64 "\n",
                    t->config.peers[i].name, verdicts[k], stats[i].frames[k]);
    begin_metric(out, "dropped_total", "counter", "Packets and datagrams dropped, by reason");
    for (size_t i = 0; i < t->config.n_peers; i++)
        for (int k = 0; k < PAIR_DROPS; k++)
            fprintf(out, "sluice_tunnel_dropped_total{peer=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                    t->config.peers[i].name, pair_drop_name((enum pair_drop)k),
                    stats[i].dropped[k]);
}

bool tunnel_answer_metrics(void *user, const char *path, char **answer, size_t *len)
{
    const struct sl_tunnel *const t = user;
    struct pair_stats *stats;
    FILE *out;

    if (strcmp(path, "/metrics") != 0)
        return false;
    stats = calloc(t->config.n_peers, sizeof *stats);
    out = stats != NULL ? open_memstream(answer, len) : NULL;
    if (out == NULL) {
        free(stats);
        return false;
    }
    for (size_t i = 0; i < t->config.n_peers; i++)
        pair_stats(t->peers[i].pair, &stats[i]);
    print_gauges(out, t, stats);
    for (size_t k = 0; k < N_COUNTERS; k++) {
        char name[64];

        snprintf(name, sizeof name, "%s_total", counters[k].name);
        begin_metric(out, name, "counter", counters[k].help);
        for (size_t i = 0; i < t->config.n_peers; i++)
            fprintf(out, "sluice_tunnel_%s{peer=\"%s\"} %" PRIu64 "\n", name,
                    t->config.peers[i].name, value_of(&stats[i], &counters[k]));
    }
    print_lists(out, t, stats);
    print_queues(out, t);
    free(stats);
    return fclose(out) == 0;
}
