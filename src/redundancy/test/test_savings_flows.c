/* SPDX-License-Identifier: MIT */
/* The table of flows keeps every flow while it grows, and lists no more than it promises. */
#include "redundancy/savings/savings_flows.h"

#include "test.h"

enum { FLOWS_MAX = 1 << 20, BATCH = 700 };

/* Odd ones count upwards, even ones are spread. */
static uint64_t id_of(uint64_t number)
{
    return (number & 1) != 0 ? number : (number + 1) * UINT64_C(0xD6E8FEB86659FD93);
}

static void every_flow_stays(void **state)
{
    struct savings_flows flows = {0};

    (void)state;
    for (uint64_t i = 0; i < 20 * (uint64_t)BATCH; i++) {
        if (i % BATCH == 0)
            assert_int_equal(savings_flows_reserve(&flows, BATCH, NULL), SL_OK);
        savings_flows_find(&flows, id_of(i))->count.bytes = i;
    }
    assert_int_equal(flows.n, 20 * BATCH);
    for (uint64_t i = 0; i < flows.n; i++)
        assert_int_equal(savings_flows_find(&flows, id_of(i))->count.bytes, i);
    assert_int_equal(flows.n, 20 * BATCH);
    assert_in_range(flows.n, 0, flows.n_slots / 2);
    savings_flows_free(&flows);
}

static void later_flows_have_no_entry(void **state)
{
    struct savings_flows flows = {0};

    (void)state;
    assert_int_equal(savings_flows_reserve(&flows, FLOWS_MAX + 5, NULL), SL_OK);
    for (uint64_t i = 0; i < FLOWS_MAX; i++)
        assert_non_null(savings_flows_find(&flows, id_of(i)));
    assert_null(savings_flows_find(&flows, id_of(FLOWS_MAX)));
    assert_non_null(savings_flows_find(&flows, id_of(FLOWS_MAX - 1)));
    assert_int_equal(savings_flows_reserve(&flows, 1, NULL), SL_OK);
    assert_int_equal(flows.n_slots, 2 * FLOWS_MAX);
    savings_flows_free(&flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flow_stays),
        cmocka_unit_test(later_flows_have_no_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
