/* SPDX-License-Identifier: MIT */
/* The contract of backends and of building. */
#include "mpm_trial.h"

#include "mpm_ref.h"

/* ---- the contract -------------------------------------------------------------------------------
 */

void test_overflow_counts_exactly(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("a", 0), trial_literal_of("aa", 1)};
    static const size_t caps[] = {0, 1, 7, 1998, 1999, 2000};
    static char text[1000];
    struct sl_hit few[2000];

    (void)state;
    memset(text, 'a', sizeof text);
    sl_batch_reset(subject.batch);
    trial_add_item(text, sizeof text);

    struct sl_mpm_table *table = trial_build(literals, 2);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct sl_hits hits = {.hit = few, .cap = caps[i], .n = 12345};

        memset(few, 0xAA, sizeof few);
        assert_int_equal(trial_scan_table(table, subject.backend_name, subject.batch, &hits),
                         caps[i] < 1999 ? SL_EOVERFLOW : SL_OK);
        assert_int_equal(hits.n, 1999);
        for (size_t k = 0; k < caps[i] && k < hits.n; k++)
            assert_true(few[k].item == 0 && few[k].offset <= 1000 && few[k].id < 2);
        if (caps[i] < 2000)
            assert_int_equal(few[caps[i]].item, 0xAAAAAAAAu);
    }
    sl_mpm_free(table);
}

/* Whole or in pieces of any length, a source gives the same hits at the same source offsets. */
void test_pieces_give_the_same_hits(void **state)
{
    enum { LEN = 700, OVERLAP = 20 };
    static uint8_t text[LEN];
    static uint8_t bytes[100 * (OVERLAP + 1)];
    struct sl_literal literals[100];
    uint64_t random = 5;

    (void)state;
    trial_fill_random(&random, text, LEN, "aAb");
    trial_cut_literals(&random, literals, bytes, 100, text, LEN, OVERLAP + 1);
    sl_batch_reset(subject.batch);
    trial_add_item(text, LEN);
    subject.expected.n =
        mpm_ref_scan(literals, 100, subject.batch, subject.expected.hit, subject.expected.cap);
    struct sl_mpm_table *table = trial_build(literals, 100);

    for (uint32_t piece = OVERLAP + 1; piece <= LEN; piece++) {
        uint64_t done = 0;

        sl_batch_reset(subject.batch);
        sl_batch_add_pieces(subject.batch, text, LEN, piece, OVERLAP, &done);
        assert_int_equal(done, LEN);
        assert_int_equal(
            trial_scan_table(table, subject.backend_name, subject.batch, &subject.found), SL_OK);
        for (size_t i = 0; i < subject.found.n; i++) {
            subject.found.hit[i].offset +=
                (uint32_t)subject.batch->origin[subject.found.hit[i].item].position;
            subject.found.hit[i].item = 0;
        }
        trial_assert_same_hits();
    }
    sl_mpm_free(table);
}

void test_order_of_items_changes_nothing(void **state)
{
    enum { N = 200 };
    static uint8_t text[10000];
    static uint8_t bytes[50 * 12];
    struct sl_literal literals[50];
    uint32_t order[N];
    uint64_t random = 6;

    (void)state;
    trial_fill_random(&random, text, sizeof text, "abcABC");
    trial_cut_literals(&random, literals, bytes, 50, text, sizeof text, 12);
    sl_batch_reset(subject.batch);
    for (uint32_t i = 0; i < N; i++) {
        order[i] = i;
        trial_add_item(text + i * 40, i);
    }
    subject.expected.n =
        mpm_ref_scan(literals, 50, subject.batch, subject.expected.hit, subject.expected.cap);

    for (uint32_t i = N - 1; i > 0; i--) {
        const uint32_t other = test_below(&random, i + 1);
        const uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    sl_batch_reset(subject.batch);
    for (uint32_t i = 0; i < N; i++)
        trial_add_item(text + order[i] * 40, order[i]);
    struct sl_mpm_table *table = trial_build(literals, 50);
    assert_int_equal(trial_scan_table(table, subject.backend_name, subject.batch, &subject.found),
                     SL_OK);
    sl_mpm_free(table);
    for (size_t i = 0; i < subject.found.n; i++)
        subject.found.hit[i].item = order[subject.found.hit[i].item];
    trial_assert_same_hits();
}

/* A context is used again and again, and remains of one batch are not seen in the next. */
void test_contexts_are_reusable(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("ab", 0)};
    struct sl_mpm_table *table = trial_build(literals, 1);
    const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
    void *first = trial_open_context(backend, table);
    void *second = trial_open_context(backend, table);

    (void)state;
    sl_batch_reset(subject.batch);
    trial_add_item("xxa", 3);
    assert_int_equal(trial_scan_batch(backend, first, subject.batch, &subject.found), SL_OK);
    assert_int_equal(subject.found.n, 0);
    sl_batch_reset(subject.batch);
    trial_add_item("bab", 3);
    assert_int_equal(trial_scan_batch(backend, first, subject.batch, &subject.found), SL_OK);
    assert_int_equal(subject.found.n, 1);
    backend->close(first);
    assert_int_equal(trial_scan_batch(backend, second, subject.batch, &subject.found), SL_OK);
    assert_int_equal(subject.found.n, 1);
    backend->close(second);
    backend->close(NULL);
    sl_mpm_free(table);
}

