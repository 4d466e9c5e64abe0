/* SPDX-License-Identifier: MIT */
#include "flow_tracker.h"

#include "test.h"

#include "base/bytes.h"
#include "frame_fixture.h"
#include "sluice/dissect.h"

static void put_transport(struct frame *f, const struct flow_event *event)
{
    uint8_t *transport;

    switch (event->protocol) {
    case SL_IP_TCP:
        transport = frame_tcp(f, event->port[0], event->port[1], event->tcp_flags, 0);
        store_be32(transport + 4, event->seq);
        store_be32(transport + 8, event->ack);
        break;
    case SL_IP_UDP:
        frame_udp(f, event->port[0], event->port[1], event->payload_len);
        break;
    case SL_IP_SCTP:
        frame_be16(f, event->port[0]);
        frame_be16(f, event->port[1]);
        frame_put(f, 8);
        break;
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        frame_bytes(f, &event->icmp_type, 1);
        frame_put(f, 3);
        frame_be16(f, event->icmp_id);
        frame_put(f, 2);
        break;
    default:
        break;
    }
    frame_put(f, event->payload_len);
}

static void put_ipv4(struct frame *f, const struct flow_event *event)
{
    const uint32_t ip = frame_ipv4(f, event->protocol, 0);

    f->byte[ip + 15] = event->addr[0];
    f->byte[ip + 19] = event->addr[1];
    if (event->later_fragment)
        f->byte[ip + 7] = 1;
    put_transport(f, event);
    frame_end_ipv4(f, ip);
}

static void put_ipv6(struct frame *f, const struct flow_event *event)
{
    const uint32_t ip = frame_ipv6(f, event->later_fragment ? 44 : event->protocol);

    f->byte[ip + 23] = event->addr[0];
    f->byte[ip + 39] = event->addr[1];
    if (event->later_fragment) {
        frame_extension(f, event->protocol, 0);
        f->byte[f->len - 5] = 8;
    }
    put_transport(f, event);
    frame_end_ipv6(f, ip);
}

static void build(struct frame *f, const struct flow_event *event)
{
    f->len = 0;
    frame_ethernet(f, event->vlan ? 0x8100 : event->no_ip ? 0x0806 : event->ipv6 ? 0x86DD : 0x0800);
    if (event->vlan)
        frame_tag(f, event->vlan, event->no_ip ? 0x0806 : event->ipv6 ? 0x86DD : 0x0800);
    if (event->no_ip)
        frame_put(f, 28);
    else if (event->ipv6)
        put_ipv6(f, event);
    else
        put_ipv4(f, event);
    if (event->short_transport)
        store_be16(f->byte + (event->vlan ? 20 : 16), 23); /* IPv4's total length */
}

void tracker_start(struct tracker *t, const struct sl_flow_config *config)
{
    struct sl_diag diag;

    *t = (struct tracker){.time = 1700000000 * SECOND, .random = 1};
    struct sl_flow_config keeping = *config;

    keeping.totals = true;
    assert_int_equal(sl_flow_table_create(&t->table, &keeping, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&t->batch, 65536, 256, &diag), SL_OK);
    assert_int_equal(sl_batch_reserve_totals(t->batch, &diag), SL_OK);
    assert_int_equal(sl_flow_keys_create(&t->keys, 256, &diag), SL_OK);
    assert_int_equal(sl_flow_keys_create(&t->other, 256, &diag), SL_OK);
    keeping.keep_ends = true;
    assert_int_equal(sl_flow_table_create(&t->twin, &keeping, &diag), SL_OK);
}

void tracker_stop(struct tracker *t)
{
    sl_flow_table_free(t->table);
    sl_flow_table_free(t->twin);
    sl_flow_keys_free(t->keys);
    sl_flow_keys_free(t->other);
    sl_batch_free(t->batch);
}

