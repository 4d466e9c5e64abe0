/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints on GPUs. The arena's bytes are spread evenly over the lanes of all
 * multiprocessors, so that nothing depends on the items in it. Where shared memory has the room,
 * each lane of a warp has its own column of the two tables. So no look-up waits for another. One
 * block then fills a multiprocessor, and fills the tables once. Elsewhere blocks share one copy.
 *
 * Bytes come in steps through shared memory, asynchronously: the next step is on its way during the
 * work on one. Chosen windows wait in a queue of the warp until all lanes have one. Then all lanes
 * locate them and compute their fingerprints anew. */
#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "rabin_tile.h"

#define WHOLE 0xFFFFFFFFu /* all lanes of a warp */

enum {
    QUEUE = 64, /* less than 32 wait while up to 32 come in */
    TABLE_LEN = 256 * 8,
    COLUMNS_LEN = TABLE_LEN * RABIN_WARP,
    COLUMNS_AT = COLUMNS_LEN /* first table, by its address in shared memory; then the second */
};

/* A warp's shared memory: two steps of its lanes, and its queue. */
struct warp_room {
    uint8_t steps[2][RABIN_WARP * RABIN_STEP];
    uint32_t queue[QUEUE];
};

/* A block has a column of the tables for each lane, or one copy. With columns the warps' rooms lie
 * around the tables. The room before them depends on the address that CUDA gives, so there is room
 * for one warp more. */
template <bool COLUMNS> struct block {
    static constexpr uint32_t WARPS = COLUMNS ? 32 : 16;
    static constexpr uint32_t BELOW = COLUMNS_AT / sizeof(struct warp_room); /* at most */
    static constexpr uint32_t SHARED_LEN =
        COLUMNS ? 3 * COLUMNS_LEN + (WARPS - BELOW + 2) * sizeof(struct warp_room)
                : 2 * TABLE_LEN + WARPS * sizeof(struct warp_room);
};

/* The tickets of the tiles that warps take by need: all 0 between launches. */
struct tickets {
    uint32_t n_taken;
    uint32_t n_done; /* warps */
};

struct rabin_scan {
    const struct rabin_table *table;
    struct rabin_arena arena;
    struct rabin_split split;
    struct cuda_hits_device hits;
    struct cuda_delivery delivery;
    struct rabin_form form;
    uint32_t window;
    struct tickets *tickets;
};

struct warp {
    const struct rabin_scan *scan;
    struct warp_room *room;
    uint32_t id; /* among the lanes */
    uint32_t n_queued;
};

extern __shared__ __align__(16) uint8_t shared_memory[];

static __device__ uint32_t shared_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Where a warp's room is: before the tables as many as fit there. */
template <bool COLUMNS> static __device__ struct warp_room *find_room(uint32_t warp)
{
    if (!COLUMNS)
        return (struct warp_room *)(shared_memory + 2 * TABLE_LEN) + warp;

    const uint32_t base = shared_address(shared_memory);
    const uint32_t n_below = (COLUMNS_AT - base) / sizeof(struct warp_room);

    return warp < n_below
               ? (struct warp_room *)shared_memory + warp
               : (struct warp_room *)(shared_memory + (3 * COLUMNS_LEN - base)) + (warp - n_below);
}

template <bool COLUMNS> static __device__ struct rabin_columns find_columns(uint32_t lane)
{
    const uint32_t base = shared_address(shared_memory);
    struct rabin_columns columns;

    columns.by_lane = COLUMNS;
    columns.push = COLUMNS ? COLUMNS_AT + lane * 8 : base;
    columns.left = COLUMNS ? 2 * COLUMNS_AT + lane * 8 : base + TABLE_LEN;
    return columns;
}

