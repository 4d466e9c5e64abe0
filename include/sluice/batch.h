/* SPDX-License-Identifier: MIT */
/* The batch: the unit that sources fill, engines read and results refer to.
 *
 * One arena of bytes holds the items back to back, each at a 16-byte boundary. Columns beside it
 * describe the items ("indexed compact buffer", Rabin fingerprinting on GPUs, TPDS 2016, section
 * 4.2). An item is a packet, a piece of a stream, a piece of a file, or a name. Item order is
 * arrival order. No result depends on how items were split into batches.
 *
 * The struct is open. A caller whose packets lie in memory already, on the host or on a GPU, sets
 * the pointers itself, and no byte is copied. Batches of sl_batch_create own their memory.
 *
 * Threads: a batch belongs to one thread at a time. While it is lent to an engine (submit to wait)
 * no thread writes it. */
#ifndef SLUICE_BATCH_H
#define SLUICE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of batches. */
enum {
    SL_BATCH_ALIGN = 16,  /* bytes: each item begins at a multiple of this in the arena */
    SL_BATCH_SLACK = 256, /* bytes behind an arena's last item that engines may read, not trust */
    SL_OVERLAP_MAX = 4095 /* bytes: the largest overlap, one less than the longest literal */
};

/* Where the arena and the device columns of a batch lie. */
enum sl_memory {
    SL_MEMORY_HOST,   /* ordinary memory */
    SL_MEMORY_PINNED, /* host memory that the GPU reads directly, but for long columns at first, and
                         the column `before`, which is laid behind the arena or copied */
    SL_MEMORY_DEVICE  /* GPU memory: bytes and columns are device pointers, origin is on the host */
};

/* A range of bytes of the arena. */
struct sl_span {
    uint32_t offset; /* bytes from the arena's first */
    uint32_t len;    /* bytes */
};

/* The headers of a packet, for engines that read them: 16 bytes, one load. Offsets are bytes from
 * the packet's first. SL_PACKET_IPV4 and _IPV6 in flags say that there is an IP header, and
 * SL_PACKET_OUTER_* the outermost. Offsets may be 0, as raw IP begins with a header. The fixed
 * part of each header with an offset was captured: 20 or 40 bytes of IP, 20 of TCP, 8 of UDP, 12 of
 * SCTP, 4 of ICMP. */
struct sl_packet {
    uint32_t offset;    /* bytes from the arena's first to the packet's first */
    uint32_t len;       /* bytes captured */
    uint8_t outer;      /* outermost IP header of tunnels; valid where SL_PACKET_OUTER_* */
    uint8_t defect;     /* enum sl_defect: the cause that stopped the dissector; 0: none */
    uint16_t network;   /* IP header, the innermost of tunnels */
    uint16_t transport; /* TCP, UDP, SCTP, ICMP or ICMPv6 header; 0: there is none */
    uint8_t protocol;   /* IP protocol number of the IP header's payload */
    uint8_t flags;      /* SL_PACKET_* */
};

/* Flags of a packet. */
enum {
    SL_PACKET_IPV4 = 1,       /* `network` is an IPv4 header */
    SL_PACKET_IPV6 = 2,       /* `network` is an IPv6 header */
    SL_PACKET_OUTER_IPV4 = 4, /* `outer` is an IPv4 header */
    SL_PACKET_OUTER_IPV6 = 8, /* `outer` is an IPv6 header */
    SL_PACKET_FRAGMENT = 16,  /* part of a fragmented datagram, the first or another */
    SL_PACKET_LATER = 32,     /* a fragment that is not the first: no transport header */
    SL_PACKET_SNAPPED = 64,   /* fewer bytes were captured than were on the wire */
    SL_PACKET_OVERLAP = 128   /* a fragment that overlaps others: set where they are joined */
};

