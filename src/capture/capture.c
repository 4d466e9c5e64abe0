/* SPDX-License-Identifier: MIT */
#include "sluice/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hex.h"
#include "capture/source.h"

enum file_form { FILE_FOREIGN, FILE_CUT, FILE_PCAP, FILE_PCAPNG, FILE_GZIP, FILE_XZ, FILE_ZSTD };

static const struct magic {
    uint8_t mask; /* of the first byte */
    uint8_t len;
    uint8_t bytes[4];
    enum file_form form;
} magics[] = {
    {0xFF, 4, {0xA1, 0xB2, 0xC3, 0xD4}, FILE_PCAP},
    {0xFF, 4, {0xD4, 0xC3, 0xB2, 0xA1}, FILE_PCAP},
    {0xFF, 4, {0xA1, 0xB2, 0x3C, 0x4D}, FILE_PCAP},
    {0xFF, 4, {0x4D, 0x3C, 0xB2, 0xA1}, FILE_PCAP},
    {0xFF, 4, {0xA1, 0xB2, 0xCD, 0x34}, FILE_PCAP},
    {0xFF, 4, {0x34, 0xCD, 0xB2, 0xA1}, FILE_PCAP},
    {0xFF, 4, {0x0A, 0x0D, 0x0D, 0x0A}, FILE_PCAPNG},
    {0xFF, 3, {0x1F, 0x8B, 0x08}, FILE_GZIP},
    {0xFF, 4, {0xFD, 0x37, 0x7A, 0x58}, FILE_XZ},
    {0xFF, 4, {0x28, 0xB5, 0x2F, 0xFD}, FILE_ZSTD},
    {0xF0, 4, {0x50, 0x2A, 0x4D, 0x18}, FILE_ZSTD},
};

#define PACKING "plain or compressed with gzip, xz or zstd"
#define EXPECTED "expected a pcap or pcapng capture, " PACKING

static bool magic_begins(const struct magic *magic, const uint8_t *at, size_t len)
{
    if ((at[0] & magic->mask) != magic->bytes[0])
        return false;
    return memcmp(at + 1, magic->bytes + 1, len - 1) == 0;
}

/* Returns the form of a file by its first bytes (1 to 4). */
static enum file_form file_form(const uint8_t *at, size_t have)
{
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (have >= magics[i].len && magic_begins(&magics[i], at, magics[i].len))
            return magics[i].form;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (have < magics[i].len && magic_begins(&magics[i], at, have))
            return FILE_CUT;
    return FILE_FOREIGN;
}

static enum sl_status file_foreign(const struct input *input, size_t have, struct sl_diag *diag)
{
    char hex[2 * 4 + 1] = "";

    hex_write(hex, input->at, have < 4 ? have : 4);
    return diag_set(diag, SL_EFORMAT, input->label, 0,
                    "not a pcap or pcapng capture (begins with 0x%s%s; expected one, %s)", hex,
                    input->raw != NULL ? " once decompressed" : "", PACKING);
}

/* Sets the kind by the file's header. The kind stays where the header is not written yet. */
static enum sl_status file_begin(struct sl_capture *capture, struct sl_diag *diag)
{
    struct input *const input = &capture->input;
    const enum input_state state = input_need(input, 4, diag);
    const size_t have = input_have(input);

    if (state != INPUT_READY && state != INPUT_ENDED)
        return input_short(input, state, "file header", 0, diag);
    if (have == 0)
        return diag_set(diag, SL_EFORMAT, input->label, 0, "empty file (%s)", EXPECTED);

    const enum file_form form = file_form(input->at, have);
    switch (form) {
    case FILE_PCAP:
        return pcap_file_open(capture, diag);
    case FILE_PCAPNG:
        return pcapng_file_open(capture, diag);
    case FILE_CUT:
        return diag_set(diag, SL_ETRUNCATED, input->label, 0, "ends after %zu bytes (%s)", have,
                        EXPECTED);
    case FILE_GZIP:
    case FILE_XZ:
    case FILE_ZSTD:
        if (input->raw == NULL) {
            const enum sl_status status = input_decompress(input,
                                                           form == FILE_GZIP ? INPUT_GZIP
                                                           : form == FILE_XZ ? INPUT_XZ
                                                                             : INPUT_ZSTD,
                                                           diag);
            return status == SL_OK ? file_begin(capture, diag) : status;
        }
        break; /* compressed twice */
    case FILE_FOREIGN:
        break;
    }
    return file_foreign(input, have, diag);
}

/* The read of a capture whose header is not read yet. */
static enum sl_status file_read(struct sl_capture *capture, struct sl_batch *batch,
                                struct sl_diag *diag)
{
    input_begin_read(&capture->input);
    const enum sl_status status = file_begin(capture, diag);
    return status == SL_OK && capture->kind->read != file_read
               ? capture->kind->read(capture, batch, diag)
               : status;
}

