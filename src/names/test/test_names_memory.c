/* SPDX-License-Identifier: MIT */
/* Saving and opening where memory ends, at each allocation in turn: that is what is said. */
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

/* What a call says of which one allocation may have been refused. */
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

    (void)state;
    if (!ALLOCATIONS_ARE_COUNTED)
        skip();
    names = make();
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t", folder);
    for (unsigned long long n = 1; refused; n++) {
        refuse_allocation(n);
        const enum sl_status status = sl_names_save(names, path, &diag);
        refused = check(status, &diag);
    }
    for (int updates = 0; updates < 2; updates++) {
        refused = true;
        for (unsigned long long n = 1; refused; n++) {
            refuse_allocation(n);
            const enum sl_status status = sl_names_open(&opened, path, updates != 0, &diag);
            refused = check(status, &diag);
            if (status == SL_OK)
                sl_names_free(opened);
        }
    }
    sl_names_free(names);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is left beside them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saving_and_opening)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