void tracker_add(struct tracker *t, const struct flow_event *event)
{
    static struct frame f;

    build(&f, event);

    const uint32_t item = sl_batch_add(t->batch, f.byte, f.len, 0);
    t->batch->origin[item].link_type = 1;
    t->batch->origin[item].wire_len = f.len;
    t->batch->origin[item].time_ns = event->time;
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* What a visit to a shard saw, in order. */
struct visit {
    const struct sl_batch *batch;
    struct {
        uint64_t flow;
        uint32_t entry, item; /* SEEN_END: with the index of the flow that ended */
        uint64_t to_server;
    } seen[512];
    uint32_t n, n_trained;
    uint64_t *random; /* how many segments it takes of trains */
};

enum { SEEN_END = UINT32_MAX };

static void see(struct visit *visit, uint64_t flow, uint32_t entry, uint32_t item, bool to_server)
{
    assert_true(visit->n < sizeof visit->seen / sizeof *visit->seen);
    visit->seen[visit->n].flow = flow;
    visit->seen[visit->n].entry = entry;
    visit->seen[visit->n].item = item;
    visit->seen[visit->n++].to_server = to_server;
}

static void see_segment(void *user, const struct sl_flow_segment *segment)
{
    see(user, segment->flow, segment->entry, segment->item,
        (segment->flow_flags & SL_FLOW_TO_SERVER) != 0);
}

static void see_end(void *user, const struct sl_flow_ended *ended)
{
    see(user, ended->flow, (uint32_t)ended->index, SEEN_END, false);
}

/* The packet's headers as they lie. */
static void check_packet(const struct sl_batch *batch, uint32_t item,
                         const struct sl_flow_packet *packet)
{
    const uint8_t *ip = batch->bytes + batch->packet[item].offset + batch->packet[item].network;
    const uint8_t *tcp = batch->bytes + batch->packet[item].offset + batch->packet[item].transport;

    assert_int_equal(packet->sequence, load_be32(tcp + 4));
    assert_int_equal(packet->acknowledged, load_be32(tcp + 8));
    assert_int_equal(packet->window, load_be16(tcp + 14));
    assert_int_equal(packet->tcp_flags, tcp[13]);
    assert_int_equal(packet->ttl, ip[(batch->packet[item].flags & SL_PACKET_IPV4) != 0 ? 8 : 7]);
    assert_false(packet->has_timestamp); /* no frame here has options */
    assert_int_equal(tcp[13] & (FIN | SYN | RST | ACK), ACK);
}

/* Takes some of the segments. */
static uint32_t see_train(void *user, const struct sl_flow_train *train)
{
    struct visit *const visit = user;
    const uint32_t n = test_below(visit->random, train->n + 1);
    uint32_t i = 0;

    assert_true(train->n > 0);
    for (; i < n && train->packet[i].is_usual; i++) {
        check_packet(visit->batch, train->first + i, &train->packet[i]);
        see(visit, train->flow, train->entry, train->first + i,
            train->packet[i].sender == train->client);
    }
    visit->n_trained += i;
    return i;
}

/* A visit sees the same with trains and without. */
static uint32_t compare_visits(struct tracker *t, uint32_t shard)
{
    static struct visit one, trained;
    const struct sl_flow_visitor singly = {.segment = see_segment, .ended = see_end, .user = &one};
    const struct sl_flow_visitor in_trains = {
        .segment = see_segment, .train = see_train, .ended = see_end, .user = &trained};

    one = (struct visit){.batch = t->batch};
    trained = (struct visit){.batch = t->batch, .random = &t->random};
    sl_flow_visit_shard(t->twin, t->batch, t->keys, shard, &singly);
    sl_flow_visit_shard(t->twin, t->batch, t->keys, shard, &in_trains);
    assert_int_equal(one.n, trained.n);
    assert_memory_equal(one.seen, trained.seen, one.n * sizeof *one.seen);
    return trained.n_trained;
}

void tracker_run(struct tracker *t)
{
    struct sl_origin twins[256];
    struct sl_flow_total totals[256];
    struct sl_flow_keys *keys = t->other;

    t->other = t->keys;
    t->keys = keys;
    sl_dissect(t->batch, &t->stats);
    sl_flow_keys_read(t->keys, t->twin, t->batch);
    sl_flow_deal(t->twin, t->batch, t->keys);
    for (uint32_t shard = sl_flow_n_shards(t->twin); shard-- > 0;) {
        sl_flow_track_shard(t->twin, t->batch, t->keys, shard);
        t->n_trained += compare_visits(t, shard);
    }
    sl_flow_keys_apply(t->keys, t->batch);
    sl_flow_keys_stats(t->keys, t->twin, &t->added);
    memcpy(twins, t->batch->origin, t->batch->n_items * sizeof *twins);
    memcpy(totals, t->batch->total, t->batch->n_items * sizeof *totals);
    sl_flow_track(t->table, t->batch);
    assert_memory_equal(twins, t->batch->origin, t->batch->n_items * sizeof *twins);
    assert_memory_equal(totals, t->batch->total, t->batch->n_items * sizeof *totals);
}

void tracker_expect(struct tracker *t, const struct sl_origin *origin, uint64_t flow, uint8_t flags)
{
    assert_in_range(flow, 0, MAX_FLOWS);
    if (flags & SL_FLOW_NEW) {
        assert_int_equal(flow, ++t->n_flows);
        t->id[flow] = origin->flow;
    }
    assert_int_equal(origin->flow, t->id[flow]);
    assert_true((flow == 0) == (origin->flow == 0) && origin->flow < UINT64_C(1) << 51);
    assert_int_equal(origin->flow_flags, flags);
}

struct sl_flow_stats tracker_stats(const struct tracker *t)
{
    struct sl_flow_stats stats;

    sl_flow_stats(t->table, &stats);
    return stats;
}
