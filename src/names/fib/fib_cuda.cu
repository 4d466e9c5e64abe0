/* SPDX-License-Identifier: MIT */
/* Names looked up on GPUs: a thread a name, the planes' cores as they are.
 *
 * Names and answers are each used where they lie. Names in the host's pinned memory cross while the
 * kernel reads them, once and in whole lines. Answers go back as it writes them. So a small batch
 * waits for one launch alone. On a stage they were copied before.
 *
 * A table's copy on a device is a snapshot; sl_fib_publish puts a new one in its place. Kernels
 * keep the one that they began with until wait. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/cuda_internal.h"
#include "fib_copy.h"
#include "fib_cuda_lookup.h"

/* Threads of a multiprocessor: all that one of sm_75 holds. On others more would leave too few
 * registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { SM_THREADS = 1024 };
#else
enum { SM_THREADS = 1536 };
#endif

enum {
    BLOCK = FIB_TILE_WARPS * FIB_TILE_NAMES, /* threads */
    BLOCKS_PER_SM = SM_THREADS / BLOCK
};

/* ---- contexts -------------------------------------------------------------------------------- */

struct fib_cuda {
    struct sl_fib_table *table;
    struct sl_limits limits;
    struct fib_copy *copy;
    struct fib_snapshot *snapshot; /* of the look-up under way */
    uint32_t *d_answers;           /* next hops, then lengths, max_items of each */
    cudaStream_t stream;           /* for names in pinned memory */
    cudaEvent_t done;
};

static void fib_cuda_close(void *context)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;

    if (cuda == NULL)
        return;
    if (cuda->done != NULL) {
        (void)cuda_spin_for_event(cuda->done,
                                  &cuda->limits); /* one that failed may not have waited */
        (void)cudaEventDestroy(cuda->done);
    }
    if (cuda->stream != NULL)
        (void)cudaStreamDestroy(cuda->stream);
    cuda_free(cuda->d_answers, cuda->limits.device);
    fib_table_lock(cuda->table);
    fib_copy_release(cuda->snapshot);
    fib_copy_detach(cuda->table, cuda->copy);
    fib_table_unlock(cuda->table);
    free(cuda);
}

static enum sl_status prepare(struct fib_cuda *cuda, struct sl_diag *diag)
{
    enum sl_status status = cuda_choose(cuda->limits.device, diag);
    if (status != SL_OK)
        return status;
    cudaError_t error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&cuda->done, cudaEventDisableTiming);
    status = cuda_status(error, "preparing for look-ups", diag);
    if (status == SL_OK)
        status =
            cuda_take((void **)&cuda->d_answers,
                      ((size_t)cuda->limits.max_items + 1) * 2 * sizeof(uint32_t), "answers", diag);
    return status;
}

static enum sl_status open_context(void **context, struct sl_fib_table *table,
                                   const struct sl_limits *limits, bool is_ours,
                                   struct sl_diag *diag)
{
    if (!is_ours)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is of another plane");

    enum sl_status status = reserved_check(limits->reserved, diag);
    if (status != SL_OK)
        return status;
    struct fib_cuda *cuda = (struct fib_cuda *)calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    cuda->table = table;
    cuda->limits = *limits;

    status = prepare(cuda, diag);
    if (status == SL_OK)
        status = fib_copy_attach(&cuda->copy, table, limits->device, diag);
    if (status != SL_OK) {
        fib_cuda_close(cuda);
        return status;
    }
    *context = cuda;
    return SL_OK;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Stride 1 reads each name where it lies; FIB_INTERWOVEN reads what the host has interwoven. */
template <class Lookup, uint32_t stride>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    fib_direct_kernel(const __grid_constant__ struct fib_view view, const struct fib_items items)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= items.n)
        return;
    const struct sl_span span = items.payload[i];
    const struct fib_reader name = {(const uint32_t *)(items.bytes + span.offset), stride,
                                    span.len};

    put_answer(items, i, Lookup::lookup(&view, &name));
}

template <class Lookup>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    fib_tile_kernel(const __grid_constant__ struct fib_view view, const struct fib_items items)
{
    __shared__ __align__(16) uint8_t all[FIB_TILE_WARPS][FIB_TILE_LEN + FIB_TILE_SLACK];
    uint8_t *staged = all[threadIdx.x / FIB_TILE_NAMES];
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;

    if (i - threadIdx.x % FIB_TILE_NAMES >= items.n) /* none of the warp's */
        return;
    lookup_tile<Lookup>(&view, items, i, staged);
}

/* ---- submit and wait ------------------------------------------------------------------------- */

typedef void launch(const struct fib_view &view, const struct fib_items &items, uint32_t n_blocks,
                    cudaStream_t stream);

template <class Lookup>
static void launch_tile(const struct fib_view &view, const struct fib_items &items,
                        uint32_t n_blocks, cudaStream_t stream)
{
    fib_tile_kernel<Lookup><<<n_blocks, BLOCK, 0, stream>>>(view, items);
}

template <class Lookup, uint32_t stride>
static void launch_direct(const struct fib_view &view, const struct fib_items &items,
                          uint32_t n_blocks, cudaStream_t stream)
{
    fib_direct_kernel<Lookup, stride><<<n_blocks, BLOCK, 0, stream>>>(view, items);
}

