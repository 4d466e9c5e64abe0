/* SPDX-License-Identifier: MIT */
/* Windows of streams: where a packet adds bytes, they are scanned with those before them. */
#ifndef RUN_VIRUS_WINDOWS_H
#define RUN_VIRUS_WINDOWS_H

#include "virus_scanner.h"
#include "virus_segments.h"
#include "virus_waiting.h"

/* A shard while it is settled. */
struct virus_settling {
    struct virus_scanners *scanners;
    struct virus_scanner *scanner; /* NULL: none was needed so far */
    struct virus_shard *shard;
    const struct run_flow *of_flow; /* by entry */
    const struct stream_parts *parts;
    struct virus_output *output;
    const struct payload_scan *scan;
    const struct sl_batch *batch;
    const struct sl_stream_part *const *of_item;
    size_t alone, open, across; /* the next hits of payloads, and of made items */
};

static inline bool virus_adds_bytes(const struct stream_record *record)
{
    return (record->kind == STREAM_PACKET || record->kind == STREAM_COPIED) && record->len != 0;
}

static inline size_t virus_entry_of(const struct run_flow *of_flow,
                                    const struct stream_record *record)
{
    return (size_t)(run_flow_of(record->stream) - of_flow);
}

/* Takes record r of the shard, which adds bytes. False: no memory. */
bool virus_part_take(struct virus_settling *settling, uint32_t r);

#endif
