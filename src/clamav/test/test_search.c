/* SPDX-License-Identifier: MIT */
/* Searching: literals in text at every level of instructions, and parts of files in batches that
 * others fill. Expressions over files that are not in memory are compared with the definition. */
#include "test.h"

#include <ctype.h>

#include "base/cpu.h"
#include "clamav/find.h"
#include "clamav/find_many.h"
#include "clamav_ref.h"
#include "sluice/clamav.h"

/* ---- literals -------------------------------------------------------------------------------- */

static size_t find_slowly(const uint8_t *text, size_t n, const uint8_t *key, size_t len,
                          bool nocase)
{
    for (size_t at = 0; at < n; at++) {
        size_t i = 0;

        while (i < len &&
               (nocase ? tolower(text[at + i]) == tolower(key[i]) : text[at + i] == key[i]))
            i++;
        if (i == len)
            return at;
    }
    return n;
}

static void check_find(clam_find_fn *find, uint64_t *seed)
{
    static const uint8_t letters[] = {'a', 'A', '@', '`', 'b', 0};

    for (int round = 0; round < 20000; round++) {
        const size_t len = 1 + test_below(seed, round % 3 == 0 ? 3 : 12), n = test_below(seed, 300);
        const uint32_t n_letters = 2 + test_below(seed, 5);
        const bool nocase = test_below(seed, 2) == 0;
        uint8_t *text = malloc(n + len - 1 + (n + len == 1)), key[16]; /* reads behind it show */
        struct clam_needle needle;

        for (size_t i = 0; i < n + len - 1; i++)
            text[i] = letters[test_below(seed, n_letters)];
        for (size_t i = 0; i < len; i++)
            key[i] = letters[test_below(seed, n_letters)];
        clam_needle_init(&needle, key, len, nocase);
        assert_int_equal(find(&needle, text, n), find_slowly(text, n, key, len, nocase));
        free(text);
    }
}

static void test_find(void **state)
{
    uint64_t seed = 3;

    (void)state;
    check_find(clam_find_scalar, &seed);
    if (cpu_level() >= CPU_AVX2)
        check_find(clam_find_avx2, &seed);
    if (cpu_level() >= CPU_AVX512)
        check_find(clam_find_avx512, &seed);
}

/* Every place where the bytes lie is given, and places ascend. */
static void check_many(find_fours_fn *find_fours, uint64_t *seed)
{
    static const uint8_t letters[] = {'a', 'A', '@', 'b', 0, 0xE1};

    for (int round = 0; round < 3000; round++) {
        const size_t n = test_below(seed, 300), n_keys = 1 + test_below(seed, FIND_FOURS_MAX);
        uint8_t *text = malloc(n + 3), keys[FIND_FOURS_MAX][12];
        uint16_t *places = malloc((n + 1) * sizeof *places);
        struct clam_needle needles[FIND_FOURS_MAX];
        struct clam_many many = {.fours = {.n = 0}};

        for (size_t i = 0; i < n + 3; i++)
            text[i] = letters[test_below(seed, 6)];
        for (size_t k = 0; k < n_keys; k++) {
            const size_t len = 1 + test_below(seed, 12);

            for (size_t i = 0; i < len; i++)
                keys[k][i] = letters[test_below(seed, 6)];
            clam_needle_init(&needles[many.fours.n], keys[k], len, test_below(seed, 2) == 0);
            assert_int_equal(clam_many_add(&many, &needles[many.fours.n]), len >= FIND_FOURS_BYTES);
        }
        const size_t n_places = find_fours(&many.fours, text, n, places);
        for (size_t at = 0, next = 0; at < n; at++) {
            const bool given = next < n_places && places[next] == at;
            const uint64_t which = find_fours_which(&many.fours, text + at);

            for (size_t k = 0; k < many.fours.n; k++) {
                const struct clam_needle part = {.key = needles[k].key + many.at[k],
                                                 .len = FIND_FOURS_BYTES,
                                                 .nocase = needles[k].nocase};

                assert_int_equal(find_fours_is(&many.fours, k, text + at),
                                 clam_needle_equals(&part, text + at));
                assert_true(given || !find_fours_is(&many.fours, k, text + at));
                assert_int_equal(which >> k & 1, find_fours_is(&many.fours, k, text + at));
            }
            assert_true(many.fours.n == FIND_FOURS_MAX || which >> many.fours.n == 0);
            next += given;
            assert_true(at + 1 < n || next == n_places);
        }
        free(places);
        free(text);
    }
}

static void test_many(void **state)
{
    uint64_t seed = 4;

    (void)state;
    check_many(find_fours_scalar, &seed);
    if (cpu_level() >= CPU_AVX2)
        check_many(find_fours_avx2, &seed);
    if (cpu_level() >= CPU_AVX512)
        check_many(find_fours_avx512, &seed);
}

