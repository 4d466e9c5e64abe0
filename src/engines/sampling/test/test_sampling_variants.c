/* SPDX-License-Identifier: MIT */
/* The papers' variants by name: test_sampling_variants built|absent, as SLUICE_PAPERS is on or
 * off. */
#include "test.h"

#include "sluice/sampling.h"

static bool built;

static enum sl_status build(struct sl_sampling_table **table, const char *name,
                            struct sl_diag *diag)
{
    struct sl_sampling_config config;

    sl_sampling_config_init(&config);
    config.sampler = name;
    return sl_sampling_build(table, &config, diag);
}

static size_t count_backends(const struct sl_engine *engine)
{
    size_t n = 0;

    while (engine->backends[n] != NULL)
        n++;
    return n;
}

static void test_samplers_stand_for_themselves(void **state)
{
    (void)state;
    for (const char *const *name = sl_samplers(); *name != NULL; name++) {
        const char *sampler = NULL;

        assert_int_equal(sl_sampling_variant(&sampler, *name, NULL), SL_OK);
        assert_string_equal(sampler, *name);
    }
}

/* A variant's engine has one backend, which is one of its sampler's. */
static void assert_built(const char *name)
{
    struct sl_sampling_table *variant = NULL, *whole = NULL;
    const char *sampler = NULL;

    assert_int_equal(sl_sampling_variant(&sampler, name, NULL), SL_OK);
    assert_int_equal(build(&variant, name, NULL), SL_OK);
    assert_int_equal(build(&whole, sampler, NULL), SL_OK);
    const struct sl_engine *engine = sl_sampling_engine(variant);
    assert_int_equal(count_backends(engine), 1);
    assert_non_null(strstr(engine->name, name));
    const struct sl_backend *const *backend = sl_sampling_engine(whole)->backends;
    while (*backend != NULL && *backend != engine->backends[0])
        backend++;
    assert_non_null(*backend);
    sl_sampling_free(variant);
    sl_sampling_free(whole);
}

static void assert_left_out(const char *name)
{
    struct sl_sampling_table *table = NULL;
    const char *sampler = NULL;
    struct sl_diag diag = {.text = ""};
    char text[256];

    snprintf(text, sizeof text,
             "the variant '%s' is one of the papers', which this build leaves out (SLUICE_PAPERS)",
             name);
    assert_int_equal(sl_sampling_variant(&sampler, name, &diag), SL_EUNSUPPORTED);
    assert_null(sampler);
    assert_string_equal(diag.text, text);
    assert_int_equal(build(&table, name, &diag), SL_EUNSUPPORTED);
    assert_null(table);
}

static void test_variants_are_built_or_left_out(void **state)
{
    const char *const *name = sl_sampling_variants();

    (void)state;
    assert_non_null(*name);
    for (; *name != NULL; name++)
        if (built)
            assert_built(*name);
        else
            assert_left_out(*name);
}

static void test_backends_of_variants(void **state)
{
    static const char *const pairs[][2] = {{"rabin-textbook", "textbook"},
                                           {"rabin-buckets", "cuda-packet"},
                                           {"samplebyte-thread", "cuda-thread"}};

    (void)state;
    if (!built)
        test_skip("this build leaves the papers out");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct sl_sampling_table *table = NULL;

        assert_int_equal(build(&table, pairs[i][0], NULL), SL_OK);
        assert_string_equal(sl_sampling_engine(table)->backends[0]->name, pairs[i][1]);
        sl_sampling_free(table);
    }
}

static void test_unknown_names_are_refused(void **state)
{
    const char *sampler = NULL;
    struct sl_diag diag = {.text = ""};

    (void)state;
    assert_int_equal(sl_sampling_variant(&sampler, "rabin-bogus", &diag), SL_EINVAL);
    assert_null(sampler);
    assert_non_null(strstr(diag.text, "'rabin-bogus'"));
    for (const char *const *name = sl_sampling_variants(); *name != NULL; name++)
        assert_non_null(strstr(diag.text, *name));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers_stand_for_themselves),
        cmocka_unit_test(test_variants_are_built_or_left_out),
        cmocka_unit_test(test_backends_of_variants),
        cmocka_unit_test(test_unknown_names_are_refused),
    };

    if (argc != 2)
        return 2;
    built = strcmp(argv[1], "built") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
