/* SPDX-License-Identifier: MIT */
#include "run_fragments.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"

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

/* A fragment that was taken has its bytes in its datagram: only headers are left, which end at
 * `at`, and no transport header. */
static void cut(struct sl_batch *batch, uint32_t item, uint32_t at)
{
    struct sl_packet *packet = &batch->packet[item];

    packet->len = at - packet->offset;
    packet->transport = 0;
    packet->flags |= SL_PACKET_LATER;
    batch->payload[item] = (struct sl_span){at, 0};
}

/* Bytes that the batch has more once the fragment is cut at `at`. */
static uint32_t room_of(const struct sl_packet *packet, uint32_t at)
{
    return run_datagrams_aligned(packet->len) - run_datagrams_aligned(at - packet->offset);
}

static void gain(struct run_fragments *fragments, uint32_t room)
{
    fragments->made->took = true;
    fragments->room += room;
    if (fragments->room > RUN_FRAGMENTS_ROOM)
        fragments->room = RUN_FRAGMENTS_ROOM;
}

/* The link type of a datagram, which its fragments had: with other links than Ethernet the
 * addresses of a frame would be made up. */
static uint16_t link_of(const struct sl_origin *origin, bool has_tags, bool is_ipv6)
{
    if (origin->link_type == ETHERNET || has_tags)
        return ETHERNET;
    return is_ipv6 ? IPV6 : IPV4;
}

/* Adds a datagram whose bytes are to be copied, where there is room. False: no memory. */
static bool add(struct run_fragments *fragments, uint32_t behind, const struct sl_origin *origin,
                uint32_t len, uint16_t link_type)
{
    struct run_datagrams *const made = fragments->made;
    const uint32_t takes = run_datagrams_aligned(len);

    if (takes > fragments->room) {
        fragments->left_out++;
        return true;
    }
    if (!run_datagrams_reserve((void **)&made->bytes, &made->cap, (uint64_t)made->len + len, 1) ||
        !run_datagrams_reserve((void **)&made->datagram, &made->max, (uint64_t)made->n + 1,
                               sizeof *made->datagram))
        return false;
    fragments->room -= takes;
    struct run_datagram *added = &made->datagram[made->n++];
    *added = (struct run_datagram){
        .behind = behind, .at = made->len, .packet.len = len, .origin = *origin};
    added->origin.wire_len = len;
    added->origin.link_type = link_type;
    added->origin.arrival_ns = 0; /* no packet of its own arrived */
    made->len += len;
    return true;
}

static bool add_copy(struct run_fragments *fragments, uint32_t behind,
                     const struct sl_origin *origin, const struct defrag_datagram *datagram)
{
    struct run_datagrams *const made = fragments->made;
    const uint16_t type = load_be16(datagram->bytes + ETHERNET_LEN - 2);
    const uint16_t link_type = link_of(origin, type != 0x0800 && type != 0x86DD, type == 0x86DD);
    const uint32_t skip = link_type == ETHERNET ? 0 : ETHERNET_LEN, n = made->n;

    if (!add(fragments, behind, origin, datagram->len - skip, link_type))
        return false;
    if (made->n != n)
        memcpy(made->bytes + made->datagram[n].at, datagram->bytes + skip, datagram->len - skip);
    return true;
}

static bool has_bad_checksum(const struct sl_header_table *checks, struct sl_batch *batch,
                             uint32_t item)
{
    return checks != NULL && sl_header_tripped(checks, batch, item) != 0;
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
    fragment.policy = (uint8_t)run_hosts_policy(fragments->hosts, &fragment.dst);
    const struct defrag_taken taken = defrag_take(fragments->defrag, &fragment, &datagram);
    if (taken.overlaps)
        batch->packet[item].flags |= SL_PACKET_OVERLAP;
    if (taken.is_held) {
        const uint32_t at = (uint32_t)(fragment.bytes - batch->bytes);

        gain(fragments, room_of(&batch->packet[item], at));
        cut(batch, item, at);
    }
    if (taken.is_whole)
        done = add_copy(fragments, behind, &batch->origin[item], &datagram);
    *adds = fragments->made->n != n;
    return done;
}

