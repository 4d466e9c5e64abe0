/* SPDX-License-Identifier: MIT */
/* Reading where memory ends, at each allocation in turn: said, and what was read before is whole.
 */
#include "test.h"

#include "counted_malloc.h"

#include "sluice/clamav.h"

static enum sl_status read_text(struct sl_clamav_set *set, const char *name, const char *text)
{
    struct sl_diag diag;

    return sl_clamav_set_read_text(set, name, text, strlen(text), &diag);
}

static void test_a_set_outlives_a_refused_read(void **state)
{
    static const char ignored[] = "Ignored.Name\nDigest.Name:d41d8cd98f00b204e9800998ecf8427e\n";
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag;
    bool refused = true;

    (void)state;
    if (!ALLOCATIONS_ARE_COUNTED)
        skip();
    for (unsigned long long n = 1; refused; n++) {
        assert_int_equal(sl_clamav_set_create(&set, &diag), SL_OK);
        refuse_allocation(n);
        const enum sl_status status = read_text(set, "a.ign2", ignored);
        refused = allocation_was_refused();
        assert_int_equal(status, refused ? SL_ENOMEM : SL_OK);
        assert_int_equal(read_text(set, "a.ndb", "Digest.Name:0:*:776f726c64\n"), SL_OK);
        assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag), SL_OK);
        sl_clamav_free(db);
        sl_clamav_set_free(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_set_outlives_a_refused_read)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