/* ---- expressions over files ------------------------------------------------------------------ */

struct seen {
    bool sig[64];
    unsigned done;
};

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct seen *seen = user != NULL ? user : token;

    seen->sig[atoi(match->name + 1)] = true;
}

static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct seen *seen = user != NULL ? user : token;

    (void)result;
    seen->done++;
}

static struct sl_clamav_db *compile(const char *name, const char *text)
{
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag = {.text = ""};
    const struct sl_diag *bad;

    assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
    assert_int_equal(sl_clamav_set_read_text(set, name, text, strlen(text), &diag), SL_OK);
    if ((bad = sl_clamav_bad_line(set, 0)) != NULL || (bad = sl_clamav_skipped(set, 0)) != NULL)
        fail_msg("%s", bad->text);
    assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag), SL_OK);
    sl_clamav_set_free(set);
    return db;
}

static struct sl_clamav_scanner *open_scanner(const struct sl_clamav_db *db, struct seen *user)
{
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1 << 16;
    config.match = on_match;
    config.done = on_done;
    config.user = user;
    assert_int_equal(sl_clamav_open(&scanner, db, &config, NULL), SL_OK);
    return scanner;
}

enum { N_SIGS = 21, N_SUBS = 6, SIG_LEN = 1024, FILE_LEN = 150000 };

/* Subsignature j of signature i: a literal of its own, or two with a gap between them. */
static void make_sub(unsigned i, unsigned j, char hex[64], uint8_t bytes[24])
{
    static const char *const gaps[] = {"", "*", "{-40}"};
    const unsigned gap = (i + j) % 3;

    sprintf(hex, "40%02x%02x515253%s54555657", 0x80 + i, 0xc0 + j, gaps[gap]);
    memset(bytes, '.', 24);
    memcpy(bytes, (uint8_t[]){0x40, (uint8_t)(0x80 + i), (uint8_t)(0xc0 + j), 'Q', 'R', 'S'}, 6);
    memcpy(bytes + (gap == 0 ? 6 : 17), "TUVW", 4);
}

static void make_sig(unsigned i, char line[SIG_LEN])
{
    static const struct {
        const char *expression;
        unsigned n_subs;
    } kinds[] = {
        {"0&1&2&3&4&5", 6}, {"0&(1|2)&(3|4|5)", 6},   {"(0|1|2|3|4|5)>2,3", 6}, {"0&1&(2=0)", 3},
        {"(0&1)|(2&3)", 4}, {"0&(1|2|3|4|5)>3,2", 6}, {"0&(1>1)&2", 3},
    };
    const size_t kind = i % (sizeof kinds / sizeof *kinds);
    char *at = line + sprintf(line, "S%u;Engine:51-255,Target:0;%s", i, kinds[kind].expression);

    for (unsigned j = 0; j < kinds[kind].n_subs; j++) {
        uint8_t bytes[24];
        char hex[64];

        make_sub(i, j, hex, bytes);
        at += sprintf(at, ";%s", hex);
    }
}

static void plant_subs(uint8_t *bytes, uint64_t *seed)
{
    memset(bytes, '.', FILE_LEN);
    for (unsigned i = 0; i < N_SIGS; i++)
        for (unsigned j = 0; j < N_SUBS; j++) {
            uint8_t sub[24];
            char hex[64];

            make_sub(i, j, hex, sub);
            for (unsigned times = test_below(seed, 3); times > 0; times--)
                memcpy(bytes + test_below(seed, FILE_LEN - 24), sub, 24);
        }
}

static void test_files(void **state)
{
    char(*lines)[SIG_LEN] = malloc(N_SIGS * sizeof *lines);
    char *text = calloc(N_SIGS, SIG_LEN);
    uint8_t *bytes = malloc(FILE_LEN);
    unsigned n_matches = 0;
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < N_SIGS; i++) {
        make_sig(i, lines[i]);
        strcat(strcat(text, lines[i]), "\n");
    }
    struct sl_clamav_db *db = compile("s.ldb", text);
    for (int round = 0; round < 2; round++) {
        struct sl_clamav_scanner *scanner = open_scanner(db, NULL);
        struct seen seen = {.done = 0};
        FILE *file = tmpfile();

        plant_subs(bytes, &seed);
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, FILE_LEN, file), FILE_LEN);
        assert_int_equal(fflush(file), 0);
        assert_int_equal(sl_clamav_scan_fd(scanner, fileno(file), &seen), SL_OK);
        assert_int_equal(sl_clamav_flush(scanner), SL_OK);
        assert_int_equal(seen.done, 1);
        for (unsigned i = 0; i < N_SIGS; i++) {
            const bool expected = ref_ldb(lines[i], bytes, FILE_LEN, NULL);

            n_matches += expected;
            if (seen.sig[i] != expected)
                fail_msg("round %d %s %s", round, expected ? "misses" : "matches", lines[i]);
        }
        (void)fclose(file);
        sl_clamav_close(scanner);
    }
    assert_in_range(n_matches, N_SIGS / 4, 2 * N_SIGS - N_SIGS / 4); /* both answers occur */
    sl_clamav_free(db);
    free(bytes);
    free(text);
    free(lines);
}

