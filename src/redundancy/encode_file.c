/* SPDX-License-Identifier: MIT */
/* A file, piece by piece: sampled, matched, and what is left through zstd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/diag.h"
#include "encoded_file.h"
#include "packet_log.h"

enum { HITS_EACH = 4 /* room for this many times the hits that the period promises */ };

struct file_encoder {
    int in, out;
    const struct sl_redundancy_file_config *config;
    struct sl_redundancy_file_stats *stats;
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_hits hits;
    struct sl_batch *batch;
    struct sl_encoder *encoder;
    ZSTD_CCtx *zstd; /* NULL: none */
    uint8_t *frame;
    uint8_t *record;
    uint64_t position; /* of the next frame */
};

void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config)
{
    *config = (struct sl_redundancy_file_config){.cache_len = UINT64_C(256) << 20, .level = 9};
    sl_sampling_config_init(&config->sampling);
    config->sampling.period = 32;
}

static enum sl_status io_failed(struct sl_diag *diag, const char *what)
{
    return diag_set(diag, SL_EIO, NULL, 0, "%s: %s", what, strerror(errno));
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum sl_status open_sampler(struct file_encoder *e, struct sl_diag *diag)
{
    const uint32_t period = e->config->sampling.period;
    const struct sl_limits limits = {.max_items = 1,
                                     .max_bytes = FILE_PACKET_LEN,
                                     .max_hits = FILE_PACKET_LEN / period * HITS_EACH + 64};
    char why[SL_WHY_LEN] = "";

    enum sl_status status = sl_sampling_build(&e->table, &e->config->sampling, diag);
    if (status != SL_OK)
        return status;
    e->backend = sl_engine_choose(sl_sampling_engine(e->table), SL_DEVICE_CPU, why);
    if (e->backend == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs here: %s", why);
    status = e->backend->open(&e->context, e->table, &limits, diag);
    if (status != SL_OK)
        return status;
    e->hits.cap = limits.max_hits;
    e->hits.hit = malloc(e->hits.cap * sizeof *e->hits.hit);
    if (e->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u samples", limits.max_hits);
    return sl_batch_create(&e->batch, FILE_PACKET_LEN, 1, false, diag);
}

/* The window of zstd: no larger than the file, where its length is known. */
static int window_log(int in)
{
    struct stat file;
    int log = FILE_WINDOW_LOG;

    if (fstat(in, &file) != 0 || !S_ISREG(file.st_mode))
        return log;
    while (log > 17 && file.st_size <= (off_t)1 << (log - 1))
        log--;
    return log;
}

static enum sl_status open_zstd(struct file_encoder *e, struct sl_diag *diag)
{
    if (e->config->level == 0)
        return SL_OK;
    e->zstd = ZSTD_createCCtx();
    if (e->zstd == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, e->config->level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_windowLog, window_log(e->in))))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for zstd");
    return SL_OK;
}

static enum sl_status open_encoder(struct file_encoder *e, struct sl_diag *diag)
{
    const struct sl_sampling_config *const sampling = &e->config->sampling;
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.cache_len = e->config->cache_len;
    config.batch_len = config.frame_max = FILE_PACKET_LEN;
    config.max_items = 1;
    config.window = sampling->window;
    config.period = sampling->period;
    config.min_match = e->zstd != NULL ? MATCH_MIN_ZSTD : sampling->window;
    if (config.min_match < SL_REFERENCE_MIN)
        config.min_match = SL_REFERENCE_MIN;
    e->frame = malloc(FILE_PACKET_LEN + SL_FRAME_HEADER_LEN);
    e->record = malloc(RECORD_HEADER_LEN + RECORD_BODY_MAX);
    if (e->frame == NULL || e->record == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    return sl_encoder_create(&e->encoder, &config, diag);
}

static enum sl_status write_file_header(struct file_encoder *e, struct sl_diag *diag)
{
    const struct file_header header = {.version = FILE_VERSION,
                                       .flags = e->zstd != NULL ? FILE_ZSTD : 0,
                                       .packet_max = FILE_PACKET_LEN,
                                       .cache_len = e->config->cache_len};
    uint8_t bytes[FILE_HEADER_LEN];

