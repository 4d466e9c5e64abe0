/* SPDX-License-Identifier: MIT */
/* GPUs that are really lost in the middle of a run: test_gpu_lost trap|hang. A kernel traps, which
 * makes its device unusable for the rest of the process, or does not come back. Every GPU of the
 * machine is lost, one after another. The others do the rest each time, and in the end the CPU. No
 * hit is lost or found twice. */
extern "C" {
#include "test.h"
}

#include "device/cuda_internal.h"
#include "sluice/pipeline.h"

extern "C" {
#include "batch/cpu_backend.h"
}

enum {
    N_BATCHES = 400,
    ITEMS = 100, /* a batch */
    ITEM_LEN = 1024,
    N_BURSTS = 40,   /* the last batches, which hold more hits than a run expects */
    LOST_AFTER = 20, /* submits to the first GPU, twice as many to the second, and so on */
    HANG_MS = 4000,
    MAX_WAIT_MS = 300
};

struct table {
    uint32_t magic; /* the pattern of the search: copied to the GPU */
};

static const struct table table = {'x'};
static bool hangs;
static int n_submits[SL_PIPELINE_DEVICES_MAX]; /* on each GPU */
static int n_gpus;

/* ---- an engine: a hit for each 'x' ----------------------------------------------------------- */

__global__ static void trap(void)
{
    __trap();
}

__global__ static void spin(uint64_t ns)
{
    uint64_t begin, now;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

__global__ static void find(const struct table *looked_for, const uint8_t *bytes,
                            const struct sl_span *payload, struct cuda_hits_device hits)
{
    const struct sl_span span = payload[blockIdx.x];

    for (uint32_t i = threadIdx.x; i < span.len; i += blockDim.x)
        if (bytes[span.offset + i] == looked_for->magic)
            cuda_hits_append(hits, blockIdx.x, i, 7);
}

static enum sl_status open_cuda(void **context, const void *of, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    return cuda_context_open(context, of, sizeof(struct table), limits, diag);
}

static enum sl_status submit_cuda(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const cudaStream_t stream = (cudaStream_t)batch->stream;
    const int device = cuda->limits.device;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (__atomic_add_fetch(&n_submits[device], 1, __ATOMIC_RELAXED) == LOST_AFTER * (device + 1)) {
        if (hangs)
            spin<<<1, 1, 0, stream>>>(HANG_MS * UINT64_C(1000000));
        else
            trap<<<1, 1, 0, stream>>>();
    }
    find<<<batch->n_items, 128, 0, stream>>>((const struct table *)cuda->d_table, batch->bytes,
                                             batch->payload, cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    const uint8_t magic = (uint8_t)((const struct table *)cpu->table)->magic;

    for (uint32_t i = 0; i < batch->n_items; i++)
        for (uint32_t at = 0; at < batch->payload[i].len; at++)
            if (batch->bytes[batch->payload[i].offset + at] == magic) {
                if (hits->n < hits->cap)
                    hits->hit[hits->n] = {i, at, 7};
                hits->n++;
            }
    return SL_OK;
}

static enum sl_status submit_cpu(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, scan);
}

static const struct sl_backend on_cuda = {"x on GPUs",       SL_DEVICE_CUDA, device_cuda_usable,
                                          open_cuda,         submit_cuda,    cuda_context_wait,
                                          cuda_context_close};
static const struct sl_backend on_cpu = {
    "x",        SL_DEVICE_CPU,    cpu_backend_usable, cpu_backend_open,
    submit_cpu, cpu_backend_wait, cpu_backend_close};
static const struct sl_backend *const backends[] = {&on_cuda, &on_cpu, NULL};
static const struct sl_engine engine = {"x", backends, NULL};

/* ---- the run --------------------------------------------------------------------------------- */

struct run {
    uint32_t filled, drained, n_dropped;
    uint64_t redone;
    bool wrong;
};

static uint32_t hits_of(uint32_t batch, uint32_t item)
{
    return batch >= N_BATCHES - N_BURSTS ? (uint32_t)ITEM_LEN : (batch + item) % 50;
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = (struct run *)user;
    char bytes[ITEM_LEN];

    (void)diag;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t n = hits_of(run->filled, i);

        memset(bytes, 'x', n);
        memset(bytes + n, '.', sizeof bytes - n);
        sl_batch_add(batch, bytes, sizeof bytes, 0);
    }
    return ++run->filled < N_BATCHES ? SL_OK : SL_END;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct run *run = (struct run *)user;
    size_t h = 0;

    (void)diag;
    for (uint32_t i = 0; i < batch->n_items; i++)
        for (uint32_t at = 0; at < hits_of(run->drained, i); at++, h++)
            run->wrong |= h >= hits->n || hits->hit[h].item != i || hits->hit[h].offset != at;
    run->wrong |= h != hits->n;
    run->drained++;
    return SL_OK;
}

static void dropped(void *user, const struct sl_pipeline_device *device)
{
    struct run *run = (struct run *)user;

    print_message("GPU %d dropped after %d batches: %s; %d are done again\n", device->device.index,
                  n_submits[device->device.index], device->why, (int)device->redone);
    run->n_dropped += device->dropped && device->why[0] != '\0';
    run->redone += device->redone;
}

static void test_all_gpus_are_lost_and_no_hit(void **state)
{
    struct run run = {};
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {};
    uint64_t batches = 0;

    (void)state;
    sl_pipeline_config_init(&config);
    for (int i = 0; i < n_gpus; i++) {
        config.devices[i].kind = SL_DEVICE_CUDA;
        config.devices[i].index = i;
    }
    config.n_devices = (uint32_t)n_gpus;
    config.n_workers = 3;
    config.batch_len = ITEMS * ITEM_LEN;
    config.batch_items = ITEMS;
    config.max_wait_ms = MAX_WAIT_MS;
    config.engines[0].engine = &engine;
    config.engines[0].table = &table;
    config.n_engines = 1;
    config.fill = fill;
    config.drain = drain;
    config.dropped = dropped;
    config.user = &run;
    if (sl_pipeline_run(&config, &stats, &diag) != SL_OK)
        fail_msg("the run ended: %s", diag.text);
    assert_int_equal(run.drained, N_BATCHES);
    assert_false(run.wrong);
    assert_int_equal(run.n_dropped, n_gpus);
    assert_true(run.redone >= (uint64_t)n_gpus);
    for (uint32_t d = 0; d < stats.n_devices; d++)
        batches += stats.devices[d].batches;
    assert_int_equal(batches, N_BATCHES);
    assert_int_equal(stats.n_devices, n_gpus + 1);
    assert_true(stats.devices[n_gpus].batches > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_gpus_are_lost_and_no_hit)};
    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: %s\n", why);
        return TEST_SKIPPED;
    }
    n_gpus = (int)device_cuda_count();
    if (n_gpus > SL_PIPELINE_DEVICES_MAX)
        n_gpus = SL_PIPELINE_DEVICES_MAX;
    hangs = argc > 1 && strcmp(argv[1], "hang") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
