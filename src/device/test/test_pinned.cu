/* SPDX-License-Identifier: MIT */
/* Pinned memory goes back the way that it came: CUDA's calls are counted here (--wrap), and no GPU
 * is needed. */
extern "C" {
#include "test.h"
}

#include <cuda_runtime.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>

#include "device/device.h"

/* Memory that is pinned, and by which call. */
static struct pinned {
    void *memory;
    size_t len; /* registered; 0: CUDA's own */
} pinned[64];
static bool refuse_register;

/* Where `meeting`, a thread that registers memory waits until another one does so as well. */
static bool meeting;
static sem_t arrived[2];
static int n_arrived, n_met;

static void meet(void)
{
    const int mine = __atomic_fetch_add(&n_arrived, 1, __ATOMIC_RELAXED) % 2;
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    sem_post(&arrived[mine ^ 1]);
    if (sem_timedwait(&arrived[mine], &end) == 0)
        __atomic_fetch_add(&n_met, 1, __ATOMIC_RELAXED);
}

static struct pinned *find(const void *memory)
{
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (pinned[i].memory == memory)
            return &pinned[i];
    return NULL;
}

static void note(void *memory, size_t len)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    *find(NULL) = (struct pinned){memory, len};
    pthread_mutex_unlock(&lock);
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): what --wrap calls them */
extern "C" cudaError_t __wrap_cudaHostRegister(void *memory, size_t len, unsigned flags)
{
    assert_int_equal(flags, cudaHostRegisterPortable);
    if (meeting)
        meet();
    if (refuse_register)
        return cudaErrorMemoryAllocation;
    note(memory, len);
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
    note(*memory, 0);
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
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static bool is_mapped(void *page)
{
    unsigned char there;

    return mincore(page, 4096, &there) == 0;
}

/* The registered memory that holds the block, or CUDA's own block; NULL: neither. */
static struct pinned *find_holder(const void *block)
{
    const uint8_t *const at = (const uint8_t *)block;

    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const uint8_t *const memory = (const uint8_t *)pinned[i].memory;

        if (memory != NULL && at >= memory && at < memory + pinned[i].len)
            return &pinned[i];
    }
    return find(block);
}

static size_t n_pinned(void)
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        n += pinned[i].memory != NULL;
    return n;
}

static const size_t lens[] = {1,       4096,          (1 << 20) - 1, 1 << 20,
                              2 << 20, (4 << 20) + 1, 17 << 20,      1000};
enum { N_LENS = sizeof lens / sizeof *lens, ROUNDS = 4 };

static void check_bytes(uint8_t *const *blocks)
{
    for (size_t i = 0; i < ROUNDS * N_LENS; i++)
        for (size_t at = 0; at < lens[i % N_LENS]; at += 97)
            assert_int_equal(blocks[i][at], i);
}

static void test_each_block_goes_back_the_way_it_came(void **state)
{
    uint8_t *blocks[ROUNDS * N_LENS];
    void *pages[ROUNDS * N_LENS];

    (void)state;
    for (size_t i = 0; i < ROUNDS * N_LENS; i++) {
        const size_t len = lens[i % N_LENS];

        refuse_register = i / N_LENS == 1;
        blocks[i] = (uint8_t *)device_pinned_alloc(len);
        assert_non_null(blocks[i]);
        const struct pinned *holder = find_holder(blocks[i]);
        assert_non_null(holder);
        assert_true(holder->len == 0 ||
                    (size_t)(blocks[i] - (uint8_t *)holder->memory) + len <= holder->len);
        pages[i] = holder->len != 0 ? holder->memory : NULL;
        memset(blocks[i], (int)i, len);
    }
    check_bytes(blocks);
    assert_true(n_pinned() < (ROUNDS - 1) * N_LENS); /* small blocks share memory */
    for (size_t i = 0; i < ROUNDS * N_LENS; i++)
        device_pinned_free(blocks[i]);
    assert_int_equal(n_pinned(), 0);
    for (size_t i = 0; i < ROUNDS * N_LENS; i++)
        assert_true(pages[i] == NULL || !is_mapped(pages[i]));
    device_pinned_free(NULL);
}

/* A region stays as long as one block of it is in use. */
static void test_blocks_do_not_end_with_their_neighbours(void **state)
{
    (void)state;
    refuse_register = false;
    uint8_t *first = (uint8_t *)device_pinned_alloc(1000);
    uint8_t *second = (uint8_t *)device_pinned_alloc(1000);
    assert_ptr_equal(find_holder(first), find_holder(second));
    device_pinned_free(first);
    assert_non_null(find_holder(second));
    memset(second, 1, 1000);
    device_pinned_free(second);
    assert_int_equal(n_pinned(), 0);
}

