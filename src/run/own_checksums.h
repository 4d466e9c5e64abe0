/* SPDX-License-Identifier: MIT */
/* Checksums of packets that this host sends. Many interfaces write them after a capture has seen
 * the packets, which then look wrong. */
#ifndef RUN_OWN_CHECKSUMS_H
#define RUN_OWN_CHECKSUMS_H

#include "batch_events.h"
#include "run_notices.h"

struct own_checksums {
    bool on;            /* the source is an Ethernet interface, and no notice was sent */
    uint8_t address[6]; /* of the interface */
    uint64_t n, wrong;  /* IP packets that it sent; those with a wrong checksum */
};

/* Of a zeroed struct. */
void own_checksums_open(struct own_checksums *own, const struct sl_run_config *config);

/* Adds the packets of a batch. Sends a notice, once, where most so far are wrong. */
void own_checksums_add(struct own_checksums *own, const struct batch_events *events,
                       const struct sl_run_config *config, struct run_notices *notices);

#endif