static __device__ void store_shared(uint32_t address, uint64_t value)
{
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

template <bool COLUMNS> static __device__ void fill_tables(const struct rabin_table *table)
{
    const uint32_t lane = threadIdx.x % 32;
    const struct rabin_columns columns = find_columns<COLUMNS>(lane);
    const uint32_t row = COLUMNS ? 8 * RABIN_WARP : 8;
    const uint32_t first = COLUMNS ? threadIdx.x / 32 : threadIdx.x;
    const uint32_t step = COLUMNS ? block<COLUMNS>::WARPS : block<COLUMNS>::WARPS * 32;

#pragma unroll
    for (uint32_t byte = first; byte < 256; byte += step) {
        store_shared(columns.push + byte * row, table->push_words[byte]);
        store_shared(columns.left + byte * row, table->left_words[byte]);
    }
    __syncthreads();
}

/* ---- chosen windows -------------------------------------------------------------------------- */

/* All lanes, each with a place in the queue or none. */
static __device__ __noinline__ void
report(const struct warp *warp, const struct rabin_columns *columns, bool active, uint32_t last)
{
    const struct rabin_scan *scan = warp->scan;
    uint32_t item, offset;

    if (active && rabin_locate(&scan->arena, scan->window, last, &item, &offset)) {
        const uint64_t fingerprint =
            rabin_fingerprint_of(columns, &scan->form, &scan->arena, scan->window, last);

        cuda_hits_append(scan->hits, item, offset, fingerprint);
    }
    __syncwarp();
}

/* All lanes: the n last of the queue. */
static __device__ void take_queued(struct warp *warp, const struct rabin_columns *columns,
                                   uint32_t n)
{
    const bool active = warp->id < n;

    __syncwarp();
    warp->n_queued -= n;
    const uint32_t last = active ? warp->room->queue[warp->n_queued + warp->id] : 0;
    __syncwarp();
    report(warp, columns, active, last);
}

/* All lanes, each with a step's bits of chosen windows, the step's first byte's the highest. */
static __device__ void enqueue(struct warp *warp, const struct rabin_columns *columns,
                               uint32_t chosen, uint32_t at)
{
    for (uint32_t some; (some = __ballot_sync(WHOLE, chosen != 0)) != 0;) {
        if (chosen != 0) {
            const uint32_t i = (uint32_t)__clz((int)chosen);
            const uint32_t to = warp->n_queued + __popc(some & ((1u << warp->id) - 1));

            chosen &= ~(0x80000000u >> i);
            warp->room->queue[to] = at + i;
        }
        warp->n_queued += __popc(some);
        if (warp->n_queued >= 32)
            take_queued(warp, columns, 32);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The place of half a step of a lane, swapped for every other four lanes. So 16 bytes of eight
 * lanes, which are read at once, lie in banks of their own. */
static __device__ uint32_t half_at(uint32_t lane, uint32_t half)
{
    return lane * RABIN_STEP + (half ^ (lane >> 2 & 1)) * 16;
}

/* Starts the copy of 16 bytes of the arena, or writes zeros outside. Memory is read by whole lines,
 * and the rest of a line is needed soon. */
static __device__ void begin_copy(const struct rabin_scan *scan, uint32_t to, uint32_t from)
{
#if __CUDA_ARCH__ >= 800
    const bool inside = from < scan->arena.len;

    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(scan->arena.bytes + (inside ? from : 0))),
                 "r"(inside ? 16 : 0)
                 : "memory");
#else
    const uint4 none = {0, 0, 0, 0};
    const uint4 bytes = from < scan->arena.len ? *(const uint4 *)(scan->arena.bytes + from) : none;

    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(bytes.x), "r"(bytes.y),
                 "r"(bytes.z), "r"(bytes.w)
                 : "memory");
#endif
}

/* All lanes: the step at `at` of the tile's first lane, and of the others as far on in theirs. Two
 * lanes fetch a step, so that memory is read by 32 bytes. */
static __device__ void fetch_step(const struct warp *warp, uint32_t at, uint32_t slot)
{
    const uint32_t range_len = warp->scan->split.range_len;
    const uint32_t room = shared_address(warp->room->steps[slot]);
    const uint32_t half = warp->id & 1;

#pragma unroll
    for (uint32_t lane = warp->id / 2; lane < RABIN_WARP; lane += RABIN_WARP / 2)
        begin_copy(warp->scan, room + half_at(lane, half), at + lane * range_len + half * 16);
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All lanes: waits for all fetched steps but the last `ahead`, and reads its own of this slot. */
template <int AHEAD>
static __device__ void read_step(const struct warp *warp, uint32_t slot,
                                 uint32_t step[RABIN_STEP_WORDS])
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD) : "memory");
#endif
    __syncwarp();

    const uint8_t *room = warp->room->steps[slot];
    const uint4 low = *(const uint4 *)(room + half_at(warp->id, 0));
    const uint4 high = *(const uint4 *)(room + half_at(warp->id, 1));

    step[0] = low.x;
    step[1] = low.y;
    step[2] = low.z;
    step[3] = low.w;
    step[4] = high.x;
    step[5] = high.y;
    step[6] = high.z;
    step[7] = high.w;
    __syncwarp();
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* All lanes: the first steps of the tile at `at` are on their way. FAR: windows are longer than a
 * step. */
template <bool FAR> static __device__ void fetch_first(const struct warp *warp, uint32_t at)
{
    if (FAR)
        fetch_step(warp, at - 2 * RABIN_STEP, 0);
    fetch_step(warp, at - RABIN_STEP, 1);
    if (!FAR)
        fetch_step(warp, at, 0);
}

/* All lanes: the windows that end in the tile at `at`, whose first steps are on their way. SHIFTED:
 * the length of windows is no multiple of a step. */
