/* SPDX-License-Identifier: MIT */
#include "slow_engine.h"

#include "test.h"

#include <unistd.h>

struct context {
    struct slow_table *table;
    enum sl_status status;
    uint64_t seed;
};

bool slow_usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

enum sl_status slow_open(void **context, const void *table, const struct sl_limits *limits,
                         struct sl_diag *diag)
{
    struct context *made = calloc(1, sizeof *made);

    (void)limits;
    (void)diag;
    made->table = (struct slow_table *)(uintptr_t)table;
    made->seed = 1 + (uintptr_t)made;
    *context = made;
    return SL_OK;
}

enum sl_status slow_submit(void *opaque, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct context *context = opaque;

    usleep(test_below(&context->seed, 300));
    hits->n = 0;
    for (uint32_t i = batch->n_items; i-- > 0;) /* backwards: the pipeline must sort */
        for (uint32_t at = 0; at < batch->payload[i].len; at++) {
            if (batch->bytes[batch->payload[i].offset + at] != 'x')
                continue;
            if (hits->n < hits->cap)
                hits->hit[hits->n] = (struct sl_hit){i, at, 7};
            hits->n++;
        }
    context->status = hits->n > hits->cap ? SL_EOVERFLOW : SL_OK;
    return atomic_fetch_sub(&context->table->fail_submit_in, 1) == 0 ? SL_EINVAL : SL_OK;
}

enum sl_status slow_wait(void *opaque)
{
    struct context *context = opaque;

    return atomic_fetch_sub(&context->table->fail_wait_in, 1) == 0 ? SL_EDEVICE : context->status;
}

const struct sl_backend slow_backend = {"test",      SL_DEVICE_CPU, slow_usable, slow_open,
                                        slow_submit, slow_wait,     free};
static const struct sl_backend *const backends[] = {&slow_backend, NULL};
const struct sl_engine slow_engine = {.name = "test engine", .backends = backends};
