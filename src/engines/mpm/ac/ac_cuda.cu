/* SPDX-License-Identifier: MIT */
/* Aho-Corasick on GPUs: a thread a segment.
 *
 * Items are of any length, and a warp is to have 32 segments whether they are of one item or of 32.
 * So the work is planned first: a warp counts the segments of 32 items, a "group", and lists a task
 * for each 32 of them. Then each warp takes one task after another. Neither order matters. */
#include <stdlib.h>

#include "ac_core.h"
#include "ac_cuda.h"
#include "base/diag.h"

enum {
    BLOCK = 128,
    WARPS = BLOCK / AC_GROUP,
    SEGMENTS_PER_SM = 1024, /* that hide the latency of the L2 cache */
    BLOCKS_PER_SM = SEGMENTS_PER_SM / BLOCK
};

static_assert(AC_GROUP == 32, "a group has an item for each lane of a warp");

/* The part of a batch that kernels read; overlap is NULL where no item has any. */
struct ac_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap;
    uint32_t n;
    uint32_t part_len;
};

struct ac_task {
    uint32_t group;
    uint32_t first; /* segment of the group */
};

/* A lane an item: ends[i] becomes the number of segments of the group's items 0 to i. */
static __device__ void sum_parts(uint32_t ends[AC_GROUP], const struct ac_items *items,
                                 uint32_t group)
{
    const uint32_t lane = threadIdx.x % AC_GROUP;
    const uint32_t item = group * AC_GROUP + lane;
    uint32_t sum = item < items->n ? ac_n_parts(items->payload[item], items->part_len) : 0;

    for (uint32_t step = 1; step < AC_GROUP; step *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, sum, step);

        if (lane >= step)
            sum += before;
    }
    __syncwarp(); /* the group before is read no more */
    ends[lane] = sum;
    __syncwarp();
}

static __global__ void __launch_bounds__(BLOCK)
    ac_plan_kernel(struct ac_items items, struct ac_cuda_plan plan, struct cuda_hits_device hits)
{
    __shared__ uint32_t ends[WARPS][AC_GROUP];
    const uint32_t warp = threadIdx.x / AC_GROUP;
    const uint32_t lane = threadIdx.x % AC_GROUP;

    if (plan.d_state->is_off)
        return;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *hits.count = 0;
    for (uint32_t group = blockIdx.x * WARPS + warp; group <= (items.n - 1) / AC_GROUP;
         group += gridDim.x * WARPS) {
        uint32_t first = 0;

        sum_parts(ends[warp], &items, group);
        const uint32_t n = (ends[warp][AC_GROUP - 1] + (AC_GROUP - 1)) / AC_GROUP;
        if (lane == 0)
            first = atomicAdd(&plan.d_state->n_tasks, n);
        first = __shfl_sync(~0u, first, 0);
        for (uint32_t i = lane; i < n && first + i < plan.max_tasks; i += AC_GROUP) {
            const struct ac_task task = {group, i * AC_GROUP};

            plan.d_tasks[first + i] = task;
        }
    }
}

static __device__ void scan_segment(const struct ac_view *view, const struct ac_items *items,
                                    uint32_t item, uint32_t part, struct cuda_hits_device hits)
{
    const struct sl_span span = items->payload[item];
    struct ac_walk walk;
    uint32_t id;

    ac_start(&walk, items->bytes, span, items->overlap != NULL ? items->overlap[item] : 0, part,
             items->part_len);
    while (ac_step(view, &walk))
        while (ac_match(view, &walk, &id))
            if (cuda_hits_want(hits, item, id))
                cuda_hits_append(hits, item, walk.at - span.offset, id);
}

static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    ac_walk_kernel(const struct sl_mpm_table *table, uint64_t at, struct ac_items items,
                   struct ac_cuda_plan plan, struct cuda_hits_device hits)
{
    __shared__ uint32_t ends[WARPS][AC_GROUP];
    const uint32_t warp = threadIdx.x / AC_GROUP;

    if (plan.d_state->is_off)
        return;
    const struct ac_view view = ac_view_at(table, at);
    const uint32_t n_listed = plan.d_state->n_tasks;
    const uint32_t n = n_listed < plan.max_tasks ? n_listed : plan.max_tasks;

    for (uint32_t t = blockIdx.x * WARPS + warp; t < n; t += gridDim.x * WARPS) {
        const struct ac_task task = plan.d_tasks[t];
        const uint32_t k = task.first + threadIdx.x % AC_GROUP;

        sum_parts(ends[warp], &items, task.group);
        if (k < ends[warp][AC_GROUP - 1]) {
            const uint32_t i = ac_find_item(ends[warp], k);
            const uint32_t part = k - (i == 0 ? 0 : ends[warp][i - 1]);

            scan_segment(&view, &items, task.group * AC_GROUP + i, part, hits);
        }
    }
}

