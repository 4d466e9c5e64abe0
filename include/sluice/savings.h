/* SPDX-License-Identifier: MIT */
/* Savings: what redundancy elimination would save of a traffic, without encoding it.
 *
 * Counted are payload bytes. Gross: bytes that are in the packet cache already. Net: gross less
 * what the references to them take. Frames: the net, less the header of SL_FRAME_HEADER_LEN bytes
 * of the frame that each packet with a payload becomes in a tunnel; it may be below 0.
 *
 * Threads: one at a time. */
#ifndef SLUICE_SAVINGS_H
#define SLUICE_SAVINGS_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/redundancy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_savings_count {
    uint64_t packets;         /* with a payload */
    uint64_t bytes;           /* of payload */
    uint64_t matched_bytes;   /* gross */
    uint64_t reference_bytes; /* what the references take: net = matched - reference bytes */
};

/* A part of the traffic: the bytes of a flow, of a protocol and its server's port, of an interval.
 */
struct sl_savings_row {
    uint64_t flow;    /* flows: origin.flow */
    uint16_t port;    /* ports: of the server */
    uint8_t protocol; /* IP protocol number */
    struct sl_savings_count count;

    /* intervals */
    int64_t time_ns; /* of the first packet */
    uint64_t samples;
    uint64_t
        eligible; /* bytes at which a sample may begin: samples are one in eligible / samples */
};

struct sl_savings_config {
    struct sl_redundancy_config redundancy;
    uint64_t interval_len; /* bytes of payload an interval; 0: by time */
    int64_t interval_ns;   /* where interval_len is 0; 0: the traffic is one interval */
};

/* The defaults of sl_redundancy_config_init, intervals of 100,000,000 bytes. */
SL_API void sl_savings_config_init(struct sl_savings_config *config);

struct sl_savings;

/* SL_EINVAL, SL_ENOMEM: as sl_matcher_create. */
SL_CHECK SL_API enum sl_status sl_savings_create(struct sl_savings **savings,
                                                 const struct sl_savings_config *config,
                                                 struct sl_diag *diag);

/* Counts a dissected host batch, in the order of the traffic; `hits` are a sampler's of this batch.
 * Intervals end between batches. SL_EINVAL: the batch is above the config's limits. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_savings_batch(struct sl_savings *savings,
                                                const struct sl_batch *batch, struct sl_hits *hits,
                                                struct sl_diag *diag);

/* All of the traffic, as one row. */
SL_API void sl_savings_total(const struct sl_savings *savings, struct sl_savings_row *total);

/* The rows with the most matched bytes, the largest first: at most max of them; returns how many.
 * Protocols are all IP protocols seen; ports those of TCP and UDP; of flows the table holds
 * 1,048,576, those that come later are not listed. */
SL_API size_t sl_savings_protocols(const struct sl_savings *savings, struct sl_savings_row *rows,
                                   size_t max);
SL_API size_t sl_savings_ports(const struct sl_savings *savings, struct sl_savings_row *rows,
                               size_t max);
SL_API size_t sl_savings_flows(const struct sl_savings *savings, struct sl_savings_row *rows,
                               size_t max);

/* The intervals in order, the last perhaps short. Owned by savings; valid until the next batch. */
SL_API const struct sl_savings_row *sl_savings_intervals(const struct sl_savings *savings,
                                                         size_t *n);

/* Accepts NULL. */
SL_API void sl_savings_free(struct sl_savings *savings);

#ifdef __cplusplus
}
#endif
#endif
