/* SPDX-License-Identifier: MIT */
/* Records to bytes: each is checked as it is stored, put back into a frame, decoded and checked
 * again before its bytes are written. Of a file, threads read and write ahead and behind. From
 * anything else a record is written before the next is read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/reserved.h"
#include "record_reader.h"
#include "redundancy/live/build_in.h"
#include "redundancy/live/kept_cache.h"
#include "redundancy/match/packet_log.h"
#include "write_behind.h"

struct file_decoder {
    int in, out;
    const struct sl_redundancy_file_config *config;
    struct sl_redundancy_file_stats *stats;
    struct file_header header;
    struct sl_decoder *decoder;
    ZSTD_DCtx *zstd;   /* NULL: bodies are stored as they are */
    uint8_t *record;   /* RECORD_HEADER_LEN and RECORD_BODY_MAX bytes */
    uint8_t *frame;    /* SL_FRAME_HEADER_LEN and packet_max bytes */
    uint64_t position; /* where the next frame must begin */
    bool open;         /* zstd's stream has not ended */
    bool ended;

    /* Of a file, with threads. */
    struct record_reader *reader;
    struct write_behind *writer;
    off_t begin; /* where the input stood */
};

/* The diagnostic of the frame that is being read. It begins at byte bytes_in. */
static enum sl_status bad_frame(const struct file_decoder *d, enum sl_status status,
                                struct sl_diag *diag, const char *reason)
{
    return diag_set(diag, status, NULL, 0, "frame %" PRIu64 " at byte %" PRIu64 ": %s",
                    d->stats->frames + 1, d->stats->bytes_in, reason);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The file was encoded after a cache: that of the file before it here, or one that was kept. */
static enum sl_status continue_log(struct file_decoder *d, const struct sl_decoder *before,
                                   struct sl_diag *diag)
{
    struct kept_log kept = {0};
    enum sl_status status = SL_OK;

    if (before != NULL) {
        decoder_take_over(d->decoder, before);
        decoder_describe(before, &kept);
    } else if (d->config->cache_in >= 0) {
        status = decoder_load(d->decoder, d->config->cache_in, &kept, diag);
    }
    if (status == SL_OK && (kept.end == 0 || kept.id != d->header.kept_id))
        return diag_set(diag, SL_EFORMAT, NULL, 0,
                        kept.end > 0 ? "the file was encoded after another cache"
                                     : "the file was encoded after a cache, which is needed");
    d->position = kept.end;
    return status;
}

static enum sl_status open_decoder(struct file_decoder *d, struct sl_diag *diag)
{
    const bool continues = (d->header.flags & FILE_CONTINUES) != 0;
    struct sl_decoder *before = d->decoder;
    struct sl_redundancy_config config;

    d->decoder = NULL;
    d->position = 0;
    if (!continues) {
        sl_decoder_free(before);
        before = NULL;
    }
    sl_redundancy_config_init(&config);
    config.cache_len = d->header.cache_len;
    config.frame_max =
        d->header.packet_max > SL_REFERENCE_MIN ? d->header.packet_max : SL_REFERENCE_MIN;
    config.min_match = SL_REFERENCE_MIN;
    enum sl_status status = sl_decoder_create(&d->decoder, &config, diag);
    if (status == SL_OK && continues)
        status = continue_log(d, before, diag);
    sl_decoder_free(before);
    return status;
}

static enum sl_status allocate(struct file_decoder *d, struct sl_diag *diag)
{
    ZSTD_freeDCtx(d->zstd);
    free(d->frame);
    d->zstd = NULL;
    d->open = false;
    d->frame = malloc(SL_FRAME_HEADER_LEN + d->header.packet_max);
    if (d->reader == NULL && (d->header.flags & FILE_ZSTD) != 0) {
        d->zstd = zstd_open_decompressor();
        if (d->zstd == NULL ||
            ZSTD_isError(ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, FILE_WINDOW_LOG)))
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for zstd");
    }
    if (d->frame == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    return open_decoder(d, diag);
}

static int64_t read_header(const struct file_decoder *d, uint8_t bytes[FILE_HEADER_LEN])
{
    return d->reader == NULL
               ? fd_read(d->in, bytes, FILE_HEADER_LEN)
               : fd_read_at(d->in, bytes, FILE_HEADER_LEN, (uint64_t)d->begin + d->stats->bytes_in);
}

/* Opens the first file, or the next one. It counts as ended where there is none. */
static enum sl_status open_file(struct file_decoder *d, bool is_first, struct sl_diag *diag)
{
    uint8_t bytes[FILE_HEADER_LEN];
    const int64_t len = read_header(d, bytes);

