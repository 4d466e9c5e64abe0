/* SPDX-License-Identifier: MIT */
/* Signatures against the definition: constructs, random ones, borders of pieces, hashes, formats.
 */
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "clamav/db.h"
#include "clamav/scanner_internal.h"
#include "clamav_ref.h"
#include "sluice/clamav.h"

enum { NAMES_MAX = 256, BATCH_LEN = 1 << 16 };

/* ---- running it ------------------------------------------------------------------------------ */

struct found {
    char *name[NAMES_MAX];
    size_t n;
    struct sl_clamav_result result;
    int done;
};

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct found *found = token;

    (void)user;
    assert_true(found->n < NAMES_MAX);
    found->name[found->n++] = strdup(match->name);
}

static void on_done(void *user, void *token, const struct sl_clamav_result *result)
{
    struct found *found = token;

    (void)user;
    found->result = *result;
    found->done++;
}

static void found_free(struct found *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->name[i]);
    memset(found, 0, sizeof *found);
}

static bool has(const struct found *found, const char *name)
{
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(found->name[i], name) == 0)
            return true;
    return false;
}

static struct sl_device device; /* that all scanners are opened on */

static struct sl_clamav_set *new_set(void)
{
    struct sl_clamav_set *set;
    struct sl_diag diag;

    assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
    return set;
}

static void read_text(struct sl_clamav_set *set, const char *name, const char *text)
{
    struct sl_diag diag = {.text = ""};

    if (sl_clamav_set_read_text(set, name, text, strlen(text), &diag) != SL_OK)
        fail_msg("%s: %s", name, diag.text);
}

static struct sl_clamav_db *compile(const struct sl_clamav_set *set)
{
    struct sl_clamav_db *db;
    struct sl_diag diag = {.text = ""};

    if (sl_clamav_compile(&db, set, device.kind, &diag) != SL_OK)
        fail_msg("compile: %s", diag.text);
    return db;
}

/* A database of one text in which nothing may be wrong. */
static struct sl_clamav_db *compile_text(const char *name, const char *text)
{
    struct sl_clamav_set *set = new_set();
    const struct sl_diag *diag;

    read_text(set, name, text);
    if ((diag = sl_clamav_bad_line(set, 0)) != NULL || (diag = sl_clamav_skipped(set, 0)) != NULL)
        fail_msg("line %u: %s in %s", diag->line, diag->text, text);
    struct sl_clamav_db *db = compile(set);
    sl_clamav_set_free(set);
    return db;
}

static struct sl_clamav_scan_config config_of(bool all)
{
    struct sl_clamav_scan_config config;

    sl_clamav_scan_config_init(&config);
    config.device = device;
    config.all_matches = all;
    config.batch_len = BATCH_LEN;
    config.match = on_match;
    config.done = on_done;
    return config;
}

