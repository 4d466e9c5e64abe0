/* SPDX-License-Identifier: MIT */
/* The promises of every engine, and the configurations that are refused. */
#include "test.h"

#include "device/test/engine_fixture.h"
#include "sampling_rig.h"

static void test_overflow_counts_exactly(void **state)
{
    enum { LEN = 20000 };
    static uint8_t text[LEN];
    struct sl_sampling_config config = rig_default_config();
    uint64_t random = 9;

    (void)state;
    config.period = 16;
    rig_fill_random(&random, text, LEN);
    sl_batch_reset(rig.batch);
    rig_add(text, LEN);
    rig_expect(&config, rig.batch);
    const size_t n = rig.expected.n;
    assert_true(n > 100);

    const size_t caps[] = {0, 1, 7, n - 1, n, n + 1};
    struct sl_hit *few = (struct sl_hit *)malloc((n + 2) * sizeof *few);
    assert_non_null(few);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct sl_hits hits = {.hit = few, .cap = caps[i], .n = 12345};

        memset(few, 0xAA, (n + 2) * sizeof *few);
        assert_int_equal(rig_scan(&config, rig.batch, &hits), caps[i] < n ? SL_EOVERFLOW : SL_OK);
        assert_int_equal(hits.n, n);
        for (size_t k = 0; k < caps[i] && k < n; k++)
            assert_true(few[k].item == 0 && few[k].offset < LEN);
        assert_int_equal(few[caps[i]].item, 0xAAAAAAAAu);
    }
    free(few);
}

/* Whole or in pieces of any length, a source gives the same hits at the same source offsets. */
static void test_pieces_give_the_same_hits(void **state)
{
    enum { LEN = 1500 };
    static uint8_t text[LEN];
    uint64_t random = 10;

    (void)state;
    if (!rig.subject->by_window)
        test_skip("the positions of this sampler follow from where a piece begins");
    rig_fill_random(&random, text, LEN);
    for (uint32_t piece = SL_SAMPLING_WINDOW_MIN; piece <= LEN; piece += 1 + piece / 20) {
        struct sl_sampling_config config = rig_drawn_config(&random);
        uint64_t done = 0;

        if (config.window > piece)
            config.window = SL_SAMPLING_WINDOW_MIN;
        sl_batch_reset(rig.batch);
        rig_add(text, LEN);
        rig_expect(&config, rig.batch);

        sl_batch_reset(rig.batch);
        sl_batch_add_pieces(rig.batch, text, LEN, piece, (uint16_t)(config.window - 1), &done);
        assert_int_equal(done, LEN);
        assert_int_equal(rig_scan(&config, rig.batch, &rig.found), SL_OK);
        for (size_t i = 0; i < rig.found.n; i++) {
            rig.found.hit[i].offset += (uint32_t)rig.batch->origin[rig.found.hit[i].item].position;
            rig.found.hit[i].item = 0;
        }
        rig_same_hits(&config);
    }
}

/* Overlaps longer and shorter than the window, up to the whole item. */
static void test_overlap(void **state)
{
    static uint8_t text[400];
    uint64_t random = 11;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct sl_sampling_config config = rig_drawn_config(&random);

        if (config.period > 4)
            config.period = 4;
        sl_batch_reset(rig.batch);
        for (int i = 0; i < 40; i++) {
            const uint32_t len = test_below(&random, sizeof text + 1);

            rig_fill_random(&random, text, len);
            sl_batch_add(rig.batch, text, len, (uint16_t)test_below(&random, len + 1));
        }
        rig_check(&config);
    }
}

/* However items are spread over batches, and in whatever order, each gives the same hits. */
static void test_split_and_permuted(void **state)
{
    enum { N = 300, LEN = 20000 };
    static uint8_t text[LEN];
    static struct sl_hit gathered[1 << 16];
    uint32_t order[N], begin[N], len[N];
    uint64_t random = 12;

    (void)state;
    rig_fill_random(&random, text, LEN);
    for (uint32_t i = 0; i < N; i++) {
        order[i] = i;
        len[i] = test_below(&random, 400);
        begin[i] = test_below(&random, LEN - 400);
    }
    for (uint32_t i = N - 1; i > 0; i--) {
        const uint32_t other = test_below(&random, i + 1);
        const uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t per_batch = 1; per_batch <= N; per_batch = per_batch * 3 + 1) {
        struct sl_sampling_config config = rig_drawn_config(&random);
        size_t n = 0;

        if (config.period < 4)
            config.period = 4;
        for (uint32_t at = 0; at < N; at += per_batch) {
            sl_batch_reset(rig.batch);
            for (uint32_t i = at; i < N && i < at + per_batch; i++)
                rig_add(text + begin[order[i]], len[order[i]]);
            assert_int_equal(rig_scan(&config, rig.batch, &rig.found), SL_OK);
            for (size_t i = 0; i < rig.found.n; i++, n++) {
                assert_true(n < sizeof gathered / sizeof *gathered);
                gathered[n] = rig.found.hit[i];
                gathered[n].item = order[at + gathered[n].item];
            }
        }
        memcpy(rig.found.hit, gathered, n * sizeof *gathered);
        rig.found.n = n;

        sl_batch_reset(rig.batch);
        for (uint32_t i = 0; i < N; i++)
            rig_add(text + begin[i], len[i]);
        rig_expect(&config, rig.batch);
        rig_same_hits(&config);
    }
}