/* Keeps the hits of literals that are wanted in their item. */
static void keep_wanted(struct sl_hits *hits, const uint8_t *wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < hits->n; i++)
        if ((wanted[hits->hit[i].id] >> subject.batch->kind[hits->hit[i].item] & 1) != 0)
            hits->hit[n++] = hits->hit[i];
    hits->n = n;
}

/* Items of random text, and of one letter. */
static void fill_with_kinds(uint64_t *random, const uint8_t *text)
{
    enum { ITEMS = 300, LEN_MAX = 90 };
    uint8_t run[LEN_MAX];

    sl_batch_reset(subject.batch);
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t len = test_below(random, LEN_MAX);

        memset(run, "aAb"[i % 3], sizeof run);
        trial_add_item(i % 4 == 0 ? run : text + i, len);
        subject.batch->kind[i] = (uint8_t)test_below(random, 8);
    }
}

/* Backends may leave out hits that are not wanted in items of their kind, and no others. Without
 * kinds all are wanted. */
void test_hits_of_kinds(void **state)
{
    enum { N = 60, LEN = 500, ROUNDS = 10 };
    static uint8_t text[LEN], bytes[N * 40], wanted[N];
    struct sl_literal literals[N];
    struct sl_limits limits = subject.limits;
    uint64_t random = 11;

    (void)state;
    limits.wanted = wanted;
    limits.n_wanted = N;
    for (int round = 0; round < ROUNDS; round++) {
        trial_fill_random(&random, text, LEN, "aAbc");
        trial_cut_literals(&random, literals, bytes, N, text, LEN, round % 2 == 0 ? 40 : 3);
        for (int id = 0; id < N; id++)
            wanted[id] = (uint8_t)test_below(&random, 256);

        struct sl_mpm_table *table = trial_build(literals, N);
        const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
        const bool leaves_out =
            strcmp(backend->name, "cuda") == 0 &&
            (strcmp(subject.algorithm, "gram") == 0 || strcmp(subject.algorithm, "ac") == 0);
        void *context = trial_open_within(backend, table, &limits);

        for (int kinds = 0; kinds < 2; kinds++) {
            fill_with_kinds(&random, text);
            subject.batch->has_kind = kinds == 1;
            assert_int_equal(trial_scan_batch(backend, context, subject.batch, &subject.found),
                             SL_OK);
            subject.expected.n = mpm_ref_scan(literals, N, subject.batch, subject.expected.hit,
                                              subject.expected.cap);
            if (kinds == 1)
                keep_wanted(&subject.expected, wanted);
            if (kinds == 1 && !leaves_out)
                keep_wanted(&subject.found, wanted);
            trial_assert_same_hits();
        }
        backend->close(context);
        sl_mpm_free(table);
    }
}

static int compare_hits(const void *a, const void *b)
{
    const struct sl_hit *one = a, *other = b;

    if (one->item != other->item)
        return one->item < other->item ? -1 : 1;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->id < other->id ? -1 : one->id > other->id;
}

static bool is_expected(struct sl_hit hit, int apart)
{
    hit.offset += (uint32_t)apart;
    return bsearch(&hit, subject.expected.hit, subject.expected.n, sizeof hit, compare_hits) !=
           NULL;
}

/* Whether a backend may leave out an expected hit. */
static bool is_inside_run(struct sl_hit hit, const struct sl_literal *literals, uint8_t run_ends)
{
    const struct sl_literal *literal = &literals[hit.id];
    const uint8_t kind = subject.batch->has_kind ? subject.batch->kind[hit.item] : 0;

    for (uint32_t i = 1; i < literal->len; i++)
        if ((literal->bytes[i] | 32) != (literal->bytes[0] | 32))
            return false;
    return (run_ends >> kind & 1) != 0 && is_expected(hit, -1) && is_expected(hit, 1);
}

