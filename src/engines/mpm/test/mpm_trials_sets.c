/* SPDX-License-Identifier: MIT */
/* All small sets on all small texts, and random ones. */
#include "mpm_trial.h"

/* ---- exhaustive ---------------------------------------------------------------------------------
 */

enum {
    UNIVERSE = 2 + 4 + 8, /* words of 1 to 3 letters of an alphabet of two */
    TEXT_LEN = 6
};

/* All texts of 0 to TEXT_LEN letters. */
static void add_all_texts(const char letter[2])
{
    sl_batch_reset(subject.batch);
    for (uint32_t len = 0; len <= TEXT_LEN; len++) {
        for (uint32_t code = 0; code < 1u << len; code++) {
            char text[TEXT_LEN];

            for (uint32_t i = 0; i < len; i++)
                text[i] = letter[code >> i & 1];
            trial_add_item(text, len);
        }
    }
}

/* Sets of words, in an order that mixes small and large ones: a part of all, and all in a soak. On
 * a GPU, where each takes a while, as many as the time allows. `nocase` gives some literals that
 * flag. */
static void check_sets(const char letter[2], bool nocase)
{
    const double end = trial_seconds() + (subject.stage != NULL ? 5 : 1e9);
    const uint32_t n_all = getenv("SLUICE_TEST_TRIES") != NULL ? 1u << UNIVERSE
                           : TEST_SANITIZED                    ? trial_fewer(64, 16)
                                                               : 1u << (UNIVERSE - 5);
    uint8_t word[UNIVERSE][3];
    uint32_t n_sets = 0;

    add_all_texts(letter);
    for (uint32_t w = 0; w < UNIVERSE; w++)
        for (uint32_t i = 0; i < 3; i++)
            word[w][i] = (uint8_t)letter[(w + 2) >> i & 1];
    for (uint32_t k = 0; k < n_all && trial_seconds() < end; k++, n_sets++) {
        const uint32_t set = k * 10125 % (1u << UNIVERSE); /* odd: each number once */
        struct sl_literal literals[UNIVERSE];
        size_t n = 0;

        for (uint32_t w = 0; w < UNIVERSE; w++) {
            const uint32_t len = w < 2 ? 1 : w < 6 ? 2 : 3;

            if (set >> w & 1)
                literals[n++] = (struct sl_literal){
                    .bytes = word[w], .len = len, .flags = nocase ? (k + w) % 3 == 0 : 0};
        }
        trial_check(literals, n);
    }
    if (n_sets < n_all)
        print_message("%u of %u sets in the time there is\n", n_sets, n_all);
    assert_true(n_sets >= (subject.stage != NULL ? 16 : n_all));
}

void test_small_sets_on_all_texts(void **state)
{
    (void)state;
    check_sets("ab", false);
    check_sets("aA", true);
}

/* ---- random -------------------------------------------------------------------------------------
 */

void test_random_sets(void **state)
{
    static const char *const alphabets[] = {"ab", "aAbB", "abcdefghABCDEFGH@[`{", NULL};
    static const uint32_t max_lens[] = {1, 4, 12, 100, 4096};
    static uint8_t text[20000];
    static uint8_t bytes[200 * 4096];
    struct sl_literal literals[200];
    const uint32_t text_len = trial_fewer(sizeof text, 5000);
    uint64_t random = 1;

    (void)state;
    for (uint32_t round = 0; round < (TEST_SANITIZED ? 20 : 80); round++) {
        const uint32_t max_len = max_lens[round / 4 % 5] < subject.longest_literal
                                     ? max_lens[round / 4 % 5]
                                     : subject.longest_literal;
        const uint32_t n = 1 + test_below(&random, max_len > 100 ? 20 : 200);
        uint32_t at = 0;

        trial_fill_random(&random, text, text_len, alphabets[round % 4]);
        trial_cut_literals(&random, literals, bytes, n, text, text_len, max_len);
        sl_batch_reset(subject.batch);
        while (at < text_len) {
            uint32_t len =
                test_below(&random, 2) ? test_below(&random, 100) : test_below(&random, 6000);

            if (len > text_len - at)
                len = text_len - at;
            trial_add_item(text + at, len);
            at += len;
        }
        trial_check(literals, n);
    }
}

/* Sets without short literals, so that algorithms can skip text: many that differ only in their
 * middle, in their end, or in case. */
