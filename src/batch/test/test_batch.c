/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "batch/hits_sort.h"
#include "sluice/engine.h"

static struct sl_batch *make_batch(uint32_t arena_len, uint32_t max_items)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, arena_len, max_items, &diag), SL_OK);
    return batch;
}

static void test_items_are_aligned_and_hold_their_bytes(void **state)
{
    struct sl_batch *batch = make_batch(4096, 64);
    uint8_t bytes[40];

    (void)state;
    memset(bytes, 0xAB, sizeof bytes);
    for (uint32_t len = 0; len <= sizeof bytes; len++)
        assert_int_equal(sl_batch_add(batch, bytes, len, 0), len);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        assert_int_equal(batch->payload[i].offset % SL_BATCH_ALIGN, 0);
        assert_int_equal(batch->payload[i].len, i);
        assert_int_equal(batch->packet[i].offset, batch->payload[i].offset);
        assert_memory_equal(batch->bytes + batch->payload[i].offset, bytes, i);
        /* The gap up to the next item is zero. */
        for (uint32_t at = batch->payload[i].offset + i; at % SL_BATCH_ALIGN != 0; at++)
            assert_int_equal(batch->bytes[at], 0);
        if (i > 0)
            assert_true(batch->payload[i].offset >= batch->payload[i - 1].offset + i - 1);
    }
    sl_batch_free(batch);
}

static void test_batch_is_full_at_its_limits(void **state)
{
    struct sl_batch *batch = make_batch(64, 3);
    uint8_t bytes[64] = {0};

    (void)state;
    assert_true(sl_batch_fits(batch, 64));
    assert_false(sl_batch_fits(batch, 65));
    sl_batch_add(batch, bytes, 33, 0);
    assert_true(sl_batch_fits(batch, 16));
    assert_false(sl_batch_fits(batch, 17));
    sl_batch_add(batch, bytes, 16, 0);
    assert_true(sl_batch_fits(batch, 0));
    sl_batch_add(batch, bytes, 0, 0);
    assert_false(sl_batch_fits(batch, 0));
    sl_batch_reset(batch);
    assert_true(sl_batch_fits(batch, 64));
    sl_batch_free(batch);
}

static void test_bad_sizes_are_refused(void **state)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 0, 1, &diag), SL_EINVAL);
    assert_int_equal(sl_batch_create(&batch, 1, 0, &diag), SL_EINVAL);
    assert_int_equal(sl_batch_create(&batch, UINT32_MAX, 1, &diag), SL_EINVAL);
    sl_batch_free(NULL);
}

/* Pieces without their overlap are the source. Every window of overlap + 1 bytes has its last byte
 * behind the overlap in exactly one piece, so each match is reported once. */
static void check_pieces(uint32_t source_len, uint32_t piece_len, uint16_t overlap,
                         uint32_t arena_len)
{
    struct sl_batch *batch = make_batch(arena_len, 100000);
    uint8_t *source = malloc(source_len + 1);
    unsigned *ends = calloc(source_len + 1, sizeof *ends);
    uint64_t done = 0, covered = 0;

    for (uint32_t i = 0; i < source_len; i++)
        source[i] = (uint8_t)(i * 7 + (i >> 8));
    while (done < source_len) {
        sl_batch_reset(batch);
        sl_batch_add_pieces(batch, source, source_len, piece_len, overlap, &done);
        assert_true(batch->n_items > 0);
        for (uint32_t i = 0; i < batch->n_items; i++) {
            const uint64_t from = batch->origin[i].position;
            const uint32_t repeat = batch->overlap[i];

            assert_int_equal(from + repeat, covered);
            assert_int_equal(repeat, covered < overlap ? covered : overlap);
            assert_memory_equal(batch->bytes + batch->payload[i].offset, source + from,
                                batch->payload[i].len);
            for (uint32_t end = repeat + 1; end <= batch->payload[i].len; end++)
                ends[from + end]++;
            covered = from + batch->payload[i].len;
        }
    }
    assert_int_equal(covered, source_len);
    for (uint32_t end = 1; end <= source_len; end++)
        assert_int_equal(ends[end], 1);
    free(ends);
    free(source);
    sl_batch_free(batch);
}

static void test_pieces_cover_the_source_once(void **state)
{
    (void)state;
    for (uint32_t source_len = 1; source_len <= 24; source_len++)
        for (uint32_t piece_len = 1; piece_len <= 12; piece_len++)
            for (uint32_t overlap = 0; overlap < piece_len; overlap++)
                check_pieces(source_len, piece_len, (uint16_t)overlap, 64);
    check_pieces(100000, 5000, SL_OVERLAP_MAX, 16384);
}

