/* SPDX-License-Identifier: MIT */
/* A bad path between two sides, the same one for the same seed: datagrams are lost singly and in
 * bursts, delayed, reordered, repeated, replayed long after, reflected, cut and forged. It has a
 * rate and an MTU that may shrink without a word. Time is the caller's. */
#ifndef TUNNEL_RELAY_H
#define TUNNEL_RELAY_H

#include <stdbool.h>
#include <stdint.h>

struct relay_config {
    const char *name;
    uint32_t loss;                /* of 1,000 datagrams */
    uint32_t burst;               /* datagrams that are lost at once; 0: one */
    uint32_t repeat;              /* of 1,000 */
    uint32_t replay;              /* of 1,000: an old one comes once more */
    uint32_t reflect;             /* of 1,000: comes back to its sender */
    uint32_t forge;               /* of 1,000: bytes of somebody else, or a datagram cut short */
    uint32_t delay_us, jitter_us; /* jitter reorders */
    uint32_t mtu;                 /* bytes of the longest datagram; 0: none is too long */
    uint64_t rate;                /* bytes a second; 0: no limit */
};

struct relay;

/* `receive` gets what comes out, for side 0 or 1. */
struct relay *relay_create(uint64_t seed,
                           void (*receive)(void *user, int side, const uint8_t *bytes, uint32_t len,
                                           uint8_t traffic_class, uint64_t now),
                           void *user);
void relay_free(struct relay *relay);

void relay_set(struct relay *relay, const struct relay_config *config);

/* Takes a datagram that this side sends. */
void relay_send(struct relay *relay, int from, const uint8_t *bytes, uint32_t len,
                uint8_t traffic_class, uint64_t now);

/* The time of the next datagram; UINT64_MAX: none is under way. */
uint64_t relay_next(const struct relay *relay);

/* Gives out all that is due. */
void relay_run(struct relay *relay, uint64_t now);

uint64_t relay_lost(const struct relay *relay);   /* datagrams */
uint64_t relay_forged(const struct relay *relay); /* and replayed, reflected, cut */

#endif
