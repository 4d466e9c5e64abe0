/* SPDX-License-Identifier: MIT */
/* A GPU that does not come back is left alone in time, and nothing waits for it, not even the end
 * of the process. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_gpu_that_hangs_is_left_alone)};

    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