/* A context is used again and again, and remains of one batch are not seen in the next. */
static void test_contexts_are_reusable(void **state)
{
    static uint8_t text[4000];
    const struct sl_sampling_config config = rig_default_config();
    struct sl_sampling_table *table = rig_build(&config);
    const struct sl_backend *backend = rig_find(table);
    void *contexts[] = {rig_open(backend, table), rig_open(backend, table)};
    uint64_t random = 13;

    (void)state;
    for (int i = 0; i < 20; i++) {
        sl_batch_reset(rig.batch);
        for (uint32_t k = test_below(&random, 5); k > 0; k--) {
            const uint32_t len = test_below(&random, sizeof text + 1);

            rig_fill_random(&random, text, len);
            rig_add(text, len);
        }
        assert_int_equal(engine_scan(backend, contexts[i % 2], rig.stage, rig.batch, &rig.found),
                         SL_OK);
        rig_expect(&config, rig.batch);
        rig_same_hits(&config);
    }
    backend->close(contexts[0]);
    assert_int_equal(engine_scan(backend, contexts[1], rig.stage, rig.batch, &rig.found), SL_OK);
    rig_same_hits(&config);
    backend->close(contexts[1]);
    backend->close(NULL);
    sl_sampling_free(table);
}

static void test_batches_outside_the_contract(void **state)
{
    const struct sl_sampling_config config = rig_default_config();
    struct sl_sampling_table *table = rig_build(&config);
    const struct sl_backend *backend = rig_find(table);
    void *context = rig_open(backend, table);

    (void)state;
    engine_refuses(backend, context, &rig_limits);
    backend->close(context);
    sl_sampling_free(table);
}

/* ---- building -------------------------------------------------------------------------------- */

static void assert_refused(const struct sl_sampling_config *config, const char *text)
{
    struct sl_sampling_table *table = NULL;
    struct sl_diag diag = {.line = 99};

    assert_int_equal(sl_sampling_build(&table, config, &diag), SL_EINVAL);
    assert_null(table);
    if (strstr(diag.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void test_bad_configurations_are_refused(void **state)
{
    struct sl_sampling_config config = rig_default_config();

    (void)state;
    config.window = SL_SAMPLING_WINDOW_MIN - 1;
    assert_refused(&config, "11 bytes");
    config.window = SL_SAMPLING_WINDOW_MAX + 1;
    assert_refused(&config, "65 bytes");
    config = rig_default_config();
    config.period = 0;
    assert_refused(&config, "0 bytes");
    config.period = SL_SAMPLING_PERIOD_MAX + 1;
    assert_refused(&config, "4097 bytes");
    config = rig_default_config();
    config.sampler = "bogus";
    assert_refused(&config, "'bogus'");
    for (const char *const *name = sl_samplers(); *name != NULL; name++)
        assert_refused(&config, *name);
    sl_sampling_free(NULL);
}

static void test_bad_polynomials_are_refused(void **state)
{
    struct sl_sampling_config config = rig_default_config();

    (void)state;
    if (strcmp(rig.subject->name, "rabin") != 0)
        test_skip("this sampler has no polynomial");
    config.period = 48;
    assert_refused(&config, "power of two");
    config = rig_default_config();
    config.polynomial = 0;
    assert_refused(&config, "degree 53");
    config.polynomial = UINT64_C(0x10000000000081) >> 1;
    assert_refused(&config, "degree 53");
    config.polynomial = rig_default_config().polynomial ^ 1; /* x divides it */
    assert_refused(&config, "reducible");
    config.polynomial = rig_default_config().polynomial ^ 2; /* x + 1 does */
    assert_refused(&config, "reducible");
}

int sampling_contract_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow_counts_exactly),
        cmocka_unit_test(test_pieces_give_the_same_hits),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_split_and_permuted),
        cmocka_unit_test(test_contexts_are_reusable),
        cmocka_unit_test(test_batches_outside_the_contract),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_bad_polynomials_are_refused),
    };

    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