/* Marks the hits that may be left out, and removes those of both lists. */
static void remove_inside(const struct sl_literal *literals, uint8_t run_ends)
{
    struct sl_hits *const lists[] = {&subject.found, &subject.expected};

    qsort(subject.expected.hit, subject.expected.n, sizeof *subject.expected.hit, compare_hits);

    bool *inside[2];
    for (int list = 0; list < 2; list++) {
        inside[list] = calloc(lists[list]->n + 1, sizeof *inside[list]);
        assert_non_null(inside[list]);
        for (size_t i = 0; i < lists[list]->n; i++)
            inside[list][i] = is_inside_run(lists[list]->hit[i], literals, run_ends);
    }
    for (int list = 0; list < 2; list++) {
        size_t n = 0;

        for (size_t i = 0; i < lists[list]->n; i++)
            if (!inside[list][i])
                lists[list]->hit[n++] = lists[list]->hit[i];
        lists[list]->n = n;
        lists[list]->in_order = false;
        free(inside[list]);
    }
}

/* Runs of one letter in both cases. */
static void add_mixed_runs(uint64_t *random)
{
    enum { ITEMS = 40, LEN = 60 };
    uint8_t text[LEN];

    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t item = subject.batch->n_items;

        memset(text, 'a', sizeof text);
        for (uint32_t upper = test_below(random, 6); upper != 0; upper--)
            text[test_below(random, LEN)] = 'A';
        trial_add_item(text, LEN);
        subject.batch->kind[item] = (uint8_t)test_below(random, 8);
    }
}

/* Backends may leave out hits inside runs in items of the kinds asked for, and no others. */
void test_hits_inside_runs(void **state)
{
    enum { N = 60, LEN = 500, ROUNDS = 10 };
    static uint8_t text[LEN], bytes[N * 40];
    struct sl_literal literals[N];
    struct sl_limits limits = subject.limits;
    uint64_t random = 12;
    size_t n_left_out = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const bool few_others = round % 3 != 0;

        trial_fill_random(&random, text, LEN, few_others ? "aAbcdefghijklmno" : "aAbc");
        trial_cut_literals(&random, literals, bytes, N, text, LEN, few_others ? 8 : 3);
        literals[0] = trial_literal_of("aaaa", SL_LITERAL_NOCASE);
        literals[1] = trial_literal_of("aaaaaaa", 0);
        literals[2] = trial_literal_of("bbbbbb", 0);
        literals[3] = trial_literal_of("aAa", 0); /* no run, but in one where case is ignored */
        literals[4] = trial_literal_of("Aaaaa", 0);
        limits.run_ends = round == 0 ? 1 : (uint8_t)test_below(&random, 256);

        struct sl_mpm_table *table = trial_build(literals, N);
        const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
        void *context = trial_open_within(backend, table, &limits);

        for (int kinds = 0; kinds < 2; kinds++) {
            fill_with_kinds(&random, text);
            add_mixed_runs(&random);
            subject.batch->has_kind = kinds == 1;
            assert_int_equal(trial_scan_batch(backend, context, subject.batch, &subject.found),
                             SL_OK);
            subject.expected.n = mpm_ref_scan(literals, N, subject.batch, subject.expected.hit,
                                              subject.expected.cap);
            n_left_out += subject.expected.n - subject.found.n;
            if (limits.run_ends == 0)
                assert_int_equal(subject.found.n, subject.expected.n);
            remove_inside(literals, limits.run_ends);
            trial_assert_same_hits();
        }
        backend->close(context);
        sl_mpm_free(table);
    }
    assert_int_equal(n_left_out > 0, strcmp(subject.algorithm, "gram") == 0 ||
                                         (strcmp(subject.algorithm, "ac") == 0 &&
                                          strcmp(subject.backend_name, "scalar") == 0));
}

void test_batches_outside_the_contract(void **state)
{
    const struct sl_literal literals[] = {trial_literal_of("ab", 0)};
    struct sl_mpm_table *table = trial_build(literals, 1);
    const struct sl_backend *backend = trial_find_backend(table, subject.backend_name);
    void *context = trial_open_context(backend, table);
    struct sl_batch wrong;

    (void)state;
    sl_batch_reset(subject.batch);
    trial_add_item("ab", 2);
    wrong = *subject.batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(backend->submit(context, &wrong, &subject.found), SL_EINVAL);
    wrong = *subject.batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    wrong.n_items = MAX_ITEMS + 1;
    assert_int_equal(backend->submit(context, &wrong, &subject.found), SL_EINVAL);
    wrong.n_items = 1;
    wrong.bytes_len = MAX_BYTES + SL_BATCH_ALIGN;
    assert_int_equal(backend->submit(context, &wrong, &subject.found), SL_EINVAL);
    backend->close(context);
    sl_mpm_free(table);
}

/* ---- building -----------------------------------------------------------------------------------
 */

static void assert_refused(const char *name, const struct sl_literal *literals, size_t n,
                           uint32_t line, const char *text)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.line = 99};

    sl_mpm_config_init(&config);
    config.algorithm = name;
    assert_int_equal(sl_mpm_build(&table, &config, literals, n, &diag), SL_EINVAL);
    assert_null(table);
    assert_int_equal(diag.line, line);
    if (strstr(diag.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, text);
}

