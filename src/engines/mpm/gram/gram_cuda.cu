/* SPDX-License-Identifier: MIT */
/* The gram matcher on GPUs. A block fills a multiprocessor; the filter lies in its shared memory. A
 * warp goes over 512 bytes of the arena at a time, 16 a lane. Few bytes pass, so positions that
 * pass wait in queues until all lanes of the warp have work. The queues are for windows, for
 * entries of the dictionary, and for runs. Hits wait too, so that one atomic serves many.
 *
 * A warp counts what it verifies. Where that becomes too dear it stops, and has the automaton go
 * over the batch. The automaton's kernels follow on the stream where the batch before needed them;
 * else `wait` launches them. Launches that do nothing cost the link and other engines more than the
 * second wait for the first batch of an attack. */
#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "engines/mpm/ac/ac_cuda.h"
#include "gram_tile.h"

extern "C" {
#include "gram_check.h"
}

enum {
    BLOCK = 1024,
    WARPS = BLOCK / GRAM_LANES,
    QUEUE = 64,        /* less than 32 wait while up to 32 come in */
    STAGED = 48,       /* hits; more go to memory one by one */
    ITEMS_BLOCK = 256, /* threads, one an item */
    ENTRIES_ALONE = 4  /* of the index */
};

#define WHOLE 0xFFFFFFFFu /* all lanes of a warp */

struct queues {
    uint32_t passed[QUEUE];
    uint32_t found_at[QUEUE];
    uint32_t found[QUEUE]; /* the entry there that is to be compared */
    uint32_t run[QUEUE];
    uint32_t n_staged;
    struct sl_hit staged[STAGED];
};

/* One a warp; behind them lies the filter. */
extern __shared__ struct queues shared_queues[];

static __device__ uint32_t *shared_filter(void)
{
    return (uint32_t *)(shared_queues + WARPS);
}

static __device__ struct queues *my_queues(void)
{
    return &shared_queues[threadIdx.x / 32];
}

/* Values that all warps share. */
struct gram_scan {
    struct gram_view view;
    struct gram_sieve sieve;
    struct gram_arena arena;
    struct cuda_hits_device hits;
    struct cuda_delivery delivery;   /* by the kernel that is last */
    struct ac_cuda_state *automaton; /* turned on when a warp gives up, */
    uint32_t *h_given_up;            /* and 1 then; in pinned memory */
    bool has_runs, has_tiny;
};

/* The same in all lanes but for their number. */
struct warp {
    const struct gram_scan *scan;
    uint32_t lane;
    int32_t left;                       /* work; below 0: the batch is given up */
    uint32_t n_passed, n_found, n_runs; /* in the queues */
};

static __device__ uint32_t lanes_below(uint32_t lane)
{
    return (1u << lane) - 1;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* False: the batch is over budget. */
static __device__ bool spend(struct warp *warp, uint32_t work)
{
    warp->left -= (int32_t)work;
    return warp->left >= 0;
}

/* All lanes call it. Work that lanes do side by side takes as long as the longest of them. */
static __device__ void spend_most(struct warp *warp, uint32_t work)
{
    for (int step = 16; step != 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(WHOLE, work, step);

        work = work > other ? work : other;
    }
    (void)spend(warp, work);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static __device__ void append(const struct warp *warp, uint32_t item, uint32_t end, uint32_t id)
{
    if (!cuda_hits_want(warp->scan->hits, item, id))
        return;

    const uint32_t slot = atomicAdd(&my_queues()->n_staged, 1u);

    if (slot < STAGED) {
        const struct sl_hit hit = {item, end, id};

        my_queues()->staged[slot] = hit;
    } else {
        cuda_hits_append(warp->scan->hits, item, end, id);
    }
}

/* All lanes. */
static __device__ void flush_hits(const struct warp *warp, uint32_t least)
{
    struct queues *queues = my_queues();

    __syncwarp();
    const uint32_t n = queues->n_staged < STAGED ? queues->n_staged : (uint32_t)STAGED;
    if (n < least)
        return;

    unsigned long long first = 0;
    if (warp->lane == 0)
        first = atomicAdd(warp->scan->hits.count, (unsigned long long)n);
    first = __shfl_sync(WHOLE, first, 0);
    for (uint32_t i = warp->lane; i < n; i += 32)
        if (first + i < warp->scan->hits.cap)
            warp->scan->hits.hit[first + i] = queues->staged[i];
    __syncwarp();
    if (warp->lane == 0)
        queues->n_staged = 0;
    __syncwarp();
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Returns its cost. */
static __device__ uint32_t verify_entry(const struct warp *warp, const struct gram_place *place,
                                        const struct gram_entry *entry, uint32_t at)
{
    const struct gram_view *view = &warp->scan->view;
    const uint32_t item = place->item;
    uint32_t end, work;

    if (!gram_place_matches(view, &warp->scan->arena, place, entry, at, &end, &work))
        return work;
    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        append(warp, item, end, entry->match);
        return work;
    }

    const uint8_t *behind = warp->scan->arena.bytes + at - entry->window + entry->len;
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, behind))
            append(warp, item, end, view->literals[i].id);
    return work;
}

