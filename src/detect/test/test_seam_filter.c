/* SPDX-License-Identifier: MIT */
/* Places between segments: wherever a literal is cut, all looks pass the place, and the last one
 * passes no other. */
#include "detect/match/seam_filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "test.h"

enum { LITERALS = 40, LITERAL_MAX = 20, ROUNDS = 50, PLACES = 2000 };

/* Bytes of which many are alike. */
static uint8_t some_byte(void)
{
    return (uint8_t)(rand() % 3 == 0 ? rand() % 256 : "aAbB\x01!"[rand() % 6]);
}

static struct sl_literal some_literal(void)
{
    const uint32_t len = 1 + (uint32_t)rand() % LITERAL_MAX;
    uint8_t *const bytes = malloc(len);

    assert_non_null(bytes);
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = some_byte();
    return (struct sl_literal){bytes, len, rand() % 2 == 0 ? SL_LITERAL_NOCASE : 0};
}

static uint8_t other_case(uint8_t byte)
{
    return (uint8_t)(rand() % 2 == 0 ? toupper(byte) : tolower(byte));
}

/* All looks. */
static bool matches(const struct seam_filter *filter, const uint8_t *before, uint32_t n_before,
                    const uint8_t *behind, uint32_t n_behind)
{
    const bool is_usual = n_before >= SEAM_NEAR && n_behind >= SEAM_NEAR;
    const struct seam_near near =
        is_usual ? seam_near_at(before + n_before, behind) : (struct seam_near){0, 0};

    if (is_usual && seam_sets_any(seam_filter_sets(filter), near) == 0)
        return false;
    const uint32_t ways =
        is_usual ? seam_sets_look(seam_filter_sets(filter), near)
                 : seam_filter_look(filter, before + n_before, n_before, behind, n_behind);

    return seam_filter_matches(filter, ways, before, n_before, behind, n_behind);
}

static void check_literal(const struct seam_filter *filter, const struct sl_literal *literal)
{
    uint8_t bytes[LITERAL_MAX];

    for (uint32_t i = 0; i < literal->len; i++)
        bytes[i] = (literal->flags & SL_LITERAL_NOCASE) != 0 ? other_case(literal->bytes[i])
                                                             : literal->bytes[i];
    for (uint32_t cut = 1; cut < literal->len; cut++)
        assert_true(matches(filter, bytes, cut, bytes + cut, literal->len - cut));
}

/* As the filter takes letters, and what differs from another byte as they do. */
static uint8_t fold(uint8_t byte)
{
    return byte >= 0x40 && (byte < 0x80 || byte >= 0xC0) ? byte | 0x20 : byte;
}

static bool is_written(const struct sl_literal *literal, const uint8_t *at)
{
    for (uint32_t i = 0; i < literal->len; i++)
        if (fold(literal->bytes[i]) != fold(at[i]))
            return false;
    return true;
}

/* Looks for each literal at each place that lies across. */
static bool crosses(const struct sl_literal *literals, uint32_t n, const uint8_t *bytes,
                    uint32_t n_before, uint32_t n_bytes)
{
    for (uint32_t id = 0; id < n; id++)
        for (uint32_t at = 0; at < n_before; at++)
            if (at + literals[id].len > n_before && at + literals[id].len <= n_bytes &&
                is_written(&literals[id], bytes + at))
                return true;
    return false;
}

/* Random bytes, with pieces of literals among them. Returns whether the place is crossed. */
static bool check_place(const struct seam_filter *filter, const struct sl_literal *literals,
                        uint32_t n)
{
    const uint32_t n_before = 1 + (uint32_t)rand() % LITERAL_MAX;
    const uint32_t n_bytes = n_before + 1 + (uint32_t)rand() % LITERAL_MAX;
    const struct sl_literal *some = &literals[(uint32_t)rand() % n];
    uint8_t bytes[2 * LITERAL_MAX];

    for (uint32_t i = 0; i < n_bytes; i++)
        bytes[i] = some_byte();
    const uint32_t at = (uint32_t)rand() % n_before;
    memcpy(bytes + at, some->bytes, least(some->len, n_bytes - at));
    const bool expected = crosses(literals, n, bytes, n_before, n_bytes);

    assert_int_equal(expected,
                     matches(filter, bytes, n_before, bytes + n_before, n_bytes - n_before));
    return expected;
}

