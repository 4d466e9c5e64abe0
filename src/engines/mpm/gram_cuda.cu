/* SPDX-License-Identifier: MIT */
/* The gram matcher on GPUs. A block fills a multiprocessor; the filter lies in its shared memory. A
 * warp goes over 512 bytes of the arena at a time, 16 a lane. Few bytes pass, so what passes waits
 * in queues until all lanes of the warp have work: one for the dictionary, one for entries found
 * there, one for runs. */
#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "gram_tile.h"

enum {
    BLOCK = 1024,
    WARPS = BLOCK / 32,
    TILE = 32 * GRAM_LANE,
    RUN_ALONE = 64, /* bytes of a run that a lane follows by itself */
    WHOLE = 0xFFFFFFFF
};

/* A warp's queues: less than 32 of each wait while others come in. */
struct queues {
    uint32_t passed[64];
    uint32_t run[64];
    uint32_t found_at[64];
    uint32_t found[64]; /* entry, and its kind in the upper bits */
};

enum { KIND_SHIFT = 28 };

struct warp {
    const struct gram_view *view;
    const struct gram_arena *arena;
    struct cuda_hits_device hits;
    struct queues *queues;
    uint32_t lane;
    uint32_t kinds; /* bit k: there are windows of kind k */
    bool in_runs, has_runs, has_tiny;
    uint32_t n_passed, n_run, n_found;
};

static __device__ uint32_t lanes_below(uint32_t lane)
{
    return (1u << lane) - 1;
}

/* ---- entries --------------------------------------------------------------------------------- */

static __device__ void verify_entry(const struct warp *warp, const struct gram_entry *entry,
                                    uint32_t at)
{
    const struct gram_view *view = warp->view;
    uint32_t item, end;

    if (!gram_arena_matches(view, warp->arena, entry, at, &item, &end))
        return;
    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        cuda_hits_append(warp->hits, item, end, entry->match);
        return;
    }

    const uint8_t *behind = warp->arena->bytes + at - entry->window + entry->len;
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, behind))
            cuda_hits_append(warp->hits, item, end, view->literals[i].id);
}

static __device__ void verify_key(const struct warp *warp, uint32_t kind, uint32_t first,
                                  uint32_t at)
{
    for (const struct gram_entry *entry = &warp->view->entries[first];; entry++) {
        if (entry->kind == kind)
            verify_entry(warp, entry, at);
        if ((entry->flags & GRAM_ENTRY_LAST) != 0)
            break;
    }
}

static __device__ void take_found(struct warp *warp, uint32_t n)
{
    warp->n_found -= n;
    if (warp->lane < n) {
        const uint32_t at = warp->queues->found_at[warp->n_found + warp->lane];
        const uint32_t found = warp->queues->found[warp->n_found + warp->lane];

        verify_key(warp, found >> KIND_SHIFT, found & ((1u << KIND_SHIFT) - 1), at);
    }
    __syncwarp();
}

/* ---- dictionary ------------------------------------------------------------------------------ */

static __device__ void look_up(struct warp *warp, bool active, uint32_t kind, uint32_t key,
                               uint32_t at)
{
    const uint32_t first =
        active ? gram_find(warp->view->slots, warp->view->slots_log, key) : GRAM_NONE;
    const uint32_t found = __ballot_sync(WHOLE, first != GRAM_NONE);

    if (first != GRAM_NONE) {
        const uint32_t to = warp->n_found + __popc(found & lanes_below(warp->lane));

        warp->queues->found_at[to] = at;
        warp->queues->found[to] = kind << KIND_SHIFT | first;
    }
    warp->n_found += __popc(found);
    __syncwarp();
    if (warp->n_found >= 32)
        take_found(warp, 32);
}

