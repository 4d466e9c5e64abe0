/* SPDX-License-Identifier: MIT */
#include "rabin_polynomial.h"

static uint64_t times_x(uint64_t a, uint64_t polynomial)
{
    const uint32_t degree = rabin_degree(polynomial);
    const bool reduce = (a >> (degree - 1) & 1) != 0;

    return a << 1 ^ (reduce ? polynomial : 0);
}

uint64_t rabin_multiply(uint64_t a, uint64_t b, uint64_t polynomial)
{
    uint64_t product = 0;

    for (; b != 0; b >>= 1) {
        product ^= (b & 1) != 0 ? a : 0;
        a = times_x(a, polynomial);
    }
    return product;
}

uint64_t rabin_x_power(uint64_t exponent, uint64_t polynomial)
{
    uint64_t power = 1;
    uint64_t square = times_x(1, polynomial);

    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            power = rabin_multiply(power, square, polynomial);
        square = rabin_multiply(square, square, polynomial);
    }
    return power;
}

uint64_t rabin_x_quotient(uint32_t exponent, uint64_t polynomial)
{
    const uint32_t degree = rabin_degree(polynomial);
    unsigned __int128 rest = (unsigned __int128)1 << exponent;
    uint64_t quotient = 0;

    for (uint32_t d = exponent; d >= degree; d--) {
        if ((rest >> d & 1) == 0)
            continue;
        rest ^= (unsigned __int128)polynomial << (d - degree);
        if (d - degree < 64)
            quotient |= UINT64_C(1) << (d - degree);
    }
    return quotient;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        while (a != 0 && rabin_degree(a) >= rabin_degree(b))
            a ^= b << (rabin_degree(a) - rabin_degree(b));

        const uint64_t rest = a;
        a = b;
        b = rest;
    }
    return a;
}

/* x^(2^k) - x */
static uint64_t frobenius_less_x(uint32_t k, uint64_t polynomial)
{
    const uint64_t x = times_x(1, polynomial);
    uint64_t power = x;

    for (uint32_t i = 0; i < k; i++)
        power = rabin_multiply(power, power, polynomial);
    return power ^ x;
}

/* M. O. Rabin, "Probabilistic algorithms in finite fields", SIAM Journal on Computing 9(2), 1980,
 * lemma 1: f of degree n over GF(2) is irreducible if and only if it divides x^(2^n) - x, and for
 * each prime q that divides n it has no factor in common with x^(2^(n/q)) - x. */
bool rabin_irreducible(uint64_t polynomial)
{
    const uint32_t degree = rabin_degree(polynomial);
    uint32_t left = degree;

    if (frobenius_less_x(degree, polynomial) != 0)
        return false;
    for (uint32_t q = 2; left > 1; q++) {
        if (left % q != 0)
            continue;
        while (left % q == 0)
            left /= q;
        if (greatest_common_divisor(polynomial, frobenius_less_x(degree / q, polynomial)) != 1)
            return false;
    }
    return true;
}
