/* SPDX-License-Identifier: MIT */
#include "run_fragments.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "stream/defrag.h"

enum {
    ETHERNET = 1,   /* LINKTYPE_ETHERNET */
    NESTED_MAX = 4, /* datagrams whose inner packet is a fragment again */
    ALIGN = SL_BATCH_ALIGN - 1
};

/* A whole datagram. */
struct joined {
    uint32_t behind; /* the item of the fragment that completed it */
    uint32_t at;     /* its bytes lie here, among those of all */
    struct sl_packet packet;
    struct sl_span payload; /* offset: from the packet's first byte */
    struct sl_origin origin;
};

struct run_fragments {
    struct defrag *defrag;
    const struct run_hosts *hosts;
    uint64_t room; /* bytes that datagrams may take at the moment */
    uint64_t left_out;
    /* Of the batch at hand. Memory is kept. */
    struct joined *joined;
    uint32_t n, max;
    uint8_t *bytes; /* of the datagrams */
    uint32_t len, cap;
    uint8_t *copy; /* of the batch's bytes */
    uint32_t copy_cap;
};

enum sl_status run_fragments_create(struct run_fragments **out, const struct run_hosts *hosts,
                                    const uint64_t hash_key[2], struct sl_diag *diag)
{
    struct run_fragments *fragments = calloc(1, sizeof *fragments);
    struct defrag_config config;

    *out = fragments;
    if (fragments == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    fragments->hosts = hosts;
    fragments->room = RUN_FRAGMENTS_ROOM;
    defrag_config_init(&config);
    memcpy(config.hash_key, hash_key, sizeof config.hash_key);
    return defrag_create(&fragments->defrag, &config, diag);
}

void run_fragments_free(struct run_fragments *fragments)
{
    if (fragments == NULL)
        return;
    defrag_free(fragments->defrag);
    free(fragments->joined);
    free(fragments->bytes);
    free(fragments->copy);
    free(fragments);
}

void run_fragments_stats(const struct run_fragments *fragments, struct sl_fragment_stats *stats)
{
    *stats = *defrag_get_stats(fragments->defrag);
    stats->left_out = fragments->left_out;
}

/* ---- taking ---------------------------------------------------------------------------------- */

static uint32_t aligned(uint32_t len)
{
    return (len + ALIGN) & ~(uint32_t)ALIGN;
}

/* Room for n elements of a size at *memory. False: no memory. */
static bool reserve(void **memory, uint32_t *cap, uint64_t n, size_t size)
{
    if (n <= *cap)
        return true;
    const uint64_t wanted = n + n / 2;
    void *grown = wanted <= UINT32_MAX ? realloc(*memory, wanted * size) : NULL;

    if (grown == NULL)
        return false;
    *memory = grown;
    *cap = (uint32_t)wanted;
    return true;
}

/* A fragment that was taken has its bytes in its datagram: only headers are left, and no transport
 * header. */
static void cut(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                const struct defrag_fragment *fragment)
{
    struct sl_packet *packet = &batch->packet[item];
    const uint32_t len = (uint32_t)(fragment->bytes - (batch->bytes + packet->offset));

    fragments->room += aligned(packet->len) - aligned(len);
    if (fragments->room > RUN_FRAGMENTS_ROOM)
        fragments->room = RUN_FRAGMENTS_ROOM;
    packet->len = len;
    packet->transport = 0;
    packet->flags |= SL_PACKET_LATER;
    batch->payload[item] = (struct sl_span){packet->offset + len, 0};
}

/* Takes a datagram over. False: no memory. */
static bool add(struct run_fragments *fragments, uint32_t behind, const struct sl_origin *origin,
                const struct defrag_datagram *datagram)
{
    if (aligned(datagram->len) > fragments->room) {
        fragments->left_out++;
        return true;
    }
    if (!reserve((void **)&fragments->bytes, &fragments->cap,
                 (uint64_t)fragments->len + datagram->len, 1) ||
        !reserve((void **)&fragments->joined, &fragments->max, (uint64_t)fragments->n + 1,
                 sizeof *fragments->joined))
        return false;
    fragments->room -= aligned(datagram->len);
    memcpy(fragments->bytes + fragments->len, datagram->bytes, datagram->len);
    struct joined *joined = &fragments->joined[fragments->n++];
    *joined = (struct joined){
        .behind = behind, .at = fragments->len, .packet.len = datagram->len, .origin = *origin};
    joined->origin.wire_len = datagram->len;
    joined->origin.link_type = ETHERNET;
    joined->origin.arrival_ns = 0; /* no packet of its own arrived */
    fragments->len += datagram->len;
    return true;
}

/* Takes the item where it is a fragment: *adds says whether a datagram was added. False: no memory.
 */
static bool take(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                 uint32_t behind, bool *adds)
{
    const uint32_t n = fragments->n;
    struct defrag_fragment fragment;
    struct defrag_datagram datagram;
    bool done = true;

    *adds = false;
    if (!defrag_read(&fragment, batch, item))
        return true;
    fragment.policy = (uint8_t)run_hosts_policy(fragments->hosts, &fragment.dst);
    const struct defrag_taken taken = defrag_take(fragments->defrag, &fragment, &datagram);
    if (taken.overlaps)
        batch->packet[item].flags |= SL_PACKET_OVERLAP;
    if (taken.is_held)
        cut(fragments, batch, item, &fragment);
    if (taken.is_whole)
        done = add(fragments, behind, &batch->origin[item], &datagram);
    *adds = fragments->n != n;
    return done;
}

/* The newest datagram as a batch. */
static struct sl_batch newest(struct run_fragments *fragments)
{
    struct joined *joined = &fragments->joined[fragments->n - 1];

    return (struct sl_batch){.n_items = 1,
                             .max_items = 1,
                             .bytes = fragments->bytes + joined->at,
                             .payload = &joined->payload,
                             .packet = &joined->packet,
                             .origin = &joined->origin};
}

/* The same with a datagram that is a fragment itself, behind the headers of a tunnel. */
static bool take_nested(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                        struct sl_dissect_stats *dissected)
{
    bool adds, done = take(fragments, batch, item, item, &adds);

    for (uint32_t depth = 0; done && adds; depth++) {
        struct sl_batch one = newest(fragments);

        sl_dissect(&one, dissected);
        if (depth == NESTED_MAX || !reserve((void **)&fragments->joined, &fragments->max,
                                            (uint64_t)fragments->n + 1, sizeof *fragments->joined))
            return depth == NESTED_MAX;
        one = newest(fragments);
        /* A copy: the datagrams' bytes may move. */
        if (!reserve((void **)&fragments->copy, &fragments->copy_cap, one.packet->len, 1))
            return false;
        memcpy(fragments->copy, one.bytes, one.packet->len);
        one.bytes = fragments->copy;
        done = take(fragments, &one, 0, item, &adds);
    }
    return done;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Appends a packet with its columns to the batch. */
static void append(struct sl_batch *batch, const uint8_t *bytes, const struct sl_packet *packet,
                   uint32_t payload_at, uint32_t payload_len, const struct sl_origin *origin)
{
    if (packet->len != 0)
        memcpy(batch->bytes + batch->bytes_len, bytes, packet->len);
    const uint32_t offset = batch->bytes_len, item = sl_batch_append(batch, packet->len, 0);

    batch->packet[item] = *packet;
    batch->packet[item].offset = offset;
    batch->payload[item] = (struct sl_span){offset + payload_at, payload_len};
    batch->origin[item] = *origin;
}

/* Lays the batch anew, with the datagrams. Its columns move back first, so that each item is read
 * before another takes its place. */
static void lay(struct run_fragments *fragments, struct sl_batch *batch)
{
    const uint32_t n_items = batch->n_items, n = fragments->n;
    uint32_t next = 0;

    memcpy(fragments->copy, batch->bytes, batch->bytes_len);
    memmove(batch->packet + n, batch->packet, n_items * sizeof *batch->packet);
    memmove(batch->payload + n, batch->payload, n_items * sizeof *batch->payload);
    memmove(batch->origin + n, batch->origin, n_items * sizeof *batch->origin);
    batch->n_items = batch->bytes_len = 0;
    for (uint32_t i = 0; i < n_items; i++) {
        const struct sl_packet packet = batch->packet[n + i];
        const struct sl_span payload = batch->payload[n + i];
        const struct sl_origin origin = batch->origin[n + i];

        append(batch, fragments->copy + packet.offset, &packet, payload.offset - packet.offset,
               payload.len, &origin);
        for (; next < n && fragments->joined[next].behind == i; next++) {
            const struct joined *joined = &fragments->joined[next];

            append(batch, fragments->bytes + joined->at, &joined->packet, joined->payload.offset,
                   joined->payload.len, &joined->origin);
        }
    }
}

enum sl_status run_fragments_join(struct run_fragments *fragments, struct sl_batch *batch,
                                  struct sl_dissect_stats *dissected, uint32_t *n_joined,
                                  struct sl_diag *diag)
{
    bool done = true;

    fragments->n = fragments->len = 0;
    for (uint32_t item = 0; item < batch->n_items && done; item++)
        if ((batch->packet[item].flags & SL_PACKET_FRAGMENT) != 0)
            done = take_nested(fragments, batch, item, dissected);
    if (fragments->n > batch->max_items - batch->n_items) { /* items of less than 16 bytes alone */
        fragments->left_out += fragments->n - (batch->max_items - batch->n_items);
        fragments->n = batch->max_items - batch->n_items;
    }
    if (done && fragments->n != 0)
        done = reserve((void **)&fragments->copy, &fragments->copy_cap, batch->bytes_len, 1);
    if (!done)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    if (fragments->n != 0)
        lay(fragments, batch);
    *n_joined = fragments->n;
    return SL_OK;
}
