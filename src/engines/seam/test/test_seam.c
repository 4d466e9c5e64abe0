/* SPDX-License-Identifier: MIT */
/* One backend, named on the command line, finds all literals that segments cut, and nothing else:
 * what a search in the bytes of each stream finds. */
#include "test.h"

#include <ctype.h>
#include <stdlib.h>

#include "device/test/engine_fixture.h"
#include "engines/seam/seam_table.h"

enum {
    LITERALS = 40,
    LITERAL_MAX = SEAM_BEFORE_MAX + 1,
    STREAMS = 8,
    ITEMS = 400,
    ARENA = 1 << 16,
    MAX_HITS = 1 << 16,
    ROUNDS = 60,
    BASE = 64
};

static const struct sl_backend *backend;

struct trial {
    uint64_t seed;
    struct seam_wanted wanted[LITERALS];
    uint8_t bytes[LITERALS][LITERAL_MAX];
    uint32_t longest;
    uint32_t last[STREAMS]; /* item of each stream, and 1; 0: none */
    const uint8_t *rest[STREAMS];
    uint32_t n_rest[STREAMS]; /* bytes of a literal that the stream goes on with */
    struct sl_batch *batch;
    struct sl_hit expected[MAX_HITS];
    struct sl_hit found[MAX_HITS];
};

/* Of few values, among them capitals, zeros and bytes that fold to others. */
static uint8_t some_byte(struct trial *trial)
{
    static const uint8_t values[] = {'a', 'b',         'A',         'B', '!',
                                     0,   0x41 + 0x80, 0x61 + 0x80, '@', '`'};

    return test_below(&trial->seed, 4) == 0 ? (uint8_t)test_below(&trial->seed, 256)
                                            : values[test_below(&trial->seed, sizeof values)];
}

static void make_literals(struct trial *trial)
{
    trial->longest = test_below(&trial->seed, 3) == 0 ? LITERAL_MAX : 12;
    for (uint32_t i = 0; i < LITERALS; i++) {
        const uint32_t len = 1 + test_below(&trial->seed, trial->longest);
        const uint32_t to = test_below(&trial->seed, 3);

        for (uint32_t b = 0; b < len; b++)
            trial->bytes[i][b] = some_byte(trial);
        if (i % 4 == 3) /* it begins as another */
            memcpy(trial->bytes[i], trial->bytes[i - 1], len / 2);
        trial->wanted[i] = (struct seam_wanted){.bytes = trial->bytes[i],
                                                .len = len,
                                                .nocase = test_below(&trial->seed, 2) != 0,
                                                .to = {to != 0, to != 1},
                                                .id = (UINT64_C(5) << 32) - i};
    }
}

/* A segment of a stream, most of whose bytes go on with a literal. */
static void add_segment(struct trial *trial)
{
    const uint32_t s = test_below(&trial->seed, STREAMS);
    const bool is_short = test_below(&trial->seed, 2) == 0;
    const uint32_t len = test_below(&trial->seed, is_short ? 8 : 150);
    uint8_t bytes[150];

    for (uint32_t i = 0; i < len; i++) {
        if (trial->n_rest[s] == 0 && test_below(&trial->seed, 3) == 0) {
            const struct seam_wanted *literal = &trial->wanted[test_below(&trial->seed, LITERALS)];

            trial->rest[s] = literal->bytes;
            trial->n_rest[s] = literal->len;
        }
        bytes[i] = trial->n_rest[s] != 0 ? *trial->rest[s]++ : some_byte(trial);
        trial->n_rest[s] -= trial->n_rest[s] != 0;
    }
    if (!sl_batch_fits(trial->batch, len))
        return;
    const uint32_t item = sl_batch_add(trial->batch, bytes, len, 0);

    if (test_below(&trial->seed, 20) == 0)
        trial->last[s] = 0; /* bytes before it are not at hand */
    trial->batch->before[item] =
        trial->last[s] != 0 ? trial->last[s] | (s % 2 != 0 ? SL_BEFORE_TO_SERVER : 0) : 0;
    trial->last[s] = item + 1;
}

/* The bytes before an item, at most one less than the longest literal has. Returns how many. */
static uint32_t bytes_before(const struct sl_batch *batch, uint32_t item, uint8_t *bytes)
{
    uint8_t back[LITERAL_MAX];
    uint32_t n = 0;

    while (batch->before[item] != 0 && n < SEAM_BEFORE_MAX) {
        item = (batch->before[item] & SL_BEFORE_NUMBER) - 1;
        for (uint32_t i = batch->payload[item].len; i != 0 && n < SEAM_BEFORE_MAX; i--)
            back[n++] = batch->bytes[batch->payload[item].offset + i - 1];
    }
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = back[n - 1 - i];
    return n;
}

static bool is_at(const struct seam_wanted *literal, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < literal->len; i++)
        if (literal->bytes[i] != bytes[i] &&
            (!literal->nocase || literal->bytes[i] >= 0x80 || bytes[i] >= 0x80 ||
             tolower(literal->bytes[i]) != tolower(bytes[i])))
            return false;
    return true;
}

