/* SPDX-License-Identifier: MIT */
/* Training of markers: which bytes it finds, and that they save what others do not. */
#include "test.h"

#include "sluice/sampling.h"

enum { ITEM = 1000, N_ITEMS = 200, WINDOW = 32, PERIOD = 32, ROOM = 1 << 20 };

static struct sl_batch *batch;

static struct sl_sampling_trainer *create(bool chunks)
{
    struct sl_sampling_trainer *trainer;

    assert_int_equal(sl_sampling_trainer_create(&trainer, WINDOW, PERIOD, chunks, ROOM, NULL),
                     SL_OK);
    return trainer;
}

static void add_random(uint64_t *random, uint8_t *item, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        item[i] = (uint8_t)(128 + test_below(random, 128));
}

/* Items of fresh high bytes. Each has, at a place of its own, one of a few paragraphs that repeat.
 * A paragraph has one of the given letters at every 20th byte, and its own bytes between. */
static void fill(uint64_t *random, const char *letters)
{
    uint8_t paragraphs[4][400];
    uint8_t item[ITEM];

    for (int p = 0; p < 4; p++)
        for (uint32_t i = 0; i < sizeof paragraphs[p]; i++)
            paragraphs[p][i] = i % 20 == 0
                                   ? (uint8_t)letters[test_below(random, (uint32_t)strlen(letters))]
                                   : (uint8_t)test_below(random, 256);
    sl_batch_reset(batch);
    for (int i = 0; i < N_ITEMS; i++) {
        add_random(random, item, ITEM);
        memcpy(item + test_below(random, ITEM - sizeof paragraphs[0]), paragraphs[i % 4],
               sizeof paragraphs[0]);
        sl_batch_add(batch, item, ITEM, 0);
    }
}

static void test_finds_the_letters(void **state)
{
    bool marker[256] = {[7] = true};
    struct sl_sampling_trainer *trainer = create(false);
    struct sl_sampling_training training;
    uint64_t random = 1;

    (void)state;
    fill(&random, "Qz");
    assert_true(sl_sampling_trainer_add(trainer, batch));
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_true(marker['Q'] || marker['z']); /* either may be enough */
    assert_in_range(training.n_markers, 1, 2);
    assert_int_equal(training.bytes_len, N_ITEMS * ITEM);
    /* All paragraphs but the first of each four, and bytes beside them that agree by chance. */
    assert_in_range(training.redundant, (N_ITEMS - 4) * 390, (N_ITEMS - 4) * 402);
    assert_in_range(training.saved, (N_ITEMS - 4) * 380, (N_ITEMS - 4) * 400);

    uint32_t n = 0;
    for (int byte = 0; byte < 256; byte++)
        n += marker[byte];
    assert_int_equal(n, training.n_markers);
    for (uint32_t i = 0; i < n; i++)
        assert_true(marker[training.ranked[i]]);
    sl_sampling_trainer_free(trainer);
}

/* Where chunks are referred to every one of them needs a sample: either letter is not enough. */
static void test_chunks_take_more_markers(void **state)
{
    bool marker[256] = {false};
    struct sl_sampling_trainer *trainer = create(true);
    struct sl_sampling_training training;
    uint64_t random = 1;

    (void)state;
    fill(&random, "Qz");
    assert_true(sl_sampling_trainer_add(trainer, batch));
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_true(marker['Q'] && marker['z']);
    assert_in_range(training.n_markers, 2, training.n_ranked);
    assert_in_range(training.saved, 1, (N_ITEMS - 4) * (400 / WINDOW) * (WINDOW - 5));
    sl_sampling_trainer_free(trainer);
}

static void test_nothing_repeats(void **state)
{
    bool marker[256] = {[7] = true};
    struct sl_sampling_trainer *trainer = create(false);
    struct sl_sampling_training training;
    uint8_t item[ITEM];
    uint64_t random = 2;

    (void)state;
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_int_equal(training.bytes_len, 0);
    sl_batch_reset(batch);
    for (int i = 0; i < N_ITEMS; i++) {
        add_random(&random, item, ITEM);
        sl_batch_add(batch, item, ITEM, 0);
    }
    assert_true(sl_sampling_trainer_add(trainer, batch));
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_int_equal(training.bytes_len, N_ITEMS * ITEM);
    assert_int_equal(training.redundant, 0);
    assert_int_equal(training.n_markers, 0);
    assert_true(marker[7]);
    sl_sampling_trainer_free(trainer);
}

/* Overlaps are no redundancy, and data that does not fit is not kept. */
static void test_overlap_and_room(void **state)
{
    bool marker[256] = {false};
    struct sl_sampling_trainer *trainer = create(false);
    struct sl_sampling_training training;
    static uint8_t source[100000];
    uint64_t random = 3, done = 0;

    (void)state;
    add_random(&random, source, sizeof source);
    sl_batch_reset(batch);
    sl_batch_add_pieces(batch, source, sizeof source, 1000, 500, &done);
    assert_true(sl_sampling_trainer_add(trainer, batch));
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_int_equal(training.bytes_len, sizeof source);
    assert_int_equal(training.redundant, 0);
    for (int i = 0; i < 9; i++)
        assert_true(sl_sampling_trainer_add(trainer, batch));
    assert_false(sl_sampling_trainer_add(trainer, batch));
    assert_int_equal(sl_sampling_trainer_end(trainer, marker, &training, NULL), SL_OK);
    assert_in_range(training.bytes_len, 10 * sizeof source, ROOM);
    assert_in_range(training.redundant, 9 * sizeof source / 2, ROOM);
    assert_true(training.n_markers > 0);
    sl_sampling_trainer_free(trainer);
}

static void test_refusals(void **state)
{
    struct sl_sampling_trainer *trainer = NULL;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_sampling_trainer_create(&trainer, 11, 32, false, ROOM, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "11 bytes"));
    assert_int_equal(sl_sampling_trainer_create(&trainer, 32, 0, false, ROOM, &diag), SL_EINVAL);
    assert_int_equal(sl_sampling_trainer_create(&trainer, 32, 32, false, 0, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "0 bytes"));
    assert_null(trainer);
    sl_sampling_trainer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_letters), cmocka_unit_test(test_chunks_take_more_markers),
        cmocka_unit_test(test_nothing_repeats),   cmocka_unit_test(test_overlap_and_room),
        cmocka_unit_test(test_refusals),
    };

    if (sl_batch_create(&batch, ROOM, 1 << 12, NULL) != SL_OK)
        return 1;

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sl_batch_free(batch);
    return failed;
}