static __device__ void take_passed(struct warp *warp, uint32_t n)
{
    bool active = warp->lane < n;
    uint64_t bytes = 0;
    uint32_t at = 0;

    warp->n_passed -= n;
    if (active) {
        at = warp->queues->passed[warp->n_passed + warp->lane];
        bytes = gram_fold8(gram_load8(warp->arena->bytes + at));
        active = warp->in_runs || !gram_in_run(bytes);
    }
    __syncwarp();
    for (uint32_t kind = 0; kind < GRAM_KINDS; kind++)
        if ((warp->kinds >> kind & 1) != 0)
            look_up(warp, active, kind,
                    gram_key((enum gram_kind)kind, (uint32_t)bytes, (uint32_t)(bytes >> 32)), at);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* All lanes: a literal that is a run, in bytes begin to end - 1 of the arena. */
static __device__ void report_run(const struct warp *warp, const struct gram_place *place,
                                  uint8_t given, bool exact, uint32_t len, uint32_t id,
                                  uint32_t begin, uint32_t end)
{
    uint32_t before = 0; /* bytes just before these 32 that go on the run */

    for (uint32_t from = begin; from < end; from += 32) {
        const uint32_t at = from + warp->lane;
        const bool takes = at < end && gram_run_takes(given, exact, warp->arena->bytes[at]);
        const uint32_t taken = __ballot_sync(WHOLE, takes);
        /* Lanes up to this one that end the run of taken ones here. */
        const uint32_t broken = ~taken & (lanes_below(warp->lane) | 1u << warp->lane);
        const uint32_t streak =
            broken == 0 ? before + warp->lane + 1 : warp->lane - (31 - __clz((int)broken));
        const uint32_t behind = at + 1 - place->span.offset;

        if (takes && streak >= len && behind > place->overlap)
            cuda_hits_append(warp->hits, place->item, behind, id);
        before = ~taken == 0 ? before + 32 : __clz((int)~taken);
    }
}

/* All lanes: literals that are runs of this byte. */
static __device__ void report_runs(const struct warp *warp, const struct gram_place *place,
                                   uint8_t byte, uint32_t begin, uint32_t end)
{
    const struct gram_view *view = warp->view;
    const struct gram_list *list = &view->body->runs;
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++) {
        const struct gram_entry *entry = &entries[i];

        if (entry->len > end - begin)
            break;
        if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
            report_run(warp, place, (uint8_t)entry->bytes,
                       (entry->flags & GRAM_ENTRY_EXACT) != 0, entry->len, entry->match, begin,
                       end);
            continue;
        }
        for (uint32_t k = view->groups[entry->match]; k < view->groups[entry->match + 1]; k++) {
            const struct mpm_literal *literal = &view->literals[k];

            report_run(warp, place, view->bytes[literal->bytes], literal->exact != 0,
                       literal->len, literal->id, begin, end);
        }
    }
}

static __device__ void verify_edge(const struct warp *warp, enum gram_kind kind, uint8_t byte,
                                   uint32_t at)
{
    const uint8_t neighbour = warp->arena->bytes[kind == GRAM_RUN_BEGIN ? at - 1 : at];
    const uint32_t first = gram_find(warp->view->slots, warp->view->slots_log,
                                     gram_run_key(kind, byte, neighbour));

    if (first != GRAM_NONE)
        verify_key(warp, kind, first, at);
}

/* All lanes: where a run ends that a lane has followed for a while. */
static __device__ uint32_t end_together(const struct warp *warp, uint8_t byte, uint32_t at,
                                        uint32_t behind)
{
    for (; at < behind; at += 32 * 8) {
        const uint32_t from = at + warp->lane * 8;
        const uint32_t end =
            from < behind ? gram_run_end(warp->arena, byte, from, 8, behind) : behind;
        const uint32_t ends = __ballot_sync(WHOLE, from >= behind || end < from + 8);

        if (ends != 0)
            return __shfl_sync(WHOLE, end, __ffs((int)ends) - 1);
    }
    return behind;
}

/* All lanes, each with a run of its own, if active: short ones are each lane's, long ones and
 * literals that are runs are everybody's. */