/* The origin of an item, and its flow. Host memory only. 48 bytes. */
struct sl_origin {
    int64_t time_ns;    /* since 1970-01-01 UTC; 0: unknown */
    uint64_t position;  /* captures: packet number in its source, from 1; pieces: byte offset */
    uint64_t flow;      /* flow id, 51 bits; 0: none */
    uint32_t wire_len;  /* bytes on the wire, at least the bytes captured: sl_batch_append sets 0 */
    uint16_t vlan[2];   /* outer and inner VLAN id; SL_NO_VLAN where absent */
    uint16_t link_type; /* link type of the packet (LINKTYPE_* of pcap) */
    uint16_t source;    /* index of the source in the run */
    uint8_t flow_flags; /* SL_FLOW_* after this packet */
    uint8_t app;        /* enum sl_app (sluice/app.h), by sl_app_find or of the flow */
    uint8_t pad[2];
    uint64_t arrival_ns; /* CLOCK_MONOTONIC after its bytes were read; 0: unknown */
};

/* The VLAN id of a packet without a tag. */
#define SL_NO_VLAN 0xFFFFu

/* Flags of a packet's flow. */
enum {
    SL_FLOW_TO_SERVER = 1, /* from the client; otherwise from the server */
    SL_FLOW_ESTABLISHED =
        2,                 /* TCP: handshake seen or picked up midstream; others: both sides seen */
    SL_FLOW_MIDSTREAM = 4, /* TCP: the first packet seen was no SYN */
    SL_FLOW_NEW = 8,       /* this packet began the flow */
    SL_FLOW_FIRST = 16,    /* it is the first of its sender */
    SL_FLOW_OPENED = 32    /* TCP: the flow is established with it */
};

/* Totals that the flow of a packet has sent, this packet included: [0] by the client, [1] by the
 * server. */
struct sl_flow_total {
    int64_t first_ns, last_ns; /* times of its first packet, and the latest; 0: unknown */
    uint64_t packets[2];       /* 2^40 - 1 at most */
    uint64_t bytes[2];         /* on the wire (sl_origin.wire_len); 2^48 - 1 at most */
};

/* The origin of a made item. */
struct sl_made {
    uint32_t item;    /* the packet */
    uint32_t buffers; /* SL_BUFFER_* (sluice/app.h): the buffers of rules that it belongs to */
    uint32_t base;    /* added to the offsets of its hits */
};

/* An entry of `before`: the number of an item and 1, and whether the bytes go to the server. */
enum { SL_BEFORE_NUMBER = 0x7FFFFFFF };
#define SL_BEFORE_TO_SERVER 0x80000000u

/* The open struct. A caller that sets it zeroes what it does not need. */
struct sl_batch {
    enum sl_memory memory;
    uint32_t n_items;
    uint32_t max_items; /* the columns have max_made entries more */
    uint32_t bytes_len; /* bytes of the arena in use, a multiple of SL_BATCH_ALIGN */
    uint32_t bytes_cap; /* bytes of the arena, slack excluded: a multiple of SL_BATCH_ALIGN */
    bool has_overlap;   /* some item's overlap is not 0 */
    bool has_kind;      /* items have kinds */
    bool has_before;    /* the column `before` is valid */
    uint8_t *bytes;     /* the arena, aligned to SL_BATCH_ALIGN */

    /* Items that no packet holds, such as decoded names. They lie behind the others, in the arena
     * and in the columns that cross to a GPU. An engine scans them in the batch of sl_batch_whole
     * alone. They have no origin. sl_batch_reserve_made gives them room; without it all is 0.
     */
    uint32_t n_made, max_made;
    uint32_t made_len, made_cap; /* bytes of the arena: in use, and in all */
    struct sl_made *made;        /* max_made entries. Host memory only */

    /* Columns of n_items entries, and n_made behind them. The first five lie where the arena lies.
     */
    struct sl_span *payload;  /* the bytes that content engines scan: a packet's payload, a whole
                                 piece; offsets ascend, spans do not overlap */
    uint16_t *overlap;        /* leading payload bytes that repeat the end of the piece before;
                                 valid where has_overlap, else it may be NULL */
    struct sl_packet *packet; /* headers; NULL: items are no packets */
    uint8_t *kind;            /* below 8, of the caller's choice (sl_limits.wanted); valid where
                                 has_kind, else it may be NULL */
    uint32_t *before;         /* packets of TCP streams: 0, or 1 and the earlier item whose payload
                                 has the bytes right before this one's, as SL_BEFORE_* says; valid
                                 where has_before, else it may be NULL. Who sets has_before
                                 writes all entries, before items are made */
    struct sl_origin *origin; /* of n_items entries; NULL: the caller needs none */