static void test_hits_sort_by_item_offset_and_id(void **state)
{
    struct sl_hit hit[] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 1}, {0, 9, 9}};
    struct sl_hits hits = {hit, 5, 5, false};

    (void)state;
    sl_hits_sort(&hits);
    for (size_t i = 1; i < 5; i++) {
        const struct sl_hit *a = &hit[i - 1], *b = &hit[i];
        assert_true(a->item < b->item ||
                    (a->item == b->item &&
                     (a->offset < b->offset || (a->offset == b->offset && a->id < b->id))));
    }
    /* More were found than fit: only the hits that are there are touched. */
    hits.n = 1000;
    sl_hits_sort(&hits);
}

/* Of every length, items far apart and close together, in memory that is kept from list to list. */
static void test_kept_memory_sorts_too(void **state)
{
    enum { N = 300 };
    struct hits_scratch scratch = {0};
    struct sl_hit hit[N];
    uint64_t seed = 1;

    (void)state;
    for (uint32_t spread = 1; spread <= 1000000; spread *= 1000)
        for (size_t n = 0; n <= N; n++) {
            struct sl_hits hits = {hit, N, n, false};
            uint64_t sum = 0;

            for (size_t i = 0; i < n; i++) {
                hit[i] = (struct sl_hit){test_below(&seed, spread), test_below(&seed, 50), i};
                sum += hit[i].id * (hit[i].item + 1);
            }
            hits_sort(&hits, &scratch);
            for (size_t i = 0; i < n; i++) {
                sum -= hit[i].id * (hit[i].item + 1);
                assert_true(i == 0 || hit[i - 1].item < hit[i].item ||
                            (hit[i - 1].item == hit[i].item &&
                             (hit[i - 1].offset < hit[i].offset ||
                              (hit[i - 1].offset == hit[i].offset && hit[i - 1].id < hit[i].id))));
            }
            assert_int_equal(sum, 0);
        }
    hits_scratch_free(&scratch);
}

static void test_long_lists_sort_as_short_ones(void **state)
{
    enum { N = 20000 };
    static const uint32_t n_items[] = {1, 7, 300, N, 10 * N, UINT32_MAX};
    struct sl_hit *hit = malloc(N * sizeof *hit);
    uint64_t seed = 1;

    (void)state;
    for (size_t c = 0; c < 4 * sizeof n_items / sizeof *n_items; c++) {
        const uint64_t n = n_items[c / 4];
        /* As GPUs leave them: only the items' hits are in none. Behind them, of made items, hits
         * are in that order again, or in none. */
        const size_t n_first[] = {0, N, N - N / 5, N - N / 5}, first = n_first[c % 4];
        const bool again = c % 4 == 2;
        struct sl_hits hits = {hit, N, N, false};
        uint64_t sum = 0, sorted_sum = 0;

        for (size_t i = 0; i < N; i++) {
            const uint64_t in_order = i < first ? i * n / N : (i - first) * n / N;
            const uint32_t item =
                i < first || again ? (uint32_t)in_order : test_below(&seed, (uint32_t)n);

            hit[i] = (struct sl_hit){item, test_below(&seed, 50), test_below(&seed, 3)};
            sum += (uint64_t)hit[i].item * 31 + hit[i].offset * 7 + hit[i].id;
        }
        sl_hits_sort(&hits);
        for (size_t i = 0; i < N; i++) {
            sorted_sum += (uint64_t)hit[i].item * 31 + hit[i].offset * 7 + hit[i].id;
            if (i > 0)
                assert_true(hit[i - 1].item < hit[i].item ||
                            (hit[i - 1].item == hit[i].item &&
                             (hit[i - 1].offset < hit[i].offset ||
                              (hit[i - 1].offset == hit[i].offset && hit[i - 1].id <= hit[i].id))));
        }
        assert_int_equal(sum, sorted_sum);
    }
    free(hit);
}

static bool never(char why[SL_WHY_LEN])
{
    snprintf(why, SL_WHY_LEN, "no such unit");
    return false;
}

