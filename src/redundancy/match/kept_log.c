/* SPDX-License-Identifier: MIT */
#include "kept_log.h"

#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/fd.h"

enum {
    KEPT_VERSION = 1,
    KEPT_HEADER_LEN = 64,
    KEPT_CHECKED = 56, /* bytes before the header's check */
    KEPT_ID = 24,      /* where the part begins that names the log */
    RUN_LEN = 16,
    PIECE_LEN = 1 << 16 /* bytes that one step of the check is over */
};

static const uint8_t magic[8] = {0x89, 'S', 'L', 'K', 'C', '\r', '\n', 0x1A};

struct run {
    uint64_t begin, end;
};

/* The next run of known bytes from *at to `end`. */
static bool next_run(const struct packet_log *log, uint64_t *at, uint64_t end, struct run *run)
{
    if (log->known != NULL && *at < end)
        *at += log_run(log, *at, end - *at, false);
    if (*at >= end)
        return false;
    run->begin = *at;
    run->end = log->known != NULL ? *at + log_run(log, *at, end - *at, true) : end;
    *at = run->end;
    return true;
}

static void put_run(uint8_t out[RUN_LEN], const struct run *run)
{
    put_le(out, run->begin, 8);
    put_le(out + 8, run->end, 8);
}

static void write_header(uint8_t out[KEPT_HEADER_LEN], const struct kept_log *kept)
{
    memset(out, 0, KEPT_HEADER_LEN);
    memcpy(out, magic, sizeof magic);
    put_le(out + 8, KEPT_VERSION, 2);
    put_le(out + 12, kept->epoch, 4);
    put_le(out + 16, kept->decoder, 4);
    put_le(out + 24, kept->n_runs, 8);
    put_le(out + 32, kept->start, 8);
    put_le(out + 40, kept->end, 8);
    put_le(out + 48, kept->check, 8);
    put_le(out + KEPT_CHECKED, XXH3_64bits(out, KEPT_CHECKED), 8);
}

static uint64_t id_of(const uint8_t header[KEPT_HEADER_LEN])
{
    return XXH3_64bits(header + KEPT_ID, KEPT_CHECKED - KEPT_ID);
}

/* Calls `take` with the log's bytes in pieces, and with its runs. */
static bool each_part(const struct kept_log *kept, const struct packet_log *log,
                      bool (*take)(void *user, const uint8_t *bytes, uint64_t len), void *user)
{
    uint8_t piece[PIECE_LEN];
    struct run run;

    for (uint64_t at = kept->start; at < kept->end; at += PIECE_LEN) {
        const uint64_t left = kept->end - at;
        const uint32_t len = left < PIECE_LEN ? (uint32_t)left : PIECE_LEN;

        log_copy(log, at, piece, len);
        if (!take(user, piece, len))
            return false;
    }
    for (uint64_t at = kept->start; next_run(log, &at, kept->end, &run);) {
        put_run(piece, &run);
        if (!take(user, piece, RUN_LEN))
            return false;
    }
    return true;
}

static uint64_t next_check(uint64_t check, const uint8_t *bytes, uint64_t len)
{
    return XXH3_64bits_withSeed(bytes, len, check);
}

static bool add_to_check(void *user, const uint8_t *bytes, uint64_t len)
{
    uint64_t *const check = user;

    *check = next_check(*check, bytes, len);
    return true;
}

void kept_describe(struct kept_log *kept, const struct packet_log *log, uint64_t len)
{
    const uint64_t start = log_start(log), round = log_round(len);
    uint8_t header[KEPT_HEADER_LEN];
    struct run run;

    kept->end = log->end;
    kept->start = log->end - start > round ? log->end - round : start;
    kept->n_runs = kept->check = 0;
    for (uint64_t at = kept->start; next_run(log, &at, kept->end, &run);)
        kept->n_runs++;
    each_part(kept, log, add_to_check, &kept->check);
    write_header(header, kept);
    kept->id = id_of(header);
}

static bool write_part(void *user, const uint8_t *bytes, uint64_t len)
{
    return fd_write(*(const int *)user, bytes, len);
}

enum sl_status kept_write(int fd, const struct kept_log *kept, const struct packet_log *log,
                          struct sl_diag *diag)
{
    uint8_t header[KEPT_HEADER_LEN];

