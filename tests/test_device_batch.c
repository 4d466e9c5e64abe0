/* SPDX-License-Identifier: MIT */
/* A batch that lives on the GPU from the start: memory and stream of another program, no copy by
 * sluice. */
#include "test.h"

#include <cuda_runtime_api.h>

#include "device/device.h"
#include "sluice/sluice.h"

static void *to_device(const void *host, size_t len)
{
    void *device;

    assert_int_equal(cudaMalloc(&device, len + SL_BATCH_SLACK), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, host, len, cudaMemcpyHostToDevice), cudaSuccess);
    return device;
}

static void check_backend(const struct sl_backend *backend, const struct sl_mpm_table *table,
                          const struct sl_batch *view)
{
    const struct sl_limits limits = {.max_items = 4, .max_bytes = 4096, .max_hits = 16};
    struct sl_hit hit[16];
    struct sl_hits hits = {hit, 16, 0};
    struct sl_diag diag;
    void *context;

    assert_int_equal(backend->open(&context, table, &limits, &diag), SL_OK);
    assert_int_equal(backend->submit(context, view, &hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    sl_hits_sort(&hits);
    assert_int_equal(hits.n, 3);
    assert_int_equal(hit[0].offset, 10);
    assert_int_equal(hit[1].offset, 26);
    assert_int_equal(hit[2].item, 1);
    assert_int_equal(hit[2].offset, 6);
    backend->close(context);
}

/* All backends for GPUs; returns how many they are. */
static uint32_t check_algorithm(const char *algorithm, const struct sl_batch *view)
{
    const struct sl_literal literal = {(const uint8_t *)"needle", 6, SL_LITERAL_NOCASE};
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_diag diag;
    uint32_t n = 0;

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = SL_DEVICE_CUDA;
    assert_int_equal(sl_mpm_build(&table, &config, &literal, 1, &diag), SL_OK);
    for (const struct sl_backend *const *backend = sl_mpm_engine(table)->backends; *backend != NULL;
         backend++) {
        if ((*backend)->device == SL_DEVICE_CUDA) {
            check_backend(*backend, table, view);
            n++;
        }
    }
    sl_mpm_free(table);
    return n;
}

static void test_engines_run_on_memory_that_is_there_already(void **state)
{
    static const char text[] = "one needle, another NEEDLE, no noodle";
    struct sl_span spans[2] = {{0, sizeof text - 1}, {64, 6}};
    uint8_t arena[128] = {0};
    cudaStream_t stream;
    uint32_t n = 0;

    (void)state;
    memcpy(arena, text, sizeof text);
    memcpy(arena + 64, "needle", 6);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    const struct sl_batch view = {.memory = SL_MEMORY_DEVICE,
                                  .n_items = 2,
                                  .max_items = 2,
                                  .bytes_len = sizeof arena,
                                  .bytes_cap = sizeof arena,
                                  .bytes = to_device(arena, sizeof arena),
                                  .payload = to_device(spans, sizeof spans),
                                  .stream = stream};

    assert_true(check_algorithm("auto", &view) > 0);
    for (const char *const *algorithm = sl_mpm_algorithms; *algorithm != NULL; algorithm++)
        n += check_algorithm(*algorithm, &view);
    assert_true(n > 0);

    cudaFree(view.bytes);
    cudaFree(view.payload);
    cudaStreamDestroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_run_on_memory_that_is_there_already),
    };
    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: no GPU: %s\n", why);
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
