/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/cpu.h"
#include "base/diag.h"
#include "base/histogram.h"
#include "sluice/net.h"
#include "sluice/status.h"

static void test_status_texts_are_distinct(void **state)
{
    (void)state;
    for (int a = SL_OK; a <= SL_EDEVICE; a++)
        for (int b = SL_OK; b < a; b++)
            assert_string_not_equal(sl_status_text((enum sl_status)a),
                                    sl_status_text((enum sl_status)b));
}

static void test_diag_names_file_line_and_reason(void **state)
{
    struct sl_diag diag;
    char text[64];

    (void)state;
    assert_int_equal(diag_set(&diag, SL_EIO, "a.rules", 7, "bad %s", "thing"), SL_EIO);
    sl_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "a.rules:7: bad thing");
    diag_set(&diag, SL_EIO, "a.rules", 0, "gone");
    sl_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "a.rules: gone");
    diag_set(&diag, SL_EIO, NULL, 0, "alone");
    sl_diag_format(&diag, text, 4);
    assert_string_equal(text, "alo");
    assert_int_equal(diag_set(NULL, SL_EIO, NULL, 0, "nobody listens"), SL_EIO);
}

static void check_net(const char *text, const char *inside, const char *outside)
{
    struct sl_net net, in, out;

    assert_int_equal(sl_net_parse(&net, text, strlen(text)), SL_OK);
    assert_int_equal(sl_net_parse(&in, inside, strlen(inside)), SL_OK);
    assert_true(sl_net_contains(&net, &in.addr));
    assert_int_equal(sl_net_parse(&out, outside, strlen(outside)), SL_OK);
    assert_false(sl_net_contains(&net, &out.addr));
}

static void test_nets_contain_their_addresses(void **state)
{
    (void)state;
    check_net("192.0.2.0/24", "192.0.2.255", "192.0.3.0");
    check_net("192.0.2.9/31", "192.0.2.8", "192.0.2.10");
    check_net("10.1.2.3", "10.1.2.3", "10.1.2.2");
    check_net("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::");
    check_net("0.0.0.0/0", "255.255.255.255", "::1");
}

static void test_bad_nets_are_refused(void **state)
{
    static const char *const bad[] = {"",           "1.2.3",     "1.2.3.4/33", "1.2.3.4/",
                                      "1.2.3.4/-1", "::/129",    "x",          "1.2.3.4/0x8",
                                      "1.2.3.4 ",   "1.2.3.256", "::1/1 2",    "1.2.3.4/1000"};
    struct sl_net net;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sl_net_parse(&net, bad[i], strlen(bad[i])), SL_EINVAL);
    memset(text, '1', sizeof text);
    assert_int_equal(sl_net_parse(&net, text, sizeof text), SL_EINVAL);
}

static void test_addresses_print_as_they_are_written(void **state)
{
    static const char *const texts[] = {"192.0.2.1", "2001:db8::1", "::", "255.255.255.255"};
    struct sl_net net;
    char out[SL_ADDR_TEXT_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(sl_net_parse(&net, texts[i], strlen(texts[i])), SL_OK);
        assert_string_equal(sl_addr_format(&net.addr, out), texts[i]);
    }
    for (uint32_t i = 0; i < 256; i++) {
        char expected[32];

        snprintf(expected, sizeof expected, "%u.%u.%u.%u", i, 255 - i, i ^ 0x55, i);
        assert_int_equal(sl_net_parse(&net, expected, strlen(expected)), SL_OK);
        assert_string_equal(sl_addr_format(&net.addr, out), expected);
    }
}

static void test_private_ranges_end_where_the_rfcs_say(void **state)
{
    static const struct {
        const char *addr;
        bool private;
    } cases[] = {{"9.255.255.255", false}, {"10.0.0.0", true},        {"10.255.255.255", true},
                 {"11.0.0.0", false},      {"172.15.255.255", false}, {"172.16.0.0", true},
                 {"172.31.255.255", true}, {"172.32.0.0", false},     {"192.167.255.255", false},
                 {"192.168.0.0", true},    {"192.169.0.0", false},    {"fc00::", true},
                 {"fdff::1", true},        {"fe00::", false},         {"fbff::", false}};
    struct sl_net net;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sl_net_parse(&net, cases[i].addr, strlen(cases[i].addr)), SL_OK);
        assert_int_equal(sl_addr_is_private(&net.addr), cases[i].private);
    }
}

static void test_cpu_level_is_consistent(void **state)
{
    char why[160];

    (void)state;
    assert_true(cpu_cores() >= 1);
    assert_true(cpu_usable(CPU_SCALAR, why));
    if (cpu_level() < CPU_AVX512) {
        assert_false(cpu_usable(CPU_AVX512, why));
        assert_non_null(strstr(why, "AVX-512"));
    }
}

