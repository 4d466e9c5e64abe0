/* SPDX-License-Identifier: MIT */
/* Names looked up on GPUs: a thread a name, the planes' cores as they are.
 *
 * Names and answers are each used where they lie. Names in the host's pinned memory cross while the
 * kernel reads them, once and in whole lines, and answers go back as it writes them: one launch is
 * all that a small batch waits for. On a stage they were copied before.
 *
 * A table's copy on a device is a snapshot; sl_fib_publish puts a new one in its place. Kernels
 * keep the one that they began with until wait. */
#include <cuda_pipeline_primitives.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "fib_ata_core.h"
#include "fib_hash_core.h"
#include "fib_mata_core.h"
#include "fib_table.h"
#include "fib_tile.h"

enum {
    BLOCK = FIB_TILE_WARPS * FIB_TILE_NAMES, /* threads */
    BLOCKS_PER_SM = 1536 / BLOCK             /* more leave too few registers */
};

/* ---- copies ---------------------------------------------------------------------------------- */

struct snapshot {
    struct fib_view view; /* parts in device memory */
    uint8_t *d_block;
    unsigned n_users; /* the copy while it is the latest, and look-ups under way */
};

struct copy {
    struct copy *next;
    int device;
    unsigned n_contexts;
    struct snapshot *latest;
};

static void release(struct snapshot *snapshot)
{
    if (snapshot == NULL || --snapshot->n_users != 0)
        return;
    (void)cudaFree(snapshot->d_block);
    free(snapshot);
}

static size_t aligned(uint64_t len)
{
    return (size_t)(len + 255) & ~(size_t)255;
}

/* All that look-ups read, with some room behind each part: they may read a little beyond. */
static enum sl_status send_parts(struct snapshot *snapshot, const struct fib_view *view,
                                 struct sl_diag *diag)
{
    size_t len = 0;

    for (int i = 0; i < FIB_PARTS; i++)
        len += aligned(view->part_len[i]) + 256;
    enum sl_status status = cuda_take((void **)&snapshot->d_block, len, "a table of names", diag);
    if (status != SL_OK)
        return status;

    snapshot->view = *view;
    uint8_t *d_part = snapshot->d_block;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < FIB_PARTS && error == cudaSuccess; i++) {
        snapshot->view.part[i] = d_part;
        if (view->part_len[i] != 0)
            error = cudaMemcpy(d_part, view->part[i], view->part_len[i], cudaMemcpyHostToDevice);
        d_part += aligned(view->part_len[i]) + 256;
    }
    if (error == cudaSuccess) /* kernels' streams do not wait for the one it is on */
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return cuda_status(error, "copying a table of names to the GPU", diag);
}

/* Under the updater's lock and the table's. */
static enum sl_status take_snapshot(struct copy *copy, const struct fib_view *view,
                                    struct sl_diag *diag)
{
    struct snapshot *made = (struct snapshot *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a snapshot");
    made->n_users = 1;

    enum sl_status status = cuda_status(cudaSetDevice(copy->device), "choosing the GPU", diag);
    if (status == SL_OK)
        status = send_parts(made, view, diag);
    if (status != SL_OK) {
        release(made);
        return status;
    }
    release(copy->latest);
    copy->latest = made;
    return SL_OK;
}

static enum sl_status publish_copies(void *copies, const struct fib_view *view, uint64_t version,
                                     struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    (void)version;
    for (struct copy *copy = (struct copy *)copies; copy != NULL && status == SL_OK;
         copy = copy->next)
        status = take_snapshot(copy, view, diag);
    return status;
}

static enum sl_status join_copy(struct copy **joined, struct sl_fib_table *table, int device,
                                const struct fib_view *view, struct sl_diag *diag)
{
    struct copy *copy = (struct copy *)fib_table_copies(table);

    while (copy != NULL && copy->device != device)
        copy = copy->next;
    if (copy == NULL) {
        copy = (struct copy *)calloc(1, sizeof *copy);
        if (copy == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a copy");
        copy->device = device;

        const enum sl_status status = take_snapshot(copy, view, diag);
        if (status != SL_OK) {
            free(copy);
            return status;
        }
        copy->next = (struct copy *)fib_table_copies(table);
        fib_table_set_copies(table, copy, publish_copies);
    }
    copy->n_contexts++;
    *joined = copy;
    return SL_OK;
}

static void leave_copy(struct sl_fib_table *table, struct copy *copy)
{
    struct copy *first = (struct copy *)fib_table_copies(table);
    struct copy **link = &first;

    if (--copy->n_contexts != 0)
        return;
    while (*link != copy)
        link = &(*link)->next;
    *link = copy->next;
    fib_table_set_copies(table, first, publish_copies);
    release(copy->latest);
    free(copy);
}

/* ---- contexts -------------------------------------------------------------------------------- */

struct fib_cuda {
    struct sl_fib_table *table;
    struct sl_limits limits;
    struct copy *copy;
    struct snapshot *snapshot; /* of the look-up under way */
    uint32_t *d_answers;       /* next hops, then lengths, max_items of each */
    cudaStream_t stream;       /* for names in pinned memory */
    cudaEvent_t done;
};

static void fib_cuda_close(void *context)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;

    if (cuda == NULL)
        return;
    if (cuda->done != NULL) {
        (void)cudaEventSynchronize(cuda->done); /* a run that failed may not have waited */
        (void)cudaEventDestroy(cuda->done);
    }
    if (cuda->stream != NULL)
        (void)cudaStreamDestroy(cuda->stream);
    (void)cudaFree(cuda->d_answers);
    fib_table_lock(cuda->table);
    release(cuda->snapshot);
    if (cuda->copy != NULL)
        leave_copy(cuda->table, cuda->copy);
    fib_table_unlock(cuda->table);
    free(cuda);
}

static enum sl_status prepare(struct fib_cuda *cuda, struct sl_diag *diag)
{
    cudaError_t error = cudaSetDevice(cuda->limits.device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&cuda->done, cudaEventDisableTiming);
    enum sl_status status = cuda_status(error, "preparing for look-ups", diag);
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

