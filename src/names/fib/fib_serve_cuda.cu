/* SPDX-License-Identifier: MIT */
/* Look-ups by a kernel that stays on the GPU. A batch costs no call of the driver, and a few
 * hundred nanoseconds of a thread beside filling it. See fib_serve_core.h for how batches come to
 * it.
 *
 * The kernel takes part of each multiprocessor, so that others run beside it. It ends after a slice
 * of time, so that no other program waits longer for the whole GPU. A thread that then waits for
 * answers launches the next kernel, over the latest snapshot of the table. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/cuda_internal.h"
#include "device/wait.h"
#include "fib_copy.h"
#include "fib_cuda_lookup.h"
#include "fib_serve.h"

enum {
    WARPS = 8,
    BLOCK = WARPS * FIB_TILE_NAMES, /* threads */
    BLOCKS_PER_SM = 2,              /* of the four that there are registers for */
    REST_NS = 64                    /* of a block without an order so far */
};

/* ---- the kernel ------------------------------------------------------------------------------ */

struct place {
    struct serve_host *host;
    struct serve_device *d_device;
    uint32_t n_slots, generation;
};

static __device__ __forceinline__ uint64_t now_ns(void)
{
    uint64_t now;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* The leader's nth order. */
static __device__ __forceinline__ void await(struct serve_crew *crew, const struct serve_slot *slot,
                                             bool leads, uint16_t served, uint16_t nth,
                                             uint64_t late_ns, uint64_t words[SERVE_WORDS])
{
    if (leads)
        while (!serve_lead(crew, slot, served, nth, now_ns() > late_ns, words))
            ;
    else
        while (!serve_follow(crew, nth, words))
            __nanosleep(REST_NS);
}

/* To all blocks of the crew first, then to their warps: each has a link's worth of loads under way.
 */
template <class Lookup>
static __device__ __forceinline__ void serve_tiles(const struct fib_view *view,
                                                   const struct fib_items &job, uint32_t member,
                                                   uint32_t n_crew, uint8_t *staged)
{
    const uint32_t warp = threadIdx.x / FIB_TILE_NAMES, lane = threadIdx.x % FIB_TILE_NAMES;

    for (uint32_t tile = warp * n_crew + member; tile * FIB_TILE_NAMES < job.n;
         tile += WARPS * n_crew) {
        lookup_tile<Lookup>(view, job, tile * FIB_TILE_NAMES + lane, staged);
        __syncwarp();
    }
}

template <class Lookup>
static __global__ void __launch_bounds__(BLOCK, 2 * BLOCKS_PER_SM)
    fib_serve_kernel(const __grid_constant__ struct fib_view view, const struct place place)
{
    __shared__ __align__(16) uint8_t staged[WARPS][FIB_TILE_LEN + FIB_TILE_SLACK];
    __shared__ struct fib_items job;
    __shared__ bool leaves;
    const uint32_t n_crew = gridDim.x / place.n_slots, member = blockIdx.x / place.n_slots;
    struct serve_crew *crew = &place.d_device->crew[blockIdx.x % place.n_slots];
    struct serve_slot *slot = &place.host->slot[blockIdx.x % place.n_slots];
    const uint64_t late_ns = now_ns() + SERVE_SLICE_US * UINT64_C(1000);
    const uint32_t warp = threadIdx.x / FIB_TILE_NAMES;
    uint16_t served = 0;

    if (member == 0 && threadIdx.x == 0)
        served = (uint16_t)serve_load(&slot->done);
    if (warp == 0)
        served = (uint16_t)__shfl_sync(0xFFFFFFFFu, served, 0);
    for (uint16_t nth = 1;; nth++) {
        if (warp == 0) {
            uint64_t words[SERVE_WORDS];

            await(crew, slot, member == 0, served, nth, late_ns, words);
            served = serve_job_number(words);
            if (threadIdx.x == 0) {
                job = serve_job(words);
                leaves = serve_stops(words);
            }
        }
        __syncthreads();
        if (leaves)
            break;
        serve_tiles<Lookup>(&view, job, member, n_crew, staged[warp]);
        __syncthreads();
        if (threadIdx.x == 0)
            serve_end_job(crew, slot, served, n_crew);
    }
    if (threadIdx.x == 0)
        serve_go(place.d_device, place.host, place.n_slots, gridDim.x, place.generation);
}

/* ---- the server ------------------------------------------------------------------------------ */

typedef void launch(const struct fib_view &view, const struct place &place, uint32_t n_blocks,
                    cudaStream_t stream);

template <class Lookup>
static void launch_serve(const struct fib_view &view, const struct place &place, uint32_t n_blocks,
                         cudaStream_t stream)
{
    fib_serve_kernel<Lookup><<<n_blocks, BLOCK, 0, stream>>>(view, place);
}

struct fib_persistent {
    struct serve_server server;
    struct fib_copy *copy;
    struct fib_snapshot *snapshot; /* of the latest generation */
    struct sl_limits limits;       /* of its maker */
    launch *lookup;
    struct serve_device *d_device;
    uint32_t n_multiprocessors;
    cudaStream_t stream;
};

static enum sl_status start(void *user, uint32_t n_slots, uint32_t generation)
{
    struct fib_persistent *persistent = (struct fib_persistent *)user;
    const struct place place = {persistent->server.host, persistent->d_device, n_slots, generation};
    const uint32_t n_crew = persistent->n_multiprocessors * BLOCKS_PER_SM / n_slots;

    enum sl_status status = cuda_choose(persistent->limits.device, NULL);
    if (status != SL_OK)
        return status;
    fib_copy_release(persistent->snapshot);
    persistent->snapshot = fib_copy_latest(persistent->copy);
    persistent->lookup(persistent->snapshot->view, place, (n_crew > 0 ? n_crew : 1) * n_slots,
                       persistent->stream);
    return cuda_status(cudaGetLastError(), "launching a kernel", NULL);
}

static enum sl_status check(void *user)
{
    struct fib_persistent *persistent = (struct fib_persistent *)user;
    enum sl_status status = cuda_choose(persistent->limits.device, NULL);

    if (status != SL_OK)
        return status;
    const cudaError_t error = cudaStreamQuery(persistent->stream);
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    return error == cudaErrorNotReady ? SL_OK
                                      : cuda_status(error, "asking whether a kernel runs", NULL);
}

static enum sl_status prepare(struct fib_persistent *persistent, struct sl_diag *diag)
{
    struct serve_host *host = NULL;
    int n = 0;
    enum sl_status status = cuda_choose(persistent->limits.device, diag);

    if (status == SL_OK)
        status = cuda_take((void **)&persistent->d_device, sizeof *persistent->d_device, "look-ups",
                           diag);
    if (status != SL_OK)
        return status;
    cudaError_t error = cudaHostAlloc((void **)&host, sizeof *host, cudaHostAllocPortable);
    if (error == cudaSuccess) {
        memset(host, 0, sizeof *host);
        persistent->server.host = host;
        error = cudaStreamCreateWithFlags(&persistent->stream, cudaStreamNonBlocking);
    }
    if (error == cudaSuccess)
        error = cudaMemsetAsync(persistent->d_device, 0, sizeof *persistent->d_device,
                                persistent->stream);
    if (error == cudaSuccess)
        error =
            cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, persistent->limits.device);
    persistent->n_multiprocessors = (uint32_t)n;
    return cuda_status(error, "preparing for look-ups", diag);
}