template <bool FAR, bool SHIFTED>
static __device__ void scan_tile(struct warp *warp, struct rabin_lane *lane, uint32_t at)
{
    const uint32_t range_len = warp->scan->split.range_len;
    const uint32_t own = at + warp->id * range_len;
    const bool inside = own < warp->scan->arena.len;
    const uint32_t from = SHIFTED ? (FAR ? 2 * RABIN_STEP : RABIN_STEP) - warp->scan->window : 0;
    uint32_t before[RABIN_STEP_WORDS], old[RABIN_STEP_WORDS], in[RABIN_STEP_WORDS];
    uint32_t out[RABIN_STEP_WORDS];

    rabin_clear(lane);
    if (FAR) {
        read_step<1>(warp, 0, before);
        fetch_step(warp, at, 0);
        rabin_enter(lane, &warp->scan->form, before, from);
    }
    read_step<1>(warp, 1, old);
    rabin_enter(lane, &warp->scan->form, old, FAR ? 0 : from);
    rabin_add_magic(lane, &warp->scan->form);
#pragma unroll 1
    for (uint32_t done = 0; done < range_len; done += RABIN_STEP) {
        const uint32_t slot = done / RABIN_STEP & 1;

        /* After the last step, too: it fetches a step of the next lane, and no code reads it. */
        fetch_step(warp, at + done + RABIN_STEP, slot ^ 1);
        read_step<1>(warp, slot, in);
        rabin_from_between(out, FAR ? before : old, FAR ? old : in, from);
        const uint32_t chosen = rabin_take(lane, &warp->scan->form, in, out);
        enqueue(warp, &lane->columns, inside ? chosen : 0, own + done);
#pragma unroll
        for (int i = 0; i < RABIN_STEP_WORDS; i++) {
            before[i] = old[i];
            old[i] = in[i];
        }
    }
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
    __syncwarp();
}

/* One lane: the number of the warp's next tile is on its way. */
static __device__ uint32_t take_ticket(const struct warp *warp)
{
    return warp->id == 0 ? atomicAdd(&warp->scan->tickets->n_taken, 1u) : 0;
}

/* The last of the launch's n_warps resets the tickets. */
static __device__ void return_tickets(const struct warp *warp, uint32_t n_warps)
{
    struct tickets *tickets = warp->scan->tickets;

    if (warp->id != 0)
        return;
    __threadfence();
    if (atomicAdd(&tickets->n_done, 1u) == n_warps - 1) {
        tickets->n_taken = 0;
        tickets->n_done = 0;
    }
}

/* Warps are numbered over the blocks in turn, so that few tiles keep all multiprocessors busy. */
template <bool COLUMNS, bool FAR, bool SHIFTED>
static __global__ void __launch_bounds__(block<COLUMNS>::WARPS * 32)
    rabin_range_kernel(const __grid_constant__ struct rabin_scan scan)
{
    const uint32_t n_warps = block<COLUMNS>::WARPS * gridDim.x;
    const bool more = scan.split.n_tiles > n_warps;
    struct warp warp = {&scan, find_room<COLUMNS>(threadIdx.x / 32), threadIdx.x % 32, 0};
    const uint32_t tile_len = RABIN_WARP * scan.split.range_len;
    uint32_t tile = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    struct rabin_lane lane;

    if (tile < scan.split.n_tiles) /* bytes cross while the tables are filled */
        fetch_first<FAR>(&warp, tile * tile_len);
    fill_tables<COLUMNS>(scan.table);
    lane.columns = find_columns<COLUMNS>(warp.id);
    /* Look-ups name no memory, so the compiler moves them freely, but not before the tables are
     * filled. */
    asm volatile("" : "+r"(lane.columns.push), "+r"(lane.columns.left)::"memory");
    while (tile < scan.split.n_tiles) {
        const uint32_t ticket = more ? take_ticket(&warp) : 0;

        scan_tile<FAR, SHIFTED>(&warp, &lane, tile * tile_len);
        tile = more ? n_warps + __shfl_sync(WHOLE, ticket, 0) : scan.split.n_tiles;
        if (tile < scan.split.n_tiles)
            fetch_first<FAR>(&warp, tile * tile_len);
    }
    if (warp.n_queued != 0)
        take_queued(&warp, &lane.columns, warp.n_queued);
    if (more)
        return_tickets(&warp, n_warps);
    cuda_deliver(scan.delivery);
}

/* ---- the backend ----------------------------------------------------------------------------- */

typedef void range_kernel(const struct rabin_scan);

struct rabin_cuda {
    void *cuda;
    range_kernel *kernel;
    uint32_t n_threads, shared_len, n_blocks; /* blocks: that the GPU holds at a time */
    struct tickets *d_tickets;
};

