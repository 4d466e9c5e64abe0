/* SPDX-License-Identifier: MIT */
/* Polynomials over GF(2) and residues modulo one. Bit d of a word is the coefficient of x^d. */
#ifndef RABIN_POLYNOMIAL_H
#define RABIN_POLYNOMIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Of a polynomial other than 0. */
static inline uint32_t rabin_degree(uint64_t polynomial)
{
    return 63 - (uint32_t)__builtin_clzll(polynomial);
}

/* Residues modulo a polynomial of degree 1 to 63. */
uint64_t rabin_multiply(uint64_t a, uint64_t b, uint64_t polynomial);
uint64_t rabin_x_power(uint64_t exponent, uint64_t polynomial); /* x^exponent */

/* The quotient of x^exponent, exponent at most 127, less its coefficients from x^64 on. */
uint64_t rabin_x_quotient(uint32_t exponent, uint64_t polynomial);

/* Whether a polynomial of degree 1 to 63 is irreducible. */
bool rabin_irreducible(uint64_t polynomial);

#endif
