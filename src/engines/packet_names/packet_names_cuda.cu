/* SPDX-License-Identifier: MIT */
/* Names in packets on GPUs, a thread a packet that may have some. Packets beyond a thread's bounds
 * come back as a list of items, and the CPU does them when the batch is waited for.
 *
 * The device has a copy of the table as one block. A batch that is submitted after an update waits
 * for its end, and for the copy that is made anew. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/cuda_internal.h"
#include "packet_names_backend.h"
#include "packet_names_gather.h"
#include "packet_names_tile_core.h"

enum {
    BLOCK = 256,         /* threads, and packets: of few blocks in the way of other kernels */
    BACK_ALONG = 1 << 10 /* items of those that come back that cross with the counts */
};

/* The words that cross back beside hits. */
struct report {
    uint32_t count[NAMES_N_COUNTS];
    uint32_t n_back;
    uint32_t ticket;  /* of blocks */
    uint32_t back[1]; /* as many as a batch has items */
};

struct names_cuda {
    struct sl_packet_names_watch *watch;
    const struct names_flat *flat; /* whose copy the context has */
    struct cuda_context *cuda;     /* NULL where it could not be made anew */
    struct sl_limits limits;
    struct names_gather *gather;
    struct report *d_report, *h_report; /* h_report: pinned */
    struct sl_hits *hits;               /* the caller's, between submit and wait */
    struct sl_batch batch;              /* the caller's, as it was submitted */
    uint8_t *fetched;                   /* a packet of a batch that lies on the device alone */
};

/* ---- the kernel ------------------------------------------------------------------------------ */

static __device__ void report_item(const struct names_tile *tile, uint32_t item, uint32_t *count,
                                   struct cuda_hits_device hits)
{
    if (tile->n != 0)
        atomicAdd(&count[NAMES_COUNT_PACKETS], 1);
    for (uint32_t misses = tile->misses; misses != 0; misses &= misses - 1)
        atomicAdd(&count[NAMES_COUNT_MISSED + __ffs((int)misses) - 1], 1);
    for (uint32_t i = 0; i < tile->n; i++) {
        const struct sl_packet_name *found = &tile->found[i];

        atomicAdd(&count[NAMES_COUNT_NAMES + found->protocol], 1);
        if (tile->id[i] == NAMES_NO_RULE)
            continue;
        atomicAdd(&count[NAMES_COUNT_MATCHED + found->protocol], 1);
        cuda_hits_append(hits, item, found->offset, tile->id[i]);
    }
}

/* The last block calls it. Copies the counts and the first items that are left to the CPU, and sets
 * the counts to 0. */
static __device__ void bring_back(struct report *report, struct report *to)
{
    const uint32_t n_back = __ldcg(&report->n_back);

    for (uint32_t i = threadIdx.x; i < n_back && i < BACK_ALONG; i += BLOCK)
        to->back[i] = __ldcg(&report->back[i]);
    for (uint32_t c = threadIdx.x; c < NAMES_N_COUNTS; c += BLOCK) {
        to->count[c] = __ldcg(&report->count[c]);
        report->count[c] = 0;
    }
    __syncthreads(); /* all have read n_back */
    if (threadIdx.x == 0) {
        to->n_back = n_back;
        report->n_back = 0;
        report->ticket = 0;
    }
}

/* A block looks first which of its packets may have names. The block shares these out over all its
 * threads, as far from one another as there is room. The time of a packet is one thread's way
 * through its names, and threads of a warp on different ways wait for one another. */
static __global__ void __launch_bounds__(BLOCK)
    names_kernel(const __grid_constant__ struct names_flat_view table,
                 const struct names_items items, struct report *report, struct report *to,
                 struct cuda_hits_device hits, struct cuda_delivery delivery)
{
    __shared__ uint32_t count[NAMES_N_COUNTS], wanting[BLOCK], n;
    const uint32_t own = blockIdx.x * BLOCK + threadIdx.x;

