/* SPDX-License-Identifier: MIT */
#include "engine_fixture.h"

#include "test.h"

const struct sl_backend *engine_backend(const struct sl_engine *engine, const char *name)
{
    const struct sl_backend *const *backend = engine->backends;

    while (*backend != NULL && strcmp((*backend)->name, name) != 0)
        backend++;
    return *backend;
}

enum sl_status engine_scan(const struct sl_backend *backend, void *context, struct sl_stage *stage,
                           const struct sl_batch *host, struct sl_hits *hits)
{
    struct sl_batch view;

    if (backend->device == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(stage, host, &view), SL_OK);
        host = &view;
    }

    const enum sl_status status = backend->submit(context, host, hits);
    return status == SL_OK ? backend->wait(context) : status;
}

void engine_refuses(const struct sl_backend *backend, void *context, const struct sl_limits *limits)
{
    const bool on_gpu = backend->device == SL_DEVICE_CUDA;
    struct sl_hits hits = {.hit = NULL};
    struct sl_batch *batch, wrong;

    assert_int_equal(sl_batch_create(&batch, SL_BATCH_ALIGN, 1, NULL), SL_OK);
    sl_batch_add(batch, "ab", 2, 0);
    wrong = *batch;
    wrong.memory = on_gpu ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(backend->submit(context, &wrong, &hits), SL_EINVAL);
    wrong.memory = on_gpu ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    wrong.n_items = limits->max_items + 1;
    assert_int_equal(backend->submit(context, &wrong, &hits), SL_EINVAL);
    wrong.n_items = 1;
    wrong.bytes_len = limits->max_bytes + SL_BATCH_ALIGN;
    assert_int_equal(backend->submit(context, &wrong, &hits), SL_EINVAL);
    sl_batch_free(batch);
}
