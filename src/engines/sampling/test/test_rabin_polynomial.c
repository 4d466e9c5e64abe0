/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "engines/sampling/rabin/rabin_polynomial.h"

/* Remainder by long division. */
static uint64_t rest_of(unsigned __int128 a, uint64_t b)
{
    const int degree = (int)rabin_degree(b);

    for (int d = 127; d >= degree; d--)
        if ((a >> d & 1) != 0)
            a ^= (unsigned __int128)b << (d - degree);
    return (uint64_t)a;
}

static unsigned __int128 product_of(uint64_t a, uint64_t b)
{
    unsigned __int128 product = 0;

    for (int d = 0; d < 64; d++)
        if ((b >> d & 1) != 0)
            product ^= (unsigned __int128)a << d;
    return product;
}

static bool has_no_divisor(uint64_t polynomial)
{
    for (uint64_t divisor = 2; rabin_degree(divisor) * 2 <= rabin_degree(polynomial); divisor++)
        if (rest_of(polynomial, divisor) == 0)
            return false;
    return true;
}

static void test_small_ones_by_trial_division(void **state)
{
    (void)state;
    for (uint64_t polynomial = 2; polynomial < 1 << 13; polynomial++)
        assert_int_equal(rabin_irreducible(polynomial), has_no_divisor(polynomial));
}

/* G. Seroussi, "Table of low-weight binary irreducible polynomials", HPL-98-135, 1998: x^degree,
 * these and 1. */
static void test_known_ones(void **state)
{
    static const int known[][4] = {{53, 6, 2, 1}, {54, 9},  {55, 7},       {56, 7, 4, 2},
                                   {57, 4},       {58, 19}, {59, 7, 4, 2}, {60, 1},
                                   {61, 5, 2, 1}, {62, 29}, {63, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t polynomial = 1;

        for (int k = 0; k < 4; k++)
            if (known[i][k] != 0)
                polynomial |= UINT64_C(1) << known[i][k];
        assert_true(rabin_irreducible(polynomial));
        assert_false(rabin_irreducible(polynomial ^ 1));
    }
    assert_true(rabin_irreducible(UINT64_C(0xbfe6b8a5bf378d83)));
}

static void test_products_are_reducible(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        const uint32_t degree = 53 + test_below(&random, 11);
        const uint32_t part = 1 + test_below(&random, degree / 2);
        const uint64_t a = (test_random(&random) >> (63 - part) | UINT64_C(1) << part) | 1;
        const uint64_t b =
            (test_random(&random) >> (63 - (degree - part)) | UINT64_C(1) << (degree - part)) | 1;

        assert_false(rabin_irreducible((uint64_t)product_of(a, b)));
    }
}

/* About one in `degree` is irreducible: by Gauss' formula, 2^degree / degree of them. */
static void test_as_many_as_there_are(void **state)
{
    enum { TRIALS = 20000, DEGREE = 61 };
    uint64_t random = 2;
    int n = 0;

    (void)state;
    for (int i = 0; i < TRIALS; i++)
        n += rabin_irreducible(test_random(&random) >> (64 - DEGREE) | UINT64_C(1) << DEGREE);
    assert_in_range(n, TRIALS / DEGREE * 3 / 4, TRIALS / DEGREE * 5 / 4);
}

static void test_arithmetic(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        const uint32_t degree = 53 + test_below(&random, 11);
        const uint64_t p = test_random(&random) >> (63 - degree) | UINT64_C(1) << degree;
        const uint64_t a = rest_of(test_random(&random), p);
        const uint64_t b = rest_of(test_random(&random), p);
        const uint32_t e = test_below(&random, 128);
        const unsigned __int128 power = (unsigned __int128)1 << e;

        assert_int_equal(rabin_multiply(a, b, p), rest_of(product_of(a, b), p));
        assert_int_equal(rabin_x_power(e, p), rest_of(power, p));
        assert_int_equal((uint64_t)(power ^ product_of(rabin_x_quotient(e, p), p)) &
                             ((UINT64_C(1) << degree) - 1),
                         rest_of(power, p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_ones_by_trial_division),
        cmocka_unit_test(test_known_ones),
        cmocka_unit_test(test_products_are_reducible),
        cmocka_unit_test(test_as_many_as_there_are),
        cmocka_unit_test(test_arithmetic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
