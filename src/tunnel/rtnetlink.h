/* SPDX-License-Identifier: MIT */
/* Queries and changes of devices, by requests to the kernel. */
#ifndef TUNNEL_RTNETLINK_H
#define TUNNEL_RTNETLINK_H

#include <net/if.h>

#include "networks.h"
#include "sluice/status.h"

enum { LINK_KIND = 32 };

struct link_info {
    char kind[LINK_KIND]; /* "wireguard", "tun"; empty: hardware */
    uint32_t mtu;
    int index;
};

/* Reads the kernel's answer to a question about one link. False: it is none. Any bytes are safe. */
bool link_read(struct link_info *link, const uint8_t *answer, size_t len);

/* Asks the kernel. SL_EIO: diag has its reason. */
SL_CHECK enum sl_status link_ask(struct link_info *link, const char *name, struct sl_diag *diag);

/* SL_EUNSUPPORTED: a link of this kind is not authenticated; diag says what is expected. */
SL_CHECK enum sl_status link_check_trust(const struct link_info *link, const char *name,
                                         struct sl_diag *diag);

/* Give a link an address, and a network the route through it. Those that are there stay. SL_EIO. */
SL_CHECK enum sl_status link_add_address(int index, const struct network *address,
                                         struct sl_diag *diag);
SL_CHECK enum sl_status link_add_route(int index, const struct network *network,
                                       struct sl_diag *diag);

#endif
