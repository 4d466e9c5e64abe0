/* SPDX-License-Identifier: MIT */
#include "late_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* ---- listing --------------------------------------------------------------------------------- */

int late_flow_compare(const struct late_flow *left, const struct late_flow *right)
{
    const struct sl_flow_record *const l = &left->record, *const r = &right->record;

    if (left->item != right->item)
        return left->item < right->item ? -1 : 1;
    if (l->first_ns != r->first_ns)
        return l->first_ns < r->first_ns ? -1 : 1;
    return l->id < r->id ? -1 : l->id > r->id;
}

/* Where the next of all lists belongs. */
struct listing {
    struct late_packets *packets;
    const struct late_said *said;
    struct late_part *part; /* the last */
    uint32_t at_flow, at;   /* of `said` */
    uint32_t n_sides, n;    /* of all parts */
};

static void begin_part(struct listing *listing)
{
    struct late_packets *const packets = listing->packets;

    listing->part = &packets->part[packets->n_parts++];
    *listing->part = (struct late_part){.side = &packets->side[listing->n_sides],
                                        .stream = &packets->stream[listing->n_sides],
                                        .facts = &packets->facts[listing->n_sides],
                                        .message = &packets->message[listing->n],
                                        .late = listing->said->message + listing->at};
}

/* Lists what one side of a flow says in the next n messages. */
static void list_side(struct listing *listing, const struct late_flow *flow, uint32_t n,
                      uint8_t side)
{
    const struct late_message *const late = listing->said->message + listing->at;
    struct late_packets *const packets = listing->packets;
    struct late_part *const part = listing->part;
    bool speaks = flow->part[side] != NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (late[i].message.side != side)
            continue;
        speaks = true;
        packets->message[listing->n] = late[i].message;
        packets->message[listing->n++].item = part->n_sides;
        part->n++;
    }
    if (!speaks)
        return;
    packets->side[listing->n_sides] = (struct late_side){flow, side};
    packets->facts[listing->n_sides] = flow->facts;
    packets->stream[listing->n_sides++] = flow->part[side];
    part->n_sides++;
}

/* The next flow that says something; NULL: there is none. */
static const struct late_flow *next_flow(struct listing *listing)
{
    const struct late_said *const said = listing->said;
    const struct late_flow *const talks =
        listing->at < said->n_messages ? said->message[listing->at].flow : NULL;

    while (listing->at_flow < said->n_flows) {
        const struct late_flow *const flow = said->flow[listing->at_flow++];

        if (flow == talks || flow->part[0] != NULL || flow->part[1] != NULL)
            return flow;
    }
    return NULL;
}

static bool reserve(struct late_packets *packets, const struct late_said *said, uint32_t items_max)
{
    const size_t n = said->n_messages + 2 * (size_t)said->n_flows;

    packets->side = malloc(n * sizeof *packets->side);
    packets->stream = malloc(n * sizeof(const struct sl_stream_part *));
    packets->facts = malloc(n * sizeof *packets->facts);
    packets->message = malloc((said->n_messages + 1) * sizeof *packets->message);
    packets->part = malloc((n / (items_max - 1) + 1) * sizeof *packets->part);
    return packets->side != NULL && packets->stream != NULL && packets->facts != NULL &&
           packets->message != NULL && packets->part != NULL;
}

bool late_packets_list(struct late_packets *packets, const struct late_said *said,
                       uint32_t items_max)
{
    struct listing listing = {.packets = packets, .said = said};
    const struct late_flow *flow;

    if (said->n_flows == 0)
        return true;
    if (!reserve(packets, said, items_max))
        return false;
    while ((flow = next_flow(&listing)) != NULL) {
        uint32_t n = 0;

        while (listing.at + n < said->n_messages && said->message[listing.at + n].flow == flow)
            n++;
        if (listing.part == NULL || listing.part->n_sides + 2 > items_max)
            begin_part(&listing);
        for (uint8_t side = 0; side < 2; side++)
            list_side(&listing, flow, n, side);
        listing.at += n;
    }
    return true;
}