/* A datagram of those made as a batch. */
static struct sl_batch as_batch(const struct run_datagrams *made, uint32_t index)
{
    struct run_datagram *datagram = &made->datagram[index];

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
    struct defrag_fragment fragment;
    bool adds, done = take(fragments, batch, item, item, &adds);

    for (uint32_t depth = 0; done && adds; depth++) {
        struct sl_batch one = as_batch(made, made->n - 1);

        sl_dissect(&one, dissected);
        if (depth == NESTED_MAX ||
            !run_datagrams_reserve((void **)&made->datagram, &made->max, (uint64_t)made->n + 1,
                                   sizeof *made->datagram))
            return depth == NESTED_MAX;
        one = as_batch(made, made->n - 1);
        /* A copy: the datagrams' bytes may move. */
        if (!run_datagrams_reserve((void **)&fragments->copy, &fragments->copy_cap, one.packet->len,
                                   1))
            return false;
        memcpy(fragments->copy, one.bytes, one.packet->len);
        one.bytes = fragments->copy;
        adds = false;
        if (defrag_read(&fragment, &one, 0) && has_bad_checksum(fragments->checks, &one, 0))
            fragments->bad_checksums++;
        else
            done = take(fragments, &one, 0, item, &adds);
    }
    return done;
}

/* ---- the fragments of a batch ---------------------------------------------------------------- */

void run_fragment_list_clear(struct run_fragment_list *list)
{
    defrag_list_clear(&list->list);
    free(list->datagram);
    free(list->room);
}

enum sl_status run_fragments_list(const struct run_fragments *fragments, struct sl_batch *batch,
                                  uint32_t n, struct run_fragment_list *list, struct sl_diag *diag)
{
    const struct sl_header_table *checks = fragments->checks;
    struct defrag_fragment fragment;

    list->bad_checksums = 0;
    if (!defrag_list_begin(&list->list, fragments->defrag, batch, n) ||
        !run_datagrams_reserve((void **)&list->room, &list->room_max, n, sizeof *list->room) ||
        !run_datagrams_reserve((void **)&list->datagram, &list->datagram_max, n,
                               sizeof *list->datagram))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (!defrag_read(&fragment, batch, item))
            continue;
        if (has_bad_checksum(checks, batch, item)) {
            list->bad_checksums++;
            continue;
        }
        list->room[list->list.n] =
            room_of(&batch->packet[item], (uint32_t)(fragment.bytes - batch->bytes));
        defrag_list_add(&list->list, &fragment, item);
    }
    defrag_list_end(&list->list);
    return SL_OK;
}

/* Another thread loaded the batch: what it knows of fragment i, and then its bytes, are fetched. */
static void fetch(const struct sl_batch *batch, const struct defrag_list *list, uint32_t i)
{
    if (i + FETCH_FACTS < list->n && list->fragment[i + FETCH_FACTS].ready == DEFRAG_NOT_READY) {
        const uint32_t item = list->fragment[i + FETCH_FACTS].item;

        __builtin_prefetch(&batch->packet[item], 1);
        __builtin_prefetch(&batch->payload[item], 1);
        __builtin_prefetch(&batch->origin[item]);
    }
    if (i + FETCH_BYTES < list->n && list->fragment[i + FETCH_BYTES].ready == DEFRAG_NOT_READY) {
        const uint8_t *bytes = batch->bytes + list->fragment[i + FETCH_BYTES].at;

        __builtin_prefetch(bytes - 64);
        __builtin_prefetch(bytes);
    }
}

