/* SPDX-License-Identifier: MIT */
#include "run_fragments.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "stream/defrag.h"

enum {
    ETHERNET = 1, /* LINKTYPE_ETHERNET, LINKTYPE_IPV4, LINKTYPE_IPV6 */
    IPV4 = 228,
    IPV6 = 229,
    ETHERNET_LEN = 14,
    NESTED_MAX = 4,   /* datagrams whose inner packet is a fragment again */
    FETCH_BYTES = 8,  /* fragments whose bytes are fetched ahead */
    FETCH_FACTS = 16, /* and what the batch says of them */
};

struct run_fragments {
    struct defrag *defrag;
    const struct run_hosts *hosts;
    struct sl_header_table *checks; /* of the checksum of IP; NULL: it is not checked */
    uint64_t bad_checksums;
    uint64_t room; /* bytes that datagrams may take at the moment */
    uint64_t left_out;
    struct run_datagrams *made; /* of the batch at hand */
    uint8_t *copy;              /* of a datagram that is a fragment */
    uint32_t copy_cap;
};

enum sl_status run_fragments_create(struct run_fragments **out, const struct run_hosts *hosts,
                                    const struct sl_header_config *checks,
                                    const uint64_t hash_key[2], struct sl_diag *diag)
{
    const uint64_t wanted = UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM;
    struct run_fragments *fragments = calloc(1, sizeof *fragments);
    struct defrag_config config;

    *out = fragments;
    if (fragments == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    fragments->hosts = hosts;
    fragments->room = RUN_FRAGMENTS_ROOM;
    if (checks != NULL && (checks->checks & wanted) != 0) {
        const enum sl_status status =
            sl_header_build(&fragments->checks, &(struct sl_header_config){.checks = wanted}, diag);

        if (status != SL_OK)
            return status;
    }
    defrag_config_init(&config);
    memcpy(config.hash_key, hash_key, sizeof config.hash_key);
    return defrag_create(&fragments->defrag, &config, diag);
}

void run_fragments_free(struct run_fragments *fragments)
{
    if (fragments == NULL)
        return;
    defrag_free(fragments->defrag);
    sl_header_free(fragments->checks);
    free(fragments->copy);
    free(fragments);
}

void run_fragments_stats(const struct run_fragments *fragments, struct sl_fragment_stats *stats)
{
    *stats = *defrag_get_stats(fragments->defrag);
    stats->left_out = fragments->left_out;
    stats->fragments += fragments->bad_checksums;
    stats->faults[SL_FRAGMENT_CHECKSUM] = fragments->bad_checksums;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* A fragment that was taken has its bytes in its datagram: only headers are left, and no transport
 * header. */
static void cut(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                const struct defrag_fragment *fragment)
{
    struct sl_packet *packet = &batch->packet[item];
    const uint32_t len = (uint32_t)(fragment->bytes - (batch->bytes + packet->offset));

    fragments->room += run_datagrams_aligned(packet->len) - run_datagrams_aligned(len);
    if (fragments->room > RUN_FRAGMENTS_ROOM)
        fragments->room = RUN_FRAGMENTS_ROOM;
    packet->len = len;
    packet->transport = 0;
    packet->flags |= SL_PACKET_LATER;
    batch->payload[item] = (struct sl_span){packet->offset + len, 0};
}

/* The link type of a datagram, whose frame is cut to what its fragments' link had: with other links
 * than Ethernet the addresses of a frame would be made up. */
static uint16_t cut_frame(struct defrag_datagram *datagram, const struct sl_origin *origin)
{
    const uint16_t type = load_be16(datagram->bytes + ETHERNET_LEN - 2);

    if (origin->link_type == ETHERNET || (type != 0x0800 && type != 0x86DD))
        return ETHERNET;
    datagram->bytes += ETHERNET_LEN;
    datagram->len -= ETHERNET_LEN;
    return type == 0x0800 ? IPV4 : IPV6;
}

/* Takes a datagram over. False: no memory. */
static bool add(struct run_fragments *fragments, uint32_t behind, const struct sl_origin *origin,
                struct defrag_datagram *datagram)
{
    const uint16_t link_type = cut_frame(datagram, origin);
    struct run_datagrams *const made = fragments->made;
    const uint32_t takes = run_datagrams_aligned(datagram->len);

    if (takes > fragments->room) {
        fragments->left_out++;
        return true;
    }
    if (!run_datagrams_reserve((void **)&made->bytes, &made->cap,
                               (uint64_t)made->len + datagram->len, 1) ||
        !run_datagrams_reserve((void **)&made->datagram, &made->max, (uint64_t)made->n + 1,
                               sizeof *made->datagram))
        return false;
    fragments->room -= takes;
    memcpy(made->bytes + made->len, datagram->bytes, datagram->len);
    struct run_datagram *added = &made->datagram[made->n++];
    *added = (struct run_datagram){
        .behind = behind, .at = made->len, .packet.len = datagram->len, .origin = *origin};
    added->origin.wire_len = datagram->len;
    added->origin.link_type = link_type;
    added->origin.arrival_ns = 0; /* no packet of its own arrived */
    made->len += datagram->len;
    return true;
}

/* Takes the item where it is a fragment: *adds says whether a datagram was added. False: no memory.
 */
static bool take(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                 uint32_t behind, bool *adds)
{
    const uint32_t n = fragments->made->n;
    struct defrag_fragment fragment;
    struct defrag_datagram datagram;
    bool done = true;

    *adds = false;
    if (!defrag_read(&fragment, batch, item))
        return true;
    if (fragments->checks != NULL && sl_header_tripped(fragments->checks, batch, item) != 0) {
        fragments->bad_checksums++;
        return true;
    }
    fragment.policy = (uint8_t)run_hosts_policy(fragments->hosts, &fragment.dst);
    const struct defrag_taken taken = defrag_take(fragments->defrag, &fragment, &datagram);
    if (taken.overlaps)
        batch->packet[item].flags |= SL_PACKET_OVERLAP;
    if (taken.is_held)
        cut(fragments, batch, item, &fragment);
    fragments->made->took |= taken.is_held;
    if (taken.is_whole)
        done = add(fragments, behind, &batch->origin[item], &datagram);
    *adds = fragments->made->n != n;
    return done;
}

/* The newest datagram as a batch. */
static struct sl_batch newest(const struct run_datagrams *made)
{
    struct run_datagram *datagram = &made->datagram[made->n - 1];

    return (struct sl_batch){.n_items = 1,
                             .max_items = 1,
                             .bytes = made->bytes + datagram->at,
                             .payload = &datagram->payload,
                             .packet = &datagram->packet,
                             .origin = &datagram->origin};
}

/* The same with a datagram that is a fragment itself, behind the headers of a tunnel. */
static bool take_nested(struct run_fragments *fragments, struct sl_batch *batch, uint32_t item,
                        struct sl_dissect_stats *dissected)
{
    struct run_datagrams *const made = fragments->made;
    bool adds, done = take(fragments, batch, item, item, &adds);

    for (uint32_t depth = 0; done && adds; depth++) {
        struct sl_batch one = newest(made);

        sl_dissect(&one, dissected);
        if (depth == NESTED_MAX ||
            !run_datagrams_reserve((void **)&made->datagram, &made->max, (uint64_t)made->n + 1,
                                   sizeof *made->datagram))
            return depth == NESTED_MAX;
        one = newest(made);
        /* A copy: the datagrams' bytes may move. */
        if (!run_datagrams_reserve((void **)&fragments->copy, &fragments->copy_cap, one.packet->len,
                                   1))
            return false;
        memcpy(fragments->copy, one.bytes, one.packet->len);
        one.bytes = fragments->copy;
        done = take(fragments, &one, 0, item, &adds);
    }
    return done;
}

uint32_t run_fragments_list(const struct sl_batch *batch, uint32_t *items)
{
    uint32_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        items[n] = item;
        n += (batch->packet[item].flags & SL_PACKET_FRAGMENT) != 0;
    }
    return n;
}

/* Another thread loaded the batch: what it knows of fragment i, and then its bytes, are fetched. */
static void fetch(const struct sl_batch *batch, const uint32_t *items, uint32_t n, uint32_t i)
{
    if (i + FETCH_FACTS < n) {
        __builtin_prefetch(&batch->packet[items[i + FETCH_FACTS]], 1);
        __builtin_prefetch(&batch->payload[items[i + FETCH_FACTS]], 1);
        __builtin_prefetch(&batch->origin[items[i + FETCH_FACTS]]);
    }
    if (i + FETCH_BYTES < n) {
        const uint8_t *bytes = batch->bytes + batch->packet[items[i + FETCH_BYTES]].offset;

        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
    }
}

enum sl_status run_fragments_join(struct run_fragments *fragments, struct sl_batch *batch,
                                  const uint32_t *items, uint32_t n, struct run_datagrams *made,
                                  struct sl_dissect_stats *dissected, struct sl_diag *diag)
{
    bool done = true;

    fragments->made = made;
    for (uint32_t i = 0; i < n && done; i++) {
        fetch(batch, items, n, i);
        done = take_nested(fragments, batch, items[i], dissected);
    }
    if (!done)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    if (made->n > batch->max_items - batch->n_items) { /* items of less than 16 bytes alone */
        fragments->left_out += made->n - (batch->max_items - batch->n_items);
        made->n = batch->max_items - batch->n_items;
    }
    return SL_OK;
}
