/* SPDX-License-Identifier: MIT */
/* A file, piece by piece: sampled, matched, and what is left through zstd, on a thread of its own.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "encode_file.h"
#include "redundancy/live/kept_cache.h"

enum { HITS_EACH = 4 /* room for this many times the hits that the period promises */ };

/* One piece after the other. */
struct pieces {
    struct file_encoder *e;
    const struct sl_backend *backend;
    void *context;
    struct sl_hits hits;
    struct sl_batch *batch;
    struct sl_encoder *encoder;
};

void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config)
{
    *config = (struct sl_redundancy_file_config){
        .cache_len = UINT64_C(256) << 20, .level = 9, .cache_in = -1, .cache_out = -1};
    sl_sampling_config_init(&config->sampling);
    config->sampling.period = 32;
}

/* ---- what both ways share ---------------------------------------------------------------------
 */

void file_redundancy_config(struct sl_redundancy_config *redundancy,
                            const struct sl_redundancy_file_config *config)
{
    sl_redundancy_config_init(redundancy);
    redundancy->cache_len = config->cache_len;
    redundancy->frame_max = FILE_PACKET_LEN;
    redundancy->window = config->sampling.window;
    redundancy->period = config->sampling.period;
    redundancy->min_match = config->level != 0 ? MATCH_MIN_ZSTD : config->sampling.window;
    if (redundancy->min_match < SL_REFERENCE_MIN)
        redundancy->min_match = SL_REFERENCE_MIN;
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

static enum sl_status write_file_header(struct file_encoder *e, struct sl_diag *diag)
{
    const int continues = e->kept.end > 0 ? FILE_CONTINUES : 0;
    const struct file_header header = {
        .version = FILE_VERSION,
        .flags = (uint16_t)((e->config->level != 0 ? FILE_ZSTD : 0) | continues),
        .packet_max = FILE_PACKET_LEN,
        .cache_len = e->config->cache_len,
        .kept_id = continues != 0 ? e->kept.id : 0};
    uint8_t bytes[FILE_HEADER_LEN];

    file_write_header(bytes, &header);
    e->stats->bytes_out = sizeof bytes;
    return file_write(e->out, bytes, sizeof bytes) ? SL_OK : file_failed("cannot write", diag);
}

enum sl_status file_begin(struct file_encoder *e, struct sl_diag *diag)
{
    if (e->config->progress != NULL)
        e->config->progress(e->config->user, 0, 0);

    const enum sl_status status = write_file_header(e, diag);

    return status != SL_OK ? status
                           : record_writer_create(&e->writer, e->out, e->config->level,
                                                  window_log(e->in), diag);
}

enum sl_status file_read_part(const struct file_encoder *e, uint8_t *bytes, uint32_t *len,
                              struct sl_diag *diag)
{
    const int64_t n = e->config->flush ? file_read_some(e->in, bytes, FILE_PACKET_LEN)
                                       : file_read(e->in, bytes, FILE_PACKET_LEN);

    *len = n > 0 ? (uint32_t)n : 0;
    if (n < 0)
        return file_failed("cannot read", diag);
    if (n > 0 && e->position > LOG_EPOCH_MAX)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "the input is longer than 128 TiB");
    return SL_OK;
}

void file_put_frame(struct file_encoder *e, uint32_t frame_len, uint32_t len)
{
    const uint64_t bytes_out = record_writer_put(e->writer, frame_len) + FILE_HEADER_LEN;

    e->position += log_round(len);
    e->stats->bytes_in += len;
    e->stats->frames++;
    if (e->config->progress != NULL)
        e->config->progress(e->config->user, e->stats->bytes_in, bytes_out);
}

/* ---- piece by piece ---------------------------------------------------------------------------
 */

static enum sl_status open_sampler(struct pieces *p, struct sl_diag *diag)
{
    const struct sl_engine *const engine = sl_sampling_engine(p->e->table);
    const uint32_t period = p->e->config->sampling.period;
    const struct sl_limits limits = {.max_items = 1,
                                     .max_bytes = FILE_PACKET_LEN,
                                     .max_hits = FILE_PACKET_LEN / period * HITS_EACH + 64};
    char why[SL_WHY_LEN] = "";

