/* SPDX-License-Identifier: MIT */
/* Any datagrams for a pair. Some carry the numbers of its session, so that their records are read:
 * a peer of the session may send any bytes, too. The output is an IP packet of the peer's networks.
 */
#include <stdlib.h>
#include <string.h>

#include "tunnel/datagram.h"
#include "tunnel/inner_packet.h"
#include "tunnel/pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct state {
    struct network allowed;
    uint64_t random;
    uint8_t last[DATAGRAM_MAX];
    uint32_t last_len;
};

static void send_datagram(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                          const struct sockaddr_storage *to)
{
    struct state *const state = user;

    (void)traffic_class;
    (void)to;
    memcpy(state->last, bytes, len);
    state->last_len = len;
}

static void deliver(void *user, uint8_t *packet, uint32_t len)
{
    const struct state *const state = user;
    struct inner_packet inner;

    if (!inner_read(&inner, packet, len) ||
        networks_find(&state->allowed, 1, inner.tuple.source) < 0)
        abort();
}

static uint64_t draw(void *user)
{
    return ++((struct state *)user)->random * UINT64_C(0x9E3779B97F4A7C15);
}

/* A hello that echoes the challenge of the pair's last one. */
static void begin_session(struct pair *pair, const struct state *state,
                          const struct sockaddr_storage *from)
{
    const struct datagram_header header = {1, 99, pair_session(pair)};
    uint8_t hello[DATAGRAM_HEADER + RECORD_HEADER + 17] = {0};

    datagram_write_header(hello, &header);
    record_write_header(hello + DATAGRAM_HEADER, RECORD_HELLO, 17);
    memcpy(hello + DATAGRAM_HEADER + RECORD_HEADER + 9,
           state->last + DATAGRAM_HEADER + RECORD_HEADER + 1, 8);
    pair_datagram(pair, hello, sizeof hello, 0, from, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct state state;
    const struct sockaddr_storage from = {.ss_family = AF_INET};
    const struct pair_world world = {&state, send_datagram, deliver, draw};
    struct pair_config config = {.cache_len = UINT64_C(1) << 20,
                                 .allowed = &state.allowed,
                                 .n_allowed = 1,
                                 .endpoint = from,
                                 .mtu = 1400,
                                 .datagram_max = 1452,
                                 .dead_after = 1000000,
                                 .compresses = true};
    static struct pair *pair;
    static uint64_t now = 1;
    uint64_t sequence = 2;

    if (pair == NULL) {
        sl_sampling_config_init(&config.sampling);
        config.sampling.period = 32;
        if (!network_parse(&state.allowed, "10.0.0.0/8") ||
            pair_create(&pair, &config, &world, 0, NULL) != SL_OK)
            abort();
    }
    pair_tick(pair, now += 100000);
    begin_session(pair, &state, &from);
    for (size_t at = 0; at + 3 <= len;) {
        const size_t wanted = data[at + 1] | (size_t)(data[at + 2] & 7) << 8;
        const size_t n = wanted < len - at - 3 ? wanted : len - at - 3;
        uint8_t bytes[4096] = {0};
        const uint8_t kind = data[at];

        memcpy(bytes, data + at + 3, n);
        if (kind % 2 == 0 && n >= DATAGRAM_HEADER) {
            const struct datagram_header header = {sequence++, 99, pair_session(pair)};

            datagram_write_header(bytes, &header);
        }
        if (kind % 8 == 7)
            pair_packet(pair, bytes, (uint32_t)n, now);
        else
            pair_datagram(pair, bytes, (uint32_t)n, kind, &from, now);
        pair_flush(pair, now);
        pair_tick(pair, now += kind * UINT64_C(1000));
        at += 3 + n;
    }
    return 0;
}
