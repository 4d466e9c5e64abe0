/* SPDX-License-Identifier: MIT */
/* Records that zstd shortens: the bytes that did not match before. Each is for itself, as datagrams
 * are lost. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/diag.h"
#include "pair_state.h"

enum {
    LEVEL = 1,
    MAGIC_LEN = 4,  /* bytes of zstd's frames that say nothing here */
    LEAST = 64,     /* bytes: less is not tried */
    GAIN_SHIFT = 4, /* a sixteenth must be saved */
    PACKED_MAX = PAIR_PACKET_MAX + SL_FRAME_HEADER_LEN,
    ROOM_LEN = 2 * PACKED_MAX /* of what zstd writes, and of a head before it */
};

static const uint8_t magic[MAGIC_LEN] = {0x28, 0xB5, 0x2F, 0xFD};

/* Bytes of a record that no compressor shortens: a frame's header. */
static uint32_t head_of(uint8_t kind)
{
    return kind == RECORD_FRAME ? SL_FRAME_HEADER_LEN : 0;
}

enum sl_status packed_open(struct pair *pair, struct sl_diag *diag)
{
    pair->unpack = ZSTD_createDCtx();
    pair->packed = malloc(ROOM_LEN + PACKED_MAX);
    pair->pack = pair->config.compresses ? ZSTD_createCCtx() : NULL;
    if (pair->unpack == NULL || pair->packed == NULL ||
        (pair->config.compresses && pair->pack == NULL))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for zstd");
    return SL_OK;
}

void packed_close(struct pair *pair)
{
    ZSTD_freeCCtx(pair->pack);
    ZSTD_freeDCtx(pair->unpack);
    free(pair->packed);
}

uint32_t packed_write(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len)
{
    const uint32_t head_len = head_of((uint8_t)kind);
    uint8_t *const out = pair->packed;

    if (pair->pack == NULL || len < head_len + LEAST)
        return 0;

    uint8_t *const body = out + 1 + SL_FRAME_HEADER_LEN;
    const size_t n = ZSTD_compressCCtx(pair->pack, body, ROOM_LEN - 1 - SL_FRAME_HEADER_LEN,
                                       bytes + head_len, len - head_len, LEVEL);
    if (ZSTD_isError(n) || n < MAGIC_LEN)
        return 0;

    const uint32_t packed_len = 1 + head_len + (uint32_t)n - MAGIC_LEN;
    if (packed_len > len - (len >> GAIN_SHIFT))
        return 0;
    memmove(out + 1 + head_len, body + MAGIC_LEN, n - MAGIC_LEN);
    out[0] = (uint8_t)kind;
    memcpy(out + 1, bytes, head_len);
    return packed_len;
}

bool packed_read(struct pair *pair, const struct record *record, struct record *whole)
{
    const uint8_t kind = record->len > 0 ? record->bytes[0] : RECORD_KINDS;
    const uint32_t head_len = head_of(kind);

    if ((kind != RECORD_PACKET && kind != RECORD_FRAME) || record->len < 1 + head_len ||
        record->len > PACKED_MAX)
        return false;

    const uint32_t body_len = record->len - 1 - head_len;
    uint8_t *const in = pair->packed, *const out = in + ROOM_LEN;
    memcpy(in, magic, sizeof magic);
    memcpy(in + sizeof magic, record->bytes + 1 + head_len, body_len);
    const size_t n = ZSTD_decompressDCtx(pair->unpack, out + head_len, PACKED_MAX - head_len, in,
                                         sizeof magic + body_len);
    if (ZSTD_isError(n))
        return false;
    memcpy(out, record->bytes + 1, head_len);
    *whole = (struct record){(enum record_kind)kind, out, head_len + (uint32_t)n};
    return true;
}