    p->backend = sl_engine_choose(engine, SL_DEVICE_CPU, why);
    if (p->backend == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs here: %s", why);
    const enum sl_status status =
        sl_engine_open(&p->context, engine, p->backend, p->e->table, &limits, diag);
    if (status != SL_OK)
        return status;
    p->hits.cap = limits.max_hits;
    p->hits.hit = malloc(p->hits.cap * sizeof *p->hits.hit);
    if (p->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u samples", limits.max_hits);
    return sl_batch_create(&p->batch, FILE_PACKET_LEN, 1, diag);
}

static enum sl_status open_encoder(struct pieces *p, struct sl_diag *diag)
{
    struct sl_redundancy_config config;

    file_redundancy_config(&config, p->e->config);
    config.batch_len = FILE_PACKET_LEN;
    config.max_items = 1;
    return sl_encoder_create(&p->encoder, &config, diag);
}

static enum sl_status sample_item(struct pieces *p, struct sl_diag *diag)
{
    p->hits.n = 0;
    enum sl_status status = p->backend->submit(p->context, p->batch, &p->hits);
    if (status == SL_OK)
        status = p->backend->wait(p->context);
    /* A sample is a hint: too many of them are as good as enough. */
    if (status != SL_OK && status != SL_EOVERFLOW)
        return diag_set(diag, status, NULL, 0, "sampling: %s", sl_status_text(status));
    p->hits.n = p->hits.n < p->hits.cap ? p->hits.n : p->hits.cap;
    return SL_OK;
}

/* Encodes what the batch's item holds. */
static enum sl_status encode_item(struct pieces *p, struct sl_diag *diag)
{
    enum sl_status status = sample_item(p, diag);

    if (status == SL_OK)
        status = sl_encoder_batch(p->encoder, p->batch, &p->hits, diag);
    if (status != SL_OK)
        return status;

    uint8_t *const frame = record_writer_room(p->e->writer);
    if (frame == NULL)
        return SL_EIO; /* the writer has the reason */
    file_put_frame(p->e, sl_encoder_frame(p->encoder, 0, frame), p->batch->payload[0].len);
    return SL_OK;
}

static enum sl_status encode_items(struct pieces *p, struct sl_diag *diag)
{
    struct sl_batch *const batch = p->batch;
    uint32_t len;

    do {
        enum sl_status status = file_read_part(p->e, batch->bytes, &len, diag);

        sl_batch_reset(batch);
        if (status == SL_OK && len > 0) {
            sl_batch_append(batch, len, 0);
            status = encode_item(p, diag);
        }
        if (status != SL_OK)
            return status;
    } while (p->e->config->flush ? len > 0 : len == FILE_PACKET_LEN);
    return SL_OK;
}

/* The cache of a run before: its samples are found again. */
static enum sl_status load_cache(struct pieces *p, struct sl_diag *diag)
{
    struct file_encoder *const e = p->e;
    uint64_t at = 0;

    if (e->config->cache_in < 0)
        return SL_OK;
    enum sl_status status = encoder_load(p->encoder, e->config->cache_in, &e->kept, diag);
    while (status == SL_OK && encoder_part(p->encoder, &at, p->batch, FILE_PACKET_LEN)) {
        status = sample_item(p, diag);
        encoder_learn(p->encoder, at - p->batch->payload[0].len, &p->hits);
        sl_batch_reset(p->batch);
    }
    e->position = e->kept.end;
    return status;
}

static enum sl_status encode_pieces(struct file_encoder *e, struct sl_diag *diag)
{
    struct pieces p = {.e = e};
    struct sl_encoder_stats stats;

    enum sl_status status = open_sampler(&p, diag);
    if (status == SL_OK)
        status = open_encoder(&p, diag);
    if (status == SL_OK)
        status = load_cache(&p, diag);
    if (status == SL_OK)
        status = file_begin(e, diag);
    if (status == SL_OK) {
        status = encode_items(&p, diag);
        sl_encoder_stats(p.encoder, &stats);
        e->stats->match = stats.match;
    }
    if (status == SL_OK && e->config->cache_out >= 0)
        status = encoder_save(p.encoder, e->config->cache_out, diag);
    if (p.context != NULL)
        p.backend->close(p.context);
    free(p.hits.hit);
    sl_batch_free(p.batch);
    sl_encoder_free(p.encoder);
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static enum sl_status write_end(struct file_encoder *e)
{
    uint8_t *const frame = record_writer_room(e->writer);

    if (frame == NULL)
        return SL_EIO;
    record_writer_put(e->writer, frame_write(frame, 0, e->position, frame, 0, NULL, 0));
    return SL_OK;
}

enum sl_status sl_redundancy_encode_file(int in, int out,
                                         const struct sl_redundancy_file_config *config,
                                         struct sl_redundancy_file_stats *stats,
                                         struct sl_diag *diag)
{
    struct file_encoder encoder = {.in = in, .out = out, .config = config, .stats = stats};

    *stats = (struct sl_redundancy_file_stats){0};
    if (config->level < 0 || config->level > SL_REDUNDANCY_LEVEL_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "zstd level %d (expected 0 to %d)", config->level,
                        SL_REDUNDANCY_LEVEL_MAX);

    if (config->whole_batches && (config->flush || config->cache_in >= 0 || config->cache_out >= 0))
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "whole batches are neither flushed nor have they a cache that is kept");

    enum sl_status status = reserved_check(config->reserved, diag);
    if (status != SL_OK)
        return status;
    status = sl_sampling_build(&encoder.table, &config->sampling, diag);
    if (status == SL_OK)
        status = config->whole_batches ? file_encode_batches(&encoder, diag)
                                       : encode_pieces(&encoder, diag);
    if (status == SL_OK)
        status = write_end(&encoder);

    const enum sl_status written = record_writer_end(encoder.writer, stats, diag);
    if (written != SL_OK)
        status = written;
    sl_sampling_free(encoder.table);
    return status;
}
