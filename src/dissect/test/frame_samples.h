/* SPDX-License-Identifier: MIT */
/* Sound packets, one for each kind of header, and what the dissector must find in them. */
#ifndef DISSECT_TEST_SAMPLES_H
#define DISSECT_TEST_SAMPLES_H

#include "frame_fixture.h"
#include "sluice/dissect.h"

struct sample {
    const char *name;
    void (*build)(struct frame *f);
    uint16_t link_type;
    uint32_t seen; /* set of enum sl_protocol */
    struct sl_packet packet;
    uint16_t vlan[2];       /* 0 stands for SL_NO_VLAN */
    struct sl_span payload; /* from the packet's first byte */
};

extern const struct sample samples[];
extern const uint32_t n_samples;

#endif
