/* SPDX-License-Identifier: MIT */
/* The loop of a tunnel: datagrams in, packets out, packets in, datagrams out, work that is due. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/diag.h"
#include "service/notify.h"
#include "tenant.h"
#include "tunnel_state.h"

enum {
    ROUND = 64,      /* calls that read packets or datagrams, before the other side has its turn */
    WAIT_MAX = 1000, /* ms */
    LOAD_EACH = 20,  /* ms */
    MTU_LEAST = 1280,
    FIXED_FDS = 3
};

uint64_t tunnel_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the world of pairs ---------------------------------------------------------------------- */

static void send_datagram(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                          const struct sockaddr_storage *to)
{
    struct tunnel_peer *const peer = user;

    if (to->ss_family != AF_UNSPEC)
        udp_put(&peer->tunnel->udp, bytes, len, traffic_class, to);
}

static void deliver(void *user, uint8_t *packet, uint32_t len)
{
    tun_write(&((struct tunnel_peer *)user)->tunnel->tun, packet, len);
}

static uint64_t draw(void *user)
{
    uint64_t number = 0;

    (void)user;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        continue;
    return number;
}

void tunnel_world(struct tunnel_peer *peer, struct pair_world *world)
{
    *world = (struct pair_world){peer, send_datagram, deliver, draw};
}

/* ---- from the inside ------------------------------------------------------------------------- */

static bool destination_of(uint8_t address[16], const uint8_t *packet, uint32_t len)
{
    if (len >= 20 && packet[0] >> 4 == 4) {
        network_of_ipv4(address, packet + 16);
        return true;
    }
    if (len >= 40 && packet[0] >> 4 == 6) {
        memcpy(address, packet + 24, 16);
        return true;
    }
    return false;
}

/* The peer whose networks have the longest prefix of the destination; NULL: none has. */
static struct tunnel_peer *route(struct sl_tunnel *t, const uint8_t *packet, uint32_t len)
{
    struct tunnel_peer *best = NULL;
    uint8_t address[16];
    int longest = -1;

    if (!destination_of(address, packet, len))
        return NULL;
    for (size_t i = 0; i < t->config.n_peers; i++) {
        const int bits =
            networks_find(t->config.peers[i].allowed, t->config.peers[i].n_allowed, address);

        if (bits > longest) {
            longest = bits;
            best = &t->peers[i];
        }
    }
    return best;
}

static void take_packet(void *user, const uint8_t *packet, uint32_t len)
{
    struct sl_tunnel *const t = user;
    struct tunnel_peer *const peer = route(t, packet, len);

    if (peer == NULL) {
        t->no_route++;
        return;
    }
    if (peer->queue != NULL) {
        rate_put(peer, packet, len);
        return;
    }
    pair_packet(peer->pair, packet, len, t->now);
    peer->waits = true;
}

static void flush_peers(struct sl_tunnel *t)
{
    for (size_t i = 0; i < t->config.n_peers; i++) {
        if (!t->peers[i].waits)
            continue;
        pair_flush(t->peers[i].pair, t->now);
        t->peers[i].waits = false;
        t->peers[i].tick = 0;
    }
}

/* ---- from outside ---------------------------------------------------------------------------- */

/* A peer's datagrams name the session that it was given. Others are distinguished by their address;
 * one peer alone may have none in the file. */
static struct tunnel_peer *peer_of(struct sl_tunnel *t, const uint8_t *bytes, uint32_t len,
                                   const struct sockaddr_storage *from)
{
    struct tunnel_peer *caller = NULL;
    uint32_t session = 0;

    if (len >= 16)
        memcpy(&session, bytes + 12, sizeof session);
    for (size_t i = 0; i < t->config.n_peers; i++)
        if (session != 0 && pair_session(t->peers[i].pair) == session)
            return &t->peers[i];
    for (size_t i = 0; i < t->config.n_peers; i++) {
        if (endpoint_equal(&t->peers[i].config->endpoint, from))
            return &t->peers[i];
        if (t->peers[i].config->endpoint.ss_family == AF_UNSPEC || t->config.n_peers == 1)
            caller = &t->peers[i];
    }
    return caller;
}

static void take_datagram(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                          const struct sockaddr_storage *from)
{
    struct sl_tunnel *const t = user;
    struct tunnel_peer *const peer = peer_of(t, bytes, len, from);

    if (peer == NULL)
        return;
    pair_datagram(peer->pair, bytes, len, traffic_class, from, t->now);
    peer->tick = 0;
}

/* ---- what is due ----------------------------------------------------------------------------- */

static void say(struct sl_tunnel *t, const struct tunnel_peer *peer, const char *what)
{
    char line[128];

    snprintf(line, sizeof line, "%s: peer %s %s", t->config.interface, peer->config->name, what);
    if (t->say != NULL)
        t->say(t->user, line);
}

static void watch_peer(struct sl_tunnel *t, struct tunnel_peer *peer)
{
    struct pair_stats stats;

    pair_stats(peer->pair, &stats);
    if (stats.sessions != peer->sessions)
        say(t, peer, peer->sessions == 0 ? "is there" : "has begun anew");
    else if (stats.alive != peer->alive)
        say(t, peer, stats.alive ? "is back" : "is silent");
    if (stats.moves != peer->moves)
        say(t, peer, "has another address");
    peer->sessions = stats.sessions;
    peer->moves = stats.moves;
    peer->alive = stats.alive;
}

