/* SPDX-License-Identifier: MIT */
/* Choosing among several GPUs, which are simulated. */
#include "test.h"

#include "simulated.h"
#include "sluice/device.h"

enum { MAX = 4, THE_CPU = -1 };

static void check_list(const char *name, uint32_t n_expected, const int *expected)
{
    struct sl_device devices[MAX] = {0};
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN] = "";
    uint32_t n = 99;

    if (sl_device_choose_list(devices, MAX, &n, name, why, &diag) != SL_OK)
        fail_msg("%s: %s", name, diag.text);
    assert_true(why[0] != '\0');
    assert_int_equal(n, n_expected);
    for (uint32_t i = 0; i < n; i++) {
        const bool cpu = expected[i] == THE_CPU;

        assert_int_equal(devices[i].kind, cpu ? SL_DEVICE_CPU : SL_DEVICE_CUDA);
        assert_true(devices[i].usable);
        assert_int_equal(devices[i].index, cpu ? 0 : expected[i]);
    }
}

static void test_lists_name_gpus(void **state)
{
    (void)state;
    simulated_reset(3, 0);
    check_list("cpu", 1, (const int[]){THE_CPU});
    check_list("auto", 2, (const int[]){0, THE_CPU});
    check_list("cuda", 3, (const int[]){0, 1, 2});
    check_list("cuda:1", 1, (const int[]){1});
    check_list("cuda:2,0", 2, (const int[]){2, 0});
    check_list("cuda:1,2,0", 3, (const int[]){1, 2, 0});
    simulated_reset(6, 0);
    check_list("cuda", MAX, (const int[]){0, 1, 2, 3});
    check_list("cuda:05,4", 2, (const int[]){5, 4});
    simulated_reset(0, 0);
    check_list("auto", 1, (const int[]){THE_CPU});
}

static void check_refused(const char *name, enum sl_status status, const char *word)
{
    struct sl_device devices[MAX];
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];
    uint32_t n;

    assert_int_equal(sl_device_choose_list(devices, MAX, &n, name, why, &diag), status);
    if (strstr(diag.text, word) == NULL)
        fail_msg("%s: '%s' does not say '%s'", name, diag.text, word);
}

static void test_wrong_lists_are_refused(void **state)
{
    (void)state;
    simulated_reset(6, 0);
    check_refused("cuda:0,0", SL_EINVAL, "'0' is named twice");
    check_refused("cuda:1,01", SL_EINVAL, "'01' is named twice");
    check_refused("cuda:0,1,2,3,4", SL_EINVAL, "'4' is one device too many");
    check_refused("cuda:0,", SL_EINVAL, "''");
    check_refused("cuda:,0", SL_EINVAL, "''");
    check_refused("cuda:0,x", SL_EINVAL, "'x'");
    check_refused("cuda:0,1000", SL_EINVAL, "'1000'");
    check_refused("cuda:0,-1", SL_EINVAL, "'-1'");
    check_refused("cuda:0,cpu", SL_EINVAL, "'cpu'");
    check_refused("cpu,cuda", SL_EINVAL, "'cpu,cuda'");
    check_refused("cuda:0,6", SL_EDEVICE, "cuda:6");
    simulated_reset(0, 0);
    check_refused("cuda", SL_EDEVICE, "no GPU is simulated");
    check_refused("cuda:0,1", SL_EDEVICE, "no GPU is simulated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_name_gpus),
        cmocka_unit_test(test_wrong_lists_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