/* An entry, in two reads. */
static __device__ struct gram_entry read_entry(const struct gram_entry *from)
{
    union {
        uint4 read[2];
        struct gram_entry entry;
    } both;

    both.read[0] = ((const uint4 *)from)[0];
    both.read[1] = ((const uint4 *)from)[1];
    return both.entry;
}

/* Lanes append to the queue. */
static __device__ void push_found(struct warp *warp, bool active, uint32_t at, uint32_t entry)
{
    const uint32_t lanes = __ballot_sync(WHOLE, active);

    if (active) {
        const uint32_t to = warp->n_found + __popc(lanes & lanes_below(warp->lane));

        my_queues()->found_at[to] = at;
        my_queues()->found[to] = entry;
    }
    warp->n_found += __popc(lanes);
    __syncwarp();
}

/* A lane takes one entry. The next entry of its key goes to the queue, so that lanes have equal
 * work. */
static __device__ void take_found(struct warp *warp, uint32_t n)
{
    const bool active = warp->lane < n;
    struct gram_entry entry = {};
    uint32_t at = 0, number = 0, work = 0;

    warp->n_found -= n;
    if (active) {
        struct gram_place place;

        at = my_queues()->found_at[warp->n_found + warp->lane];
        number = my_queues()->found[warp->n_found + warp->lane];
        /* Under way while the item is looked up. */
        entry = read_entry(warp->scan->sieve.entries + number);
        if (gram_locate(&warp->scan->arena, at, &place))
            work = verify_entry(warp, &place, &entry, at);
    }
    __syncwarp();
    if (__any_sync(WHOLE, work != 0))
        spend_most(warp, work);
    if (!spend(warp, GRAM_WORK_ROUND))
        return;
    push_found(warp, active && (entry.flags & GRAM_ENTRY_LAST) == 0, at, number + 1);
    flush_hits(warp, 32);
}

/* ---- dictionary ------------------------------------------------------------------------------ */

