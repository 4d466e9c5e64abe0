/* SPDX-License-Identifier: MIT */
/* Vectorscan as a peer. Without arguments: its tables in files. test_vectorscan vectorscan.block:
 * the trials of the matcher. test_vectorscan ALGORITHM.BACKEND: Vectorscan as the judge of another
 * algorithm, with real rules on real captures. */
#include "test.h"

#include <unistd.h>

#include "bench/peers/vectorscan.h"
#include "engines/mpm/mpm_internal.h"
#include "engines/mpm/test/mpm_trials.h"
#include "sluice/mpm.h"

static char path[] = "/tmp/test_vectorscan.XXXXXX";

static struct sl_mpm_table *build(void)
{
    const struct sl_literal literals[] = {{.bytes = (const uint8_t *)"hello", .len = 5},
                                          {.bytes = (const uint8_t *)"world", .len = 5}};
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;

    sl_mpm_config_init(&config);
    config.algorithm = "vectorscan";
    assert_int_equal(sl_mpm_build(&table, &config, literals, 2, NULL), SL_OK);
    return table;
}

/* A checksum marks a table as mapped, and this one was built. */
static void free_sealed(struct sl_mpm_table *table)
{
    table->head.checksum = 0;
    sl_mpm_free(table);
}

static void write_file(const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void assert_refused(const char *reason)
{
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(sl_mpm_load(&table, path, &diag), SL_EFORMAT);
    assert_null(table);
    if (strstr(diag.text, reason) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, reason);
}

static void test_saved_tables_are_the_same(void **state)
{
    struct sl_mpm_table *table = build();
    struct sl_mpm_table *loaded = NULL;

    (void)state;
    assert_int_equal(sl_mpm_save(table, path, NULL), SL_OK);
    assert_int_equal(sl_mpm_load(&loaded, path, NULL), SL_OK);
    assert_int_equal(loaded->head.len, table->head.len);
    assert_memory_equal((uint8_t *)loaded + loaded->body, (uint8_t *)table + table->body,
                        table->head.len - table->body);
    sl_mpm_free(loaded);
    sl_mpm_free(table);
}

static void test_short_and_changed_files_are_refused(void **state)
{
    struct sl_mpm_table *table = build();
    uint8_t *bytes = (uint8_t *)table;
    const size_t whole = table->head.len;

    (void)state;
    block_seal(&mpm_block_kind, table);
    for (size_t len = 0; len < whole; len += 1 + len / 50) {
        write_file(table, len);
        assert_refused("");
    }
    for (size_t at = 0; at < whole; at += 1 + at / 50) {
        bytes[at] ^= 0x10;
        write_file(bytes, whole);
        bytes[at] ^= 0x10;
        assert_refused("");
    }
    free_sealed(table);
}

/* A checksum that is right does not make a database of it. */
static void test_damaged_databases_are_refused(void **state)
{
    struct sl_mpm_table *table = build();
    uint8_t *body = (uint8_t *)table + table->body;

    (void)state;
    memset(body + sizeof(uint64_t), 0, 4); /* its magic */
    block_seal(&mpm_block_kind, table);
    write_file(table, table->head.len);
    assert_refused("damaged");
    memset(body, 0xFF, sizeof(uint64_t)); /* its length */
    block_seal(&mpm_block_kind, table);
    write_file(table, table->head.len);
    assert_refused("outside");
    free_sealed(table);
}

/* The platform is the fourth word of a serialized database, behind magic, version and length. */
static void test_another_cpu_is_refused(void **state)
{
    const size_t platform = sizeof(uint64_t) + 12; /* behind the database's length */
    struct sl_mpm_table *table = build();

    (void)state;
    memset((uint8_t *)table + table->body + platform, 0xFF, sizeof(uint64_t));
    block_seal(&mpm_block_kind, table);
    write_file(table, table->head.len);
    assert_refused("another CPU");
    free_sealed(table);
}

static int judge(char **argv)
{
    char captures[] = "test_rules_on_captures";
    char *arguments[] = {argv[0], argv[1], captures, NULL};

    if (getenv("SLUICE_TEST_DATA") == NULL) {
        puts("skipped: SLUICE_TEST_DATA is not set: no rules and captures to test with");
        return TEST_SKIPPED;
    }
    return mpm_trials(3, arguments);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_tables_are_the_same),
        cmocka_unit_test(test_short_and_changed_files_are_refused),
        cmocka_unit_test(test_damaged_databases_are_refused),
        cmocka_unit_test(test_another_cpu_is_refused),
    };

    vectorscan_add();
    if (mpm_find_algorithm("vectorscan") == NULL) {
        puts("skipped: this build has no vectorscan");
        return TEST_SKIPPED;
    }
    if (argc > 1)
        return strcmp(argv[1], "vectorscan.block") == 0 ? mpm_trials(argc, argv) : judge(argv);

    const int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    const int failed = cmocka_run_group_tests_name("vectorscan", tests, NULL, NULL);
    (void)unlink(path);
    return failed;
}