static void test_literals_pass_wherever_they_are_cut(void **state)
{
    uint32_t n_crossed = 0, n_free = 0;

    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct sl_literal literals[LITERALS];

        for (uint32_t id = 0; id < LITERALS; id++)
            literals[id] = some_literal();
        struct seam_filter *filter = seam_filter_create(literals, LITERALS);

        assert_non_null(filter);
        for (uint32_t id = 0; id < LITERALS; id++)
            check_literal(filter, &literals[id]);
        for (int i = 0; i < PLACES; i++)
            *(check_place(filter, literals, LITERALS) ? &n_crossed : &n_free) += 1;
        seam_filter_free(filter);
        for (uint32_t id = 0; id < LITERALS; id++)
            free((void *)literals[id].bytes);
    }
    assert_true(n_crossed > ROUNDS * PLACES / 4 && n_free > ROUNDS * PLACES / 4);
}

/* The look. */
static bool passes(const struct seam_filter *filter, const char *before, const char *behind)
{
    return seam_filter_look(filter, (const uint8_t *)before + strlen(before),
                            (uint32_t)strlen(before), (const uint8_t *)behind,
                            (uint32_t)strlen(behind)) != 0;
}

static void test_other_places_do_not_pass(void **state)
{
    static const struct sl_literal literals[] = {{(const uint8_t *)"abcd", 4, SL_LITERAL_NOCASE},
                                                 {(const uint8_t *)"\x01\x02", 2, 0}};
    struct seam_filter *filter = seam_filter_create(literals, 2);

    (void)state;
    assert_non_null(filter);
    assert_true(passes(filter, "xxA", "bCd"));
    assert_true(passes(filter, "xab", "CDx"));
    assert_true(passes(filter, "abc", "dxx"));
    assert_true(passes(filter, "abc", "d"));
    assert_true(passes(filter, "\x01", "\x02"));
    assert_false(passes(filter, "xxa", "bdx"));
    assert_false(passes(filter, "xxa", "bc")); /* no more bytes come */
    assert_false(passes(filter, "bc", "dxx"));
    assert_false(passes(filter, "xbc", "dxx"));
    seam_filter_free(filter);
}

/* Comparing all of them would take a time that senders of packets choose. */
static void test_many_alike_are_not_compared(void **state)
{
    struct sl_literal literals[100];
    uint8_t bytes[100][12];

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        memcpy(bytes[i], "GET /index..", 12);
        bytes[i][10] = (uint8_t)('0' + i / 10);
        bytes[i][11] = (uint8_t)('0' + i % 10);
        literals[i] = (struct sl_literal){bytes[i], 12, 0};
    }
    struct seam_filter *filter = seam_filter_create(literals, 100);

    assert_non_null(filter);
    assert_true(matches(filter, bytes[0], 4, (const uint8_t *)"/index??", 8));
    assert_true(matches(filter, bytes[42], 11, (const uint8_t *)"3", 1));
    assert_false(matches(filter, bytes[42], 11, (const uint8_t *)"?", 1));
    seam_filter_free(filter);
}

static void test_no_literals(void **state)
{
    struct seam_filter *filter = seam_filter_create(NULL, 0);

    (void)state;
    assert_non_null(filter);
    assert_false(passes(filter, "abc", "def"));
    seam_filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_pass_wherever_they_are_cut),
        cmocka_unit_test(test_other_places_do_not_pass),
        cmocka_unit_test(test_many_alike_are_not_compared),
        cmocka_unit_test(test_no_literals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