static __device__ void take_passed(struct warp *warp, uint32_t n)
{
    uint32_t first = GRAM_NONE, at = 0;

    warp->n_passed -= n;
    if (!spend(warp, GRAM_WORK_ROUND))
        return;
    if (warp->lane < n) {
        at = my_queues()->passed[warp->n_passed + warp->lane];

        const uint64_t bytes = gram_fold8(gram_load8(warp->scan->arena.bytes + at));
        first = gram_sieve_find(&warp->scan->sieve, (uint32_t)bytes, (uint32_t)(bytes >> 32));
    }

    push_found(warp, first != GRAM_NONE, at, first);
    while (warp->n_found >= 32)
        take_found(warp, 32);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* All lanes call it. Reports a literal at each of its places in a run of its own byte. */
static __device__ void report_ends(struct warp *warp, const struct gram_place *place, uint32_t len,
                                   uint32_t id, const struct gram_run *run)
{
    const struct cuda_hits_device &hits = warp->scan->hits;
    const bool sparse = cuda_hits_are_sparse(hits, place->item);
    const struct mpm_ends ends = gram_run_ends(place, run, len, sparse);
    unsigned long long slot = 0;

    if (!cuda_hits_want(hits, place->item, id))
        return;
    if (ends.n < 32) {
        if (warp->lane < ends.n)
            append(warp, place->item, ends.first + warp->lane * ends.step, id);
        flush_hits(warp, 32);
        return;
    }
    if (warp->lane == 0)
        slot = atomicAdd(hits.count, (unsigned long long)ends.n);
    slot = __shfl_sync(WHOLE, slot, 0);
    for (uint32_t i = warp->lane; i < ends.n && slot + i < hits.cap; i += 32)
        hits.hit[slot + i] = {place->item, ends.first + i * ends.step, id};
}

/* All lanes call it. Searches a run of coarsely equal bytes for a literal. */
static __device__ void search_run(struct warp *warp, const struct gram_place *place,
                                  const struct gram_run_literal *literal,
                                  const struct gram_run *run)
{
    uint32_t before = 0; /* bytes just before these 32 that go on the run */

    for (uint32_t from = run->begin; from < run->end; from += 32) {
        const uint32_t at = from + warp->lane;
        const bool takes = at < run->end && gram_run_takes(literal, warp->scan->arena.bytes[at]);
        const uint32_t taken = __ballot_sync(WHOLE, takes);
        /* Lanes up to this one that end the run of taken ones here. */
        const uint32_t broken = ~taken & (lanes_below(warp->lane) | 1u << warp->lane);
        const uint32_t streak =
            broken == 0 ? before + warp->lane + 1 : warp->lane - (31 - __clz((int)broken));
        const uint32_t behind = at + 1 - place->span.offset;

        if (takes && streak >= literal->len && behind > place->overlap)
            append(warp, place->item, behind, literal->id);
        flush_hits(warp, 32);
        before = ~taken == 0 ? before + 32 : __clz((int)~taken);
    }
}

/* All lanes: a literal that is a run. */
static __device__ void report_run(struct warp *warp, const struct gram_place *place,
                                  const struct gram_run_literal *literal,
                                  const struct gram_run *run)
{
    if (!spend(warp, gram_run_work(run)))
        return;
    if (!run->uniform)
        search_run(warp, place, literal, run);
    else if (gram_run_takes(literal, warp->scan->arena.bytes[run->begin]))
        report_ends(warp, place, literal->len, literal->id, run);
}

/* All lanes: literals that are runs of this byte. */
static __device__ void report_runs(struct warp *warp, const struct gram_place *place, uint8_t byte,
                                   const struct gram_run *run)
{
    const struct gram_view *view = &warp->scan->view;
    struct gram_run_list list = gram_runs_of(view->body, byte);
    struct gram_run_literal literal;

    while (warp->left >= 0 && gram_next_run(view, run, &list, &literal))
        report_run(warp, place, &literal, run);
}

/* All lanes: gram_run_end. */
static __device__ uint32_t end_of_run(struct warp *warp, uint8_t byte, uint64_t coarse, uint32_t at,
                                      uint32_t behind)
{
    for (; at < behind && spend(warp, GRAM_WORK_ROUND); at += GRAM_RUN_STEP) {
        const uint32_t from = at + warp->lane * 8;
        const uint32_t end = from < behind
                                 ? gram_run_end(&warp->scan->arena, byte, coarse, from, 8, behind)
                                 : behind;
        const uint32_t ends = __ballot_sync(WHOLE, from >= behind || end < from + 8);

        if (ends != 0)
            return __shfl_sync(WHOLE, end, __ffs((int)ends) - 1);
    }
    return behind;
}

/* All lanes: the run that begins here. */
static __device__ void verify_run(struct warp *warp, const struct gram_place *place, uint32_t begin)
{
    const uint8_t given = warp->scan->arena.bytes[begin];
    const uint8_t byte = (uint8_t)gram_fold4(given);
    const uint32_t behind = place->span.offset + place->span.len;
    const uint32_t equal = end_of_run(warp, given, 0, begin, behind);
    const uint32_t end = end_of_run(warp, byte, UINT64_C(0x2020202020202020), equal, behind);
    const struct gram_run run = {begin, end, equal == end};

    report_runs(warp, place, byte, &run);
}

/* All lanes call it, and an active lane has a run. All lanes verify one run after another. */
static __device__ void verify_runs(struct warp *warp, bool active, const struct gram_place *own,
                                   uint32_t at)
{
    const uint8_t byte = active ? (uint8_t)gram_fold4(warp->scan->arena.bytes[at]) : 0;

    active = active && gram_has_runs_of(warp->scan->view.body, byte);
    for (uint32_t some; (some = __ballot_sync(WHOLE, active && warp->left >= 0)) != 0;) {
        const int from = __ffs((int)some) - 1;
        struct gram_place place;

        place.item = __shfl_sync(WHOLE, own->item, from);
        place.span.offset = __shfl_sync(WHOLE, own->span.offset, from);
        place.span.len = __shfl_sync(WHOLE, own->span.len, from);
        place.overlap = __shfl_sync(WHOLE, own->overlap, from);
        verify_run(warp, &place, __shfl_sync(WHOLE, at, from));
        active = active && (int)warp->lane != from;
    }
}

/* Runs at an item's first byte are handled apart, as they may continue bytes before it. */
static __device__ void take_runs(struct warp *warp, uint32_t n)
{
    struct gram_place place = {};
    bool active = warp->lane < n;
    uint32_t at = 0;

    warp->n_runs -= n;
    if (!spend(warp, GRAM_WORK_ROUND))
        return;
    if (active) {
        at = my_queues()->run[warp->n_runs + warp->lane];
        active = gram_has_runs_of(warp->scan->view.body, warp->scan->arena.bytes[at]) &&
                 gram_locate(&warp->scan->arena, at, &place) && at > place.span.offset;
    }
    __syncwarp();
    verify_runs(warp, active, &place, at);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Appends a lane's bits to a queue. Whenever the queue has 32 entries, the lanes take them. */
template <class Put, class Take>
static __device__ void enqueue(const struct warp *warp, uint32_t *n, uint32_t bits, Put put,
                               Take take)
{
    for (uint32_t some; (some = __ballot_sync(WHOLE, bits != 0)) != 0;) {
        if (bits != 0) {
            put(*n + __popc(some & lanes_below(warp->lane)), (uint32_t)__ffs((int)bits) - 1);
            bits &= bits - 1;
        }
        *n += __popc(some);
        __syncwarp();
        if (*n >= 32)
            take();
    }
}

/* Adds to the lane's cost. */
static __device__ void verify_tiny_at(const struct warp *warp, uint32_t at, int32_t *work)
{
    const struct gram_table *body = warp->scan->view.body;
    const struct gram_list *list = &body->tiny;
    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(body, list->entries);
    const uint8_t *text = warp->scan->arena.bytes + at;
    struct gram_place place;

    if (!gram_locate(&warp->scan->arena, at, &place))
        return;
    for (uint32_t left = gram_tiny_classes(body, text); left != 0; left &= left - 1) {
        const uint32_t key = gram_tiny_first_key(body, left, text);

        for (uint32_t i = list->begin[key]; i < list->begin[key + 1] && *work <= warp->left; i++)
            *work += 1 + (int32_t)verify_entry(warp, &place, &entries[i], at);
    }
}

static __device__ void verify_tiny(struct warp *warp, uint32_t bits, uint32_t at)
{
    int32_t work = 0;

    for (; bits != 0; bits &= bits - 1)
        verify_tiny_at(warp, at + (__ffs((int)bits) - 1), &work);
    spend_most(warp, (uint32_t)work);
}

/* The bytes of a tile that a lane reads. */
struct lane_bytes {
    uint4 own;
    uint2 behind;
};

template <bool IS_LONG>
static __device__ struct lane_bytes load_lane(const struct warp *warp, uint32_t at)
{
    struct lane_bytes loaded = {};

    if (at < warp->scan->arena.len) {
        const uint8_t *bytes = warp->scan->arena.bytes + at;

        loaded.own = *(const uint4 *)bytes;
        if (IS_LONG)
            loaded.behind = *(const uint2 *)(bytes + GRAM_LANE);
        else
            loaded.behind.x = *(const uint32_t *)(bytes + GRAM_LANE);
    }
    return loaded;
}

static __device__ void scan_runs(struct warp *warp, uint32_t at)
{
    uint32_t words[GRAM_LANE_WORDS], runs = 0;

    if (at < warp->scan->arena.len) {
        const uint32_t *from = (const uint32_t *)(warp->scan->arena.bytes + at);

        /* No run goes on from before the arena. */
        words[0] = gram_fold4(at > 0 ? from[-1] : ~from[0] << 24);
        for (int i = 1; i < GRAM_LANE_WORDS; i++)
            words[i] = gram_fold4(from[i - 1]);
        runs = gram_lane_runs(words);
    }
    enqueue(
        warp, &warp->n_runs, runs,
        [=](uint32_t slot, uint32_t bit) { my_queues()->run[slot] = at + bit; },
        [=] { take_runs(warp, 32); });
}

template <bool IS_LONG>
static __device__ void scan_lane(struct warp *warp, const struct lane_bytes *loaded, uint32_t at)
{
    const bool inside = at < warp->scan->arena.len;
    const uint32_t words[] = {gram_fold4(loaded->own.x),    gram_fold4(loaded->own.y),
                              gram_fold4(loaded->own.z),    gram_fold4(loaded->own.w),
                              gram_fold4(loaded->behind.x), gram_fold4(loaded->behind.y)};
    const uint32_t windows = gram_lane_windows(&warp->scan->sieve, shared_filter(), words, IS_LONG);

    enqueue(
        warp, &warp->n_passed, inside ? windows : 0,
        [=](uint32_t slot, uint32_t bit) { my_queues()->passed[slot] = at + bit; },
        [=] { take_passed(warp, 32); });
    if (warp->scan->has_runs)
        scan_runs(warp, at);
    if (warp->scan->has_tiny) {
        verify_tiny(
            warp, inside ? gram_lane_tiny(warp->scan->view.body, warp->scan->arena.bytes + at) : 0,
            at);
        flush_hits(warp, 32);
    }
}

/* All lanes, at the end. */
static __device__ void finish(const struct warp *warp)
{
    if (warp->left >= 0) {
        flush_hits(warp, 1);
    } else if (warp->lane == 0) {
        warp->scan->automaton->is_off = 0;
        *warp->scan->h_given_up = 1;
    }
}

template <bool IS_LONG>
static __global__ void __launch_bounds__(BLOCK)
    gram_scan_kernel(const __grid_constant__ struct gram_scan scan)
{
    struct warp warp = {&scan, threadIdx.x % GRAM_LANES, GRAM_WORK_FREE};

    for (uint32_t i = threadIdx.x; i < scan.sieve.n_words; i += BLOCK)
        shared_filter()[i] = scan.sieve.words[i];
    my_queues()->n_staged = 0;
    __syncthreads();

    const uint32_t n_tiles = scan.arena.len / GRAM_TILE + (scan.arena.len % GRAM_TILE != 0);
    const uint32_t step = gridDim.x * WARPS;
    uint32_t tile = blockIdx.x * WARPS + threadIdx.x / 32;
    uint32_t at = tile * GRAM_TILE + warp.lane * GRAM_LANE;
    struct lane_bytes loaded = {};
    if (tile < n_tiles)
        loaded = load_lane<IS_LONG>(&warp, at);
    for (; tile < n_tiles && warp.left >= 0; tile += step) {
        const uint32_t next_at = at + step * GRAM_TILE;
        struct lane_bytes next = {};

        warp.left += GRAM_WORK_TILE;
        if (tile + step < n_tiles)
            next = load_lane<IS_LONG>(&warp, next_at);
        scan_lane<IS_LONG>(&warp, &loaded, at);
        loaded = next;
        at = next_at;
    }
    take_passed(&warp, warp.n_passed);
    while (warp.n_found != 0)
        take_found(&warp, warp.n_found < 32 ? warp.n_found : 32);
    take_runs(&warp, warp.n_runs);
    finish(&warp);
    if (!scan.has_runs)
        cuda_deliver(scan.delivery);
}

/* The first kernel. An item has a thread, and all threads of its warp fill the many entries of a
 * long item. */
static __global__ void gram_index_kernel(struct gram_arena arena, uint32_t *index, uint32_t n,
                                         struct ac_cuda_state *automaton)
{
    const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t lane = threadIdx.x % 32;
    uint32_t first = 0, end = 0;

    if (item == 0)
        *automaton = {true, 0};

    if (item < arena.n_items)
        end = gram_index_range(&arena, item, n, &first);
    for (uint32_t i = 0; i < ENTRIES_ALONE && first < end; i++)
        index[first++] = item;
    for (uint32_t left; (left = __ballot_sync(WHOLE, first < end)) != 0;) {
        const int from = __ffs((int)left) - 1;
        const uint32_t its_first = __shfl_sync(WHOLE, first, from);
        const uint32_t its_end = __shfl_sync(WHOLE, end, from);

        for (uint32_t i = its_first + lane; i < its_end; i += 32)
            index[i] = item - lane + from;
        if ((int)lane == from)
            first = end;
    }
}

static __global__ void gram_first_runs_kernel(const __grid_constant__ struct gram_scan scan)
{
    struct warp warp = {&scan, threadIdx.x % GRAM_LANES,
                        GRAM_WORK_FREE + GRAM_LANES * GRAM_WORK_ITEM};
    const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    struct gram_place place = {item, {}, 0};

    if (item < scan.arena.n_items) {
        place.span = scan.arena.payload[item];
        place.overlap = scan.arena.overlap != NULL ? scan.arena.overlap[item] : 0;
    }
    my_queues()->n_staged = 0;
    __syncwarp();
    verify_runs(&warp, place.span.len > 0, &place, place.span.offset);
    finish(&warp);
    cuda_deliver(scan.delivery);
}

/* ---- context --------------------------------------------------------------------------------- */

struct gram_cuda {
    void *cuda;
    uint32_t *d_index;
    struct ac_cuda_plan plan; /* for batches that are given up */
    uint32_t shared_len;      /* bytes */
    uint64_t automaton;       /* its offset in the table's body */
    bool automaton_follows;   /* on the stream: the previous batch was given up, or hits stay there
                                 for later kernels */
    struct gram_scan scan;    /* but for the batch */
    struct sl_batch batch;    /* that is under way */
};

static void gram_cuda_close(void *context)
{
    struct gram_cuda *gram = (struct gram_cuda *)context;

    if (gram == NULL)
        return;
    void *const memory[] = {gram->d_index};
    cuda_context_close_with(gram->cuda, memory, 1);
    ac_cuda_plan_close(&gram->plan);
    cuda_free_host(gram->scan.h_given_up);
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
                        "gram's filter takes %u bytes of shared memory, this GPU has %d",
                        gram->shared_len, most);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(gram_scan_kernel<false>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(gram_scan_kernel<true>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&gram->d_index, n * sizeof *gram->d_index);
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&gram->scan.h_given_up, sizeof *gram->scan.h_given_up,
                              cudaHostAllocPortable);
    return cuda_status(error, "preparing the gram matcher", diag);
}

/* A pointer into the table's copy on the device. */
template <class T> static const T *on_device(const struct cuda_context *cuda, const T *host)
{
    return (const T *)((const uint8_t *)cuda->d_table +
                       ((const uint8_t *)host - (const uint8_t *)cuda->table));
}

static void describe(struct gram_cuda *gram, const struct gram_view *host)
{
    const struct cuda_context *cuda = (const struct cuda_context *)gram->cuda;
    struct gram_scan *scan = &gram->scan;
    struct gram_view *view = &scan->view;

    *view = *host;
    view->words = on_device(cuda, host->words);
    view->slots = on_device(cuda, host->slots);
    view->entries = on_device(cuda, host->entries);
    view->patterns = on_device(cuda, host->patterns);
    view->body = on_device(cuda, host->body);
    view->literals = on_device(cuda, host->literals);
    view->groups = on_device(cuda, host->groups);
    view->bytes = on_device(cuda, host->bytes);
    scan->sieve = gram_sieve(host->body);
    scan->sieve.words = on_device(cuda, scan->sieve.words);
    scan->sieve.slots = on_device(cuda, scan->sieve.slots);
    scan->sieve.entries = on_device(cuda, scan->sieve.entries);
    scan->has_runs = host->body->runs.begin[256] != 0;
    scan->has_tiny = host->body->n_tiny != 0;
    gram->automaton = host->body->automaton;
    scan->automaton = gram->plan.d_state;
    scan->arena.index = gram->d_index;
}

static enum sl_status gram_cuda_open(void **context, const void *table,
                                     const struct sl_limits *limits, struct sl_diag *diag)
{
    const struct sl_mpm_table *block = (const struct sl_mpm_table *)table;
    const struct gram_view view = gram_view(block);

    if (!gram_is_for_gpus(block, diag))
        return SL_EUNSUPPORTED;
    struct gram_cuda *gram = (struct gram_cuda *)calloc(1, sizeof *gram);

    if (gram == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    gram->shared_len = (uint32_t)(WARPS * sizeof(struct queues) +
                                  sizeof(uint32_t) * gram_sieve(view.body).n_words);

    enum sl_status status = cuda_context_open(&gram->cuda, table, block->head.len, limits, diag);
    if (status == SL_OK)
        status = prepare(gram, limits, diag);
    if (status == SL_OK)
        status = ac_cuda_plan_open(&gram->plan, limits, diag);
    if (status != SL_OK) {
        gram_cuda_close(gram);
        return status;
    }
    describe(gram, &view);
    gram->automaton_follows = limits->device_hits != NULL;
    *context = gram;
    return SL_OK;
}

static uint32_t blocks_for(uint64_t n, uint32_t each)
{
    return (uint32_t)((n + each - 1) / each);
}

static void launch(struct gram_cuda *gram, const struct sl_batch *batch)
{
    struct cuda_context *cuda = (struct cuda_context *)gram->cuda;
    struct gram_scan *scan = &gram->scan;
    const cudaStream_t stream = (cudaStream_t)batch->stream;
    const uint32_t n_index = (batch->bytes_len >> GRAM_INDEX_LOG) + 1;
    const uint32_t wanted = blocks_for((uint64_t)batch->bytes_len + 1, GRAM_TILE * WARPS);
    const uint32_t n_blocks = wanted < cuda->n_multiprocessors ? wanted : cuda->n_multiprocessors;

    scan->arena.bytes = batch->bytes;
    scan->arena.payload = batch->payload;
    scan->arena.overlap = batch->has_overlap ? batch->overlap : NULL;
    scan->arena.n_items = batch->n_items;
    scan->arena.len = batch->bytes_len;
    scan->hits = cuda_hits_device(cuda);
    scan->delivery = {};
    if (!gram->automaton_follows)
        scan->delivery = cuda_delivery(cuda);
    gram_index_kernel<<<blocks_for(batch->n_items, ITEMS_BLOCK), ITEMS_BLOCK, 0, stream>>>(
        scan->arena, gram->d_index, n_index, scan->automaton);
    if (scan->sieve.next == 0)
        gram_scan_kernel<false><<<n_blocks, BLOCK, gram->shared_len, stream>>>(*scan);
    else
        gram_scan_kernel<true><<<n_blocks, BLOCK, gram->shared_len, stream>>>(*scan);
    if (scan->has_runs)
        gram_first_runs_kernel<<<blocks_for(batch->n_items, ITEMS_BLOCK), ITEMS_BLOCK,
                                 sizeof(struct queues) * (ITEMS_BLOCK / 32), stream>>>(*scan);
    if (gram->automaton_follows)
        ac_cuda_launch(&gram->plan, cuda, gram->automaton, batch);
}

static enum sl_status gram_cuda_submit(void *context, const struct sl_batch *batch,
                                       struct sl_hits *hits)
{
    struct gram_cuda *gram = (struct gram_cuda *)context;
    const enum sl_status status = cuda_submit_begin((struct cuda_context *)gram->cuda, batch, hits);

    if (status != SL_OK)
        return status;
    gram->batch = *batch;
    *gram->scan.h_given_up = 0;
    if (batch->n_items != 0)
        launch(gram, batch);
    return cuda_submit_end((struct cuda_context *)gram->cuda);
}

/* Scans a batch that was given up, where nothing followed on its stream. Another thread than
 * submit's may call it. */
static enum sl_status run_automaton(struct gram_cuda *gram)
{
    struct cuda_context *cuda = (struct cuda_context *)gram->cuda;
    enum sl_status status = cuda_choose(gram->batch.device, NULL);

    if (status == SL_OK) { /* the hits so far are void */
        cuda->hits.is_delivered = false;
        ac_cuda_launch(&gram->plan, cuda, gram->automaton, &gram->batch);
        status = cuda_submit_end(cuda);
    }
    return status == SL_OK ? cuda_context_wait(cuda) : status;
}

static enum sl_status gram_cuda_wait(void *context)
{
    struct gram_cuda *gram = (struct gram_cuda *)context;
    enum sl_status status = cuda_context_wait(gram->cuda);

    if (status != SL_OK && status != SL_EOVERFLOW)
        return status;
    const bool given_up = *gram->scan.h_given_up != 0;
    if (given_up && !gram->automaton_follows)
        status = run_automaton(gram);
    gram->automaton_follows =
        given_up || ((const struct cuda_context *)gram->cuda)->limits.device_hits != NULL;
    return status;
}

extern "C" {
extern const struct sl_backend mpm_gram_cuda;

const struct sl_backend mpm_gram_cuda = {"cuda",         SL_DEVICE_CUDA,   device_cuda_usable,
                                         gram_cuda_open, gram_cuda_submit, gram_cuda_wait,
                                         gram_cuda_close};
}
