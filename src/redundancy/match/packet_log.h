/* SPDX-License-Identifier: MIT */
/* The packet cache: an append-only log whose last `len` bytes are kept, in a ring.
 *
 * A log offset is 64 bits and never reused within an epoch. Kept is [start, end), start being end -
 * len or the floor, whichever is later. Appends are padded with zeros to whole granules, so a
 * granule is known as a whole or not at all. Where frames may be missing, a bitmap marks the known
 * granules. Without a bitmap all kept bytes are known. */
#ifndef REDUNDANCY_PACKET_LOG_H
#define REDUNDANCY_PACKET_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redundancy_core.h"
#include "sluice/batch.h"
#include "sluice/status.h"

enum { LOG_GRANULE = SL_BATCH_ALIGN };

/* Frames have room for 48 bits of an offset; an epoch ends before. */
#define LOG_OFFSET_MAX ((UINT64_C(1) << 48) - 1)
#define LOG_EPOCH_MAX (UINT64_C(1) << 47) /* bytes after which a new epoch begins anew at 0 */

struct packet_log {
    uint8_t *bytes;
    uint64_t len;    /* of the ring, a multiple of LOG_GRANULE */
    uint64_t end;    /* offset behind the last byte appended */
    uint64_t end_at; /* the same as an index into bytes */
    uint64_t floor;  /* no byte below is known */
    uint64_t guard;  /* bytes behind the ring that repeat its first; 0: none */
    uint64_t *known; /* a bit for each granule of the ring; NULL: all kept bytes are known */
    bool gives_back; /* memory of what is forgotten, for other logs */
};

#define HUGE_PAGE_LEN (UINT64_C(2) << 20)

/* Zeroed pages, huge ones where the system has them. NULL: diag names the memory that is free and
 * the memory that was needed. */
void *memory_map(uint64_t len, const char *what, struct sl_diag *diag);
void memory_unmap(void *memory, uint64_t len); /* accepts NULL */

CORE uint64_t log_round(uint64_t len)
{
    return (len + (LOG_GRANULE - 1)) & ~(uint64_t)(LOG_GRANULE - 1);
}

enum sl_status log_create(struct packet_log *log, uint64_t len, bool with_holes,
                          struct sl_diag *diag);
void log_free(struct packet_log *log);

CORE uint64_t log_start(const struct packet_log *log)
{
    const uint64_t kept = log->end > log->len ? log->end - log->len : 0;

    return kept > log->floor ? kept : log->floor;
}

/* Index into the ring of an offset that is kept, or of the end. */
CORE uint64_t log_at(const struct packet_log *log, uint64_t offset)
{
    const uint64_t behind = log->end - offset;

    return log->end_at >= behind ? log->end_at - behind : log->end_at + log->len - behind;
}

/* Appends, and zeros up to a whole granule. Known at once where there is no bitmap, unknown where
 * there is one. len is at most the ring's. */
void log_append(struct packet_log *log, const uint8_t *bytes, uint32_t len);

/* Copies bytes to an index into the ring, and zeros behind them up to a whole granule. */
void log_put(const struct packet_log *log, uint64_t at, const uint8_t *bytes, uint32_t len);

/* Moves the end to `offset`, a granule's, which is above it. The bytes between are unknown. */
void log_skip(struct packet_log *log, uint64_t offset);

/* Forgets all; the next byte will be at `offset`, a granule's. */
void log_restart(struct packet_log *log, uint64_t offset);

/* Forgets what is kept below `offset`, at most the end, and gives its memory back. */
void log_drop(struct packet_log *log, uint64_t offset);

/* With a bitmap: writes bytes whose place is kept, and marks them known. */
void log_fill(struct packet_log *log, uint64_t offset, const uint8_t *bytes, uint32_t len);

/* Copies bytes that are kept. */
void log_copy(const struct packet_log *log, uint64_t offset, uint8_t *out, uint32_t len);

/* Whether bytes that are kept are these. */
bool log_equals(const struct packet_log *log, uint64_t offset, const uint8_t *bytes, uint32_t len);

/* With a bitmap: marks whole granules that are kept. */
void log_set_known(struct packet_log *log, uint64_t offset, uint32_t len);

/* The same of any length, which is a multiple of a granule: known, or unknown. */
void log_mark(struct packet_log *log, uint64_t offset, uint64_t len, bool known);

/* The length of a run from `offset`, which is kept, of bytes that are known, or unknown where
 * `known` is false. It is at most `max` and ends before the end. */
uint64_t log_run(const struct packet_log *log, uint64_t offset, uint64_t max, bool known);

/* The number of known bytes right before `offset`, at most `max`, not below the start. */
uint64_t log_known_before(const struct packet_log *log, uint64_t offset, uint64_t max);

/* Whether all of it is kept and known. */
static inline bool log_has(const struct packet_log *log, uint64_t offset, uint32_t len)
{
    return offset >= log_start(log) && offset <= log->end && len <= log->end - offset &&
           (log->known == NULL || log_run(log, offset, len, true) == len);
}

#endif
