/* SPDX-License-Identifier: MIT */
#include "mpm_trials.h"

#include "test.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <time.h>

#include "base/cpu.h"
#include "device/device.h"
#include "engines/mpm/mpm_internal.h"
#include "mpm_ref.h"
#include "sluice/device.h"
#include "sluice/mpm.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

enum {
    MAX_BYTES = 4 << 20, /* of a batch */
    MAX_ITEMS = 1 << 16,
    MAX_HITS = 8 << 20
};

static const struct sl_limits limits = {
    .max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS};

static char algorithm[32];
static uint32_t longest_literal = SL_LITERAL_LEN_MAX; /* that the algorithm takes */
static bool one_by_one;           /* the backend compares with one literal after another */
static size_t content_stride = 1; /* of the rules' literals that it is tried with on captures, */
static double captures_s = 40;    /* and for how long */
static const char *backend_name;
static enum sl_device_kind
    built_for; /* that of the backend, or of the one whose tiling it proves */
static struct sl_batch *batch;
static struct sl_stage *stage; /* where the backend is CUDA's */
static struct sl_hits found;
static struct sl_hits expected;

/* ---- running it ------------------------------------------------------------------------------ */

static const struct sl_backend *find_backend(const struct sl_mpm_table *table, const char *name)
{
    const struct sl_backend *const *backend = sl_mpm_engine(table)->backends;

    while (*backend != NULL && strcmp((*backend)->name, name) != 0)
        backend++;
    return *backend;
}

static struct sl_mpm_table *build_with(const char *name, const struct sl_literal *literals,
                                       size_t n_literals)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    sl_mpm_config_init(&config);
    config.algorithm = name;
    config.device = built_for;
    if (sl_mpm_build(&table, &config, literals, n_literals, &diag) != SL_OK)
        fail_msg("build: %s", diag.text);
    return table;
}

static struct sl_mpm_table *build(const struct sl_literal *literals, size_t n_literals)
{
    return build_with(algorithm, literals, n_literals);
}

static void *open_within(const struct sl_backend *backend, const struct sl_mpm_table *table,
                         const struct sl_limits *within)
{
    void *context = NULL;
    struct sl_diag diag = {.text = ""};

    if (backend->open(&context, table, within, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    return context;
}

static void *open_context(const struct sl_backend *backend, const struct sl_mpm_table *table)
{
    return open_within(backend, table, &limits);
}

/* Submits a host batch, over the stage where the backend wants it, and waits. */
static enum sl_status scan_batch(const struct sl_backend *backend, void *context,
                                 const struct sl_batch *host, struct sl_hits *hits)
{
    struct sl_batch view;

    if (backend->device == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(stage, host, &view), SL_OK);
        host = &view;
    }

    const enum sl_status status = backend->submit(context, host, hits);
    return status == SL_OK ? backend->wait(context) : status;
}

static enum sl_status scan_table(const struct sl_mpm_table *table, const char *name,
                                 const struct sl_batch *host, struct sl_hits *hits)
{
    const struct sl_backend *backend = find_backend(table, name);
    void *context = open_context(backend, table);
    const enum sl_status status = scan_batch(backend, context, host, hits);

    backend->close(context);
    return status;
}

/* A number that says whether two results are the same set, without sorting them. */
static uint64_t digest(const struct sl_hits *hits)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < hits->n && i < hits->cap; i++) {
        const struct sl_hit hit = hits->hit[i];
        uint64_t mixed = hit.item * UINT64_C(0x9E3779B97F4A7C15) +
                         hit.offset * UINT64_C(0xC2B2AE3D27D4EB4F) + hit.id + 1;

        mixed = (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
        sum += mixed ^ mixed >> 32;
    }
    return sum;
}

static void assert_same_hits(void)
{
    assert_true(expected.n <= expected.cap);
    if (found.n == expected.n && digest(&found) == digest(&expected))
        return;
    sl_hits_sort(&found);
    sl_hits_sort(&expected);
    for (size_t i = 0; i < found.n && i < expected.n; i++) {
        const struct sl_hit f = found.hit[i];
        const struct sl_hit e = expected.hit[i];

        if (f.item != e.item || f.offset != e.offset || f.id != e.id)
            fail_msg("hit %zu: found (%u, %u, %" PRIu64 "), expected (%u, %u, %" PRIu64 ")", i,
                     f.item, f.offset, f.id, e.item, e.offset, e.id);
    }
    if (found.n != expected.n)
        fail_msg("found %zu hits, expected %zu", found.n, expected.n);
}

/* The whole of `host` with these literals gives what the oracle says. */
static void check_batch(const struct sl_batch *host, const struct sl_literal *literals,
                        size_t n_literals)
{
    struct sl_mpm_table *table = build(literals, n_literals);

    assert_int_equal(scan_table(table, backend_name, host, &found), SL_OK);
    expected.n = mpm_ref_scan(literals, n_literals, host, expected.hit, expected.cap);
    assert_same_hits();
    sl_mpm_free(table);
}

static void check(const struct sl_literal *literals, size_t n_literals)
{
    check_batch(batch, literals, n_literals);
}

static void add_item(const void *bytes, uint32_t len)
{
    assert_true(sl_batch_fits(batch, len));
    sl_batch_add(batch, bytes, len, 0);
}

static struct sl_literal literal_of(const char *text, uint32_t flags)
{
    return (struct sl_literal){
        .bytes = (const uint8_t *)text, .len = (uint32_t)strlen(text), .flags = flags};
}

