/* SPDX-License-Identifier: MIT */
/* Hits are put in order on the device as sl_hits_sort puts them, but for those of full items. */
extern "C" {
#include "test.h"
}

#include "device/cuda_internal.h"

enum { MAX_HITS = 200000, MAX_ITEMS = 30000 };

/* Hits that the device got, and their order as it must be. */
struct list {
    uint32_t n, n_items, n_offsets;
};

static struct sl_hit given[MAX_HITS], ordered[MAX_HITS];

static void copy(void *to, const void *from, size_t len)
{
    assert_int_equal(cudaMemcpy(to, from, len, cudaMemcpyDefault), cudaSuccess);
}

static bool precedes(const struct sl_hit *a, const struct sl_hit *b)
{
    if (a->item != b->item || a->offset != b->offset)
        return a->item != b->item ? a->item < b->item : a->offset < b->offset;
    return a->id <= b->id;
}

/* Brought are the count and whether all are in order; hits stay on the device. */
static struct cuda_delivery open_delivery(void)
{
    struct cuda_delivery delivery = {};

    assert_int_equal(
        cudaMalloc((void **)&delivery.found,
                   offsetof(struct cuda_found, hit) + MAX_HITS * sizeof *delivery.found->hit),
        cudaSuccess);
    assert_int_equal(cudaHostAlloc((void **)&delivery.to, sizeof *delivery.to, 0), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&delivery.ticket, sizeof *delivery.ticket), cudaSuccess);
    assert_int_equal(cudaMemset(delivery.ticket, 0, sizeof *delivery.ticket), cudaSuccess);
    delivery.stay = true;
    return delivery;
}

static void close_delivery(const struct cuda_delivery *delivery)
{
    assert_int_equal(cudaFree(delivery->found), cudaSuccess);
    assert_int_equal(cudaFreeHost(delivery->to), cudaSuccess);
    assert_int_equal(cudaFree(delivery->ticket), cudaSuccess);
}

static void check_list(struct list list)
{
    const struct cuda_delivery delivery = open_delivery();
    struct cuda_order order = {};
    struct sl_limits limits = {};
    unsigned long long n = list.n;
    uint64_t seed = list.n;

    for (uint32_t i = 0; i < list.n; i++)
        given[i] = {test_below(&seed, list.n_items), test_below(&seed, list.n_offsets),
                    test_below(&seed, 5)};
    limits.max_items = MAX_ITEMS;
    limits.max_hits = MAX_HITS;
    copy(&delivery.found->n, &n, sizeof n);
    copy(delivery.found->hit, given, list.n * sizeof *given);
    assert_int_equal(cuda_order_open(&order, &limits, NULL), SL_OK);
    for (int again = 0; again < 3; again++)
        assert_int_equal(cuda_order_launch(&order, &delivery, &limits, list.n_items, 132, 0),
                         cudaSuccess);
    copy(ordered, delivery.found->hit, list.n * sizeof *ordered);
    cuda_order_close(&order, &limits);

    const bool few = list.n<CUDA_ORDER_MIN, full = list.n / list.n_items> CUDA_ORDER_ITEM_MAX;
    assert_int_equal(delivery.to->n, n);
    assert_int_equal(delivery.to->in_order, !few && !full);
    close_delivery(&delivery);
    for (uint32_t i = 1; i < list.n && !few; i++)
        assert_true(full ? ordered[i - 1].item <= ordered[i].item
                         : precedes(&ordered[i - 1], &ordered[i]));
    struct sl_hits left = {ordered, list.n, list.n, false}, right = {given, list.n, list.n, false};
    sl_hits_sort(&left);
    sl_hits_sort(&right);
    assert_memory_equal(ordered, given, list.n * sizeof *given);
}

static void test_lists_of_all_shapes(void **state)
{
    static const struct list lists[] = {
        {0, 1, 1},
        {CUDA_ORDER_MIN - 1, 100, 100},
        {CUDA_ORDER_MIN, 4095, 3},
        {5000, 4096, 2000},
        {5000, 4097, 2000},
        {5000, 1, 2000},
        {50000, MAX_ITEMS, 1 << 30},
        {MAX_HITS, 20000, 1500},
        {MAX_HITS, 3, 1500},
    };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_list(lists[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_of_all_shapes)};
    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
