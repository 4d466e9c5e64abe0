/* SPDX-License-Identifier: MIT */
/* The flows that pass by the encoder: those whose packets repeat nothing, such as TLS and QUIC. */
#ifndef TUNNEL_FLOW_BYPASS_H
#define TUNNEL_FLOW_BYPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inner_packet.h"

enum {
    FLOWS = 4096,         /* entries; a flow takes the place of another one with its hash */
    FLOW_TRIALS = 64,     /* packets that found nothing, after which a flow passes by */
    FLOW_PROBE_EACH = 64, /* packets of a flow that passes by, one of which is encoded */
    PACK_TRIALS = 8       /* packets that zstd did not shorten, after which one in 64 is tried */
};

struct flow {
    struct inner_tuple tuple;
    uint64_t packets, bytes; /* bytes of packets, */
    uint64_t sent;           /* and of the records that carried them */
    uint32_t in_vain;        /* packets encoded since one found something */
    uint32_t passed;         /* since one was encoded */
    uint32_t hard;           /* packets in a row that zstd did not shorten */
    uint32_t not_tried;      /* since one was tried */
};

struct flow_bypass {
    uint64_t secret[2]; /* so that no sender chooses flows that collide */
    struct flow flows[FLOWS];
};

/* The entry of a packet's flow. */
struct flow *flow_of(struct flow_bypass *bypass, const struct inner_tuple *tuple);

/* Whether this packet of the flow passes by the encoder. */
bool flow_passes(struct flow *flow);

/* Whether zstd is to be tried on this packet of the flow; and the result of that. */
bool flow_packs(struct flow *flow);
void flow_packed(struct flow *flow, bool shorter);

/* Counts a packet that was sent as `sent` bytes. `found`: it had content that was sent before;
 * `encoded`: it was looked for. */
void flow_count(struct flow *flow, uint32_t len, uint32_t sent, bool encoded, bool found);

#endif
