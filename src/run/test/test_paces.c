/* SPDX-License-Identifier: MIT */
/* What runs took: kept for each key, refused where no run can have taken it, and the choice. */
#include <string.h>
#include <unistd.h>

#include "run/run_paces.h"
#include "test.h"

static char folder[] = "/tmp/sluice-paces-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/paces", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_text(const char *text)
{
    FILE *const file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_paces(uint64_t key, const struct run_paces *expected)
{
    struct run_paces paces;
    struct sl_diag diag;

    assert_int_equal(paces_read(&paces, path, key, &diag), SL_OK);
    for (int side = 0; side < PACE_SIDES; side++) {
        assert_true(paces.of[side].open_s == expected->of[side].open_s);
        assert_true(paces.of[side].byte_ns == expected->of[side].byte_ns);
        assert_true(paces.of[side].measured == expected->of[side].measured);
    }
}

/* More keys than a file keeps: the last ones written are there, each with its own numbers. */
static void test_keys_are_kept(void **state)
{
    struct run_paces none = {0};
    struct sl_diag diag;

    (void)state;
    (void)unlink(path);
    assert_paces(1, &none);
    for (uint64_t key = 1; key <= 260; key++) {
        const struct run_paces paces = {
            {{0.25 * (double)key, 0.5, true}, {1.5, 0.125 * (double)key, key % 2 == 0}}};

        assert_int_equal(paces_write(&paces, path, key, &diag), SL_OK);
        assert_int_equal(paces_write(&paces, path, key, &diag), SL_OK);
    }
    for (uint64_t key = 1; key <= 260; key++) {
        const struct run_paces paces = {
            {{0.25 * (double)key, 0.5, true}, {1.5, 0.125 * (double)key, key % 2 == 0}}};

        assert_paces(key, key <= 4 ? &none : &paces);
    }
}

static void test_damage_is_told(void **state)
{
    static const char *const texts[] = {
        "",
        "sluice paces 2\n",
        "sluice paces 1\n0000000000000001 1 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 1 1 1 1 1 1",
        "sluice paces 1\n0000000000000001 1 1 1 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 nan 1 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 -1 1 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 1 1e99 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 1 inf 1 1 1 1\n",
        "sluice paces 1\n0000000000000001 1 1 1 1 1e-9 1\n",
        "sluice paces 1\n\n",
    };
    const struct run_paces none = {0}, some = {{{1, 1, true}, {1, 1, true}}};
    struct run_paces paces = some;
    struct sl_diag diag = {0};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i]);
        assert_int_equal(paces_read(&paces, path, 1, &diag), SL_EFORMAT);
        assert_memory_equal(&paces, &none, sizeof paces);
        assert_non_null(strstr(diag.text, "damaged"));
    }
    assert_int_equal(paces_write(&some, path, 1, &diag), SL_OK);
    assert_paces(1, &some);
}

/* As faked measurements say: a start that pays off from some length on. */
static void test_the_sooner_side_is_chosen(void **state)
{
    struct run_paces paces = {0};
    enum pace_side side;

    (void)state;
    assert_false(paces_choose(&paces, 1000, &side));
    paces_measured(&paces, PACE_CPU, 0.5, 0.4);
    assert_false(paces_choose(&paces, 1000, &side));
    paces_measured(&paces, PACE_GPU, 1.5, 0.2);
    assert_true(paces_choose(&paces, UINT64_C(4900000000), &side));
    assert_int_equal(side, PACE_CPU);
    assert_true(paces_choose(&paces, UINT64_C(5100000000), &side));
    assert_int_equal(side, PACE_GPU);
}

/* What cannot be is not taken, and an estimate gives way to a measurement. */
static void test_measurements_have_a_mean(void **state)
{
    struct run_paces paces = {.of = {[PACE_CPU] = {9, 9, false}}};

    (void)state;
    paces_measured(&paces, PACE_CPU, 1, 2);
    paces_measured(&paces, PACE_CPU, 1, 0);
    paces_measured(&paces, PACE_CPU, -1, 2);
    paces_measured(&paces, PACE_CPU, 1, 1e9);
    assert_true(paces.of[PACE_CPU].open_s == 1 && paces.of[PACE_CPU].byte_ns == 2);
    paces_measured(&paces, PACE_CPU, 2, 4);
    assert_true(paces.of[PACE_CPU].open_s == 1.5 && paces.of[PACE_CPU].byte_ns == 3);
    assert_true(paces_seconds(&paces, PACE_CPU, 1000000000) == 4.5);
}

static void test_keys_name_the_options(void **state)
{
    static const char *const files[] = {"a.rules", "b.rules"};
    struct sl_run_config config, other;

    (void)state;
    sl_run_config_init(&config);
    other = config;
    other.devices = "cuda";
    assert_true(paces_key(&config) == paces_key(&other));
    other.check_headers = !other.check_headers;
    assert_true(paces_key(&config) != paces_key(&other));
    other = config;
    other.rule_files = files;
    other.n_rule_files = 1;
    const uint64_t one = paces_key(&other);
    other.n_rule_files = 2;
    assert_true(one != paces_key(&config) && one != paces_key(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_kept),
        cmocka_unit_test(test_damage_is_told),
        cmocka_unit_test(test_the_sooner_side_is_chosen),
        cmocka_unit_test(test_measurements_have_a_mean),
        cmocka_unit_test(test_keys_name_the_options),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
