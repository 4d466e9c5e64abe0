/* SPDX-License-Identifier: MIT */
/* Bytes that came in sequence, and what is missing. */
#include "stream_half.h"

/* The bytes before the half's first ones of this batch. */
static void add_context(const struct stream_site *site, uint32_t half)
{
    const struct stream *stream = site->stream;
    const uint32_t solid = stream_solid(stream, half);
    const uint32_t max = site->shard->overlap_len;
    const uint32_t len = solid < max ? solid : max;

    if (len == 0)
        return;
    struct stream_record *record = stream_record_at(site, half, STREAM_CONTEXT, len);

    record->offset -= len;
    if (stream_context_show(site->shard, stream, half, record))
        stream_half_of(site, half)->last = stream_newest(site->shard->output);
}

/* Whether the newest record is of the bytes right before these, in copied as well. */
static bool extends(const struct stream_site *site, const struct stream_half *half,
                    enum stream_record_kind kind, uint32_t at)
{
    const struct stream_record *record;

    if (kind != STREAM_COPIED || half->last == 0 ||
        half->last != stream_newest(site->shard->output))
        return false;
    record = &site->shard->output->record[half->last];
    return record->kind == STREAM_COPIED && record->item == site->item &&
           record->at + record->len == at;
}

static void add_bytes(const struct stream_site *site, uint32_t half, enum stream_record_kind kind,
                      uint32_t at, uint32_t len)
{
    struct stream_half *h = stream_half_of(site, half);

    if (h->last == 0)
        add_context(site, half);
    if (extends(site, h, kind, at)) {
        site->shard->output->record[h->last].len += len;
        stream_count_bytes(site, h, len);
    } else {
        (void)stream_report_next(site, half, kind, at, len);
    }
}

/* Takes out the urgent byte, which is next. */
static void cut_urgent(const struct stream_site *site, uint32_t half)
{
    struct stream_half *h = stream_half_of(site, half);

    h->seq++;
    h->flags = (uint16_t)((h->flags & ~STREAM_URGENT) | STREAM_URGENT_CUT);
    site->stream->rest[half].compared = h->seq;
    stream_stats(site)->urgent++;
}

void stream_report(const struct stream_site *site, uint32_t half, enum stream_record_kind kind,
                   uint32_t at, uint32_t len)
{
    struct stream_half *h = stream_half_of(site, half);
    const int32_t urgent =
        stream_has(h, STREAM_URGENT) ? stream_behind(site->stream->rest[half].urgent, h->seq) : -1;

    if (urgent < 0)
        h->flags &= (uint16_t)~STREAM_URGENT;
    if (urgent >= 0 && (uint32_t)urgent < len) {
        if (urgent != 0)
            add_bytes(site, half, kind, at, (uint32_t)urgent);
        cut_urgent(site, half);
        at += (uint32_t)urgent + 1;
        len -= (uint32_t)urgent + 1;
    }
    if (len != 0)
        add_bytes(site, half, kind, at, len);
}

void stream_report_gap(const struct stream_site *site, uint32_t half, uint32_t len,
                       enum sl_stream_gap cause)
{
    struct stream_half *h = stream_half_of(site, half);

    stream_record_at(site, half, STREAM_GAP, len)->cause = (uint8_t)cause;
    stream_stats(site)->gaps[cause]++;
    stream_stats(site)->gap_bytes[cause] += len;
    h->next += len;
    h->seq += len;
    h->last = 0;
    site->stream->rest[half].solid = (uint32_t)h->next;
    if (!site->is_end)
        stream_report_event(site, half, STREAM_SEQ_GAP);
}

void stream_report_event(const struct stream_site *site, uint32_t half, enum stream_event event)
{
    stream_record_at(site, half, STREAM_EVENT, 0)->cause = (uint8_t)event;
}
