/* SPDX-License-Identifier: MIT */
/* The checks of addresses. */
#ifndef HEADER_ADDR_CORE_H
#define HEADER_ADDR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core.h"
#include "header_table.h"

enum {
    HEADER_PRIVATE = 1,
    HEADER_MULTICAST = 2,
    HEADER_BROADCAST = 4,
    HEADER_UNSPECIFIED = 8,
    HEADER_LOOPBACK = 16,
    HEADER_LINK_LOCAL = 32
};

CORE uint64_t header_if(bool tripped, enum sl_header_check check)
{
    return (uint64_t)tripped << check;
}

CORE uint32_t header_kind4(uint32_t addr)
{
    uint32_t kind = 0;

    if (addr >> 24 == 10 || addr >> 20 == 0xAC1 || addr >> 16 == 0xC0A8)
        kind |= HEADER_PRIVATE;
    if (addr >> 28 == 0xE)
        kind |= HEADER_MULTICAST;
    if (addr == 0xFFFFFFFF)
        kind |= HEADER_BROADCAST;
    if (addr == 0)
        kind |= HEADER_UNSPECIFIED;
    if (addr >> 24 == 127)
        kind |= HEADER_LOOPBACK;
    if (addr >> 16 == 0xA9FE)
        kind |= HEADER_LINK_LOCAL;
    return kind;
}

/* RFC 4291, section 2.5.5.2. */
CORE struct header_addr header_mapped(uint32_t addr)
{
    struct header_addr mapped;

    mapped.hi = 0;
    mapped.lo = UINT64_C(0xFFFF00000000) | addr;
    return mapped;
}

CORE bool header_is_ipv4(const struct header_addr *addr)
{
    return addr->hi == 0 && addr->lo >> 32 == 0xFFFF;
}

CORE uint32_t header_kind(const struct header_addr *addr)
{
    if (header_is_ipv4(addr))
        return header_kind4((uint32_t)addr->lo);
    if (addr->hi >> 57 == 0xFC >> 1)
        return HEADER_PRIVATE;
    if (addr->hi >> 56 == 0xFF)
        return HEADER_MULTICAST;
    if (addr->hi >> 54 == 0xFE80 >> 6)
        return HEADER_LINK_LOCAL;
    if (addr->hi == 0 && addr->lo <= 1)
        return addr->lo == 0 ? HEADER_UNSPECIFIED : HEADER_LOOPBACK;
    return 0;
}

CORE bool header_is_home(const struct sl_header_table *table, const struct header_addr *addr)
{
    for (uint32_t i = 0; i < table->n_home; i++) {
        const struct header_net *net = &table->home[i];

        if ((((addr->hi ^ net->addr.hi) & net->mask.hi) |
             ((addr->lo ^ net->addr.lo) & net->mask.lo)) == 0)
            return true;
    }
    return false;
}

/* Whether an address is of the world outside. */
CORE bool header_is_foreign(const struct sl_header_table *table, const struct header_addr *addr,
                            uint32_t kind)
{
    return kind == 0 && !header_is_home(table, addr);
}

CORE uint64_t header_addresses(const struct sl_header_table *table, const struct header_addr *src,
                               uint32_t src_kind, const struct header_addr *dst, uint32_t dst_kind)
{
    uint64_t tripped =
        header_if((src_kind & (HEADER_MULTICAST | HEADER_BROADCAST)) != 0, SL_HEADER_BAD_SOURCE) |
        header_if(src->hi == dst->hi && src->lo == dst->lo &&
                      (src_kind & (HEADER_UNSPECIFIED | HEADER_LOOPBACK)) == 0,
                  SL_HEADER_LAND);

    if ((src_kind & HEADER_PRIVATE) != 0)
        tripped |= header_if(header_is_foreign(table, dst, dst_kind) && !header_is_home(table, src),
                             SL_HEADER_PRIVATE_SOURCE);
    if ((dst_kind & HEADER_PRIVATE) != 0)
        tripped |= header_if(header_is_foreign(table, src, src_kind) && !header_is_home(table, dst),
                             SL_HEADER_PRIVATE_DESTINATION);
    return tripped;
}

#endif
