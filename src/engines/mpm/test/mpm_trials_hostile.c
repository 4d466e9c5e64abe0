/* SPDX-License-Identifier: MIT */
/* Sets and texts that are made to be slow. */
#include "mpm_trial.h"

#include <time.h>

#include "mpm_ref.h"

enum { HOSTILE_TEXT = 1 << 15, HOSTILE_LITERALS = 4000, HOSTILE_BYTES = 9 << 20 };

struct hostile {
    uint8_t text[HOSTILE_TEXT];
    struct sl_literal literals[HOSTILE_LITERALS];
    size_t n;
    uint8_t bytes[HOSTILE_BYTES];
    uint8_t *end; /* of the literals' bytes */
};

/* The bytes of another literal. */
static uint8_t *hostile_literal(struct hostile *hostile, uint32_t len)
{
    uint8_t *bytes = hostile->end;

    hostile->literals[hostile->n++] = (struct sl_literal){.bytes = bytes, .len = len};
    hostile->end += len;
    return bytes;
}

/* One long literal of period 2, and the text follows it but for a byte in 4,095. */
static void make_period(struct hostile *hostile)
{
    uint8_t *bytes = hostile_literal(hostile, subject.longest_literal);

    for (uint32_t i = 0; i < subject.longest_literal; i++)
        bytes[i] = (uint8_t) "ab"[i % 2];
    for (uint32_t i = 0; i < HOSTILE_TEXT; i++)
        hostile->text[i] = i % 4095 == 4094 ? 'x' : (uint8_t) "ab"[i % 2];
}

/* Literals that share all that is rare, and a text full of it. */
static void make_shared(struct hostile *hostile)
{
    for (uint32_t i = 0; i < HOSTILE_LITERALS; i++) {
        char digits[16];

        snprintf(digits, sizeof digits, "%08u", i);
        uint8_t *bytes = hostile_literal(hostile, 16);
        memcpy(bytes, "\1\2\3\4\5\6\7\10", 8);
        memcpy(bytes + 8, digits, 8);
    }
    for (uint32_t i = 0; i < HOSTILE_TEXT; i++)
        hostile->text[i] = (uint8_t)(1 + i % 8);
}

/* Runs of every length, and a text of runs of a byte that differs in the lower-case bit of letters.
 */
static void make_runs(struct hostile *hostile)
{
    for (uint32_t len = 3; len < 2000; len++)
        memset(hostile_literal(hostile, len), '@', len);
    memset(hostile->text, '`', HOSTILE_TEXT);
    for (uint32_t i = 0; i < HOSTILE_TEXT; i += 3001)
        hostile->text[i] = 'x';
}

/* Literals of three bytes that begin with the same one, and a text of this byte. */
static void make_tiny(struct hostile *hostile)
{
    for (uint32_t i = 0; i < HOSTILE_LITERALS; i++) {
        uint8_t *bytes = hostile_literal(hostile, 3);

        bytes[0] = 'a';
        bytes[1] = (uint8_t)i;
        bytes[2] = (uint8_t)(i >> 8);
    }
    memset(hostile->text, 'a', HOSTILE_TEXT);
}

/* A few literals at every place of the text, which are there but for a byte that is in all texts.
 */
static void make_few(struct hostile *hostile)
{
    for (uint32_t i = 0; i < 8 * 8; i++) {
        uint8_t *bytes = hostile_literal(hostile, 16);

        for (uint32_t k = 0; k < 15; k++)
            bytes[k] = (uint8_t)(1 + (i + k) % 8);
        bytes[15] = (uint8_t) "\0e t\377ain"[i / 8];
    }
    for (uint32_t i = 0; i < HOSTILE_TEXT; i++)
        hostile->text[i] = (uint8_t)(1 + i % 8);
}

/* Ordinary ones among those that share all, in a text that is full of both. */
static void make_mixed(struct hostile *hostile)
{
    uint64_t random = 7;

    make_shared(hostile);
    hostile->n /= 2;
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t len = 4 + test_below(&random, 40);
        uint8_t *bytes = hostile_literal(hostile, len);

        for (uint32_t k = 0; k < len; k++)
            bytes[k] = (uint8_t)test_below(&random, 256);
    }
    for (uint32_t at = 0; at + 100 < HOSTILE_TEXT; at += test_below(&random, 200)) {
        const struct sl_literal *literal =
            &hostile->literals[hostile->n - 1 - test_below(&random, 300)];

        memcpy(hostile->text + at, literal->bytes, literal->len);
        at += literal->len;
    }
}

static struct hostile *hostile_period_and_needle(void)
{
    struct hostile *hostile = (struct hostile *)calloc(1, sizeof *hostile);

    assert_non_null(hostile);
    hostile->end = hostile->bytes;
    make_period(hostile);
    memcpy(hostile_literal(hostile, 6), "needle", 6);
    return hostile;
}

/* Batches in turn: harmless, hostile, both. */
static void fill_in_turn(const struct hostile *hostile, int turn)
{
    sl_batch_reset(subject.batch);
    if (turn % 3 != 0)
        trial_add_item(hostile->text, trial_fewer(1 << 14, test_fewer(1 << 14, 6000)));
    if (turn % 3 != 1)
        trial_add_item("hay, a needle, and needles", 26);
    subject.expected.n = mpm_ref_scan(hostile->literals, hostile->n, subject.batch,
                                      subject.expected.hit, subject.expected.cap);
    assert_true(turn % 3 == 1 || subject.expected.n >= 2);
}

