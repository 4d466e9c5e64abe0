/* SPDX-License-Identifier: MIT */
/* The plain case: a segment has the next bytes of its half, and acknowledges only what was seen. It
 * is decided for one segment, or for those of a train. */
#ifndef STREAM_STREAM_PLAIN_H
#define STREAM_STREAM_PLAIN_H

#include "stream_half.h"

enum {
    STREAM_PLAIN_LONE = STREAM_STARTED, /* where the other side was not seen */
    STREAM_PLAIN_HEARD = STREAM_PLAIN_LONE | STREAM_WINDOW,
    STREAM_PLAIN_REFUSED = STREAM_FIN_NOTED | STREAM_RST | STREAM_QUEUED | STREAM_URGENT
};

static inline bool stream_plain_time(const struct stream_half *from,
                                     const struct stream_segment *segment)
{
    return !stream_has(from, STREAM_TIMESTAMPS) ||
           (segment->has_timestamp && stream_behind(segment->timestamp, from->timestamp) >= 0);
}

/* Whether the segment acknowledges what was seen: `used` by the other half, which was acknowledged
 * up to `acked`. Bytes that are acknowledged before they come are not plain. */
static inline bool stream_plain_ack(uint32_t unacked_len, const struct stream_half *from,
                                    uint32_t acked, uint32_t used,
                                    const struct stream_segment *segment)
{
    return stream_behind(segment->ack, acked) >= 0 && stream_behind(used, segment->ack) >= 0 &&
           (uint64_t)(segment->seq - from->acked) + segment->len <= unacked_len;
}

/* What the segment of a half says to the other one, whose window is known. */
static inline void stream_plain_answer(const struct stream_half *from, struct stream_half *to,
                                       const struct stream_segment *segment)
{
    const uint32_t window_end = segment->ack + ((uint32_t)segment->window << from->wscale);

    if (stream_behind(window_end, to->window_end) > 0)
        to->window_end = window_end;
    to->acked = segment->ack;
}

/* stream_take.c: takes the bytes of a plain segment, which has some. */
void stream_take_next(const struct stream_site *site, const struct stream_segment *segment);

#endif