    for (uint32_t i = threadIdx.x; i < NAMES_N_COUNTS; i += BLOCK)
        count[i] = 0;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    if (own < items.n && names_tile_wants(&items, own))
        wanting[atomicAdd(&n, 1)] = own;
    __syncthreads();
    const uint32_t spread = n != 0 ? BLOCK / n : 1, i = threadIdx.x / spread;
    if (threadIdx.x % spread == 0 && i < n) {
        const uint32_t item = wanting[i];
        struct names_tile tile;

        if (names_tile_run(&tile, &table, &items, item))
            report_item(&tile, item, count, hits);
        else
            report->back[atomicAdd(&report->n_back, 1)] = item;
    }
    __syncthreads();
    for (uint32_t c = threadIdx.x; c < NAMES_N_COUNTS; c += BLOCK)
        if (count[c] != 0)
            atomicAdd(&report->count[c], count[c]);
    if (!cuda_is_last_block(&report->ticket))
        return;
    bring_back(report, to);
    if (delivery.to != NULL)
        cuda_deliver_all(delivery);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static size_t report_len(uint32_t n_back)
{
    return offsetof(struct report, back) + n_back * sizeof(uint32_t);
}

static void detach_table(struct names_cuda *names)
{
    cuda_context_close(names->cuda);
    names->cuda = NULL;
    names_watch_give_back(names->watch, names->flat);
    names->flat = NULL;
}

static enum sl_status attach_table(struct names_cuda *names, struct sl_diag *diag)
{
    void *cuda = NULL;
    enum sl_status status = names_watch_borrow(names->watch, &names->flat, diag);

    if (status == SL_OK)
        status = cuda_context_open(&cuda, names->flat, names->flat->len, &names->limits, diag);
    names->cuda = (struct cuda_context *)cuda;
    return status;
}

static void names_cuda_close(void *context)
{
    struct names_cuda *names = (struct names_cuda *)context;

    if (names == NULL)
        return;
    detach_table(names);
    names_gather_close(names->gather);
    cuda_free(names->d_report, names->limits.device);
    device_pinned_free(names->h_report);
    free(names->fetched);
    free(names);
}

static enum sl_status take_memory(struct names_cuda *names, struct sl_diag *diag)
{
    const size_t len = report_len(names->limits.max_items + 1);

