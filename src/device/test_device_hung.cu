/* SPDX-License-Identifier: MIT */
/* A GPU that does not come back is left alone in time, and nothing waits for it, not even the end
 * of the process: test_device_hung [fetch]. It hangs for all of the process, so that each test has
 * one of its own. */
extern "C" {
#include "test.h"
}

#include "base/clock.h"
#include "device/cuda_internal.h"
#include "device/wait.h"

static const uint64_t second = 1000000000;

__global__ static void spin(uint64_t ns)
{
    uint64_t begin, now;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

static void test_a_gpu_that_hangs_is_left_alone(void **state)
{
    struct sl_limits limits = {};
    struct sl_stage *stage;
    struct sl_batch *batch, view;
    struct sl_diag diag = {};

    (void)state;
    limits.max_items = 16;
    limits.max_bytes = 4096;
    limits.max_wait_ms = 200;
    assert_int_equal(sl_stage_open(&stage, &limits, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&batch, 4096, 16, true, &diag), SL_OK);
    sl_batch_add(batch, "some bytes", 10, 0);
    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_OK);
    assert_int_equal(sl_stage_wait(stage), SL_OK);

    spin<<<1, 1, 0, (cudaStream_t)view.stream>>>(10 * second);
    const uint64_t begin = clock_ns();
    assert_int_equal(sl_stage_wait(stage), SL_EDEVICE);
    const uint64_t waited = clock_ns() - begin;
    assert_true(waited > second / 5 && waited < second);
    assert_true(device_is_hung(0));

    /* Its batch can be read, all is closed, and nothing more is asked of it. */
    assert_memory_equal(batch->bytes, "some bytes", 10);
    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_EDEVICE);
    sl_batch_free(batch);
    sl_stage_close(stage);
    assert_int_equal(sl_stage_open(&stage, &limits, &diag), SL_EDEVICE);
    assert_non_null(strstr(diag.text, "hangs"));
    assert_true(clock_ns() - begin < second);
}

/* The copy back waits for what is before it on the stream, and no longer than it may. */
static void test_fetching_from_one_that_hangs_ends(void **state)
{
    struct sl_limits limits = {};
    struct sl_stage *stage;
    struct sl_batch *batch, view;
    struct sl_diag diag = {};
    char bytes[10];

    (void)state;
    limits.max_items = 16;
    limits.max_bytes = 4096;
    limits.max_wait_ms = 200;
    assert_int_equal(sl_stage_open(&stage, &limits, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&batch, 4096, 16, true, &diag), SL_OK);
    sl_batch_add(batch, "some bytes", 10, 0);
    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_OK);
    const cudaStream_t stream = (cudaStream_t)view.stream;
    assert_int_equal(cuda_fetch(bytes, view.bytes, sizeof bytes, stream, &limits), SL_OK);
    assert_memory_equal(bytes, "some bytes", 10);

    spin<<<1, 1, 0, stream>>>(10 * second);
    const uint64_t begin = clock_ns();
    assert_int_equal(cuda_fetch(bytes, view.bytes, sizeof bytes, stream, &limits), SL_EDEVICE);
    const uint64_t waited = clock_ns() - begin;
    assert_true(waited > second / 5 && waited < second);
    sl_batch_free(batch);
    sl_stage_close(stage);
    assert_true(clock_ns() - begin < second);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest hangs[] = {cmocka_unit_test(test_a_gpu_that_hangs_is_left_alone)};
    const struct CMUnitTest fetches[] = {cmocka_unit_test(test_fetching_from_one_that_hangs_ends)};

    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    return argc > 1 && strcmp(argv[1], "fetch") == 0 ? cmocka_run_group_tests(fetches, NULL, NULL)
                                                     : cmocka_run_group_tests(hangs, NULL, NULL);
}