    /* Host memory only, of n_items entries, for packets that have a flow: sl_batch_reserve_totals.
     * NULL: unwanted. */
    struct sl_flow_total *total;

    /* Set by sl_device_batch_create where pinned, else NULL and 0: the arena with the room behind
     * it, bytes. An upload to a GPU lays short columns behind the last item. One copy then carries
     * all. */
    uint8_t *room;
    size_t room_len;

    /* SL_MEMORY_DEVICE only: the device's index, and the CUDA stream (cudaStream_t) on which the
     * bytes become valid and on which engines work. */
    int device;
    void *stream;

    /* SL_MEMORY_DEVICE only: the same bytes and these columns in host memory, for engines that end
     * their work on the CPU. They are lent as the batch is. The stage sets them. host_bytes NULL:
     * there are none, and such engines copy back what they need. */
    uint8_t *host_bytes;
    struct sl_span *host_payload;
    uint16_t *host_overlap;        /* valid where has_overlap */
    struct sl_packet *host_packet; /* NULL where packet is */

    void *filler; /* of the code that fills the batch; others keep it as it is */
};

/* Makes an empty batch of ordinary memory for packets, with all columns. arena_len is bytes, at
 * least 1 and fewer than 4 GiB - 64 KiB, rounded up to the alignment. max_items is at least 1. The
 * caller frees it. A batch that crosses to a GPU is faster in pinned memory:
 * sl_device_batch_create. SL_EINVAL: a number is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_batch_create(struct sl_batch **batch, uint32_t arena_len,
                                               uint32_t max_items, struct sl_diag *diag);

/* Takes len bytes (rounded down to the alignment, at least that) and n items (at least 1) from a
 * batch, for made items. Both are less than the batch has. The batch is empty, and one of
 * sl_batch_create or sl_device_batch_create. Once a batch. SL_EINVAL: one of these is not so.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_batch_reserve_made(struct sl_batch *batch, uint32_t len,
                                                     uint32_t n, struct sl_diag *diag);

/* Gives a batch of sl_batch_create or sl_device_batch_create its column of totals, which a table of
 * flows writes (sl_flow_config.totals). SL_EINVAL: the batch has it already. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_batch_reserve_totals(struct sl_batch *batch,
                                                       struct sl_diag *diag);

/* Frees a batch of sl_batch_create or sl_device_batch_create. Accepts NULL. */
SL_API void sl_batch_free(struct sl_batch *batch);

/* Empties the batch and keeps its memory. */
static inline void sl_batch_reset(struct sl_batch *batch)
{
    batch->n_items = 0;
    batch->bytes_len = 0;
    batch->has_overlap = false;
    batch->has_kind = false;
    batch->has_before = false;
    batch->n_made = batch->made_len = 0;
}

/* Whether an item of len bytes still fits, with its padding. */
static inline bool sl_batch_fits(const struct sl_batch *batch, uint32_t len)
{
    return batch->n_items < batch->max_items && len <= batch->bytes_cap - batch->bytes_len;
}

/* Zeros the bytes from `end` to `aligned`, the next multiple of 16: a step of sl_batch_append. A
 * branch on their number could not be predicted. */
static inline void sl_batch_pad(uint8_t *bytes, uint32_t end, uint32_t aligned)
{
    static const uint64_t kept[4] = {UINT64_MAX, UINT64_MAX, 0, 0};
    uint64_t last[2], mask[2];

    if (end == aligned)
        return;
    memcpy(last, bytes + aligned - sizeof last, sizeof last);
    memcpy(mask, (const uint8_t *)kept + (aligned - end), sizeof mask);
    last[0] &= mask[0];
    last[1] &= mask[1];
    memcpy(bytes + aligned - sizeof last, last, sizeof last);
}

/* Appends an item whose len bytes lie behind the last item in the arena already. The item must fit,
 * and the batch has the columns payload and overlap. Its payload is the whole item, until
 * sl_dissect narrows it. The first `overlap` bytes (at most SL_OVERLAP_MAX, at most len) repeat the
 * end of the piece before. Entries of the columns packet and origin are zeroed, but for offset, len
 * and the VLAN ids (SL_NO_VLAN). Returns the item's index. */
