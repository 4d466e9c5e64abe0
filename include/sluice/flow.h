/* SPDX-License-Identifier: MIT */
/* Flows: which packets belong together, which side is the client, and what TCP has seen.
 *
 * A flow is a 5-tuple with its VLAN ids, both directions one flow. ICMP echo requests and replies
 * are a flow by their identifier, all other packets without ports by their addresses and protocol.
 * The client is who sent the first SYN; without one, the first packet's sender, unless that is a
 * SYN+ACK or comes from a port below 1,024 to one that is not (midstream); who talks to itself is
 * the client. Memory is bounded: where the table is full the flow whose last packet came first is
 * evicted and counted. */
#ifndef SLUICE_FLOW_H
#define SLUICE_FLOW_H

#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_flow_config {
    uint32_t max_flows;             /* flows held at once */
    uint32_t tcp_handshake_seconds; /* idle time after which a flow ends, by state; TCP not
                                       established */
    uint32_t tcp_established_seconds;
    uint32_t tcp_closed_seconds;
    uint32_t udp_seconds;
    uint32_t other_seconds; /* ICMP, SCTP and other IP protocols */
    uint64_t hash_key[2];   /* keys the table's hash: random values resist crafted collisions */
};

/* 262,144 flows; 60 s, 600 s, 10 s, 60 s, 30 s (Suricata's defaults where it has them); key 0. */
SL_API void sl_flow_config_init(struct sl_flow_config *config);

struct sl_flow_stats {
    uint64_t flows; /* begun */
    uint64_t tcp, udp, other;
    uint64_t midstream; /* TCP flows that began without a SYN */
    uint64_t evicted;   /* ended because the table was full */
    uint64_t timed_out; /* ended because they were idle */
    uint64_t active;    /* in the table now */
};

struct sl_flow_table;

/* All memory is taken here. SL_EINVAL: max_flows is 0 or above 2^28. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_flow_table_create(struct sl_flow_table **table,
                                                    const struct sl_flow_config *config,
                                                    struct sl_diag *diag);

/* Assigns origin[].flow (from 1 upwards, in order of first packet; never reused) and flow_flags to
 * each dissected packet, in order. Packets without an IP header, with a defect before their ports,
 * and fragments that are not first, or that end before their ports, have flow 0; what follows is of
 * the others.
 *
 * Time is the packets' own and may jump. It is the latest seen; a packet of unknown time or of an
 * earlier one does not move it, but one that lies further back than the longest timeout begins a
 * new time, and all flows end as timed out. A flow ends as timed out as soon as its last packet
 * lies further back than the timeout of its state.
 *
 * A TCP flow is established when after a SYN and the server's SYN+ACK the client's ACK came, or at
 * once where its first packet was no SYN; it is closed when both FINs were acknowledged, or by a
 * RST. A SYN to a closed flow begins a new one. */
SL_API void sl_flow_track(struct sl_flow_table *table, struct sl_batch *batch);

/* The same in three steps, of which the first and the last may be done on any thread, for many
 * batches at once: what tracking reads of the packets' bytes, with the table's hash of it, is put
 * into `keys`; tracking, of runs of packets of one flow at once where it can; and telling each
 * packet. */
struct sl_flow_keys;

/* For batches of up to max_items items. Memory that no batch needs is not touched. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_flow_keys_create(struct sl_flow_keys **keys, uint32_t max_items,
                                                   struct sl_diag *diag);

/* Of a dissected batch of at most max_items items. Of the table only what never changes is read. */
SL_API void sl_flow_keys_read(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                              const struct sl_batch *batch);

/* In order. The keys were read of this batch for this table, and the batch is as it was then. Some
 * packets' origin[].flow and flow_flags are assigned, */
SL_API void sl_flow_track_keys(struct sl_flow_table *table, struct sl_batch *batch,
                               struct sl_flow_keys *keys);

/* and those of all others of that batch. */
SL_API void sl_flow_keys_tell(const struct sl_flow_keys *keys, struct sl_batch *batch);

/* Accepts NULL. */
SL_API void sl_flow_keys_free(struct sl_flow_keys *keys);

SL_API void sl_flow_stats(const struct sl_flow_table *table, struct sl_flow_stats *stats);

/* Accepts NULL. */
SL_API void sl_flow_table_free(struct sl_flow_table *table);

#ifdef __cplusplus
}
#endif
#endif