    struct fib_cuda *cuda = (struct fib_cuda *)calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    cuda->table = table;
    cuda->limits = *limits;

    enum sl_status status = prepare(cuda, diag);
    if (status == SL_OK) {
        const struct fib_view *view = fib_table_freeze(table);

        fib_table_lock(table);
        status = join_copy(&cuda->copy, table, limits->device, view, diag);
        fib_table_unlock(table);
        fib_table_thaw(table);
    }
    if (status != SL_OK) {
        fib_cuda_close(cuda);
        return status;
    }
    *context = cuda;
    return SL_OK;
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    uint32_t n;
    uint32_t *next_hop;
    uint32_t *prefix_len; /* NULL: unwanted */
};

struct look_hash {
    static __device__ __forceinline__ struct fib_answer look(const struct fib_view *view,
                                                             const struct fib_reader *name)
    {
        return hash_lookup(view, name);
    }
};

struct look_mata {
    static __device__ __forceinline__ struct fib_answer look(const struct fib_view *view,
                                                             const struct fib_reader *name)
    {
        return mata_lookup(view, name);
    }
};

struct look_ata {
    static __device__ __forceinline__ struct fib_answer look(const struct fib_view *view,
                                                             const struct fib_reader *name)
    {
        return ata_lookup(view, name);
    }
};

static __device__ __forceinline__ void put_answer(const struct items &items, uint32_t item,
                                                  struct fib_answer answer)
{
    items.next_hop[item] = answer.next_hop;
    if (items.prefix_len != NULL)
        items.prefix_len[item] = answer.len;
}

/* Stride 1 reads each name where it lies; FIB_INTERWOVEN reads what the host has interwoven. */
template <class Look, uint32_t stride>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    fib_direct_kernel(const __grid_constant__ struct fib_view view, const struct items items)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= items.n)
        return;
    const struct sl_span span = items.payload[i];
    const struct fib_reader name = {(const uint32_t *)(items.bytes + span.offset), stride,
                                    span.len};

    put_answer(items, i, Look::look(&view, &name));
}

static __device__ __forceinline__ uint32_t warp_max(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, value, step);

        value = other > value ? other : value;
    }
    return value;
}

/* Whole lines of a warp's names into shared memory, all on their way at once; returns where its
 * window begins. */
static __device__ __forceinline__ uint32_t stage_names(uint8_t *staged, const uint8_t *bytes,
                                                       struct sl_span span)
{
    const uint32_t lane = threadIdx.x % FIB_TILE_NAMES;
    const uint32_t begin = fib_tile_begin(__shfl_sync(0xFFFFFFFFu, span.offset, 0));
    const uint32_t behind = warp_max(span.offset + span.len) - begin;
    const uint32_t len = behind < FIB_TILE_LEN ? behind : FIB_TILE_LEN;

