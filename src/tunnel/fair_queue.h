/* SPDX-License-Identifier: MIT */
/* A queue before the encoder, so that nothing is dropped behind it. Flows take turns (deficit round
 * robin). A flow that keeps packets waiting gets a signal (CoDel, RFC 8289): ECN where it listens,
 * and a loss where it does not. */
#ifndef TUNNEL_FAIR_QUEUE_H
#define TUNNEL_FAIR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAIR_FLOWS = 256,    /* queues; a flow's hash says which */
    FAIR_QUANTUM = 1514, /* bytes of a turn */
    FAIR_TARGET = 5,     /* ms that packets may always wait, */
    FAIR_INTERVAL = 100  /* and for how long they may wait longer */
};

struct fair_stats {
    uint64_t bytes;    /* that wait */
    uint64_t packets;  /* that wait */
    uint64_t marked;   /* congestion signalled */
    uint64_t dropped;  /* the same, of flows that do not listen to ECN */
    uint64_t overflow; /* packets dropped because the queue was full */
};

struct fair_queue;

/* Holds at most `limit` bytes. NULL: no memory. */
struct fair_queue *fair_create(uint64_t limit);
void fair_free(struct fair_queue *queue); /* accepts NULL */

/* Copies a packet, whose flow has this hash. The longest queue gives way where there is no room.
 * `now`: nanoseconds of a clock that does not go back. */
void fair_put(struct fair_queue *queue, const uint8_t *packet, uint32_t len, uint64_t hash,
              uint64_t now);

/* The next packet, valid until the next call. False: none waits. */
bool fair_take(struct fair_queue *queue, const uint8_t **packet, uint32_t *len, uint64_t now);

void fair_stats(const struct fair_queue *queue, struct fair_stats *stats);

#endif
