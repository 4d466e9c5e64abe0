/* SPDX-License-Identifier: MIT */
/* The length of a datagram that the path carries, found by probes that the peer answers, after RFC
 * 8899. No message of a router is needed or believed. */
#ifndef TUNNEL_PATH_MTU_H
#define TUNNEL_PATH_MTU_H

#include <stdbool.h>
#include <stdint.h>

struct path_mtu {
    uint32_t base, max;  /* lengths of a datagram's payload, bytes */
    uint32_t known;      /* that the path carries: datagrams are no longer */
    uint32_t failed;     /* the shortest that it does not carry; above max: none */
    uint32_t probe;      /* that is under way; 0: none */
    uint32_t tries;      /* of it */
    uint32_t n_unheard;  /* confirmations of `known` in a row that no answer came to */
    uint64_t due;        /* time of the next step */
    bool raises;         /* the next step begins a search for longer ones */
    uint64_t confirm_at; /* time of the next confirmation */
    bool used;           /* datagrams of `known` bytes were sent since the last confirmation */
};

void path_begin(struct path_mtu *path, uint32_t base, uint32_t max, uint64_t now);

/* The length of the probe to be sent now, 0: none. */
uint32_t path_step(struct path_mtu *path, uint64_t now);

/* A probe of this length was answered. */
void path_answered(struct path_mtu *path, uint32_t len, uint64_t now);

/* A datagram of this length was refused: the path carries shorter ones alone. */
void path_refused(struct path_mtu *path, uint32_t len, uint64_t now);

/* Whether the search has ended: `known` is what the path carries. */
bool path_is_known(const struct path_mtu *path);

#endif