/* What a test takes n of: `few` where the time is the product of literals and text. */
static uint32_t fewer(uint32_t n, uint32_t few)
{
    return one_by_one ? few : n;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- exhaustive ------------------------------------------------------------------------------ */

enum {
    UNIVERSE = 2 + 4 + 8, /* words of 1 to 3 letters of an alphabet of two */
    TEXT_LEN = 7
};

/* All texts of 0 to TEXT_LEN letters. */
static void add_all_texts(const char letter[2])
{
    sl_batch_reset(batch);
    for (uint32_t len = 0; len <= TEXT_LEN; len++) {
        for (uint32_t code = 0; code < 1u << len; code++) {
            char text[TEXT_LEN];

            for (uint32_t i = 0; i < len; i++)
                text[i] = letter[code >> i & 1];
            add_item(text, len);
        }
    }
}

/* All sets of words; where each takes a while (opened on a GPU, or under a sanitizer) as many as
 * the time allows, in an order that mixes small and large ones. `nocase` gives some literals that
 * flag.
 */
static void check_all_sets(const char letter[2], bool nocase)
{
    const double end = seconds() + (SANITIZED || stage != NULL ? 5 : 1e9);
    const uint32_t n_all = 1u << UNIVERSE;
    uint8_t word[UNIVERSE][3];
    uint32_t n_sets = 0;

    add_all_texts(letter);
    for (uint32_t w = 0; w < UNIVERSE; w++)
        for (uint32_t i = 0; i < 3; i++)
            word[w][i] = (uint8_t)letter[(w + 2) >> i & 1];
    for (uint32_t k = 0; k < n_all && seconds() < end; k++, n_sets++) {
        const uint32_t set = k * 0x9E3779B1u >> (32 - UNIVERSE);
        struct sl_literal literals[UNIVERSE];
        size_t n = 0;

        for (uint32_t w = 0; w < UNIVERSE; w++) {
            const uint32_t len = w < 2 ? 1 : w < 6 ? 2 : 3;

            if (set >> w & 1)
                literals[n++] = (struct sl_literal){
                    .bytes = word[w], .len = len, .flags = nocase ? (k + w) % 3 == 0 : 0};
        }
        check(literals, n);
    }
    if (n_sets < n_all)
        print_message("%u of %u sets in the time there is\n", n_sets, n_all);
    assert_true(n_sets >= (SANITIZED || stage != NULL ? 16 : n_all));
}

static void test_all_sets_on_all_texts(void **state)
{
    (void)state;
    check_all_sets("ab", false);
    check_all_sets("aA", true);
}

/* ---- random ---------------------------------------------------------------------------------- */

static void fill_random(uint64_t *random, uint8_t *to, uint32_t len, const char *alphabet)
{
    const uint32_t n = alphabet == NULL ? 0 : (uint32_t)strlen(alphabet);

    for (uint32_t i = 0; i < len; i++)
        to[i] =
            n == 0 ? (uint8_t)test_below(random, 256) : (uint8_t)alphabet[test_below(random, n)];
}

/* Literals that occur: most are cut from the text, some have a byte or a case changed, some repeat.
 */
static void cut_literals(uint64_t *random, struct sl_literal *literals, uint8_t *bytes, size_t n,
                         const uint8_t *text, uint32_t text_len, uint32_t max_len)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = test_below(random, text_len);
        uint32_t len = 1 + test_below(random, max_len);

        if (len > text_len - at)
            len = text_len - at;
        memcpy(bytes, text + at, len);
        switch (test_below(random, 8)) {
        case 0:
            bytes[test_below(random, len)] = (uint8_t)test_below(random, 256);
            break;
        case 1:
            bytes[test_below(random, len)] ^= 0x20;
            break;
        case 2:
            if (i > 0) {
                const struct sl_literal *other = &literals[test_below(random, (uint32_t)i)];

                len = other->len < len ? other->len : len;
                memcpy(bytes, other->bytes, len);
            }
            break;
        default:
            break;
        }
        literals[i] =
            (struct sl_literal){.bytes = bytes,
                                .len = len,
                                .flags = test_below(random, 3) == 0 ? SL_LITERAL_NOCASE : 0};
        bytes += len;
    }
}

static void test_random_sets(void **state)
{
    static const char *const alphabets[] = {"ab", "aAbB", "abcdefghABCDEFGH@[`{", NULL};
    static const uint32_t max_lens[] = {1, 4, 12, 100, 4096};
    static uint8_t text[20000];
    static uint8_t bytes[200 * 4096];
    struct sl_literal literals[200];
    const uint32_t text_len = fewer(sizeof text, 5000);
    uint64_t random = 1;

    (void)state;
    for (uint32_t round = 0; round < 80; round++) {
        const uint32_t max_len =
            max_lens[round / 4 % 5] < longest_literal ? max_lens[round / 4 % 5] : longest_literal;
        const uint32_t n = 1 + test_below(&random, max_len > 100 ? 20 : 200);
        uint32_t at = 0;

        fill_random(&random, text, text_len, alphabets[round % 4]);
        cut_literals(&random, literals, bytes, n, text, text_len, max_len);
        sl_batch_reset(batch);
        while (at < text_len) {
            uint32_t len =
                test_below(&random, 2) ? test_below(&random, 100) : test_below(&random, 6000);

            if (len > text_len - at)
                len = text_len - at;
            add_item(text + at, len);
            at += len;
        }
        check(literals, n);
    }
}

/* Sets without short literals, which algorithms that skip text need to do so: many that differ only
 * in their middle, in their end, or in case. */