    d->ended = true;
    if (len < 0)
        return fd_failed("cannot read", diag);
    if (len == 0 && !is_first)
        return SL_OK;

    enum sl_status status = file_read_header(&d->header, bytes, (size_t)len, diag);
    if (status == SL_EFORMAT && !is_first)
        bad_frame(d, status, diag, "more follows the file's last frame");
    if (status == SL_OK)
        status = allocate(d, diag);
    if (status != SL_OK)
        return status;
    d->stats->bytes_in += sizeof bytes;
    d->ended = false;
    return d->reader == NULL
               ? SL_OK
               : record_reader_begin(d->reader, (uint64_t)d->begin + d->stats->bytes_in, &d->header,
                                     diag);
}

/* Threads read a file alone: what comes from elsewhere is not to wait for more. */
static enum sl_status open_threads(struct file_decoder *d, struct sl_diag *diag)
{
    const unsigned n_threads = d->config->n_threads != 0 ? d->config->n_threads : cpu_cores();
    struct stat file;

    d->begin = lseek(d->in, 0, SEEK_CUR);
    if (n_threads < 2 || d->begin < 0 || fstat(d->in, &file) != 0 || !S_ISREG(file.st_mode))
        return SL_OK;
    const enum sl_status status = record_reader_create(&d->reader, d->in, n_threads, diag);
    return status == SL_OK ? write_behind_create(&d->writer, d->out, diag) : status;
}

/* The status becomes that of writing where this has failed. */
static enum sl_status close_threads(struct file_decoder *d, enum sl_status status,
                                    struct sl_diag *diag)
{
    const enum sl_status written = write_behind_end(d->writer, &d->stats->bytes_out, diag);

    if (d->reader != NULL)
        (void)lseek(d->in, d->begin + (off_t)d->stats->bytes_in, SEEK_SET);
    record_reader_free(d->reader);
    return written == SL_OK ? status : written;
}

static void close_file(struct file_decoder *d)
{
    sl_decoder_free(d->decoder);
    ZSTD_freeDCtx(d->zstd);
    free(d->record);
    free(d->frame);
}

/* ---- one record ------------------------------------------------------------------------------ */

static enum sl_status read_part(struct file_decoder *d, uint8_t *to, size_t len,
                                struct sl_diag *diag)
{
    const int64_t n = fd_read(d->in, to, len);

    if (n < 0)
        return fd_failed("cannot read", diag);
    return (size_t)n == len ? SL_OK
                            : bad_frame(d, SL_ETRUNCATED, diag, "the file ends here or inside it");
}

/* Reads a record into d->record and checks it as it is stored. */
static enum sl_status read_record(struct file_decoder *d, size_t *body_len, struct sl_diag *diag)
{
    uint8_t *const record = d->record;

    enum sl_status status = read_part(d, record, RECORD_HEADER_LEN, diag);
    if (status != SL_OK)
        return status;
    *body_len = get_le(record, 4);
    if (*body_len > RECORD_BODY_MAX)
        return bad_frame(d, SL_EFORMAT, diag, "it is damaged: its length is above all limits");
    status = read_part(d, record + RECORD_HEADER_LEN, *body_len, diag);
    if (status != SL_OK)
        return status;
    if (get_le(record + RECORD_CHECK, 8) !=
        record_check(record, record + RECORD_HEADER_LEN, *body_len))
        return bad_frame(d, SL_EFORMAT, diag, "it is damaged: its check does not match");
    return SL_OK;
}

/* Runs before zstd reads the body, because zstd's stream goes on from frame to frame as well. */
static enum sl_status check_position(struct file_decoder *d, const uint8_t *record,
                                     struct sl_diag *diag)
{
    struct frame_header header;
    char reason[160];