static void too_long(void *user, const struct sockaddr_storage *to, uint32_t len)
{
    struct sl_tunnel *const t = user;

    for (size_t i = 0; i < t->config.n_peers; i++) {
        struct pair_stats stats;

        pair_stats(t->peers[i].pair, &stats);
        if (endpoint_equal(&stats.endpoint, to))
            pair_too_long(t->peers[i].pair, len, t->now);
    }
}

/* The device has carrier while a peer is there, and takes packets that all peers' paths carry. */
static void watch_device(struct sl_tunnel *t)
{
    uint32_t mtu = t->mtu;
    bool carrier = false;

    for (size_t i = 0; i < t->config.n_peers; i++) {
        const struct pair *const pair = t->peers[i].pair;

        carrier |= pair_is_alive(pair);
        if (pair_is_alive(pair) && pair_mtu(pair) < mtu)
            mtu = pair_mtu(pair);
    }
    tun_set_carrier(&t->tun, carrier);
    mtu = mtu < MTU_LEAST ? MTU_LEAST : mtu;
    if (mtu != t->tun.mtu && tun_set_mtu(&t->tun, mtu) && t->say != NULL) {
        char line[96];

        snprintf(line, sizeof line, "%s: the MTU is %u", t->config.interface, mtu);
        t->say(t->user, line);
    }
}

/* Returns when to come again. */
static uint64_t tick(struct sl_tunnel *t)
{
    uint64_t next = t->now + WAIT_MAX * UINT64_C(1000000);
    bool changed = false;

    for (size_t i = 0; i < t->config.n_peers; i++) {
        struct tunnel_peer *const peer = &t->peers[i];

        if (t->now >= peer->tick) {
            peer->tick = pair_tick(peer->pair, t->now);
            watch_peer(t, peer);
            changed = true;
        }
        const uint64_t more = rate_send(peer);
        next = more < next ? more : next;
        next = peer->tick < next ? peer->tick : next;
    }
    for (size_t i = 0; i < t->n_tenants; i++)
        tenant_settle(t->tenants[i].pairs, t->tenants[i].n, t->tenants[i].cache_len);
    if (changed)
        watch_device(t);
    return next;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static enum sl_status gone(const char *what, struct sl_diag *diag)
{
    return diag_set(diag, SL_EIO, NULL, 0, "%s is gone: %s", what, strerror(errno));
}

/* Packets of one round are sent together; more are read while nothing waits outside. */
static enum sl_status carry(struct sl_tunnel *t, struct sl_diag *diag)
{
    for (int i = 0; i < ROUND && udp_receive(&t->udp, take_datagram, t); i++)
        continue;
    tun_flush(&t->tun);
    for (int i = 0; i < ROUND; i++) {
        const int n = tun_read(&t->tun, take_packet, t);

        if (n < 0)
            return gone("the device", diag);
        if (n == 0)
            break;
    }
    flush_peers(t);
    return SL_OK;
}

/* A box that waits for work less than a tenth of the time does not keep up. */
static void measure_load(struct sl_tunnel *t)
{
    const uint64_t passed = t->now - t->measured;

    if (passed < LOAD_EACH * UINT64_C(1000000))
        return;
    for (size_t i = 0; i < t->config.n_peers; i++)
        pair_set_busy(t->peers[i].pair, t->waited < passed / 10);
    t->waited = 0;
    t->measured = t->now;
}

static void wait_for_work(struct sl_tunnel *t, uint64_t until)
{
    struct pollfd fds[FIXED_FDS + 2 * REQUEST_FDS] = {
        {t->tun.file, POLLIN, 0}, {t->udp.file, POLLIN, 0}, {t->wake, POLLIN, 0}};
    size_t n = FIXED_FDS;
    const uint64_t wait = until > t->now ? until - t->now : 0;
    const struct timespec timeout = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};

    n += request_fds(&t->control, fds + n);
    n += request_fds(&t->metrics, fds + n);
    const uint64_t before = tunnel_clock();
    (void)ppoll(fds, n, &timeout, NULL);
    t->now = tunnel_clock();
    t->waited += t->now - before;

    bool asked = t->now - t->asked >= WAIT_MAX * UINT64_C(1000000);
    for (size_t i = FIXED_FDS; i < n; i++)
        asked |= fds[i].revents != 0;
    if (asked) {
        request_step(&t->control, t->now);
        request_step(&t->metrics, t->now);
        t->asked = t->now;
    }
}

enum sl_status tunnel_loop(struct sl_tunnel *tunnel, struct sl_diag *diag)
{
    const uint64_t watchdog = notify_watchdog();
    uint64_t watched = 0;

    while (!atomic_load(&tunnel->stops)) {
        const enum sl_status status = carry(tunnel, diag);
        uint64_t next = tick(tunnel);

        if (status != SL_OK)
            return status;
        udp_send(&tunnel->udp, too_long, tunnel);
        if (watchdog > 0 && tunnel->now - watched >= watchdog) {
            notify_send("WATCHDOG=1");
            watched = tunnel->now;
        }
        if (watchdog > 0 && watched + watchdog < next)
            next = watched + watchdog;
        wait_for_work(tunnel, next);
        measure_load(tunnel);
    }
    return SL_OK;
}