/* Lists the hits of an item. */
static void expect_item(struct trial *trial, uint32_t item, size_t *n)
{
    const struct sl_batch *const batch = trial->batch;
    const bool to_server = (batch->before[item] & SL_BEFORE_TO_SERVER) != 0;
    uint8_t bytes[LITERAL_MAX + 150];
    const uint32_t n_before = bytes_before(batch, item, bytes), len = batch->payload[item].len;

    memcpy(bytes + n_before, batch->bytes + batch->payload[item].offset, len);
    for (uint32_t l = 0; l < LITERALS; l++) {
        const struct seam_wanted *const literal = &trial->wanted[l];

        for (uint32_t at = 0; literal->to[to_server] && at < n_before; at++) {
            const uint32_t end = at + literal->len;

            if (end <= n_before || end > n_before + len || !is_at(literal, bytes + at))
                continue;
            assert_true(*n < MAX_HITS);
            trial->expected[(*n)++] = (struct sl_hit){item, BASE + end - n_before, literal->id};
        }
    }
}

static void fill_batch(struct trial *trial)
{
    sl_batch_reset(trial->batch);
    trial->batch->has_before = true;
    memset(trial->last, 0, sizeof trial->last);
    memset(trial->n_rest, 0, sizeof trial->n_rest);
    for (uint32_t i = 0; i < ITEMS; i++)
        add_segment(trial);
}

static void scan(const struct seam_table *table, const struct sl_batch *batch, struct sl_hits *hits,
                 enum sl_status expected)
{
    const struct sl_limits limits = {
        .max_items = ITEMS, .max_bytes = ARENA, .max_hits = MAX_HITS, .ordered = false};
    struct sl_stage *stage = NULL;
    void *context = NULL;

    assert_int_equal(sl_engine_open(&context, seam_engine(), backend, table, &limits, NULL), SL_OK);
    if (backend->device == SL_DEVICE_CUDA)
        assert_int_equal(sl_stage_open(&stage, &limits, NULL), SL_OK);
    assert_int_equal(engine_scan(backend, context, stage, batch, hits), expected);
    sl_stage_close(stage);
    backend->close(context);
}

static size_t check_batch(struct trial *trial, const struct seam_table *table)
{
    struct sl_hits hits = {.hit = trial->found, .cap = MAX_HITS};
    size_t n = 0;

    for (uint32_t item = 0; item < trial->batch->n_items; item++)
        expect_item(trial, item, &n);
    struct sl_hits expected = {.hit = trial->expected, .cap = MAX_HITS, .n = n};

    sl_hits_sort(&expected);
    scan(table, trial->batch, &hits, SL_OK);
    sl_hits_sort(&hits);
    assert_int_equal(hits.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hits.hit[i].item, expected.hit[i].item);
        assert_int_equal(hits.hit[i].offset, expected.hit[i].offset);
        assert_int_equal(hits.hit[i].id, expected.hit[i].id);
    }
    return n;
}

static struct trial *open_trial(uint64_t seed)
{
    struct trial *const trial = calloc(1, sizeof *trial);

    assert_non_null(trial);
    assert_int_equal(sl_batch_create(&trial->batch, ARENA, ITEMS, NULL), SL_OK);
    trial->seed = seed;
    make_literals(trial);
    fill_batch(trial);
    return trial;
}

static void close_trial(struct trial *trial)
{
    sl_batch_free(trial->batch);
    free(trial);
}

static void test_cut_literals_are_found(void **state)
{
    size_t n = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct trial *const trial = open_trial(seed);
        struct seam_table *const table = seam_table_create(trial->wanted, LITERALS, BASE);

        assert_non_null(table);
        n += check_batch(trial, table);
        seam_table_free(table);
        close_trial(trial);
    }
    assert_true(n > ROUNDS * ITEMS / 10);
}

/* The count is exact beyond the caller's room. */
static void test_too_many_hits(void **state)
{
    struct trial *const trial = open_trial(3);
    struct seam_table *const table = seam_table_create(trial->wanted, LITERALS, BASE);
    struct sl_hits hits = {.hit = trial->found, .cap = 3};

    (void)state;
    assert_non_null(table);
    const size_t n = check_batch(trial, table);

    assert_true(n > 3);
    scan(table, trial->batch, &hits, SL_EOVERFLOW);
    assert_int_equal(hits.n, n);
    seam_table_free(table);
    close_trial(trial);
}

static void test_no_column_and_no_literals(void **state)
{
    struct trial *const trial = open_trial(5);
    struct seam_table *const table = seam_table_create(trial->wanted, LITERALS, BASE);
    struct seam_table *const none = seam_table_create(NULL, 0, BASE);
    struct sl_hits hits = {.hit = trial->found, .cap = MAX_HITS};

    (void)state;
    assert_true(table != NULL && none != NULL);
    scan(none, trial->batch, &hits, SL_OK);
    assert_int_equal(hits.n, 0);
    trial->batch->has_before = false;
    scan(table, trial->batch, &hits, SL_OK);
    assert_int_equal(hits.n, 0);
    seam_table_free(table);
    seam_table_free(none);
    close_trial(trial);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_literals_are_found),
        cmocka_unit_test(test_too_many_hits),
        cmocka_unit_test(test_no_column_and_no_literals),
    };
    char why[SL_WHY_LEN] = "";

    backend = argc == 2 ? engine_backend(seam_engine(), argv[1]) : NULL;
    if (backend == NULL) {
        fprintf(stderr, "usage: %s scalar|avx512|cuda\n", argv[0]);
        return 2;
    }
    if (!backend->usable(why)) {
        printf("skipped: %s is not usable: %s\n", backend->name, why);
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
