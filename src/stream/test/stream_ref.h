/* SPDX-License-Identifier: MIT */
/* The bytes of a half as its receiver has them, the slow way: every segment is kept, and each byte
 * states which one it is of. It shares no code with what it judges. */
#ifndef STREAM_STREAM_REF_H
#define STREAM_STREAM_REF_H

#include <stdbool.h>

#include "sluice/stream.h"

enum { STREAM_REF_MAX = 4096, STREAM_REF_LEN = 512, STREAM_REF_SEGMENTS = 128 };

/* The higher one has the byte, whoever came first. */
enum stream_ref_rank {
    STREAM_REF_REFUSED, /* no receiver takes it: it counts where it is acknowledged */
    STREAM_REF_CUT,     /* the capture has cut these bytes off */
    STREAM_REF_TAKEN
};

struct stream_ref_segment {
    uint32_t begin, len;
    enum stream_ref_rank rank;
    uint8_t byte[STREAM_REF_LEN];
};

struct stream_ref {
    enum sl_host_policy policy;
    bool is_heard; /* the receiver's side is in the capture */
    struct stream_ref_segment segment[STREAM_REF_SEGMENTS]; /* all that came; the first is none */
    uint32_t n_segments;
    uint32_t of[STREAM_REF_MAX]; /* by offset: the segment that has the byte; 0: none */
    uint32_t next;               /* all before was passed on */
    uint32_t acked;
    char text[STREAM_REF_MAX]; /* what was passed on; bytes of gaps are '_' */
    uint64_t gap_bytes[SL_N_GAPS];
};

void stream_ref_begin(struct stream_ref *ref, enum sl_host_policy policy, bool is_heard);

/* Bytes that begin at this offset; those of a cut are NULL. */
void stream_ref_take(struct stream_ref *ref, enum stream_ref_rank rank, uint32_t begin,
                     const void *bytes, uint32_t len);

/* The receiver has all before this offset. */
void stream_ref_acknowledge(struct stream_ref *ref, uint32_t behind);

/* The flow is over. */
void stream_ref_end(struct stream_ref *ref);

/* How far the bytes that were passed on are certain. */
uint32_t stream_ref_edge(const struct stream_ref *ref);

/* Whether new bytes win over old ones that overlap: by where they begin and end beside the old, -1
 * before, 0 at the same, 1 behind. Novak and Sturges, Target-Based TCP Stream Reassembly, 2007. */
bool stream_ref_new_wins(enum sl_host_policy policy, int begin, int end);

#endif
