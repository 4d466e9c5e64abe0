/* SPDX-License-Identifier: MIT */
/* A file, many pieces at once: while some are encoded, the next are read, and the frames of those
 * before are compressed and written. */
#include <string.h>

#include "base/diag.h"
#include "device/wait.h"
#include "file_encoder.h"
#include "sluice/device.h"
#include "sluice/redundancy.h"

enum {
    IN_FLIGHT = SL_BATCH_ENCODER_IN_FLIGHT,
    BATCH_PARTS = 64,
    BATCH_LEN = BATCH_PARTS * FILE_PACKET_LEN
};

struct batches {
    struct file_encoder *e;
    bool on_gpu;
    struct sl_batch_encoder *encoder;
    struct sl_batch *batch[IN_FLIGHT];
    struct sl_stage *stage[IN_FLIGHT]; /* on a GPU */
    uint64_t n_begun, n_ended;
};

static enum sl_status open_batches(struct batches *b, struct sl_diag *diag)
{
    const struct sl_redundancy_file_config *const config = b->e->config;
    struct sl_batch_encoder_config whole;
    const struct sl_limits limits = {.max_items = BATCH_PARTS,
                                     .max_bytes = BATCH_LEN,
                                     .device = config->device,
                                     .max_wait_ms = DEVICE_MAX_WAIT_MS};

    b->on_gpu = config->kind == SL_DEVICE_CUDA;
    sl_batch_encoder_config_init(&whole);
    whole.sampling = b->e->table;
    whole.kind = config->kind;
    whole.device = config->device;
    whole.max_wait_ms = DEVICE_MAX_WAIT_MS;
    file_redundancy_config(&whole.redundancy, config);
    whole.redundancy.batch_len = BATCH_LEN;
    whole.redundancy.max_items = BATCH_PARTS;
    enum sl_status status = sl_batch_encoder_create(&b->encoder, &whole, diag);
    for (int i = 0; i < IN_FLIGHT && status == SL_OK; i++) {
        status = sl_device_batch_create(&b->batch[i], b->on_gpu ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                                        BATCH_LEN, BATCH_PARTS, diag);
        if (status == SL_OK && b->on_gpu)
            status = sl_stage_open(&b->stage[i], &limits, diag);
    }
    return status;
}

static void close_batches(struct batches *b)
{
    sl_batch_encoder_free(b->encoder);
    for (int i = 0; i < IN_FLIGHT; i++) {
        sl_stage_close(b->stage[i]);
        sl_batch_free(b->batch[i]);
    }
}

static enum sl_status failed(enum sl_status status, struct sl_diag *diag)
{
    return diag_set(diag, status, NULL, 0, "encoding: %s", sl_status_text(status));
}

/* Reads as many parts as a batch holds and starts on them. */
static enum sl_status begin_batch(struct batches *b, bool *at_end, struct sl_diag *diag)
{
    const uint64_t slot = b->n_begun % IN_FLIGHT;
    struct sl_batch *const batch = b->batch[slot];
    struct sl_batch view = *batch;
    enum sl_status status = file_check_length(b->e, diag);

    if (status != SL_OK)
        return status;
    sl_batch_reset(batch);
    while (batch->n_items < BATCH_PARTS && !*at_end) {
        const int64_t len = fd_read(b->e->in, batch->bytes + batch->bytes_len, FILE_PACKET_LEN);

        if (len < 0)
            return fd_failed("cannot read", diag);
        if (len > 0)
            sl_batch_append(batch, (uint32_t)len, 0);
        *at_end = len < FILE_PACKET_LEN;
    }
    view = *batch;
    view.packet = NULL;
    if (b->on_gpu)
        status = sl_stage_upload(b->stage[slot], &view, &view);
    if (status == SL_OK)
        status = sl_batch_encoder_submit(b->encoder, &view);
    b->n_begun++;
    return status == SL_OK ? SL_OK : failed(status, diag);
}

static enum sl_status end_batch(struct batches *b, struct sl_diag *diag)
{
    const struct sl_batch *const batch = b->batch[b->n_ended++ % IN_FLIGHT];
    struct sl_frames frames;
    const enum sl_status status = sl_batch_encoder_wait(b->encoder, &frames);

    if (status != SL_OK)
        return failed(status, diag);
    for (uint32_t i = 0; i < frames.n; i++) {
        const uint32_t len = frames.begin[i + 1] - frames.begin[i];
        uint8_t *const room = record_writer_room(b->e->writer);

        if (room == NULL)
            return SL_EIO; /* the writer says more */
        memcpy(room, frames.bytes + frames.begin[i], len);
        file_put_frame(b->e, len, batch->payload[i].len);
    }
    return SL_OK;
}

static enum sl_status encode_all(struct batches *b, struct sl_diag *diag)
{
    bool at_end = false;

    while (!at_end || b->n_ended < b->n_begun) {
        enum sl_status status = SL_OK;

        if (at_end || b->n_begun - b->n_ended == IN_FLIGHT)
            status = end_batch(b, diag);
        else
            status = begin_batch(b, &at_end, diag);
        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}

static void add_up(const struct batches *b)
{
    struct sl_batch_encoder_stats stats;

    sl_batch_encoder_stats(b->encoder, &stats);
    b->e->stats->match = (struct sl_matcher_stats){.bytes = stats.bytes,
                                                   .samples = stats.samples,
                                                   .probes = stats.samples,
                                                   .matches = stats.matches,
                                                   .matched_bytes = stats.matched_bytes};
}

enum sl_status file_encode_batches(struct file_encoder *e, struct sl_diag *diag)
{
    struct batches b = {.e = e};

    enum sl_status status = open_batches(&b, diag);
    if (status == SL_OK)
        status = file_begin(e, diag);
    if (status == SL_OK) {
        status = encode_all(&b, diag);
        add_up(&b);
    }
    close_batches(&b);
    return status;
}
