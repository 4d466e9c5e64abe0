/* SPDX-License-Identifier: MIT */
/* A tunnel's making: the file, the trust in its underlay, the device, the sockets and the pairs. */
#include "sluice/tunnel.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "rtnetlink.h"
#include "service/notify.h"
#include "service/rights.h"
#include "tunnel_state.h"

enum {
    OUTER_HEADERS = 48, /* bytes of IPv6 and UDP */
    OUTER_HEADERS_IPV4 = 28,
    PATH_DEFAULT = 1500
};

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t datagram_max(const struct tunnel_config *config, const struct peer_config *peer)
{
    const uint32_t path = config->path_mtu != 0 ? config->path_mtu : PATH_DEFAULT;

    return path - (peer->endpoint.ss_family == AF_INET ? OUTER_HEADERS_IPV4 : OUTER_HEADERS);
}

/* The largest packet that each peer takes in a datagram of its own. */
static uint32_t inside_mtu(const struct tunnel_config *config)
{
    uint32_t mtu = PAIR_PACKET_MAX;

    for (size_t i = 0; i < config->n_peers; i++) {
        const uint32_t room = datagram_max(config, &config->peers[i]) - PAIR_OVERHEAD;

        mtu = room < mtu ? room : mtu;
    }
    return config->mtu != 0 ? config->mtu : mtu > 1280 ? mtu : 1280;
}

/* How many peers share the caches of peer i, itself included. */
static uint32_t n_sharing(const struct tunnel_config *config, size_t i)
{
    uint32_t n = 0;

    for (size_t k = 0; k < config->n_peers; k++)
        n += tunnel_config_shares(&config->peers[i], &config->peers[k]) ? 1 : 0;
    return n;
}

static bool is_first_of_tenant(const struct tunnel_config *config, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (tunnel_config_shares(&config->peers[i], &config->peers[k]))
            return false;
    return true;
}

static void pair_config_of(struct pair_config *out, const struct tunnel_config *config,
                           const struct peer_config *peer)
{
    *out = (struct pair_config){.cache_len = peer->cache_len,
                                .n_sharing = n_sharing(config, (size_t)(peer - config->peers)),
                                .allowed = peer->allowed,
                                .n_allowed = peer->n_allowed,
                                .endpoint = peer->endpoint,
                                .n_bypass = peer->n_bypass,
                                .compresses = peer->compresses,
                                .pads = peer->pads,
                                .mtu = inside_mtu(config),
                                .datagram_max = datagram_max(config, peer),
                                .dead_after = config->dead_after,
                                .epoch = (uint32_t)time(NULL)};
    memcpy(out->bypass, peer->bypass, sizeof out->bypass);
    sl_sampling_config_init(&out->sampling);
    out->sampling.sampler = peer->sampler;
    out->sampling.period = peer->period;
    out->sampling.window = peer->window;
}

/* A sampler that refuses its values is the file's error, reported before anything is opened. */
static enum sl_status check_samplers(const struct sl_tunnel *tunnel, struct sl_diag *diag)
{
    for (size_t i = 0; i < tunnel->config.n_peers; i++) {
        const struct peer_config *const peer = &tunnel->config.peers[i];
        struct sl_sampling_table *table = NULL;
        struct pair_config config;
        struct sl_diag why;

        pair_config_of(&config, &tunnel->config, peer);
        const enum sl_status status = sl_sampling_build(&table, &config.sampling, &why);
        sl_sampling_free(table);
        if (status != SL_OK)
            return diag_set(diag, SL_EFORMAT, tunnel->path, 0, "peer '%s': %s", peer->name,
                            why.text);
    }
    return SL_OK;
}

enum sl_status sl_tunnel_load(struct sl_tunnel **tunnel, const char *path, struct sl_diag *diag)
{
    struct sl_tunnel *const t = calloc(1, sizeof *t);

