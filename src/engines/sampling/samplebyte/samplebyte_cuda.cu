/* SPDX-License-Identifier: MIT */
/* Marker bytes on GPUs: a warp an item. The lanes vote on 64 positions, and each lane follows the
 * same chain of markers and skips through the votes. Chosen windows wait until each lane has one,
 * and then all lanes compute a fingerprint. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/sampling/sampling_warps.h"
#include "samplebyte.h"
#include "samplebyte_cuda_markers.h"

enum { THREADS = 32 * SAMPLING_WARPS };

/* The window that waits in this lane; the warp's number of them is `n`. */
struct waiting {
    uint32_t item;
    uint32_t offset;
    uint32_t n;
};

static __device__ void flush(const struct sampling_items *items, struct waiting *waiting,
                             struct cuda_hits_device hits)
{
    if (threadIdx.x % 32 < waiting->n) {
        const uint8_t *window =
            items->bytes + items->payload[waiting->item].offset + waiting->offset;

        cuda_hits_append(hits, waiting->item, waiting->offset,
                         sampling_fingerprint(window, items->window));
    }
    __syncwarp();
    waiting->n = 0;
}

/* The markers of a block; positions behind the last are none. */
static __device__ uint64_t vote(const uint32_t *marker, const uint8_t *payload, uint64_t base,
                                uint64_t last)
{
    const uint64_t low = base + threadIdx.x % 32;
    const uint64_t high = low + 32;
    const bool low_marks = low <= last && samplebyte_is_marker(marker, payload[low]);
    const bool high_marks = high <= last && samplebyte_is_marker(marker, payload[high]);
    const uint64_t low_votes = __ballot_sync(~0u, low_marks);

    return (uint64_t)__ballot_sync(~0u, high_marks) << 32 | low_votes;
}

static __device__ void scan_item(const struct sampling_items *items, uint32_t item,
                                 const uint32_t *marker, uint32_t skip, struct waiting *waiting,
                                 struct cuda_hits_device hits)
{
    const struct sl_span span = items->payload[item];
    const uint8_t *payload = items->bytes + span.offset;
    const uint32_t first = sampling_first_offset(items, item);
    uint64_t from = 0;

    if (span.len < items->window)
        return;
    const uint64_t last = span.len - items->window;
    for (uint64_t base = 0; base <= last;) {
        const uint64_t marked = vote(marker, payload, base, last);
        uint32_t at;

        while ((at = samplebyte_next(marked, from)) < SAMPLEBYTE_BLOCK) {
            if (base + at >= first) {
                if (threadIdx.x % 32 == waiting->n) {
                    waiting->item = item;
                    waiting->offset = (uint32_t)(base + at);
                }
                if (++waiting->n == 32)
                    flush(items, waiting, hits);
            }
            from = at + samplebyte_step(skip, payload + base + at);
        }
        samplebyte_advance(&base, &from);
    }
}

static __global__ void __launch_bounds__(THREADS)
    samplebyte_kernel(const __grid_constant__ struct sl_dynabyte_state state,
                      struct sampling_items items, struct cuda_hits_device hits)
{
    __shared__ uint32_t marker[8];
    struct waiting waiting = {0, 0, 0};

    share_markers(marker, &state);
    for (uint32_t item = sampling_first_item(); item < items.n; item += sampling_item_stride())
        scan_item(&items, item, marker, state.skip, &waiting, hits);
    flush(&items, &waiting, hits);
}

static enum sl_status submit(struct cuda_context *cuda, const struct sl_dynabyte_state *state,
                             const struct sl_batch *batch, struct sl_hits *hits)
{
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0) {
        const struct sampling_items items =
            sampling_items(batch, (const struct sl_sampling_table *)cuda->table);

        samplebyte_kernel<<<sampling_grid(cuda, items.n, 1), THREADS, 0,
                            (cudaStream_t)batch->stream>>>(*state, items, cuda_hits_device(cuda));
    }
    return cuda_submit_end(cuda);
}

static enum sl_status samplebyte_submit(void *context, const struct sl_batch *batch,
                                        struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const struct samplebyte_table *table = (const struct samplebyte_table *)cuda->table;

    return submit(cuda, &table->marks.state, batch, hits);
}

/* ---- dynabyte -------------------------------------------------------------------------------- */

struct dynabyte_context {
    struct dynabyte_head head;
    void *cuda;
};

static enum sl_status dynabyte_open(void **context, const void *table,
                                    const struct sl_limits *limits, struct sl_diag *diag)
{
    struct dynabyte_context *made = (struct dynabyte_context *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    made->head.magic = DYNABYTE_MAGIC;
    made->head.marks = ((const struct samplebyte_table *)table)->marks;

    const enum sl_status status = sampling_open(&made->cuda, table, limits, diag);
    if (status != SL_OK) {
        free(made);
        return status;
    }
    *context = made;
    return SL_OK;
}

static enum sl_status dynabyte_submit(void *context, const struct sl_batch *batch,
                                      struct sl_hits *hits)
{
    struct dynabyte_context *dynabyte = (struct dynabyte_context *)context;

    return submit((struct cuda_context *)dynabyte->cuda, &dynabyte->head.marks.state, batch, hits);
}

static enum sl_status dynabyte_wait(void *context)
{
    return cuda_context_wait(((struct dynabyte_context *)context)->cuda);
}

static void dynabyte_close(void *context)
{
    if (context == NULL)
        return;
    cuda_context_close(((struct dynabyte_context *)context)->cuda);
    free(context);
}

extern "C" {
extern const struct sl_backend samplebyte_cuda;
extern const struct sl_backend dynabyte_cuda;

const struct sl_backend samplebyte_cuda = {"cuda",
                                           SL_DEVICE_CUDA,
                                           device_cuda_usable,
                                           sampling_open,
                                           samplebyte_submit,
                                           cuda_context_wait,
                                           cuda_context_close};

const struct sl_backend dynabyte_cuda = {"cuda",        SL_DEVICE_CUDA,  device_cuda_usable,
                                         dynabyte_open, dynabyte_submit, dynabyte_wait,
                                         dynabyte_close};
}