/* A backend gives one batch up: it scans the batches after it as those before. */
void test_batches_after_hostile_ones(void **state)
{
    struct hostile *hostile = hostile_period_and_needle();
    struct sl_mpm_table *table = trial_build(hostile->literals, hostile->n);
    const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
    void *context = trial_open_context(backend, table);

    (void)state;
    for (int turn = 0; turn < 6; turn++) {
        fill_in_turn(hostile, turn);
        assert_int_equal(trial_scan_batch(backend, context, subject.batch, &subject.found), SL_OK);
        trial_assert_same_hits();
    }
    backend->close(context);
    sl_mpm_free(table);
    free(hostile);
}

/* Hits that stay on the GPU: all are there when wait has returned, of hostile batches too. Pinned
 * memory is memory of the GPU that the test can read. */
void test_hits_that_stay(void **state)
{
    struct hostile *hostile = hostile_period_and_needle();
    struct sl_mpm_table *table = trial_build(hostile->literals, hostile->n);
    const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
    const bool on_gpu = backend->device == SL_DEVICE_CUDA;
    struct sl_limits staying = subject.limits;
    uint64_t *n_stay = NULL;

    (void)state;
    staying.max_hits = 1 << 16;
    if (on_gpu)
        n_stay = (uint64_t *)device_pinned_alloc(sizeof *n_stay +
                                                 staying.max_hits * sizeof(struct sl_hit));
    staying.device_hits = n_stay;
    if (on_gpu && strcmp(subject.algorithm, "tag") == 0) { /* the CPU verifies */
        void *refused;

        assert_int_equal(backend->open(&refused, table, &staying, NULL), SL_EUNSUPPORTED);
        staying.device_hits = NULL;
    }
    void *context = trial_open_within(backend, table, &staying);

    for (int turn = 0; turn < 6 && staying.device_hits != NULL; turn++) {
        struct sl_hits count = {NULL, 0, 0, false};

        fill_in_turn(hostile, turn);
        assert_int_equal(trial_scan_batch(backend, context, subject.batch, &count), SL_OK);
        assert_int_equal(*n_stay, count.n);
        assert_true(count.n <= staying.max_hits);
        memcpy(subject.found.hit, n_stay + 1, count.n * sizeof *subject.found.hit);
        subject.found.n = count.n;
        trial_assert_same_hits();
    }
    backend->close(context);
    device_pinned_free(n_stay);
    sl_mpm_free(table);
    free(hostile);
    if (!on_gpu)
        test_skip("hits of a CPU cannot stay on a GPU");
    assert_non_null(n_stay);
}

/* Time of this program's work: on a CPU the cores', so that no other program counts. */
static double busy_seconds(void)
{
    struct timespec now;

    if (subject.stage != NULL)
        return trial_seconds();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double fastest_scan(const char *name, const char *on, const struct hostile *hostile,
                           struct sl_hits *hits)
{
    struct sl_mpm_table *table = trial_build_with(name, hostile->literals, hostile->n);
    double best = 0;

    for (int i = 0; i < 5; i++) {
        const double begin = busy_seconds();

        assert_int_equal(trial_scan_table(table, on, subject.batch, hits), SL_OK);
        const double took = busy_seconds() - begin;
        best = i == 0 || took < best ? took : best;
    }
    sl_mpm_free(table);
    return best;
}

/* gram switches to the automaton where verification is dear. The limit is in scans by the automaton
 * alone. Scans take 0.5 to 12 of them on CPUs and a GPU. Without the switch a CPU takes 14 to 3,900
 * on all sets but the runs, which need none. A scan takes less than a millisecond, which other
 * programs can double for seconds, so one try of several counts, with rests between them.
 * Sanitizers change what steps cost. */
static void check_switch(const struct hostile *hostile)
{
    enum { TRIES = 30 };
    const struct timespec rest = {0, 200000000};
    const double limit = 14;
    const char *const on = subject.built_for == SL_DEVICE_CUDA ? subject.backend_name : "scalar";
    bool switches = false;

    for (int i = 0; i < TRIES && !switches; i++) {
        const double automaton = fastest_scan("ac", on, hostile, &subject.expected);

        switches = fastest_scan(subject.algorithm, subject.backend_name, hostile, &subject.found) <
                   limit * automaton;
        if (!switches)
            nanosleep(&rest, NULL);
    }
    assert_true(switches);
}

/* All give the oracle's hits. */
void test_hostile_sets(void **state)
{
    static void (*const make[])(struct hostile *) = {make_period, make_shared, make_runs,
                                                     make_tiny,   make_few,    make_mixed};
    struct hostile *hostile = (struct hostile *)calloc(1, sizeof *hostile);
    const uint32_t text_len = TEST_SANITIZED ? 1 << 13 : trial_fewer(HOSTILE_TEXT, 1 << 14);

    (void)state;
    assert_non_null(hostile);
    for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
        hostile->n = 0;
        hostile->end = hostile->bytes;
        make[i](hostile);
        hostile->n = trial_fewer((uint32_t)hostile->n, (uint32_t)(hostile->n + 39) / 40);
        sl_batch_reset(subject.batch);
        trial_add_item(hostile->text, text_len);
        for (uint32_t at = 0; at + 1400 < text_len; at += 1400)
            trial_add_item(hostile->text + at, 1400);
        trial_check(hostile->literals, hostile->n);
        if (!TEST_SANITIZED && strcmp(subject.algorithm, "gram") == 0)
            check_switch(hostile);
    }
    free(hostile);
}
