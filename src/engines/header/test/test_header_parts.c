/* SPDX-License-Identifier: MIT */
/* Parts that all backends share: names, lists of names, the table, and the folding of sums. */
#include "test.h"

#include <ctype.h>

#include "engines/header/header_core.h"
#include "sluice/header.h"

static void test_names(void **state)
{
    (void)state;
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++) {
        const char *name = sl_header_check_name((enum sl_header_check)c);

        assert_true(strlen(sl_header_check_text((enum sl_header_check)c)) > 5);
        for (const char *p = name; *p != '\0'; p++)
            assert_true(islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '-');
        for (unsigned d = 0; d < c; d++)
            assert_string_not_equal(name, sl_header_check_name((enum sl_header_check)d));
    }
    assert_string_equal(sl_header_check_name(SL_HEADER_TCP_SYN_FIN), "tcp-syn-fin");
}

static void check_list(const char *list, uint64_t expected)
{
    struct sl_diag diag;
    uint64_t checks = 0x123;

    assert_int_equal(sl_header_parse_checks(&checks, list, &diag), SL_OK);
    assert_int_equal(checks, expected);
}

static void test_lists(void **state)
{
    const uint64_t land = UINT64_C(1) << SL_HEADER_LAND;
    const uint64_t xmas = UINT64_C(1) << SL_HEADER_TCP_XMAS;

    (void)state;
    check_list("all", SL_HEADER_ALL);
    check_list("none", 0);
    check_list("checksums", SL_HEADER_CHECKSUMS);
    check_list("land", land);
    check_list("land,tcp-xmas", land | xmas);
    check_list("all,-checksums", SL_HEADER_ALL & ~SL_HEADER_CHECKSUMS);
    check_list("-checksums", SL_HEADER_ALL & ~SL_HEADER_CHECKSUMS);
    check_list("-land,-tcp-xmas", SL_HEADER_ALL & ~land & ~xmas);
    check_list("-all,land", land);
    check_list("land,-land", 0);
    check_list("none,land", land);
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++)
        check_list(sl_header_check_name((enum sl_header_check)c), UINT64_C(1) << c);
}

/* The message quotes the name and lists all that are known, none of them cut off. */
static void check_refusal(const char *list, const char *quoted)
{
    struct sl_diag diag = {.text = ""};
    uint64_t checks = 0x123;

    assert_int_equal(sl_header_parse_checks(&checks, list, &diag), SL_EINVAL);
    assert_int_equal(checks, 0x123);
    assert_non_null(strstr(diag.text, quoted));
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++)
        assert_non_null(strstr(diag.text, sl_header_check_name((enum sl_header_check)c)));
}

static void test_refused_lists(void **state)
{
    (void)state;
    check_refusal("lan", "\"lan\"");
    check_refusal("land,lands", "\"lands\"");
    check_refusal("-nothing", "\"nothing\"");
    check_refusal("", "\"\"");
    check_refusal("land,", "\"\"");
    check_refusal(",land", "\"\"");
    check_refusal("land, tcp-xmas", "\" tcp-xmas\"");
    check_refusal("LAND", "\"LAND\"");
    check_refusal("a-name-that-is-longer-than-any-check-has-ever-been-and-then-some",
                  "\"a-name-that-is-longer-than-any");
}

static void test_defaults(void **state)
{
    struct sl_header_config config;

    (void)state;
    memset(&config, 0xAA, sizeof config);
    sl_header_config_init(&config);
    assert_int_equal(config.checks, SL_HEADER_ALL);
    assert_int_equal(config.n_home, 0);
}

static void test_build(void **state)
{
    struct sl_net home[65] = {{.prefix_len = 0}};
    struct sl_header_config config = {.checks = SL_HEADER_ALL, .home = home, .n_home = 64};
    struct sl_header_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    (void)state;
    assert_int_equal(sl_header_build(&table, &config, &diag), SL_OK);
    sl_header_free(table);
    sl_header_free(NULL);

    config.n_home = 65;
    assert_int_equal(sl_header_build(&table, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "65 home networks"));
    config.n_home = 2;
    home[1].prefix_len = 129;
    assert_int_equal(sl_header_build(&table, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "129 bits"));
    home[1].prefix_len = 128;
    config.checks = UINT64_C(1) << SL_N_HEADER_CHECKS;
    assert_int_equal(sl_header_build(&table, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "header check 33"));
}

/* One flat block: two builds of one configuration are equal byte by byte, and it says how long it
 * is. */
static void test_table_is_flat(void **state)
{
    struct sl_header_config config;
    struct sl_header_table *a = NULL;
    struct sl_header_table *b = NULL;
    struct sl_diag diag;

    (void)state;
    sl_header_config_init(&config);
    assert_int_equal(sl_header_build(&a, &config, &diag), SL_OK);
    assert_int_equal(sl_header_build(&b, &config, &diag), SL_OK);
    assert_int_equal(a->table_len, sizeof *a);
    assert_memory_equal(a, b, sizeof *a);
    sl_header_free(a);
    sl_header_free(b);
}

static void check_fold(uint64_t sum)
{
    const uint32_t folded = header_fold(sum);

    /* Ones' complement addition is addition modulo 65,535 that gives 0 for nothing but zeros. */
    assert_int_equal(folded, sum == 0 ? 0 : sum % 65535 == 0 ? 65535 : sum % 65535);
}

static void test_fold(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (uint64_t i = 0; i < 300000; i++) {
        check_fold(i);
        check_fold(UINT64_MAX - i);
        check_fold((UINT64_C(1) << 32) - 150000 + i);
        check_fold((UINT64_C(1) << 33) - 150000 + i);
        check_fold(test_random(&seed));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refused_lists), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_build),         cmocka_unit_test(test_table_is_flat),
        cmocka_unit_test(test_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