    /* Real only where it is written: batches that lie on the device alone are few. */
    names->fetched = (uint8_t *)malloc((size_t)names->limits.max_bytes + SL_BATCH_SLACK);
    names->h_report = (struct report *)device_pinned_alloc(len);
    if (names->fetched == NULL || names->h_report == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    const enum sl_status status =
        cuda_take((void **)&names->d_report, len, "counts of names", diag);

    return status != SL_OK ? status
                           : cuda_status(cuda_clear(names->d_report, report_len(0)),
                                         "preparing for names", diag);
}

static enum sl_status names_cuda_open(void **context, const void *table,
                                      const struct sl_limits *limits, struct sl_diag *diag)
{
    struct sl_packet_names_watch *const watch = names_watch_of(table);
    enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    if (limits->device_hits != NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "hits of names cannot stay on the GPU: some are found by the CPU");
    struct names_cuda *names = (struct names_cuda *)calloc(1, sizeof *names);
    if (names == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of names");
    names->watch = watch;
    names->limits = *limits;
    status = names_gather_open(&names->gather, watch, SL_NAMES_BATCH_MAX, diag);
    if (status == SL_OK)
        status = attach_table(names, diag);
    if (status == SL_OK) /* on the device that the context has chosen */
        status = take_memory(names, diag);
    if (status != SL_OK) {
        names_cuda_close(names);
        return status;
    }
    *context = names;
    return SL_OK;
}

/* ---- submit ---------------------------------------------------------------------------------- */

static enum sl_status follow_updates(struct names_cuda *names)
{
    if (names->flat != NULL && !names_watch_is_new(names->watch, names->flat))
        return SL_OK;
    detach_table(names);
    const enum sl_status status = attach_table(names, NULL);
    if (status != SL_OK)
        detach_table(names);
    return status;
}

static cudaError_t run_kernel(struct names_cuda *names, const struct sl_batch *batch)
{
    const struct names_items items = names_items_of(batch);

    memset(names->h_report, 0, report_len(0));
    if (items.n == 0)
        return cudaSuccess;
    names_kernel<<<(items.n - 1) / BLOCK + 1, BLOCK, 0, (cudaStream_t)batch->stream>>>(
        names_flat_view(names->flat, names->cuda->d_table), items, names->d_report, names->h_report,
        cuda_hits_device(names->cuda), cuda_delivery(names->cuda));
    return cudaGetLastError();
}

static enum sl_status names_cuda_submit(void *context, const struct sl_batch *batch,
                                        struct sl_hits *hits)
{
    struct names_cuda *names = (struct names_cuda *)context;

    if (batch->packet == NULL)
        return SL_EINVAL;
    enum sl_status status = follow_updates(names);
    if (status == SL_OK)
        status = cuda_submit_begin(names->cuda, batch, hits);
    if (status != SL_OK)
        return status;
    names->hits = hits;
    names->batch = *batch;
    status = cuda_status(run_kernel(names, batch), "looking names of packets up", NULL);
    return status == SL_OK ? cuda_submit_end(names->cuda) : status;
}

/* ---- wait ------------------------------------------------------------------------------------ */

static enum sl_status fetch(const struct names_cuda *names, void *to, const void *d_from,
                            size_t len)
{
    return cuda_fetch(to, d_from, len, (cudaStream_t)names->batch.stream, &names->limits);
}

/* Where the batch lies on the host. */
static struct sl_batch host_batch(const struct sl_batch *batch)
{
    struct sl_batch host = *batch;

    host.memory = SL_MEMORY_HOST;
    host.bytes = batch->host_bytes;
    host.payload = batch->host_payload;
    host.packet = batch->host_packet;
    return host;
}

/* A packet that lies on the device alone, done at once: the next one takes its place. Its link type
 * is known if there is an origin. */
static enum sl_status take_from_device(struct names_cuda *names, uint32_t item)
{
    const struct sl_batch *batch = &names->batch;
    struct sl_packet packet;
    struct sl_span payload;

    enum sl_status status = fetch(names, &packet, &batch->packet[item], sizeof packet);
    if (status == SL_OK)
        status = fetch(names, &payload, &batch->payload[item], sizeof payload);
    if (status == SL_OK)
        status = fetch(names, names->fetched, batch->bytes + packet.offset, packet.len);
    if (status != SL_OK)
        return status;

    struct sl_batch host = *batch;
    payload.offset -= packet.offset;
    packet.offset = 0;
    host.memory = SL_MEMORY_HOST;
    host.n_items = 1;
    host.bytes = names->fetched;
    host.payload = &payload;
    host.packet = &packet;
    host.origin = batch->origin != NULL ? &batch->origin[item] : NULL;
    status = names_gather_take(names->gather, &host, 0, item, names->hits);
    return status == SL_OK ? names_gather_end(names->gather, names->hits) : status;
}

static enum sl_status take_back(struct names_cuda *names)
{
    const uint32_t n = names->h_report->n_back;
    enum sl_status status = SL_OK;

    if (n > BACK_ALONG)
        status = fetch(names, &names->h_report->back[BACK_ALONG],
                       &names->d_report->back[BACK_ALONG], (n - BACK_ALONG) * sizeof n);
    for (uint32_t i = 0; i < n && status == SL_OK; i++) {
        const uint32_t item = names->h_report->back[i];

        if (names->batch.host_bytes == NULL) {
            status = take_from_device(names, item);
        } else {
            const struct sl_batch host = host_batch(&names->batch);

            status = names_gather_take(names->gather, &host, item, item, names->hits);
        }
    }
    return status == SL_OK ? names_gather_end(names->gather, names->hits) : status;
}

static void count_found(const struct report *report, struct sl_packet_names_watch_count *count)
{
    count->packets += report->count[NAMES_COUNT_PACKETS];
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++) {
        count->names[p] += report->count[NAMES_COUNT_NAMES + p];
        count->matched[p] += report->count[NAMES_COUNT_MATCHED + p];
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        count->missed[m] += report->count[NAMES_COUNT_MISSED + m];
    count->left += report->n_back;
}

static enum sl_status names_cuda_wait(void *context)
{
    struct names_cuda *names = (struct names_cuda *)context;
    const enum sl_status found = cuda_context_wait(names->cuda);

    if (found != SL_OK && found != SL_EOVERFLOW)
        return found;
    names_gather_begin(names->gather);
    names->hits->in_order &= names->h_report->n_back == 0;
    const enum sl_status status = take_back(names);
    if (status != SL_OK)
        return status;
    if (found == SL_EOVERFLOW || names->hits->n > names->hits->cap)
        return SL_EOVERFLOW;
    count_found(names->h_report, names_gather_count(names->gather));
    names_watch_add(names->watch, names_gather_count(names->gather));
    return SL_OK;
}

const struct sl_backend names_cuda = {
    "cuda",          SL_DEVICE_CUDA,   device_cuda_usable, names_cuda_open, names_cuda_submit,
    names_cuda_wait, names_cuda_close,
};
