/* SPDX-License-Identifier: MIT */
/* What every test program includes: cmocka and the headers that it wants before itself. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Exit status by which CTest knows a skipped test; print the reason first. */
enum { TEST_SKIPPED = 77 };

/* A seeded generator of its own, so that a failing seed fails everywhere (xorshift64*). */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Uniform enough for tests: 0 to n - 1. */
static inline uint32_t test_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((test_random(state) >> 32) * n >> 32);
}

#endif