    if (t == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a tunnel");
    t->wake = -1;
    request_server_init(&t->control);
    request_server_init(&t->metrics);
    t->path = strdup(path);
    enum sl_status status = t->path != NULL
                                ? tunnel_config_read(&t->config, path, diag)
                                : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a tunnel");
    if (status == SL_OK)
        status = check_samplers(t, diag);
    if (status != SL_OK) {
        sl_tunnel_free(t);
        return status;
    }
    *tunnel = t;
    return SL_OK;
}

static void close_peer(struct tunnel_peer *peer)
{
    pair_free(peer->pair);
    fair_free(peer->queue);
}

void sl_tunnel_free(struct sl_tunnel *tunnel)
{
    if (tunnel == NULL)
        return;
    for (size_t i = 0; tunnel->peers != NULL && i < tunnel->config.n_peers; i++)
        close_peer(&tunnel->peers[i]);
    free(tunnel->peers);
    free(tunnel->tenants);
    free(tunnel->sharing);
    tun_close(&tunnel->tun);
    udp_close(&tunnel->udp);
    request_server_close(&tunnel->control);
    request_server_close(&tunnel->metrics);
    if (tunnel->wake >= 0)
        close(tunnel->wake);
    tunnel_config_clear(&tunnel->config);
    free(tunnel->path);
    free(tunnel);
}

const char *sl_tunnel_interface(const struct sl_tunnel *tunnel)
{
    return tunnel->config.interface;
}

const char *sl_tunnel_underlay(const struct sl_tunnel *tunnel)
{
    return tunnel->config.underlay[0] != '\0' ? tunnel->config.underlay : "trusted";
}

const char *sl_tunnel_control(const struct sl_tunnel *tunnel)
{
    return tunnel->config.control;
}

uint32_t sl_tunnel_peers(const struct sl_tunnel *tunnel)
{
    return (uint32_t)tunnel->config.n_peers;
}

void sl_tunnel_peer(const struct sl_tunnel *tunnel, uint32_t i, struct sl_tunnel_peer *peer)
{
    const struct peer_config *const from = &tunnel->config.peers[i];
    const bool shares = n_sharing(&tunnel->config, i) > 1;
    const bool adds = shares && is_first_of_tenant(&tunnel->config, i);
    struct pair_config config;

    pair_config_of(&config, &tunnel->config, from);
    *peer = (struct sl_tunnel_peer){.name = from->name,
                                    .sampler = from->sampler,
                                    .cache_len = from->cache_len,
                                    .tenant = shares ? from->tenant : NULL,
                                    .memory_len =
                                        pair_memory(&config) + (adds ? 2 * from->cache_len : 0),
                                    .n_allowed = (uint32_t)from->n_allowed,
                                    .n_bypass = from->n_bypass,
                                    .has_endpoint = from->endpoint.ss_family != AF_UNSPEC};
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The underlay's kind is as the kernel reports it now. */
static enum sl_status check_underlay(struct sl_tunnel *t, struct sl_diag *diag)
{
    struct link_info link;

    if (t->config.underlay[0] == '\0')
        return SL_OK;
    enum sl_status status = link_ask(&link, t->config.underlay, diag);
    if (status == SL_OK)
        status = link_check_trust(&link, t->config.underlay, diag);
    if (status == SL_OK && t->config.path_mtu == 0 && link.mtu >= 1280)
        t->config.path_mtu = link.mtu;
    return status;
}

static enum sl_status open_device(struct sl_tunnel *t, struct sl_diag *diag)
{
    t->mtu = inside_mtu(&t->config);
    enum sl_status status = tun_open(&t->tun, t->config.interface, t->mtu, diag);

    for (size_t i = 0; status == SL_OK && i < t->config.n_addresses; i++)
        status = link_add_address(t->tun.index, &t->config.address[i], diag);
    for (size_t i = 0; status == SL_OK && t->config.routes && i < t->config.n_peers; i++)
        for (size_t k = 0; status == SL_OK && k < t->config.peers[i].n_allowed; k++)
            status = link_add_route(t->tun.index, &t->config.peers[i].allowed[k], diag);
    return status;
}

/* Pairs that share their caches are listed one after another. */
static enum sl_status open_tenants(struct sl_tunnel *t, struct sl_diag *diag)
{
    struct pair **pair = calloc(t->config.n_peers, sizeof *pair);

    t->tenants = calloc(t->config.n_peers, sizeof *t->tenants);
    t->sharing = pair;
    if (t->tenants == NULL || pair == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for peers");
    for (size_t i = 0; i < t->config.n_peers; i++) {
        struct tunnel_tenant *const tenant = &t->tenants[t->n_tenants];

        if (!is_first_of_tenant(&t->config, i) || n_sharing(&t->config, i) < 2)
            continue;
        *tenant = (struct tunnel_tenant){pair, 0, t->config.peers[i].cache_len};
        for (size_t k = i; k < t->config.n_peers; k++)
            if (tunnel_config_shares(&t->config.peers[i], &t->config.peers[k]))
                tenant->pairs[tenant->n++] = t->peers[k].pair;
        pair += tenant->n;
        t->n_tenants++;
    }
    return SL_OK;
}

static enum sl_status open_peers(struct sl_tunnel *t, struct sl_diag *diag)
{
    t->peers = calloc(t->config.n_peers, sizeof *t->peers);
    if (t->peers == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for peers");
    for (size_t i = 0; i < t->config.n_peers; i++) {
        struct tunnel_peer *const peer = &t->peers[i];
        struct pair_config config;
        struct pair_world world;

        peer->tunnel = t;
        peer->config = &t->config.peers[i];
        pair_config_of(&config, &t->config, peer->config);
        tunnel_world(peer, &world);
        const enum sl_status status = pair_create(&peer->pair, &config, &world, t->now, diag);
        if (status != SL_OK)
            return status;
        peer->secret = world.random(peer);
        peer->queue = peer->config->rate > 0 ? rate_queue(peer->config->rate) : NULL;
        if (peer->config->rate > 0 && peer->queue == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a queue");
    }
    return open_tenants(t, diag);
}

static enum sl_status open_servers(struct sl_tunnel *t, struct sl_diag *diag)
{
    struct sockaddr_storage address;
    enum sl_status status = request_listen_unix(&t->control, t->config.control, diag);

    t->control.answer = tunnel_answer;
    t->metrics.answer = tunnel_answer_metrics;
    t->control.user = t->metrics.user = t;
    if (status == SL_OK && t->config.metrics[0] != '\0' &&
        endpoint_parse(&address, t->config.metrics))
        status = request_listen_http(&t->metrics, (const struct sockaddr *)&address,
                                     endpoint_len(&address), diag);
    return status;
}

enum sl_status sl_tunnel_open(struct sl_tunnel *tunnel, struct sl_diag *diag)
{
    const char *const underlay = tunnel->config.underlay;

    tunnel->now = tunnel->began = tunnel_clock();
    tunnel->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (tunnel->wake < 0)
        return diag_set(diag, SL_EIO, NULL, 0, "no eventfd: %s", strerror(errno));

    enum sl_status status = check_underlay(tunnel, diag);
    if (status == SL_OK)
        status = open_servers(tunnel, diag);
    if (status == SL_OK)
        status = open_peers(tunnel, diag);
    if (status == SL_OK)
        status = udp_open(&tunnel->udp, tunnel->config.port, underlay[0] != '\0' ? underlay : NULL,
                          diag);
    if (status == SL_OK)
        status = open_device(tunnel, diag);
    return status;
}

enum sl_status sl_tunnel_run(struct sl_tunnel *tunnel, void (*say)(void *user, const char *line),
                             void *user, struct sl_diag *diag)
{
    tunnel->say = say;
    tunnel->user = user;
    enum sl_status status = rights_keep(UINT64_C(1) << CAP_NET_ADMIN, diag);
    if (status != SL_OK)
        return status;
    tunnel_load_caches(tunnel);
    notify_send("READY=1");
    status = tunnel_loop(tunnel, diag);
    notify_send("STOPPING=1");
    tun_set_carrier(&tunnel->tun, false);
    tunnel_save_caches(tunnel);
    return status;
}

void sl_tunnel_stop(struct sl_tunnel *tunnel)
{
    const uint64_t one = 1;

    atomic_store(&tunnel->stops, true);
    if (tunnel->wake >= 0)
        (void)!write(tunnel->wake, &one, sizeof one);
}

enum sl_status sl_tunnel_ask(const char *control, const char *request, char **answer, size_t *len,
                             struct sl_diag *diag)
{
    return request_ask(control, request, answer, len, diag);
}