/* ---- parts of files -------------------------------------------------------------------------- */

/* Runs the engine over a batch of one payload, and what it found through the scanner. */
static struct seen scan_payload(const struct sl_clamav_db *db, const char *payload, size_t len)
{
    struct seen seen = {.done = 0};
    struct sl_clamav_scanner *scanner = open_scanner(db, &seen);
    struct sl_limits limits = {.max_items = 4, .max_bytes = 1 << 16, .max_hits = 64};
    struct sl_hits hits = {.hit = calloc(64, sizeof(struct sl_hit)), .cap = 64};
    const struct sl_engine *engine;
    const void *table;
    struct sl_batch *batch;
    void *context;

    assert_int_equal(sl_batch_create(&batch, 1 << 16, 4, NULL), SL_OK);
    (void)sl_batch_add(batch, "GET / HTTP/1.1", 14, 0);
    (void)sl_batch_add(batch, payload, (uint32_t)len, 0);
    sl_clamav_engine(db, &engine, &table);
    const struct sl_backend *backend = sl_engine_choose(engine, SL_DEVICE_CPU, NULL);
    assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
    assert_int_equal(backend->submit(context, batch, &hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    sl_hits_sort(&hits);
    assert_int_equal(sl_clamav_scan_hits(scanner, batch, &hits), SL_OK);
    assert_int_equal(seen.done, hits.n > 0);
    hits.hit[0].item = batch->n_items;
    hits.n = 1;
    assert_int_equal(sl_clamav_scan_hits(scanner, batch, &hits), SL_EINVAL);
    backend->close(context);
    sl_batch_free(batch);
    free(hits.hit);
    sl_clamav_close(scanner);
    return seen;
}

static void test_payloads(void **state)
{
    static const char lines[] =
        "S0;Engine:51-255,Target:1;0&1;68656c6c6f2c20776f726c64;6f726c\n"
        "S1;Engine:51-255,Target:0;0;0:66696c6520626567696e73\n"
        "S2;Engine:51-255,Target:0;0;EOF-9:66696c6520656e6473\n"
        "S3;Engine:51-255,Target:1;0;EP+0:656e74727920706f696e74\n"
        "S4;Engine:51-255,Target:0,FileSize:1000-2000;0;73697a6520626f756e64\n"
        "S5;Engine:51-255,Target:0,FileSize:1-20;0;73697a6520626f756e64\n"
        "S6;Engine:51-255,Target:0;0&(1=0);6e6f7420746f676574686572;706c656173652e\n";
    struct sl_clamav_db *db;
    struct sl_clamav_info info;
    struct seen seen;

    (void)state;
#define SCAN(text) (seen = scan_payload(db, text, sizeof text - 1))
    db = compile("p.ldb", lines);
    sl_clamav_info(db, &info);
    assert_int_equal(info.in_parts, 7);
    SCAN("..hello, world..");
    assert_true(seen.sig[0]); /* of any type */
    SCAN("file begins");
    assert_true(seen.sig[1]);
    SCAN(".file begins");
    assert_false(seen.sig[1]);
    SCAN("HTTP/1.1 200 OK\r\nServer: x\r\n\r\nfile begins");
    assert_true(seen.sig[1]);
    SCAN("HTTP/1.1 200 OK\r\nServer: x\r\n\r\n.file begins");
    assert_false(seen.sig[1]);
    SCAN("HTTP/1.1 200 OK file begins");
    assert_false(seen.sig[1]);
    SCAN("....file ends");
    assert_true(seen.sig[2]);
    SCAN("....file ends.");
    assert_false(seen.sig[2]);
    SCAN("entry point");
    assert_false(seen.sig[3]);
    SCAN("size bound");
    assert_true(seen.sig[4]); /* the file may have more */
    assert_true(seen.sig[5]);
    SCAN("size bound in a payload of more bytes");
    assert_true(seen.sig[4]);
    assert_false(seen.sig[5]);
    SCAN("not together");
    assert_true(seen.sig[6]);
    SCAN("not together please.");
    assert_false(seen.sig[6]);
    SCAN("not togethe");
    assert_int_equal(seen.done, 0);
#undef SCAN
    sl_clamav_free(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_payloads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
