/* SPDX-License-Identifier: MIT */
/* The savings of each flow: a table that grows with the flows, so that few touch little memory. */
#ifndef REDUNDANCY_SAVINGS_FLOWS_H
#define REDUNDANCY_SAVINGS_FLOWS_H

#include "sluice/redundancy.h"

struct savings_flow {
    uint64_t id; /* 0: the slot is free */
    uint16_t port;
    uint8_t protocol;
    struct sl_savings_count count;
};

struct savings_flows {
    struct savings_flow *slots; /* at least half of them free; NULL before the first flow */
    size_t n_slots;             /* a power of two */
    size_t n;
};

void savings_flows_free(struct savings_flows *flows);

/* Makes room for n flows more. SL_ENOMEM. */
enum sl_status savings_flows_reserve(struct savings_flows *flows, size_t n, struct sl_diag *diag);

/* Fetches where a flow belongs into the cache. There is room. */
void savings_flows_prefetch(const struct savings_flows *flows, uint64_t id);

/* The flow's entry, made where it has none; NULL: the most flows that are listed have one. There is
 * room. */
struct savings_flow *savings_flows_find(struct savings_flows *flows, uint64_t id);

#endif