static cudaError_t copy_back(const struct fib_cuda *cuda, const struct sl_fib_answers *answers,
                             uint32_t n, cudaStream_t stream)
{
    cudaError_t error = cudaGetLastError();

    if (answers->memory != SL_MEMORY_HOST || n == 0)
        return error;
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(answers->next_hop, cuda->d_answers, n * sizeof(uint32_t),
                                cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess && answers->prefix_len != NULL)
        error = cudaMemcpyAsync(answers->prefix_len, cuda->d_answers + cuda->limits.max_items,
                                n * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream);
    return error;
}

static struct fib_items items_of(const struct fib_cuda *cuda, const struct sl_batch *batch,
                                 const struct sl_fib_answers *answers)
{
    const bool copied = answers->memory == SL_MEMORY_HOST;
    struct fib_items items = {batch->bytes, batch->payload, cuda->d_answers, NULL, batch->n_items};

    if (!copied)
        items.next_hop = answers->next_hop;
    if (answers->prefix_len != NULL)
        items.prefix_len = copied ? cuda->d_answers + cuda->limits.max_items : answers->prefix_len;
    return items;
}

static bool is_in_reach(const struct fib_cuda *cuda, const struct sl_batch *batch)
{
    return batch->memory == SL_MEMORY_PINNED ||
           (batch->memory == SL_MEMORY_DEVICE && batch->device == cuda->limits.device);
}

static void take_latest(struct fib_cuda *cuda)
{
    fib_table_lock(cuda->table);
    fib_copy_release(cuda->snapshot); /* of a look-up that was not waited for */
    cuda->snapshot = fib_copy_latest(cuda->copy);
    fib_table_unlock(cuda->table);
}

static enum sl_status submit(void *context, const struct sl_batch *batch,
                             const struct sl_fib_answers *answers, launch *lookup)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;

    if (!is_in_reach(cuda, batch) || !fib_batch_fits(batch, &cuda->limits, answers))
        return SL_EINVAL;

    /* The current device is a thread's: submit may run on a thread that never chose one. */
    const enum sl_status status = cuda_choose(cuda->limits.device, NULL);
    if (status != SL_OK)
        return status;
    take_latest(cuda);

    const cudaStream_t stream =
        batch->memory == SL_MEMORY_PINNED ? cuda->stream : (cudaStream_t)batch->stream;
    const uint32_t n_blocks = batch->n_items / BLOCK + (batch->n_items % BLOCK != 0);

    if (n_blocks != 0)
        lookup(cuda->snapshot->view, items_of(cuda, batch, answers), n_blocks, stream);
    cudaError_t error = copy_back(cuda, answers, batch->n_items, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(cuda->done, stream);
    return cuda_status(error, "looking names up", NULL);
}

static enum sl_status fib_cuda_wait(void *context)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;
    const enum sl_status status = cuda_spin_for_event(cuda->done, &cuda->limits);

    fib_table_lock(cuda->table);
    fib_copy_release(cuda->snapshot);
    cuda->snapshot = NULL;
    fib_table_unlock(cuda->table);
    return status;
}

/* ---- backends -------------------------------------------------------------------------------- */

static enum sl_status open_hash(void **context, struct sl_fib_table *table,
                                const struct sl_limits *limits, struct sl_diag *diag)
{
    return open_context(context, table, limits, fib_table_is(table, "hash"), diag);
}

static enum sl_status open_mata(void **context, struct sl_fib_table *table,
                                const struct sl_limits *limits, struct sl_diag *diag)
{
    return open_context(context, table, limits, fib_table_is(table, "mata"), diag);
}

static enum sl_status open_ata(void **context, struct sl_fib_table *table,
                               const struct sl_limits *limits, struct sl_diag *diag)
{
    return open_context(context, table, limits,
                        fib_table_is(table, "ata") || fib_table_is(table, "stt"), diag);
}

#define BACKEND(symbol, label, open, lookup)                                           \
    static enum sl_status symbol##_submit(void *context, const struct sl_batch *batch, \
                                          const struct sl_fib_answers *answers)        \
    {                                                                                  \
        return submit(context, batch, answers, lookup);                                \
    }                                                                                  \
    extern "C" {                                                                       \
    extern const struct sl_fib_backend symbol;                                         \
    const struct sl_fib_backend symbol = {                                             \
        label,           SL_DEVICE_CUDA, device_cuda_usable, open,                     \
        symbol##_submit, fib_cuda_wait,  fib_cuda_close};                              \
    }

BACKEND(fib_hash_cuda, "cuda", open_hash, launch_tile<lookup_hash>)
BACKEND(fib_hash_cuda_direct, "cuda-direct", open_hash, (launch_direct<lookup_hash, 1>))
BACKEND(fib_hash_cuda_interwoven, "cuda-interwoven", open_hash,
        (launch_direct<lookup_hash, FIB_INTERWOVEN>))
BACKEND(fib_mata_cuda, "cuda", open_mata, launch_tile<lookup_mata>)
BACKEND(fib_mata_cuda_direct, "cuda-direct", open_mata, (launch_direct<lookup_mata, 1>))
BACKEND(fib_mata_cuda_interwoven, "cuda-interwoven", open_mata,
        (launch_direct<lookup_mata, FIB_INTERWOVEN>))
BACKEND(fib_ata_cuda, "cuda", open_ata, launch_tile<lookup_ata>)
BACKEND(fib_ata_cuda_interwoven, "cuda-interwoven", open_ata,
        (launch_direct<lookup_ata, FIB_INTERWOVEN>))