    for (uint32_t at = lane * 16; at < len; at += FIB_TILE_NAMES * 16)
        __pipeline_memcpy_async(staged + at, bytes + begin + at, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    return begin;
}

/* Two calls, so that the compiler knows which memory each reads. */
template <class Look>
static __device__ __forceinline__ struct fib_answer
look_staged(const struct fib_view *view, const struct items &items, const uint8_t *staged,
            uint32_t begin, struct sl_span span)
{
    if (fib_tile_holds(begin, span)) {
        const struct fib_reader name = {(const uint32_t *)(staged + (span.offset - begin)), 1,
                                        span.len};

        return Look::look(view, &name);
    }
    const struct fib_reader name = {(const uint32_t *)(items.bytes + span.offset), 1, span.len};

    return Look::look(view, &name);
}

template <class Look>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    fib_tile_kernel(const __grid_constant__ struct fib_view view, const struct items items)
{
    __shared__ __align__(16) uint8_t all[FIB_TILE_WARPS][FIB_TILE_LEN + FIB_TILE_SLACK];
    uint8_t *staged = all[threadIdx.x / FIB_TILE_NAMES];
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;

    if (i - threadIdx.x % FIB_TILE_NAMES >= items.n) /* none of the warp's */
        return;
    struct sl_span span = {0, 0};
    if (i < items.n)
        span = items.payload[i];
    const uint32_t begin = stage_names(staged, items.bytes, span);
    if (i < items.n)
        put_answer(items, i, look_staged<Look>(&view, items, staged, begin, span));
}

/* ---- submit and wait ------------------------------------------------------------------------- */

typedef void launch(const struct fib_view &view, const struct items &items, uint32_t n_blocks,
                    cudaStream_t stream);

template <class Look>
static void launch_tile(const struct fib_view &view, const struct items &items, uint32_t n_blocks,
                        cudaStream_t stream)
{
    fib_tile_kernel<Look><<<n_blocks, BLOCK, 0, stream>>>(view, items);
}

template <class Look, uint32_t stride>
static void launch_direct(const struct fib_view &view, const struct items &items, uint32_t n_blocks,
                          cudaStream_t stream)
{
    fib_direct_kernel<Look, stride><<<n_blocks, BLOCK, 0, stream>>>(view, items);
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

static struct items items_of(const struct fib_cuda *cuda, const struct sl_batch *batch,
                             const struct sl_fib_answers *answers)
{
    const bool copied = answers->memory == SL_MEMORY_HOST;
    struct items items = {batch->bytes, batch->payload, batch->n_items, cuda->d_answers, NULL};

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
    release(cuda->snapshot); /* of a look-up that was not waited for */
    cuda->snapshot = cuda->copy->latest;
    cuda->snapshot->n_users++;
    fib_table_unlock(cuda->table);
}

static enum sl_status submit(void *context, const struct sl_batch *batch,
                             const struct sl_fib_answers *answers, launch *look)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;

    if (!is_in_reach(cuda, batch) || !fib_batch_fits(batch, &cuda->limits, answers))
        return SL_EINVAL;
    take_latest(cuda);

    const cudaStream_t stream =
        batch->memory == SL_MEMORY_PINNED ? cuda->stream : (cudaStream_t)batch->stream;
    const uint32_t n_blocks = batch->n_items / BLOCK + (batch->n_items % BLOCK != 0);
    /* The current device is a thread's: submit may run on a thread that never chose one. */
    cudaError_t error = cudaSetDevice(cuda->limits.device);
    if (error == cudaSuccess && n_blocks != 0)
        look(cuda->snapshot->view, items_of(cuda, batch, answers), n_blocks, stream);
    if (error == cudaSuccess)
        error = copy_back(cuda, answers, batch->n_items, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(cuda->done, stream);
    return cuda_status(error, "looking names up", NULL);
}

static enum sl_status fib_cuda_wait(void *context)
{
    struct fib_cuda *cuda = (struct fib_cuda *)context;
    const cudaError_t error = cudaEventSynchronize(cuda->done);

    fib_table_lock(cuda->table);
    release(cuda->snapshot);
    cuda->snapshot = NULL;
    fib_table_unlock(cuda->table);
    return cuda_status(error, "waiting for the GPU", NULL);
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

#define BACKEND(symbol, label, open, look)                                             \
    static enum sl_status symbol##_submit(void *context, const struct sl_batch *batch, \
                                          const struct sl_fib_answers *answers)        \
    {                                                                                  \
        return submit(context, batch, answers, look);                                  \
    }                                                                                  \
    extern "C" {                                                                       \
    extern const struct sl_fib_backend symbol;                                         \
    const struct sl_fib_backend symbol = {                                             \
        label,           SL_DEVICE_CUDA, device_cuda_usable, open,                     \
        symbol##_submit, fib_cuda_wait,  fib_cuda_close};                              \
    }

BACKEND(fib_hash_cuda, "cuda", open_hash, launch_tile<look_hash>)
BACKEND(fib_hash_cuda_direct, "cuda-direct", open_hash, (launch_direct<look_hash, 1>))
BACKEND(fib_hash_cuda_interwoven, "cuda-interwoven", open_hash,
        (launch_direct<look_hash, FIB_INTERWOVEN>))
BACKEND(fib_mata_cuda, "cuda", open_mata, launch_tile<look_mata>)
BACKEND(fib_mata_cuda_direct, "cuda-direct", open_mata, (launch_direct<look_mata, 1>))
BACKEND(fib_mata_cuda_interwoven, "cuda-interwoven", open_mata,
        (launch_direct<look_mata, FIB_INTERWOVEN>))
BACKEND(fib_ata_cuda, "cuda", open_ata, launch_tile<look_ata>)
BACKEND(fib_ata_cuda_interwoven, "cuda-interwoven", open_ata,
        (launch_direct<look_ata, FIB_INTERWOVEN>))