static void test_least_lengths(void **state)
{
    enum { N = 400, SPREAD = 12, TEXT = 30000 };
    static const uint32_t least[] = {2, 3, 4, 5, 8, 20, 250, 300, 1000};
    static uint8_t text[TEXT];
    static uint8_t bytes[N * (1000 + SPREAD)];
    struct sl_literal literals[N];
    const uint32_t n = fewer(N, 60);
    const uint32_t text_len = fewer(TEXT, 9000);
    uint64_t random = 8;

    (void)state;
    for (uint32_t round = 0; round < 2 * sizeof least / sizeof *least; round++) {
        uint8_t *to = bytes;
        uint32_t first = 0;

        fill_random(&random, text, text_len,
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
        sl_batch_reset(batch);
        add_item(text, text_len / 2);
        for (uint32_t at = text_len / 2; at + 1500 <= text_len; at += 1500)
            add_item(text + at, 1500 - round);
        check(literals, n);
        assert_true(found.n >= 5);
    }
}

/* More states than there are rows in any table, few letters: long chains of suffixes. */
static void test_many_states(void **state)
{
    enum { N = 2500, MAX_LEN = 120, TEXT = 60000 };
    static uint8_t bytes[N * MAX_LEN];
    static uint8_t text[TEXT];
    struct sl_literal *literals = (struct sl_literal *)calloc(N, sizeof *literals);
    const uint32_t n = fewer(N, 250);
    struct sl_mpm_info info;
    uint64_t random = 2;

    (void)state;
    fill_random(&random, text, TEXT, "abc");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = 20 + test_below(&random, MAX_LEN - 20);
        uint8_t *to = bytes + (size_t)i * MAX_LEN;

        memcpy(to, text + test_below(&random, TEXT - MAX_LEN), len);
        if (i % 2 == 0) /* leaves the text's path near its end, into another literal's */
            fill_random(&random, to + len - 10, 10, "abcABC");
        literals[i] = (struct sl_literal){.bytes = to, .len = len, .flags = i % 3 == 0};
    }
    for (uint32_t at = 0; at + 300 < TEXT; at += test_below(&random, 300)) {
        /* A start of one literal in the middle of another. */
        memcpy(text + at, literals[test_below(&random, N)].bytes, 20);
    }
    sl_batch_reset(batch);
    add_item(text, 20000);
    for (uint32_t at = 20000; at + 700 < TEXT; at += 700)
        add_item(text + at, 700);
    check(literals, n);

    struct sl_mpm_table *table = build(literals, N);
    sl_mpm_info(table, &info);
    assert_true(info.n_states == 0 || info.n_states > 65536);
    assert_int_equal(info.n_literals, N);
    assert_string_equal(info.algorithm, algorithm);
    assert_true(info.table_len > 0);
    sl_mpm_free(table);
    free(literals);
}

static void assert_not_opened(const struct sl_literal *literals, size_t n_literals)
{
    struct sl_mpm_table *table = build(literals, n_literals);
    void *context;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(find_backend(table, backend_name)->open(&context, table, &limits, &diag),
                     SL_EUNSUPPORTED);
    assert_non_null(strstr(diag.text, "built for a CPU"));
    sl_mpm_free(table);
}

/* Tables of very many literals, built for either kind of device: all backends run on both, but
 * those of gram in a GPU's tiling need what is built for GPUs alone. */
static void test_tables_for_both_devices(void **state)
{
    enum { N = 40000, LEN = 12, TEXT = 6000 };
    static uint8_t bytes[N * LEN];
    static uint8_t text[TEXT];
    const enum sl_device_kind usual = built_for;
    struct sl_literal *literals = (struct sl_literal *)calloc(N, sizeof *literals);
    uint64_t random = 6;

    (void)state;
    fill_random(&random, text, TEXT, "abcdefghijklmnopqrstuvwxyzABCDE0123456789");
    fill_random(&random, bytes, sizeof bytes, "abcdefghijklmnopqrstuvwxyzABCDE0123456789");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = 4 + test_below(&random, LEN - 4);

        if (i % 20 == 0) /* one that occurs */
            memcpy(bytes + (size_t)i * LEN, text + test_below(&random, TEXT - LEN), len);
        literals[i] =
            (struct sl_literal){.bytes = bytes + (size_t)i * LEN, .len = len, .flags = i % 3 == 0};
    }
    sl_batch_reset(batch);
    for (uint32_t at = 0; at + 500 <= TEXT; at += 500)
        add_item(text + at, 1 + test_below(&random, 500));
    for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA; kind++) {
        built_for = (enum sl_device_kind)kind;
        if (usual == SL_DEVICE_CUDA && kind == SL_DEVICE_CPU && strcmp(algorithm, "gram") == 0) {
            assert_not_opened(literals, N);
            continue;
        }
        check(literals, one_by_one ? N / 40 : N);
    }
    assert_true(found.n > (one_by_one ? 10 : 500));
    built_for = usual;
    free(literals);
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Items of each length, literals of each length at both ends. */
static void test_every_length(void **state)
{
    enum { LONGEST = 300 };
    static uint8_t text[LONGEST];
    struct sl_literal literals[2 * 140];
    uint64_t random = 3;

    (void)state;
    fill_random(&random, text, LONGEST, "abcdefgh");
    sl_batch_reset(batch);
    for (uint32_t len = 0; len <= LONGEST; len++)
        add_item(text, len);
    for (uint32_t len = 0; len <= LONGEST; len++)
        add_item(text + LONGEST - len, len);
    for (uint32_t i = 0; i < 140; i++) {
        literals[i] = (struct sl_literal){.bytes = text, .len = i + 1, .flags = i % 2};
        literals[140 + i] =
            (struct sl_literal){.bytes = text + LONGEST - (i + 1), .len = i + 1, .flags = i % 2};
    }
    check(literals, 280);
}

/* Items that are longer than any unit of work, with matches everywhere. */
static void test_long_items(void **state)
{
    enum { LEN = 300000 };
    static uint8_t text[LEN];
    struct sl_literal literals[40];
    const uint32_t longest = fewer(longest_literal, 256);
    uint64_t random = 4;

    (void)state;
    fill_random(&random, text, LEN, NULL);
    for (uint32_t i = 0; i < 40; i++) {
        const uint32_t len = i < 20 ? 1 + i : longest - i;

        literals[i] = (struct sl_literal){
            .bytes = text + test_below(&random, LEN - len), .len = len, .flags = i % 2};
        for (uint32_t k = 0; k < 5; k++) /* also across the multiples of large powers of two */
            memmove(text + (1 + test_below(&random, 8)) * 32768 - test_below(&random, len + 1),
                    literals[i].bytes, len);
    }
    sl_batch_reset(batch);
    add_item(text, LEN);
    add_item(text + 1, 65536);
    add_item(text + 2, 65537);
    check(literals, 40);
}

static void test_runs_of_one_byte(void **state)
{
    static const uint8_t values[] = {0x00, 0xFF, 'a', 'A'};
    static uint8_t run[5000];

    (void)state;
    for (size_t v = 0; v < sizeof values; v++) {
        struct sl_literal literals[6];
        const uint32_t lens[] = {1, 2, 3, 64, 100, longest_literal};

        memset(run, values[v], sizeof run);
        sl_batch_reset(batch);
        for (uint32_t len = 0; len < 140; len++)
            add_item(run, len);
        add_item(run, sizeof run);
        for (uint32_t i = 0; i < 6; i++)
            literals[i] = (struct sl_literal){.bytes = run, .len = lens[i], .flags = i % 2};
        check(literals, 6);
    }
}

