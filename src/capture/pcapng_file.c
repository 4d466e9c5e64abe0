/* SPDX-License-Identifier: MIT */
/* The pcapng file format: draft-ietf-opsawg-pcapng. Sections of blocks, each block with its type,
 * its length, a body and its length again. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "capture/source.h"

enum {
    FRAME_LEN = 12, /* of a block: type, length, trailing length */
    SECTION_LEN = FRAME_LEN + 16,
    MAX_INTERFACES = 65536
};

#define BYTE_ORDER_MAGIC 0x1A2B3C4Du
#define SECTION_TYPE 0x0A0D0D0Au /* the same in both byte orders */

enum block_type {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2, /* obsolete */
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_NAME_RESOLUTION = 4,
    BLOCK_INTERFACE_STATISTICS = 5,
    BLOCK_ENHANCED_PACKET = 6,
    BLOCK_DECRYPTION_SECRETS = 10
};

enum { OPTION_END = 0, OPTION_TSRESOL = 9, OPTION_TSOFFSET = 14 };

/* The block at input->at. Those that are read are at hand as a whole; of the others only what
 * stands before the body. */
struct block {
    uint64_t offset;
    uint32_t type;
    uint32_t len;
    uint32_t body_len;
    const uint8_t *body;
};

static int64_t interface_time_ns(const struct pcapng_interface *interface, uint64_t units)
{
    unsigned __int128 ns = (unsigned __int128)units * interface->ns_multiplier >> interface->shift;

    if (interface->ns_divisor != 1)
        ns /= interface->ns_divisor;

    const __int128 since = (__int128)ns + (__int128)interface->offset_s * 1000000000;
    return since >= INT64_MIN && since <= INT64_MAX ? (int64_t)since : 0;
}

/* if_tsresol: a power of ten or, with the top bit set, of two, that divides the second. */
static void set_resolution(struct pcapng_interface *interface, uint8_t resolution)
{
    const unsigned power = resolution & 0x7F;

    interface->ns_multiplier = 1;
    interface->ns_divisor = 1;
    interface->shift = 0;
    if ((resolution & 0x80) != 0) {
        interface->ns_multiplier = 1000000000;
        interface->shift = (uint8_t)power;
        return;
    }
    for (unsigned i = power; i < 9; i++)
        interface->ns_multiplier *= 10;
    if (power > 9 + 19) /* 2^64 such units are less than a nanosecond */
        interface->ns_multiplier = 0;
    else
        for (unsigned i = 9; i < power; i++)
            interface->ns_divisor *= 10;
}

static enum sl_status parse_options(struct sl_capture *capture, struct pcapng_interface *interface,
                                    const struct block *block, struct sl_diag *diag)
{
    const bool swapped = capture->pcapng.swapped;
    uint32_t left = block->body_len - 8;
    const uint8_t *at = block->body + 8;

    while (left >= 4) {
        const uint16_t code = get16(at, swapped);
        const uint16_t len = get16(at + 2, swapped);

        if (code == OPTION_END)
            break;
        if (len > left - 4)
            return input_bad(&capture->input, "the interface block", block->offset, diag,
                             "has option %u of %u bytes (expected at most the %u that are left)",
                             code, len, left - 4);
        if ((code == OPTION_TSRESOL && len != 1) || (code == OPTION_TSOFFSET && len != 8))
            return input_bad(&capture->input, "the interface block", block->offset, diag,
                             "has option %u of %u bytes (expected %d)", code, len,
                             code == OPTION_TSRESOL ? 1 : 8);
        if (code == OPTION_TSRESOL)
            set_resolution(interface, at[4]);
        else if (code == OPTION_TSOFFSET)
            interface->offset_s = (int64_t)get64(at + 4, swapped);

        /* Blocks are multiples of 4, so that the padding lies inside too. */
        const uint32_t padded = 4 + ((len + 3u) & ~3u);
        at += padded;
        left -= padded;
    }
    return SL_OK;
}

