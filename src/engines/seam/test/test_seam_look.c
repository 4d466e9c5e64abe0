/* SPDX-License-Identifier: MIT */
/* One place, and looks at many: the code for a vector's lanes finds what the other finds. */
#include "test.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "engines/seam/seam_look.h"
#include "engines/seam/seam_table.h"

static bool cuts(const struct seam_table *table, const char *before, const char *behind)
{
    const struct seam_sides sides = {(const uint8_t *)before + strlen(before),
                                     (const uint8_t *)behind, (uint32_t)strlen(before),
                                     (uint32_t)strlen(behind)};

    return seam_table_cuts(table, true, &sides);
}

static void test_cuts_of_text(void **state)
{
    static const struct seam_wanted wanted[] = {
        {(const uint8_t *)"abcd", 4, true, {false, true}, 0},
        {(const uint8_t *)"\x01\x02", 2, false, {true, true}, 1},
        {(const uint8_t *)"other", 5, false, {true, false}, 2}};
    struct seam_table *table = seam_table_create(wanted, 3, 0);

    (void)state;
    assert_non_null(table);
    assert_true(cuts(table, "xxA", "bCd"));
    assert_true(cuts(table, "xab", "CDx"));
    assert_true(cuts(table, "abc", "dxx"));
    assert_true(cuts(table, "abc", "d"));
    assert_true(cuts(table, "zzzzzabc", "dzzzzzz"));
    assert_true(cuts(table, "\x01", "\x02"));
    assert_false(cuts(table, "xxa", "bdx"));
    assert_false(cuts(table, "xxa", "bc")); /* no more bytes come */
    assert_false(cuts(table, "bc", "dxx"));
    assert_false(cuts(table, "xbc", "dxx"));
    assert_false(cuts(table, "oth", "er")); /* to the client alone */
    seam_table_free(table);
}

static uint32_t some_bits(void)
{
    return (uint32_t)rand() << 16 ^ (uint32_t)rand();
}

enum { ANY_NUMBERS = 65536 / 8, N_SLOTS = 2048 };

/* A set with random slots and ways. */
static void make_set(struct seam_set *set, uint32_t *any, struct seam_slot *slot)
{
    for (uint32_t i = 0; i < ANY_NUMBERS; i++)
        any[i] = some_bits() & 0x31842184;
    for (uint32_t i = 0; i < N_SLOTS; i++)
        slot[i].next = some_bits();
    set->any = any;
    set->slot = slot;
    for (uint32_t way = 0; way < SEAM_WAYS; way++) {
        set->shift[way] = 32 - (uint32_t)rand() % 9 - 1;
        set->from[way] = (uint32_t)rand() % (N_SLOTS - 512);
    }
}

#if defined(__x86_64__)
static void test_looks_agree(void **state)
{
    enum { SETS = 200, LOOKS = 50 };
    uint32_t *const any = malloc(ANY_NUMBERS * sizeof *any);
    struct seam_slot *const slot = malloc(N_SLOTS * sizeof *slot);
    struct seam_set set = {0};
    uint32_t n_passed = 0;

    (void)state;
    assert_true(any != NULL && slot != NULL);
    srand(7);
    for (int round = 0; round < SETS * LOOKS && cpu_level() == CPU_AVX512; round++) {
        const uint32_t asked = some_bits();
        struct seam_places left, right;

        if (round % LOOKS == 0)
            make_set(&set, any, slot);
        for (uint32_t i = 0; i < SEAM_PLACES; i++) {
            left.before[i] = some_bits();
            left.behind[i] = some_bits();
        }
        right = left;
        const uint32_t passed = seam_look_scalar(&set, &left, asked);

        assert_int_equal(seam_look_avx512(&set, &right, asked), passed);
        for (uint32_t rest = passed; rest != 0; rest &= rest - 1, n_passed++) {
            const uint32_t i = (uint32_t)__builtin_ctz(rest);

            assert_int_equal(left.ways[i], right.ways[i]);
            assert_int_equal(left.before[i], right.before[i]);
            assert_int_equal(left.behind[i], right.behind[i]);
        }
    }
    free(any);
    free(slot);
    if (cpu_level() != CPU_AVX512)
        skip();
    assert_true(n_passed > SETS * LOOKS);
}
#endif

/* A look alone passes few places that nothing lies across. */
static void test_a_look_passes_few_in_vain(void **state)
{
    enum { MANY = 1000, LEN = 12, PLACES = 2000 };
    static uint8_t bytes[MANY][LEN];
    static struct seam_wanted wanted[MANY];
    uint32_t n_passed = 0;

    (void)state;
    srand(3);
    for (uint32_t id = 0; id < MANY; id++) {
        for (uint32_t i = 0; i < LEN; i++)
            bytes[id][i] = (uint8_t)('a' + rand() % 16);
        wanted[id] = (struct seam_wanted){bytes[id], LEN, false, {true, false}, id};
    }
    struct seam_table *table = seam_table_create(wanted, MANY, 0);

    assert_non_null(table);
    const struct seam_set set = seam_set_of(table, false);

    for (int round = 0; round < PLACES; round++) {
        uint8_t place[2 * SEAM_NEAR];
        const struct seam_sides sides = {place + SEAM_NEAR, place + SEAM_NEAR, SEAM_NEAR,
                                         SEAM_NEAR};

        for (uint32_t i = 0; i < sizeof place; i++)
            place[i] = (uint8_t)('a' + rand() % 16);
        n_passed += seam_ways_of(&set, &sides) != 0;
    }
    assert_in_range(n_passed, 1, PLACES / 5);
    seam_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_of_text),
#if defined(__x86_64__)
        cmocka_unit_test(test_looks_agree),
#endif
        cmocka_unit_test(test_a_look_passes_few_in_vain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
