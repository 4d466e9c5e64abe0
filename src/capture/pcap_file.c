/* SPDX-License-Identifier: MIT */
/* The pcap file format: draft-ietf-opsawg-pcap, and what older tools wrote. */
#include <string.h>

#include "base/diag.h"
#include "capture/source.h"

enum {
    FILE_HEADER_LEN = 24,
    RECORD_HEADER_LEN = 16,
    MODIFIED_HEADER_LEN = 24 /* interface, protocol and packet type follow the two lengths */
};

#define MAGIC_MICROSECONDS 0xA1B2C3D4u
#define MAGIC_NANOSECONDS 0xA1B23C4Du
#define MAGIC_MODIFIED 0xA1B2CD34u /* Kuznetzov's patched libpcap */

void pcap_parse_record(const struct pcap_file *pcap, const uint8_t *at, struct record *record)
{
    const uint32_t seconds = get32(at, pcap->swapped);
    /* Tools that shift times write negative fractions; the seconds end in 2106. */
    const int32_t fraction = (int32_t)get32(at + 4, pcap->swapped);

    record->len = get32(at + 8, pcap->swapped);
    record->wire_len = get32(at + 12, pcap->swapped);
    if (pcap->lengths_swapped && record->wire_len < record->len) {
        const uint32_t wire_len = record->len;

        record->len = record->wire_len;
        record->wire_len = wire_len;
    }
    /* At most 4.3e18 + 2.2e12: below INT64_MAX. */
    record->time_ns = (int64_t)seconds * 1000000000 + (int64_t)fraction * pcap->ns_per_fraction;
    record->link_type = pcap->link_type;
}

static enum sl_status pcap_read(struct sl_capture *capture, struct sl_batch *batch,
                                struct sl_diag *diag)
{
    const struct pcap_file *const pcap = &capture->pcap;
    struct input *const input = &capture->input;
    struct record record;

    input_begin_read(input);
    for (;;) {
        enum input_state state = input_need(input, pcap->header_len, diag);
        if (state == INPUT_READY) {
            pcap_parse_record(pcap, input->at, &record);
            if (record.len > SL_CAPTURE_PACKET_MAX)
                return input_bad(input, "the packet record", input_offset(input), diag,
                                 "claims %s captured bytes (expected at most %s)",
                                 grouped(record.len).text, grouped(SL_CAPTURE_PACKET_MAX).text);
            state = input_need(input, pcap->header_len + record.len, diag);
        }
        if (state != INPUT_READY)
            return input_short(input, state, "packet record", input_offset(input), diag);
        record.bytes = input->at + pcap->header_len;
        record.arrival_ns = input->read_ns;
        if (!capture_add(capture, batch, &record))
            return capture_full(capture, batch, record.len, diag);
        input->at = record.bytes + record.len;
    }
}

static const struct capture_kind pcap_kind = {.read = pcap_read};

bool pcap_is(const struct sl_capture *capture)
{
    return capture->kind == &pcap_kind;
}

enum sl_status pcap_file_open(struct sl_capture *capture, struct sl_diag *diag)
{
    struct pcap_file *const pcap = &capture->pcap;
    struct input *const input = &capture->input;
    const enum input_state state = input_need(input, FILE_HEADER_LEN, diag);

    if (state != INPUT_READY)
        return input_short(input, state, "pcap file header", 0, diag);

    const uint32_t magic = get32(input->at, false);
    pcap->swapped =
        magic != MAGIC_MICROSECONDS && magic != MAGIC_NANOSECONDS && magic != MAGIC_MODIFIED;
    pcap->ns_per_fraction = get32(input->at, pcap->swapped) == MAGIC_NANOSECONDS ? 1 : 1000;
    pcap->header_len =
        get32(input->at, pcap->swapped) == MAGIC_MODIFIED ? MODIFIED_HEADER_LEN : RECORD_HEADER_LEN;
    const uint16_t major = get16(input->at + 4, pcap->swapped);
    const uint16_t minor = get16(input->at + 6, pcap->swapped);
    if (major != 2 && major != 543)
        return input_bad(input, "the file header", 0, diag, "has version %u.%u (expected 2.x)",
                         major, minor);
    /* Before 2.4 some wrote the lengths in the other order; no packet has more captured than sent.
     */
    pcap->lengths_swapped = major == 543 || minor < 4;
    /* The upper bits describe a frame check sequence. */
    pcap->link_type = link_type_of_file((uint16_t)get32(input->at + 20, pcap->swapped));
    input->at += FILE_HEADER_LEN;
    capture->kind = &pcap_kind;
    return SL_OK;
}