/* Many literals agree in all but their last bytes, and in case. */
static void test_literals_that_begin_alike(void **state)
{
    enum { N = 400, MIN_LEN = 20, MAX_LEN = 50, TEXT = 10000 };
    static uint8_t bytes[N * MAX_LEN];
    static uint8_t text[TEXT];
    struct sl_literal literals[N];
    uint64_t random = 7;

    (void)state;
    memset(text, 'a', TEXT);
    for (uint32_t at = 0; at < TEXT; at += 1 + test_below(&random, 60))
        fill_random(&random, text + at, 1, "aAbB");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t len = MIN_LEN + test_below(&random, MAX_LEN - MIN_LEN + 1);
        const uint32_t n_others = test_below(&random, 5);
        uint8_t *to = bytes + (size_t)i * MAX_LEN;

        memset(to, 'a', len);
        fill_random(&random, to + len - n_others, n_others, "aAbB");
        literals[i] = (struct sl_literal){.bytes = to, .len = len, .flags = i % 2};
    }
    sl_batch_reset(batch);
    add_item(text, TEXT);
    for (uint32_t at = 0; at + 100 < TEXT; at += 100)
        add_item(text + at, test_below(&random, 101));
    check(literals, N);
}

/* What filters may pass at each position, and hardly anything of it matches. */
/* Each of equal literals reports. Vectorscan would compile so many expressions for hours. */
static void test_a_million_duplicates(void **state)
{
    const uint32_t n = strcmp(algorithm, "vectorscan") == 0 ? 1000 : 1000000;
    struct sl_literal *literals = (struct sl_literal *)calloc(n, sizeof *literals);

    (void)state;
    assert_non_null(literals);
    for (uint32_t i = 0; i < n; i++)
        literals[i] = literal_of("abcdefgh", i % 2 == 0 ? SL_LITERAL_NOCASE : 0);
    sl_batch_reset(batch);
    add_item("abcdefgh", 8);
    add_item("xABCDEFGH", 9);
    check(literals, n);
    assert_int_equal(found.n, n + n / 2);
    free(literals);
}

static void test_near_matches_everywhere(void **state)
{
    enum { LEN = 1 << 20 };
    const struct sl_literal literals[] = {literal_of("aaaaaaaab", 0), literal_of("aaaaaaaaB", 0),
                                          literal_of("baaaaaaaa", 1)};
    uint8_t *text = (uint8_t *)malloc(LEN);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LEN);
    text[LEN / 3] = 'b';
    text[LEN / 3 + 10] = 'B';
    text[LEN - 1] = 'b';
    sl_batch_reset(batch);
    add_item(text, LEN);
    add_item(text, 100);
    check(literals, 3);
    assert_int_equal(found.n, 5);
    free(text);
}

/* What gram hashes the first literal to is 0, which is what its empty slots hold. */
static void test_a_key_like_an_empty_slot(void **state)
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
    sl_batch_reset(batch);
    for (uint32_t i = 1; i + 7 <= N; i++) { /* the first, and seven others behind it */
        uint8_t text[8][LEN];

        memcpy(text[0], bytes[0], LEN);
        memcpy(text[1], bytes[i], sizeof text - LEN);
        add_item(text, sizeof text);
    }
    check(literals, N);
}

static void test_no_match_and_no_literal(void **state)
{
    const struct sl_literal literals[] = {literal_of("needle", 0), literal_of("pin", 1)};
    static uint8_t hay[100000];

    (void)state;
    memset(hay, 'n', sizeof hay);
    sl_batch_reset(batch);
    check(literals, 2);
    add_item(hay, 0);
    add_item(hay, sizeof hay);
    check(literals, 2);
    assert_int_equal(found.n, 0);
    check(NULL, 0);
    assert_int_equal(found.n, 0);
}

static void test_known_hits(void **state)
{
    const struct sl_literal literals[] = {literal_of("he", 0), literal_of("she", 0),
                                          literal_of("his", 0), literal_of("HERS", 1),
                                          literal_of("she", 0)};

    (void)state;
    sl_batch_reset(batch);
    add_item("ushers", 6);
    check(literals, 5);
    assert_int_equal(found.n, 4);
    sl_hits_sort(&found);
    assert_int_equal(found.hit[0].offset, 4);
    assert_int_equal(found.hit[0].id, 0);
    assert_int_equal(found.hit[3].offset, 6);
    assert_int_equal(found.hit[3].id, 3);
}

