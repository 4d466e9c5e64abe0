/* SPDX-License-Identifier: MIT */
/* Reading where memory ends, at each allocation in turn: it is reported, and signatures that were
 * read before are still found. */
#include "test.h"

#include "counted_malloc.h"

#include "sluice/clamav.h"

static enum sl_status read_text(struct sl_clamav_set *set, const char *name, const char *text)
{
    struct sl_diag diag;

    return sl_clamav_set_read_text(set, name, text, strlen(text), &diag);
}

static void count_match(void *user, void *token, const struct sl_clamav_match *match)
{
    (void)token;
    (void)match;
    ++*(unsigned *)user;
}

/* How many signatures a text has. */
static unsigned scan(const struct sl_clamav_db *db, const char *text)
{
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;
    struct sl_diag diag;
    unsigned n = 0;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.match = count_match;
    config.user = &n;
    assert_int_equal(sl_clamav_open(&scanner, db, &config, &diag), SL_OK);
    assert_int_equal(sl_clamav_scan_buffer(scanner, text, strlen(text), NULL), SL_OK);
    assert_int_equal(sl_clamav_flush(scanner), SL_OK);
    sl_clamav_close(scanner);
    return n;
}

static void test_a_set_outlives_a_refused_read(void **state)
{
    static const char ignored[] = "Ignored.Name\nDigest.Name:d41d8cd98f00b204e9800998ecf8427e\n";
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag;
    bool refused = true;

    (void)state;
    for (unsigned long long n = 1; refused; n++) {
        assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
        assert_int_equal(read_text(set, "before.ndb", "Before:0:*:68656c6c6f\n"), SL_OK);
        refuse_allocation(n);
        const enum sl_status status = read_text(set, "a.ign2", ignored);
        refused = allocation_was_refused();
        assert_int_equal(status, refused ? SL_ENOMEM : SL_OK);
        assert_int_equal(read_text(set, "a.ndb", "Digest.Name:0:*:776f726c64\n"), SL_OK);
        assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag), SL_OK);
        assert_int_equal(scan(db, "hello, world"), 2);
        assert_int_equal(scan(db, "hello"), 1);
        assert_int_equal(scan(db, "world"), 1);
        assert_int_equal(scan(db, "hell, word"), 0);
        sl_clamav_free(db);
        sl_clamav_set_free(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_set_outlives_a_refused_read)};

    if (!ALLOCATIONS_ARE_COUNTED) {
        puts("skipped: the sanitizer has an allocator of its own");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