    if (!frame_read_header(&header, record + RECORD_FRAME, SL_FRAME_HEADER_LEN,
                           d->header.packet_max))
        return bad_frame(d, SL_EFORMAT, diag, "it is no frame of this file");
    if (header.position != d->position) {
        snprintf(reason, sizeof reason,
                 "a frame is missing or out of order: this one is of log position %" PRIu64
                 " (expected %" PRIu64 ")",
                 header.position, d->position);
        return bad_frame(d, SL_EFORMAT, diag, reason);
    }
    d->position += log_round(header.len);
    d->ended = header.len == 0;
    return SL_OK;
}

/* A record that is in order: its frame, put together. */
static enum sl_status take_record(struct file_decoder *d, struct read_record *record,
                                  struct sl_diag *diag)
{
    enum sl_status status = read_record(d, &record->stored, diag);
    record->header = d->record;
    if (status == SL_OK)
        status = check_position(d, record->header, diag);
    if (status != SL_OK)
        return status;
    record->reason = record_unpack(d->zstd, d->record, record->stored, d->header.packet_max,
                                   d->frame, &record->frame_len, &d->open);
    record->frame = d->frame;
    return record->reason == NULL ? SL_OK : bad_frame(d, SL_EFORMAT, diag, record->reason);
}

/* The same of a record that was read ahead. */
static enum sl_status take_read_record(struct file_decoder *d, struct read_record *record,
                                       struct sl_diag *diag)
{
    record_reader_next(d->reader, record);
    if (record->header != NULL) {
        const enum sl_status status = check_position(d, record->header, diag);

        if (status != SL_OK)
            return status;
    }
    if (record->status == SL_EFORMAT || record->status == SL_ETRUNCATED)
        return bad_frame(d, record->status, diag, record->reason);
    return record->status == SL_OK ? SL_OK
                                   : diag_set(diag, record->status, NULL, 0, "%s", record->reason);
}

/* The packet is built where it is written from. */
static enum sl_status make_room(struct file_decoder *d)
{
    if (d->writer == NULL)
        return SL_OK;
    uint8_t *const room = write_behind_room(d->writer);

    if (room == NULL)
        return SL_EIO; /* the writer has the reason */
    decoder_build_in(d->decoder, room);
    return SL_OK;
}

static enum sl_status write_packet(struct file_decoder *d, const uint8_t *packet, uint32_t len,
                                   struct sl_diag *diag)
{
    if (d->writer == NULL)
        return fd_write(d->out, packet, len) ? SL_OK : fd_failed("cannot write", diag);
    write_behind_put(d->writer, len);
    return SL_OK;
}

static enum sl_status decode_record(struct file_decoder *d, struct sl_diag *diag)
{
    struct read_record record;
    const uint8_t *packet;
    uint32_t packet_len;

    enum sl_status status =
        d->reader != NULL ? take_read_record(d, &record, diag) : take_record(d, &record, diag);
    if (status == SL_OK)
        status = make_room(d);
    if (status != SL_OK)
        return status;
    if (sl_decoder_decode(d->decoder, record.frame, record.frame_len, &packet, &packet_len) !=
        SL_FRAME_DELIVERED)
        return bad_frame(d, SL_EFORMAT, diag,
                         "what it refers to and what it says do not fit together");
    if (d->config->output_max != 0 && packet_len > d->config->output_max - d->stats->bytes_out) {
        char reason[80];

        snprintf(reason, sizeof reason, "the output is longer than the limit of %" PRIu64 " bytes",
                 d->config->output_max);
        return bad_frame(d, SL_EOVERFLOW, diag, reason);
    }
    status = write_packet(d, packet, packet_len, diag);
    if (status != SL_OK)
        return status;
    d->stats->frames += d->ended ? 0 : 1;
    d->stats->bytes_in += RECORD_HEADER_LEN + record.stored;
    d->stats->bytes_out += packet_len;
    if (d->config->progress != NULL)
        d->config->progress(d->config->user, d->stats->bytes_in, d->stats->bytes_out);
    return SL_OK;
}

static enum sl_status decode_records(struct file_decoder *d, struct sl_diag *diag)
{
    enum sl_status status;

    do
        status = decode_record(d, diag);
    while (status == SL_OK && !d->ended);
    return status;
}

enum sl_status sl_redundancy_decode_file(int in, int out,
                                         const struct sl_redundancy_file_config *config,
                                         struct sl_redundancy_file_stats *stats,
                                         struct sl_diag *diag)
{
    struct file_decoder decoder = {.in = in, .out = out, .config = config, .stats = stats};

    *stats = (struct sl_redundancy_file_stats){0};
    enum sl_status status = reserved_check(config->reserved, diag);
    if (status != SL_OK)
        return status;
    decoder.record = malloc(RECORD_HEADER_LEN + RECORD_BODY_MAX);
    if (decoder.record == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    status = open_threads(&decoder, diag);
    for (bool is_first = true; status == SL_OK; is_first = false) {
        status = open_file(&decoder, is_first, diag);
        if (decoder.ended)
            break;
        status = decode_records(&decoder, diag);
    }
    status = close_threads(&decoder, status, diag);
    if (status == SL_OK && config->cache_out >= 0)
        status = decoder_save(decoder.decoder, config->cache_out, diag);
    close_file(&decoder);
    return status;
}
