/* SPDX-License-Identifier: MIT */
/* A file, piece by piece: sampled, matched, and what is left through zstd, on a thread of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "packet_log.h"
#include "record_writer.h"

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
    struct record_writer *writer;
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
    config.min_match = e->config->level != 0 ? MATCH_MIN_ZSTD : sampling->window;
    if (config.min_match < SL_REFERENCE_MIN)
        config.min_match = SL_REFERENCE_MIN;
    return sl_encoder_create(&e->encoder, &config, diag);
}

static enum sl_status write_file_header(struct file_encoder *e, struct sl_diag *diag)
{
    const struct file_header header = {.version = FILE_VERSION,
                                       .flags = e->config->level != 0 ? FILE_ZSTD : 0,
                                       .packet_max = FILE_PACKET_LEN,
                                       .cache_len = e->config->cache_len};
    uint8_t bytes[FILE_HEADER_LEN];

    file_write_header(bytes, &header);
    e->stats->bytes_out = sizeof bytes;
    return file_write(e->out, bytes, sizeof bytes) ? SL_OK : io_failed(diag, "cannot write");
}

static void close_file(struct file_encoder *e)
{
    if (e->context != NULL)
        e->backend->close(e->context);
    sl_sampling_free(e->table);
    free(e->hits.hit);
    sl_batch_free(e->batch);
    sl_encoder_free(e->encoder);
}

/* ---- one frame ------------------------------------------------------------------------------- */

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
    uint8_t *const frame = record_writer_room(e->writer);
    if (frame == NULL)
        return SL_EIO; /* the writer says more */
    const uint64_t bytes_out =
        record_writer_put(e->writer, sl_encoder_frame(e->encoder, 0, frame)) + FILE_HEADER_LEN;
    e->position += log_round(len);
    e->stats->bytes_in += len;
    e->stats->frames++;
    if (e->config->progress != NULL)
        e->config->progress(e->config->user, e->stats->bytes_in, bytes_out);
    return SL_OK;
}

static enum sl_status encode_end(struct file_encoder *e)
{
    uint8_t *const frame = record_writer_room(e->writer);

    if (frame == NULL)
        return SL_EIO;
    record_writer_put(e->writer, frame_write(frame, 0, e->position, frame, 0, NULL, 0));
    return SL_OK;
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
    return encode_end(e);
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
        status = open_encoder(&encoder, diag);
    if (status == SL_OK)
        status = write_file_header(&encoder, diag);
    if (status == SL_OK)
        status = record_writer_create(&encoder.writer, out, config->level, window_log(in), diag);
    if (status == SL_OK)
        status = encode_all(&encoder, diag);

    const enum sl_status written = record_writer_end(encoder.writer, stats, diag);
    if (written != SL_OK)
        status = written;
    if (encoder.encoder != NULL) {
        sl_encoder_stats(encoder.encoder, &encoder_stats);
        stats->match = encoder_stats.match;
    }
    close_file(&encoder);
    return status;
}