static __device__ void verify_runs(const struct warp *warp, bool active,
                                   const struct gram_place *own, uint32_t at)
{
    const struct gram_table *body = warp->view->body;
    const uint32_t behind = own->span.offset + own->span.len;
    uint32_t end = 0;
    uint8_t byte = 0;
    bool together = false;

    active = active && gram_run_matters(body, warp->arena, own, at);
    if (active) {
        byte = (uint8_t)gram_fold4(warp->arena->bytes[at]);
        end = gram_run_end(warp->arena, byte, at, RUN_ALONE, behind);
        if (at > own->span.offset)
            verify_edge(warp, GRAM_RUN_BEGIN, byte, at);
        together = (end < behind && end - at >= RUN_ALONE) ||
                   body->runs.begin[byte] != body->runs.begin[byte + 1];
        if (!together && end < behind)
            verify_edge(warp, GRAM_RUN_END, byte, end);
    }
    __syncwarp();
    for (uint32_t left; (left = __ballot_sync(WHOLE, together)) != 0;) {
        const int from = __ffs((int)left) - 1;
        struct gram_place place;

        place.item = __shfl_sync(WHOLE, own->item, from);
        place.span.offset = __shfl_sync(WHOLE, own->span.offset, from);
        place.span.len = __shfl_sync(WHOLE, own->span.len, from);
        place.overlap = __shfl_sync(WHOLE, own->overlap, from);
        const uint8_t its_byte = (uint8_t)__shfl_sync(WHOLE, (uint32_t)byte, from);
        const uint32_t begin = __shfl_sync(WHOLE, at, from);
        const uint32_t its_behind = place.span.offset + place.span.len;
        const uint32_t its_end =
            end_together(warp, its_byte, __shfl_sync(WHOLE, end, from), its_behind);

        if ((int)warp->lane == from && its_end < its_behind)
            verify_edge(warp, GRAM_RUN_END, its_byte, its_end);
        __syncwarp();
        report_runs(warp, &place, its_byte, begin, its_end);
        together = together && (int)warp->lane != from;
    }
}

/* Runs at an item's first byte are looked at apart: they may go on from what lies before it. */
static __device__ void take_runs(struct warp *warp, uint32_t n)
{
    struct gram_place place = {};
    bool active = warp->lane < n;
    uint32_t at = 0;

    warp->n_run -= n;
    if (active) {
        at = warp->queues->run[warp->n_run + warp->lane];
        active = gram_locate(warp->arena, at, at + (uint64_t)1, &place) && at > place.span.offset;
    }
    __syncwarp();
    verify_runs(warp, active, &place, at);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Appends a lane's positions to a queue, and has 32 taken whenever there are as many. */
template <class Take>
static __device__ void enqueue(const struct warp *warp, uint32_t *queue, uint32_t *n,
                               uint32_t bits, uint32_t at, Take take)
{
    for (uint32_t some; (some = __ballot_sync(WHOLE, bits != 0)) != 0;) {
        if (bits != 0) {
            queue[*n + __popc(some & lanes_below(warp->lane))] = at + (__ffs((int)bits) - 1);
            bits &= bits - 1;
        }
        *n += __popc(some);
        __syncwarp();
        if (*n >= 32)
            take();
    }
}

static __device__ void verify_tiny(const struct warp *warp, uint32_t bits, uint32_t at)
{
    const struct gram_list *list = &warp->view->body->tiny;
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(warp->view->body, list->entries);

    for (; bits != 0; bits &= bits - 1) {
        const uint32_t from = at + (__ffs((int)bits) - 1);
        const uint8_t byte = mpm_fold(warp->arena->bytes[from]);

        for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++)
            verify_entry(warp, &entries[i], from);
    }
    __syncwarp();
}

