/* SPDX-License-Identifier: MIT */
/* Names of packets, looked up: sluice/engine.h over sl_packet_names and sl_names_lookup. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "batch/cpu_backend.h"
#include "names/table/names_internal.h"
#include "packet_names_backend.h"
#include "packet_names_gather.h"

enum { AHEAD = 8 /* packets fetched ahead */ };

struct context {
    struct cpu_context cpu;
    struct sl_packet_names_watch *watch;
    struct names_gather *gather;
};

void sl_packet_names_hit(const struct sl_names *names, uint64_t id, struct sl_names_answer *answer)
{
    names_rule_answer(names, (uint32_t)id, (uint32_t)(id >> 32), answer);
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* Its transport header, and the payload that follows it. */
static void fetch(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + packet->offset + packet->transport;

    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    struct names_gather *gather = ((struct context *)cpu)->gather;
    enum sl_status status = SL_OK;

    names_gather_begin(gather);
    for (uint32_t item = 0; item < batch->n_items && status == SL_OK; item++) {
        if (batch->n_items - item > AHEAD)
            fetch(batch, item + AHEAD);
        status = names_gather_take(gather, batch, item, item, hits);
    }
    return status == SL_OK ? names_gather_end(gather, hits) : status;
}

/* ---- backends -------------------------------------------------------------------------------- */

static void names_close(void *opaque)
{
    struct context *context = (struct context *)opaque;

    if (context != NULL)
        names_gather_close(context->gather);
    free(context);
}

static enum sl_status open_context(void **out, const void *table, const struct sl_limits *limits,
                                   uint32_t at_once, struct sl_diag *diag)
{
    struct sl_packet_names_watch *const watch = names_watch_of(table);
    enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct context *context = (struct context *)calloc(1, sizeof *context);
    if (context == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    context->cpu.table = table;
    context->cpu.limits = *limits;
    context->watch = watch;
    status = names_gather_open(&context->gather, watch, at_once, diag);
    if (status != SL_OK) {
        names_close(context);
        return status;
    }
    *out = context;
    return SL_OK;
}

static enum sl_status batched_open(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    return open_context(context, table, limits, SL_NAMES_BATCH_MAX, diag);
}

static enum sl_status scalar_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    return open_context(context, table, limits, 1, diag);
}

/* A batch that is run again, for its hits did not fit, counts once. */
static enum sl_status names_wait(void *opaque)
{
    struct context *context = (struct context *)opaque;
    const enum sl_status status = cpu_backend_wait(context);

    if (status == SL_OK)
        names_watch_add(context->watch, names_gather_count(context->gather));
    return status;
}

static enum sl_status names_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    if (batch->packet == NULL)
        return SL_EINVAL;
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, scan);
}

static const struct sl_backend batched = {
    .name = "batched",
    .device = SL_DEVICE_CPU,
    .usable = cpu_backend_usable,
    .open = batched_open,
    .submit = names_submit,
    .wait = names_wait,
    .close = names_close,
};

static const struct sl_backend scalar = {
    .name = "scalar",
    .device = SL_DEVICE_CPU,
    .usable = cpu_backend_usable,
    .open = scalar_open,
    .submit = names_submit,
    .wait = names_wait,
    .close = names_close,
};

static const struct sl_backend *const backends[] = {&batched, &scalar, &names_tiled, &names_cuda,
                                                    NULL};

const struct sl_engine *sl_packet_names_engine(void)
{
    static const struct sl_engine engine = {
        .name = "names", .backends = backends, .takes = names_watch_is};

    return &engine;
}