static struct sl_clamav_scanner *open_with(const struct sl_clamav_db *db,
                                           const struct sl_clamav_scan_config *config)
{
    struct sl_clamav_scanner *scanner;
    struct sl_diag diag = {.text = ""};

    if (sl_clamav_open(&scanner, db, config, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    return scanner;
}

static void scan_with(const struct sl_clamav_db *db, const struct sl_clamav_scan_config *config,
                      const void *bytes, size_t len, struct found *found)
{
    struct sl_clamav_scanner *scanner = open_with(db, config);

    memset(found, 0, sizeof *found);
    assert_int_equal(sl_clamav_scan_buffer(scanner, bytes, len, found), SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    assert_int_equal(found->done, 1);
    sl_clamav_close(scanner);
}

static void scan(const struct sl_clamav_db *db, const void *bytes, size_t len, struct found *found)
{
    const struct sl_clamav_scan_config config = config_of(true);

    scan_with(db, &config, bytes, len, found);
}

static bool finds(const struct sl_clamav_db *db, const void *bytes, size_t len, const char *name)
{
    struct found found;

    scan(db, bytes, len, &found);
    const bool yes = has(&found, name);
    found_free(&found);
    return yes;
}

/* ---- constructs ------------------------------------------------------------------------------ */

struct construct {
    const char *line;
    const char *text;
    bool matches;
};

#define NDB(offset, hex) "T:0:" offset ":" hex

static const struct construct ndb_constructs[] = {
    {NDB("*", "68656c6c6f"), "say hello", true},
    {NDB("*", "68656C6C6F"), "hell", false},
    {NDB("*", "68??6c6c6f"), "say hallo", true},
    {NDB("*", "6?65?c6c6f"), "hello", true},
    {NDB("*", "6?65?c6c6f"), "jeklo", false},
    {NDB("*", "68656c*776f72"), "hello, world", true},
    {NDB("*", "776f72*68656c"), "hello, world", false},
    {NDB("*", "6865{2}6f"), "hello", true},
    {NDB("*", "6865{3}6f"), "hello", false},
    {NDB("*", "6865{-2}6f"), "heo", true},
    {NDB("*", "6865{3-}776f"), "hello world", true},
    {NDB("*", "6865{5-}776f"), "hello world", false},
    {NDB("*", "6865{1-3}6f"), "hello", true},
    {NDB("*", "6865{3-4}6f20"), "hello ", false},
    {NDB("*", "6865{200}6f"), "hello", false},
    {NDB("*", "68656c6c6f{4}"), "hello wor", true},
    {NDB("*", "68656c6c6f{4}"), "hello wo", false},
    {NDB("*", "68[1-3]6c6f"), "hello", true},
    {NDB("*", "6865[3-4]6f6f"), "hello", false},
    {NDB("*", "6865(6c6c|7878)6f"), "hexxo", true},
    {NDB("*", "6865(6c6c|7878)6f"), "heyyo", false},
    {NDB("*", "6865(6c|78)6f6f"), "hexoo", true},
    {NDB("*", "68(65|616263)6c6c6f"), "habcllo", true},
    {NDB("*", "68(65|6?6?63)6c6c6f"), "habcllo", true},
    {NDB("*", "68(65|616263)6c6c6f"), "habllo", false},
    {NDB("*", "68!(65|66)6c6c6f"), "hallo", true},
    {NDB("*", "68!(65|66)6c6c6f"), "hello", false},
    {NDB("*", "68!(6565|6666)6c6f"), "hellxxlohxxlo", true},
    {NDB("*", "(B)68656c6c6f(B)"), "say hello to", true},
    {NDB("*", "(B)68656c6c6f(B)"), "sayhello to", false},
    {NDB("*", "(L)68656c6c6f(L)"), "say\nhello\r\n", true},
    {NDB("*", "(L)68656c6c6f(L)"), "say hello", false},
    {NDB("*", "(W)68656c6c6f(W)"), "hello", true},
    {NDB("*", "(W)68656c6c6f(W)"), "xhello", false},
    {NDB("*", "!(W)68656c6c6f"), "xhello", true},
    {NDB("*", "6865(W)6c6c6f"), "he-llo", true},
    {NDB("*", "6865(W)6c6c6f"), "hexllo", false},
    {NDB("*", "6865(L)6c6c6f"), "he\r\nllo", true},
    {NDB("*", "6865(B)6c6c6f"), "he llo", true},
    {NDB("0", "68656c6c6f"), "hello", true},
    {NDB("0", "68656c6c6f"), " hello", false},
    {NDB("1,2", "68656c6c6f"), "xxxhello", true},
    {NDB("1,2", "68656c6c6f"), "xxxxhello", false},
    {NDB("EOF-5", "68656c6c6f"), "xhello", true},
    {NDB("EOF-5", "68656c6c6f"), "hellox", false},
    {NDB("EOF-9,4", "68656c6c6f"), "x hello xy", true},
    {NDB("EOF-9,4", "68656c6c6f"), "hello xy", false},
};

static const struct construct ldb_constructs[] = {
    {"T;Engine:51-255,Target:0;0&1;68656c6c6f;776f726c64", "hello world", true},
    {"T;Engine:51-255,Target:0;0&1;68656c6c6f;776f726c64", "hello", false},
    {"T;Target:0;0|1;68656c6c6f;776f726c64", "world", true},
    {"T;Target:0;0&1=0;68656c6c6f;776f726c64", "hello", true},
    {"T;Target:0;0&1=0;68656c6c6f;776f726c64", "hello world", false},
    {"T;Target:0;0=2;68656c6c6f", "hello hello", true},
    {"T;Target:0;0=2;68656c6c6f", "hello hello hello", false},
    {"T;Target:0;0>1;68656c6c6f", "hello", false},
    {"T;Target:0;0>1;61626162", "abababab", true},
    {"T;Target:0;0<3&1;68656c6c6f;776f726c64", "hello hello world", true},
    {"T;Target:0;(0|1|2)>2,2;61626364;62636465;63646566", "abcd abcd bcde", true},
    {"T;Target:0;(0|1|2)>2,2;61626364;62636465;63646566", "abcd abcd abcd", false},
    {"T;Target:0;0&1|2;61626364;62636465;63646566", "cdef", false},
    {"T;Target:0;0&(1|2);61626364;65666768;696a6b6c", "abcd ijkl", true},
    {"T;Target:0;0;48454c4c4f::i", "say hello", true},
    {"T;Target:0;0;48454c4c4f", "say hello", false},
    {"T;Target:0;0;68656c6c6f::f", "say hello.", true},
    {"T;Target:0;0;68656c6c6f::f", "say hellos", false},
    {"T;Target:0;0;0:68656c6c6f::i", "HELLO", true},
    {"T;Target:0;0;0:68656c6c6f::i", " HELLO", false},
    {"T;Target:0;0;68656c6c6f::wa", "say hello", true},
    {"T;Target:0;0;68656c6c6f::w", "say hello", false},
    {"T;FileSize:5-6,Target:0;0;68656c6c6f", "hello", true},
    {"T;FileSize:6-7,Target:0;0;68656c6c6f", "hello", false},
    {"T;Target:0;0&1;68656c6c6f;0/wor.d/", "hello world", true},
    {"T;Target:0;0&1;68656c6c6f;0/WOR.D/i", "hello world", true},
    {"T;Target:0;0&1;68656c6c6f;0/WOR.D/", "hello world", false},
    {"T;Target:0;1;68656c6c6f;0/a;b\\/c/", "hello a;b/c", true},
    {"T;Target:0;0&1>1;68656c6c6f;0/wo/g", "hello wowo", true},
    {"T;Target:0;0&1>1;68656c6c6f;0/wo/", "hello wowo", false},
    {"T;Target:0;0&1;68656c6c6f;6:0/wor/", "hello world", true},
    {"T;Target:0;0&1;68656c6c6f;5:0/wor/", "hello world", false},
    {"T;Target:0;0&1;68656c6c6f;5:0/wor/r", "hello world", true},
    {"T;Target:0;0&1;68656c6c6f;3,2:0/wor/e", "hello world", false},
};

static void check_construct(const char *database, const struct construct *construct)
{
    struct sl_clamav_db *db = compile_text(database, construct->line);

    if (finds(db, construct->text, strlen(construct->text), "T") != construct->matches)
        fail_msg("%s %s '%s'", construct->line, construct->matches ? "misses" : "matches",
                 construct->text);
    sl_clamav_free(db);
}

static void test_constructs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ndb_constructs / sizeof *ndb_constructs; i++) {
        const struct construct *c = &ndb_constructs[i];

        check_construct("t.ndb", c);
        assert_int_equal(ref_ndb(c->line, (const uint8_t *)c->text, strlen(c->text), NULL),
                         c->matches);
    }
    for (size_t i = 0; i < sizeof ldb_constructs / sizeof *ldb_constructs; i++)
        check_construct("t.ldb", &ldb_constructs[i]);
}

static void test_old_format(void **state)
{
    struct sl_clamav_db *db = compile_text("t.db", "Old=68656c6c6f\n");

    (void)state;
    assert_true(finds(db, "hello", 5, "Old"));
    sl_clamav_free(db);
}

static void test_wide(void **state)
{
    struct sl_clamav_db *db = compile_text("t.ldb", "T;Target:0;0;68656c6c6f::wf\n");

    (void)state;
    assert_true(finds(db, "x-\0h\0e\0l\0l\0o\0.", 14, "T"));
    assert_false(finds(db, "x\0h\0e\0l\0l\0o\0.", 13, "T"));
    sl_clamav_free(db);
}

/* ---- random signatures ----------------------------------------------------------------------- */

static const char alphabet[] = "ab A\n-1B";
static uint32_t n_letters = 8; /* of it that are in use: with few of them much matches */

static char *put(char *to, const char *format, unsigned value)
{
    return to + sprintf(to, format, value);
}

static char *random_byte(uint64_t *seed, char *to, bool wild)
{
    const unsigned byte = (unsigned char)alphabet[test_below(seed, n_letters)];
    const uint32_t kind = wild ? test_below(seed, 14) : 9;

    if (kind == 0)
        return put(to, "??", 0);
    if (kind == 1)
        return put(to, "%x?", byte >> 4);
    if (kind == 2)
        return put(to, "?%x", byte & 15);
    return put(to, "%02x", byte);
}

static char *random_alternates(uint64_t *seed, char *to)
{
    const uint32_t n = 2 + test_below(seed, 2), len = 1 + test_below(seed, 2);
    const bool negated = test_below(seed, 4) == 0, varied = !negated && test_below(seed, 3) == 0;

    to = put(to, negated ? "!(" : "(", 0);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            *to++ = '|';
        for (uint32_t k = 0; k < len + (varied ? i : 0); k++)
            to = random_byte(seed, to, varied);
    }
    return put(to, ")", 0);
}

static char *random_gap(uint64_t *seed, char *to, bool brackets)
{
    const unsigned min = test_below(seed, 4), max = min + test_below(seed, 5);

    switch (test_below(seed, brackets ? 6 : 5)) {
    case 0:
        return put(to, "*", 0);
    case 1:
        return put(to, "{%u}", min + 1);
    case 2:
        return put(to, "{-%u}", max + 1);
    case 3:
        return put(to, "{%u-}", min);
    case 4:
        to = put(to, "{%u", min);
        return put(to, "-%u}", max + 1);
    default:
        to = put(to, "[%u", min);
        return put(to, "-%u]", max);
    }
}

static void random_body(uint64_t *seed, char *to)
{
    static const char *const classes[] = {"(B)", "(L)", "(W)", "!(W)"};
    const uint32_t n_runs = 1 + test_below(seed, 3);

    if (test_below(seed, 12) == 0)
        to = put(to, classes[test_below(seed, 4)], 0);
    for (uint32_t run = 0; run < n_runs; run++) {
        const uint32_t n = test_below(seed, 4);

        if (run > 0)
            to = random_gap(seed, to, true);
        to = random_byte(seed, to, false);
        for (uint32_t i = 0; i < n; i++) {
            if (test_below(seed, 8) == 0)
                to = random_alternates(seed, to);
            to = random_byte(seed, to, true);
            if (test_below(seed, 30) == 0)
                to = put(to, classes[test_below(seed, 2) * 2], 0);
        }
        if (n > 0 || test_below(seed, 2) == 0)
            to = random_byte(seed, to, false);
    }
    if (test_below(seed, 12) == 0)
        to = put(to, classes[test_below(seed, 4)], 0);
    *to = '\0';
}

