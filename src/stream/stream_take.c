/* SPDX-License-Identifier: MIT */
/* A segment of a flow. */
#include <string.h>

#include "stream_anomaly.h"
#include "stream_handshake.h"
#include "stream_plain.h"
#include "stream_tcp.h"

/* How far the receiver of a half has acknowledged it, or is taken to have. */
static uint64_t edge_of(const struct stream_site *site, uint32_t half)
{
    const struct stream_half *h = stream_half_of(site, half);
    const int32_t waiting = stream_behind(h->seq, h->acked);

    if (site->shard->is_inline || stream_has(h, STREAM_RST) || !stream_is_heard(site, half) ||
        waiting <= 0)
        return h->next;
    return (uint64_t)waiting < h->next ? h->next - (uint64_t)waiting : 0;
}

static void report_edge(const struct stream_site *site, uint32_t half, uint64_t edge)
{
    struct stream_record *record;

    if (site->shard->omits_edges)
        return;
    record = stream_record_add(site->shard, STREAM_EDGE);
    record->flow = site->flow;
    record->stream = site->stream;
    record->offset = edge;
    record->item = record->source = site->item;
    record->half = (uint8_t)half;
    record->sender = site->sender;
}

/* Holds the blocks for the last bytes of the halves, which had so many bytes before. */
static void hold_contexts(const struct stream_site *site, const uint64_t before[2])
{
    for (uint32_t half = 0; half < 2; half++) {
        const struct stream_half *h = stream_half_of(site, half);
        const bool fits =
            stream_has(h, STREAM_CONTEXT_FITS) &&
            (before[half] == h->next || stream_context_blocks(site->shard, before[half]) ==
                                            stream_context_blocks(site->shard, h->next));

        if (h->next != 0 && !stream_has(h, STREAM_CONTEXT_HELD) && !fits)
            stream_context_hold(site, half);
    }
}

/* ---- the plain case -------------------------------------------------------------------------- */

/* A FIN counts as a byte: what its half has used, with it. */
static uint32_t used_by(const struct stream_half *half)
{
    return half->seq + half->flags / STREAM_FIN_DONE % 2;
}

/* Whether what the segment says to the other side, which was seen, is as plain as its bytes. */
static bool is_plain_answer(const struct stream_shard *shard, const struct stream_half *from,
                            const struct stream_half *to, const struct stream_segment *segment)
{
    const uint32_t wanted = (segment->flags & TCP_FIN) != 0 ? segment->len : segment->len != 0;

    return !stream_has(to, STREAM_QUEUED) &&
           stream_behind(from->window_end, segment->seq) >= (int32_t)wanted &&
           stream_plain_ack(shard->unacked_len, from, to->acked, used_by(to), segment);
}

/* Whether the half goes on as most do: the segment does not end the handshake with an event, and
 * has nothing behind a FIN. */
static bool goes_on(const struct stream_half *from, const struct stream_half *to,
                    const struct stream_segment *segment)
{
    if ((from->flags & (STREAM_ESTABLISHED | STREAM_FIN_DONE)) == STREAM_ESTABLISHED)
        return true;
    return (segment->half == 0 || stream_has(from, STREAM_ESTABLISHED) ||
            stream_has(to, STREAM_ESTABLISHED)) &&
           (!stream_has(from, STREAM_FIN_DONE) ||
            (segment->len == 0 && (segment->flags & TCP_FIN) == 0));
}

/* Whether the segment has the next bytes of its half, and acknowledges only what was seen. */
static bool is_plain(const struct stream_shard *shard, const struct stream_half *from,
                     const struct stream_half *to, const struct stream_segment *segment)
{
    const bool heard = stream_has(to, STREAM_STARTED);
    const uint32_t wanted = heard ? STREAM_PLAIN_HEARD : STREAM_PLAIN_LONE;

    return (from->flags & (wanted | STREAM_PLAIN_REFUSED)) == wanted &&
           (segment->flags & (TCP_SYN | TCP_RST | TCP_URG | TCP_ACK)) == TCP_ACK &&
           segment->seq == used_by(from) && segment->snapped == 0 && !segment->bad_checksum &&
           segment->ttl >= shard->min_ttl && !shard->is_inline && goes_on(from, to, segment) &&
           stream_plain_time(from, segment) &&
           (!heard || is_plain_answer(shard, from, to, segment));
}

