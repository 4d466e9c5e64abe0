/* SPDX-License-Identifier: MIT */
#include "record_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "redundancy/match/packet_log.h"
#include "zstd_memory.h"

enum {
    GROUP_LEN = 2 << 20,   /* bytes of frames that zstd sees together */
    GROUP_WINDOW_LOG = 22, /* holds a group */
    GROUP_FRAMES = 256,    /* at most, so that frames that are short do not wait for long */
    MORE_GROUPS = 2        /* made or waiting meanwhile */
};

/* Frames, back to back, that become records. */
struct group {
    uint8_t *frames, *records;
    size_t frames_len, records_len;
    uint32_t n;
    uint32_t len[GROUP_FRAMES];
};

/* Number i of the groups is groups[i % n_groups]. */
struct record_writer {
    struct record_config config;
    uint32_t n_groups, n_threads;
    struct group *groups;
    uint8_t *room; /* of all groups, in huge pages */
    size_t room_len;
    pthread_t threads[SL_REDUNDANCY_THREADS_MAX];

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t n_put, n_taken, n_written;
    bool ended;
    uint64_t bytes_out, residual_bytes;
    enum sl_status status; /* the first failure */
    struct sl_diag diag;
};

/* ---- one group ------------------------------------------------------------------------------- */

/* Compresses a body. All that went in before can be decoded with what has come out: a frame never
 * waits for the next. */
static enum sl_status compress_body(ZSTD_CCtx *zstd, bool is_last, uint8_t *to, const uint8_t *body,
                                    size_t len, size_t *stored, struct sl_diag *diag)
{
    ZSTD_inBuffer in = {body, len, 0};
    ZSTD_outBuffer out = {to, RECORD_BODY_BOUND(len), 0};
    const size_t left = ZSTD_compressStream2(zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_flush);

    if (ZSTD_isError(left))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "zstd: %s", ZSTD_getErrorName(left));
    if (left != 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0, "zstd gave more than its bound");
    *stored = out.pos;
    return SL_OK;
}

/* Appends a record to the group's. */
static enum sl_status make_record(struct group *group, ZSTD_CCtx *zstd, bool is_last,
                                  const uint8_t *frame, uint32_t frame_len, struct sl_diag *diag)
{
    const uint8_t *const body = frame + SL_FRAME_HEADER_LEN;
    const size_t body_len = frame_len - SL_FRAME_HEADER_LEN;
    uint8_t *const record = group->records + group->records_len;
    uint8_t *const to = record + RECORD_HEADER_LEN;
    size_t stored = body_len;

    if (zstd != NULL && body_len > 0) {
        const enum sl_status status =
            compress_body(zstd, is_last, to, body, body_len, &stored, diag);

        if (status != SL_OK)
            return status;
    } else {
        memcpy(to, body, body_len);
    }
    put_le(record, stored, 4);
    memcpy(record + RECORD_FRAME, frame, SL_FRAME_HEADER_LEN);
    put_le(record + RECORD_CHECK, record_check(record, to, stored), 8);
    group->records_len += RECORD_HEADER_LEN + stored;
    return SL_OK;
}

static enum sl_status make_records(const struct record_writer *w, struct group *group,
                                   ZSTD_CCtx *zstd, struct sl_diag *diag)
{
    const uint8_t *frame = group->frames;
    uint32_t n_bodies = group->n; /* the file's last frame has none */
    enum sl_status status = SL_OK;

    while (n_bodies > 0 && group->len[n_bodies - 1] == SL_FRAME_HEADER_LEN)
        n_bodies--;
    group->records_len = 0;
    for (uint32_t i = 0; i < group->n && status == SL_OK; i++) {
        status = make_record(group, zstd, !w->config.one_stream && i + 1 == n_bodies, frame,
                             group->len[i], diag);
        frame += group->len[i];
    }
    return status;
}

/* ---- threads --------------------------------------------------------------------------------- */

static ZSTD_CCtx *open_zstd(const struct record_config *config)
{
    ZSTD_CCtx *const zstd = zstd_open_compressor();
    const int window_log = config->one_stream || config->window_log < GROUP_WINDOW_LOG
                               ? config->window_log
                               : GROUP_WINDOW_LOG;

    if (zstd == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, config->level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log))) {
        ZSTD_freeCCtx(zstd);
        return NULL;
    }
    return zstd;
}

/* Waits for a group. NULL: no more come. */
static struct group *take_group(struct record_writer *w, uint64_t *number)
{
    struct group *group = NULL;

    pthread_mutex_lock(&w->lock);
    while (w->n_taken == w->n_put && !w->ended)
        pthread_cond_wait(&w->changed, &w->lock);
    if (w->n_taken < w->n_put) {
        *number = w->n_taken++;
        group = &w->groups[*number % w->n_groups];
    }
    pthread_mutex_unlock(&w->lock);
    return group;
}

/* Behind the groups before it. Records behind a failure are dropped. */
static void write_group(struct record_writer *w, struct group *group, uint64_t number,
                        enum sl_status status, struct sl_diag *diag)
{
    pthread_mutex_lock(&w->lock);
    while (w->n_written != number)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool goes_on = w->status == SL_OK;
    pthread_mutex_unlock(&w->lock);

