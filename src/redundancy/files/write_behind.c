/* SPDX-License-Identifier: MIT */
#include "write_behind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/fd.h"
#include "redundancy/match/packet_log.h"
#include "sluice/redundancy.h"

enum {
    BLOCK_LEN = 1 << 20, /* bytes that are written together, or more */
    ROOM_LEN = BLOCK_LEN + SL_FRAME_MAX,
    BLOCKS = 4
};

/* Number i of the blocks is at i % BLOCKS. */
struct write_behind {
    int out;
    uint8_t *room;
    size_t len[BLOCKS];
    bool has_thread;
    pthread_t thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t n_put, n_written;
    bool ended;
    uint64_t unwritten; /* bytes that were put behind a failure */
    enum sl_status status;
    struct sl_diag diag;
};

static uint8_t *block_of(const struct write_behind *w, uint64_t number)
{
    return w->room + number % BLOCKS * ROOM_LEN;
}

/* Waits for a block. False: no more come. */
static bool wait_for_block(struct write_behind *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->n_written == w->n_put && !w->ended)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool is_there = w->n_written < w->n_put;
    pthread_mutex_unlock(&w->lock);
    return is_there;
}

static void *work(void *user)
{
    struct write_behind *const w = (struct write_behind *)user;

    while (wait_for_block(w)) {
        const size_t len = w->len[w->n_written % BLOCKS];
        struct sl_diag diag = {0};
        enum sl_status status = w->status;

        if (status == SL_OK && !fd_write(w->out, block_of(w, w->n_written), len))
            status = fd_failed("cannot write", &diag);
        pthread_mutex_lock(&w->lock);
        if (w->status == SL_OK)
            w->diag = diag;
        w->status = status;
        w->unwritten += status == SL_OK ? 0 : len;
        w->len[w->n_written % BLOCKS] = 0;
        w->n_written++;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

enum sl_status write_behind_create(struct write_behind **writer, int out, struct sl_diag *diag)
{
    struct write_behind *const w = calloc(1, sizeof *w);

    if (w == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for output");
    *writer = w;
    w->out = out;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->room = memory_map((uint64_t)BLOCKS * ROOM_LEN, "output", diag);
    if (w->room == NULL)
        return SL_ENOMEM;
    const int error = pthread_create(&w->thread, NULL, work, w);
    if (error != 0)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no thread to write with: %s", strerror(error));
    w->has_thread = true;
    return SL_OK;
}

uint8_t *write_behind_room(struct write_behind *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->n_put - w->n_written == BLOCKS && w->status == SL_OK)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool goes_on = w->status == SL_OK;
    pthread_mutex_unlock(&w->lock);
    return goes_on ? block_of(w, w->n_put) + w->len[w->n_put % BLOCKS] : NULL;
}

static void hand_over(struct write_behind *w)
{
    pthread_mutex_lock(&w->lock);
    w->n_put++;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void write_behind_put(struct write_behind *w, size_t len)
{
    size_t *const block_len = &w->len[w->n_put % BLOCKS];

    *block_len += len;
    if (*block_len >= BLOCK_LEN)
        hand_over(w);
}

enum sl_status write_behind_end(struct write_behind *w, uint64_t *len, struct sl_diag *diag)
{
    if (w == NULL)
        return SL_OK;
    if (w->has_thread) {
        /* Where writing has failed the place may be of a block that is not written yet. */
        if (write_behind_room(w) != NULL && w->len[w->n_put % BLOCKS] > 0)
            hand_over(w);
        pthread_mutex_lock(&w->lock);
        w->ended = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }

    const enum sl_status status = w->status;
    if (status != SL_OK) {
        *len -= w->unwritten + w->len[w->n_put % BLOCKS];
        if (diag != NULL)
            *diag = w->diag;
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    memory_unmap(w->room, (uint64_t)BLOCKS * ROOM_LEN);
    free(w);
    return status;
}