/* ---- for other algorithms -------------------------------------------------------------------- */

/* The tasks of any batch within the limits. Items do not share bytes. A part that is not its item's
 * first or last has AC_PART_MIN bytes. Of the tasks of a group only the last is not full. */
static uint32_t count_tasks(const struct sl_limits *limits)
{
    const uint64_t n_items = limits->max_items;
    const uint64_t n_segments = limits->max_bytes / AC_PART_MIN + 2 * n_items;

    return (uint32_t)(n_segments / AC_GROUP + n_items / AC_GROUP + 2);
}

enum sl_status ac_cuda_plan_open(struct ac_cuda_plan *plan, const struct sl_limits *limits,
                                 struct sl_diag *diag)
{
    plan->device = limits->device;
    plan->max_tasks = count_tasks(limits);

    enum sl_status status =
        cuda_take((void **)&plan->d_state, sizeof *plan->d_state, "a list of segments", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&plan->d_tasks, plan->max_tasks * sizeof *plan->d_tasks,
                           "a list of segments", diag);
    return status;
}

void ac_cuda_plan_close(struct ac_cuda_plan *plan)
{
    cuda_free(plan->d_state, plan->device);
    cuda_free(plan->d_tasks, plan->device);
}

static uint32_t at_most(uint32_t n, uint32_t max)
{
    return n < max ? n : max;
}

void ac_cuda_launch(const struct ac_cuda_plan *plan, const struct cuda_context *cuda, uint64_t at,
                    const struct sl_batch *batch)
{
    const uint32_t max_len = ((const struct sl_mpm_table *)cuda->table)->max_len;
    const struct ac_items items = {
        batch->bytes, batch->payload, batch->has_overlap ? batch->overlap : NULL, batch->n_items,
        ac_part_len(max_len, batch->bytes_len, cuda->n_multiprocessors * SEGMENTS_PER_SM)};
    const uint32_t n_groups = (items.n - 1) / AC_GROUP + 1;
    const uint32_t n_blocks = cuda->n_multiprocessors * BLOCKS_PER_SM;
    const cudaStream_t stream = (cudaStream_t)batch->stream;
    const struct cuda_hits_device hits = cuda_hits_device(cuda);

    ac_plan_kernel<<<at_most((n_groups - 1) / WARPS + 1, n_blocks), BLOCK, 0, stream>>>(
        items, *plan, hits);
    ac_walk_kernel<<<n_blocks, BLOCK, 0, stream>>>((const struct sl_mpm_table *)cuda->d_table, at,
                                                   items, *plan, hits);
}

/* ---- the backend ----------------------------------------------------------------------------- */

struct ac_cuda {
    void *cuda; /* struct cuda_context */
    struct ac_cuda_plan plan;
};

static void ac_cuda_close(void *context)
{
    struct ac_cuda *ac = (struct ac_cuda *)context;

    if (ac == NULL)
        return;
    cuda_context_close(ac->cuda);
    ac_cuda_plan_close(&ac->plan);
    free(ac);
}

static enum sl_status ac_cuda_open(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    const struct sl_mpm_table *block = (const struct sl_mpm_table *)table;
    struct ac_cuda *ac = (struct ac_cuda *)calloc(1, sizeof *ac);

    if (ac == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");

    enum sl_status status = cuda_context_open(&ac->cuda, table, block->head.len, limits, diag);
    if (status == SL_OK)
        status = ac_cuda_plan_open(&ac->plan, limits, diag);
    if (status != SL_OK) {
        ac_cuda_close(ac);
        return status;
    }
    *context = ac;
    return SL_OK;
}

static enum sl_status ac_cuda_submit(void *context, const struct sl_batch *batch,
                                     struct sl_hits *hits)
{
    const struct ac_cuda *ac = (const struct ac_cuda *)context;
    struct cuda_context *cuda = (struct cuda_context *)ac->cuda;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0) {
        const cudaError_t error = cudaMemsetAsync(ac->plan.d_state, 0, sizeof *ac->plan.d_state,
                                                  (cudaStream_t)batch->stream);

        if (error != cudaSuccess)
            return cuda_status(error, "starting on a batch", NULL);
        ac_cuda_launch(&ac->plan, cuda, 0, batch);
    }
    return cuda_submit_end(cuda);
}

static enum sl_status ac_cuda_wait(void *context)
{
    return cuda_context_wait(((const struct ac_cuda *)context)->cuda);
}

extern "C" {
extern const struct sl_backend mpm_ac_cuda;

const struct sl_backend mpm_ac_cuda = {"cuda",       SL_DEVICE_CUDA, device_cuda_usable,
                                       ac_cuda_open, ac_cuda_submit, ac_cuda_wait,
                                       ac_cuda_close};
}