static enum sl_status begin_section(struct sl_capture *capture, const struct block *block,
                                    struct sl_diag *diag)
{
    if (block->len < SECTION_LEN)
        return input_bad(&capture->input, "the section header", block->offset, diag,
                         "has %u bytes (expected at least %d)", block->len, SECTION_LEN);

    const uint16_t major = get16(block->body + 4, capture->pcapng.swapped);
    const uint16_t minor = get16(block->body + 6, capture->pcapng.swapped);
    if (major != 1)
        return input_bad(&capture->input, "the section header", block->offset, diag,
                         "has version %u.%u (expected 1.x)", major, minor);
    /* The section's length, where the file has it, repeats the lengths of the blocks. */
    capture->pcapng.n_interfaces = 0;
    return SL_OK;
}

static bool grow_interfaces(struct pcapng_file *pcapng)
{
    const uint32_t max = pcapng->max_interfaces == 0 ? 8 : 2 * pcapng->max_interfaces;
    void *const grown = realloc(pcapng->interfaces, max * sizeof *pcapng->interfaces);

    if (grown == NULL)
        return false;
    pcapng->interfaces = (struct pcapng_interface *)grown;
    pcapng->max_interfaces = max;
    return true;
}

static enum sl_status add_interface(struct sl_capture *capture, const struct block *block,
                                    struct sl_diag *diag)
{
    struct pcapng_file *const pcapng = &capture->pcapng;
    struct pcapng_interface interface = {0};

    if (block->body_len < 8)
        return input_bad(&capture->input, "the interface block", block->offset, diag,
                         "has %u bytes (expected at least %d)", block->len, FRAME_LEN + 8);
    if (pcapng->n_interfaces == MAX_INTERFACES)
        return input_bad(&capture->input, "the interface block", block->offset, diag,
                         "is one too many (expected at most %d in a section)", MAX_INTERFACES);
    if (pcapng->n_interfaces == pcapng->max_interfaces && !grow_interfaces(pcapng))
        return diag_set(diag, SL_ENOMEM, capture->input.label, 0, "no memory for its interfaces");

    interface.link_type = link_type_of_file(get16(block->body, pcapng->swapped));
    interface.snap_len = get32(block->body + 4, pcapng->swapped);
    set_resolution(&interface, 6);

    const enum sl_status status = parse_options(capture, &interface, block, diag);
    if (status == SL_OK)
        pcapng->interfaces[pcapng->n_interfaces++] = interface;
    return status;
}

/* The heads of the three packet blocks in one form. */
struct packet_head {
    uint32_t len; /* of the head: the packet's bytes begin behind it */
    uint32_t interface;
    bool has_time;
};

static struct packet_head packet_head(const struct block *block, bool swapped)
{
    switch (block->type) {
    case BLOCK_SIMPLE_PACKET:
        return (struct packet_head){.len = 4};
    case BLOCK_PACKET: /* its interface number has 16 bits, and drops follow */
        return (struct packet_head){20, block->body_len < 2 ? 0 : get16(block->body, swapped),
                                    true};
    default:
        return (struct packet_head){20, block->body_len < 4 ? 0 : get32(block->body, swapped),
                                    true};
    }
}

/* Reads time and lengths of a packet. The captured length is not checked yet. */
static void parse_lengths(const struct block *block, const struct pcapng_interface *interface,
                          bool has_time, bool swapped, struct record *record)
{
    if (has_time) {
        const uint64_t high = get32(block->body + 4, swapped);
        const uint64_t low = get32(block->body + 8, swapped);

        record->time_ns = interface_time_ns(interface, high << 32 | low);
        record->len = get32(block->body + 12, swapped);
        record->wire_len = get32(block->body + 16, swapped);
        return;
    }
    record->time_ns = 0;
    record->wire_len = get32(block->body, swapped);
    record->len = record->wire_len;
    if (interface->snap_len != 0 && record->len > interface->snap_len)
        record->len = interface->snap_len;
}

