/* SPDX-License-Identifier: MIT */
/* A path between two UDP sockets that delays datagrams and loses some. */
#ifndef BENCH_TUNNEL_RELAY_H
#define BENCH_TUNNEL_RELAY_H

#include <stdint.h>

/* The addresses that take datagrams of side 0 and of side 1, for the other one. */
#define TUNNEL_RELAY_NEAR "10.8.0.2:5183"
#define TUNNEL_RELAY_FAR "127.0.0.1:5184"

struct tunnel_relay {
    uint64_t seed;
    uint32_t loss;     /* of 1,000 datagrams */
    uint32_t delay_us; /* one way */
};

/* The relay, in side 1's namespace; it does not end. `user` is its struct tunnel_relay. */
void tunnel_relay_run(void *user);

#endif