static void answer_plain(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = &site->stream->half[segment->half];
    struct stream_half *to = &site->stream->half[segment->half ^ 1];
    const bool moves = !site->shard->omits_edges && segment->ack != to->acked &&
                       stream_behind(to->seq, to->acked) > 0;

    if (!stream_has(to, STREAM_WINDOW))
        to->window_end = segment->ack;
    to->flags |= STREAM_WINDOW;
    stream_plain_answer(from, to, segment);
    if (moves)
        report_edge(site, segment->half ^ 1, edge_of(site, segment->half ^ 1));
}

/* The FIN of a half came, and all bytes before it. */
static void end_half(const struct stream_site *site, uint32_t half)
{
    struct stream_half *h = stream_half_of(site, half);

    h->flags |= STREAM_FIN_DONE;
    if (!stream_has(stream_half_of(site, half ^ 1), STREAM_FIN_DONE))
        h->flags |= STREAM_FIN_FIRST;
}

/* Takes bytes that are next in sequence. */
void stream_take_next(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = &site->stream->half[segment->half];
    const uint64_t before[2] = {site->stream->half[0].next, site->stream->half[1].next};

    if (from->last != 0)
        stream_report_next(site, segment->half, STREAM_PACKET, segment->at, segment->len);
    else
        stream_report(site, segment->half, STREAM_PACKET, segment->at, segment->len);
    if (!stream_has(from, STREAM_CONTEXT_HELD))
        hold_contexts(site, before);
}

static void take_plain(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = &site->stream->half[segment->half];

    stream_stats(site)->plain++;
    from->flags |= STREAM_ESTABLISHED;
    if (segment->has_timestamp && !stream_has(from, STREAM_FIN_DONE))
        from->timestamp = segment->timestamp;
    if (segment->len != 0)
        stream_take_next(site, segment);
    if (stream_is_heard(site, segment->half)) {
        answer_plain(site, segment);
    } else if (segment->len != 0) {
        from->acked = from->seq;
        report_edge(site, segment->half, from->next);
    }
    if ((segment->flags & TCP_FIN) != 0)
        end_half(site, segment->half);
}

/* Whether a half begins with this SYN, or this answer to one, and nothing is odd about it. */
static bool is_plain_syn(const struct stream_shard *shard, const struct stream_half *from,
                         const struct stream_half *to, const struct stream_segment *segment)
{
    const uint32_t asked = STREAM_STARTED | STREAM_SYN;
    const bool answers = (segment->flags & TCP_ACK) != 0;

    return (segment->flags & (TCP_FIN | TCP_SYN | TCP_RST | TCP_URG)) == TCP_SYN &&
           !stream_has(from, STREAM_STARTED) && segment->len + segment->snapped == 0 &&
           !segment->bad_checksum && segment->ttl >= shard->min_ttl &&
           (to->flags & (asked | STREAM_ESTABLISHED | STREAM_FIN_DONE | STREAM_PLAIN_REFUSED)) ==
               (answers ? asked : 0) &&
           to->next == 0 && segment->ack == (answers ? to->seq : 0);
}

static void take_plain_syn(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *to = stream_half_of(site, segment->half ^ 1);

    stream_handshake_start(site, segment);
    if ((segment->flags & TCP_ACK) == 0)
        return;
    to->acked = segment->ack;
    to->window_end = segment->ack + segment->window;
    to->flags |= STREAM_WINDOW;
}

/* ---- doubt ----------------------------------------------------------------------------------- */