static void *take_small(void *block)
{
    *(void **)block = device_pinned_alloc(3 << 20);
    return NULL;
}

/* Threads that find no room for small blocks pin some at the same time. */
static void test_threads_pin_beside_each_other(void **state)
{
    void *blocks[2];
    pthread_t thread;

    (void)state;
    meeting = true;
    n_arrived = n_met = 0;
    assert_true(sem_init(&arrived[0], 0, 0) == 0 && sem_init(&arrived[1], 0, 0) == 0);
    assert_int_equal(pthread_create(&thread, NULL, take_small, &blocks[0]), 0);
    take_small(&blocks[1]);
    pthread_join(thread, NULL);
    meeting = false;
    assert_int_equal(n_met, 2);
    device_pinned_free(blocks[0]);
    device_pinned_free(blocks[1]);
    assert_int_equal(n_pinned(), 0);
}

/* Reserved memory is pinned as a whole once it is asked for, where the system does, and goes back
 * either way. */
static void test_reserved_memory_is_pinned_when_it_is_used(void **state)
{
    enum { LEN = 5 << 20 };
    enum { UNUSED, REFUSED, USED };

    (void)state;
    for (int use = UNUSED; use <= USED; use++) {
        uint8_t *block = (uint8_t *)device_pinned_reserve(LEN);

        assert_non_null(block);
        memset(block, 1, LEN);
        assert_int_equal(n_pinned(), 0);
        refuse_register = use == REFUSED;
        for (int i = 0; use != UNUSED && i < 2; i++) /* once is enough */
            device_pin(block + 1000);
        refuse_register = false;
        assert_int_equal(n_pinned(), use == USED);
        if (use == USED)
            assert_true(find_holder(block)->memory == block && find_holder(block)->len >= LEN);
        device_pinned_free(block);
        assert_int_equal(n_pinned(), 0);
        assert_false(is_mapped(block));
    }
    device_pin(&refuse_register); /* no memory of ours */
}

/* A small block does not keep the pages of a large one. */
static void test_large_blocks_share_nothing(void **state)
{
    (void)state;
    uint8_t *large = (uint8_t *)device_pinned_alloc(17 << 20);
    uint8_t *small = (uint8_t *)device_pinned_alloc(1000);

    assert_ptr_not_equal(find_holder(large), find_holder(small));
    device_pinned_free(large);
    assert_int_equal(n_pinned(), 1);
    device_pinned_free(small);
    assert_int_equal(n_pinned(), 0);
}

/* Blocks lie in what was prepared, large and small ones, until it is full. What has no block goes
 * when it is trimmed, and what has some with the last of them. */
static void test_memory_is_prepared(void **state)
{
    (void)state;
    refuse_register = true;
    assert_false(device_pinned_prepare(40 << 20));
    refuse_register = false;
    assert_true(device_pinned_prepare(40 << 20) && device_pinned_prepare(40 << 20));
    assert_int_equal(n_pinned(), 2);

    uint8_t *const large = (uint8_t *)device_pinned_alloc(17 << 20);
    uint8_t *const small = (uint8_t *)device_pinned_alloc(1000);
    uint8_t *const next = (uint8_t *)device_pinned_alloc(17 << 20);

    assert_int_equal(n_pinned(), 2);
    assert_ptr_equal(find_holder(large), find_holder(small));
    memset(large, 1, 17 << 20);
    memset(next, 2, 17 << 20);
    memset(small, 3, 1000);
    assert_int_equal(large[(17 << 20) - 1], 1);
    device_pinned_trim();
    assert_int_equal(n_pinned(), 1); /* all three lie in one */

    uint8_t *const other = (uint8_t *)device_pinned_alloc(17 << 20);

    assert_int_equal(n_pinned(), 2); /* which is full */
    device_pinned_free(large);
    device_pinned_free(next);
    device_pinned_free(other);
    assert_non_null(find_holder(small));
    device_pinned_free(small);
    assert_int_equal(n_pinned(), 0);
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
        cmocka_unit_test(test_blocks_do_not_end_with_their_neighbours),
        cmocka_unit_test(test_threads_pin_beside_each_other),
        cmocka_unit_test(test_reserved_memory_is_pinned_when_it_is_used),
        cmocka_unit_test(test_large_blocks_share_nothing),
        cmocka_unit_test(test_memory_is_prepared),
        cmocka_unit_test(test_what_cuda_gave_goes_back_to_cuda),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
