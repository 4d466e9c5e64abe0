/* SPDX-License-Identifier: MIT */
/* Peers of one tenant share the memory of two caches: it goes to those that have traffic. No peer's
 * packets refer to another's. */
#ifndef TUNNEL_TENANT_H
#define TUNNEL_TENANT_H

#include "pair.h"

/* Where the pairs hold more than `cache_len` bytes together of what was sent, or of what came, the
 * one that holds most gives its oldest back. */
void tenant_settle(struct pair *const *pairs, size_t n, uint64_t cache_len);

#endif
