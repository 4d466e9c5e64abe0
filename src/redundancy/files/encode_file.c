/* SPDX-License-Identifier: MIT */
/* A file, piece by piece: read and sampled on a thread of its own, matched here, and the rest
 * through zstd on further threads. */
#include "base/diag.h"
#include "base/reserved.h"
#include "file_encoder.h"
#include "part_reader.h"
#include "redundancy/live/kept_cache.h"

/* One piece after the other. */
struct pieces {
    struct file_encoder *e;
    struct part_reader *reader;
    struct sl_encoder *encoder;
};

void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config)
{
    *config = (struct sl_redundancy_file_config){
        .cache_len = UINT64_C(256) << 20, .level = 9, .cache_in = -1, .cache_out = -1};
    sl_sampling_config_init(&config->sampling);
    config->sampling.period = 32;
}

/* ---- piece by piece ---------------------------------------------------------------------------
 */

static enum sl_status open_encoder(struct pieces *p, struct sl_diag *diag)
{
    struct sl_redundancy_config config;

    file_redundancy_config(&config, p->e->config);
    config.batch_len = FILE_PACKET_LEN;
    config.max_items = 1;
    return sl_encoder_create(&p->encoder, &config, diag);
}

static enum sl_status encode_part(struct pieces *p, struct file_part *part, struct sl_diag *diag)
{
    enum sl_status status = file_check_length(p->e, diag);

    if (status == SL_OK)
        status = sl_encoder_batch(p->encoder, part->batch, &part->hits, diag);
    if (status != SL_OK)
        return status;

    uint8_t *const frame = record_writer_room(p->e->writer);
    if (frame == NULL)
        return SL_EIO; /* the writer has the reason */
    file_put_frame(p->e, sl_encoder_frame(p->encoder, 0, frame), part->batch->payload[0].len);
    return SL_OK;
}

static enum sl_status encode_parts(struct pieces *p, struct sl_diag *diag)
{
    struct file_part *part;
    enum sl_status status = part_reader_begin(p->reader, encoder_memory(p->encoder), diag);

    while (status == SL_OK) {
        status = part_reader_next(p->reader, &part, diag);
        if (status != SL_OK || part == NULL)
            break;
        status = encode_part(p, part, diag);
    }
    return status;
}

/* The cache of a run before: its samples are found again. */
static enum sl_status load_cache(struct pieces *p, struct sl_diag *diag)
{
    struct file_encoder *const e = p->e;
    struct file_part *const part = part_reader_spare(p->reader);
    uint64_t at = 0;

    if (e->config->cache_in < 0)
        return SL_OK;
    enum sl_status status = encoder_load(p->encoder, e->config->cache_in, &e->kept, diag);
    while (status == SL_OK && encoder_part(p->encoder, &at, part->batch, FILE_PACKET_LEN)) {
        status = part_reader_sample(p->reader, part, diag);
        encoder_learn(p->encoder, at - part->batch->payload[0].len, &part->hits);
        sl_batch_reset(part->batch);
    }
    e->position = e->kept.end;
    return status;
}

static enum sl_status encode_pieces(struct file_encoder *e, struct sl_diag *diag)
{
    struct pieces p = {.e = e};
    struct sl_encoder_stats stats;

    enum sl_status status = part_reader_create(&p.reader, e, diag);
    if (status == SL_OK)
        status = open_encoder(&p, diag);
    if (status == SL_OK)
        status = load_cache(&p, diag);
    if (status == SL_OK)
        status = file_begin(e, diag);
    if (status == SL_OK) {
        status = encode_parts(&p, diag);
        sl_encoder_stats(p.encoder, &stats);
        e->stats->match = stats.match;
    }
    if (status == SL_OK && e->config->cache_out >= 0)
        status = encoder_save(p.encoder, e->config->cache_out, diag);
    part_reader_close(p.reader);
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
