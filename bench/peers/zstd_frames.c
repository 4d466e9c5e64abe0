/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <zstd.h>

#include "zstd_frames.h"

struct context {
    ZSTD_CCtx *zstd;
    int level;
    uint8_t *frame;
    size_t frame_cap;
};

static bool usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

static enum sl_status zstd_open(void **context, const void *table, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    struct context *made = calloc(1, sizeof *made);

    (void)diag;
    if (made == NULL)
        return SL_ENOMEM;
    *context = made;
    made->level = *(const int *)table;
    made->zstd = ZSTD_createCCtx();
    made->frame_cap = ZSTD_compressBound(limits->max_bytes);
    made->frame = malloc(made->frame_cap);
    return made->zstd != NULL && made->frame != NULL ? SL_OK : SL_ENOMEM;
}

static enum sl_status zstd_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct context *made = context;
    const size_t len = ZSTD_compressCCtx(made->zstd, made->frame, made->frame_cap, batch->bytes,
                                         batch->bytes_len, made->level);

    hits->n = ZSTD_isError(len) ? 0 : len;
    return ZSTD_isError(len) ? SL_EINVAL : SL_OK;
}

static enum sl_status zstd_wait(void *context)
{
    (void)context;
    return SL_OK;
}

static void zstd_close(void *context)
{
    struct context *made = context;

    if (made == NULL)
        return;
    (void)ZSTD_freeCCtx(made->zstd);
    free(made->frame);
    free(made);
}

const struct sl_backend bench_zstd = {"zstd",      SL_DEVICE_CPU, usable,    zstd_open,
                                      zstd_submit, zstd_wait,     zstd_close};