    file_write_header(bytes, &header);
    e->stats->bytes_out = sizeof bytes;
    return file_write(e->out, bytes, sizeof bytes) ? SL_OK : io_failed(diag, "cannot write");
}

static void close_encoder(struct file_encoder *e)
{
    if (e->context != NULL)
        e->backend->close(e->context);
    sl_sampling_free(e->table);
    free(e->hits.hit);
    sl_batch_free(e->batch);
    sl_encoder_free(e->encoder);
    ZSTD_freeCCtx(e->zstd);
    free(e->frame);
    free(e->record);
}

/* ---- one frame ------------------------------------------------------------------------------- */

/* Compresses a body into the record. All that went in before can be decoded with what has come out:
 * a frame never waits for the next. */
static enum sl_status compress_body(struct file_encoder *e, const uint8_t *body, size_t len,
                                    size_t *stored, struct sl_diag *diag)
{
    ZSTD_inBuffer in = {body, len, 0};
    ZSTD_outBuffer out = {e->record + RECORD_HEADER_LEN, RECORD_BODY_MAX, 0};
    const size_t left = ZSTD_compressStream2(e->zstd, &out, &in, ZSTD_e_flush);

    if (ZSTD_isError(left))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "zstd: %s", ZSTD_getErrorName(left));
    if (left != 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0, "zstd gave more than its bound");
    *stored = out.pos;
    return SL_OK;
}

static enum sl_status write_record(struct file_encoder *e, uint32_t frame_len, struct sl_diag *diag)
{
    const uint8_t *const body = e->frame + SL_FRAME_HEADER_LEN;
    const size_t body_len = frame_len - SL_FRAME_HEADER_LEN;
    uint8_t *const record = e->record, *const to = record + RECORD_HEADER_LEN;
    size_t stored = body_len;

    if (e->zstd != NULL && body_len > 0) {
        const enum sl_status status = compress_body(e, body, body_len, &stored, diag);

        if (status != SL_OK)
            return status;
    } else {
        memcpy(to, body, body_len);
    }
    put_le(record, stored, 4);
    memcpy(record + RECORD_FRAME, e->frame, SL_FRAME_HEADER_LEN);
    put_le(record + RECORD_CHECK, record_check(record, to, stored), 8);
    if (!file_write(e->out, record, RECORD_HEADER_LEN + stored))
        return io_failed(diag, "cannot write");
    e->stats->bytes_out += RECORD_HEADER_LEN + stored;
    e->stats->residual_bytes += body_len;
    return SL_OK;
}

/* Encodes what the batch's item holds. */
static enum sl_status encode_item(struct file_encoder *e, struct sl_diag *diag)
{
    e->hits.n = 0;
    enum sl_status status = e->backend->submit(e->context, e->batch, &e->hits);
    if (status == SL_OK)
        status = e->backend->wait(e->context);
    /* Samples only point to what may be worth a look: too many are as good as enough. */
    if (status != SL_OK && status != SL_EOVERFLOW)
        return diag_set(diag, status, NULL, 0, "sampling: %s", sl_status_text(status));
    status = sl_encoder_batch(e->encoder, e->batch, &e->hits, diag);
    if (status != SL_OK)
        return status;

    const uint32_t len = e->batch->payload[0].len;
    status = write_record(e, sl_encoder_frame(e->encoder, 0, e->frame), diag);
    e->position += log_round(len);
    e->stats->bytes_in += len;
    e->stats->frames++;
    if (status == SL_OK && e->config->progress != NULL)
        e->config->progress(e->config->user, e->stats->bytes_in, e->stats->bytes_out);
    return status;
}

static enum sl_status encode_all(struct file_encoder *e, struct sl_diag *diag)
{
    for (;;) {
        struct sl_batch *const batch = e->batch;
        const int64_t len = file_read(e->in, batch->bytes, FILE_PACKET_LEN);

        if (len < 0)
            return io_failed(diag, "cannot read");
        if (len == 0)
            break;
        if (e->position > LOG_EPOCH_MAX)
            return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "the input is longer than 128 TiB");
        batch->n_items = 1;
        batch->bytes_len = (uint32_t)log_round((uint64_t)len);
        batch->payload[0] = (struct sl_span){0, (uint32_t)len};
        batch->overlap[0] = 0;

        const enum sl_status status = encode_item(e, diag);
        if (status != SL_OK)
            return status;
        if (len < FILE_PACKET_LEN)
            break;
    }
    return write_record(e, frame_write(e->frame, 0, e->position, e->frame, 0, NULL, 0), diag);
}

enum sl_status sl_redundancy_encode_file(int in, int out,
                                         const struct sl_redundancy_file_config *config,
                                         struct sl_redundancy_file_stats *stats,
                                         struct sl_diag *diag)
{
    struct file_encoder encoder = {.in = in, .out = out, .config = config, .stats = stats};
    struct sl_encoder_stats encoder_stats;

    *stats = (struct sl_redundancy_file_stats){0};
    if (config->level < 0 || config->level > SL_REDUNDANCY_LEVEL_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "zstd level %d (expected 0 to %d)", config->level,
                        SL_REDUNDANCY_LEVEL_MAX);

    enum sl_status status = open_sampler(&encoder, diag);
    if (status == SL_OK)
        status = open_zstd(&encoder, diag);
    if (status == SL_OK)
        status = open_encoder(&encoder, diag);
    if (status == SL_OK)
        status = write_file_header(&encoder, diag);
    if (status == SL_OK)
        status = encode_all(&encoder, diag);
    if (encoder.encoder != NULL) {
        sl_encoder_stats(encoder.encoder, &encoder_stats);
        stats->match = encoder_stats.match;
    }
    close_encoder(&encoder);
    return status;
}