template <bool COLUMNS> static range_kernel *kernel_for(uint32_t window)
{
    if (window == RABIN_STEP)
        return rabin_range_kernel<COLUMNS, false, false>;
    if (window < RABIN_STEP)
        return rabin_range_kernel<COLUMNS, false, true>;
    return window == 2 * RABIN_STEP ? rabin_range_kernel<COLUMNS, true, false>
                                    : rabin_range_kernel<COLUMNS, true, true>;
}

static void rabin_cuda_close(void *context)
{
    struct rabin_cuda *rabin = (struct rabin_cuda *)context;

    if (rabin == NULL)
        return;
    void *const memory[] = {rabin->d_tickets};
    cuda_context_close_with(rabin->cuda, memory, 1);
    free(rabin);
}

static enum sl_status prepare(struct rabin_cuda *rabin, uint32_t window,
                              const struct sl_limits *limits, struct sl_diag *diag)
{
    int most = 0, n_blocks = 0;

    cudaError_t error =
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, limits->device);
    const bool columns = error == cudaSuccess && (uint32_t)most >= block<true>::SHARED_LEN;

    rabin->kernel = columns ? kernel_for<true>(window) : kernel_for<false>(window);
    rabin->n_threads = 32 * (columns ? block<true>::WARPS : block<false>::WARPS);
    rabin->shared_len = columns ? block<true>::SHARED_LEN : block<false>::SHARED_LEN;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)rabin->kernel,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)rabin->shared_len);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &n_blocks, (const void *)rabin->kernel, (int)rabin->n_threads, rabin->shared_len);
    rabin->n_blocks =
        (uint32_t)n_blocks * ((const struct cuda_context *)rabin->cuda)->n_multiprocessors;
    if (error != cudaSuccess)
        return cuda_status(error, "preparing rabin", diag);

    const enum sl_status status =
        cuda_take((void **)&rabin->d_tickets, sizeof *rabin->d_tickets, "tickets", diag);
    if (status != SL_OK)
        return status;
    return cuda_status(cuda_clear(rabin->d_tickets, sizeof *rabin->d_tickets), "preparing rabin",
                       diag);
}

static enum sl_status rabin_cuda_open(void **context, const void *table,
                                      const struct sl_limits *limits, struct sl_diag *diag)
{
    const struct sl_sampling_table *head = &rabin_table(table)->head;
    struct rabin_cuda *rabin = (struct rabin_cuda *)calloc(1, sizeof *rabin);

    if (rabin == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");

    enum sl_status status = cuda_context_open(&rabin->cuda, table, head->len, limits, diag);
    if (status == SL_OK)
        status = prepare(rabin, head->window, limits, diag);
    if (status != SL_OK) {
        rabin_cuda_close(rabin);
        return status;
    }
    *context = rabin;
    return SL_OK;
}

static void launch(const struct rabin_cuda *rabin, const struct sl_batch *batch)
{
    struct cuda_context *cuda = (struct cuda_context *)rabin->cuda;
    const struct rabin_table *table = rabin_table(cuda->table);
    const uint32_t n_warps = rabin->n_threads / 32;
    struct rabin_scan scan;

    scan.table = rabin_table(cuda->d_table);
    scan.arena.bytes = batch->bytes;
    scan.arena.payload = batch->payload;
    scan.arena.overlap = batch->has_overlap ? batch->overlap : NULL;
    scan.arena.n_items = batch->n_items;
    scan.arena.len = batch->bytes_len;
    scan.split = rabin_split(batch->bytes_len, rabin->n_blocks * n_warps);
    scan.hits = cuda_hits_device(cuda);
    scan.delivery = cuda_delivery(cuda);
    scan.form = rabin_form(table);
    scan.window = table->head.window;
    scan.tickets = rabin->d_tickets;

    const uint32_t n_blocks =
        scan.split.n_tiles < rabin->n_blocks ? scan.split.n_tiles : rabin->n_blocks;
    rabin->kernel<<<n_blocks, rabin->n_threads, rabin->shared_len, (cudaStream_t)batch->stream>>>(
        scan);
}

static enum sl_status rabin_cuda_submit(void *context, const struct sl_batch *batch,
                                        struct sl_hits *hits)
{
    struct rabin_cuda *rabin = (struct rabin_cuda *)context;
    const enum sl_status status =
        cuda_submit_begin((struct cuda_context *)rabin->cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0 && batch->bytes_len != 0)
        launch(rabin, batch);
    return cuda_submit_end((struct cuda_context *)rabin->cuda);
}

static enum sl_status rabin_cuda_wait(void *context)
{
    return cuda_context_wait(((const struct rabin_cuda *)context)->cuda);
}

extern "C" {
extern const struct sl_backend rabin_cuda;

const struct sl_backend rabin_cuda = {"cuda",          SL_DEVICE_CUDA,    device_cuda_usable,
                                      rabin_cuda_open, rabin_cuda_submit, rabin_cuda_wait,
                                      rabin_cuda_close};
}