static bool always(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

static void test_backends_are_chosen_by_rank_and_by_name(void **state)
{
    static const struct sl_backend fast = {.name = "fast", .usable = never};
    static const struct sl_backend slow = {.name = "slow", .usable = always};
    static const struct sl_backend gpu = {.name = "gpu", .device = SL_DEVICE_CUDA, .usable = never};
    static const struct sl_backend *const backends[] = {&gpu, &fast, &slow, NULL};
    static const struct sl_engine engine = {.name = "test", .backends = backends};
    char why[SL_WHY_LEN];

    (void)state;
    assert_ptr_equal(sl_engine_choose(&engine, SL_DEVICE_CPU, why), &slow);
    assert_string_equal(why, "fast: no such unit");
    assert_null(sl_engine_choose(&engine, SL_DEVICE_CUDA, why));
    assert_string_equal(why, "gpu: no such unit");
    assert_ptr_equal(sl_engine_backend(&engine, "gpu"), &gpu);
    assert_ptr_equal(sl_engine_backend(&engine, "slow"), &slow);
    assert_null(sl_engine_backend(&engine, "slo"));
}

/* ---- made items ------------------------------------------------------------------------------ */

static void test_made_items_lie_behind_the_others(void **state)
{
    struct sl_batch *batch = make_batch(1024, 8);
    const uint32_t bytes_cap = batch->bytes_cap;

    (void)state;
    assert_int_equal(sl_batch_reserve_made(batch, bytes_cap, 4, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_made(batch, 64, 8, NULL), SL_EINVAL);
    assert_int_equal(sl_batch_reserve_made(batch, 64, 3, NULL), SL_OK);
    assert_int_equal(sl_batch_reserve_made(batch, 64, 3, NULL), SL_EINVAL);
    assert_int_equal(batch->bytes_cap, bytes_cap - 64);
    assert_int_equal(batch->max_items, 5);
    sl_batch_add(batch, "packet", 6, 0);
    assert_true(sl_batch_made_fits(batch, 64));
    assert_false(sl_batch_made_fits(batch, 65));
    memcpy(sl_batch_made_room(batch), "first", 5);
    sl_batch_append_made(batch, 5, (struct sl_made){0, 2, 0});
    memcpy(sl_batch_made_room(batch), "second", 6);
    sl_batch_append_made(batch, 6, (struct sl_made){0, 4, 0});
    assert_true(sl_batch_made_fits(batch, 32));
    assert_false(sl_batch_made_fits(batch, 33));
    assert_int_equal(batch->n_items, 1);
    assert_int_equal(batch->bytes_len, 16);

    const struct sl_batch whole = sl_batch_whole(batch);

    assert_int_equal(whole.n_items, 3);
    assert_int_equal(whole.bytes_len, 48);
    assert_int_equal(whole.n_made, batch->n_made);
    assert_int_equal(whole.payload[2].len, 6);
    assert_memory_equal(whole.bytes + whole.payload[2].offset, "second\0\0\0\0\0\0\0\0\0\0", 16);
    sl_batch_reset(batch);
    assert_int_equal(sl_batch_whole(batch).n_items, 0);
    sl_batch_free(batch);
}

static void test_hits_in_made_items_become_hits_of_packets(void **state)
{
    struct sl_batch *batch = make_batch(1024, 8);
    struct sl_hit hit[] = {{0, 1, 9}, {1, 2, 8}, {2, 3, 7}, {3, 1, 6}};
    static const struct sl_hit resolved[] = {
        {0, 1, 9}, {0, 3, UINT64_C(5) << 32 | 7}, {1, 1, UINT64_C(2) << 32 | 6}, {1, 2, 8}};
    struct sl_hits hits = {hit, 4, 4, true};

    (void)state;
    assert_int_equal(sl_batch_reserve_made(batch, 256, 3, NULL), SL_OK);
    sl_batch_add(batch, "a", 1, 0);
    sl_batch_add(batch, "b", 1, 0);
    sl_hits_resolve_made(&hits, batch); /* nothing was made: hits stay in order */
    assert_true(hits.in_order);
    sl_batch_append_made(batch, 9, (struct sl_made){0, 5, 0});
    sl_batch_append_made(batch, 9, (struct sl_made){1, 2, 0});
    sl_hits_resolve_made(&hits, batch);
    assert_false(hits.in_order);
    sl_hits_sort(&hits);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(hit[i].item, resolved[i].item);
        assert_int_equal(hit[i].offset, resolved[i].offset);
        assert_int_equal(hit[i].id, resolved[i].id);
    }
    sl_batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_are_aligned_and_hold_their_bytes),
        cmocka_unit_test(test_batch_is_full_at_its_limits),
        cmocka_unit_test(test_bad_sizes_are_refused),
        cmocka_unit_test(test_pieces_cover_the_source_once),
        cmocka_unit_test(test_hits_sort_by_item_offset_and_id),
        cmocka_unit_test(test_long_lists_sort_as_short_ones),
        cmocka_unit_test(test_kept_memory_sorts_too),
        cmocka_unit_test(test_backends_are_chosen_by_rank_and_by_name),
        cmocka_unit_test(test_made_items_lie_behind_the_others),
        cmocka_unit_test(test_hits_in_made_items_become_hits_of_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
