/* SPDX-License-Identifier: MIT */
/* The file of a tunnel: sections and keys as WireGuard's files have them. docs/tunnel.md lists the
 * keys. */
#ifndef TUNNEL_CONFIG_H
#define TUNNEL_CONFIG_H

#include <net/if.h>

#include "pair.h"

enum {
    TUNNEL_PEERS = 256,
    TUNNEL_NETWORKS = 64, /* of a peer; also addresses of the device */
    TUNNEL_NAME = 32,
    TUNNEL_PATH = 108, /* bytes of a socket's path */
    TUNNEL_FILE = 256  /* bytes of a file's path */
};

struct peer_config {
    char name[TUNNEL_NAME]; /* "peer1" where the file has none */
    struct network allowed[TUNNEL_NETWORKS];
    size_t n_allowed;
    struct sockaddr_storage endpoint;
    uint64_t cache_len;
    char tenant[TUNNEL_NAME];     /* whose peers share two caches; empty: they are its own */
    char cache_file[TUNNEL_FILE]; /* empty: the cache ends with the process */
    uint64_t rate;                /* bytes a second; 0: no limit */
    bool compresses, pads;
    const char *sampler; /* static storage */
    uint32_t period, window;
    struct pair_port bypass[PAIR_BYPASS_PORTS];
    uint32_t n_bypass;
};

struct tunnel_config {
    char interface[IFNAMSIZ];
    char underlay[IFNAMSIZ]; /* empty: trusted */
    struct network address[TUNNEL_NETWORKS];
    size_t n_addresses;
    uint16_t port;       /* UDP, where the tunnel listens */
    uint32_t mtu;        /* of the device; 0: as the path's MTU allows */
    uint32_t path_mtu;   /* bytes of an IP packet; 0: the underlay's */
    uint64_t dead_after; /* nanoseconds */
    bool routes;         /* to the peers' networks are set */
    char control[TUNNEL_PATH];
    char metrics[NETWORK_TEXT]; /* empty: none */
    struct peer_config *peers;
    size_t n_peers;
};

/* Reads a file. SL_EIO: it cannot be read. SL_EFORMAT: diag has file, line and reason. SL_ENOMEM.
 * The caller clears the config, also where it failed. */
SL_CHECK enum sl_status tunnel_config_read(struct tunnel_config *config, const char *path,
                                           struct sl_diag *diag);

/* The same for a text; `path` names it in errors. */
SL_CHECK enum sl_status tunnel_config_parse(struct tunnel_config *config, const char *path,
                                            const char *text, size_t len, struct sl_diag *diag);

/* Whether both have the same caches: peers of one tenant, or one peer. */
bool tunnel_config_shares(const struct peer_config *peer, const struct peer_config *other);

void tunnel_config_clear(struct tunnel_config *config);

#endif
