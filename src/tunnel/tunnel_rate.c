/* SPDX-License-Identifier: MIT */
/* A peer with a rate: its packets wait in a fair queue, and leave it as datagrams leave the box. So
 * the queue of the link stays empty, and waiting packets are not encoded yet. */
#include <stddef.h>
#include <xxhash.h>

#include "inner_packet.h"
#include "tunnel_state.h"

enum {
    OUTER = 28,     /* bytes of IP and UDP around a datagram */
    AT_ONCE = 16,   /* packets that are encoded together */
    BURST_MS = 5,   /* that a link may be ahead */
    QUEUE_MS = 500, /* of the link's time at most wait */
    QUEUE_LEAST = 1 << 18
};

struct fair_queue *rate_queue(uint64_t rate)
{
    const uint64_t limit = rate * QUEUE_MS / 1000;

    return fair_create(limit > QUEUE_LEAST ? limit : QUEUE_LEAST);
}

static uint64_t hash_of(const struct tunnel_peer *peer, const uint8_t *packet, uint32_t len)
{
    struct inner_packet inner;

    if (!inner_read(&inner, packet, len))
        return 0;
    /* Without the padding of the struct. */
    return XXH3_64bits_withSeed(&inner.tuple, offsetof(struct inner_tuple, protocol) + 1,
                                peer->secret);
}

void rate_put(struct tunnel_peer *peer, const uint8_t *packet, uint32_t len)
{
    fair_put(peer->queue, packet, len, hash_of(peer, packet, len), peer->tunnel->now);
}

static uint64_t sent_by(const struct tunnel_peer *peer)
{
    struct pair_stats stats;

    pair_stats(peer->pair, &stats);
    return stats.bytes_sent + stats.datagrams_sent * OUTER;
}

/* Bytes that the link has taken since the last call pay for those that were sent since. */
static void settle(struct tunnel_peer *peer)
{
    const uint64_t rate = peer->config->rate, sent = sent_by(peer), now = peer->tunnel->now;
    const int64_t most = (int64_t)(rate * BURST_MS / 1000 + 2 * 1500);
    const uint64_t passed = now - peer->settled < 1000000000u ? now - peer->settled : 1000000000u;

    peer->credit += (int64_t)(passed * rate / 1000000000u);
    peer->credit = peer->credit < most ? peer->credit : most;
    peer->credit -= (int64_t)(sent - peer->sent);
    peer->sent = sent;
    peer->settled = now;
}

uint64_t rate_send(struct tunnel_peer *peer)
{
    const uint8_t *packet;
    uint32_t len;

    if (peer->queue == NULL)
        return UINT64_MAX;
    for (settle(peer); peer->credit > 0; settle(peer)) {
        int n = 0;

        while (n < AT_ONCE && fair_take(peer->queue, &packet, &len, peer->tunnel->now)) {
            pair_packet(peer->pair, packet, len, peer->tunnel->now);
            n++;
        }
        if (n == 0)
            return UINT64_MAX;
        pair_flush(peer->pair, peer->tunnel->now);
        peer->tick = 0;
    }
    return peer->tunnel->now + (uint64_t)(1 - peer->credit) * 1000000000u / peer->config->rate;
}