    write_header(header, kept);
    if (!fd_write(fd, header, sizeof header) || !each_part(kept, log, write_part, &fd))
        return fd_failed("cannot write the cache", diag);
    return SL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum sl_status damaged(struct sl_diag *diag, const char *what)
{
    return diag_set(diag, SL_EFORMAT, NULL, 0, "the kept cache is damaged: %s", what);
}

static enum sl_status read_header(struct kept_log *kept, const uint8_t *bytes, struct sl_diag *diag)
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0, "not a kept cache");
    if (get_le(bytes + KEPT_CHECKED, 8) != XXH3_64bits(bytes, KEPT_CHECKED))
        return damaged(diag, "the check of its header");
    if (get_le(bytes + 8, 2) != KEPT_VERSION)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "a kept cache of version %u (expected %d)",
                        (unsigned)get_le(bytes + 8, 2), KEPT_VERSION);
    *kept = (struct kept_log){.epoch = (uint32_t)get_le(bytes + 12, 4),
                              .decoder = (uint32_t)get_le(bytes + 16, 4),
                              .n_runs = get_le(bytes + 24, 8),
                              .start = get_le(bytes + 32, 8),
                              .end = get_le(bytes + 40, 8),
                              .check = get_le(bytes + 48, 8),
                              .id = id_of(bytes)};
    if (kept->start > kept->end || kept->end > LOG_EPOCH_MAX || kept->start % LOG_GRANULE != 0 ||
        kept->end % LOG_GRANULE != 0)
        return damaged(diag, "its offsets");
    return SL_OK;
}

static enum sl_status read_part(int fd, uint8_t *to, size_t len, uint64_t *check,
                                struct sl_diag *diag)
{
    const int64_t n = fd_read(fd, to, len);

    if (n < 0)
        return fd_failed("cannot read the cache", diag);
    if ((size_t)n != len)
        return diag_set(diag, SL_ETRUNCATED, NULL, 0, "the kept cache ends early");
    *check = next_check(*check, to, len);
    return SL_OK;
}

/* The log's ring may be shorter than the piece. */
static void append_piece(struct packet_log *log, const uint8_t *piece, uint32_t len)
{
    while (len > 0) {
        const uint32_t n = len < log->len ? len : (uint32_t)log->len;

        log_append(log, piece, n);
        piece += n;
        len -= n;
    }
}

static enum sl_status read_bytes(int fd, const struct kept_log *kept, struct packet_log *log,
                                 uint64_t *check, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    uint8_t piece[PIECE_LEN];

    log_restart(log, kept->start);
    while (status == SL_OK && log->end < kept->end) {
        const uint64_t left = kept->end - log->end, len = left < PIECE_LEN ? left : PIECE_LEN;

        status = read_part(fd, piece, len, check, diag);
        if (status == SL_OK)
            append_piece(log, piece, (uint32_t)len);
    }
    return status;
}

static enum sl_status read_runs(int fd, const struct kept_log *kept, struct packet_log *log,
                                uint64_t *check, struct sl_diag *diag)
{
    uint64_t last = kept->start;

    for (uint64_t i = 0; i < kept->n_runs; i++) {
        uint8_t bytes[RUN_LEN];
        const enum sl_status status = read_part(fd, bytes, sizeof bytes, check, diag);

        if (status != SL_OK)
            return status;
        uint64_t begin = get_le(bytes, 8);
        const uint64_t end = get_le(bytes + 8, 8);
        if (begin < last || end <= begin || end > kept->end || begin % LOG_GRANULE != 0 ||
            end % LOG_GRANULE != 0)
            return damaged(diag, "its runs");
        last = end;
        begin = begin > log_start(log) ? begin : log_start(log);
        if (log->known == NULL)
            log->floor = begin;
        else if (begin < end)
            log_mark(log, begin, end - begin, true);
    }
    if (log->known == NULL && last != kept->end)
        log->floor = kept->end;
    return SL_OK;
}

enum sl_status kept_read(int fd, struct kept_log *kept, struct packet_log *log,
                         struct sl_diag *diag)
{
    uint8_t header[KEPT_HEADER_LEN];
    uint64_t check = 0;
    const int64_t n = fd_read(fd, header, sizeof header);

    *kept = (struct kept_log){0};
    if (n == 0)
        return SL_OK;
    if (n != KEPT_HEADER_LEN)
        return n < 0 ? fd_failed("cannot read the cache", diag)
                     : diag_set(diag, SL_EFORMAT, NULL, 0, "not a kept cache");
    enum sl_status status = read_header(kept, header, diag);
    if (status == SL_OK)
        status = read_bytes(fd, kept, log, &check, diag);
    if (status == SL_OK)
        status = read_runs(fd, kept, log, &check, diag);
    if (status == SL_OK && check != kept->check)
        status = damaged(diag, "the check of its bytes");
    if (status != SL_OK) {
        *kept = (struct kept_log){0};
        log_restart(log, 0);
    }
    return status;
}