/* The first item begins where readable memory does, and SL_BATCH_SLACK behind the last it ends. */
static void test_guard_pages(void **state)
{
    const size_t page = 4096;
    const struct sl_literal literals[] = {literal_of("a", 0), literal_of("aab", 1),
                                          literal_of("baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 1)};

    (void)state;
    for (uint32_t len = 0; len <= 200; len++) {
        uint8_t *pages =
            (uint8_t *)mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const uint32_t at = (uint32_t)(page - SL_BATCH_SLACK - 208);
        struct sl_span payload[] = {{0, len}, {at + 208 - len, len}};
        uint16_t overlap[2] = {0, 0};
        struct sl_batch guarded = {.memory = SL_MEMORY_HOST,
                                   .n_items = 2,
                                   .max_items = 2,
                                   .bytes_len = at + 208,
                                   .bytes_cap = at + 208,
                                   .bytes = pages + page,
                                   .payload = payload,
                                   .overlap = overlap};

        assert_ptr_not_equal(pages, MAP_FAILED);
        assert_int_equal(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
        memset(pages + page, 'a', page);
        pages[page] = 'b';
        pages[page + at + 207] = 'b';
        check_batch(&guarded, literals, 3);
        munmap(pages, 3 * page);
    }
}

/* ---- hostile sets and texts ------------------------------------------------------------------ */

enum { HOSTILE_TEXT = 1 << 16, HOSTILE_LITERALS = 4000, HOSTILE_BYTES = 9 << 20 };

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
    uint8_t *bytes = hostile_literal(hostile, longest_literal);

    for (uint32_t i = 0; i < longest_literal; i++)
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

/* Runs of every length, and a text of runs of a byte that differs in what is lower case to letters.
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
    sl_batch_reset(batch);
    if (turn % 3 != 0)
        add_item(hostile->text, 1 << 14);
    if (turn % 3 != 1)
        add_item("hay, a needle, and needles", 26);
    expected.n = mpm_ref_scan(hostile->literals, hostile->n, batch, expected.hit, expected.cap);
    assert_true(turn % 3 == 1 || expected.n >= 2);
}

/* What is given up is one batch: those after it are scanned as those before. */
static void test_batches_after_hostile_ones(void **state)
{
    struct hostile *hostile = hostile_period_and_needle();
    struct sl_mpm_table *table = build(hostile->literals, hostile->n);
    const struct sl_backend *backend = find_backend(table, backend_name);
    void *context = open_context(backend, table);

    (void)state;
    for (int turn = 0; turn < 6; turn++) {
        fill_in_turn(hostile, turn);
        assert_int_equal(scan_batch(backend, context, batch, &found), SL_OK);
        assert_same_hits();
    }
    backend->close(context);
    sl_mpm_free(table);
    free(hostile);
}

/* Hits that stay on the GPU: all are there when wait has returned, of hostile batches too. Pinned
 * memory is memory of the GPU that the test can read. */
static void test_hits_that_stay(void **state)
{
    struct hostile *hostile = hostile_period_and_needle();
    struct sl_mpm_table *table = build(hostile->literals, hostile->n);
    const struct sl_backend *backend = find_backend(table, backend_name);
    const bool on_gpu = backend->device == SL_DEVICE_CUDA;
    struct sl_limits staying = limits;
    uint64_t *n_stay = NULL;

    (void)state;
    staying.max_hits = 1 << 16;
    if (on_gpu)
        n_stay = (uint64_t *)device_pinned_alloc(sizeof *n_stay +
                                                 staying.max_hits * sizeof(struct sl_hit));
    staying.device_hits = n_stay;
    if (on_gpu && strcmp(algorithm, "tag") == 0) { /* the CPU verifies */
        void *refused;

        assert_int_equal(backend->open(&refused, table, &staying, NULL), SL_EUNSUPPORTED);
        staying.device_hits = NULL;
    }
    void *context = open_within(backend, table, &staying);

    for (int turn = 0; turn < 6 && staying.device_hits != NULL; turn++) {
        struct sl_hits count = {NULL, 0, 0, false};

        fill_in_turn(hostile, turn);
        assert_int_equal(scan_batch(backend, context, batch, &count), SL_OK);
        assert_int_equal(*n_stay, count.n);
        assert_true(count.n <= staying.max_hits);
        memcpy(found.hit, n_stay + 1, count.n * sizeof *found.hit);
        found.n = count.n;
        assert_same_hits();
    }
    backend->close(context);
    device_pinned_free(n_stay);
    sl_mpm_free(table);
    free(hostile);
    if (!on_gpu)
        skip();
    assert_non_null(n_stay);
}

static double fastest_scan(const char *name, const char *on, const struct hostile *hostile,
                           struct sl_hits *hits)
{
    struct sl_mpm_table *table = build_with(name, hostile->literals, hostile->n);
    double best = 0;

    for (int i = 0; i < 5; i++) {
        const double begin = seconds();

        assert_int_equal(scan_table(table, on, batch, hits), SL_OK);
        const double took = seconds() - begin;
        best = i == 0 || took < best ? took : best;
    }
    sl_mpm_free(table);
    return best;
}

/* All give the oracle's hits. gram also switches to the automaton where verification is dear:
 * without that it would take hundreds of times as long as this. */
static void test_hostile_sets(void **state)
{
    static void (*const make[])(struct hostile *) = {make_period, make_shared, make_runs,
                                                     make_tiny,   make_few,    make_mixed};
    struct hostile *hostile = (struct hostile *)calloc(1, sizeof *hostile);
    const uint32_t text_len = fewer(HOSTILE_TEXT, 1 << 14);

    (void)state;
    assert_non_null(hostile);
    for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
        hostile->n = 0;
        hostile->end = hostile->bytes;
        make[i](hostile);
        hostile->n = fewer((uint32_t)hostile->n, (uint32_t)(hostile->n + 39) / 40);
        sl_batch_reset(batch);
        add_item(hostile->text, text_len);
        for (uint32_t at = 0; at + 1400 < text_len; at += 1400)
            add_item(hostile->text + at, 1400);
        check(hostile->literals, hostile->n);
        if (strcmp(algorithm, "gram") == 0) {
            const char *on = built_for == SL_DEVICE_CUDA ? backend_name : "scalar";
            const double limit = 30 * fastest_scan("ac", on, hostile, &expected) + 1e-3;

            assert_true(fastest_scan(algorithm, backend_name, hostile, &found) < limit);
        }
    }
    free(hostile);
}

/* ---- the contract ---------------------------------------------------------------------------- */

static void test_overflow_counts_exactly(void **state)
{
    const struct sl_literal literals[] = {literal_of("a", 0), literal_of("aa", 1)};
    static const size_t caps[] = {0, 1, 7, 1998, 1999, 2000};
    static char text[1000];
    struct sl_hit few[2000];

    (void)state;
    memset(text, 'a', sizeof text);
    sl_batch_reset(batch);
    add_item(text, sizeof text);

    struct sl_mpm_table *table = build(literals, 2);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct sl_hits hits = {.hit = few, .cap = caps[i], .n = 12345};

        memset(few, 0xAA, sizeof few);
        assert_int_equal(scan_table(table, backend_name, batch, &hits),
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
static void test_pieces_give_the_same_hits(void **state)
{
    enum { LEN = 700, OVERLAP = 20 };
    static uint8_t text[LEN];
    static uint8_t bytes[100 * (OVERLAP + 1)];
    struct sl_literal literals[100];
    uint64_t random = 5;

    (void)state;
    fill_random(&random, text, LEN, "aAb");
    cut_literals(&random, literals, bytes, 100, text, LEN, OVERLAP + 1);
    for (uint32_t piece = OVERLAP + 1; piece <= LEN; piece++) {
        uint64_t done = 0;

        sl_batch_reset(batch);
        add_item(text, LEN);
        expected.n = mpm_ref_scan(literals, 100, batch, expected.hit, expected.cap);

        sl_batch_reset(batch);
        sl_batch_add_pieces(batch, text, LEN, piece, OVERLAP, &done);
        assert_int_equal(done, LEN);
        struct sl_mpm_table *table = build(literals, 100);
        assert_int_equal(scan_table(table, backend_name, batch, &found), SL_OK);
        sl_mpm_free(table);
        for (size_t i = 0; i < found.n; i++) {
            found.hit[i].offset += (uint32_t)batch->origin[found.hit[i].item].position;
            found.hit[i].item = 0;
        }
        assert_same_hits();
    }
}

static void test_order_of_items_changes_nothing(void **state)
{
    enum { N = 200 };
    static uint8_t text[10000];
    static uint8_t bytes[50 * 12];
    struct sl_literal literals[50];
    uint32_t order[N];
    uint64_t random = 6;

    (void)state;
    fill_random(&random, text, sizeof text, "abcABC");
    cut_literals(&random, literals, bytes, 50, text, sizeof text, 12);
    sl_batch_reset(batch);
    for (uint32_t i = 0; i < N; i++) {
        order[i] = i;
        add_item(text + i * 40, i);
    }
    expected.n = mpm_ref_scan(literals, 50, batch, expected.hit, expected.cap);

    for (uint32_t i = N - 1; i > 0; i--) {
        const uint32_t other = test_below(&random, i + 1);
        const uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    sl_batch_reset(batch);
    for (uint32_t i = 0; i < N; i++)
        add_item(text + order[i] * 40, order[i]);
    struct sl_mpm_table *table = build(literals, 50);
    assert_int_equal(scan_table(table, backend_name, batch, &found), SL_OK);
    sl_mpm_free(table);
    for (size_t i = 0; i < found.n; i++)
        found.hit[i].item = order[found.hit[i].item];
    assert_same_hits();
}

/* A context is used again and again, and what is left from one batch is not seen in the next. */
static void test_contexts_are_reusable(void **state)
{
    const struct sl_literal literals[] = {literal_of("ab", 0)};
    struct sl_mpm_table *table = build(literals, 1);
    const struct sl_backend *backend = find_backend(table, backend_name);
    void *first = open_context(backend, table);
    void *second = open_context(backend, table);

    (void)state;
    sl_batch_reset(batch);
    add_item("xxa", 3);
    assert_int_equal(scan_batch(backend, first, batch, &found), SL_OK);
    assert_int_equal(found.n, 0);
    sl_batch_reset(batch);
    add_item("bab", 3);
    assert_int_equal(scan_batch(backend, first, batch, &found), SL_OK);
    assert_int_equal(found.n, 1);
    backend->close(first);
    assert_int_equal(scan_batch(backend, second, batch, &found), SL_OK);
    assert_int_equal(found.n, 1);
    backend->close(second);
    backend->close(NULL);
    sl_mpm_free(table);
}

static void test_batches_outside_the_contract(void **state)
{
    const struct sl_literal literals[] = {literal_of("ab", 0)};
    struct sl_mpm_table *table = build(literals, 1);
    const struct sl_backend *backend = find_backend(table, backend_name);
    void *context = open_context(backend, table);
    struct sl_batch wrong;

    (void)state;
    sl_batch_reset(batch);
    add_item("ab", 2);
    wrong = *batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    wrong = *batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    wrong.n_items = MAX_ITEMS + 1;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    wrong.n_items = 1;
    wrong.bytes_len = MAX_BYTES + SL_BATCH_ALIGN;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    backend->close(context);
    sl_mpm_free(table);
}

/* ---- building -------------------------------------------------------------------------------- */

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

static void test_bad_sets_are_refused(void **state)
{
    struct sl_literal literals[] = {literal_of("ab", 0), literal_of("cd", 0), literal_of("ef", 0)};
    static const uint8_t bytes[SL_LITERAL_LEN_MAX + 1];

    (void)state;
    literals[1].len = 0;
    assert_refused(algorithm, literals, 3, 2, "0 bytes");
    literals[1] = (struct sl_literal){.bytes = bytes, .len = SL_LITERAL_LEN_MAX + 1};
    assert_refused(algorithm, literals, 3, 2, "4097 bytes");
    literals[1] = literal_of("cd", 8);
    assert_refused(algorithm, literals, 3, 2, "0x8");
    assert_refused(algorithm, literals, SL_LITERAL_COUNT_MAX + (size_t)1, SL_LITERAL_COUNT_MAX + 1,
                   "1000001 literals");
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

static void test_auto_picks_by_device_and_lengths(void **state)
{
    const struct sl_literal literals[] = {literal_of("abcd", 0), literal_of("abc", 0)};
    const char *vectors = cpu_level() >= CPU_AVX2 ? "gram" : "ac";

    (void)state;
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 0), vectors);
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 1), vectors);
    assert_string_equal(picked(SL_DEVICE_CPU, literals, 2), "ac");
    assert_string_equal(picked(SL_DEVICE_CUDA, literals, 2), "gram");
}

/* "wm" is one of those with a fixed length of blocks: few literals, "wm2", many, "wm3". */
static void test_wm_picks_block_length(void **state)
{
    enum { N = 5000 };
    static uint8_t bytes[N * 8];
    static struct sl_literal literals[N];
    static const size_t counts[] = {0, 10, N};
    static const char *const picks[] = {"wm2", "wm2", "wm3"};

    (void)state;
    if (mpm_find_algorithm("wm") == NULL)
        skip();
    for (uint32_t i = 0; i < N; i++) {
        snprintf((char *)bytes + i * 8, 8, "%07u", i * 1999);
        literals[i] = (struct sl_literal){.bytes = bytes + i * 8, .len = 7};
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct sl_mpm_table *table = build_with("wm", literals, counts[i]);
        struct sl_mpm_table *pick = build_with(picks[i], literals, counts[i]);
        struct sl_mpm_info info, pick_info;

        sl_mpm_info(table, &info);
        sl_mpm_info(pick, &pick_info);
        assert_string_equal(info.algorithm, "wm");
        assert_int_equal(info.table_len, pick_info.table_len);
        sl_mpm_free(table);
        sl_mpm_free(pick);
    }
}

/* ---- real rules on real captures ------------------------------------------------------------- */

enum { MAX_CONTENTS = 30000 };

struct contents {
    struct sl_literal *literals;
    size_t n;
    uint8_t *bytes;
    size_t bytes_len;
    size_t bytes_cap;
};

static uint8_t *read_file(const char *folder, const char *name, size_t *len)
{
    char path[1024];
    uint8_t *bytes = NULL;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        *len = (size_t)ftell(file);
        rewind(file);
        bytes = (uint8_t *)malloc(*len + 1);
        if (bytes != NULL) {
            *len = fread(bytes, 1, *len, file);
            bytes[*len] = '\0';
        }
    }
    fclose(file);
    return bytes;
}

/* The bytes of a rule's content up to its closing quote; returns where that is, or NULL. */
static const char *decode_content(const char *text, uint8_t *to, uint32_t *len)
{
    bool hex = false;

    *len = 0;
    for (; *text != '"'; text++) {
        if (*text == '\0' || *text == '\n' || *len == SL_LITERAL_LEN_MAX)
            return NULL;
        if (*text == '|') {
            hex = !hex;
        } else if (hex && *text != ' ') {
            const char digits[] = {text[0], text[1], '\0'};
            char *last;

            to[(*len)++] = (uint8_t)strtoul(digits, &last, 16);
            if (*last != '\0')
                return NULL;
            text++;
        } else if (!hex) {
            text += *text == '\\' && text[1] != '\0';
            to[(*len)++] = (uint8_t)*text;
        }
    }
    return text;
}

/* One byte alone is no literal to test with: it is found so often that little else would be. */
static void take_contents(struct contents *contents, const char *rules)
{
    while ((rules = strstr(rules, "content:\"")) != NULL && contents->n < MAX_CONTENTS &&
           contents->bytes_cap - contents->bytes_len > SL_LITERAL_LEN_MAX) {
        uint8_t *to = contents->bytes + contents->bytes_len;
        uint32_t len;
        const char *end = decode_content(rules + strlen("content:\""), to, &len);

        rules += strlen("content:\"");
        if (end == NULL || len < 2)
            continue;
        contents->literals[contents->n++] = (struct sl_literal){
            .bytes = to, .len = len, .flags = strncmp(end, "\"; nocase;", 10) == 0};
        contents->bytes_len += len;
        rules = end;
    }
}

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t len = strlen(name);

    return len >= strlen(suffix) && strcmp(name + len - strlen(suffix), suffix) == 0;
}