/* False: the read returns *status. */
static bool parse_packet(const struct sl_capture *capture, const struct block *block,
                         struct record *record, enum sl_status *status, struct sl_diag *diag)
{
    const struct pcapng_file *const pcapng = &capture->pcapng;
    const struct packet_head head = packet_head(block, pcapng->swapped);

    if (block->body_len < head.len) {
        *status =
            input_bad(&capture->input, "the packet block", block->offset, diag,
                      "has %u bytes (expected at least %u)", block->len, FRAME_LEN + head.len);
        return false;
    }
    if (head.interface >= pcapng->n_interfaces) {
        *status = input_bad(&capture->input, "the packet block", block->offset, diag,
                            "names interface %u (expected one of %u)", head.interface,
                            pcapng->n_interfaces);
        return false;
    }

    const struct pcapng_interface *const interface = &pcapng->interfaces[head.interface];
    const uint32_t room = block->body_len - head.len;
    const uint32_t max = room < SL_CAPTURE_PACKET_MAX ? room : SL_CAPTURE_PACKET_MAX;

    parse_lengths(block, interface, head.has_time, pcapng->swapped, record);
    record->bytes = block->body + head.len;
    record->link_type = interface->link_type;
    if (record->len <= max)
        return true;
    *status = input_bad(&capture->input, "the packet block", block->offset, diag,
                        "claims %s captured bytes (expected at most %s)", grouped(record->len).text,
                        grouped(max).text);
    return false;
}

static const char *block_name(uint32_t type)
{
    switch (type) {
    case SECTION_TYPE:
        return "section header";
    case BLOCK_INTERFACE:
        return "interface block";
    case BLOCK_PACKET:
    case BLOCK_SIMPLE_PACKET:
    case BLOCK_ENHANCED_PACKET:
        return "packet block";
    default:
        return "block";
    }
}

static bool is_read(uint32_t type)
{
    return type == BLOCK_ENHANCED_PACKET || type == BLOCK_SIMPLE_PACKET || type == BLOCK_PACKET ||
           type == BLOCK_INTERFACE || type == SECTION_TYPE;
}

static bool check_trailer(const struct input *input, const uint8_t *trailer, bool swapped,
                          uint32_t len, uint64_t offset, enum sl_status *status,
                          struct sl_diag *diag)
{
    const uint32_t repeated = get32(trailer, swapped);

    if (repeated == len)
        return true;
    *status = input_bad(input, "the block", offset, diag,
                        "ends with a length of %s (expected %s, as it begins)",
                        grouped(repeated).text, grouped(len).text);
    return false;
}

/* Passes the trailing length of a skipped block. False: the read returns *status. */
static bool end_skipped(struct sl_capture *capture, enum sl_status *status, struct sl_diag *diag)
{
    struct pcapng_file *const pcapng = &capture->pcapng;
    struct input *const input = &capture->input;

    if (pcapng->skipped_len == 0)
        return true;

    const enum input_state state = input_need(input, 4, diag);
    if (state != INPUT_READY) {
        *status = input_short(input, state, "block", pcapng->skipped_offset, diag);
        return false;
    }
    if (!check_trailer(input, input->at, pcapng->swapped, pcapng->skipped_len,
                       pcapng->skipped_offset, status, diag))
        return false;
    input->at += 4;
    pcapng->skipped_len = 0;
    return true;
}

static void skip_block(struct sl_capture *capture, const struct block *block)
{
    if (block->type != BLOCK_NAME_RESOLUTION && block->type != BLOCK_INTERFACE_STATISTICS &&
        block->type != BLOCK_DECRYPTION_SECRETS)
        capture->n_skipped_blocks++;
    capture->pcapng.skipped_len = block->len;
    capture->pcapng.skipped_offset = block->offset;
    input_skip(&capture->input, block->len - 4);
}