static const struct capture_kind file_kind = {.read = file_read};

static struct sl_capture *capture_create(const char *name, uint16_t source)
{
    struct sl_capture *const capture = (struct sl_capture *)calloc(1, sizeof *capture);

    if (capture == NULL)
        return NULL;
    capture->input.fd = -1;
    capture->source = source;
    atomic_init(&capture->stopped, false);
    capture->name = strdup(name);
    if (capture->name != NULL)
        return capture;
    free(capture);
    return NULL;
}

enum sl_status sl_capture_open_file(struct sl_capture **capture, const char *path, uint16_t source,
                                    struct sl_diag *diag)
{
    struct sl_capture *const opened = capture_create(path, source);

    if (opened == NULL)
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to read it");

    const char *const label = strcmp(path, "-") == 0 ? "standard input" : opened->name;
    enum sl_status status =
        input_open(&opened->input, path, label, &opened->stopped, &opened->close_ns, diag);
    opened->kind = &file_kind;
    if (status == SL_OK && !opened->input.waits)
        status = file_begin(opened, diag);
    if (status == SL_OK)
        *capture = opened;
    else
        sl_capture_close(opened);
    return status;
}

enum sl_status sl_capture_open_live(struct sl_capture **capture, const char *interface,
                                    const char *filter, uint16_t source, struct sl_diag *diag)
{
    struct sl_capture *const opened = capture_create(interface, source);

    if (opened == NULL)
        return diag_set(diag, SL_ENOMEM, interface, 0, "no memory to capture");

    const enum sl_status status = live_open(opened, filter, diag);
    if (status == SL_OK)
        *capture = opened;
    else
        sl_capture_close(opened);
    return status;
}

enum sl_status sl_capture_limit_latency(struct sl_capture *capture, uint64_t max_latency_ns,
                                        struct sl_diag *diag)
{
    capture->max_latency_ns = max_latency_ns;
    return live_is(capture) ? live_reopen(capture, diag) : SL_OK;
}

enum sl_status sl_capture_filter(struct sl_capture *capture, const char *text, struct sl_diag *diag)
{
    struct capture_filter *const filter = capture_filter_create(capture, text);

    if (filter == NULL)
        return diag_set(diag, SL_ENOMEM, capture->name, 0, "no memory for a filter");
    capture_filter_free(capture->filter);
    capture->filter = filter;
    return pcap_is(capture) ? capture_filter_add(filter, capture->pcap.link_type, diag) : SL_OK;
}

enum sl_status sl_capture_begin(struct sl_capture *capture, bool *begun, struct sl_diag *diag)
{
    enum sl_status status = capture->ended;

    if (status == SL_OK && capture->kind == &file_kind) {
        input_begin_read(&capture->input);
        status = file_begin(capture, &capture->why);
        capture->ended = status;
    }
    *begun = status == SL_OK && capture->kind != &file_kind;
    if (status != SL_OK && status != SL_END && diag != NULL)
        *diag = capture->why;
    return status;
}

enum sl_status sl_capture_read(struct sl_capture *capture, struct sl_batch *batch,
                               struct sl_diag *diag)
{
    enum sl_status status = capture->ended;

    capture->close_ns = 0;
    if (capture->max_latency_ns != 0 && batch->n_items != 0 && batch->origin != NULL)
        capture->close_ns = batch->origin[0].arrival_ns + capture->max_latency_ns;
    if (status == SL_OK) {
        status = capture->kind->read(capture, batch, &capture->why);
        if (capture->filter != NULL && capture->filter->status != SL_OK) {
            status = SL_EUNSUPPORTED;
            capture->why = capture->filter->why;
        }
        if (status != SL_OK && status != SL_EINVAL)
            capture->ended = status;
    }
    if (status != SL_OK && status != SL_END && diag != NULL)
        *diag = capture->why;
    return status;
}

void sl_capture_stop(struct sl_capture *capture)
{
    atomic_store(&capture->stopped, true);
}

void sl_capture_stats(struct sl_capture *capture, struct sl_capture_stats *stats)
{
    const struct capture_kind *const kind = capture->kind;

    *stats = (struct sl_capture_stats){
        .packets = capture->n_packets,
        .bytes = capture->n_bytes,
        .file_bytes = input_offset(&capture->input),
        .skipped_blocks = capture->n_skipped_blocks,
    };
    if (kind->kernel != NULL)
        kind->kernel(capture, stats);
}

const char *sl_capture_name(const struct sl_capture *capture)
{
    return capture->name;
}

void sl_capture_close(struct sl_capture *capture)
{
    if (capture == NULL)
        return;
    if (capture->kind != NULL && capture->kind->close != NULL)
        capture->kind->close(capture);
    input_close(&capture->input);
    capture_filter_free(capture->filter);
    free(capture->name);
    free(capture);
}
