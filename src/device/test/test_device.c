/* SPDX-License-Identifier: MIT */
/* Devices are listed with reasons everywhere; tests that need a GPU are skipped where there is
 * none. */
#include "test.h"

#include "device/device.h"
#include "sluice/device.h"

static void test_list_begins_with_the_cpu_and_gives_reasons(void **state)
{
    struct sl_device devices[64];
    const uint32_t n = sl_device_list(devices, 64);

    (void)state;
    assert_true(n >= 2);
    assert_int_equal(sl_device_list(devices, 0), n);
    assert_int_equal(sl_device_list(devices, 64), n);
    assert_int_equal(devices[0].kind, SL_DEVICE_CPU);
    assert_true(devices[0].usable);
    for (uint32_t i = 1; i < n; i++) {
        assert_int_equal(devices[i].kind, SL_DEVICE_CUDA);
        assert_true(devices[i].usable || devices[i].why[0] != '\0');
    }
}

static void test_names_choose_devices(void **state)
{
    static const char *const bad[] = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", "cuda:1000"};
    struct sl_device device;
    struct sl_diag diag;
    char why[SL_WHY_LEN];

    (void)state;
    assert_int_equal(sl_device_choose(&device, "cpu", why, &diag), SL_OK);
    assert_int_equal(device.kind, SL_DEVICE_CPU);
    assert_int_equal(sl_device_choose(&device, "auto", why, &diag), SL_OK);
    assert_true(why[0] != '\0');
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sl_device_choose(&device, bad[i], why, &diag), SL_EINVAL);
        assert_non_null(strstr(diag.text, bad[i]));
    }
    assert_int_equal(sl_device_choose(&device, "cuda:63", why, &diag), SL_EDEVICE);
    assert_true(diag.text[0] != '\0');
}

static void test_pinned_batches_need_a_gpu(void **state)
{
    struct sl_batch *batch;
    struct sl_diag diag;
    char why[SL_WHY_LEN];

    (void)state;
    if (device_cuda_usable(why))
        test_skip("there is a GPU");
    assert_int_equal(sl_device_batch_create(&batch, SL_DEVICE_CUDA, 4096, 16, &diag), SL_EDEVICE);
    assert_non_null(strstr(diag.text, why));
}

static void test_uploads_keep_within_the_limits(void **state)
{
    const struct sl_limits limits = {.max_items = 2, .max_bytes = 64, .max_hits = 1};
    struct sl_stage *stage;
    struct sl_batch *batch, view;
    struct sl_diag diag;
    char why[SL_WHY_LEN];
    uint8_t bytes[64] = {1, 2, 3};

    (void)state;
    if (!device_cuda_usable(why))
        test_skip(why);
    assert_int_equal(sl_stage_open(&stage, &limits, &diag), SL_OK);
    assert_int_equal(sl_stage_view(stage, 0, &view), SL_EINVAL); /* nothing was uploaded */
    assert_int_equal(sl_device_batch_create(&batch, SL_DEVICE_CUDA, 128, 4, &diag), SL_OK);
    sl_batch_add(batch, bytes, 64, 0);
    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_OK);
    assert_int_equal(sl_stage_wait(stage), SL_OK);
    assert_int_equal(view.memory, SL_MEMORY_DEVICE);
    assert_int_equal(view.n_items, 1);
    assert_int_equal(sl_stage_view(stage, SL_STAGE_VIEWS_MAX - 1, &view), SL_OK);
    assert_int_equal(view.n_items, 1);
    assert_int_equal(sl_stage_view(stage, SL_STAGE_VIEWS_MAX, &view), SL_EINVAL);
    sl_batch_add(batch, bytes, 1, 0);
    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_EINVAL);
    sl_batch_free(batch);
    sl_stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_begins_with_the_cpu_and_gives_reasons),
        cmocka_unit_test(test_names_choose_devices),
        cmocka_unit_test(test_pinned_batches_need_a_gpu),
        cmocka_unit_test(test_uploads_keep_within_the_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
