/* SPDX-License-Identifier: MIT */
#include "encoded_file.h"

#include <string.h>
#include <xxhash.h>

#include "base/diag.h"

/* A byte that is no text, and line ends that transfers as text would change. */
static const uint8_t magic[8] = {0x89, 'S', 'L', 'R', 'E', '\r', '\n', 0x1A};

void file_write_header(uint8_t out[FILE_HEADER_LEN], const struct file_header *header)
{
    memset(out, 0, FILE_HEADER_LEN);
    memcpy(out, magic, sizeof magic);
    put_le(out + 8, header->version, 2);
    put_le(out + 10, header->flags, 2);
    put_le(out + 12, header->packet_max, 4);
    put_le(out + 16, header->cache_len, 8);
    put_le(out + 24, header->kept_id, 8);
    put_le(out + FILE_HEADER_CHECKED, XXH3_64bits(out, FILE_HEADER_CHECKED), 8);
}

enum sl_status file_read_header(struct file_header *header, const uint8_t *bytes, size_t len,
                                struct sl_diag *diag)
{
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0,
                        "not an encoded file (expected one that sluice encode wrote)");
    if (len < FILE_HEADER_LEN)
        return diag_set(diag, SL_ETRUNCATED, NULL, 0,
                        "the file ends inside its header (%zu of %d bytes)", len, FILE_HEADER_LEN);
    header->version = (uint16_t)get_le(bytes + 8, 2);
    header->flags = (uint16_t)get_le(bytes + 10, 2);
    header->packet_max = (uint32_t)get_le(bytes + 12, 4);
    header->cache_len = get_le(bytes + 16, 8);
    header->kept_id = get_le(bytes + 24, 8);
    if (get_le(bytes + FILE_HEADER_CHECKED, 8) != XXH3_64bits(bytes, FILE_HEADER_CHECKED))
        return diag_set(diag, SL_EFORMAT, NULL, 0, "the file's header is damaged");
    if (header->version != FILE_VERSION || (header->flags & ~(FILE_ZSTD | FILE_CONTINUES)) != 0)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "the file is of version %u, flags %#x (expected version %d: a newer sluice "
                        "wrote it)",
                        header->version, header->flags, FILE_VERSION);
    if (header->packet_max < 1 || header->packet_max > SL_FRAME_MAX)
        return diag_set(diag, SL_EFORMAT, NULL, 0,
                        "the file's frames carry %u bytes (expected 1 to %d)", header->packet_max,
                        SL_FRAME_MAX);
    return SL_OK;
}

uint64_t record_check(const uint8_t *record, const uint8_t *body, size_t body_len)
{
    return XXH3_64bits_withSeed(record, RECORD_CHECK, XXH3_64bits(body, body_len));
}