static void random_offset(uint64_t *seed, char *to)
{
    switch (test_below(seed, 6)) {
    case 0:
        sprintf(to, "%u", test_below(seed, 20));
        break;
    case 1:
        sprintf(to, "%u,%u", test_below(seed, 10), test_below(seed, 30));
        break;
    case 2:
        sprintf(to, "EOF-%u,%u", test_below(seed, 60), test_below(seed, 30));
        break;
    default:
        strcpy(to, "*");
    }
}

static void random_ndb(uint64_t *seed, unsigned number, char *line)
{
    char offset[64], hex[2048];

    random_offset(seed, offset);
    random_body(seed, hex);
    sprintf(line, "N%u:0:%s:%s", number, offset, hex);
}

static char *random_expression(uint64_t *seed, char *to, unsigned n_subs, unsigned depth)
{
    if (depth == 0 || test_below(seed, 3) == 0) {
        to = put(to, "%u", test_below(seed, n_subs));
    } else {
        *to++ = '(';
        to = random_expression(seed, to, n_subs, depth - 1);
        *to++ = "&|"[test_below(seed, 2)];
        to = random_expression(seed, to, n_subs, depth - 1);
        *to++ = ')';
        if (test_below(seed, 3) == 0) {
            *to++ = "=<>"[test_below(seed, 3)];
            to = put(to, "%u", test_below(seed, 5));
            if (test_below(seed, 2) == 0)
                to = put(to, ",%u", 1 + test_below(seed, 3));
        }
        return to;
    }
    if (test_below(seed, 4) == 0) {
        *to++ = "=<>"[test_below(seed, 3)];
        to = put(to, "%u", test_below(seed, 4));
    }
    return to;
}

static void random_ldb(uint64_t *seed, unsigned number, char *line)
{
    static const char *const options[] = {"::i", "::f", "::w", "::wa", "::iwf", "::fi"};
    const unsigned n_subs = 1 + test_below(seed, 4);

    line += sprintf(line, "L%u;Engine:51-255,Target:0;", number);
    line = random_expression(seed, line, n_subs, 2);
    /* All of them must be named. */
    for (unsigned i = 0; i < n_subs; i++)
        line = put(line, i % 2 == 0 ? "|%u" : "&%u", i);
    for (unsigned i = 0; i < n_subs; i++) {
        char hex[2048];

        random_body(seed, hex);
        line += sprintf(line, ";%s", hex);
        if (test_below(seed, 3) == 0)
            line += sprintf(line, "%s", options[test_below(seed, 6)]);
    }
}

static size_t random_bytes(uint64_t *seed, uint8_t *bytes)
{
    const size_t len = test_below(seed, 120);
    const bool wide = test_below(seed, 4) == 0;

    for (size_t i = 0; i < len; i++)
        bytes[i] = wide && i % 2 == 1 ? 0 : (uint8_t)alphabet[test_below(seed, n_letters)];
    return len;
}

enum { LINE = 16384 };

static void read_lines(struct sl_clamav_set *set, char (*lines)[LINE], unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        read_text(set, i % 2 == 0 ? "r.ndb" : "r.ldb", lines[i]);
    const struct sl_diag *bad = sl_clamav_bad_line(set, 0);
    if (bad != NULL)
        fail_msg("%s", bad->text);
}