template <int STRIDE>
static __device__ void scan_lane(struct warp *warp, const uint32_t *filter, uint32_t at)
{
    const bool inside = at < warp->arena->len;
    const uint8_t *bytes = warp->arena->bytes + at;
    uint32_t words[GRAM_LANE_WORDS] = {};
    uint32_t windows = 0, runs = 0;

    if (inside) {
        const uint4 low = *(const uint4 *)bytes;
        const uint2 high = *(const uint2 *)(bytes + GRAM_LANE);

        words[0] = gram_fold4(low.x);
        words[1] = gram_fold4(low.y);
        words[2] = gram_fold4(low.z);
        words[3] = gram_fold4(low.w);
        words[4] = gram_fold4(high.x);
        words[5] = gram_fold4(high.y);
        windows = gram_lane_windows(warp->view, filter, words, STRIDE);
        if (warp->has_runs)
            runs = gram_lane_runs(words, at > 0 ? gram_fold4(bytes[-1]) : ~words[0]);
    }
    enqueue(warp, warp->queues->passed, &warp->n_passed, windows, at,
            [warp] { take_passed(warp, 32); });
    if (warp->has_runs)
        enqueue(warp, warp->queues->run, &warp->n_run, runs, at, [warp] { take_runs(warp, 32); });
    if (warp->has_tiny)
        verify_tiny(warp, inside ? gram_lane_tiny(warp->view->body, bytes) : 0, at);
}

static __device__ struct warp make_warp(const struct gram_view *view,
                                        const struct gram_arena *arena,
                                        struct cuda_hits_device hits, struct queues *queues)
{
    struct warp warp = {view, arena, hits, queues, threadIdx.x % 32};

    for (uint32_t kind = 0; kind < GRAM_KINDS; kind++)
        warp.kinds |= (uint32_t)(view->body->n_of_kind[kind] != 0) << kind;
    warp.in_runs = view->body->n_in_runs != 0;
    warp.has_runs = view->body->n_runs != 0;
    warp.has_tiny = view->body->n_tiny != 0;
    return warp;
}

template <int STRIDE>
static __global__ void __launch_bounds__(BLOCK)
    gram_scan_kernel(const struct sl_mpm_table *table, struct gram_arena arena,
                     struct cuda_hits_device hits)
{
    extern __shared__ uint32_t shared[];
    const struct gram_view view = gram_view(table);
    const uint32_t n_words = 1u << view.words_log;
    struct warp warp = make_warp(&view, &arena, hits,
                                 (struct queues *)(shared + n_words) + threadIdx.x / 32);

    for (uint32_t i = threadIdx.x; i < n_words; i += BLOCK)
        shared[i] = view.words[i];
    __syncthreads();

    const uint64_t step = (uint64_t)gridDim.x * WARPS * TILE;
    for (uint64_t tile = ((uint64_t)blockIdx.x * WARPS + threadIdx.x / 32) * TILE; tile < arena.len;
         tile += step)
        scan_lane<STRIDE>(&warp, shared, (uint32_t)tile + warp.lane * GRAM_LANE);
    take_passed(&warp, warp.n_passed);
    take_found(&warp, warp.n_found);
    take_runs(&warp, warp.n_run);
}

static __global__ void gram_index_kernel(struct gram_arena arena, uint32_t *index, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        index[i] = gram_index_of(arena.payload, arena.n_items, i << GRAM_INDEX_LOG);
}

static __global__ void gram_first_runs_kernel(const struct sl_mpm_table *table,
                                              struct gram_arena arena,
                                              struct cuda_hits_device hits)
{
    const struct gram_view view = gram_view(table);
    const struct warp warp = make_warp(&view, &arena, hits, NULL);
    const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    struct gram_place place = {item, {}, 0};

    if (item < arena.n_items) {
        place.span = arena.payload[item];
        place.overlap = arena.overlap != NULL ? arena.overlap[item] : 0;
    }
    verify_runs(&warp, place.span.len > 0, &place, place.span.offset);
}

/* ---- context --------------------------------------------------------------------------------- */

struct gram_cuda {
    void *cuda;
    uint32_t *d_index;
    uint32_t stride;
    uint32_t shared_len; /* bytes */
    bool has_runs;
};

static void gram_cuda_close(void *context)
{
    struct gram_cuda *gram = (struct gram_cuda *)context;

    if (gram == NULL)
        return;
    cuda_context_close(gram->cuda);
    (void)cudaFree(gram->d_index);
    free(gram);
}

