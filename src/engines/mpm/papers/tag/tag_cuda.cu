/* SPDX-License-Identifier: MIT */
/* Tags on GPUs in the chapter's division of work. The kernel finds candidates (item, window's end,
 * entry), with a thread a position. The CPU verifies them when the batch is waited for. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/papers/mpm_starts.h"
#include "tag_core.h"
#include "tag_host.h"

/* Bytes of a batch for each candidate that there is room for. Beyond it the CPU does all. */
enum { BYTES_A_CANDIDATE = 16 };

struct tag_cuda {
    struct cuda_context *cuda; /* whose hits are the candidates */
    struct sl_hits candidates; /* pinned */
    struct sl_hits *hits;      /* the caller's, between submit and wait */
    struct sl_batch batch;     /* the caller's, as it was submitted */
    struct sl_batch host;      /* where its bytes lie on the host */
    struct sl_batch fetched;   /* memory for the bytes of batches that lie on the device alone */
};

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    tag_kernel(const __grid_constant__ struct tag_view view, struct mpm_items items,
               struct cuda_hits_device candidates)
{
    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x) {
        const struct sl_span span = items.payload[item];
        const uint8_t *payload = items.bytes + span.offset;

        for (uint64_t end = mpm_starts_first() + 1; end <= span.len; end += mpm_starts_stride()) {
            struct tag_search search;
            uint32_t entry;

            tag_begin(&view, &search, tag_recent(payload, (uint32_t)end));
            while (tag_next(&view, &search, &entry))
                cuda_hits_append(candidates, item, (uint32_t)end, entry);
        }
    }
}

static void tag_close(void *context)
{
    struct tag_cuda *tag = (struct tag_cuda *)context;

    if (tag == NULL)
        return;
    cuda_context_close(tag->cuda);
    device_pinned_free(tag->candidates.hit);
    free(tag->fetched.bytes);
    free(tag->fetched.payload);
    free(tag->fetched.overlap);
    free(tag);
}

/* Host memory: the pages for fetched batches are real only when they are written. */
static bool take_memory(struct tag_cuda *tag, const struct sl_limits *limits)
{
    const size_t n = limits->max_items + (size_t)1;
    struct sl_batch *fetched = &tag->fetched;

    tag->candidates.cap = limits->max_bytes / BYTES_A_CANDIDATE + 1;
    tag->candidates.hit =
        (struct sl_hit *)device_pinned_alloc(tag->candidates.cap * sizeof *tag->candidates.hit);
    fetched->memory = SL_MEMORY_HOST;
    fetched->bytes = (uint8_t *)malloc((size_t)limits->max_bytes + SL_BATCH_SLACK);
    fetched->payload = (struct sl_span *)malloc(n * sizeof *fetched->payload);
    fetched->overlap = (uint16_t *)malloc(n * sizeof *fetched->overlap);
    return tag->candidates.hit != NULL && fetched->bytes != NULL && fetched->payload != NULL &&
           fetched->overlap != NULL;
}

static enum sl_status tag_open(void **context, const void *table, const struct sl_limits *limits,
                               struct sl_diag *diag)
{
    struct sl_limits for_candidates = *limits;
    void *cuda = NULL;

    if (limits->device_hits != NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "hits of tag cannot stay on the GPU: the CPU verifies them");
    struct tag_cuda *tag = (struct tag_cuda *)calloc(1, sizeof *tag);
    if (tag == NULL || !take_memory(tag, limits)) {
        tag_close(tag);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for candidates");
    }
    for_candidates.max_hits = (uint32_t)tag->candidates.cap;

    const enum sl_status status = cuda_context_open(
        &cuda, table, ((const struct sl_mpm_table *)table)->head.len, &for_candidates, diag);
    tag->cuda = (struct cuda_context *)cuda;
    if (status != SL_OK) {
        tag_close(tag);
        return status;
    }
    *context = tag;
    return SL_OK;
}

static enum sl_status tag_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct tag_cuda *tag = (struct tag_cuda *)context;
    const struct cuda_context *cuda = tag->cuda;
    const enum sl_status status = cuda_submit_begin(tag->cuda, batch, &tag->candidates);

    if (status != SL_OK)
        return status;
    tag->hits = hits;
    tag->batch = *batch;
    if (batch->n_items != 0) {
        const struct tag_view view = tag_view((const struct sl_mpm_table *)cuda->table,
                                              (const struct sl_mpm_table *)cuda->d_table);

        tag_kernel<<<mpm_starts_grid(cuda, batch->n_items), MPM_STARTS_BLOCK, 0,
                     (cudaStream_t)batch->stream>>>(view, mpm_items(batch), cuda_hits_device(cuda));
    }
    return cuda_submit_end(tag->cuda);
}

static enum sl_status fetch(const struct tag_cuda *tag, void *to, const void *d_from, size_t len)
{
    return cuda_fetch(to, d_from, len, (cudaStream_t)tag->batch.stream, &tag->cuda->limits);
}

/* Finds the batch's bytes on the host, or brings them there. */
static enum sl_status find_host(struct tag_cuda *tag)
{
    const struct sl_batch *batch = &tag->batch;
    struct sl_batch *host = &tag->host;

    *host = tag->fetched;
    host->n_items = batch->n_items;
    host->has_overlap = batch->has_overlap;
    if (batch->host_bytes != NULL) {
        host->bytes = batch->host_bytes;
        host->payload = batch->host_payload;
        host->overlap = batch->host_overlap;
        return SL_OK;
    }
    enum sl_status status = fetch(tag, host->bytes, batch->bytes, batch->bytes_len);
    if (status == SL_OK)
        status = fetch(tag, host->payload, batch->payload, batch->n_items * sizeof *host->payload);
    if (status == SL_OK && batch->has_overlap)
        status = fetch(tag, host->overlap, batch->overlap, batch->n_items * sizeof *host->overlap);
    return status;
}

static enum sl_status tag_wait(void *context)
{
    struct tag_cuda *tag = (struct tag_cuda *)context;
    const struct sl_mpm_table *table = (const struct sl_mpm_table *)tag->cuda->table;
    struct sl_hits *hits = tag->hits;
    const enum sl_status found = cuda_context_wait(tag->cuda);

    if (found != SL_OK && found != SL_EOVERFLOW)
        return found;
    hits->n = 0;
    hits->in_order = false;
    if (tag->candidates.n == 0)
        return SL_OK;

    const enum sl_status status = find_host(tag);
    if (status != SL_OK)
        return status;
    if (found == SL_OK)
        tag_verify_all(table, &tag->host, tag->candidates.hit, tag->candidates.n, hits);
    else
        tag_scan_all(table, &tag->host, hits);
    return hits->n > hits->cap ? SL_EOVERFLOW : SL_OK;
}

extern "C" {
extern const struct sl_backend mpm_tag_cuda;

const struct sl_backend mpm_tag_cuda = {"cuda",     SL_DEVICE_CUDA, device_cuda_usable, tag_open,
                                        tag_submit, tag_wait,       tag_close};
}