/* The first byte's sequence number. */
static uint32_t begin_of(const struct stream_segment *segment)
{
    return segment->seq + ((segment->flags & TCP_SYN) != 0);
}

/* Whether the sender can have seen what it acknowledges: all that was captured, and what the
 * capture may lack of its window once the handshake is over. */
static bool is_ack_valid(const struct stream_site *site, const struct stream_segment *segment)
{
    const uint32_t other = segment->half ^ 1;
    const struct stream_half *to = stream_half_of(site, other);
    uint32_t max = stream_queue_end(site, other);

    if (!stream_has(to, STREAM_STARTED) || !stream_has(to, STREAM_WINDOW))
        return true;
    max += stream_has(to, STREAM_FIN_NOTED | STREAM_FIN_DONE) ? 1 : 0;
    if (stream_is_established(site) && stream_behind(to->window_end, max) > 0)
        max = to->window_end;
    return stream_behind(segment->ack, max) <= 0;
}

static bool is_old_timestamp(const struct stream_half *from, const struct stream_segment *segment)
{
    return stream_has(from, STREAM_TIMESTAMPS) && segment->has_timestamp &&
           stream_behind(segment->timestamp, from->timestamp) < 0;
}

/* The reason for doubt in a segment without RST; SL_N_DOUBTS: none. */
static enum sl_stream_doubt judge(const struct stream_site *site,
                                  const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const bool heard = stream_is_heard(site, segment->half);

    if ((segment->flags & TCP_SYN) != 0)
        return segment->len + segment->snapped != 0 ? SL_DOUBT_SYN : SL_N_DOUBTS;
    if (is_old_timestamp(from, segment))
        return SL_DOUBT_PAWS;
    if (segment->len + segment->snapped != 0 && stream_has(from, STREAM_WINDOW) &&
        stream_behind(begin_of(segment), from->window_end) >= 0)
        return SL_DOUBT_WINDOW;
    if (heard && (segment->flags & TCP_ACK) == 0)
        return SL_DOUBT_NO_ACK;
    if (heard && !is_ack_valid(site, segment))
        return SL_DOUBT_ACK;
    return stream_has(from, STREAM_RST) ? SL_DOUBT_RST : SL_N_DOUBTS;
}

static void report_doubt(const struct stream_site *site, const struct stream_segment *segment,
                         enum sl_stream_doubt doubt)
{
    stream_stats(site)->doubts[doubt]++;
    if (doubt == SL_DOUBT_PAWS)
        stream_report_event(site, segment->half, STREAM_INVALID_TIMESTAMP);
    else if (doubt == SL_DOUBT_WINDOW)
        stream_anomaly_window(site, segment->half);
    else if (doubt == SL_DOUBT_ACK)
        stream_anomaly_ack(site, segment);
}

/* ---- acknowledgement ------------------------------------------------------------------------- */

static void acknowledge(const struct stream_site *site, const struct stream_segment *segment)
{
    const uint32_t other = segment->half ^ 1;
    const struct stream_half *from = stream_half_of(site, segment->half);
    struct stream_half *to = stream_half_of(site, other);
    const uint32_t shift = (segment->flags & TCP_SYN) != 0 ? 0 : from->wscale;
    const uint32_t window_end = segment->ack + ((uint32_t)segment->window << shift);

    if ((segment->flags & TCP_ACK) == 0 || !stream_has(to, STREAM_STARTED))
        return;
    if (stream_behind(segment->ack, to->acked) > 0)
        to->acked = segment->ack;
    if (!stream_has(to, STREAM_WINDOW) || stream_behind(window_end, to->window_end) > 0)
        to->window_end = window_end;
    to->flags |= STREAM_WINDOW;
    stream_queue_settle(site, other);
}

/* ---- payload --------------------------------------------------------------------------------- */

