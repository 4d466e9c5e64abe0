/* SPDX-License-Identifier: MIT */
/* Encoded files: docs/frames.md. A header, then records of one frame each; the last frame's packet
 * is empty. */
#ifndef REDUNDANCY_ENCODED_FILE_H
#define REDUNDANCY_ENCODED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/fd.h"
#include "redundancy/frames/frame.h"
#include "sluice/redundancy.h"

#define RECORD_BODY_BOUND(len) ((len) + ((len) >> 7) + 1024) /* bytes as stored: zstd's bound */

enum {
    FILE_VERSION = 1,
    FILE_HEADER_LEN = 40,
    FILE_HEADER_CHECKED = 32,  /* bytes before the header's check */
    FILE_ZSTD = 1,             /* flag: bodies are pieces of one zstd stream */
    FILE_CONTINUES = 2,        /* flag: the log begins with a kept cache */
    FILE_PACKET_LEN = 1 << 18, /* bytes of the file in a frame */
    FILE_WINDOW_LOG = 27,      /* of zstd at most */
    MATCH_MIN_ZSTD = 64,       /* bytes: zstd encodes shorter ones in fewer */

    RECORD_FRAME = 4,                                  /* where the frame's header begins */
    RECORD_CHECK = RECORD_FRAME + SL_FRAME_HEADER_LEN, /* and the check of all before and behind */
    RECORD_HEADER_LEN = RECORD_CHECK + 8,
    RECORD_BODY_MAX = RECORD_BODY_BOUND(SL_FRAME_MAX)
};

struct file_header {
    uint16_t version, flags;
    uint32_t packet_max; /* bytes */
    uint64_t cache_len;
    uint64_t kept_id; /* continues: of the cache (redundancy/match/kept_log.h), otherwise 0 */
};

void file_write_header(uint8_t out[FILE_HEADER_LEN], const struct file_header *header);

/* SL_EFORMAT, SL_EUNSUPPORTED. */
enum sl_status file_read_header(struct file_header *header, const uint8_t *bytes, size_t len,
                                struct sl_diag *diag);

/* Of a record's bytes up to its check, and its body. */
uint64_t record_check(const uint8_t *record, const uint8_t *body, size_t body_len);

#endif