static void test_cpu_limits_are_checked(void **state)
{
    struct sl_diag diag = {0};

    (void)state;
    assert_int_equal(cpu_limit_check("", CPU_SCALAR, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("scalar", CPU_SCALAR, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx2", CPU_AVX512, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx512", CPU_AVX512, &diag), SL_OK);
    assert_int_equal(cpu_limit_check("avx512", CPU_AVX2, &diag), SL_EUNSUPPORTED);
    assert_string_equal(diag.text, "SLUICE_CPU is 'avx512', and this CPU has no AVX-512: AVX2 is "
                                   "the best that runs");
    assert_int_equal(cpu_limit_check("AVX2", CPU_AVX512, &diag), SL_EINVAL);
    assert_string_equal(diag.text, "SLUICE_CPU is 'AVX2' (expected scalar, avx2 or avx512)");
}

/* What the kernel says of the CPU is the judge. */
static void test_cpu_features_are_those_of_the_machine(void **state)
{
    static const struct {
        unsigned feature;
        const char *flag, *name;
    } features[] = {{CPU_PCLMUL, " pclmulqdq ", "PCLMULQDQ"},
                    {CPU_VPCLMULQDQ, " vpclmulqdq ", "VPCLMULQDQ"},
                    {CPU_GFNI, " gfni ", "GFNI"}};
    char flags[8192] = "", why[160] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");

    (void)state;
    if (file == NULL)
        skip();
    while (fgets(flags, sizeof flags, file) != NULL && strncmp(flags, "flags", 5) != 0)
        ;
    fclose(file);
    assert_true(cpu_usable_with(CPU_SCALAR, 0, why));
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const bool there = cpu_usable_with(CPU_SCALAR, features[i].feature, why);

        assert_int_equal(there, strstr(flags, features[i].flag) != NULL);
        if (!there)
            assert_non_null(strstr(why, features[i].name));
    }
    if (cpu_level() < CPU_AVX512)
        assert_false(cpu_usable_with(CPU_AVX512, 0, why));
}

/* Each value lies in its place's range, and the places divide the line. */
static void test_histogram_places_divide_the_line(void **state)
{
    uint64_t begin = 0;

    (void)state;
    for (uint32_t place = 0; place < HISTOGRAM_LEN; place++) {
        const uint64_t top = histogram_top(place);

        assert_true(top >= begin);
        assert_true((top - begin) * 32 <= begin); /* the error that the header states */
        assert_int_equal(histogram_place(begin), place);
        assert_int_equal(histogram_place(top), place);
        begin = top + 1;
    }
    assert_int_equal(begin, UINT64_C(1) << HISTOGRAM_MAX_LOG);
    assert_int_equal(histogram_place(begin), HISTOGRAM_LEN);
    assert_int_equal(histogram_place(UINT64_MAX), HISTOGRAM_LEN);
}

static void test_histogram_quantiles_are_near(void **state)
{
    static struct histogram histogram;
    uint64_t seed = 1;

    (void)state;
    assert_int_equal(histogram_quantile(&histogram, 990), 0);
    for (uint64_t value = 1; value <= 100000; value++)
        histogram_add(&histogram, value * 1000, 1);
    for (uint32_t per_mille = 1; per_mille <= 1000; per_mille++) {
        const uint64_t exact = UINT64_C(100000) * per_mille;

        assert_in_range(histogram_quantile(&histogram, per_mille), exact, exact + exact / 32);
    }
    histogram_add(&histogram, UINT64_MAX, 1000000);
    assert_int_equal(histogram_quantile(&histogram, 999), UINT64_MAX);

    memset(&histogram, 0, sizeof histogram);
    for (int i = 0; i < 1000; i++)
        histogram_add(&histogram, test_below(&seed, 32), 1);
    histogram_add(&histogram, 31, 1000000000);
    assert_int_equal(histogram_quantile(&histogram, 500), 31);
    assert_int_equal(histogram_quantile(&histogram, 999), 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_texts_are_distinct),
        cmocka_unit_test(test_diag_names_file_line_and_reason),
        cmocka_unit_test(test_nets_contain_their_addresses),
        cmocka_unit_test(test_bad_nets_are_refused),
        cmocka_unit_test(test_addresses_print_as_they_are_written),
        cmocka_unit_test(test_private_ranges_end_where_the_rfcs_say),
        cmocka_unit_test(test_cpu_level_is_consistent),
        cmocka_unit_test(test_cpu_limits_are_checked),
        cmocka_unit_test(test_cpu_features_are_those_of_the_machine),
        cmocka_unit_test(test_histogram_places_divide_the_line),
        cmocka_unit_test(test_histogram_quantiles_are_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