static void note_urgent(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    const uint32_t urgent = segment->seq + segment->urgent - 1;

    if ((segment->flags & (TCP_URG | TCP_SYN)) != TCP_URG || segment->urgent == 0 ||
        site->shard->keeps_urgent || stream_behind(urgent, from->seq) < 0)
        return;
    site->stream->rest[segment->half].urgent = urgent;
    from->flags |= STREAM_URGENT;
}

/* Bytes that the stream has already. */
static void take_old(const struct stream_site *site, const struct stream_segment *segment)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const uint32_t begin = begin_of(segment);
    const uint32_t old = from->seq - begin;
    const uint32_t len = segment->len < old ? segment->len : old;

    if (segment->len <= 1 && old == 1 && (segment->flags & (TCP_SYN | TCP_FIN)) == 0) {
        stream_stats(site)->keep_alives++;
        return;
    }
    if (len == 0)
        return;
    stream_stats(site)->retransmitted += len;
    if (old > from->next && !stream_has(from, STREAM_URGENT_CUT))
        stream_report_event(site, segment->half, STREAM_BEFORE_BASE);
    else
        stream_anomaly_old(site, segment->half,
                           stream_is_heard(site, segment->half) &&
                               stream_behind(from->acked, begin + len) >= 0);
    if (!stream_context_equal(site, segment->half, begin, site->shard->bytes + segment->at, len)) {
        stream_stats(site)->conflicts++;
        stream_report_event(site, segment->half, STREAM_OVERLAP_DIFFERENT);
    }
}

static void take_payload(const struct stream_site *site, const struct stream_segment *segment,
                         enum sl_stream_doubt doubt)
{
    const struct stream_half *from = stream_half_of(site, segment->half);
    const uint32_t begin = begin_of(segment), end = begin + segment->len;
    struct stream_part part = {
        .begin = begin, .end = end, .at = segment->at, .rank = STREAM_SURE, .doubt = doubt};

    if (stream_behind(from->seq, begin) > 0 && (doubt == SL_N_DOUBTS || doubt == SL_DOUBT_SYN))
        take_old(site, segment);
    if (stream_behind(end + segment->snapped, from->seq) <= 0)
        return;
    if (doubt == SL_N_DOUBTS && stream_has(from, STREAM_FIN_DONE)) {
        part.doubt = SL_DOUBT_FIN;
        stream_stats(site)->doubts[SL_DOUBT_FIN]++;
    }
    if (part.doubt == SL_DOUBT_SYN || part.doubt == SL_DOUBT_FIN || part.doubt == SL_DOUBT_RST)
        part.rank = STREAM_DOUBTFUL;
    else if (part.doubt != SL_N_DOUBTS)
        part.rank = STREAM_UNLIKELY;
    if (stream_behind(end, from->seq) > 0)
        stream_queue_take(site, segment->half, part);
    if (segment->snapped != 0 && part.rank == STREAM_SURE)
        stream_queue_take(site, segment->half,
                          (struct stream_part){
                              .begin = end, .end = end + segment->snapped, .rank = STREAM_MISSING});
    stream_queue_settle(site, segment->half);
}

/* ---- FIN and RST ----------------------------------------------------------------------------- */

static void take_fin(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    const uint32_t fin = begin_of(segment) + segment->len + segment->snapped;

    if (stream_behind(fin, from->seq) < 0 ||
        (stream_has(from, STREAM_WINDOW) && stream_behind(fin, from->window_end) > 0)) {
        stream_anomaly_fin(site, segment->half);
        return;
    }
    if (stream_has(from, STREAM_FIN_DONE))
        return;
    site->stream->rest[segment->half].fin = fin;
    from->flags |= STREAM_FIN_NOTED;
}

/* A FIN that was noted counts once all before it came. Bytes that pass it win. */
static void settle_fin(const struct stream_site *site, uint32_t half)
{
    struct stream_half *h = stream_half_of(site, half);
    const int32_t passed = stream_behind(h->seq, site->stream->rest[half].fin);

    if (passed < 0)
        return;
    h->flags &= (uint16_t)~STREAM_FIN_NOTED;
    if (passed == 0)
        end_half(site, half);
}