void late_packets_clear(struct late_packets *packets)
{
    free(packets->side);
    free(packets->stream);
    free(packets->facts);
    free(packets->message);
    free(packets->part);
    *packets = (struct late_packets){.n_parts = 0};
}

/* ---- packets --------------------------------------------------------------------------------- */

enum { IPV4_LEN = 20, IPV6_LEN = 40, TCP_LEN = 20, UDP_LEN = 8, TTL = 64 };

/* Returns its length. */
static uint32_t put_ip(uint8_t *to, const struct sl_tuple *tuple, uint32_t payload_len)
{
    if (sl_addr_is_ipv4(&tuple->src)) {
        to[0] = 0x45;
        store_be16(to + 2, IPV4_LEN + payload_len);
        to[8] = TTL;
        to[9] = tuple->protocol;
        memcpy(to + 12, tuple->src.byte + 12, 4);
        memcpy(to + 16, tuple->dst.byte + 12, 4);
        return IPV4_LEN;
    }
    to[0] = 0x60;
    store_be16(to + 4, payload_len);
    to[6] = tuple->protocol;
    to[7] = TTL;
    memcpy(to + 8, tuple->src.byte, 16);
    memcpy(to + 24, tuple->dst.byte, 16);
    return IPV6_LEN;
}

uint32_t late_packet_put(uint8_t *to, const struct sl_tuple *tuple, uint32_t payload_len)
{
    enum { ACK = 16 };
    const uint32_t len = tuple->protocol == SL_IP_TCP ? TCP_LEN : UDP_LEN;
    uint8_t *const transport = to + put_ip(to, tuple, len + payload_len);

    store_be16(transport, tuple->src_port);
    store_be16(transport + 2, tuple->dst_port);
    if (tuple->protocol == SL_IP_TCP) {
        transport[12] = TCP_LEN / 4 << 4;
        transport[13] = ACK;
    } else {
        store_be16(transport + 4, len + payload_len);
    }
    return (uint32_t)(transport - to) + len;
}

struct sl_tuple late_packet_turn(const struct sl_tuple *tuple)
{
    return (struct sl_tuple){tuple->dst, tuple->src, tuple->dst_port, tuple->src_port,
                             tuple->protocol};
}

static void add_packet(struct sl_batch *batch, const struct late_side *side)
{
    const struct sl_flow_record *const record = &side->flow->record;
    const struct sl_tuple tuple =
        side->side == 0 ? record->tuple : late_packet_turn(&record->tuple);
    uint8_t bytes[IPV6_LEN + TCP_LEN] = {0};
    const uint32_t len = late_packet_put(bytes, &tuple, 0),
                   item = sl_batch_add(batch, bytes, len, 0);
    struct sl_origin *const origin = &batch->origin[item];

    origin->time_ns = record->end_ns;
    origin->flow = record->id;
    origin->wire_len = len;
    memcpy(origin->vlan, record->vlan, sizeof origin->vlan);
    origin->link_type = LATE_PACKET_LINK;
    origin->source = record->source;
    origin->app = side->flow->app;
    origin->flow_flags = (uint8_t)((side->side == 0 ? SL_FLOW_TO_SERVER : 0) |
                                   (record->state != SL_FLOW_STATE_NEW ? SL_FLOW_ESTABLISHED : 0) |
                                   (record->midstream ? SL_FLOW_MIDSTREAM : 0));
    if (batch->total != NULL)
        batch->total[item] =
            (struct sl_flow_total){record->first_ns,
                                   record->last_ns,
                                   {record->client.packets, record->server.packets},
                                   {record->client.bytes, record->server.bytes}};
}

void late_packets_fill(const struct late_part *part, struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {0};

    for (uint32_t i = 0; i < part->n_sides; i++)
        add_packet(batch, &part->side[i]);
    sl_dissect(batch, &stats);
}