/* Reads the lines as a database that was compiled and saved. */
static void read_compiled(struct sl_clamav_set *set, char (*lines)[LINE], unsigned from,
                          unsigned to)
{
    char path[] = "/tmp/test_clamav_XXXXXX";
    const int fd = mkstemp(path);
    struct sl_clamav_set *part = new_set();
    struct sl_diag diag;

    assert_true(fd >= 0);
    close(fd);
    read_lines(part, lines, from, to);
    struct sl_clamav_db *db = compile(part);
    sl_clamav_set_free(part);
    assert_int_equal(sl_clamav_save(db, path, &diag), SL_OK);
    sl_clamav_free(db);
    if (sl_clamav_set_read(set, (const char *const[]){path}, 1, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    unlink(path);
}

/* `n_compiled` of the signatures come from compiled databases, before and behind the others. */
static unsigned check_random(uint64_t *seed, unsigned n_sigs, unsigned n_texts, unsigned n_compiled)
{
    char(*lines)[LINE] = malloc(n_sigs * sizeof *lines);
    struct sl_clamav_set *set = new_set();
    const unsigned from = n_compiled / 2, to = n_sigs - (n_compiled - from);
    uint8_t bytes[256];
    unsigned n_matches = 0;

    for (unsigned i = 0; i < n_sigs; i++) {
        if (i % 2 == 0)
            random_ndb(seed, i, lines[i]);
        else
            random_ldb(seed, i, lines[i]);
    }
    if (from > 0)
        read_compiled(set, lines, 0, from);
    read_lines(set, lines, from, to);
    if (to < n_sigs)
        read_compiled(set, lines, to, n_sigs);
    struct sl_clamav_db *db = compile(set);
    for (unsigned t = 0; t < n_texts; t++) {
        const size_t len = random_bytes(seed, bytes);
        struct found found;

        scan(db, bytes, len, &found);
        for (unsigned i = 0; i < n_sigs; i++) {
            char name[16];

            sprintf(name, "%c%u", i % 2 == 0 ? 'N' : 'L', i);
            const bool expected = i % 2 == 0 ? ref_ndb(lines[i], bytes, len, NULL)
                                             : ref_ldb(lines[i], bytes, len, NULL);
            n_matches += expected;
            if (has(&found, name) != expected)
                fail_msg("%s %s '%.*s' (%zu bytes)", lines[i], expected ? "misses" : "matches",
                         (int)len, (const char *)bytes, len);
        }
        found_free(&found);
    }
    sl_clamav_free(db);
    sl_clamav_set_free(set);
    free(lines);
    return n_matches;
}

static void test_random_sets(void **state)
{
    const char *given = getenv("CLAMAV_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : 1;

    const uint32_t n = test_fewer(60, 20);
    unsigned n_matches = 0;

    (void)state;
    for (uint32_t round = 0; round < n; round++) {
        n_letters = 2 + round % 7;
        n_matches += check_random(&seed, 20, 20, round % 3 == 0 ? 0 : round % 21);
    }
    assert_in_range(n_matches, n * 50, n * (20 * 20 - 50)); /* both answers occur */
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Scans in all ways; the findings must be the same. */
static void scan_all_ways(const struct sl_clamav_db *db, const uint8_t *bytes, size_t len,
                          const char *name, bool expected, uint64_t *seed)
{
    const struct sl_clamav_scan_config config = config_of(true);
    struct sl_clamav_scanner *scanner = open_with(db, &config);
    struct found found[3] = {{.n = 0}};
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(sl_clamav_scan_buffer(scanner, bytes, len, &found[0]), SL_OK);
    assert_int_equal(sl_clamav_scan_fd(scanner, fileno(file), &found[1]), SL_OK);
    for (size_t at = 0; at < len;) {
        size_t n = 1 + test_below(seed, 100000);

        n = n < len - at ? n : len - at;
        assert_int_equal(sl_clamav_feed(scanner, bytes + at, n), SL_OK);
        at += n;
    }
    assert_int_equal(sl_clamav_feed_end(scanner, &found[2]), SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    for (int way = 0; way < 3; way++) {
        assert_int_equal(found[way].done, 1);
        assert_int_equal(found[way].result.len, len);
        if (has(&found[way], name) != expected)
            fail_msg("way %d %s %s", way, expected ? "misses" : "matches", name);
        found_free(&found[way]);
    }
    (void)fclose(file);
    sl_clamav_close(scanner);
}

static void test_pieces(void **state)
{
    static const char lines[] = "A:0:*:6162636465666768696a6b6c\n"
                                "B:0:*:71727374{-3000}757677*78797a30\n"
                                "C:0:EOF-12:6162636465666768696a6b6c\n";
    struct sl_clamav_db *db = compile_text("p.ndb", lines);
    const size_t len = 3 * BATCH_LEN + 1000;
    uint8_t *bytes = malloc(len);
    uint64_t seed = 5;

    (void)state;
    for (size_t border = BATCH_LEN - 300;
         border<BATCH_LEN + 20; border += border> BATCH_LEN - 14 && border < BATCH_LEN + 2 ? 1
                                                                                           : 37) {
        memset(bytes, '.', len);
        memcpy(bytes + border, "abcdefghijkl", 12);
        scan_all_ways(db, bytes, len, "A", true, &seed);
        memcpy(bytes + border, "abcdefghijkm", 12);
        scan_all_ways(db, bytes, len, "A", false, &seed);
    }
    for (int i = 0; i < 12; i++) {
        const size_t first = test_below(&seed, (uint32_t)len - 3100);
        const size_t second = first + 4 + test_below(&seed, 3000);
        const size_t third = second + 3 + test_below(&seed, (uint32_t)(len - second - 7));

        memset(bytes, '.', len);
        memcpy(bytes + first, "qrst", 4);
        memcpy(bytes + second, "uvw", 3);
        memcpy(bytes + third, "xyz0", 4);
        scan_all_ways(db, bytes, len, "B", true, &seed);
        memset(bytes + first, '.', 4);
        memcpy(bytes + third, "qrst", 4);
        scan_all_ways(db, bytes, len, "B", false, &seed);
    }
    memset(bytes, '.', len);
    memcpy(bytes + len - 12, "abcdefghijkl", 12);
    scan_all_ways(db, bytes, len, "C", true, &seed);
    free(bytes);
    sl_clamav_free(db);
}

/* Many objects in one batch, each with its own result. */
static void test_batch(void **state)
{
    enum { N = 5000 };
    struct sl_clamav_db *db = compile_text("b.ndb", "A:0:*:68656c6c6f\nB:0:0:776f726c64\n");
    const struct sl_clamav_scan_config config = config_of(true);
    struct sl_clamav_scanner *scanner = open_with(db, &config);
    static const char *const texts[] = {"hello", "world", "", "hell", "o world", "world hello"};
    struct found *found = calloc(N, sizeof *found);

    (void)state;
    for (int i = 0; i < N; i++)
        assert_int_equal(
            sl_clamav_scan_buffer(scanner, texts[i % 6], strlen(texts[i % 6]), &found[i]), SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(found[i].done, 1);
        assert_int_equal(has(&found[i], "A"), i % 6 == 0 || i % 6 == 5);
        assert_int_equal(has(&found[i], "B"), i % 6 == 1 || i % 6 == 5);
        found_free(&found[i]);
    }
    free(found);
    sl_clamav_close(scanner);
    sl_clamav_free(db);
}

static void note_order(void *user, void *token, const struct sl_clamav_result *result)
{
    unsigned *next = user;

    assert_int_equal((uintptr_t)token, ++*next);
    assert_int_equal(result->matches, *next % 3 == 0);
}

/* Large ones between small ones, more than are in flight: they end in the order they came in. */
static void test_order(void **state)
{
    enum { N = 300, LARGE = 5 * BATCH_LEN };
    struct sl_clamav_db *db = compile_text("o.ndb", "A:0:*:68656c6c6f\n");
    struct sl_clamav_scan_config config = config_of(true);
    unsigned n_done = 0;
    uint8_t *bytes = calloc(1, LARGE);

    (void)state;
    memcpy(bytes + LARGE - 100, "hello", 5);
    config.match = NULL;
    config.done = note_order;
    config.user = &n_done;
    struct sl_clamav_scanner *scanner = open_with(db, &config);
    for (unsigned i = 1; i <= N; i++) {
        const size_t len = i % 50 == 0 ? LARGE : i * 100;
        const uint8_t *from = i % 3 == 0 ? bytes + LARGE - len : bytes;
        const size_t n = i % 3 == 0 || len < LARGE ? len : LARGE - 100;

        assert_int_equal(sl_clamav_scan_buffer(scanner, from, n, (void *)(uintptr_t)i), SL_OK);
    }
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    assert_int_equal(n_done, N);
    free(bytes);
    sl_clamav_close(scanner);
    sl_clamav_free(db);
}

static unsigned count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        n++;
    (void)closedir(folder);
    return n;
}

/* Files that are closed at once. They end in order, or with the scanner, and leave no descriptor.
 */
static void test_closed_files(void **state)
{
    enum { N = 40, LARGE = 3 * BATCH_LEN + 5 };
    struct sl_clamav_db *db = compile_text("f.ndb", "A:0:0:68656c6c6f*776f726c64\n");
    struct sl_clamav_scan_config config = config_of(true);
    const unsigned n_descriptors = count_descriptors();
    unsigned n_done = 0;
    uint8_t *bytes = calloc(1, LARGE);

    (void)state;
    memcpy(bytes, "hello", 5);
    config.match = NULL;
    config.done = note_order;
    config.user = &n_done;
    struct sl_clamav_scanner *scanner = open_with(db, &config);
    for (unsigned i = 1; i <= 2 * N; i++) {
        const size_t len = i % 4 == 0 ? 1000 : LARGE - i * 100;
        FILE *file = tmpfile();

        memcpy(bytes + len - 5, i % 3 == 0 ? "world" : "words", 5);
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, len, file), len);
        assert_int_equal(fflush(file), 0);
        memset(bytes + len - 5, 0, 5);
        assert_int_equal(sl_clamav_scan_fd(scanner, fileno(file), (void *)(uintptr_t)i), SL_OK);
        (void)fclose(file);
        if (i == N) {
            assert_int_equal(sl_clamav_flush(scanner), SL_OK);
            assert_int_equal(n_done, N);
        }
    }
    assert_in_range(n_done, N, 2 * N);
    sl_clamav_close(scanner);
    assert_int_equal(count_descriptors(), n_descriptors);
    free(bytes);
    sl_clamav_free(db);
}

/* ---- rules for giving up --------------------------------------------------------------------- */

static void test_thresholds(void **state)
{
    struct sl_clamav_db *db = compile_text("t.ldb", "T;Target:0;0&1;61626364;65666768\n");
    struct sl_clamav_scan_config config = config_of(true);
    static const char text[] = "abcd abcd abcd efgh";
    struct found found;

    (void)state;
    scan_with(db, &config, text, strlen(text), &found);
    assert_true(has(&found, "T") && !found.result.suspect);
    found_free(&found);
    config.max_object_hits = 1;
    scan_with(db, &config, "abcd abcd", 9, &found);
    assert_true(!has(&found, "T") && found.result.suspect);
    config.max_object_hits = 0;
    config.max_batch_hits = 2;
    scan_with(db, &config, text, strlen(text), &found);
    assert_true(!has(&found, "T") && found.result.suspect);
    config.max_batch_hits = 10;
    scan_with(db, &config, text, strlen(text), &found);
    assert_true(has(&found, "T") && !found.result.suspect);
    found_free(&found);
    sl_clamav_free(db);
}

/* PCREs are run over a part of a long file at a time: their matches do not depend on it. */
static void test_long_pcres(void **state)
{
    static const struct {
        const char *expression;
        size_t at; /* where its text lies */
        bool expected;
    } cases[] = {
        {"/ab+c/", 4094, true},           {"/ab+c/", 4095, true},
        {"/ab+c/", 8192, true},           {"/^abbc/", 0, true},
        {"/^abbc/", 4096, false},         {"/\\Gabbc/", 4096, false},
        {"/(?:z|\\Ga)bbc/", 8192, false}, {"/(?<=x)ab+c/", 4096, true},
        {"/^.*abbc/s", 8190, true},       {"/abbc$/", 19996, true},
        {"/abbc$/", 8192, false},         {"/c.{5000}x$/s", 14995, true},
    };
    enum { LEN = 20000 };
    char line[256];
    uint8_t bytes[LEN];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct found found;

        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes + cases[i].at, "abbc", 4);
        sprintf(line, "P;Engine:51-255,Target:0;0&1;61626263;0%s\n", cases[i].expression);
        struct sl_clamav_db *db = compile_text("p.ldb", line);
        scan(db, bytes, sizeof bytes, &found);
        if (has(&found, "P") != cases[i].expected)
            fail_msg("%s at %zu", cases[i].expression, cases[i].at);
        found_free(&found);
        sl_clamav_free(db);
    }
}

