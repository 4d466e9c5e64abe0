/* SPDX-License-Identifier: MIT */
/* The papers' algorithms by name: test_mpm_variants built|absent, as SLUICE_PAPERS is on or off. */
#include "test.h"

#include "sluice/mpm.h"

static bool built;

static enum sl_status build(struct sl_mpm_table **table, const char *name, struct sl_diag *diag)
{
    struct sl_mpm_config config;

    sl_mpm_config_init(&config);
    config.algorithm = name;
    return sl_mpm_build(table, &config, NULL, 0, diag);
}

static bool is_listed(const char *name)
{
    const char *const *known = sl_mpm_algorithms();

    while (*known != NULL && strcmp(*known, name) != 0)
        known++;
    return *known != NULL;
}

static void assert_builds(const char *name)
{
    struct sl_mpm_table *table = NULL;
    struct sl_mpm_info info;
    const char *algorithm = NULL;

    assert_int_equal(sl_mpm_variant(&algorithm, name, NULL), SL_OK);
    assert_string_equal(algorithm, name);
    assert_int_equal(build(&table, name, NULL), SL_OK);
    sl_mpm_info(table, &info);
    assert_string_equal(info.algorithm, name);
    sl_mpm_free(table);
}

static void test_all_listed_algorithms_build(void **state)
{
    (void)state;
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++)
        assert_builds(*name);
}

static void assert_left_out(const char *name)
{
    struct sl_mpm_table *table = NULL;
    const char *algorithm = NULL;
    struct sl_diag diag = {.text = ""};
    char text[256];

    snprintf(text, sizeof text,
             "the variant '%s' is one of the papers', which this build leaves out (SLUICE_PAPERS)",
             name);
    assert_int_equal(sl_mpm_variant(&algorithm, name, &diag), SL_EUNSUPPORTED);
    assert_null(algorithm);
    assert_string_equal(diag.text, text);
    assert_int_equal(build(&table, name, &diag), SL_EUNSUPPORTED);
    assert_null(table);
}

static void test_variants_are_built_or_left_out(void **state)
{
    const char *const *name = sl_mpm_variants();

    (void)state;
    assert_non_null(*name);
    for (; *name != NULL; name++) {
        assert_int_equal(is_listed(*name), built);
        if (built)
            assert_builds(*name);
        else
            assert_left_out(*name);
    }
}

static void test_auto_is_a_name(void **state)
{
    const char *algorithm = NULL;

    (void)state;
    assert_int_equal(sl_mpm_variant(&algorithm, "auto", NULL), SL_OK);
    assert_string_equal(algorithm, "auto");
    assert_false(is_listed("auto"));
}

static void test_unknown_names_are_refused(void **state)
{
    const char *algorithm = NULL;
    struct sl_diag diag = {.text = ""};

    (void)state;
    assert_int_equal(sl_mpm_variant(&algorithm, "bogus", &diag), SL_EINVAL);
    assert_null(algorithm);
    assert_non_null(strstr(diag.text, "'bogus'"));
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++)
        assert_non_null(strstr(diag.text, *name));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_listed_algorithms_build),
        cmocka_unit_test(test_variants_are_built_or_left_out),
        cmocka_unit_test(test_auto_is_a_name),
        cmocka_unit_test(test_unknown_names_are_refused),
    };

    if (argc != 2)
        return 2;
    built = strcmp(argv[1], "built") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
