/* SPDX-License-Identifier: MIT */
/* A part of a TCP stream as rules see it: block by block, each with the known bytes around it. */
#ifndef DETECT_EVALUATE_STREAM_H
#define DETECT_EVALUATE_STREAM_H

#include "rule_hits.h"
#include "rule_scan.h"
#include "sluice/detect.h"

/* Zeroed at first but for `index`; rule_stream_free at last. */
struct rule_stream {
    const struct rule_index *index; /* of the rules */
    const struct sl_stream_part *part;
    const uint8_t *packet; /* the payload that the part lies in; NULL: in none */
    uint32_t buffer;       /* SL_BUFFER_* of its made items */
    int64_t in_packet; /* added to the offset of a hit in the packet: its place in the stream; */
    uint64_t in_made;  /* and to that of a hit in its made items */
    uint64_t from, to; /* the block at hand, as far as it belongs to the part */
    bool is_key;       /* rules without a literal are tried on the block */
    struct rule_scan scan; /* the bytes that rules see of the block */
    uint8_t *gathered;     /* the bytes of several parts */
    uint32_t cap;
};

/* Begins with a part of an item, whose first is `first`. */
void rule_stream_begin(struct rule_stream *stream, const struct sl_batch *batch, uint32_t item,
                       const struct sl_stream_part *first, const struct sl_stream_part *part);

/* Goes on to the next block that a hit ends in; with_keys: or to one on which rules without a
 * literal are tried, so that they see all bytes of the part. False: there is none. */
bool rule_stream_next_block(struct rule_stream *stream, const struct rule_hits *hits,
                            bool with_keys);

/* Sets in `scan` how long the block is, and how many bytes are before it. Its bytes are there once
 * they have been taken: most rules fail before they inspect them. */
void rule_stream_measure(struct rule_stream *stream);

/* Fills `scan`, unless that was done. False: no memory. */
bool rule_stream_take(struct rule_stream *stream);

/* Whether the hit ends in the block at hand, and in the part; or another of its run, which was left
 * out. */
bool rule_stream_has(const struct rule_stream *stream, const struct sl_hit *hit);

void rule_stream_free(struct rule_stream *stream);

#endif
