/* SPDX-License-Identifier: MIT */
/* A tunnel: a box at each end of a thin link. Packets go into a TUN device here and come out of the
 * one there. Their repeated bytes cross the link as references (sluice/redundancy.h).
 *
 * The link must be authenticated: it is WireGuard's, or the file says that it is trusted by other
 * means. Frames are neither secret nor signed, and their lengths reveal what repeats
 * (docs/tunnel.md).
 *
 * Threads: a tunnel belongs to one thread, but for sl_tunnel_stop. */
#ifndef SLUICE_TUNNEL_H
#define SLUICE_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A box's end of its tunnels. */
struct sl_tunnel;

/* A peer, as the file describes it. Texts belong to the tunnel. */
struct sl_tunnel_peer {
    const char *name;
    const char *sampler;
    const char *tenant;  /* whose peers share two caches; NULL: the peer has its own */
    uint64_t cache_len;  /* bytes of each of its two caches */
    uint64_t memory_len; /* bytes that it takes: caches, index and buffers; without those caches
                            that an earlier peer of its tenant has, too */
    uint32_t n_allowed;  /* networks */
    uint32_t n_bypass;   /* ports */
    bool has_endpoint;   /* otherwise the peer sends first */
};

/* Reads a tunnel's file and opens nothing. The caller frees *tunnel. SL_EIO: the file cannot be
 * read. SL_EFORMAT: diag has file, line and reason. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_tunnel_load(struct sl_tunnel **tunnel, const char *path,
                                              struct sl_diag *diag);

/* Frees a tunnel and closes its sockets; the device stays. Accepts NULL. */
SL_API void sl_tunnel_free(struct sl_tunnel *tunnel);

/* The settings of the file, valid as long as the tunnel. sl_tunnel_peers returns how many peers
 * there are, and sl_tunnel_peer describes the i-th of them, from 0 on. */
SL_API const char *sl_tunnel_interface(const struct sl_tunnel *tunnel);
SL_API const char *sl_tunnel_underlay(const struct sl_tunnel *tunnel); /* "trusted", or a device */
SL_API const char *sl_tunnel_control(const struct sl_tunnel *tunnel);  /* path of its socket */
SL_API uint32_t sl_tunnel_peers(const struct sl_tunnel *tunnel);
SL_API void sl_tunnel_peer(const struct sl_tunnel *tunnel, uint32_t i, struct sl_tunnel_peer *peer);

/* Makes the device, the sockets and the caches, once. After a failure the tunnel is fit to be freed
 * only. SL_EUNSUPPORTED: the underlay is not authenticated. SL_EIO: the system refused, for
 * instance for lack of CAP_NET_ADMIN; diag has its reason. SL_EINVAL, SL_ENOMEM: as
 * sl_encoder_create and sl_sampling_build. */
SL_CHECK SL_API enum sl_status sl_tunnel_open(struct sl_tunnel *tunnel, struct sl_diag *diag);

/* Gives up all of the thread's capabilities but CAP_NET_ADMIN, and carries packets until
 * sl_tunnel_stop. `say` gets a line for the log when a peer comes, goes or moves; it may be NULL.
 * systemd is notified where $NOTIFY_SOCKET is set. The tunnel is open. SL_EIO: the device or the
 * socket is gone, or the system keeps the capabilities. */
SL_CHECK SL_API enum sl_status sl_tunnel_run(struct sl_tunnel *tunnel,
                                             void (*say)(void *user, const char *line), void *user,
                                             struct sl_diag *diag);

/* Ends sl_tunnel_run, also one that begins later. Any thread, and signal handlers. */
SL_API void sl_tunnel_stop(struct sl_tunnel *tunnel);

/* Sends a request to the control socket of the process that runs a tunnel. "json" is an EVE event
 * of type stats, "text" a table, "flows" the flows that saved most, "flows json" the same. The
 * answer has *len bytes and a NUL behind them, and the caller frees it. Any thread. SL_EIO: no
 * answer comes. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_tunnel_ask(const char *control, const char *request,
                                             char **answer, size_t *len, struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