/* Under the lock, as what follows. */
static enum sl_status make(struct fib_copy *copy, struct sl_fib_table *table,
                           const struct sl_limits *limits, launch *lookup, struct sl_diag *diag)
{
    struct fib_persistent *made = (struct fib_persistent *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for look-ups");
    made->server.table = table;
    made->server.place.user = made;
    made->server.place.start = start;
    made->server.place.check = check;
    made->copy = copy;
    made->limits = *limits;
    made->lookup = lookup;

    const enum sl_status status = prepare(made, diag);
    if (status != SL_OK) {
        fib_persistent_free(made);
        return status;
    }
    copy->persistent = made;
    return SL_OK;
}

static enum sl_status await_end(const struct fib_persistent *persistent, uint32_t number)
{
    struct serve_awaited awaited = {&persistent->server, number, 0};

    return device_spin(persistent->limits.device, persistent->limits.max_wait_ms, serve_ended,
                       &awaited);
}

enum sl_status fib_persistent_follow(struct fib_persistent *persistent)
{
    struct sl_fib_table *table = persistent->server.table;

    fib_table_lock(table);
    const uint32_t number = serve_call_off(&persistent->server);
    fib_table_unlock(table);
    const enum sl_status status = await_end(persistent, number);
    fib_table_lock(table);
    if (status == SL_OK && persistent->snapshot != persistent->copy->latest) {
        fib_copy_release(persistent->snapshot);
        persistent->snapshot = NULL;
    }
    fib_table_unlock(table);
    return status;
}

void fib_persistent_free(struct fib_persistent *persistent)
{
    if (persistent == NULL)
        return;
    if (persistent->server.host != NULL)
        (void)await_end(persistent, serve_call_off(&persistent->server));
    if (persistent->stream != NULL)
        (void)cudaStreamDestroy(persistent->stream);
    fib_copy_release(persistent->snapshot);
    cuda_free(persistent->d_device, persistent->limits.device);
    cuda_free_host(persistent->server.host);
    free(persistent);
}

/* ---- contexts -------------------------------------------------------------------------------- */

struct fib_serve {
    struct sl_fib_table *table;
    struct sl_limits limits;
    struct fib_copy *copy;
    struct serve_client client;
};

static enum sl_status fib_serve_wait(void *context)
{
    struct fib_serve *serve = (struct fib_serve *)context;

    return device_spin(serve->limits.device, serve->limits.max_wait_ms, serve_answered,
                       &serve->client);
}

static void fib_serve_close(void *context)
{
    struct fib_serve *serve = (struct fib_serve *)context;

    if (serve == NULL)
        return;
    /* A run that failed may not have waited. A job that is not done keeps its slot. */
    const bool done = serve->client.slot != NULL && fib_serve_wait(serve) == SL_OK;
    fib_table_lock(serve->table);
    if (done)
        serve_part(&serve->client);
    fib_copy_detach(serve->table, serve->copy);
    fib_table_unlock(serve->table);
    free(serve);
}

/* Under the lock. */
static enum sl_status join(struct fib_serve *serve, launch *lookup, struct sl_diag *diag)
{
    struct fib_copy *copy = serve->copy;
    enum sl_status status = SL_OK;

    if (copy->persistent == NULL)
        status = make(copy, serve->table, &serve->limits, lookup, diag);
    if (status == SL_OK && !serve_join(&copy->persistent->server, &serve->client))
        status = diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                          "the kernel that stays serves %d contexts", SERVE_SLOTS);
    return status;
}