static int compare_literals(const void *left, const void *right)
{
    const struct sl_literal *a = (const struct sl_literal *)left;
    const struct sl_literal *b = (const struct sl_literal *)right;

    if (a->len != b->len || a->flags != b->flags)
        return a->len != b->len ? (a->len < b->len ? -1 : 1) : (a->flags < b->flags ? -1 : 1);
    return memcmp(a->bytes, b->bytes, a->len);
}

static void read_contents(struct contents *contents, const char *folder)
{
    struct dirent *entry;
    DIR *dir = opendir(folder);
    size_t n = 0;

    contents->bytes_cap = 32 << 20;
    contents->bytes = (uint8_t *)malloc(contents->bytes_cap);
    contents->literals = (struct sl_literal *)calloc(MAX_CONTENTS, sizeof *contents->literals);
    contents->n = 0;
    contents->bytes_len = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        size_t len;
        uint8_t *text =
            has_suffix(entry->d_name, ".rules") ? read_file(folder, entry->d_name, &len) : NULL;

        if (text == NULL)
            continue;
        take_contents(contents, (const char *)text);
        free(text);
        /* Only distinct ones. */
        qsort(contents->literals, contents->n, sizeof *contents->literals, compare_literals);
        n = 0;
        for (size_t i = 0; i < contents->n; i++)
            if (i == 0 || compare_literals(&contents->literals[i], &contents->literals[n - 1]) != 0)
                contents->literals[n++] = contents->literals[i];
        contents->n = n;
    }
    closedir(dir);
}

