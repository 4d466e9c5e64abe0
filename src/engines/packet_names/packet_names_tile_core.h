/* SPDX-License-Identifier: MIT */
/* The work of a GPU's thread on a packet. It finds and looks up its names, if they are few and
 * short enough for the memory of a thread. For host and CUDA code. */
#ifndef NAMES_NAMES_TILE_CORE_H
#define NAMES_NAMES_TILE_CORE_H

#include "packet_names_flat_core.h"
#include "packet_names_item_core.h"

/* Beyond these a packet is the CPU's. */
enum {
    NAMES_TILE_NAMES = 8,      /* names of a packet */
    NAMES_TILE_LEN = 1024,     /* bytes of them together */
    NAMES_TILE_PAYLOAD = 4096, /* bytes of a packet that begins as one with names does */
    NAMES_TILE_SLACK = 32      /* readers read up to 20 bytes behind a name */
};

/* The counts of a GPU, in the order of struct sl_packet_names_watch_count. */
enum {
    NAMES_COUNT_PACKETS,
    NAMES_COUNT_NAMES,
    NAMES_COUNT_MATCHED = NAMES_COUNT_NAMES + SL_N_PACKET_NAMES_PROTOCOLS,
    NAMES_COUNT_MISSED = NAMES_COUNT_MATCHED + SL_N_PACKET_NAMES_PROTOCOLS,
    NAMES_N_COUNTS = NAMES_COUNT_MISSED + SL_N_PACKET_NAMES_MISSES
};

/* The columns of a batch. */
struct names_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const struct sl_packet *packet;
    uint32_t n;
    bool has_origin; /* and so link types, which are on the host */
};

static inline struct names_items names_items_of(const struct sl_batch *batch)
{
    const struct names_items items = {batch->bytes, batch->payload, batch->packet, batch->n_items,
                                      batch->origin != NULL};

    return items;
}

/* A thread's memory, and what it found: entry i of `id` is that of entry i of `found`. */
struct names_tile {
    struct sl_packet_name found[NAMES_TILE_NAMES];
    uint64_t id[NAMES_TILE_NAMES];
    uint32_t n, misses;
    uint32_t room[(NAMES_TILE_LEN + NAMES_TILE_SLACK) / 4];
};

/* Whether Ethernet may carry NDN: the link type is not known here. */
BYTES_INLINE bool names_tile_may_be_ndn(const struct names_items *items,
                                        const struct sl_packet *packet)
{
    const uint8_t *bytes = items->bytes + packet->offset;

    return items->has_origin && name_may_be_link(packet) &&
           (name_link_ndn(bytes, packet->len, NAME_LINK_ETHERNET) != 0 ||
            name_link_ndn(bytes, packet->len, NAME_LINK_LINUX_SLL) != 0 ||
            name_link_ndn(bytes, packet->len, NAME_LINK_LINUX_SLL2) != 0);
}

/* Moves a name to a word's border, and no byte behind it. It may lie over itself, a little
 * further on. */
BYTES_INLINE void names_tile_move(uint32_t *to, const uint8_t *name, uint32_t len)
{
    const uint32_t *from = (const uint32_t *)((uintptr_t)name & ~(uintptr_t)3);
    const uint32_t bits = (uint32_t)((uintptr_t)name & 3) * 8;

    for (; len >= 16; len -= 16, from += 4, to += 4) { /* loads first: they are waited for once */
        const uint32_t word[] = {from[0], from[1], from[2], from[3], from[4]};

        for (int i = 0; i < 4; i++)
            to[i] = fib_shift_right(word[i], word[i + 1], bits);
    }
    for (; len >= 4; len -= 4, from++)
        *to++ = fib_shift_right(from[0], from[1], bits);
    if (len != 0) {
        const uint32_t mask = (UINT32_C(1) << len * 8) - 1;

        *to = (fib_shift_right(from[0], from[1], bits) & mask) | (*to & ~mask);
    }
}

/* Where a name's words begin, in the room. Names that were extracted into it lie back to back from
 * its begin. Each moves down, over the end of the name before, which is done. NDN's names are still
 * in the packet, and the room is free. */
BYTES_INLINE const uint32_t *names_tile_words(struct names_tile *tile, const struct sl_name *name)
{
    uint32_t *to = tile->room;

    if (name->syntax != SL_NAME_NDN)
        to += (uint32_t)(name->bytes - (const uint8_t *)tile->room) / 4;
    names_tile_move(to, name->bytes, name->len);
    return to;
}

/* Where a packet's names are looked for, and whose they may be. */
BYTES_INLINE enum sl_packet_names_protocol
names_tile_packet(struct name_packet *at, const struct names_items *items, uint32_t item)
{
    const struct sl_span payload = items->payload[item];

    memset(at, 0, sizeof *at);
    if (payload.len == 0)
        return SL_N_PACKET_NAMES_PROTOCOLS;
    const struct sl_packet packet = items->packet[item];
    name_take_transport(at, items->bytes, &packet, payload);
    return name_protocol(at);
}

/* Whether there is anything to be done for a packet. The first bytes decide for most. */
BYTES_INLINE bool names_tile_wants(const struct names_items *items, uint32_t item)
{
    struct name_packet at;

    if (items->payload[item].len == 0) {
        const struct sl_packet packet = items->packet[item];

        return names_tile_may_be_ndn(items, &packet);
    }
    return names_tile_packet(&at, items, item) != SL_N_PACKET_NAMES_PROTOCOLS;
}

/* Finds the names of a packet that wants it. False: the packet is the CPU's. */
BYTES_INLINE bool names_tile_find(struct names_tile *tile, const struct names_items *items,
                                  uint32_t item)
{
    struct name_packet at;
    struct name_out out;

    tile->n = tile->misses = 0;
    const enum sl_packet_names_protocol protocol = names_tile_packet(&at, items, item);
    if (protocol == SL_N_PACKET_NAMES_PROTOCOLS || at.len > NAMES_TILE_PAYLOAD)
        return false;
    memset(&out, 0, sizeof out);
    out.found = tile->found;
    out.max_names = NAMES_TILE_NAMES;
    out.bytes = (uint8_t *)tile->room;
    out.cap = NAMES_TILE_LEN;
    name_extract(&out, &at, protocol);
    tile->n = out.n;
    tile->misses = out.misses;
    return (out.misses & (1u << SL_PACKET_NAMES_MISS_MORE | 1u << SL_PACKET_NAMES_MISS_LONG)) == 0;
}

/* Finds the names of a packet that wants it and looks them up. False: the packet is the CPU's, and
 * nothing of it counts. */
BYTES_INLINE bool names_tile_run(struct names_tile *tile, const struct names_flat_view *table,
                                 const struct names_items *items, uint32_t item)
{
    if (!names_tile_find(tile, items, item))
        return false;
    for (uint32_t i = 0; i < tile->n; i++)
        if (tile->found[i].name.len > NAMES_TILE_LEN)
            return false;
    for (uint32_t i = 0; i < tile->n; i++) {
        const struct sl_name *name = &tile->found[i].name;

        tile->id[i] = names_flat_lookup(table, name, names_tile_words(tile, name));
    }
    return true;
}

#endif
