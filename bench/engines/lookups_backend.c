/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "device/device.h"
#include "lookups_backend.h"

struct context {
    const struct bench_lookups *lookups;
    void *real;
    struct sl_fib_answers answers;
    uint32_t n_items; /* of the batch under way */
    struct sl_hits *hits;
};

static bool usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true; /* the maker has asked the real backend */
}

static enum sl_status lookups_open(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    const struct bench_lookups *lookups = table;
    struct context *made = calloc(1, sizeof *made);

    if (made == NULL)
        return SL_ENOMEM;
    *context = made;
    made->lookups = lookups;
    made->answers.cap = (size_t)limits->max_items + 1;
    const size_t len = made->answers.cap * sizeof *made->answers.next_hop;
    made->answers.next_hop =
        lookups->real->device == SL_DEVICE_CUDA ? device_pinned_alloc(len) : malloc(len);
    return made->answers.next_hop == NULL
               ? SL_ENOMEM
               : lookups->real->open(&made->real, lookups->table, limits, diag);
}

static enum sl_status lookups_submit(void *context, const struct sl_batch *batch,
                                     struct sl_hits *hits)
{
    struct context *made = context;

    made->n_items = batch->n_items;
    made->hits = hits;
    return made->lookups->real->submit(made->real, batch, &made->answers);
}

static enum sl_status lookups_wait(void *context)
{
    struct context *made = context;
    const enum sl_status status = made->lookups->real->wait(made->real);

    made->hits->n = 0;
    for (uint32_t i = 0; i < made->n_items; i++)
        made->hits->n += made->answers.next_hop[i] != SL_FIB_NONE;
    return status;
}

static void lookups_close(void *context)
{
    struct context *made = context;

    if (made == NULL)
        return;
    made->lookups->real->close(made->real);
    if (made->lookups->real->device == SL_DEVICE_CUDA)
        device_pinned_free(made->answers.next_hop);
    else
        free(made->answers.next_hop);
    free(made);
}

void bench_lookups_init(struct bench_lookups *lookups, const struct sl_fib_backend *real,
                        struct sl_fib *fib)
{
    *lookups = (struct bench_lookups){.backend = {real->name, real->device, usable, lookups_open,
                                                  lookups_submit, lookups_wait, lookups_close},
                                      .real = real,
                                      .table = sl_fib_table(fib)};
}
