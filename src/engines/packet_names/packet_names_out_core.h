/* SPDX-License-Identifier: MIT */
/* The findings in a packet: names, and reasons why there are none. For host and CUDA code. */
#ifndef PACKET_NAMES_OUT_CORE_H
#define PACKET_NAMES_OUT_CORE_H

#include "names/syntax/name_host_core.h"
#include "sluice/packet_names.h"

/* The findings. */
struct name_out {
    struct sl_packet_name *found; /* max_names of them, n used */
    uint32_t n, max_names;
    uint32_t misses; /* 1 << enum sl_packet_names_miss */
    uint8_t *bytes;  /* cap of them, len used */
    uint32_t len, cap;
};

BYTES_INLINE void name_miss(struct name_out *out, enum sl_packet_names_miss miss)
{
    out->misses |= 1u << miss;
}

/* Where the next name's bytes go. */
BYTES_INLINE void name_begin(const struct name_out *out, struct name_build *build)
{
    const uint32_t left = out->cap - out->len;

    build->bytes = out->bytes + out->len;
    build->cap = left < SL_NAME_LEN_MAX ? left : (uint32_t)SL_NAME_LEN_MAX;
    build->len = 0;
}

/* The next entry, or NULL: there are enough. */
BYTES_INLINE struct sl_packet_name *name_next_found(struct name_out *out)
{
    if (out->n < out->max_names)
        return &out->found[out->n];
    name_miss(out, SL_PACKET_NAMES_MISS_MORE);
    return NULL;
}

BYTES_INLINE void name_keep(struct name_out *out, struct sl_packet_name *found,
                            enum sl_packet_names_protocol protocol, uint32_t offset,
                            enum sl_name_syntax syntax, const uint8_t *bytes, uint32_t len,
                            uint32_t host_len)
{
    found->name.bytes = bytes;
    found->name.len = len;
    found->name.host_len = host_len;
    found->name.syntax = syntax;
    found->protocol = protocol;
    found->offset = offset;
    out->n++;
}

#endif
