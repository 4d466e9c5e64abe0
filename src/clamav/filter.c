/* SPDX-License-Identifier: MIT */
#include "clamav/filter.h"

#include <stdlib.h>

#include "base/diag.h"
#include "device/wait.h"

enum { HITS_FIRST = 1 << 16 /* room for hits, more where a batch has more */ };

/* ---- open and close -------------------------------------------------------------------------- */

static enum sl_status open_flight(struct clam_filter *filter, struct clam_flight *flight,
                                  const struct sl_device *device, uint32_t batch_len,
                                  struct sl_diag *diag)
{
    const bool is_cuda = device->kind == SL_DEVICE_CUDA;
    enum sl_status status = sl_device_batch_create(
        &flight->batch, is_cuda ? SL_DEVICE_CUDA : SL_DEVICE_CPU, batch_len, CLAM_ITEMS_MAX, diag);

    if (status != SL_OK)
        return status;
    flight->limits = (struct sl_limits){.max_items = CLAM_ITEMS_MAX,
                                        .max_bytes = flight->batch->bytes_cap,
                                        .max_hits = HITS_FIRST,
                                        .device = device->index,
                                        .max_wait_ms = DEVICE_MAX_WAIT_MS};
    flight->queue = (struct clam_queued *)calloc(CLAM_ITEMS_MAX, sizeof *flight->queue);
    flight->hits.hit = (struct sl_hit *)malloc(HITS_FIRST * sizeof *flight->hits.hit);
    flight->hits.cap = HITS_FIRST;
    if (flight->queue == NULL || flight->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    if (is_cuda)
        status = sl_stage_open(&flight->stage, &flight->limits, diag);
    if (status == SL_OK)
        status = sl_engine_open(&flight->context, sl_mpm_engine(filter->table), filter->backend,
                                filter->table, &flight->limits, diag);
    return status;
}

enum sl_status clam_filter_open(struct clam_filter *filter, const struct sl_mpm_table *table,
                                const struct sl_device *device, uint32_t batch_len,
                                struct sl_diag *diag)
{
    char why[SL_WHY_LEN];
    enum sl_status status = SL_OK;

    filter->table = table;
    filter->backend = sl_engine_choose(sl_mpm_engine(table), device->kind, why);
    if (filter->backend == NULL)
        return diag_set(diag, SL_EDEVICE, NULL, 0, "%s", why);
    filter->n_flights = device->kind == SL_DEVICE_CUDA ? CLAM_FLIGHTS_MAX : 1;
    for (unsigned i = 0; i < filter->n_flights && status == SL_OK; i++)
        status = open_flight(filter, &filter->flights[i], device, batch_len, diag);
    return status;
}

void clam_filter_close(struct clam_filter *filter)
{
    for (unsigned i = 0; i < filter->n_flights; i++) {
        struct clam_flight *flight = &filter->flights[i];

        if (flight->context != NULL)
            filter->backend->close(flight->context);
        sl_stage_close(flight->stage);
        sl_batch_free(flight->batch);
        free(flight->queue);
        free(flight->hits.hit);
    }
    hits_scratch_free(&filter->scratch);
}

/* ---- batches --------------------------------------------------------------------------------- */

static enum sl_status submit(const struct clam_filter *filter, struct clam_flight *flight)
{
    struct sl_batch view = *flight->batch;
    enum sl_status status = SL_OK;

    flight->hits.n = 0;
    if (flight->stage != NULL) {
        struct sl_batch content = *flight->batch;

        content.packet = NULL; /* items are no packets: the column need not cross */
        status = sl_stage_upload(flight->stage, &content, &view);
    }
    if (status == SL_OK)
        status = filter->backend->submit(flight->context, &view, &flight->hits);
    flight->submitted = status == SL_OK;
    return status;
}

static enum sl_status wait_for(const struct clam_filter *filter, struct clam_flight *flight)
{
    flight->submitted = false;
    return filter->backend->wait(flight->context);
}

enum sl_status clam_filter_start(struct clam_filter *filter)
{
    const enum sl_status status = submit(filter, clam_filter_filling(filter));

    filter->n_started += status == SL_OK;
    return status;
}

/* Once more, with room for all hits. */
static enum sl_status run_again(const struct clam_filter *filter, struct clam_flight *flight)
{
    const size_t cap = flight->hits.n + flight->hits.n / 4 + 1;
    struct sl_hit *more =
        cap <= UINT32_MAX ? (struct sl_hit *)realloc(flight->hits.hit, cap * sizeof *more) : NULL;

    if (more == NULL)
        return SL_ENOMEM;
    flight->hits.hit = more;
    flight->hits.cap = cap;
    flight->limits.max_hits = (uint32_t)cap;
    filter->backend->close(flight->context);
    flight->context = NULL;

    enum sl_status status =
        filter->backend->open(&flight->context, filter->table, &flight->limits, NULL);
    if (status == SL_OK)
        status = submit(filter, flight);
    return status == SL_OK ? wait_for(filter, flight) : status;
}

enum sl_status clam_filter_wait(struct clam_filter *filter, struct clam_flight **flight)
{
    struct clam_flight *oldest = &filter->flights[filter->oldest];
    enum sl_status status = wait_for(filter, oldest);

    while (status == SL_EOVERFLOW)
        status = run_again(filter, oldest);
    if (status == SL_OK)
        hits_sort(&oldest->hits, &filter->scratch);
    *flight = oldest;
    return status;
}

static void forget(struct clam_flight *flight)
{
    sl_batch_reset(flight->batch);
    flight->is_piece = false;
}

void clam_filter_give_back(struct clam_filter *filter)
{
    forget(&filter->flights[filter->oldest]);
    filter->oldest = (filter->oldest + 1) % filter->n_flights;
    filter->n_started--;
}

void clam_filter_drop(struct clam_filter *filter)
{
    while (filter->n_started > 0) {
        struct clam_flight *oldest = &filter->flights[filter->oldest];

        if (oldest->submitted)
            (void)wait_for(filter, oldest);
        clam_filter_give_back(filter);
    }
    forget(clam_filter_filling(filter));
}