static void take_rst(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    struct stream_half *to = stream_half_of(site, segment->half ^ 1);
    bool valid;

    if (stream_has(from, STREAM_STARTED)) {
        const bool after_fin = stream_has(from, STREAM_FIN_DONE) && segment->seq == from->seq + 1;
        const bool at_edge = stream_is_heard(site, segment->half) && segment->seq == from->acked;

        valid = segment->seq == from->seq || after_fin || at_edge;
    } else {
        valid =
            stream_has(to, STREAM_STARTED) && (segment->flags & TCP_ACK) != 0 &&
            (segment->ack == to->seq || segment->ack == stream_queue_end(site, segment->half ^ 1));
    }
    if (valid) {
        if ((segment->flags & TCP_ACK) != 0 && !is_ack_valid(site, segment))
            stream_report_event(site, segment->half, STREAM_RST_INVALID_ACK);
        from->flags |= STREAM_RST;
        to->flags |= STREAM_RST;
    } else if (!stream_has(from, STREAM_RST)) {
        stream_report_event(site, segment->half,
                            stream_has(from, STREAM_STARTED) ? STREAM_RST_OUT_OF_SEQUENCE
                                                             : STREAM_RST_NO_SESSION);
    }
}

/* ---- all together ---------------------------------------------------------------------------- */

static void take_counted(const struct stream_site *site, const struct stream_segment *segment)
{
    struct stream_half *from = stream_half_of(site, segment->half);
    const enum sl_stream_doubt doubt = judge(site, segment);
    const bool counts = doubt == SL_N_DOUBTS || doubt == SL_DOUBT_SYN;

    if (doubt != SL_N_DOUBTS)
        report_doubt(site, segment, doubt);
    if (doubt == SL_N_DOUBTS && (segment->flags & TCP_SYN) == 0)
        from->flags |= STREAM_ESTABLISHED;
    if (counts || doubt == SL_DOUBT_RST)
        acknowledge(site, segment);
    if (counts && stream_has(from, STREAM_TIMESTAMPS) && segment->has_timestamp &&
        stream_behind(begin_of(segment), from->seq) <= 0 &&
        stream_behind(segment->timestamp, from->timestamp) > 0)
        from->timestamp = segment->timestamp;
    if (counts)
        note_urgent(site, segment);
    if (segment->len + segment->snapped != 0 || stream_has(from, STREAM_QUEUED) ||
        stream_behind(from->seq, segment->seq) == 1)
        take_payload(site, segment, doubt);
    if (counts && (segment->flags & TCP_FIN) != 0)
        take_fin(site, segment);
}

/* Both halves before a segment. */
struct before {
    uint64_t next[2], edge[2];
};

/* Where nothing waits for edges, they are not found. */
static struct before before_segment(const struct stream_site *site)
{
    const bool edges = !site->shard->omits_edges;

    return (struct before){
        .next = {site->stream->half[0].next, site->stream->half[1].next},
        .edge = {edges ? edge_of(site, 0) : 0, edges ? edge_of(site, 1) : 0},
    };
}

/* What is taken as acknowledged, and the edge to report. */
static void settle_edge(const struct stream_site *site, uint32_t half, uint64_t before)
{
    struct stream_half *h = stream_half_of(site, half);

    if (!stream_is_heard(site, half)) {
        h->acked = h->seq;
    } else if (stream_behind(h->seq, h->acked) > (int32_t)site->shard->unacked_len) {
        h->acked = h->seq - site->shard->unacked_len;
        stream_stats(site)->unacknowledged++;
    }
    if (site->shard->omits_edges)
        return;
    const uint64_t edge = edge_of(site, half);

    if (edge > before)
        report_edge(site, half, edge);
}