/* Keeps every n-th, as evenly over lengths as they are. */
static void thin_contents(struct contents *contents, size_t every)
{
    for (size_t i = 0; i * every < contents->n; i++)
        contents->literals[i] = contents->literals[i * every];
    contents->n = (contents->n + every - 1) / every;
}

/* Another algorithm, whose first CPU backend then is the judge: the peer if there is one. */
static const char *choose_judge(void)
{
    if (mpm_find_algorithm("vectorscan") != NULL && strcmp(algorithm, "vectorscan") != 0)
        return "vectorscan";
    if (strcmp(algorithm, "ac") != 0)
        return "ac";
    return mpm_find_algorithm("pfac") != NULL ? "pfac" : "gram";
}

struct trial {
    const struct sl_mpm_table *table;
    const struct sl_mpm_table *judge;
    const char *judge_backend;
    size_t n_hits;
    double n_bytes;
};

/* Scans the batch with both, and empties it. Where the hits are too many for the arrays, which
 * happens in long runs of one byte, their number must be the same. */
static void compare_with_judge(struct trial *trial)
{
    const enum sl_status status = scan_table(trial->table, backend_name, batch, &found);

    assert_int_equal(scan_table(trial->judge, trial->judge_backend, batch, &expected), status);
    assert_int_equal(status, found.n > MAX_HITS ? SL_EOVERFLOW : SL_OK);
    if (status == SL_EOVERFLOW)
        assert_int_equal(found.n, expected.n);
    else
        assert_same_hits();
    trial->n_hits += found.n;
    trial->n_bytes += batch->bytes_len;
    sl_batch_reset(batch);
}

