/* SPDX-License-Identifier: MIT */
/* Lengths, runs, duplicates, and the ends of memory. */
#include "mpm_trial.h"

#include "batch/test/guarded_batch.h"

/* Items of each length, literals of each length at both ends. */
void test_every_length(void **state)
{
    enum { LONGEST = 300 };
    static uint8_t text[LONGEST];
    struct sl_literal literals[2 * 140];
    uint64_t random = 3;

    (void)state;
    trial_fill_random(&random, text, LONGEST, "abcdefgh");
    sl_batch_reset(subject.batch);
    for (uint32_t len = 0; len <= LONGEST; len++)
        trial_add_item(text, len);
    for (uint32_t len = 0; len <= LONGEST; len++)
        trial_add_item(text + LONGEST - len, len);
    for (uint32_t i = 0; i < 140; i++) {
        literals[i] = (struct sl_literal){.bytes = text, .len = i + 1, .flags = i % 2};
        literals[140 + i] =
            (struct sl_literal){.bytes = text + LONGEST - (i + 1), .len = i + 1, .flags = i % 2};
    }
    trial_check(literals, 280);
}

/* Items that are longer than any unit of work, with matches everywhere. */
void test_long_items(void **state)
{
    enum { LEN = 300000 };
    static uint8_t text[LEN];
    struct sl_literal literals[40];
    const uint32_t longest = trial_fewer(subject.longest_literal, 256), n = trial_fewer(40, 10);
    uint64_t random = 4;

    (void)state;
    trial_fill_random(&random, text, LEN, NULL);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t len = i < n / 2 ? 1 + i : longest - i;

        literals[i] = (struct sl_literal){
            .bytes = text + test_below(&random, LEN - len), .len = len, .flags = i % 2};
        for (uint32_t k = 0; k < 5; k++) /* also across the multiples of large powers of two */
            memmove(text + (1 + test_below(&random, 8)) * 32768 - test_below(&random, len + 1),
                    literals[i].bytes, len);
    }
    sl_batch_reset(subject.batch);
    trial_add_item(text, LEN);
    trial_add_item(text + 1, 65536);
    trial_add_item(text + 2, 65537);
    trial_check(literals, n);
}

void test_runs_of_one_byte(void **state)
{
    static const uint8_t values[] = {0x00, 0xFF, 'a', 'A'};
    static uint8_t run[5000];

    (void)state;
    for (size_t v = 0; v < sizeof values; v++) {
        struct sl_literal literals[6];
        const uint32_t lens[] = {1, 2, 3, 64, 100, subject.longest_literal};

        memset(run, values[v], sizeof run);
        sl_batch_reset(subject.batch);
        for (uint32_t len = 0; len < 140; len++)
            trial_add_item(run, len);
        trial_add_item(run, sizeof run);
        for (uint32_t i = 0; i < 6; i++)
            literals[i] = (struct sl_literal){.bytes = run, .len = lens[i], .flags = i % 2};
        trial_check(literals, 6);
    }
}

/* Runs at any place of a text, some too short by a byte, and of both cases. */
static void write_runs(uint64_t *random, uint8_t *text, uint32_t text_len, uint32_t shortest)
{
    uint32_t at = 0;

    trial_fill_random(random, text, text_len, "bcdefg");
    while ((at += 1 + test_below(random, 200)) + 2 * shortest < text_len) {
        const uint32_t more = test_below(random, test_below(random, 2) == 0 ? 3 : shortest);
        const uint32_t len = shortest - 1 + more;

        if (test_below(random, 2) == 0)
            memset(text + at, 0, len);
        else
            trial_fill_random(random, text + at, len, test_below(random, 2) == 0 ? "a" : "aA");
        at += len;
    }
}

void test_runs_in_texts(void **state)
{
    enum { LEN = 300000 };
    static const uint32_t shortest[] = {4, 7, 10, 11, 12, 15, 33};
    static uint8_t text[LEN];
    uint64_t random = 23;

    (void)state;
    for (size_t i = 0; i < sizeof shortest / sizeof *shortest; i++) {
        static const uint8_t zeros[64];
        uint8_t letters[64];
        const struct sl_literal literals[] = {
            {.bytes = zeros, .len = shortest[i]},
            {.bytes = letters, .len = shortest[i] + 1},
            {.bytes = letters, .len = shortest[i] + 3, .flags = SL_LITERAL_NOCASE}};

        memset(letters, 'a', sizeof letters);
        write_runs(&random, text, trial_fewer(LEN, 10000), shortest[i]);
        sl_batch_reset(subject.batch);
        trial_add_item(text, trial_fewer(LEN, 10000));
        trial_add_item(text + 3, 1000);
        trial_check(literals, 3);
        assert_true(subject.found.n > 10);
    }
}