void test_bad_sets_are_refused(void **state)
{
    struct sl_literal literals[] = {trial_literal_of("ab", 0), trial_literal_of("cd", 0),
                                    trial_literal_of("ef", 0)};
    static const uint8_t bytes[SL_LITERAL_LEN_MAX + 1];

    (void)state;
    literals[1].len = 0;
    assert_refused(subject.algorithm, literals, 3, 2, "0 bytes");
    literals[1] = (struct sl_literal){.bytes = bytes, .len = SL_LITERAL_LEN_MAX + 1};
    assert_refused(subject.algorithm, literals, 3, 2, "4097 bytes");
    literals[1] = trial_literal_of("cd", 8);
    assert_refused(subject.algorithm, literals, 3, 2, "0x8");
    assert_refused(subject.algorithm, literals, SL_LITERAL_COUNT_MAX + (size_t)1,
                   SL_LITERAL_COUNT_MAX + 1, "1000001 literals");
    assert_refused("bogus", literals, 1, 0, "'bogus'");
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++)
        assert_refused("bogus", literals, 1, 0, *name);
    sl_mpm_free(NULL);
}

static const char *picked(enum sl_device_kind device, const struct sl_literal *literals, size_t n)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_mpm_info info;

    sl_mpm_config_init(&config);
    config.device = device;
    assert_int_equal(sl_mpm_build(&table, &config, literals, n, NULL), SL_OK);
    sl_mpm_info(table, &info);
    assert_int_equal(info.n_literals, n);
    sl_mpm_free(table);
    return info.algorithm;
}

void test_auto_picks_by_device_and_lengths(void **state)
{
    enum { MANY = 100 };
    const struct sl_literal literals[] = {trial_literal_of("abcd", 0), trial_literal_of("abc", 0)};
    const char *vectors = cpu_level() >= CPU_AVX2 ? "gram" : "ac";
    struct sl_literal many[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++)
        many[i] = literals[i == 0];
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 0), vectors);
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 1), vectors);
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 2), "ac");
    assert_string_equal(picked(SL_DEVICE_CPU, many, MANY - 1), "ac");
    assert_string_equal(picked(SL_DEVICE_CPU, many, MANY), vectors);
    assert_string_equal(picked(SL_DEVICE_CUDA, literals, 2), "gram");
}

/* No literal has a byte of the sample: gram goes over it several times as fast as the automaton. */
void test_auto_picks_by_the_sample(void **state)
{
    enum { ITEMS = 256, LEN = 1024 };
    const struct sl_literal literals[] = {trial_literal_of("abcd", 0), trial_literal_of("abc", 0)};
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_mpm_info info;
    struct sl_batch *sample;

    (void)state;
    if (cpu_level() < CPU_AVX2)
        test_skip("this CPU has no AVX2");
    assert_int_equal(sl_batch_create(&sample, ITEMS * LEN * 2, ITEMS, NULL), SL_OK);
    for (int i = 0; i < ITEMS; i++) {
        memset(sample->bytes + sample->bytes_len, '0' + i % 10, LEN);
        sl_batch_append(sample, LEN, 0);
    }
    sl_mpm_config_init(&config);
    config.sample = sample;
    assert_int_equal(sl_mpm_build(&table, &config, literals, 2, NULL), SL_OK);
    sl_mpm_info(table, &info);
    assert_string_equal(info.algorithm, "gram");
    sl_mpm_free(table);
    sl_batch_free(sample);
}

/* "wm" is one of those with a fixed length of blocks: few literals, "wm2", many, "wm3". */
void test_wm_picks_block_length(void **state)
{
    enum { N = 5000 };
    static uint8_t bytes[N * 8];
    static struct sl_literal literals[N];
    static const size_t counts[] = {0, 10, N};
    static const char *const picks[] = {"wm2", "wm2", "wm3"};

    (void)state;
    if (mpm_find_algorithm("wm") == NULL)
        test_skip("this build leaves the papers out");
    for (uint32_t i = 0; i < N; i++) {
        snprintf((char *)bytes + i * 8, 8, "%07u", i * 1999);
        literals[i] = (struct sl_literal){.bytes = bytes + i * 8, .len = 7};
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct sl_mpm_table *table = trial_build_with("wm", literals, counts[i]);
        struct sl_mpm_table *pick = trial_build_with(picks[i], literals, counts[i]);
        struct sl_mpm_info info, pick_info;

        sl_mpm_info(table, &info);
        sl_mpm_info(pick, &pick_info);
        assert_string_equal(info.algorithm, "wm");
        assert_int_equal(info.table_len, pick_info.table_len);
        sl_mpm_free(table);
        sl_mpm_free(pick);
    }
}
