/* SPDX-License-Identifier: MIT */
/* The state that the parts of a tunnel share. */
#ifndef TUNNEL_STATE_H
#define TUNNEL_STATE_H

#include <stdatomic.h>

#include "fair_queue.h"
#include "service/request_server.h"
#include "sluice/tunnel.h"
#include "tun_device.h"
#include "tunnel_config.h"
#include "udp_socket.h"

struct tunnel_peer {
    struct sl_tunnel *tunnel;
    const struct peer_config *config;
    struct pair *pair;
    bool waits;               /* packets were put that are not flushed */
    bool alive;               /* as last logged */
    uint64_t tick;            /* when the pair wants to be called */
    uint64_t sessions, moves; /* as last logged */

    /* Where it has a rate. */
    struct fair_queue *queue;
    uint64_t secret;  /* of its hashes */
    uint64_t sent;    /* bytes, as last settled, */
    uint64_t settled; /* and when */
    int64_t credit;   /* bytes that may be sent now */
};

/* Peers that share their caches. */
struct tunnel_tenant {
    struct pair **pairs;
    size_t n;
    uint64_t cache_len;
};

struct sl_tunnel {
    struct tunnel_config config;
    char *path; /* of the file */
    struct tun_device tun;
    struct udp_socket udp;
    struct tunnel_peer *peers;     /* config.n_peers */
    struct tunnel_tenant *tenants; /* n_tenants */
    size_t n_tenants;
    struct pair **sharing; /* the tenants' */
    struct request_server control, metrics;
    uint32_t mtu; /* of the device, as configured or as the path leaves it */
    uint64_t now, began;
    uint64_t waited, measured; /* since the last measurement, and when that was */
    uint64_t asked;            /* when requests were last polled */
    uint64_t no_route;         /* packets of no peer */
    int wake;                  /* an eventfd; -1: none */
    atomic_bool stops;
    void (*say)(void *user, const char *line);
    void *user;
};

/* tunnel_status.c: answers of the control socket, and of metrics. */
bool tunnel_answer(void *user, const char *request, char **answer, size_t *len);
bool tunnel_answer_metrics(void *user, const char *path, char **answer, size_t *len);

/* tunnel_cache.c */
void tunnel_load_caches(struct sl_tunnel *tunnel);
void tunnel_save_caches(struct sl_tunnel *tunnel);

/* tunnel_rate.c: for peers with a rate. NULL: no memory. */
struct fair_queue *rate_queue(uint64_t rate);
void rate_put(struct tunnel_peer *peer, const uint8_t *packet, uint32_t len);
/* Sends what the rate allows. Returns when more may go; UINT64_MAX: nothing waits. */
uint64_t rate_send(struct tunnel_peer *peer);

/* tunnel_loop.c */
SL_CHECK enum sl_status tunnel_loop(struct sl_tunnel *tunnel, struct sl_diag *diag);
/* The actions of the pairs of an open tunnel on the world; the user is the peer. */
void tunnel_world(struct tunnel_peer *peer, struct pair_world *world);

/* Nanoseconds of a clock that never steps, and goes on in sleep. */
uint64_t tunnel_clock(void);

#endif
