/* SPDX-License-Identifier: MIT */
/* Frames on the wire: docs/frames.md. */
#ifndef REDUNDANCY_FRAME_H
#define REDUNDANCY_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "frame_core.h"
#include "sluice/redundancy.h"

enum { FEEDBACK_KIND = 0xB1 }; /* the low bits are the version */

struct frame_header {
    uint32_t len; /* of the packet */
    uint32_t epoch;
    uint64_t position;
    uint32_t n_references;
    uint64_t check;
};

/* A reference as the decoder has it: `len` bytes from log offset `source`, after `gap` bytes that
 * are sent. */
struct reference {
    uint64_t source;
    uint32_t gap, len;
};

enum { FRAME_CHECKED_LEN = 16 }; /* bytes of a header before its check */

/* The check of a frame: of its header's first 16 bytes and the packet. */
typedef uint64_t frame_check_fn(const uint8_t *header, const uint8_t *packet, uint32_t len);

/* The best on this machine of those that follow; their results are the same. */
frame_check_fn frame_check;
frame_check_fn frame_check_scalar, frame_check_avx2;

void frame_write_header(uint8_t *frame, uint32_t epoch, uint64_t position, const uint8_t *packet,
                        uint32_t len, size_t n_references);

/* Writes the references to the matches of a packet that begins at log offset `position`. Each takes
 * at most FRAME_REFERENCE_MAX bytes: three for its gap, three for its length, seven for its source.
 * Returns the end of what was written. */
uint8_t *frame_write_references(uint8_t *to, uint64_t position, const struct sl_match *matches,
                                size_t n_matches);

/* Writes a frame; the matches are the packet's. At most len + SL_FRAME_HEADER_LEN bytes. */
uint32_t frame_write(uint8_t *frame, uint32_t epoch, uint64_t position, const uint8_t *packet,
                     uint32_t len, const struct sl_match *matches, size_t n_matches);

/* False: no frame of this version, or its packet is longer than frame_max. */
bool frame_read_header(struct frame_header *header, const uint8_t *frame, size_t len,
                       uint32_t frame_max);

/* Reads the references of a frame into an array of frame_max / SL_REFERENCE_MIN + 1. False: they
 * are malformed or do not add up to the packet's length with the bytes behind them, which *literals
 * then points to. */
bool frame_read_references(struct reference *references, const uint8_t **literals,
                           const struct frame_header *header, const uint8_t *frame, size_t len);

#endif
