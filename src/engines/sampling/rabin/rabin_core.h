/* SPDX-License-Identifier: MIT */
/* Rabin fingerprints: the table, and the step that all variants but clmul take. Compiled by C and
 * by nvcc.
 *
 * The window b_0 ... b_(w-1) is the polynomial over GF(2) whose coefficient of x^(8 (w-1-i) + k) is
 * bit k of b_i. Its fingerprint is the residue modulo the table's polynomial P of degree d. To
 * append a byte is to multiply by x^8, to add the byte and to reduce. A table of the multiples of P
 * that clear the eight coefficients above x^(d-1) reduces. To remove the oldest byte is to subtract
 * its residue, by a table as well.
 *
 * M. O. Rabin, "Fingerprinting by random polynomials", 1981; the two tables as in A. Z. Broder,
 * "Some applications of Rabin's fingerprinting method", 1993. */
#ifndef RABIN_CORE_H
#define RABIN_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core.h"
#include "engines/sampling/sampling_table.h"
#include "rabin_filter.h"
#include "sluice/batch.h"

struct rabin_table {
    struct sl_sampling_table head;
    uint64_t polynomial;
    uint64_t magic; /* no bits but those that are compared */
    uint64_t mask;  /* of the bits that are compared: period - 1 */
    uint32_t degree;
    uint32_t shift; /* degree - 8: the state's top byte from there on */

    /* push[top] = top x^d mod P, plus top x^d, which also clears the bits that were shifted out. */
    uint64_t push[256];
    uint64_t oldest[256]; /* byte x^(8(w-1)) mod P: the oldest byte of a window */
    uint64_t left[256];   /* byte x^(8w) mod P: the same when another byte has come in */

    /* The same for a state in two words, see rabin_tile.h. left_words also keeps the magic in its
     * place. */
    uint64_t push_words[256];
    uint64_t left_words[256];

    struct rabin_filter filter;
};

CORE const struct rabin_table *rabin_table(const void *table)
{
    return (const struct rabin_table *)table;
}

/* Appends a byte to the bytes of the fingerprint. */
CORE uint64_t rabin_push(const struct rabin_table *table, uint64_t fingerprint, uint8_t byte)
{
    return (fingerprint << 8 | byte) ^ table->push[fingerprint >> table->shift];
}

/* A window one byte on: the oldest byte is taken away before another comes in. Two tables. */
CORE uint64_t rabin_slide(const uint64_t push[256], const uint64_t oldest[256], uint32_t shift,
                          uint64_t fingerprint, uint8_t old, uint8_t byte)
{
    const uint64_t rest = fingerprint ^ oldest[old];

    return (rest << 8 | byte) ^ push[rest >> shift];
}

/* The last of n_items whose payload begins at or before `at` in the arena, or the first. Payloads
 * ascend. */
CORE uint32_t rabin_find_item(const struct sl_span *payload, uint32_t n_items, uint64_t at)
{
    uint32_t low = 0, high = n_items - 1;

    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (payload[middle].offset <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

CORE bool rabin_chosen(const struct rabin_table *table, uint64_t fingerprint)
{
    return (fingerprint & table->mask) == table->magic;
}

#endif
