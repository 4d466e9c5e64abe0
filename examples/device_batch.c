/* SPDX-License-Identifier: MIT */
/* device_batch: finds a literal in packets that lie on the GPU from the start. sluice copies
 * nothing: the matcher reads the memory where it is, on the program's stream.
 * cc device_batch.c $(pkg-config --cflags --libs sluice) -lcudart; 77: there is no GPU. */
#include <cuda_runtime_api.h>
#include <sluice/sluice.h>
#include <stdio.h>
#include <string.h>

enum { ARENA_LEN = 256, PACKETS = 3, HITS = 16, NO_GPU = 77 };

static const char *const packets[PACKETS] = {"GET /index.html", "one needle, two needles", "none"};

/* NULL: the GPU refused. Engines read up to SL_BATCH_SLACK bytes behind an arena. */
static void *to_device(const void *host, size_t len)
{
    void *device = NULL;

    if (cudaMalloc(&device, len + SL_BATCH_SLACK) != cudaSuccess)
        return NULL;
    return cudaMemcpy(device, host, len, cudaMemcpyHostToDevice) == cudaSuccess ? device : NULL;
}

/* Here the packets come from the host; a capture card or another kernel may write them as well. */
static bool make_batch(struct sl_batch *batch, cudaStream_t stream)
{
    static uint8_t arena[ARENA_LEN];
    struct sl_span payload[PACKETS];
    uint32_t end = 0;

    for (uint32_t i = 0; i < PACKETS; i++) {
        payload[i] = (struct sl_span){end, (uint32_t)strlen(packets[i])};
        memcpy(arena + end, packets[i], payload[i].len);
        end = (end + payload[i].len + SL_BATCH_ALIGN - 1) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
    }
    *batch = (struct sl_batch){.memory = SL_MEMORY_DEVICE,
                               .n_items = PACKETS,
                               .max_items = PACKETS,
                               .bytes_len = end,
                               .bytes_cap = ARENA_LEN,
                               .bytes = to_device(arena, ARENA_LEN),
                               .payload = to_device(payload, sizeof payload),
                               .stream = stream};
    return batch->bytes != NULL && batch->payload != NULL;
}

/* Prints where the literal ends in each packet. */
static enum sl_status match(const struct sl_batch *batch, struct sl_diag *diag)
{
    const struct sl_literal literal = {(const uint8_t *)"needle", 6, SL_LITERAL_NOCASE};
    const struct sl_limits limits = {
        .max_items = PACKETS, .max_bytes = ARENA_LEN, .max_hits = HITS, .device = batch->device};
    struct sl_hit hit[HITS];
    struct sl_hits hits = {.hit = hit, .cap = HITS};
    const struct sl_backend *backend;
    struct sl_mpm_table *table = NULL;
    struct sl_mpm_config config;
    void *context = NULL;

    sl_mpm_config_init(&config);
    config.device = SL_DEVICE_CUDA;
    enum sl_status status = sl_mpm_build(&table, &config, &literal, 1, diag);
    if (status != SL_OK)
        return status;
    backend = sl_engine_choose(sl_mpm_engine(table), SL_DEVICE_CUDA, NULL);
    status = backend != NULL
                 ? sl_engine_open(&context, sl_mpm_engine(table), backend, table, &limits, diag)
                 : SL_EDEVICE;
    if (status == SL_OK)
        status = backend->submit(context, batch, &hits);
    if (status == SL_OK)
        status = backend->wait(context);
    sl_hits_sort(&hits);
    for (size_t i = 0; status == SL_OK && i < hits.n; i++)
        printf("packet %u, byte %u\n", hit[i].item, hit[i].offset);
    if (context != NULL)
        backend->close(context);
    sl_mpm_free(table);
    return status;
}

int main(void)
{
    struct sl_diag diag = {.text = "the GPU's memory refused"};
    enum sl_status status = SL_EDEVICE;
    char why[SL_WHY_LEN];
    struct sl_batch batch = {0};
    struct sl_device device;
    cudaStream_t stream;

    if (sl_device_choose(&device, "cuda:0", why, &diag) != SL_OK) {
        printf("skipped: %s\n", diag.text);
        return NO_GPU;
    }
    if (cudaStreamCreate(&stream) == cudaSuccess && make_batch(&batch, stream))
        status = match(&batch, &diag);
    if (status != SL_OK)
        fprintf(stderr, "%s: %s\n", sl_status_text(status), diag.text);
    cudaFree(batch.bytes);
    cudaFree(batch.payload);
    return status == SL_OK ? 0 : 2;
}
