/* SPDX-License-Identifier: MIT */
/* A packet of many segments, as the kernel hands it over, becomes packets (TSO and USO). */
#ifndef TUNNEL_SEGMENTS_H
#define TUNNEL_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct segments_of {
    bool is_tcp;          /* or UDP */
    uint32_t segment_len; /* bytes of payload of each segment but the last; 0: one packet */
    bool needs_checksum;  /* the checksum holds the sum of the pseudo header alone */
    uint32_t checksum_start, checksum_offset; /* bytes: of the sum, and of its place behind that */
};

/* Calls `take` with each packet; their bytes are valid during the call. Returns how many there
 * were, 0 where the lengths do not fit one another. `bytes` are changed. */
int segments_cut(const struct segments_of *of, uint8_t *bytes, uint32_t len,
                 void (*take)(void *user, const uint8_t *packet, uint32_t len), void *user);

#endif
