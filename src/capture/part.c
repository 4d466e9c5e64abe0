/* SPDX-License-Identifier: MIT */
/* Plain pcap files in parts.
 *
 * A part's bytes are read into the batch's arena as they are. Its packets are then moved in place
 * to where items begin. The items before end at or before their records did: a record's header is
 * at least as long as the padding of an item. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/least.h"
#include "capture/source.h"

enum {
    READ_LEN = 256 << 10, /* bytes: a piece of a part that stays in a core's cache */
    TAIL_LEN = 24 + SL_CAPTURE_PACKET_MAX, /* bytes: the longest record */
    CHAIN = 4                              /* plausible records in a row that make a guess */
};

#define DAY_NS (86400 * INT64_C(1000000000)) /* that neighbours lie apart at most */

_Static_assert((int)SL_BATCH_ALIGN <= 16, "packets move down, never up");

/* A part on its way into a batch. */
struct load {
    struct sl_capture_part *part;
    struct sl_batch *batch;
    uint64_t base; /* the file's offset of the arena's first byte */
    uint64_t have; /* behind the bytes of the file that were read */
    uint64_t file_len;
    uint64_t now; /* when the load began */
};

static struct load load_of(struct sl_capture_part *part, struct sl_batch *batch, uint64_t base)
{
    return (struct load){part, batch, base, base, part->capture->input.map_len, clock_ns()};
}

static const uint8_t *raw(const struct load *load, uint64_t offset)
{
    return load->batch->bytes + (offset - load->base);
}

/* In pieces up to the part's end. Behind it, what its last record needs alone. */
static bool read_on(struct load *load, uint64_t offset)
{
    if (offset > load->file_len || offset - load->base > load->batch->bytes_cap)
        return false;
    while (load->have < offset) {
        const uint64_t room = load->batch->bytes_cap - (load->have - load->base);
        const uint64_t piece = least(load->have + READ_LEN, load->part->to);
        const uint64_t to = least(piece > offset ? piece : offset, load->file_len);
        const ssize_t got =
            pread(load->part->capture->input.fd, load->batch->bytes + (load->have - load->base),
                  least(to - load->have, room), (off_t)load->have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            load->file_len = load->have;
            return false;
        }
        load->have += (uint64_t)got;
    }
    return true;
}

/* Reads the file's bytes before `offset` into the arena. False: the file has no more, they cannot
 * be read, or the arena ends before. A file that was cut ends there for the whole load: a guess
 * asks for each place of its part. */
static bool reach(struct load *load, uint64_t offset)
{
    return offset <= load->have || read_on(load, offset);
}

/* ---- the guess ------------------------------------------------------------------------------- */

/* Whether a record of an ordinary file may have this header. A join corrects a wrong answer. */
static bool is_plausible(const struct pcap_file *pcap, const uint8_t *at, struct record *record)
{
    pcap_parse_record(pcap, at, record);
    return record->len != 0 && record->len <= record->wire_len &&
           record->wire_len <= SL_CAPTURE_PACKET_MAX &&
           get32(at + 4, pcap->swapped) < 1000000000u / pcap->ns_per_fraction;
}

static bool chain_begins(struct load *load, uint64_t offset)
{
    const struct pcap_file *pcap = &load->part->capture->pcap;
    struct record record;
    int64_t before_ns = 0;

    for (int i = 0; i < CHAIN && offset != load->file_len; i++) {
        if (!reach(load, offset + pcap->header_len) ||
            !is_plausible(pcap, raw(load, offset), &record) ||
            (i > 0 && llabs(record.time_ns - before_ns) > DAY_NS))
            return false;
        before_ns = record.time_ns;
        offset += pcap->header_len + record.len;
    }
    return true;
}

/* The first place of the part where records seem to begin; part->to: none. */
static uint64_t guess(struct load *load)
{
    for (uint64_t offset = load->part->from; offset < load->part->to; offset++)
        if (chain_begins(load, offset))
            return offset;
    return load->part->to;
}

/* ---- records --------------------------------------------------------------------------------- */