/* Many literals agree in all but their last bytes, and in case. */
void test_literals_that_begin_alike(void **state)
{
    enum { N = 400, MIN_LEN = 20, MAX_LEN = 50, TEXT = 10000 };
    static uint8_t bytes[N * MAX_LEN];
    static uint8_t text[TEXT];
    struct sl_literal literals[N];
    uint64_t random = 7;

    (void)state;
    memset(text, 'a', TEXT);
    for (uint32_t at = 0; at < TEXT; at += 1 + test_below(&random, 60))
        trial_fill_random(&random, text + at, 1, "aAbB");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = MIN_LEN + test_below(&random, MAX_LEN - MIN_LEN + 1);
        const uint32_t n_others = test_below(&random, 5);
        uint8_t *to = bytes + (size_t)i * MAX_LEN;

        memset(to, 'a', len);
        trial_fill_random(&random, to + len - n_others, n_others, "aAbB");
        literals[i] = (struct sl_literal){.bytes = to, .len = len, .flags = i % 2};
    }
    sl_batch_reset(subject.batch);
    trial_add_item(text, TEXT);
    for (uint32_t at = 0; at + 100 < TEXT; at += 100)
        trial_add_item(text + at, test_below(&random, 101));
    trial_check(literals, N);
}

/* Each of equal literals reports. Vectorscan would compile so many expressions for hours. */
void test_a_million_duplicates(void **state)
{
    const uint32_t n = strcmp(subject.algorithm, "vectorscan") == 0 ? 1000 : 1000000;
    struct sl_literal *literals = (struct sl_literal *)calloc(n, sizeof *literals);

    (void)state;
    assert_non_null(literals);
    for (uint32_t i = 0; i < n; i++)
        literals[i] = trial_literal_of("abcdefgh", i % 2 == 0 ? SL_LITERAL_NOCASE : 0);
    sl_batch_reset(subject.batch);
    trial_add_item("abcdefgh", 8);
    trial_add_item("xABCDEFGH", 9);
    trial_check(literals, n);
    assert_int_equal(subject.found.n, n + n / 2);
    free(literals);
}

/* Texts that filters may pass at each position, and that hardly match. */
void test_near_matches_everywhere(void **state)
{
    enum { LEN = 1 << 20 };
    const struct sl_literal literals[] = {trial_literal_of("aaaaaaaab", 0),
                                          trial_literal_of("aaaaaaaaB", 0),
                                          trial_literal_of("baaaaaaaa", 1)};
    uint8_t *text = (uint8_t *)malloc(LEN);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LEN);
    text[LEN / 3] = 'b';
    text[LEN / 3 + 10] = 'B';
    text[LEN - 1] = 'b';
    sl_batch_reset(subject.batch);
    trial_add_item(text, LEN);
    trial_add_item(text, 100);
    trial_check(literals, 3);
    assert_int_equal(subject.found.n, 5);
    free(text);
}

/* The hash that gram makes of the first literal is 0, as in its empty slots. */
void test_a_key_like_an_empty_slot(void **state)
{
    enum { N = 500, LEN = 4 };
    static uint8_t bytes[N][LEN] = {{0x93, 0x35, 0x87, 0x1B}};
    struct sl_literal literals[N];
    uint64_t random = 11;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t k = 0; k < LEN && i > 0; k++)
            bytes[i][k] = (uint8_t)test_below(&random, 256);
        literals[i] = (struct sl_literal){.bytes = bytes[i], .len = LEN};
    }
    sl_batch_reset(subject.batch);
    for (uint32_t i = 1; i + 7 <= N; i++) { /* the first, and seven others behind it */
        uint8_t text[8][LEN];

        memcpy(text[0], bytes[0], LEN);
        memcpy(text[1], bytes[i], sizeof text - LEN);
        trial_add_item(text, sizeof text);
    }
    trial_check(literals, N);
}

void test_no_match_and_no_literal(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("needle", 0),
                                          trial_literal_of("pin", 1)};
    static uint8_t hay[100000];

    (void)state;
    memset(hay, 'n', sizeof hay);
    sl_batch_reset(subject.batch);
    trial_check(literals, 2);
    trial_add_item(hay, 0);
    trial_add_item(hay, sizeof hay);
    trial_check(literals, 2);
    assert_int_equal(subject.found.n, 0);
    trial_check(NULL, 0);
    assert_int_equal(subject.found.n, 0);
}

void test_known_hits(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("he", 0), trial_literal_of("she", 0),
                                          trial_literal_of("his", 0), trial_literal_of("HERS", 1),
                                          trial_literal_of("she", 0)};

    (void)state;
    sl_batch_reset(subject.batch);
    trial_add_item("ushers", 6);
    trial_check(literals, 5);
    assert_int_equal(subject.found.n, 4);
    sl_hits_sort(&subject.found);
    assert_int_equal(subject.found.hit[0].offset, 4);
    assert_int_equal(subject.found.hit[0].id, 0);
    assert_int_equal(subject.found.hit[3].offset, 6);
    assert_int_equal(subject.found.hit[3].id, 3);
}

void test_guard_pages(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("a", 0), trial_literal_of("aab", 1),
                                          trial_literal_of("baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 1)};

    (void)state;
    for (uint32_t len = 0; len <= GUARDED_PAYLOAD_MAX; len++) {
        struct guarded_batch guarded;

        guarded_batch_open(&guarded, len);
        memset(guarded.batch.bytes, 'a', GUARDED_PAGE);
        guarded.batch.bytes[0] = 'b';
        guarded.batch.bytes[guarded.batch.bytes_len - 1] = 'b';
        trial_check_batch(&guarded.batch, literals, 3);
        guarded_batch_close(&guarded);
    }
}
