/* SPDX-License-Identifier: MIT */
/* A GPU that does not return is given up in time, and nothing waits for it, not even the process's
 * end: test_device_hung [fetch]. It hangs for all of the process, so that each test has one of its
 * own. */
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

static const uint32_t wait_ms = 200;

/* A stage that waits no longer than that, and a batch which was sent to it. */
struct sent {
    struct sl_limits limits;
    struct sl_stage *stage;
    struct sl_batch *batch, view;
};

static void send_batch(struct sent *sent)
{
    struct sl_diag diag = {};

    sent->limits = {};
    sent->limits.max_items = 16;
    sent->limits.max_bytes = 4096;
    sent->limits.max_wait_ms = wait_ms;
    assert_int_equal(sl_stage_open(&sent->stage, &sent->limits, &diag), SL_OK);
    assert_int_equal(sl_device_batch_create(&sent->batch, SL_DEVICE_CUDA, 4096, 16, &diag), SL_OK);
    sl_batch_add(sent->batch, "some bytes", 10, 0);
    assert_int_equal(sl_stage_upload(sent->stage, sent->batch, &sent->view), SL_OK);
}

static void assert_gave_up_in_time(uint64_t begin)
{
    const uint64_t waited = clock_ns() - begin;

    assert_true(waited > wait_ms * UINT64_C(1000000) && waited < second);
}

static void test_a_gpu_that_hangs_is_left_alone(void **state)
{
    struct sent sent;
    struct sl_diag diag = {};

    (void)state;
    send_batch(&sent);
    assert_int_equal(sl_stage_wait(sent.stage), SL_OK);

    spin<<<1, 1, 0, (cudaStream_t)sent.view.stream>>>(10 * second);
    const uint64_t begin = clock_ns();
    assert_int_equal(sl_stage_wait(sent.stage), SL_EDEVICE);
    assert_gave_up_in_time(begin);
    assert_true(device_is_hung(0));

    /* Its batch can be read, all is closed, and nothing more is asked of it. */
    assert_memory_equal(sent.batch->bytes, "some bytes", 10);
    assert_int_equal(sl_stage_upload(sent.stage, sent.batch, &sent.view), SL_EDEVICE);
    sl_batch_free(sent.batch);
    sl_stage_close(sent.stage);
    assert_int_equal(sl_stage_open(&sent.stage, &sent.limits, &diag), SL_EDEVICE);
    assert_non_null(strstr(diag.text, "hangs"));
    assert_true(clock_ns() - begin < second);
}

/* The copy back waits for what is before it on the stream, and no longer than it may. */
static void test_fetching_from_one_that_hangs_ends(void **state)
{
    struct sent sent;
    char bytes[10];

    (void)state;
    send_batch(&sent);
    const cudaStream_t stream = (cudaStream_t)sent.view.stream;
    assert_int_equal(cuda_fetch(bytes, sent.view.bytes, sizeof bytes, stream, &sent.limits), SL_OK);
    assert_memory_equal(bytes, "some bytes", 10);

    spin<<<1, 1, 0, stream>>>(10 * second);
    const uint64_t begin = clock_ns();
    assert_int_equal(cuda_fetch(bytes, sent.view.bytes, sizeof bytes, stream, &sent.limits),
                     SL_EDEVICE);
    assert_gave_up_in_time(begin);
    sl_batch_free(sent.batch);
    sl_stage_close(sent.stage);
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
