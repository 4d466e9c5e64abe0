/* SPDX-License-Identifier: MIT */
/* The kernel's work on the CPU, thread by thread, over the block that a GPU has a copy of. It finds
 * wrong bounds where there is no GPU. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "batch/cpu_backend.h"
#include "packet_names_backend.h"
#include "packet_names_gather.h"
#include "packet_names_tile_core.h"

struct tiled {
    struct cpu_context cpu;
    struct sl_packet_names_watch *watch;
    struct names_gather *gather; /* for packets beyond a thread's bounds */
    const struct names_flat *flat;
};

static void tiled_close(void *opaque)
{
    struct tiled *tiled = (struct tiled *)opaque;

    if (tiled == NULL)
        return;
    names_gather_close(tiled->gather);
    names_watch_give_back(tiled->watch, tiled->flat);
    free(tiled);
}

static enum sl_status tiled_open(void **context, const void *table, const struct sl_limits *limits,
                                 struct sl_diag *diag)
{
    struct sl_packet_names_watch *const watch = names_watch_of(table);
    enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct tiled *tiled = (struct tiled *)calloc(1, sizeof *tiled);
    if (tiled == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    tiled->cpu.limits = *limits;
    tiled->watch = watch;
    status = names_gather_open(&tiled->gather, watch, SL_NAMES_BATCH_MAX, diag);
    if (status == SL_OK)
        status = names_watch_borrow(watch, &tiled->flat, diag);
    if (status != SL_OK) {
        tiled_close(tiled);
        return status;
    }
    *context = tiled;
    return SL_OK;
}

static void report(const struct names_tile *tile, uint32_t item,
                   struct sl_packet_names_watch_count *count, struct sl_hits *hits)
{
    count->packets += tile->n != 0;
    for (uint32_t m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        count->missed[m] += tile->misses >> m & 1;
    for (uint32_t i = 0; i < tile->n; i++) {
        const struct sl_packet_name *found = &tile->found[i];

        count->names[found->protocol]++;
        if (tile->id[i] == NAMES_NO_RULE)
            continue;
        count->matched[found->protocol]++;
        cpu_hits_append(hits, item, found->offset, tile->id[i]);
    }
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    struct tiled *tiled = (struct tiled *)cpu;
    const struct names_flat_view table = names_flat_view(tiled->flat, tiled->flat);
    const struct names_items items = names_items_of(batch);
    enum sl_status status = SL_OK;
    struct sl_packet_names_watch_count *count = names_gather_count(tiled->gather);
    struct names_tile tile;

    names_gather_begin(tiled->gather);
    for (uint32_t item = 0; item < batch->n_items && status == SL_OK; item++) {
        if (!names_tile_wants(&items, item))
            continue;
        if (names_tile_run(&tile, &table, &items, item)) {
            report(&tile, item, count, hits);
            continue;
        }
        count->left++;
        status = names_gather_take(tiled->gather, batch, item, item, hits);
    }
    return status == SL_OK ? names_gather_end(tiled->gather, hits) : status;
}

/* The block follows updates, as a GPU's copy does. */
static enum sl_status tiled_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    struct tiled *tiled = (struct tiled *)context;

    if (batch->packet == NULL)
        return SL_EINVAL;
    if (names_watch_is_new(tiled->watch, tiled->flat)) {
        names_watch_give_back(tiled->watch, tiled->flat);
        tiled->flat = NULL;
        const enum sl_status status = names_watch_borrow(tiled->watch, &tiled->flat, NULL);
        if (status != SL_OK)
            return status;
    }
    return cpu_backend_submit(&tiled->cpu, batch, hits, scan);
}

static enum sl_status tiled_wait(void *context)
{
    struct tiled *tiled = (struct tiled *)context;
    const enum sl_status status = cpu_backend_wait(context);

    if (status == SL_OK)
        names_watch_add(tiled->watch, names_gather_count(tiled->gather));
    return status;
}

const struct sl_backend names_tiled = {
    .name = "tiled",
    .device = SL_DEVICE_CPU,
    .usable = cpu_backend_usable,
    .open = tiled_open,
    .submit = tiled_submit,
    .wait = tiled_wait,
    .close = tiled_close,
};