void test_least_lengths(void **state)
{
    enum { N = 400, SPREAD = 12, TEXT = 30000 };
    static const uint32_t least[] = {2, 3, 4, 5, 8, 20, 250, 300, 1000};
    static uint8_t text[TEXT];
    static uint8_t bytes[N * (1000 + SPREAD)];
    struct sl_literal literals[N];
    const uint32_t n = trial_fewer(N, 60);
    const uint32_t text_len = trial_fewer(TEXT, 9000);
    uint64_t random = 8;

    (void)state;
    for (uint32_t round = 0; round < 2 * sizeof least / sizeof *least; round++) {
        uint8_t *to = bytes;
        uint32_t first = 0;

        trial_fill_random(&random, text, text_len,
                          round % 2 == 0 ? "abAB" : "abcdefghijklmnopqrstuvwxyzA.");
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t len = least[round / 2] + test_below(&random, SPREAD);

            if (i % 20 == 0) /* the others begin as this one */
                first = test_below(&random, text_len - len - SPREAD);
            memcpy(to, text + first, len);
            if (i % 20 != 0 && i % 3 != 0)
                to[test_below(&random, len)] = (uint8_t)("abyZ"[test_below(&random, 4)]);
            if (i % (1 + len / 50) == 0) /* of long ones a few, that they survive one another */
                memcpy(text + test_below(&random, text_len - len), to, len);
            literals[i] = (struct sl_literal){.bytes = to, .len = len, .flags = i % 4 == 0};
            to += len;
        }
        sl_batch_reset(subject.batch);
        trial_add_item(text, text_len / 2);
        for (uint32_t at = text_len / 2; at + 1500 <= text_len; at += 1500)
            trial_add_item(text + at, 1500 - round);
        trial_check(literals, n);
        assert_true(subject.found.n >= 5);
    }
}

/* More states than there are rows in any table, few letters: long chains of suffixes. */
void test_many_states(void **state)
{
    enum { N = 2500, MAX_LEN = 120, TEXT = 60000 };
    static uint8_t bytes[N * MAX_LEN];
    static uint8_t text[TEXT];
    struct sl_literal *literals = (struct sl_literal *)calloc(N, sizeof *literals);
    const uint32_t n = trial_fewer(N, 250);
    struct sl_mpm_info info;
    uint64_t random = 2;

    (void)state;
    trial_fill_random(&random, text, TEXT, "abc");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = 20 + test_below(&random, MAX_LEN - 20);
        uint8_t *to = bytes + (size_t)i * MAX_LEN;

        memcpy(to, text + test_below(&random, TEXT - MAX_LEN), len);
        if (i % 2 == 0) /* leaves the text's path near its end, into another literal's */
            trial_fill_random(&random, to + len - 10, 10, "abcABC");
        literals[i] = (struct sl_literal){.bytes = to, .len = len, .flags = i % 3 == 0};
    }
    for (uint32_t at = 0; at + 300 < TEXT; at += test_below(&random, 300)) {
        /* A start of one literal in the middle of another. */
        memcpy(text + at, literals[test_below(&random, N)].bytes, 20);
    }
    sl_batch_reset(subject.batch);
    trial_add_item(text, 10000);
    for (uint32_t at = 10000; at + 700 < TEXT / 2; at += 700)
        trial_add_item(text + at, 700);
    trial_check(literals, n);

    struct sl_mpm_table *table = trial_build(literals, N);
    sl_mpm_info(table, &info);
    assert_true(info.n_states == 0 || info.n_states > 65536);
    assert_int_equal(info.n_literals, N);
    assert_string_equal(info.algorithm, subject.algorithm);
    assert_true(info.table_len > 0);
    sl_mpm_free(table);
    free(literals);
}

static void assert_not_opened(const struct sl_literal *literals, size_t n_literals)
{
    struct sl_mpm_table *table = trial_build(literals, n_literals);
    void *context;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(trial_find_backend(table, subject.backend_name)
                         ->open(&context, table, &subject.limits, &diag),
                     SL_EUNSUPPORTED);
    assert_non_null(strstr(diag.text, "built for a CPU"));
    sl_mpm_free(table);
}

/* Tables of very many literals, built for either kind of device. All backends run on both, but
 * those of gram in a GPU's tiling need tables for GPUs. */
void test_tables_for_both_devices(void **state)
{
    enum { N = 40000, LEN = 12, TEXT = 6000 };
    static uint8_t bytes[N * LEN];
    static uint8_t text[TEXT];
    const enum sl_device_kind usual = subject.built_for;
    struct sl_literal *literals = (struct sl_literal *)calloc(N, sizeof *literals);
    uint64_t random = 6;

    (void)state;
    trial_fill_random(&random, text, TEXT, "abcdefghijklmnopqrstuvwxyzABCDE0123456789");
    trial_fill_random(&random, bytes, sizeof bytes, "abcdefghijklmnopqrstuvwxyzABCDE0123456789");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = 4 + test_below(&random, LEN - 4);

        if (i % 20 == 0) /* one that occurs */
            memcpy(bytes + (size_t)i * LEN, text + test_below(&random, TEXT - LEN), len);
        literals[i] =
            (struct sl_literal){.bytes = bytes + (size_t)i * LEN, .len = len, .flags = i % 3 == 0};
    }
    sl_batch_reset(subject.batch);
    for (uint32_t at = 0; at + 500 <= TEXT; at += 500)
        trial_add_item(text + at, 1 + test_below(&random, 500));
    for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA; kind++) {
        subject.built_for = (enum sl_device_kind)kind;
        if (usual == SL_DEVICE_CUDA && kind == SL_DEVICE_CPU &&
            strcmp(subject.algorithm, "gram") == 0) {
            assert_not_opened(literals, N);
            continue;
        }
        trial_check(literals, subject.takes_parts ? N / 40 : N);
    }
    assert_true(subject.found.n > (subject.takes_parts ? 10 : 500));
    subject.built_for = usual;
    free(literals);
}