static enum sl_status open_context(void **context, struct sl_fib_table *table,
                                   const struct sl_limits *limits, bool is_ours, launch *lookup,
                                   struct sl_diag *diag)
{
    if (!is_ours)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is of another plane");

    enum sl_status status = reserved_check(limits->reserved, diag);
    if (status != SL_OK)
        return status;
    struct fib_serve *serve = (struct fib_serve *)calloc(1, sizeof *serve);
    if (serve == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    serve->table = table;
    serve->limits = *limits;

    status = fib_copy_attach(&serve->copy, table, limits->device, diag);
    if (status == SL_OK) {
        fib_table_lock(table);
        status = join(serve, lookup, diag);
        fib_table_unlock(table);
    }
    if (status != SL_OK) {
        fib_serve_close(serve);
        return status;
    }
    *context = serve;
    return SL_OK;
}

static enum sl_status fib_serve_submit(void *context, const struct sl_batch *batch,
                                       const struct sl_fib_answers *answers)
{
    struct fib_serve *serve = (struct fib_serve *)context;
    const struct fib_items job = {batch->bytes, batch->payload, answers->next_hop,
                                  answers->prefix_len, batch->n_items};

    if (batch->memory != SL_MEMORY_PINNED || answers->memory != SL_MEMORY_PINNED ||
        !fib_batch_fits(batch, &serve->limits, answers))
        return SL_EINVAL;
    return device_is_hung(serve->limits.device) ? SL_EDEVICE : serve_submit(&serve->client, &job);
}

/* ---- backends -------------------------------------------------------------------------------- */

#define BACKEND(plane, is_ours)                                                                   \
    static enum sl_status open_##plane(void **context, struct sl_fib_table *table,                \
                                       const struct sl_limits *limits, struct sl_diag *diag)      \
    {                                                                                             \
        return open_context(context, table, limits, is_ours, launch_serve<lookup_##plane>, diag); \
    }                                                                                             \
    extern "C" {                                                                                  \
    extern const struct sl_fib_backend fib_##plane##_cuda_persistent;                             \
    const struct sl_fib_backend fib_##plane##_cuda_persistent = {                                 \
        "cuda-persistent", SL_DEVICE_CUDA, device_cuda_usable, open_##plane,                      \
        fib_serve_submit,  fib_serve_wait, fib_serve_close};                                      \
    }

BACKEND(hash, fib_table_is(table, "hash"))
BACKEND(mata, fib_table_is(table, "mata"))
BACKEND(ata, fib_table_is(table, "ata") || fib_table_is(table, "stt"))
