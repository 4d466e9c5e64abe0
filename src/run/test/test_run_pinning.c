/* SPDX-License-Identifier: MIT */
/* Memory is pinned ahead for the batches that a run will have. The linker puts the functions here
 * in the place of the device's. */
#include "run/run_pinning.h"

#include <stdbool.h>

#include "pipeline/lane.h"
#include "test.h"

enum { BATCH_LEN = 4 << 20 };

static _Atomic uint32_t n_prepared, n_trimmed;
static _Atomic uint64_t prepared_len;
static uint32_t n_allowed; /* pieces */

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the names are the linker's */
bool __wrap_device_pinned_prepare(size_t len);
void __wrap_device_pinned_trim(void);
void __wrap_device_use(int device);

bool __wrap_device_pinned_prepare(size_t len)
{
    if (atomic_fetch_add(&n_prepared, 1) >= n_allowed)
        return false;
    atomic_fetch_add(&prepared_len, len);
    return true;
}

void __wrap_device_pinned_trim(void)
{
    n_trimmed++;
}

void __wrap_device_use(int device)
{
    assert_int_equal(device, 3);
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* Bytes that are pinned for an input of this length, on a CPU and n_gpus GPUs. */
static uint64_t pin(uint64_t len, uint32_t n_gpus, uint32_t n_workers)
{
    const struct sl_pipeline_config pipeline = {
        .devices = {{.kind = SL_DEVICE_CPU}, {.kind = SL_DEVICE_CUDA, .index = 3}},
        .n_devices = 1 + n_gpus,
        .batch_len = BATCH_LEN,
        .n_workers = n_workers};
    struct run_pinning pinning = {0};

    n_prepared = n_trimmed = 0;
    prepared_len = 0;
    run_pinning_begin(&pinning, &pipeline, len);
    while (n_gpus != 0 && atomic_load(&pinning.n_pieces) != 0 && n_prepared <= n_allowed)
        ;
    run_pinning_end(&pinning);
    assert_int_equal(n_trimmed, n_gpus);
    return prepared_len;
}

static void test_as_much_as_the_run_needs(void **state)
{
    const uint64_t few = pin((n_allowed = UINT32_MAX, 3 * BATCH_LEN - 1), 1, 4);
    const uint64_t many = pin(UINT64_C(1) << 40, 1, 4);
    const uint64_t most = pin(UINT64_C(1) << 40, 1, 500);

    (void)state;
    assert_in_range(few, 3 * BATCH_LEN, 3 * (2 * BATCH_LEN + 1));
    assert_true(many > 2 * few && many < UINT64_C(1) << 29);
    assert_in_range(most, (UINT64_C(1) << 30) - 16 * 2 * BATCH_LEN, UINT64_C(1) << 30);
    assert_int_equal(pin(UINT64_C(1) << 40, 0, 4), 0);
    n_allowed = 2; /* the system pins no more */
    assert_true(pin(UINT64_C(1) << 40, 1, 4) <= many);
    assert_in_range(n_prepared, 3, 2 + RUN_PINNING_THREADS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_much_as_the_run_needs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
