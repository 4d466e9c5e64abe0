/* SPDX-License-Identifier: MIT */
/* The carry-less filter: the choice of windows, without their fingerprints.
 *
 * Let c_j(t) be the coefficient of x^j in x^t mod P, for any integer t (x has an inverse). From
 * x^t = x x^(t-1):  c_j(t) = c_(j-1)(t-1) + P_j c_0(t),  hence  c_j(t) = sum P_(j-s) c_0(t-s) over
 * s = 0 ... j, with P_0 = 1. Number the bits of the text in time, highest of a byte first. Bit j of
 * the fingerprint of a window is the sum, over its bits, of the bit times c_j of its exponent; so
 * with G_s the same sum with c_0(t - s) instead:  bit j = sum P_(j-s) G_s. That is triangular with
 * ones in its diagonal: the low n bits have the wanted values exactly where G_0 ... G_(n-1) have
 * the values that follow from them.
 *
 * And G_0 ... G_7 of the window that ends with byte q are eight consecutive outputs, in time, of
 * one filter over GF(2) with the taps c_0(0) ... c_0(8w-1): a carry-less product of the text with
 * its bits in time order. It takes 8w bits that end with the output's own time, the windows those
 * that end with byte q: the difference depends on byte q, whose last bits the filter has not seen
 * yet, and on byte q - w, whose last bits it still sees. Both are linear maps of a byte. */
#ifndef RABIN_FILTER_H
#define RABIN_FILTER_H

#include <stdint.h>

enum { RABIN_WORDS = 8 }; /* of the longest window */

struct rabin_filter {
    uint64_t taps[RABIN_WORDS]; /* bit t % 64 of word t / 64 is c_0(t) */

    /* The maps of bytes, in the form of GF2P8AFFINEQB, and as two look-ups by halves of a byte. */
    uint64_t entering;
    uint64_t leaving;
    uint8_t entering_halves[2][16];
    uint8_t leaving_halves[2][16];

    /* The wanted output in the bits of the mask: G_s in bit 7 - s. The filter compares up to eight
     * bits. For more bits the fingerprints are compared as well. */
    uint8_t wanted;
    uint8_t mask;

    /* For fingerprints of single windows. The window is a sum of words times powers of x. The rest,
     * of degree below 128, is divided by a multiplication with the quotient of x^(64 + degree),
     * less its x^64 (P. Barrett's reduction; exact for polynomials). */
    uint64_t word_powers[RABIN_WORDS]; /* x^(64 i) mod P */
    uint64_t quotient;
};

void rabin_filter_init(struct rabin_filter *filter, uint64_t polynomial, uint32_t window,
                       uint64_t magic, uint64_t mask);

#endif
