/* SPDX-License-Identifier: MIT */
/* Addresses and networks, IPv4 and IPv6 in one form: 16 bytes in network order, IPv4 as
 * ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2). */
#ifndef SLUICE_NET_H
#define SLUICE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_addr {
    uint8_t byte[16];
};

/* A network: all addresses whose first prefix_len bits (0 to 128; an IPv4 /n is 96 + n) equal. */
struct sl_net {
    struct sl_addr addr; /* bits behind the prefix are 0 */
    uint32_t prefix_len;
};

enum { SL_ADDR_TEXT_LEN = 46 }; /* bytes of an address as text, NUL included */

SL_API bool sl_addr_is_ipv4(const struct sl_addr *addr);

/* "192.0.2.1" or "2001:db8::1", as RFC 5952 writes it. Returns out. */
SL_API char *sl_addr_format(const struct sl_addr *addr, char out[SL_ADDR_TEXT_LEN]);

/* Reads "192.0.2.0/24", "2001:db8::/32" or an address alone (text_len bytes, no NUL needed). Host
 * bits behind the prefix are cleared. SL_EINVAL: the text is no network. */
SL_CHECK SL_API enum sl_status sl_net_parse(struct sl_net *net, const char *text, size_t text_len);

SL_API bool sl_net_contains(const struct sl_net *net, const struct sl_addr *addr);

/* RFC 1918 and RFC 4193. */
SL_API bool sl_addr_is_private(const struct sl_addr *addr);

#ifdef __cplusplus
}
#endif
#endif
