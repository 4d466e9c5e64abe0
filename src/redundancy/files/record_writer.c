/* SPDX-License-Identifier: MIT */
#include "record_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/diag.h"

enum { FRAMES = 4 /* made or waiting: so many that neither side waits for a slow frame */ };

struct room {
    uint8_t *frame;
    uint32_t len;
};

struct record_writer {
    int out;
    ZSTD_CCtx *zstd; /* NULL: none */
    uint8_t *record;
    struct room rooms[FRAMES];
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t n_put, n_written; /* frames: number i is in rooms[i % FRAMES] */
    bool ended;
    uint64_t bytes_out, residual_bytes;
    enum sl_status status;
    struct sl_diag diag;
};

/* ---- one record ------------------------------------------------------------------------------ */

/* Compresses a body into the record. All that went in before can be decoded with what has come out:
 * a frame never waits for the next. */
static enum sl_status compress_body(struct record_writer *w, const uint8_t *body, size_t len,
                                    size_t *stored, struct sl_diag *diag)
{
    ZSTD_inBuffer in = {body, len, 0};
    ZSTD_outBuffer out = {w->record + RECORD_HEADER_LEN, RECORD_BODY_MAX, 0};
    const size_t left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_flush);

    if (ZSTD_isError(left))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "zstd: %s", ZSTD_getErrorName(left));
    if (left != 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0, "zstd gave more than its bound");
    *stored = out.pos;
    return SL_OK;
}

static enum sl_status write_record(struct record_writer *w, const struct room *room,
                                   size_t *record_len, struct sl_diag *diag)
{
    const uint8_t *const body = room->frame + SL_FRAME_HEADER_LEN;
    const size_t body_len = room->len - SL_FRAME_HEADER_LEN;
    uint8_t *const to = w->record + RECORD_HEADER_LEN;
    size_t stored = body_len;

    if (w->zstd != NULL && body_len > 0) {
        const enum sl_status status = compress_body(w, body, body_len, &stored, diag);

        if (status != SL_OK)
            return status;
    } else {
        memcpy(to, body, body_len);
    }
    put_le(w->record, stored, 4);
    memcpy(w->record + RECORD_FRAME, room->frame, SL_FRAME_HEADER_LEN);
    put_le(w->record + RECORD_CHECK, record_check(w->record, to, stored), 8);
    *record_len = RECORD_HEADER_LEN + stored;
    if (!fd_write(w->out, w->record, *record_len))
        return fd_failed("cannot write", diag);
    return SL_OK;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *write_all(void *user)
{
    struct record_writer *const w = (struct record_writer *)user;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        struct sl_diag diag = {0};
        size_t record_len = 0;

        while (w->n_written == w->n_put && !w->ended)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->n_written == w->n_put)
            break;

        const struct room *const room = &w->rooms[w->n_written % FRAMES];
        pthread_mutex_unlock(&w->lock);
        const enum sl_status status = write_record(w, room, &record_len, &diag);
        pthread_mutex_lock(&w->lock);
        w->n_written++;
        w->bytes_out += record_len;
        w->residual_bytes += room->len - SL_FRAME_HEADER_LEN;
        w->status = status;
        w->diag = diag;
        pthread_cond_signal(&w->changed);
        if (status != SL_OK)
            break;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static enum sl_status open_zstd(struct record_writer *w, int level, int window_log,
                                struct sl_diag *diag)
{
    if (level == 0)
        return SL_OK;
    w->zstd = ZSTD_createCCtx();
    if (w->zstd == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, window_log)))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for zstd");
    return SL_OK;
}

enum sl_status record_writer_create(struct record_writer **writer, int out, int level,
                                    int window_log, struct sl_diag *diag)
{
    struct record_writer *const w = calloc(1, sizeof *w);
    bool has_room = w != NULL;

    if (w == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    *writer = w;
    w->out = out;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->record = malloc(RECORD_HEADER_LEN + RECORD_BODY_MAX);
    for (int i = 0; i < FRAMES; i++) {
        w->rooms[i].frame = malloc(FILE_PACKET_LEN + SL_FRAME_HEADER_LEN);
        has_room = has_room && w->rooms[i].frame != NULL;
    }
    if (w->record == NULL || !has_room)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");

    const enum sl_status status = open_zstd(w, level, window_log, diag);
    if (status != SL_OK)
        return status;
    const int error = pthread_create(&w->thread, NULL, write_all, w);
    if (error != 0)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no thread to write with: %s", strerror(error));
    w->has_thread = true;
    return SL_OK;
}

uint8_t *record_writer_room(struct record_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->n_put - w->n_written == FRAMES && w->status == SL_OK)
        pthread_cond_wait(&w->changed, &w->lock);

    uint8_t *const frame = w->status == SL_OK ? w->rooms[w->n_put % FRAMES].frame : NULL;
    pthread_mutex_unlock(&w->lock);
    return frame;
}

uint64_t record_writer_put(struct record_writer *w, uint32_t frame_len)
{
    pthread_mutex_lock(&w->lock);
    w->rooms[w->n_put++ % FRAMES].len = frame_len;
    pthread_cond_signal(&w->changed);

    const uint64_t bytes_out = w->bytes_out;
    pthread_mutex_unlock(&w->lock);
    return bytes_out;
}

enum sl_status record_writer_end(struct record_writer *w, struct sl_redundancy_file_stats *stats,
                                 struct sl_diag *diag)
{
    if (w == NULL)
        return SL_OK;
    if (w->has_thread) {
        pthread_mutex_lock(&w->lock);
        w->ended = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }

    const enum sl_status status = w->status;
    if (status != SL_OK && diag != NULL)
        *diag = w->diag;
    stats->bytes_out += w->bytes_out;
    stats->residual_bytes += w->residual_bytes;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    ZSTD_freeCCtx(w->zstd);
    for (int i = 0; i < FRAMES; i++)
        free(w->rooms[i].frame);
    free(w->record);
    free(w);
    return status;
}
