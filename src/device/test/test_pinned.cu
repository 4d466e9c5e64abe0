/* SPDX-License-Identifier: MIT */
/* Pinned memory goes back the way that it came: CUDA's calls are counted here (--wrap), and no GPU
 * is needed. */
extern "C" {
#include "test.h"
}

#include <cuda_runtime.h>
#include <sys/mman.h>

#include "device/device.h"

/* Memory that is pinned, and by which call. */
static struct pinned {
    void *memory;
    size_t len; /* registered; 0: CUDA's own */
} pinned[64];
static bool refuse_register;

static struct pinned *find(const void *memory)
{
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (pinned[i].memory == memory)
            return &pinned[i];
    return NULL;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): what --wrap calls them */
extern "C" cudaError_t __wrap_cudaHostRegister(void *memory, size_t len, unsigned flags)
{
    assert_int_equal(flags, cudaHostRegisterPortable);
    if (refuse_register)
        return cudaErrorMemoryAllocation;
    *find(NULL) = (struct pinned){memory, len};
    return cudaSuccess;
}

extern "C" cudaError_t __wrap_cudaHostUnregister(void *memory)
{
    struct pinned *found = find(memory);

    assert_true(found != NULL && found->len != 0); /* only what was registered */
    found->memory = NULL;
    return cudaSuccess;
}

extern "C" cudaError_t __wrap_cudaHostAlloc(void **memory, size_t len, unsigned flags)
{
    (void)flags;
    *memory = malloc(len);
    *find(NULL) = (struct pinned){*memory, 0};
    return cudaSuccess;
}

extern "C" cudaError_t __wrap_cudaFreeHost(void *memory)
{
    struct pinned *found = find(memory);

    assert_true(found != NULL && found->len == 0); /* only what CUDA gave */
    found->memory = NULL;
    free(memory);
    return cudaSuccess;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static bool is_mapped(void *page)
{
    unsigned char there;

    return mincore(page, 4096, &there) == 0;
}

static void test_each_block_goes_back_the_way_it_came(void **state)
{
    static const size_t lens[] = {1,       4096,          (1 << 20) - 1,     1 << 20,
                                  2 << 20, (2 << 20) + 1, (17 << 20) + 4097, 1000};
    void *blocks[2][sizeof lens / sizeof *lens];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
            refuse_register = round == 1 && i % 2 == 0;
            blocks[round][i] = device_pinned_alloc(lens[i]);
            assert_non_null(blocks[round][i]);
            memset(blocks[round][i], 1, lens[i]);
            const size_t len = find(blocks[round][i])->len;
            assert_true(lens[i] < 1 << 20 || refuse_register ? len == 0 : len >= lens[i]);
        }
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++)
        for (int round = 0; round < 2; round++) {
            const bool pages = find(blocks[round][i])->len != 0;

            device_pinned_free(blocks[round][i]);
            assert_null(find(blocks[round][i]));
            assert_true(!pages || !is_mapped(blocks[round][i]));
        }
    device_pinned_free(NULL);
}

/* Memory that none of our blocks is: also what was taken where pages could not be had. */
static void test_what_cuda_gave_goes_back_to_cuda(void **state)
{
    void *memory;

    (void)state;
    assert_int_equal(cudaHostAlloc(&memory, 3 << 20, cudaHostAllocPortable), cudaSuccess);
    device_pinned_free(memory);
    assert_null(find(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_block_goes_back_the_way_it_came),
        cmocka_unit_test(test_what_cuda_gave_goes_back_to_cuda),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
