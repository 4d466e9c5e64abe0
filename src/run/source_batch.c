/* SPDX-License-Identifier: MIT */
#include "source_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"

enum { QUERY_KERNEL_NS = 100000000 }; /* asking the kernel opens files */

enum sl_status source_batch_init(struct source_batch *part, uint32_t max_items,
                                 struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    part->mark = malloc(((size_t)max_items + 1) * sizeof *part->mark);
    if (part->mark == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to read packets");
    if (status == SL_OK)
        status = sl_flow_keys_create(&part->keys, max_items, diag);
    if (status != SL_OK)
        source_batch_clear(part);
    return status;
}

void source_batch_abandon(struct source_batch *part, struct run_source *source)
{
    if (part->capture != NULL)
        run_source_release(source, part->capture);
    part->capture = NULL;
}

void source_batch_clear(struct source_batch *part)
{
    sl_flow_keys_free(part->keys);
    run_datagrams_clear(&part->made);
    run_fragment_list_clear(&part->fragments);
    free(part->mark);
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* Reads on, or claims a part where the file is a large one. SL_END: this capture has no more for
 * the filling thread. */
static enum sl_status fill_some(struct source_batch *part, struct run_source *source,
                                struct sl_batch *batch, struct sl_diag *diag)
{
    struct run_capture *capture = source->capture;
    const enum sl_status status = sl_capture_claim(capture->capture, batch, &part->part);

    if (status == SL_EUNSUPPORTED)
        return sl_capture_read(capture->capture, batch, diag);
    if (status == SL_OK) {
        part->capture = capture;
        part->is_part = true;
        atomic_fetch_add(&capture->holders, 1);
    }
    return status;
}

static void query_kernel(struct run_source *source)
{
    const uint64_t now = clock_ns();
    struct sl_capture_stats stats;

    if (source->config->interface == NULL || now - source->queried_ns < QUERY_KERNEL_NS)
        return;
    sl_capture_stats(source->capture->capture, &stats);
    pthread_mutex_lock(&source->lock);
    source->live = stats;
    source->queried_ns = now;
    pthread_mutex_unlock(&source->lock);
}

static enum sl_status fill_from_captures(struct source_batch *part, struct run_source *source,
                                         struct sl_batch *batch, struct sl_diag *diag)
{
    /* Small files share a batch: go on until it is full, or, live, time has passed. */
    for (;;) {
        enum sl_status status = run_source_next(source, diag);

        if (status != SL_OK)
            return status;
        status = fill_some(part, source, batch, diag);
        query_kernel(source);
        if (status == SL_OK || status == SL_EINVAL)
            return status;
        if (status != SL_END)
            run_source_fail_file(source, diag);
        run_source_end_capture(source);
    }
}

static enum sl_status fill_from_caller(struct run_source *source, struct sl_batch *batch,
                                       struct sl_diag *diag)
{
    const struct sl_run_config *config = source->config;

    if (atomic_load(&source->stopped))
        return SL_END;
    const enum sl_status status = config->fill(config->user, batch, diag);
    pthread_mutex_lock(&source->lock);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        batch->origin[i].position = ++source->filled;
        source->captured.bytes += batch->packet[i].len;
    }
    source->captured.packets = source->filled;
    pthread_mutex_unlock(&source->lock);
    return status;
}

enum sl_status source_batch_fill(struct source_batch *part, struct run_source *source,
                                 struct sl_batch *batch, struct sl_diag *diag)
{
    part->capture = NULL;
    part->is_part = false;
    if (source->totals && batch->total == NULL) {
        const enum sl_status status = sl_batch_reserve_totals(batch, diag);

        if (status != SL_OK)
            return status;
    }
    batch->bytes_cap -= RUN_FRAGMENTS_ROOM;
    batch->max_items -= RUN_FRAGMENTS_ITEMS;
    const enum sl_status status = source->config->fill != NULL
                                      ? fill_from_caller(source, batch, diag)
                                      : fill_from_captures(part, source, batch, diag);
    batch->bytes_cap += RUN_FRAGMENTS_ROOM;
    batch->max_items += RUN_FRAGMENTS_ITEMS;
    return status;
}

/* ---- prepare to apply ------------------------------------------------------------------------ */

/* Items move where fragments are taken. So keys are read behind that. */
static enum sl_status dissect(struct source_batch *part, const struct run_source *source,
                              struct sl_batch *batch, struct sl_diag *diag)
{
    const uint64_t *n_of = part->dissected.packets;
    enum sl_status status = SL_OK;

    memset(&part->dissected, 0, sizeof part->dissected);
    sl_dissect(batch, &part->dissected);
    part->joins = source->joins && n_of[SL_PROTOCOL_FRAGMENT] != 0;
    if (part->joins)
        status = run_fragments_list(source->fragments, batch, (uint32_t)n_of[SL_PROTOCOL_FRAGMENT],
                                    &part->fragments, diag);
    else
        sl_flow_keys_read(part->keys, source->flows, batch);
    part->bytes = 0;
    for (uint32_t i = 0; i < batch->n_items; i++)
        part->bytes += batch->packet[i].len;
    return status;
}

enum sl_status source_batch_prepare(struct source_batch *part, const struct run_source *source,
                                    struct sl_batch *batch, struct sl_diag *diag)
{
    if (part->capture != NULL)
        sl_capture_load(&part->part, batch);
    return dissect(part, source, batch, diag);
}

static enum sl_status join(struct source_batch *part, struct run_source *source,
                           struct sl_batch *batch, struct sl_diag *diag)
{
    struct sl_diag why = {0};
    bool changed;
    const enum sl_status status = sl_capture_join(&part->part, batch, &changed, &why);

    if (status != SL_OK && status != SL_END)
        run_source_fail_file(source, &why);
    source_batch_abandon(part, source);
    return changed ? dissect(part, source, batch, diag) : SL_OK;
}

static void add_dissected(struct sl_dissect_stats *sum, const struct sl_dissect_stats *more)
{
    for (int i = 0; i < SL_N_PROTOCOLS; i++) {
        sum->packets[i] += more->packets[i];
        sum->bytes[i] += more->bytes[i];
    }
    for (int i = 0; i < SL_N_DEFECTS; i++)
        sum->defects[i] += more->defects[i];
    for (int i = 0; i < 256; i++)
        sum->unknown_links[i] += more->unknown_links[i];
}

static enum sl_status join_fragments(struct source_batch *part, struct run_source *source,
                                     struct sl_batch *batch, struct sl_diag *diag)
{
    const enum sl_status status = run_fragments_join(source->fragments, batch, &part->fragments,
                                                     &part->made, &part->dissected, diag);

    pthread_mutex_lock(&source->lock);
    run_fragments_stats(source->fragments, &source->fragment_stats);
    pthread_mutex_unlock(&source->lock);
    return status;
}

enum sl_status source_batch_order(struct source_batch *part, struct run_source *source,
                                  struct sl_batch *batch, struct sl_diag *diag)
{
    const enum sl_status status = part->capture != NULL ? join(part, source, batch, diag) : SL_OK;

    part->made.n = part->made.len = 0;
    part->made.took = false;
    return status == SL_OK && part->joins ? join_fragments(part, source, batch, diag) : status;
}

void source_batch_arrange(struct source_batch *part, const struct run_source *source,
                          struct sl_batch *batch)
{
    if (!part->joins)
        return;
    if (part->made.took) {
        run_fragments_build(&part->fragments, batch, &part->made, &part->dissected);
        run_datagrams_lay(&part->made, batch);
    }
    sl_flow_keys_read(part->keys, source->flows, batch);
}

void source_batch_deal(const struct source_batch *part, struct run_source *source,
                       const struct sl_batch *batch)
{
    sl_flow_deal(source->flows, batch, part->keys);
}

void source_batch_collect(const struct source_batch *part, struct run_source *source,
                          struct sl_batch *batch, uint32_t shard)
{
    sl_flow_track_shard(source->flows, batch, part->keys, shard);
}

void source_batch_apply(const struct source_batch *part, struct run_source *source,
                        struct sl_batch *batch)
{
    if (part->is_part)
        sl_capture_number(&part->part, batch);
    sl_flow_keys_apply(part->keys, batch);
    pthread_mutex_lock(&source->lock);
    source->packets += batch->n_items - part->made.n;
    source->bytes += part->bytes;
    add_dissected(&source->dissected, &part->dissected);
    sl_flow_keys_stats(part->keys, source->flows, &source->flow_stats);
    pthread_mutex_unlock(&source->lock);
}

enum sl_status source_batch_sort_ends(const struct source_batch *part,
                                      const struct run_source *source, struct sl_diag *diag)
{
    const enum sl_status status = sl_flow_keys_sort_ends(part->keys, source->flows);

    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "no memory for the flows that end in a batch");
}