/* Whole files, in pieces where they do not fit into the room that is left. */
static void scan_captures(struct trial *trial, const char *folder, uint16_t overlap, double limit_s)
{
    const double end = seconds() + limit_s;
    struct dirent *entry;
    DIR *dir = opendir(folder);

    assert_non_null(dir);
    sl_batch_reset(batch);
    while (seconds() < end && (entry = readdir(dir)) != NULL) {
        size_t len;
        uint64_t done = 0;
        uint8_t *bytes = entry->d_name[0] != '.' ? read_file(folder, entry->d_name, &len) : NULL;

        while (bytes != NULL && done < len && seconds() < end) {
            sl_batch_add_pieces(batch, bytes, len, fewer(1 << 18, 1 << 13), overlap, &done);
            if (batch->bytes_len > 1 << 20)
                compare_with_judge(trial);
        }
        free(bytes);
    }
    compare_with_judge(trial);
    closedir(dir);
}

static void test_rules_on_captures(void **state)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    char folder[1024];
    struct contents contents;
    struct trial trial = {0};

    (void)state;
    if (data == NULL) {
        puts("SLUICE_TEST_DATA is not set: no rules and captures to test with");
        skip();
    }
    snprintf(folder, sizeof folder, "%s/rules/et-open-2024-04", data);
    read_contents(&contents, folder);
    assert_true(contents.n > 10000);
    thin_contents(&contents, content_stride);

    const char *judge = choose_judge();
    struct sl_mpm_table *table = build(contents.literals, contents.n);
    struct sl_mpm_table *judge_table = build_with(judge, contents.literals, contents.n);
    trial = (struct trial){
        .table = table,
        .judge = judge_table,
        .judge_backend = sl_engine_choose(sl_mpm_engine(judge_table), SL_DEVICE_CPU, NULL)->name};
    snprintf(folder, sizeof folder, "%s/pcap", data);
    scan_captures(&trial, folder, SL_OVERLAP_MAX, captures_s);
    printf("%zu literals (1 in %zu), %zu hits in %.0f MB as %s's\n", contents.n, content_stride,
           trial.n_hits, trial.n_bytes / 1e6, judge);
    assert_true(trial.n_hits > 0);
    sl_mpm_free(table);
    sl_mpm_free(judge_table);
    free(contents.literals);
    free(contents.bytes);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Backends whose time a set of thousands would multiply by as much. */
static bool compares_one_by_one(const char *argument)
{
    static const char *const names[] = {"rk.cuda-block", "rk.cuda-thread", "rk.tiled-block"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0)
            return true;
    return false;
}

/* Reads "ac.scalar"; false, with the reason printed, where that cannot run here. */
static bool choose_backend(const char *argument)
{
    const char *dot = strchr(argument, '.');
    char why[SL_WHY_LEN] = "";

    if (dot == NULL || (size_t)(dot - argument) >= sizeof algorithm) {
        fprintf(stderr, "usage: ALGORITHM.BACKEND\n");
        exit(2);
    }
    memcpy(algorithm, argument, (size_t)(dot - argument));
    backend_name = dot + 1;
    if (mpm_find_algorithm(algorithm) == NULL) {
        printf("skipped: this build has no algorithm %s\n", algorithm);
        return false;
    }

    if (strcmp(algorithm, "vectorscan") == 0)
        longest_literal = 3999; /* its expressions end at 16,000 characters */
    one_by_one = compares_one_by_one(argument);
    built_for = strstr(argument, ".cuda") != NULL || strstr(argument, ".tiled") != NULL
                    ? SL_DEVICE_CUDA
                    : SL_DEVICE_CPU;
    if (one_by_one)
        printf("%s compares with one literal after another: a part of each large test\n", argument);
    if (one_by_one || strcmp(algorithm, "naive") == 0) { /* all would take an hour a capture */
        content_stride = 200;
        captures_s = 10;
    }

    struct sl_mpm_table *table = build(NULL, 0);
    const struct sl_backend *backend = find_backend(table, backend_name);
    if (backend == NULL) {
        fprintf(stderr, "%s has no backend %s\n", algorithm, backend_name);
        exit(2);
    }
    const bool usable = backend->usable(why);
    if (!usable)
        printf("skipped: %s\n", why);
    else if (backend->device == SL_DEVICE_CUDA && sl_stage_open(&stage, &limits, NULL) != SL_OK)
        exit(1);
    sl_mpm_free(table);
    return usable;
}

int mpm_trials(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_hits),
        cmocka_unit_test(test_all_sets_on_all_texts),
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_least_lengths),
        cmocka_unit_test(test_many_states),
        cmocka_unit_test(test_tables_for_both_devices),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_long_items),
        cmocka_unit_test(test_runs_of_one_byte),
        cmocka_unit_test(test_literals_that_begin_alike),
        cmocka_unit_test(test_a_million_duplicates),
        cmocka_unit_test(test_near_matches_everywhere),
        cmocka_unit_test(test_a_key_like_an_empty_slot),
        cmocka_unit_test(test_no_match_and_no_literal),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_hostile_sets),
        cmocka_unit_test(test_batches_after_hostile_ones),
        cmocka_unit_test(test_hits_that_stay),
        cmocka_unit_test(test_overflow_counts_exactly),
        cmocka_unit_test(test_pieces_give_the_same_hits),
        cmocka_unit_test(test_order_of_items_changes_nothing),
        cmocka_unit_test(test_contexts_are_reusable),
        cmocka_unit_test(test_batches_outside_the_contract),
        cmocka_unit_test(test_bad_sets_are_refused),
        cmocka_unit_test(test_auto_picks_by_device_and_lengths),
        cmocka_unit_test(test_wm_picks_block_length),
        cmocka_unit_test(test_rules_on_captures),
    };

    if (!choose_backend(argc >= 2 ? argv[1] : ""))
        return TEST_SKIPPED;
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    found.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *found.hit);
    expected.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *expected.hit);
    found.cap = expected.cap = MAX_HITS;
    if (found.hit == NULL || expected.hit == NULL ||
        sl_batch_create(&batch, MAX_BYTES, MAX_ITEMS, NULL) != SL_OK)
        return 1;

    const int failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    sl_batch_free(batch);
    sl_stage_close(stage);
    free(found.hit);
    free(expected.hit);
    return failed;
}