static enum sl_status prepare(struct gram_cuda *gram, const struct sl_limits *limits,
                              struct sl_diag *diag)
{
    const size_t n = ((size_t)limits->max_bytes >> GRAM_INDEX_LOG) + 1;
    int most = 0;

    cudaError_t error =
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, limits->device);
    if (error == cudaSuccess && gram->shared_len > (uint32_t)most)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "gram's filter takes %u bytes of shared memory, this GPU has %d: the table "
                        "was built for a CPU",
                        gram->shared_len, most);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(gram_scan_kernel<1>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(gram_scan_kernel<2>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&gram->d_index, n * sizeof *gram->d_index);
    return cuda_status(error, "preparing the gram matcher", diag);
}

static enum sl_status gram_cuda_open(void **context, const void *table,
                                     const struct sl_limits *limits, struct sl_diag *diag)
{
    const struct sl_mpm_table *block = (const struct sl_mpm_table *)table;
    const struct gram_table *body = (const struct gram_table *)mpm_at(block, block->body);
    struct gram_cuda *gram = (struct gram_cuda *)calloc(1, sizeof *gram);

    if (gram == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    gram->stride = body->stride;
    gram->shared_len = (uint32_t)(((uint32_t)sizeof(uint32_t) << body->words_log) +
                                  WARPS * sizeof(struct queues));
    gram->has_runs = body->n_runs != 0;

    enum sl_status status = cuda_context_open(&gram->cuda, table, block->len, limits, diag);
    if (status == SL_OK)
        status = prepare(gram, limits, diag);
    if (status != SL_OK) {
        gram_cuda_close(gram);
        return status;
    }
    *context = gram;
    return SL_OK;
}

static void launch(const struct gram_cuda *gram, const struct sl_batch *batch)
{
    const struct cuda_context *cuda = (const struct cuda_context *)gram->cuda;
    const struct sl_mpm_table *d_table = (const struct sl_mpm_table *)cuda->d_table;
    const struct gram_arena arena = {
        batch->bytes,  batch->payload, batch->has_overlap ? batch->overlap : NULL,
        gram->d_index, batch->n_items, batch->bytes_len};
    const struct cuda_hits_device hits = cuda_hits_device(cuda);
    const cudaStream_t stream = (cudaStream_t)batch->stream;
    const uint32_t n_index = (batch->bytes_len >> GRAM_INDEX_LOG) + 1;
    const uint32_t n_tiles = batch->bytes_len / TILE + 1;
    const uint32_t wanted = (n_tiles + (WARPS - 1)) / WARPS;
    const uint32_t n_blocks = wanted < cuda->n_multiprocessors ? wanted : cuda->n_multiprocessors;

    gram_index_kernel<<<(n_index + 255) / 256, 256, 0, stream>>>(arena, gram->d_index, n_index);
    if (gram->stride == 1)
        gram_scan_kernel<1><<<n_blocks, BLOCK, gram->shared_len, stream>>>(d_table, arena, hits);
    else
        gram_scan_kernel<2><<<n_blocks, BLOCK, gram->shared_len, stream>>>(d_table, arena, hits);
    if (gram->has_runs)
        gram_first_runs_kernel<<<(batch->n_items + 255) / 256, 256, 0, stream>>>(d_table, arena,
                                                                                 hits);
}

static enum sl_status gram_cuda_submit(void *context, const struct sl_batch *batch,
                                       struct sl_hits *hits)
{
    const struct gram_cuda *gram = (const struct gram_cuda *)context;
    const enum sl_status status = cuda_submit_begin((struct cuda_context *)gram->cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        launch(gram, batch);
    return cuda_submit_end((struct cuda_context *)gram->cuda);
}

static enum sl_status gram_cuda_wait(void *context)
{
    return cuda_context_wait(((const struct gram_cuda *)context)->cuda);
}

extern "C" {
extern const struct sl_backend mpm_gram_cuda;

const struct sl_backend mpm_gram_cuda = {"cuda",           SL_DEVICE_CUDA,   device_cuda_usable,
                                         gram_cuda_open,   gram_cuda_submit, gram_cuda_wait,
                                         gram_cuda_close};
}
