/* SPDX-License-Identifier: MIT */
/* Every backend of every engine refuses the tables of all other engines. */
#include "test.h"

#include "sluice/header.h"
#include "sluice/mpm.h"
#include "sluice/packet_names.h"
#include "sluice/sampling.h"

enum { MADE_MAX = 32 };

/* An engine, and a table that it made. */
static struct made {
    const struct sl_engine *engine;
    const void *table;
    void (*free)(void *table);
} made[MADE_MAX];

static size_t n_made;

static void add(const struct sl_engine *engine, void *table, void (*free_table)(void *))
{
    assert_true(n_made < MADE_MAX);
    made[n_made++] = (struct made){engine, table, free_table};
}

static void free_header(void *table)
{
    sl_header_free(table);
}

static void free_mpm(void *table)
{
    sl_mpm_free(table);
}

static void free_sampling(void *table)
{
    sl_sampling_free(table);
}

static void free_watch(void *table)
{
    sl_packet_names_watch_free(table);
}

static void make_header(void)
{
    struct sl_header_config config;
    struct sl_header_table *table;

    sl_header_config_init(&config);
    assert_int_equal(sl_header_build(&table, &config, NULL), SL_OK);
    add(sl_header_engine(), table, free_header);
}

static void make_mpm(void)
{
    const struct sl_literal literal = {.bytes = (const uint8_t *)"needle", .len = 6};

    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++) {
        struct sl_mpm_config config;
        struct sl_mpm_table *table;

        sl_mpm_config_init(&config);
        config.algorithm = *name;
        config.device = SL_DEVICE_CUDA; /* a table that CPUs use as well */
        assert_int_equal(sl_mpm_build(&table, &config, &literal, 1, NULL), SL_OK);
        add(sl_mpm_engine(table), table, free_mpm);
    }
}

static void make_sampling(const char *const *name)
{
    for (; *name != NULL; name++) {
        struct sl_sampling_config config;
        struct sl_sampling_table *table;

        sl_sampling_config_init(&config);
        config.sampler = *name;
        assert_int_equal(sl_sampling_build(&table, &config, NULL), SL_OK);
        add(sl_sampling_engine(table), table, free_sampling);
    }
}

static struct sl_names *names;

static int make_tables(void **state)
{
    struct sl_packet_names_watch *watch;

    (void)state;
    make_header();
    make_mpm();
    make_sampling(sl_samplers());
    make_sampling(sl_sampling_variants());
    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    assert_int_equal(sl_packet_names_watch_create(&watch, names, NULL), SL_OK);
    add(sl_packet_names_engine(), watch, free_watch);
    return 0;
}

static int free_tables(void **state)
{
    (void)state;
    while (n_made > 0) {
        n_made--;
        made[n_made].free((void *)(uintptr_t)made[n_made].table);
    }
    sl_names_free(names);
    return 0;
}

/* Opens a backend that can run here with the table of its engine, and each with all others. */
static void check_backend(const struct sl_engine *engine, const struct sl_backend *backend)
{
    const struct sl_limits limits = {.max_items = 16, .max_bytes = 4096, .max_hits = 16};
    char why[SL_WHY_LEN];

    for (size_t i = 0; i < n_made; i++) {
        struct sl_diag diag = {.text = ""};
        void *context = NULL;

        if (made[i].engine != engine) {
            assert_int_equal(
                sl_engine_open(&context, engine, backend, made[i].table, &limits, &diag),
                SL_EINVAL);
            assert_null(context);
            assert_non_null(strstr(diag.text, engine->name));
        } else if (backend->usable(why)) {
            if (sl_engine_open(&context, engine, backend, made[i].table, &limits, &diag) != SL_OK)
                fail_msg("%s %s: %s", engine->name, backend->name, diag.text);
            backend->close(context);
        }
    }
}

static void test_tables_of_other_engines_are_refused(void **state)
{
    (void)state;
    assert_true(n_made >= 8);
    for (size_t e = 0; e < n_made; e++)
        for (const struct sl_backend *const *backend = made[e].engine->backends; *backend != NULL;
             backend++)
            check_backend(made[e].engine, *backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables_of_other_engines_are_refused)};

    return cmocka_run_group_tests(tests, make_tables, free_tables);
}
