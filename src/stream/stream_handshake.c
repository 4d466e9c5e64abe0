/* SPDX-License-Identifier: MIT */
#include "stream_handshake.h"

#include "stream_anomaly.h"
#include "stream_tcp.h"

enum {
    WSCALE_MAX = 14 /* RFC 7323, section 2.3 */
};

/* The shift of a half's windows. Without its SYN it is unknown: no window is too large then. */
static uint8_t shift_of(const struct stream *stream, uint32_t half)
{
    const uint16_t flags = stream->half[half].flags, other = stream->half[half ^ 1].flags;

    if ((other & (STREAM_SYN | STREAM_WSCALED)) == STREAM_SYN)
        return 0;
    if ((flags & STREAM_SYN) == 0)
        return WSCALE_MAX;
    return (flags & STREAM_WSCALED) != 0 ? stream->half[half].syn_wscale : 0;
}

static void note_syn(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    struct stream_half *to = stream_half_of(site, segment->half ^ 1);

    from->flags |= (uint16_t)(STREAM_SYN | ((segment->flags & TCP_ACK) != 0 ? STREAM_ANSWERS : 0));
    site->stream->rest[segment->half].syn_window = segment->window;
    if (segment->wscale != STREAM_NO_WSCALE) {
        from->flags |= STREAM_WSCALED;
        from->syn_wscale = segment->wscale < WSCALE_MAX ? segment->wscale : WSCALE_MAX;
    }
    if (!segment->has_timestamp)
        to->flags &= (uint16_t)~STREAM_TIMESTAMPS;
    if (stream_has(to, STREAM_SYN)) {
        from->window_end = from->seq + site->stream->rest[segment->half ^ 1].syn_window;
        from->flags |= STREAM_WINDOW;
    }
}

void stream_handshake_start(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    struct stream_half *to = stream_half_of(site, segment->half ^ 1);
    const bool is_syn = (segment->flags & TCP_SYN) != 0;

    from->seq = from->acked = segment->seq + is_syn;
    from->next = 0;
    from->flags = STREAM_STARTED;
    site->stream->rest[segment->half].solid = 0;
    if (stream_has(to, STREAM_STARTED) && stream_behind(to->seq, to->acked) > 0)
        to->acked = to->seq; /* what was delivered stays so */
    if (segment->has_timestamp &&
        (!stream_has(to, STREAM_SYN) || stream_has(to, STREAM_TIMESTAMPS))) {
        from->timestamp = segment->timestamp;
        from->flags |= STREAM_TIMESTAMPS;
    }
    if (is_syn) {
        to->flags &= (uint16_t)~STREAM_RST; /* no host answers so after a RST */
        note_syn(site, segment);
    }
    for (uint32_t half = 0; half < 2; half++)
        stream_half_of(site, half)->wscale = shift_of(site->stream, half);
}

bool stream_is_early(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const struct stream_half *to = stream_half_of(site, segment->half ^ 1);

    if (stream_has(from, STREAM_STARTED) || !stream_has(to, STREAM_SYN) ||
        stream_has(to, STREAM_ESTABLISHED | STREAM_ANSWERS) || (segment->flags & TCP_SYN) != 0)
        return false;
    if (segment->has_timestamp &&
        (!stream_has(to, STREAM_TIMESTAMPS) || segment->echo != to->timestamp)) {
        stream_report_event(site, segment->half, STREAM_INVALID_TIMESTAMP);
        return true;
    }
    return (segment->flags & TCP_RST) == 0;
}

/* Whether a SYN+ACK acknowledges another SYN than the one that was seen. */
static bool is_wrong_answer(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *to = stream_half_of(site, segment->half ^ 1);

    return (segment->flags & TCP_ACK) != 0 && stream_has(to, STREAM_SYN) &&
           !stream_has(to, STREAM_ESTABLISHED) &&
           (stream_behind(segment->ack, to->seq - (uint32_t)to->next) < 0 ||
            stream_behind(segment->ack, stream_queue_end(site, segment->half ^ 1)) > 0);
}

/* A SYN of a half that has started. */
static bool take_syn_again(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const struct stream_half *to = stream_half_of(site, segment->half ^ 1);
    const bool same_seq = segment->seq + 1 == from->seq - (uint32_t)from->next;

    stream_anomaly_syn(site, segment, same_seq, segment->ack == to->acked);
    if (same_seq)
        return true;
    if (stream_has(from, STREAM_ESTABLISHED) || from->next != 0)
        return false;
    stream_queue_drop(site, segment->half);
    stream_handshake_start(site, segment);
    return true;
}

/* A segment that is odd, and counts all the same. */
static void report_odd(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const struct stream_half *to = stream_half_of(site, segment->half ^ 1);
    const uint32_t flags = segment->flags & (TCP_FIN | TCP_SYN | TCP_ACK);

    if ((flags & TCP_ACK) == 0 && segment->ack != 0)
        stream_report_event(site, segment->half, STREAM_BROKEN_ACK);
    if ((flags & (TCP_FIN | TCP_SYN)) == (TCP_FIN | TCP_SYN))
        stream_report_event(site, segment->half, STREAM_FIN_SYN);
    if (flags == TCP_FIN || flags == (TCP_FIN | TCP_ACK)) {
        if (!stream_has(from, STREAM_STARTED) && !stream_has(to, STREAM_STARTED))
            stream_report_event(site, segment->half, STREAM_FIN_NO_SESSION);
    }
    if (flags == (TCP_SYN | TCP_ACK) && stream_has(to, STREAM_QUEUED) && to->next == 0 &&
        segment->ack == to->seq)
        stream_report_event(site, segment->half, STREAM_SYN_DATA_IGNORED);
    if (flags == TCP_ACK && segment->half == 1 && stream_has(from, STREAM_SYN) &&
        stream_has(to, STREAM_SYN) && !stream_has(from, STREAM_ESTABLISHED) &&
        !stream_has(to, STREAM_ESTABLISHED))
        stream_report_event(site, segment->half, STREAM_ACK_WRONG_DIRECTION);
}

bool stream_handshake(const struct stream_site *site, const struct stream_segment *segment)
{
    const bool is_syn = (segment->flags & TCP_SYN) != 0;

    report_odd(site, segment);
    if (is_syn && is_wrong_answer(site, segment)) {
        stream_report_event(site, segment->half, STREAM_SYNACK_WRONG_ACK);
        return false;
    }
    if (!stream_has(stream_half_of(site, segment->half), STREAM_STARTED))
        stream_handshake_start(site, segment);
    else if (is_syn)
        return take_syn_again(site, segment);
    return true;
}