static void test_time(void **state)
{
    struct sl_clamav_db *db =
        compile_text("t.ldb", "A;Engine:51-255,Target:0;0&1;61616161;0/a.{0,300}.{0,300}b/s\n"
                              "B;Engine:51-255,Target:0;0;62626262\n"
                              "C;Engine:51-255,Target:0;0&1=0;61616161;63*64\n");
    struct sl_clamav_scan_config config = config_of(true);
    enum { LEN = 1 << 20 };
    uint8_t *bytes = malloc(LEN);
    enum { SMALL = 60000 };
    uint8_t *plain = calloc(LEN, 1);
    struct found found[4] = {{.n = 0}};

    (void)state;
    memset(bytes, 'a', LEN);
    memset(bytes + LEN - 4, 'b', 4);
    config.time_max_ms = 1000;
    struct sl_clamav_scanner *scanner = open_with(db, &config);
    assert_int_equal(sl_clamav_scan_buffer(scanner, bytes, LEN, &found[0]), SL_OK);
    assert_int_equal(sl_clamav_scan_buffer(scanner, "bbbb", 4, &found[1]), SL_OK);
    assert_int_equal(sl_clamav_scan_buffer(scanner, bytes + LEN - SMALL, SMALL, &found[2]), SL_OK);
    assert_int_equal(sl_clamav_scan_buffer(scanner, plain, LEN, &found[3]), SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    assert_true(found[0].result.timed_out);
    /* Known subsignatures hold, and those that could be refuted do not. */
    assert_true(has(&found[0], "B"));
    assert_false(has(&found[0], "A"));
    assert_false(has(&found[0], "C"));
    /* The time of one object does not count for the next. */
    assert_false(found[1].result.timed_out);
    assert_true(has(&found[1], "B"));
    assert_true(found[2].result.timed_out);
    assert_false(found[3].result.timed_out);
    assert_int_equal(found[3].result.scanned_len, LEN);
    for (int i = 0; i < 4; i++)
        found_free(&found[i]);
    sl_clamav_close(scanner);
    sl_clamav_free(db);
    free(plain);
    free(bytes);
}

/* Literals everywhere, and no match: the work of a byte is bounded, also where the object is
 * longer. */
static void test_work(void **state)
{
    static const struct {
        const char *line, *repeated;
    } cases[] = {{"Gap:0:*:41414141{0-60000}42424242", "A"},
                 {"Mixed:0:*:41414141{0-60000}42424242{0-60000}43434343", "AAAABBB xyzw"},
                 {"Middle:0:*:41414141{0-60000}42424242{0-60000}43434343", "BBBBCCCC"},
                 {"Far:0:*:41414141*42424242*43434343*44", "AAAABBBBCCCC"},
                 {"Alternates:0:*:6161(61|62)(61|62){0-5000}(61|62)61(61|62)63", "a"},
                 {"Behind:0:*:6161(61|62){0-5000}(61|62)(61|62){0-5000}(62|63)", "a"},
                 {"Lengths:0:*:6161(61|6161|616161){0-5000}(61|6161)62", "a"},
                 {"Chain:0:*:616161(61|6161|616161)(61|6161)(61|6161|62)(61|6161)63", "a"},
                 {"Masks:0:*:6161{0-5000}6?6?6?6?6?6?6?6?62", "a"},
                 {"Not:0:*:6161!(62|63){0-5000}!(62|63)!(61|63)62", "a"}};
    enum { LEN = TEST_SANITIZED ? 1 << 16 : 1 << 18, WORK_MAX = 40 /* comparisons a byte */ };
    uint8_t *bytes = malloc(LEN);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = strlen(cases[i].repeated);
        struct sl_clamav_db *db = compile_text("w.ndb", cases[i].line);
        const struct sl_clamav_scan_config config = config_of(true);
        struct sl_clamav_scanner *scanner = open_with(db, &config);

        for (size_t at = 0; at < LEN; at++)
            bytes[at] = (uint8_t)cases[i].repeated[at % n];
        for (size_t len = LEN / 4; len <= LEN; len *= 4) {
            const uint64_t before = scanner->match.work;
            struct found found = {.n = 0};

            assert_int_equal(sl_clamav_scan_buffer(scanner, bytes, len, &found), SL_OK);
            assert_int_equal(sl_clamav_flush(scanner), SL_OK);
            assert_int_equal(found.n, 0);
            if (scanner->match.work - before > WORK_MAX * len)
                fail_msg("%s: %.1f comparisons a byte", cases[i].line,
                         (double)(scanner->match.work - before) / (double)len);
        }
        sl_clamav_close(scanner);
        sl_clamav_free(db);
    }
    free(bytes);
}

/* The same of a window of a stream, where hits of bodies that are absent may have to wait. */
static void test_work_of_windows(void **state)
{
    static const struct {
        const char *line;
        size_t n_open; /* words that other bytes may make a body of */
    } floods[] = {{"Near:0:*:466c6f6f64{300-400}2121", 81},
                  {"Star:0:*:466c6f6f64*2121", 1120},
                  {"Wide:0:*:466c6f6f64{0-60000}2121{0-60000}2222", 1120},
                  {"Twice:0:*:466c6f6f64{0-5000}466c6f6f64{0-5000}2121", 1120},
                  {"Lengths:0:*:466c6f6f64(46|466c|466c6f){0-5000}(46|466c)21", 1000},
                  {"Chain:0:*:466c6f6f64{0-9}46{0-9}6c{0-9}6f{0-9}6f{0-9}64{0-9}46{0-9}21", 13},
                  {"Back:0:*:2121{300-400}466c6f6f64", 81}};
    enum { LEN = 5600, WORK_MAX = 40 /* comparisons a byte */ };
    static uint8_t bytes[LEN];
    static struct sl_hit hit[LEN];
    const struct clam_window window = {.bytes = bytes, .len = LEN};

    (void)state;
    for (size_t at = 0; at < LEN; at++)
        bytes[at] = (uint8_t) "Flood"[at % 5];
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        struct sl_clamav_db *db = compile_text("w.ndb", floods[i].line);
        const struct sl_clamav_scan_config config = config_of(true);
        struct sl_clamav_scanner *scanner = open_with(db, &config);
        struct sl_hits hits = {.hit = hit, .cap = LEN};
        struct clam_open open = {.has_before = true};
        struct found found = {.n = 0};

        for (uint32_t end = clam_literal_len(db, 0); end <= LEN; end++)
            hit[hits.n++] = (struct sl_hit){0, end, 0};
        assert_int_equal(clam_scan_window(scanner, &window, &hits, &found, &open), SL_OK);
        assert_int_equal(found.n, 0);
        assert_true(open.hits.n >= floods[i].n_open);
        if (scanner->match.work > (uint64_t)WORK_MAX * LEN)
            fail_msg("%s: %.1f comparisons a byte", floods[i].line,
                     (double)scanner->match.work / LEN);
        clam_open_free(&open);
        sl_clamav_close(scanner);
        sl_clamav_free(db);
    }
}

