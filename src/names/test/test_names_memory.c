/* SPDX-License-Identifier: MIT */
/* Saving and opening where memory ends, at each allocation in turn: it is reported, or the table
 * answers as it was built. */
#include <unistd.h>

#include "test.h"

#include "counted_malloc.h"

#include "sluice/names.h"

static struct sl_names *make(void)
{
    static const char text[] = "/com/parc\t1\n/com/parc/www\t2\n/org\t3\n";
    struct sl_names *names;
    struct sl_diag diag;

    assert_int_equal(sl_names_create(&names, &diag), SL_OK);
    assert_int_equal(sl_names_load_text(names, "routes", "prefix", text, strlen(text), &diag),
                     SL_OK);
    assert_int_equal(sl_names_build(names, NULL, &diag), SL_OK);
    return names;
}

/* Checks the value of a name: the port that the rule forwards to. */
static void assert_forwards(struct sl_names *names, const char *text, const char *port)
{
    struct sl_names_reader *reader;
    struct sl_names_answer answer;
    struct sl_name name;
    struct sl_diag diag;
    uint8_t bytes[64];
    size_t len = 0;

    assert_null(sl_name_read(&name, SL_NAME_NDN, bytes, sizeof bytes, text, strlen(text)));
    assert_int_equal(sl_names_reader_open(&reader, names, "cpu", &diag), SL_OK);
    assert_int_equal(sl_names_lookup(reader, &name, 1, &answer), SL_OK);
    sl_names_reader_close(reader);
    if (port == NULL) {
        assert_int_equal(answer.action, SL_NAMES_NONE);
        return;
    }
    assert_int_equal(answer.action, SL_NAMES_FORWARD);
    const char *value = sl_names_value(names, &answer, 0, &len);
    assert_int_equal(len, strlen(port));
    assert_memory_equal(value, port, len);
}

static void assert_whole(struct sl_names *names)
{
    assert_forwards(names, "/com/parc/a", "1");
    assert_forwards(names, "/com/parc/www/a", "2");
    assert_forwards(names, "/org", "3");
    assert_forwards(names, "/com", NULL);
}

static void assert_saved(const char *path)
{
    struct sl_names *names;
    struct sl_diag diag;

    assert_int_equal(sl_names_open(&names, path, false, &diag), SL_OK);
    assert_whole(names);
    sl_names_free(names);
}

/* Checks the status of a call during which one allocation may have been refused. SL_OK is allowed
 * then, too: some memory only saves time, so the caller checks the outcome. */
static bool check(enum sl_status status, const struct sl_diag *diag)
{
    const bool refused = allocation_was_refused();

    if (status != SL_OK && (!refused || status != SL_ENOMEM))
        fail_msg("%s: %s", sl_status_text(status), diag->text);
    return refused;
}

static void test_saving_and_opening(void **state)
{
    char folder[] = "/tmp/sluice-names-XXXXXX", path[64];
    struct sl_names *names, *opened;
    struct sl_diag diag;
    bool refused = true;
    unsigned n_failed = 0;

    (void)state;
    names = make();
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t", folder);
    for (unsigned long long n = 1; refused; n++) {
        refuse_allocation(n);
        const enum sl_status status = sl_names_save(names, path, &diag);
        refused = check(status, &diag);
        n_failed += status != SL_OK;
        if (status == SL_OK)
            assert_saved(path);
    }
    for (int updates = 0; updates < 2; updates++) {
        refused = true;
        for (unsigned long long n = 1; refused; n++) {
            refuse_allocation(n);
            const enum sl_status status = sl_names_open(&opened, path, updates != 0, &diag);
            refused = check(status, &diag);
            n_failed += status != SL_OK;
            if (status != SL_OK)
                continue;
            assert_whole(opened);
            sl_names_free(opened);
        }
    }
    assert_true(n_failed > 0);
    sl_names_free(names);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is left beside them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saving_and_opening)};

    if (!ALLOCATIONS_ARE_COUNTED) {
        puts("skipped: the sanitizer has an allocator of its own");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