/* Takes fragment i, whose datagram is ready, if nothing is in the way: *takes. False: no memory. */
static bool take_ready(struct run_fragments *fragments, const struct sl_batch *batch,
                       struct run_fragment_list *list, uint32_t i, bool *takes)
{
    const struct defrag_listed *listed = &list->list.fragment[i];
    const struct defrag_ready *ready = &list->list.ready[listed->ready];
    const struct defrag_head *head = &ready->head;
    const struct sl_origin *origin = &batch->origin[listed->item];
    const uint32_t n = fragments->made->n;

    *takes = defrag_take_ready(fragments->defrag, &list->list, i);
    if (!*takes)
        return true;
    gain(fragments, list->room[i]);
    list->datagram[listed->ready] = UINT32_MAX;
    if (i != ready->last)
        return true;
    uint8_t link[DEFRAG_LINK_MAX];
    const bool has_tags = head->vlan[0] != SL_NO_VLAN || head->vlan[1] != SL_NO_VLAN;
    const uint16_t link_type = link_of(origin, has_tags, head->is_ipv6);
    const uint32_t link_len = link_type == ETHERNET ? defrag_put_link(link, head) : 0;
    const bool done =
        add(fragments, listed->item, origin, link_len + head->headers_len + head->end, link_type);
    if (fragments->made->n != n)
        list->datagram[listed->ready] = n;
    return done;
}

static bool join_next(struct run_fragments *fragments, struct sl_batch *batch,
                      struct run_fragment_list *list, uint32_t i,
                      struct sl_dissect_stats *dissected)
{
    const struct defrag_listed *listed = &list->list.fragment[i];
    bool takes = false, done = true;

    if (listed->ready != DEFRAG_NOT_READY)
        done = take_ready(fragments, batch, list, i, &takes);
    return done && !takes ? take_nested(fragments, batch, listed->item, dissected) : done;
}

enum sl_status run_fragments_join(struct run_fragments *fragments, struct sl_batch *batch,
                                  struct run_fragment_list *list, struct run_datagrams *made,
                                  struct sl_dissect_stats *dissected, struct sl_diag *diag)
{
    bool done = true;

    fragments->made = made;
    fragments->bad_checksums += list->bad_checksums;
    for (uint32_t i = 0; i < list->list.n && done; i++) {
        fetch(batch, &list->list, i);
        done = join_next(fragments, batch, list, i, dissected);
    }
    if (!done)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    if (made->n > batch->max_items - batch->n_items) { /* items of less than 16 bytes alone */
        fragments->left_out += made->n - (batch->max_items - batch->n_items);
        made->n = batch->max_items - batch->n_items;
    }
    return SL_OK;
}

/* ---- datagrams that are ready ---------------------------------------------------------------- */

/* Writes what comes before the payload. */
static void build_head(const struct defrag_ready *ready, const struct run_datagrams *made,
                       uint32_t index)
{
    const struct run_datagram *datagram = &made->datagram[index];
    uint8_t *ip = made->bytes + datagram->at;

    if (datagram->origin.link_type == ETHERNET)
        ip += defrag_put_link(ip, &ready->head);
    memcpy(ip, ready->headers, ready->head.headers_len);
    defrag_mend_headers(ip, &ready->head);
}

void run_fragments_build(const struct run_fragment_list *list, struct sl_batch *batch,
                         struct run_datagrams *made, struct sl_dissect_stats *dissected)
{
    for (uint32_t i = 0; i < list->list.n; i++) {
        const struct defrag_listed *listed = &list->list.fragment[i];

        if (!listed->is_held)
            continue;
        const struct defrag_ready *ready = &list->list.ready[listed->ready];
        const uint32_t index = list->datagram[listed->ready];
        cut(batch, listed->item, listed->at);
        if (index >= made->n)
            continue;
        const struct run_datagram *datagram = &made->datagram[index];
        const uint32_t payload = datagram->at + datagram->packet.len - ready->head.end;
        memcpy(made->bytes + payload + listed->offset, batch->bytes + listed->at, listed->len);
        if (i != ready->last)
            continue;
        struct sl_batch one = as_batch(made, index);
        build_head(ready, made, index);
        sl_dissect(&one, dissected);
    }
}