    if (goes_on && status == SL_OK && !fd_write(w->config.out, group->records, group->records_len))
        status = fd_failed("cannot write", diag);

    pthread_mutex_lock(&w->lock);
    if (goes_on) {
        w->status = status;
        w->diag = *diag;
        w->bytes_out += group->records_len;
        w->residual_bytes += group->frames_len - (size_t)group->n * SL_FRAME_HEADER_LEN;
    }
    group->n = 0;
    group->frames_len = 0;
    w->n_written++;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void *work(void *user)
{
    struct record_writer *const w = (struct record_writer *)user;
    ZSTD_CCtx *const zstd = w->config.level != 0 ? open_zstd(&w->config) : NULL;
    struct group *group;
    uint64_t number;

    while ((group = take_group(w, &number)) != NULL) {
        struct sl_diag diag = {0};
        const enum sl_status status =
            w->config.level != 0 && zstd == NULL
                ? diag_set(&diag, SL_ENOMEM, NULL, 0, "no memory for zstd")
                : make_records(w, group, zstd, &diag);

        write_group(w, group, number, status, &diag);
    }
    ZSTD_freeCCtx(zstd);
    return NULL;
}

/* ---- the writer ------------------------------------------------------------------------------ */

static enum sl_status start_thread(struct record_writer *w, struct sl_diag *diag)
{
    const int error = pthread_create(&w->threads[w->n_threads], NULL, work, w);

    if (error != 0)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no thread to write with: %s", strerror(error));
    w->n_threads++;
    return SL_OK;
}

static enum sl_status open_groups(struct record_writer *w, struct sl_diag *diag)
{
    const bool one_stream = w->config.one_stream;
    const size_t n_frames = one_stream ? 1 : GROUP_FRAMES;
    const size_t len = (one_stream ? 0 : GROUP_LEN) + FILE_PACKET_LEN + SL_FRAME_HEADER_LEN;
    const size_t each =
        len + RECORD_BODY_BOUND(len) + n_frames * RECORD_BODY_BOUND(RECORD_HEADER_LEN);

    w->n_groups = MORE_GROUPS + (one_stream ? 2 : w->config.n_threads);
    w->groups = calloc(w->n_groups, sizeof *w->groups);
    if (w->groups == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    w->room_len = w->n_groups * each;
    w->room = memory_map(w->room_len, "frames", diag);
    if (w->room == NULL)
        return SL_ENOMEM;
    for (uint32_t i = 0; i < w->n_groups; i++) {
        w->groups[i].frames = w->room + i * each;
        w->groups[i].records = w->groups[i].frames + len;
    }
    return SL_OK;
}

enum sl_status record_writer_create(struct record_writer **writer,
                                    const struct record_config *config, struct sl_diag *diag)
{
    struct record_writer *const w = calloc(1, sizeof *w);

    if (w == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    *writer = w;
    w->config = *config;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    const enum sl_status status = open_groups(w, diag);
    return status == SL_OK ? start_thread(w, diag) : status;
}

uint8_t *record_writer_room(struct record_writer *w)
{
    struct group *const group = &w->groups[w->n_put % w->n_groups];

    pthread_mutex_lock(&w->lock);
    while (w->n_put - w->n_written == w->n_groups && w->status == SL_OK)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool goes_on = w->status == SL_OK;
    pthread_mutex_unlock(&w->lock);
    return goes_on ? group->frames + group->frames_len : NULL;
}

/* Another thread, where there can be one and it has something to do: what is written does not
 * depend on it. */
static void hand_over(struct record_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->n_put++;
    const bool waits = w->n_put - w->n_taken > 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (waits && w->n_threads + MORE_GROUPS < w->n_groups && !w->config.one_stream)
        (void)start_thread(w, NULL);
}

uint64_t record_writer_put(struct record_writer *w, uint32_t frame_len)
{
    struct group *const group = &w->groups[w->n_put % w->n_groups];

    group->len[group->n++] = frame_len;
    group->frames_len += frame_len;
    if (w->config.one_stream || group->n == GROUP_FRAMES || group->frames_len >= GROUP_LEN)
        hand_over(w);

    pthread_mutex_lock(&w->lock);
    const uint64_t bytes_out = w->bytes_out;
    pthread_mutex_unlock(&w->lock);
    return bytes_out;
}

static void end_threads(struct record_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    while (w->n_threads > 0)
        pthread_join(w->threads[--w->n_threads], NULL);
}

enum sl_status record_writer_end(struct record_writer *w, struct sl_redundancy_file_stats *stats,
                                 struct sl_diag *diag)
{
    if (w == NULL)
        return SL_OK;
    if (w->n_threads > 0) {
        /* Where writing has failed the place may be of a group that is not written yet. */
        if (record_writer_room(w) != NULL && w->groups[w->n_put % w->n_groups].n > 0)
            hand_over(w);
        end_threads(w);
    }

    const enum sl_status status = w->status;
    if (status != SL_OK && diag != NULL)
        *diag = w->diag;
    stats->bytes_out += w->bytes_out;
    stats->residual_bytes += w->residual_bytes;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    memory_unmap(w->room, w->room_len);
    free(w->groups);
    free(w);
    return status;
}
