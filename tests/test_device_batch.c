/* SPDX-License-Identifier: MIT */
/* The way of batches to a GPU and of hits back: the bytes that arrive, the memory at both ends, and
 * the batches in flight at once. */
#include "test.h"

#include <cuda_runtime_api.h>

#include "device/columns.h"
#include "device/device.h"
#include "sluice/sluice.h"

enum { ARENA = 8192, ITEMS = 300 };

static const struct sl_limits limits = {.max_items = ITEMS, .max_bytes = ARENA, .max_hits = 1000};

static void *to_device(const void *host, size_t len)
{
    void *device;

    assert_int_equal(cudaMalloc(&device, len + SL_BATCH_SLACK), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, host, len, cudaMemcpyHostToDevice), cudaSuccess);
    return device;
}

static void check_backend(const struct sl_backend *backend, const struct sl_mpm_table *table,
                          const struct sl_batch *view)
{
    struct sl_hit hit[16];
    struct sl_hits hits = {hit, 16, 0, false};
    struct sl_diag diag;
    void *context;

    assert_int_equal(backend->open(&context, table, &limits, &diag), SL_OK);
    assert_int_equal(backend->submit(context, view, &hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    sl_hits_sort(&hits);
    assert_int_equal(hits.n, 3);
    assert_int_equal(hit[0].offset, 10);
    assert_int_equal(hit[1].offset, 26);
    assert_int_equal(hit[2].item, 1);
    assert_int_equal(hit[2].offset, 6);
    backend->close(context);
}

/* All backends for GPUs; returns how many they are. */
static uint32_t check_algorithm(const char *algorithm, const struct sl_batch *view)
{
    const struct sl_literal literal = {(const uint8_t *)"needle", 6, SL_LITERAL_NOCASE};
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_diag diag;
    uint32_t n = 0;

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = SL_DEVICE_CUDA;
    assert_int_equal(sl_mpm_build(&table, &config, &literal, 1, &diag), SL_OK);
    for (const struct sl_backend *const *backend = sl_mpm_engine(table)->backends; *backend != NULL;
         backend++) {
        if ((*backend)->device == SL_DEVICE_CUDA) {
            check_backend(*backend, table, view);
            n++;
        }
    }
    sl_mpm_free(table);
    return n;
}

/* A batch that lives on the GPU from the start: memory and stream of another program, no copy by
 * sluice. */
static void test_engines_run_on_memory_that_is_there_already(void **state)
{
    static const char text[] = "one needle, another NEEDLE, no noodle";
    struct sl_span spans[2] = {{0, sizeof text - 1}, {64, 6}};
    uint8_t arena[128] = {0};
    cudaStream_t stream;
    uint32_t n = 0;

    (void)state;
    memcpy(arena, text, sizeof text);
    memcpy(arena + 64, "needle", 6);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    const struct sl_batch view = {.memory = SL_MEMORY_DEVICE,
                                  .n_items = 2,
                                  .max_items = 2,
                                  .bytes_len = sizeof arena,
                                  .bytes_cap = sizeof arena,
                                  .bytes = to_device(arena, sizeof arena),
                                  .payload = to_device(spans, sizeof spans),
                                  .stream = stream};

    assert_true(check_algorithm("auto", &view) > 0);
    for (const char *const *algorithm = sl_mpm_algorithms(); *algorithm != NULL; algorithm++)
        n += check_algorithm(*algorithm, &view);
    assert_true(n > 0);

    cudaFree(view.bytes);
    cudaFree(view.payload);
    cudaStreamDestroy(stream);
}

/* ---- to the GPU ------------------------------------------------------------------------------ */

static struct sl_batch *make_batch(uint32_t arena_len, uint32_t max_items)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    assert_int_equal(sl_device_batch_create(&batch, SL_DEVICE_CUDA, arena_len, max_items, &diag),
                     SL_OK);
    assert_ptr_equal(batch->room, batch->bytes);
    return batch;
}

/* Items of item_len bytes until no further one fits. */
static void fill_batch(struct sl_batch *batch, uint32_t item_len, uint16_t overlap, uint64_t seed)
{
    uint8_t bytes[ARENA];

    while (sl_batch_fits(batch, item_len)) {
        for (uint32_t i = 0; i < item_len; i++)
            bytes[i] = (uint8_t)test_random(&seed);
        const uint32_t item = sl_batch_add(batch, bytes, item_len, overlap);
        batch->payload[item].offset += item_len / 2;
        batch->payload[item].len -= item_len / 2;
        batch->packet[item].transport = (uint16_t)test_random(&seed);
        batch->before[item] = (uint32_t)test_random(&seed);
    }
}

static void check_on_device(const void *d_column, const void *column, size_t len)
{
    uint8_t *back = malloc(len + 1);

    assert_int_equal((uintptr_t)d_column % SL_BATCH_ALIGN, 0);
    assert_int_equal(cudaMemcpy(back, d_column, len, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_memory_equal(back, column, len);
    free(back);
}

/* The stage has been waited for. */
static void check_view(const struct sl_batch *view, const struct sl_batch *batch)
{
    const size_t n = batch->n_items;
    uint8_t slack[SL_BATCH_SLACK];

    assert_int_equal(view->memory, SL_MEMORY_DEVICE);
    assert_int_equal(view->n_items, n);
    assert_int_equal(view->bytes_len, batch->bytes_len);
    assert_int_equal(view->has_overlap, batch->has_overlap);
    assert_null(view->room);
    assert_ptr_equal(view->origin, batch->origin);
    assert_ptr_equal(view->host_bytes, batch->bytes);
    assert_ptr_equal(view->host_payload, batch->payload);
    assert_ptr_equal(view->host_overlap, batch->overlap);
    check_on_device(view->bytes, batch->bytes, batch->bytes_len);
    assert_int_equal(
        cudaMemcpy(slack, view->bytes + batch->bytes_len, sizeof slack, cudaMemcpyDeviceToHost),
        cudaSuccess);
    check_on_device(view->payload, batch->payload, n * sizeof *batch->payload);
    if (batch->has_overlap)
        check_on_device(view->overlap, batch->overlap, n * sizeof *batch->overlap);
    else
        assert_null(view->overlap);
    if (batch->packet != NULL)
        check_on_device(view->packet, batch->packet, n * sizeof *batch->packet);
    else
        assert_null(view->packet);
    if (batch->has_before)
        check_on_device(view->before, batch->before, n * sizeof *batch->before);
    else
        assert_null(view->before);
}

static void upload_and_check(struct sl_stage *stage, const struct sl_batch *batch)
{
    struct sl_batch view;

    assert_int_equal(sl_stage_upload(stage, batch, &view), SL_OK);
    assert_int_equal(sl_stage_wait(stage), SL_OK);
    check_view(&view, batch);
}

static struct sl_stage *open_stage(void)
{
    struct sl_stage *stage;
    struct sl_diag diag;

    assert_int_equal(sl_stage_open(&stage, &limits, &diag), SL_OK);
    return stage;
}

/* Batches that end at their last byte, at their last item, before both, and empty. They go from
 * large to small, so that the rest of an upload lies under the next. */
static void test_all_columns_arrive(void **state)
{
    static const uint32_t item_lens[] = {ARENA, 1000, 60, 33, 32, 16, 1, 0};
    struct sl_stage *stage = open_stage();
    struct sl_batch *batch = make_batch(ARENA, ITEMS);

    (void)state;
    for (size_t l = 0; l < sizeof item_lens / sizeof *item_lens; l++)
        for (uint32_t mask = 0; mask < 4; mask++) {
            struct sl_batch lean;

            sl_batch_reset(batch);
            fill_batch(batch, item_lens[l], (mask & 1) && item_lens[l] > 0, 1 + l);
            batch->has_before = l % 2 == 0;
            upload_and_check(stage, batch);
            lean = *batch;
            lean.packet = NULL;
            if ((mask & 2) != 0)
                upload_and_check(stage, &lean);
        }
    sl_batch_reset(batch);
    upload_and_check(stage, batch);
    sl_batch_free(batch);
    sl_stage_close(stage);
}

/* Ordinary memory, an arena that took the place of the batch's own, a column likewise. */
static void test_memory_of_callers_arrives(void **state)
{
    struct sl_stage *stage = open_stage();
    struct sl_batch *batch = make_batch(ARENA, ITEMS);
    struct sl_span payload[ITEMS];
    uint8_t arena[ARENA];
    struct sl_batch mine;

    (void)state;
    fill_batch(batch, 60, 2, 1);
    mine = *batch;
    mine.bytes = arena;
    memcpy(arena, batch->bytes, ARENA);
    upload_and_check(stage, &mine);
    mine.memory = SL_MEMORY_HOST;
    mine.packet = NULL;
    mine.room = NULL;
    mine.room_len = 0;
    upload_and_check(stage, &mine);
    assert_memory_equal(arena, batch->bytes, ARENA); /* only read */

    mine = *batch;
    mine.payload = payload;
    for (uint32_t i = 0; i < batch->n_items; i++)
        payload[i] = (struct sl_span){batch->payload[i].offset + 1, 3};
    upload_and_check(stage, &mine);
    upload_and_check(stage, batch);
    sl_batch_free(batch);
    sl_stage_close(stage);
}

/* Columns that are laid behind the items, by an item too long for that, and far too long. */
static void test_long_columns_arrive(void **state)
{
    enum { PACKED = COLUMNS_PACKED_LEN / sizeof(struct sl_packet), MANY = 3 * PACKED };
    static const uint32_t n_items[] = {MANY, PACKED + 1, PACKED, 2 * PACKED, 2 * PACKED + 1};
    const struct sl_limits large = {.max_items = MANY, .max_bytes = MANY * SL_BATCH_ALIGN};
    struct sl_batch *batch = make_batch(large.max_bytes, MANY);
    struct sl_stage *stage;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_stage_open(&stage, &large, &diag), SL_OK);
    for (size_t i = 0; i < sizeof n_items / sizeof *n_items; i++)
        for (uint16_t overlap = 0; overlap < 2; overlap++) {
            sl_batch_reset(batch);
            batch->max_items = n_items[i];
            fill_batch(batch, 7, overlap, 1 + i);
            batch->has_before = overlap != 0;
            assert_int_equal(batch->n_items, n_items[i]);
            struct sl_batch lean = *batch;
            lean.packet = NULL;
            upload_and_check(stage, batch);
            upload_and_check(stage, &lean);
        }
    sl_stage_close(stage);
    batch->max_items = MANY;
    sl_batch_free(batch);
}

static void test_one_batch_crosses_to_two_stages_at_once(void **state)
{
    struct sl_stage *stages[2] = {open_stage(), open_stage()};
    struct sl_batch *batch = make_batch(ARENA, ITEMS);
    struct sl_batch lean, views[2];

    (void)state;
    fill_batch(batch, 60, 2, 1);
    lean = *batch;
    lean.packet = NULL;
    for (int round = 0; round < 100; round++) {
        assert_int_equal(sl_stage_upload(stages[0], batch, &views[0]), SL_OK);
        assert_int_equal(sl_stage_upload(stages[1], &lean, &views[1]), SL_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(sl_stage_wait(stages[i]), SL_OK);
    }
    check_view(&views[0], batch);
    check_view(&views[1], &lean);
    sl_batch_free(batch);
    for (int i = 0; i < 2; i++)
        sl_stage_close(stages[i]);
}

/* ---- and back -------------------------------------------------------------------------------- */

struct matcher {
    struct sl_mpm_table *table;
    const struct sl_backend *backend;
};

static struct matcher make_matcher(const char *text)
{
    const struct sl_literal literal = {(const uint8_t *)text, (uint32_t)strlen(text), 0};
    struct sl_mpm_config config;
    struct matcher matcher;
    struct sl_diag diag;
    char why[SL_WHY_LEN];

    sl_mpm_config_init(&config);
    config.algorithm = "ac";
    config.device = SL_DEVICE_CUDA;
    assert_int_equal(sl_mpm_build(&matcher.table, &config, &literal, 1, &diag), SL_OK);
    matcher.backend = sl_engine_choose(sl_mpm_engine(matcher.table), SL_DEVICE_CUDA, why);
    assert_non_null(matcher.backend);
    return matcher;
}

static void *open_matcher(const struct matcher *matcher, const struct sl_limits *for_limits)
{
    struct sl_diag diag;
    void *context;

    assert_int_equal(matcher->backend->open(&context, matcher->table, for_limits, &diag), SL_OK);
    return context;
}

/* An item of n bytes 'x', and one behind it of n bytes 'y'. */
static void fill_runs(struct sl_batch *batch, uint32_t n)
{
    uint8_t *bytes = malloc(n + 1);

    sl_batch_reset(batch);
    memset(bytes, 'x', n);
    sl_batch_add(batch, bytes, n, 0);
    memset(bytes, 'y', n);
    sl_batch_add(batch, bytes, n, 0);
    free(bytes);
}

/* n hits, one at the end of each byte of the item; n_kept of them are in the array. */
static void check_run(struct sl_hits *hits, uint32_t item, size_t n, size_t n_kept)
{
    assert_int_equal(hits->n, n);
    sl_hits_sort(hits);
    for (size_t i = 0; i < n_kept; i++) {
        assert_int_equal(hits->hit[i].item, item);
        assert_int_equal(hits->hit[i].id, 0);
        if (n_kept == n)
            assert_int_equal(hits->hit[i].offset, i + 1);
        else
            assert_in_range(hits->hit[i].offset, i + 1, n);
        assert_true(i == 0 || hits->hit[i - 1].offset < hits->hit[i].offset);
    }
}

struct run_test {
    struct matcher matcher;
    void *context;
    size_t context_room; /* hits */
    struct sl_stage *stage;
    struct sl_batch *batch;
};

/* A run of n hits comes back to an array of this room. */
static void check_room(const struct run_test *test, uint32_t n, size_t cap, bool pinned)
{
    const size_t room = cap < test->context_room ? cap : test->context_room;
    const size_t n_kept = n < room ? n : room, len = (cap + 1) * sizeof(struct sl_hit);
    struct sl_hits hits = {pinned ? device_pinned_alloc(len) : malloc(len), cap, 0, false};
    const struct sl_hit guard = {0xABCDEF, 1, 2};
    struct sl_batch view;

    assert_non_null(hits.hit);
    hits.hit[cap] = guard;
    fill_runs(test->batch, n);
    assert_int_equal(sl_stage_upload(test->stage, test->batch, &view), SL_OK);
    assert_int_equal(test->matcher.backend->submit(test->context, &view, &hits), SL_OK);
    assert_int_equal(test->matcher.backend->wait(test->context), n > n_kept ? SL_EOVERFLOW : SL_OK);
    hits.cap = n_kept; /* the hits that sorting may touch */
    check_run(&hits, 0, n, n_kept);
    assert_memory_equal(&hits.hit[cap], &guard, sizeof guard);
    if (pinned)
        device_pinned_free(hits.hit);
    else
        free(hits.hit);
}

/* Few after many and many after few, more than the context or the caller has room for, to memory
 * that the GPU writes itself and to other: of what the copy with the count carries, nothing is
 * lost, left over or written behind the array. */
static void test_any_number_of_hits_comes_back(void **state)
{
    enum { MAX = 900000, ROOM = 800000 };
    static const uint32_t n_hits[] = {1, 5461, 5462,   20000,  400000, 400000,
                                      3, 0,    900000, 900000, 7,      700000};
    static const size_t caps[] = {MAX, ROOM, 400000, 5000, 1, 0};
    const struct sl_limits for_runs = {.max_items = 2, .max_bytes = 2 * MAX + 32, .max_hits = ROOM};
    struct run_test test = {
        .matcher = make_matcher("x"), .context_room = ROOM, .batch = make_batch(2 * MAX + 32, 2)};
    struct sl_diag diag;

    (void)state;
    test.context = open_matcher(&test.matcher, &for_runs);
    assert_int_equal(sl_stage_open(&test.stage, &for_runs, &diag), SL_OK);
    for (size_t c = 0; c < sizeof caps / sizeof *caps; c++)
        for (size_t i = 0; i < sizeof n_hits / sizeof *n_hits; i++) {
            check_room(&test, n_hits[i], caps[c], false);
            check_room(&test, n_hits[i], caps[c], true);
        }
    test.matcher.backend->close(test.context);
    sl_mpm_free(test.matcher.table);
    sl_stage_close(test.stage);
    sl_batch_free(test.batch);
}

/* Two tables and two contexts of one of them work on one upload, on one view of it or on one each;
 * the next upload is queued behind them before the first is waited for, and they are waited for in
 * any order. */
static void test_engines_share_an_upload_and_a_stream(void **state)
{
    enum { N = 3, LEN = 30000 };
    const struct sl_limits for_runs = {.max_items = 2, .max_bytes = 4 * LEN, .max_hits = LEN};
    struct matcher matchers[2] = {make_matcher("x"), make_matcher("y")};
    struct sl_batch *batches[2] = {make_batch(4 * LEN, 2), make_batch(4 * LEN, 2)};
    static struct sl_hit hit[2][N][LEN];
    struct sl_hits hits[2][N];
    void *contexts[2][N];
    struct sl_stage *stage;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_stage_open(&stage, &for_runs, &diag), SL_OK);
    for (int b = 0; b < 2; b++)
        for (int e = 0; e < N; e++)
            contexts[b][e] = open_matcher(&matchers[e % 2], &for_runs);
    for (uint32_t round = 0; round < 20; round++) {
        for (int b = 0; b < 2; b++) {
            struct sl_batch view;

            fill_runs(batches[b], b == 0 ? LEN : 1 + round * 1000);
            assert_int_equal(sl_stage_upload(stage, batches[b], &view), SL_OK);
            for (int e = 0; e < N; e++) {
                const uint32_t number = round % 2 == 0 ? 0 : (uint32_t)e;

                hits[b][e] = (struct sl_hits){hit[b][e], LEN, 0, false};
                assert_int_equal(sl_stage_view(stage, number, &view), SL_OK);
                assert_int_equal(
                    matchers[e % 2].backend->submit(contexts[b][e], &view, &hits[b][e]), SL_OK);
            }
        }
        for (int k = 0; k < 2 * N; k++) {
            const int b = k % 2 ^ (round & 1), e = N - 1 - k / 2;

            assert_int_equal(matchers[e % 2].backend->wait(contexts[b][e]), SL_OK);
            check_run(&hits[b][e], e % 2, b == 0 ? LEN : 1 + round * 1000, hits[b][e].n);
        }
    }
    for (int b = 0; b < 2; b++) {
        for (int e = 0; e < N; e++)
            matchers[e % 2].backend->close(contexts[b][e]);
        sl_mpm_free(matchers[b].table);
        sl_batch_free(batches[b]);
    }
    sl_stage_close(stage);
}

/* The way of a failed run: nobody waits. */
static void test_closing_ends_what_is_under_way(void **state)
{
    enum { LEN = 1 << 20 };
    const struct sl_limits for_runs = {.max_items = 2, .max_bytes = 2 * LEN, .max_hits = LEN};
    struct sl_batch *batch = make_batch(2 * LEN, 2);
    struct matcher matcher = make_matcher("x");
    struct sl_hits hits = {malloc(LEN * sizeof *hits.hit), LEN, 0, false};

    (void)state;
    fill_runs(batch, LEN);
    for (int order = 0; order < 2; order++) {
        void *context = open_matcher(&matcher, &for_runs);
        struct sl_stage *stage;
        struct sl_batch view;
        struct sl_diag diag;

        assert_int_equal(sl_stage_open(&stage, &for_runs, &diag), SL_OK);
        assert_int_equal(sl_stage_upload(stage, batch, &view), SL_OK);
        assert_int_equal(matcher.backend->submit(context, &view, &hits), SL_OK);
        if (order == 0)
            sl_stage_close(stage);
        matcher.backend->close(context);
        if (order == 1)
            sl_stage_close(stage);
    }
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    sl_batch_free(batch);
    free(hits.hit);
    sl_mpm_free(matcher.table);
}

/* 69 GB for hits and 120 GB for a batch are more than most GPUs have, and several more than any. */
static void test_what_does_not_fit_is_said_with_figures(void **state)
{
    enum { N = 16 };
    const struct sl_limits large = {
        .max_items = UINT32_MAX, .max_bytes = UINT32_MAX - 65536, .max_hits = UINT32_MAX};
    struct matcher matcher = make_matcher("x");
    enum sl_status status = SL_OK;
    struct sl_stage *stages[N];
    struct sl_diag diag;
    void *contexts[N];
    uint32_t n = 0;

    (void)state;
    while (n < N && status == SL_OK)
        status = matcher.backend->open(&contexts[n++], matcher.table, &large, &diag);
    assert_int_equal(status, SL_ENOMEM);
    assert_non_null(strstr(diag.text, "hits: 68719.5 MB are needed"));
    while (--n > 0)
        matcher.backend->close(contexts[n - 1]);

    for (n = 0, status = SL_OK; n < N && status == SL_OK; n++)
        status = sl_stage_open(&stages[n], &large, &diag);
    assert_int_equal(status, SL_ENOMEM);
    assert_non_null(strstr(diag.text, "a batch: 1374"));
    while (--n > 0)
        sl_stage_close(stages[n - 1]);

    /* The device is as good as before. */
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    matcher.backend->close(open_matcher(&matcher, &limits));
    sl_mpm_free(matcher.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_run_on_memory_that_is_there_already),
        cmocka_unit_test(test_all_columns_arrive),
        cmocka_unit_test(test_memory_of_callers_arrives),
        cmocka_unit_test(test_long_columns_arrive),
        cmocka_unit_test(test_one_batch_crosses_to_two_stages_at_once),
        cmocka_unit_test(test_any_number_of_hits_comes_back),
        cmocka_unit_test(test_engines_share_an_upload_and_a_stream),
        cmocka_unit_test(test_closing_ends_what_is_under_way),
        cmocka_unit_test(test_what_does_not_fit_is_said_with_figures),
    };
    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: no GPU: %s\n", why);
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