static void test_first_match(void **state)
{
    struct sl_clamav_db *db = compile_text("t.ndb", "A:0:*:61626364\nB:0:*:62636465\n");
    const struct sl_clamav_scan_config config = config_of(false);
    struct found found;

    (void)state;
    scan_with(db, &config, "abcde", 5, &found);
    assert_int_equal(found.n, 1);
    found_free(&found);
    sl_clamav_free(db);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static const char *hex_digest(const EVP_MD *kind, const void *bytes, size_t len)
{
    static char text[2 * EVP_MAX_MD_SIZE + 1];
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    assert_int_equal(EVP_Digest(bytes, len, digest, &n, kind, NULL), 1);
    for (unsigned i = 0; i < n; i++)
        sprintf(text + 2 * (size_t)i, "%02x", digest[i]);
    return text;
}

static void test_hashes(void **state)
{
    const size_t len = 200000; /* above a batch */
    uint8_t *bytes = malloc(len);
    struct sl_clamav_set *set = new_set();
    char line[256];
    struct found found;

    (void)state;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    sprintf(line, "%s:%zu:Md5\n", hex_digest(EVP_md5(), bytes, len), len);
    read_text(set, "h.hdb", line);
    sprintf(line, "%s:%zu:Sha1\n", hex_digest(EVP_sha1(), bytes, len), len);
    read_text(set, "h.hsb", line);
    sprintf(line, "%s:*:Sha256:73\n", hex_digest(EVP_sha256(), bytes, len));
    read_text(set, "h.hsb", line);
    sprintf(line, "%s:%zu:OtherSize\n", hex_digest(EVP_md5(), bytes, len), len + 1);
    read_text(set, "h.hdb", line);
    read_text(set, "h.ndb", "Body:0:*:0b12192027\nIgnored:0:*:0b12192027\n");
    read_text(set, "i.ign2", "Ignored\n");
    struct sl_clamav_db *db = compile(set);
    scan(db, bytes, len, &found);
    assert_int_equal(found.n, 4);
    assert_true(has(&found, "Md5") && has(&found, "Sha1") && has(&found, "Sha256") &&
                has(&found, "Body"));
    found_free(&found);
    bytes[5] ^= 1;
    scan(db, bytes, len, &found);
    assert_int_equal(found.n, 1);
    found_free(&found);
    bytes[5] ^= 1;
    sl_clamav_free(db);

    sprintf(line, "%s:%zu:good\n", hex_digest(EVP_md5(), bytes, len), len);
    read_text(set, "a.fp", line);
    db = compile(set);
    scan(db, bytes, len, &found);
    assert_int_equal(found.n, 0);
    assert_true(found.result.allowed);
    sl_clamav_free(db);
    sl_clamav_set_free(set);
    free(bytes);
}

static void test_ignored_line(void **state)
{
    static const char line[] = "A:0:*:61626364";
    struct sl_clamav_set *set = new_set();
    char ignore[64];

    (void)state;
    sprintf(ignore, "A:%s\n", hex_digest(EVP_md5(), line, strlen(line)));
    read_text(set, "i.ign2", ignore);
    read_text(set, "n.ndb", line);
    read_text(set, "n.ndb", "A:0:*:65666768");
    struct sl_clamav_db *db = compile(set);
    assert_false(finds(db, "abcd", 4, "A"));
    assert_true(finds(db, "efgh", 4, "A"));
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

/* Lets OpenSSL refuse all digests, as its FIPS mode refuses MD5. */
static void refuse_digests(bool refuse)
{
    assert_int_equal(EVP_set_default_properties(NULL, refuse ? "provider=none" : ""), 1);
}

static void test_refused_digest(void **state)
{
    static const char bytes[] = "hello, world";
    const size_t len = strlen(bytes);
    struct sl_clamav_set *set = new_set();
    struct found found;
    char line[256];

    (void)state;
    sprintf(line, "%s:%zu:Md5\n", hex_digest(EVP_md5(), bytes, len), len);
    read_text(set, "h.hdb", line);
    struct sl_clamav_db *db = compile(set);
    refuse_digests(true);
    scan(db, bytes, len, &found);
    refuse_digests(false);
    assert_int_equal(found.n, 0);
    assert_int_equal(found.result.error, ENOTSUP);
    scan(db, bytes, len, &found);
    assert_true(has(&found, "Md5"));
    assert_int_equal(found.result.error, 0);
    found_free(&found);
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

/* A list that cannot be compared has no effect, and is listed. */
static void test_refused_line(void **state)
{
    static const char line[] = "A:0:*:61626364";
    struct sl_clamav_set *set;
    char ignore[64];

    (void)state;
    sprintf(ignore, "A:%s\n", hex_digest(EVP_md5(), line, strlen(line)));
    refuse_digests(true);
    set = new_set();
    read_text(set, "i.ign2", ignore);
    read_text(set, "n.ndb", line);
    refuse_digests(false);
    assert_non_null(sl_clamav_skipped(set, 0));
    assert_null(sl_clamav_skipped(set, 1));
    struct sl_clamav_db *db = compile(set);
    assert_true(finds(db, "abcd", 4, "A"));
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

/* ---- executables ----------------------------------------------------------------------------- */

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, unsigned long value)
{
    put16(at, value & 0xFFFF);
    put16(at + 2, value >> 16 & 0xFFFF);
}

enum { PE_LEN = 0x1000, PE_ENTRY = 0x450 };

/* Two sections, at 0x400 and 0x800 of the file. */
static void make_pe(uint8_t *pe)
{
    memset(pe, 0, PE_LEN);
    memcpy(pe, "MZ", 2);
    put32(pe + 60, 0x80);
    memcpy(pe + 0x80, "PE\0\0", 4);
    put16(pe + 0x84, 0x14C);
    put16(pe + 0x86, 2);   /* sections */
    put16(pe + 0x94, 224); /* optional header */
    put16(pe + 0x98, 0x10B);
    put32(pe + 0x98 + 16, 0x1050); /* entry point */
    put32(pe + 0x98 + 32, 0x1000); /* alignments */
    put32(pe + 0x98 + 36, 0x200);
    put32(pe + 0x98 + 56, 0x3000);
    put32(pe + 0x98 + 60, 0x400);
    put32(pe + 0x98 + 92, 16);
    for (int i = 0; i < 2; i++) {
        uint8_t *section = pe + 0x98 + 224 + 40 * i;

        memcpy(section, i == 0 ? ".text" : ".data", 5);
        put32(section + 8, 0x400);
        put32(section + 12, 0x1000UL * (unsigned)(i + 1));
        put32(section + 16, 0x400);
        put32(section + 20, 0x400UL * (unsigned)(i + 1));
    }
}

static void test_pe(void **state)
{
    static const char lines[] = "EP:1:EP+0:deadbeef01\nEPM:1:EP-16:deadbeef02\n"
                                "S0:1:S0+4:deadbeef03\nS1:1:S1+4,8:deadbeef04\n"
                                "SE:1:SE1:deadbeef05\nSL:1:SL+32:deadbeef06\n"
                                "ELF:6:*:deadbeef01\nANY:0:*:deadbeef01\n";
    static const struct {
        size_t at;
        const char *name;
        uint8_t last;
    } places[] = {{PE_ENTRY, "EP", 1}, {PE_ENTRY - 16, "EPM", 2}, {0x404, "S0", 3},
                  {0x80C, "S1", 4},    {0xA00, "SE", 5},          {0x820, "SL", 6}};
    struct sl_clamav_set *set = new_set();
    uint8_t pe[PE_LEN];
    char line[256];
    struct found found;

    (void)state;
    read_text(set, "e.ndb", lines);
    read_text(set, "e.ldb",
              "Two;NumberOfSections:2-2,Target:1;0;deadbeef01\n"
              "Three;NumberOfSections:3-9,Target:1;0;deadbeef01\n"
              "At;EntryPoint:1104-1104,Target:1;0;deadbeef01\n");
    make_pe(pe);
    sprintf(line, "1024:%s:Section\n", hex_digest(EVP_md5(), pe + 0x800, 0x400));
    read_text(set, "e.mdb", line);
    struct sl_clamav_db *db = compile(set);
    for (size_t i = 0; i < 6; i++) {
        const uint8_t mark[] = {0xDE, 0xAD, 0xBE, 0xEF, places[i].last};

        make_pe(pe);
        memcpy(pe + places[i].at, mark, 5);
        assert_true(finds(db, pe, PE_LEN, places[i].name));
        make_pe(pe);
        memcpy(pe + 0x300, mark, 5); /* in the headers: nowhere */
        assert_false(finds(db, pe, PE_LEN, places[i].name));
    }
    make_pe(pe);
    memcpy(pe + 0x300, "\xDE\xAD\xBE\xEF\x01", 5);
    scan(db, pe, PE_LEN, &found);
    assert_true(has(&found, "ANY") && has(&found, "Two") && has(&found, "At") &&
                has(&found, "Section"));
    assert_false(has(&found, "ELF") || has(&found, "Three"));
    found_free(&found);

    /* Damaged headers: nothing is relative to anything, and nothing is read outside. */
    memcpy(pe + PE_ENTRY, "\xDE\xAD\xBE\xEF\x01", 5);
    for (size_t i = 0; i < 0x200; i++) {
        const uint8_t kept = pe[i];

        pe[i] = 0xFF;
        scan(db, pe, PE_LEN, &found);
        assert_true(has(&found, "ANY"));
        found_free(&found);
        pe[i] = kept;
    }
    for (size_t len = 0; len < 0x420; len += 7) {
        scan(db, pe, len, &found);
        found_free(&found);
    }
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

static void make_elf(uint8_t *elf, size_t len)
{
    memset(elf, 0, len);
    memcpy(elf, "\177ELF\2\1\1", 7);
    put16(elf + 16, 2);
    put32(elf + 24, 0x401050); /* entry */
    put32(elf + 32, 64);       /* program headers */
    put32(elf + 40, 0x400);    /* section headers */
    put16(elf + 52, 64);
    put16(elf + 54, 56);
    put16(elf + 56, 1);
    put16(elf + 58, 64);
    put16(elf + 60, 2);
    put32(elf + 64, 1);
    put32(elf + 64 + 8, 0x100);     /* file offset */
    put32(elf + 64 + 16, 0x401000); /* address */
    put32(elf + 64 + 32, 0x200);
    put32(elf + 64 + 40, 0x200);
    put32(elf + 0x400 + 64 + 24, 0x200); /* section 1 */
    put32(elf + 0x400 + 64 + 32, 0x80);
}

static void test_elf(void **state)
{
    struct sl_clamav_db *db = compile_text("e.ndb", "EP:6:EP+0:deadbeef01\nS1:6:S1+8:deadbeef02\n"
                                                    "SL:6:SL+16:deadbeef03\nPE:1:*:deadbeef01\n");
    uint8_t elf[0x600];
    struct found found;

    (void)state;
    make_elf(elf, sizeof elf);
    memcpy(elf + 0x150, "\xDE\xAD\xBE\xEF\x01", 5);
    memcpy(elf + 0x208, "\xDE\xAD\xBE\xEF\x02", 5);
    memcpy(elf + 0x210, "\xDE\xAD\xBE\xEF\x03", 5);
    scan(db, elf, sizeof elf, &found);
    assert_int_equal(found.n, 3);
    found_free(&found);
    for (size_t i = 0; i < 0x80; i++) {
        const uint8_t kept = elf[i];

        elf[i] = 0xFF;
        scan(db, elf, sizeof elf, &found);
        found_free(&found);
        elf[i] = kept;
    }
    sl_clamav_free(db);
}

static void test_macho(void **state)
{
    struct sl_clamav_db *db = compile_text("e.ndb", "S0:9:S0+4:deadbeef01\nS1:9:S1+4:deadbeef02\n");
    uint8_t macho[0x400] = {0xCF, 0xFA, 0xED, 0xFE};
    struct found found;

    (void)state;
    put32(macho + 4, 7 | 0x1000000);
    put32(macho + 16, 1); /* one command */
    put32(macho + 32, 0x19);
    put32(macho + 36, 72 + 160);
    put32(macho + 32 + 64, 2); /* sections */
    put32(macho + 104 + 40, 0x40);
    put32(macho + 104 + 48, 0x200);
    put32(macho + 184 + 40, 0x40);
    put32(macho + 184 + 48, 0x300);
    memcpy(macho + 0x204, "\xDE\xAD\xBE\xEF\x01", 5);
    memcpy(macho + 0x304, "\xDE\xAD\xBE\xEF\x02", 5);
    scan(db, macho, sizeof macho, &found);
    assert_int_equal(found.n, 2);
    found_free(&found);
    sl_clamav_free(db);
}

/* ---- databases ------------------------------------------------------------------------------- */

static void test_report(void **state)
{
    static const char ldb[] = "Good;Target:0;0;61626364\n"
                              "Icon;Target:1,IconGroup1:X;0;61626364\n"
                              "Icon2;Target:1,IconGroup2:X;0;61626364\n"
                              "Macro;Target:0;0&1;616161;${6-7}12$\n"
                              "Compare;Target:0;0&1;616161;0(>>5#ib4#>1)\n"
                              "Image;Target:0;0;fuzzy_img#af2ad01ed42993c7#0\n"
                              "Later;Engine:250-255,Target:0;0;61626364\n"
                              "Few;Target:0;0&1;61626364\n"
                              "Hex;Target:0;0;6162636\n"
                              "# a comment\n"
                              "Paren;Target:0;(0&1;61626364;61626364\r\n"
                              "Pcre;Target:0;0&1;61626364;0/(/\n";
    struct sl_clamav_set *set = new_set();
    struct sl_clamav_count count;
    const struct sl_diag *diag;
    const char *reason;
    size_t n;

    (void)state;
    read_text(set, "r.ldb", ldb);
    sl_clamav_set_count(set, &count);
    assert_int_equal(count.signatures, 1);
    assert_int_equal(count.skipped, 6);
    assert_int_equal(count.bad, 4);
    assert_true(sl_clamav_skip_reason(set, 0, &reason, &n));
    assert_string_equal(reason, "icon groups are not supported");
    assert_int_equal(n, 2);
    diag = sl_clamav_bad_line(set, 1);
    assert_string_equal(diag->file, "r.ldb");
    assert_int_equal(diag->line, 9);
    diag = sl_clamav_skipped(set, 0);
    assert_int_equal(diag->line, 2);
    assert_non_null(strstr(diag->text, "Icon: "));
    assert_null(sl_clamav_bad_line(set, 4));
    struct sl_clamav_db *db = compile(set);
    assert_true(finds(db, "abcd", 4, "Good"));
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

/* Bytes behind a zero byte are part of the body, also where words bound it. */
static void test_zero_bytes_are_no_end(void **state)
{
    static const char ldb[] = "T;Target:0;0;61626364\0zz::f\n";
    struct sl_clamav_set *set = new_set();
    struct sl_clamav_count count;
    struct sl_diag diag;

    (void)state;
    /* The one line is wrong: the set cannot be used. */
    assert_int_equal(sl_clamav_set_read_text(set, "z.ldb", ldb, sizeof ldb - 1, &diag), SL_EFORMAT);
    assert_int_equal(diag.line, 1);
    assert_string_equal(diag.file, "z.ldb");
    sl_clamav_set_count(set, &count);
    assert_int_equal(count.bad, 1);
    assert_int_equal(count.signatures, 0);
    sl_clamav_set_free(set);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_store(void **state)
{
    static const char lines[] = "T;Target:0;0&(1|2)>1,2;61626364;6566{-5}67;(6a|6b6c)6d6e6f70\n"
                                "P;Target:0;0&1;61626364;0/x.z/\n";
    struct sl_clamav_db *db = compile_text("s.ldb", lines), *loaded;
    char path[] = "/tmp/test_clamav_XXXXXX";
    struct sl_diag diag;
    const int fd = mkstemp(path);
    struct stat file;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(sl_clamav_save(db, path, &diag), SL_OK);
    close(fd);
    sl_clamav_free(db);
    if (sl_clamav_load(&loaded, path, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    assert_true(finds(loaded, "abcd xyz", 8, "P"));
    sl_clamav_free(loaded);

    assert_int_equal(stat(path, &file), 0);
    uint8_t *bytes = malloc((size_t)file.st_size);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fread(bytes, 1, (size_t)file.st_size, in), file.st_size);
    (void)fclose(in);
    for (long at = 0; at < file.st_size; at += at < 2048 ? 1 : 997) {
        FILE *out = fopen(path, "r+b");

        assert_non_null(out);
        (void)fseek(out, at, SEEK_SET);
        (void)fputc(bytes[at] ^ 0x10, out);
        (void)fclose(out);
        const enum sl_status status = sl_clamav_load(&loaded, path, &diag);
        if (status == SL_OK)
            fail_msg("a wrong byte at %ld is not noticed", at);
        assert_int_equal(status, SL_EFORMAT);
        out = fopen(path, "r+b");
        assert_non_null(out);
        (void)fseek(out, at, SEEK_SET);
        (void)fputc(bytes[at], out);
        (void)fclose(out);
    }
    FILE *turned = fopen(path, "r+b");
    assert_non_null(turned);
    for (int i = 7; i >= 0; i--) /* as another byte order has the magic number */
        (void)fputc(bytes[i], turned);
    (void)fclose(turned);
    assert_int_equal(sl_clamav_load(&loaded, path, &diag), SL_EFORMAT);
    assert_non_null(strstr(diag.text, "another byte order"));
    for (long len = 0; len < file.st_size; len += len < 4096 ? 61 : 100003) {
        assert_int_equal(truncate(path, len), 0);
        assert_int_equal(sl_clamav_load(&loaded, path, &diag), SL_EFORMAT);
        FILE *out = fopen(path, "wb");

        assert_non_null(out);
        assert_int_equal(fwrite(bytes, 1, (size_t)file.st_size, out), file.st_size);
        (void)fclose(out);
    }
    free(bytes);
    unlink(path);
    assert_int_equal(sl_clamav_load(&loaded, path, &diag), SL_EIO);
}

/* A matcher with one literal more than the block has uses of. */
static void test_a_block_with_another_matcher_is_refused(void **state)
{
    struct sl_clamav_db *db = compile_text("s.ndb", "A:0:*:61626364\nB:0:*:65666768\n"), *loaded;
    struct clam_block *block = (struct clam_block *)(uintptr_t)db->block;
    uint32_t *const literals = (uint32_t *)(uintptr_t)clam_at(block, CLAM_A_LITERALS);
    const uint64_t n = block->n[CLAM_A_LITERALS];
    char path[] = "/tmp/test_clamav_XXXXXX";
    struct sl_diag diag;
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(n, 3);
    literals[n - 2] = literals[n - 1];
    block->n[CLAM_A_LITERALS]--;
    assert_int_equal(sl_clamav_save(db, path, &diag), SL_OK);
    assert_int_equal(sl_clamav_load(&loaded, path, &diag), SL_EFORMAT);
    assert_non_null(strstr(diag.text, "matcher"));
    unlink(path);
    sl_clamav_free(db);
}

/* The test file that scanners agree on, put together here so that none trips over this source. */
static void test_eicar(void **state)
{
    char eicar[128], hex[256] = "", line[512];

    (void)state;
    sprintf(eicar, "X5O!P%%@AP[4\\PZX54(P^)7CC)7}$%s-STANDARD-%s-TEST-FILE!$H+H*", "EICAR",
            "ANTIVIRUS");
    for (size_t i = 0; eicar[i] != '\0'; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)eicar[i]);
    sprintf(line, "Eicar-Test-Signature:0:0:%s\n", hex);
    struct sl_clamav_db *db = compile_text("e.ndb", line);
    assert_true(finds(db, eicar, strlen(eicar), "Eicar-Test-Signature"));
    eicar[20] ^= 1;
    assert_false(finds(db, eicar, strlen(eicar), "Eicar-Test-Signature"));
    sl_clamav_free(db);
}

/* ---- real databases -------------------------------------------------------------------------- */

static void test_real(void **state)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    struct sl_clamav_set *set = new_set();
    struct sl_clamav_count count;
    struct sl_clamav_info info;
    struct sl_diag diag;
    const char *reason;
    char path[4096];
    size_t n, reasons = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/clamav", data != NULL ? data : "");
    if (data == NULL || access(path, R_OK) != 0) {
        sl_clamav_set_free(set);
        test_skip("SLUICE_TEST_DATA has no folder clamav");
    }
    assert_int_equal(sl_clamav_set_read(set, (const char *const[]){path}, 1, &diag), SL_OK);
    sl_clamav_set_count(set, &count);
    printf("%zu signatures, %zu hashes among them, %zu skipped, %zu wrong lines\n",
           count.signatures, count.hashes, count.skipped, count.bad);
    for (size_t i = 0; sl_clamav_skip_reason(set, i, &reason, &n); i++) {
        printf("%8zu %s\n", n, reason);
        reasons += n;
    }
    assert_int_equal(reasons, count.skipped);
    assert_true(count.signatures > 0 && count.bad * 1000 < count.signatures);
    assert_true(count.skipped * 20 < count.signatures);
    struct sl_clamav_db *db = compile(set);
    sl_clamav_info(db, &info);
    assert_int_equal(info.signatures, count.signatures);
    sl_clamav_free(db);
    sl_clamav_set_free(set);
}

int main(int argc, char **argv)
{
    struct sl_diag diag;
    char why[SL_WHY_LEN];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_old_format),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_closed_files),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_long_pcres),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_work_of_windows),
        cmocka_unit_test(test_first_match),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_ignored_line),
        cmocka_unit_test(test_pe),
        cmocka_unit_test(test_elf),
        cmocka_unit_test(test_macho),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_zero_bytes_are_no_end),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_a_block_with_another_matcher_is_refused),
        cmocka_unit_test(test_refused_digest),
        cmocka_unit_test(test_refused_line),
        cmocka_unit_test(test_eicar),
        cmocka_unit_test(test_real),
    };

    if (sl_device_choose(&device, argc > 1 ? argv[1] : "cpu", why, &diag) != SL_OK) {
        puts(diag.text);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
