/* SPDX-License-Identifier: MIT */
/* The oracle for names in packets: slow, from the RFCs and the contract in sluice/packet_names.h.
 * It takes messages apart into lists first and reads texts through sl_name_read. */
#ifndef NAMES_NAME_EXTRACT_REF_H
#define NAMES_NAME_EXTRACT_REF_H

#include <stdint.h>

#include "sluice/packet_names.h"

struct ref_name {
    enum sl_packet_names_protocol protocol;
    uint32_t offset; /* from the first byte of the payload */
    uint32_t len, host_len;
    uint8_t bytes[SL_NAME_LEN_MAX];
};

enum ref_carrier { REF_UDP, REF_TCP, REF_FRAME };

/* Names of a payload, at most SL_PACKET_NAMES_MAX; the array holds them until the next call.
 * sent_len: the bytes that there were, of which len are here. */
uint32_t ref_names(const struct ref_name **names, enum ref_carrier carrier, uint16_t src_port,
                   uint16_t dst_port, const uint8_t *payload, uint32_t len, uint32_t sent_len);

#endif