/* Each section has its own byte order. */
static bool set_byte_order(struct sl_capture *capture, enum sl_status *status, struct sl_diag *diag)
{
    const uint8_t *const magic = capture->input.at + 8;

    capture->pcapng.swapped = get32(magic, false) != BYTE_ORDER_MAGIC;
    if (get32(magic, capture->pcapng.swapped) == BYTE_ORDER_MAGIC)
        return true;
    *status = input_bad(&capture->input, "the section header", input_offset(&capture->input), diag,
                        "has byte-order magic 0x%02x%02x%02x%02x (expected 0x%08x in either order)",
                        magic[0], magic[1], magic[2], magic[3], BYTE_ORDER_MAGIC);
    return false;
}

static bool check_len(const struct input *input, const struct block *block, enum sl_status *status,
                      struct sl_diag *diag)
{
    const bool whole = is_read(block->type);

    if (block->len >= FRAME_LEN && block->len % 4 == 0 && (!whole || block->len <= INPUT_NEED_MAX))
        return true;
    *status = input_bad(input, "the block", block->offset, diag,
                        "has a length of %s (expected a multiple of 4 from %d%s%s)",
                        grouped(block->len).text, FRAME_LEN, whole ? " to " : "",
                        whole ? grouped(INPUT_NEED_MAX).text : "");
    return false;
}

/* False: the read returns *status. */
static bool next_block(struct sl_capture *capture, struct block *block, enum sl_status *status,
                       struct sl_diag *diag)
{
    struct input *const input = &capture->input;
    const bool *const swapped = &capture->pcapng.swapped;
    enum input_state state = input_need(input, 8, diag);

    block->offset = input_offset(input);
    block->type = 0;
    if (state == INPUT_READY) {
        block->type = get32(input->at, *swapped);
        if (block->type == SECTION_TYPE) {
            state = input_need(input, 12, diag);
            if (state == INPUT_READY && !set_byte_order(capture, status, diag))
                return false;
        }
    }
    if (state == INPUT_READY) {
        block->len = get32(input->at + 4, *swapped);
        if (!check_len(input, block, status, diag))
            return false;
        if (is_read(block->type))
            state = input_need(input, block->len, diag);
    }
    if (state != INPUT_READY) {
        *status = input_short(input, state, block_name(block->type), block->offset, diag);
        return false;
    }
    block->body = input->at + 8;
    block->body_len = block->len - FRAME_LEN;
    return !is_read(block->type) || check_trailer(input, block->body + block->body_len, *swapped,
                                                  block->len, block->offset, status, diag);
}

static enum sl_status pcapng_read(struct sl_capture *capture, struct sl_batch *batch,
                                  struct sl_diag *diag)
{
    struct input *const input = &capture->input;
    enum sl_status status = SL_OK;
    struct record record;
    struct block block;

    input_begin_read(input);
    while (status == SL_OK) {
        if (!end_skipped(capture, &status, diag) || !next_block(capture, &block, &status, diag))
            return status;
        switch (block.type) {
        case SECTION_TYPE:
            status = begin_section(capture, &block, diag);
            break;
        case BLOCK_INTERFACE:
            status = add_interface(capture, &block, diag);
            break;
        case BLOCK_PACKET:
        case BLOCK_SIMPLE_PACKET:
        case BLOCK_ENHANCED_PACKET:
            if (!parse_packet(capture, &block, &record, &status, diag))
                return status;
            record.arrival_ns = input->read_ns;
            if (!capture_add(capture, batch, &record))
                return capture_full(capture, batch, record.len, diag);
            break;
        default:
            skip_block(capture, &block);
            continue;
        }
        if (status == SL_OK)
            input->at += block.len;
    }
    return status;
}

static void pcapng_close(struct sl_capture *capture)
{
    free(capture->pcapng.interfaces);
}

static const struct capture_kind pcapng_kind = {.read = pcapng_read, .close = pcapng_close};

enum sl_status pcapng_file_open(struct sl_capture *capture, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct block block;

    if (!next_block(capture, &block, &status, diag))
        return status;
    status = begin_section(capture, &block, diag);
    if (status == SL_OK) {
        capture->input.at += block.len;
        capture->kind = &pcapng_kind;
    }
    return status;
}
