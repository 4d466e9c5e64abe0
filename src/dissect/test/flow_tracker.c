/* SPDX-License-Identifier: MIT */
#include "flow_tracker.h"

#include "test.h"

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

    *t = (struct tracker){.time = 1700000000 * SECOND};
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
    for (uint32_t shard = sl_flow_n_shards(t->twin); shard-- > 0;)
        sl_flow_track_shard(t->twin, t->batch, t->keys, shard);
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