/* The record at part->end as an item. False: it is not whole, or not one. */
static bool load_record(struct load *load)
{
    const struct sl_capture *capture = load->part->capture;
    const uint32_t header_len = capture->pcap.header_len;
    const uint64_t offset = load->part->end;
    struct sl_batch *batch = load->batch;
    struct record record;

    if (!reach(load, offset + header_len))
        return false;
    pcap_parse_record(&capture->pcap, raw(load, offset), &record);
    if (record.len > SL_CAPTURE_PACKET_MAX || !reach(load, offset + header_len + record.len) ||
        !sl_batch_fits(batch, record.len))
        return false;
    memmove(batch->bytes + batch->bytes_len, raw(load, offset + header_len), record.len);
    record.arrival_ns = load->now;

    const uint32_t item = sl_batch_append(batch, record.len, 0);
    capture_describe(capture, batch, item, &record, item + 1);
    load->part->bytes += record.len;
    load->part->end += header_len + record.len;
    return true;
}

/* The records from part->begin on. */
static void load_records(struct load *load)
{
    load->part->end = load->part->begin;
    load->part->bytes = 0;
    sl_batch_reset(load->batch);
    while (load->part->end < load->part->to && load_record(load))
        ;
}

void sl_capture_load(struct sl_capture_part *part, struct sl_batch *batch)
{
    struct load load = load_of(part, batch, part->from);

    part->begin = part->from == part->capture->first_record ? part->from : guess(&load);
    load_records(&load);
}

/* ---- order ----------------------------------------------------------------------------------- */

enum sl_status sl_capture_claim(struct sl_capture *capture, const struct sl_batch *batch,
                                struct sl_capture_part *part)
{
    const struct input *input = &capture->input;
    const uint64_t room = batch->bytes_cap > TAIL_LEN ? batch->bytes_cap - TAIL_LEN : 0;

    if (capture->claimed == 0) {
        if (!pcap_is(capture) || capture->filter != NULL || input->form != INPUT_MAPPED ||
            room < TAIL_LEN || batch->max_items < room / SL_BATCH_ALIGN + 1 ||
            batch->n_items != 0 || input->map_len - input_offset(input) < 2 * room)
            return SL_EUNSUPPORTED;
        capture->first_record = capture->joined = capture->claimed = input_offset(input);
    }
    if (capture->claimed == input->map_len || atomic_load(&capture->ended) != SL_OK ||
        atomic_load(&capture->stopped))
        return SL_END;

    const uint64_t rest = input->map_len - capture->claimed;
    const uint64_t len = rest < room ? rest : room;
    *part = (struct sl_capture_part){.capture = capture,
                                     .from = capture->claimed,
                                     .to = capture->claimed + len,
                                     .last = len == rest};
    capture->claimed = part->to;
    return SL_OK;
}

enum sl_status sl_capture_join(struct sl_capture_part *part, struct sl_batch *batch, bool *changed,
                               struct sl_diag *diag)
{
    struct sl_capture *capture = part->capture;

    *changed = part->begin != capture->joined || atomic_load(&capture->ended) != SL_OK;
    part->before = capture->n_packets;
    if (*changed) {
        sl_batch_reset(batch);
        part->bytes = 0;
    }
    if (atomic_load(&capture->ended) != SL_OK)
        return SL_OK;
    if (*changed && capture->joined < part->to) {
        struct load load = load_of(part, batch, capture->joined);

        part->begin = capture->joined;
        load_records(&load);
    } else if (*changed) {
        part->end = capture->joined; /* one record covers all of the part */
    }
    capture->n_packets += batch->n_items;
    capture->n_bytes += part->bytes;
    capture->joined = part->end;
    if (part->end >= part->to && !part->last)
        return SL_OK;

    /* The end, or bytes that are no record: the reader in order has the status. */
    struct sl_batch none = {.max_items = 0};
    input_skip(&capture->input, part->end - input_offset(&capture->input));
    const enum sl_status status = sl_capture_read(capture, &none, diag);
    if (status != SL_EINVAL)
        return status;
    atomic_store(&capture->ended, SL_EIO); /* it can be read now, and could not before */
    return diag_set(diag, SL_EIO, capture->name, 0, "could not be read at byte %s",
                    grouped(part->end).text);
}

void sl_capture_number(const struct sl_capture_part *part, struct sl_batch *batch)
{
    for (uint32_t item = 0; batch->origin != NULL && item < batch->n_items; item++)
        batch->origin[item].position += part->before;
}