static inline uint32_t sl_batch_append(struct sl_batch *batch, uint32_t len, uint16_t overlap)
{
    const uint32_t item = batch->n_items++;
    const uint32_t offset = batch->bytes_len;
    const uint32_t end = offset + len;
    const uint32_t aligned = (end + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);

    sl_batch_pad(batch->bytes, end, aligned);
    batch->bytes_len = aligned;
    batch->payload[item].offset = offset;
    batch->payload[item].len = len;
    batch->overlap[item] = overlap;
    batch->has_overlap |= overlap != 0;
    if (batch->packet != NULL) {
        memset(&batch->packet[item], 0, sizeof batch->packet[item]);
        batch->packet[item].offset = offset;
        batch->packet[item].len = len;
    }
    if (batch->origin != NULL) {
        memset(&batch->origin[item], 0, sizeof batch->origin[item]);
        batch->origin[item].vlan[0] = SL_NO_VLAN;
        batch->origin[item].vlan[1] = SL_NO_VLAN;
    }
    return item;
}

/* Copies the bytes to the arena, then appends them as sl_batch_append does. `bytes` may be NULL
 * where len is 0. */
static inline uint32_t sl_batch_add(struct sl_batch *batch, const void *bytes, uint32_t len,
                                    uint16_t overlap)
{
    if (len != 0)
        memcpy(batch->bytes + batch->bytes_len, bytes, len);
    return sl_batch_append(batch, len, overlap);
}

/* Whether a made item of len bytes still fits. */
static inline bool sl_batch_made_fits(const struct sl_batch *batch, uint32_t len)
{
    return batch->n_made < batch->max_made && len <= batch->made_cap - batch->made_len;
}

/* Returns where the bytes of the next made item belong. */
static inline uint8_t *sl_batch_made_room(const struct sl_batch *batch)
{
    return batch->bytes + batch->bytes_len + batch->made_len;
}

/* Appends a made item, which must fit, and whose len bytes lie at sl_batch_made_room already. The
 * batch then takes no other items until it is reset. */
static inline void sl_batch_append_made(struct sl_batch *batch, uint32_t len, struct sl_made made)
{
    const uint32_t item = batch->n_items + batch->n_made;
    const uint32_t offset = batch->bytes_len + batch->made_len;
    const uint32_t aligned = (len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);

    sl_batch_pad(batch->bytes, offset + len, offset + aligned);
    batch->made[batch->n_made++] = made;
    batch->made_len += aligned;
    batch->payload[item].offset = offset;
    batch->payload[item].len = len;
    batch->overlap[item] = 0;
    if (batch->has_before)
        batch->before[item] = 0;
    if (batch->packet != NULL) {
        memset(&batch->packet[item], 0, sizeof batch->packet[item]);
        batch->packet[item].offset = offset;
        batch->packet[item].len = len;
    }
}

/* The batch with its made items as items like the others, for engines that scan them: the last
 * n_made of its items. It shares the memory of the other. */
static inline struct sl_batch sl_batch_whole(const struct sl_batch *batch)
{
    struct sl_batch whole = *batch;

    whole.n_items += batch->n_made;
    whole.bytes_len += batch->made_len;
    whole.made_len = 0;
    return whole;
}

/* Appends a source of any length as pieces, until the source ends or the batch is full. Pieces are
 * consecutive items of at most piece_len bytes, which is more than `overlap`. `overlap` is at most
 * SL_OVERLAP_MAX. Each repeats the last `overlap` bytes of the piece before. *done is the number of
 * source bytes that are covered; it is 0 at first and carried between calls. The origin of a piece
 * has its byte offset as position. Engines drop hits that lie wholly inside the overlap. So a match
 * of at most overlap + 1 bytes is reported once, however the source was cut. */
SL_API void sl_batch_add_pieces(struct sl_batch *batch, const uint8_t *source, uint64_t source_len,
                                uint32_t piece_len, uint16_t overlap, uint64_t *done);

#ifdef __cplusplus
}
#endif
#endif