/* The bytes to hold and the edge to report of each half behind a segment. */
static void finish(const struct stream_site *site, const struct before *before)
{
    for (uint32_t half = 0; half < 2; half++)
        if (stream_has(&site->stream->half[half], STREAM_FIN_NOTED))
            settle_fin(site, half);
    hold_contexts(site, before->next);
    settle_edge(site, 0, before->edge[0]);
    settle_edge(site, 1, before->edge[1]);
}

/* Apart, so that the plain case saves no registers for it. */
__attribute__((noinline)) static void take_any(const struct stream_site *site,
                                               const struct stream_segment *segment)
{
    if (segment->bad_checksum || segment->ttl < site->shard->min_ttl) {
        stream_stats(site)->doubts[segment->bad_checksum ? SL_DOUBT_CHECKSUM : SL_DOUBT_TTL]++;
        return;
    }
    if (is_plain_syn(site->shard, stream_half_of(site, segment->half),
                     stream_half_of(site, segment->half ^ 1), segment)) {
        take_plain_syn(site, segment);
        return;
    }
    const struct before before = before_segment(site);

    if (stream_is_early(site, segment))
        stream_stats(site)->doubts[SL_DOUBT_EARLY]++;
    else if ((segment->flags & TCP_RST) != 0)
        take_rst(site, segment);
    else if (stream_handshake(site, segment))
        take_counted(site, segment);
    finish(site, &before);
}

void stream_take(struct stream_shard *shard, struct stream *stream, uint64_t flow,
                 const struct stream_segment *segment)
{
    const struct stream_site site = {.shard = shard,
                                     .stream = stream,
                                     .flow = flow,
                                     .item = segment->item,
                                     .sender = (uint8_t)(1 + segment->half)};

    stream_stats(&site)->segments++;
    if (is_plain(shard, &stream->half[segment->half], &stream->half[segment->half ^ 1], segment))
        take_plain(&site, segment);
    else
        take_any(&site, segment);
}

/* Bytes that the flow lacks at its end: those before a FIN, or those that were acknowledged. One
 * that was acknowledged may be a FIN that the capture lacks. */
static void miss_tail(const struct stream_site *site, uint32_t half)
{
    const struct stream_half *h = stream_half_of(site, half);
    const bool has_fin = stream_has(h, STREAM_FIN_NOTED);
    const uint32_t end = has_fin ? site->stream->rest[half].fin : h->acked;
    const int32_t n = stream_behind(end, h->seq);
    const bool acked = stream_is_heard(site, half) && stream_behind(h->acked, end) >= 0;

    if (stream_has(h, STREAM_STARTED) && n > (has_fin ? 0 : 1))
        stream_report_gap(site, half, (uint32_t)n, acked ? SL_GAP_LOST : SL_GAP_END);
}

void stream_end(struct stream_shard *shard, struct stream *stream, uint64_t flow, uint32_t item)
{
    const struct stream_site site = {
        .shard = shard, .stream = stream, .flow = flow, .item = item, .is_end = true};

    for (uint32_t half = 0; half < 2; half++) {
        stream_queue_finish(&site, half);
        miss_tail(&site, half);
        stream_context_free(shard, stream, half);
    }
    for (uint32_t half = 0; half < 2; half++) {
        struct stream_record *record;

        if (!stream_has(&stream->half[half], STREAM_STARTED))
            continue;
        record = stream_record_add(shard, STREAM_END);
        record->flow = flow;
        record->stream = stream;
        record->offset = stream->half[half].next;
        record->item = record->source = item;
        record->half = (uint8_t)half;
    }
    memset(stream, 0, sizeof *stream);
}

bool stream_is_over(const struct stream *stream, uint32_t half)
{
    const struct stream_half *h = &stream->half[half];

    return stream_has(h, STREAM_FIN_DONE) ||
           (stream_has(h, STREAM_RST) && stream->rest[half].queue == 0);
}
