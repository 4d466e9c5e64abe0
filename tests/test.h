/* SPDX-License-Identifier: MIT */
/* The header of every test program: cmocka, and the headers that it wants before itself. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Exit status by which CTest knows a skipped test. The reason comes before it, as by test_skip. */
enum { TEST_SKIPPED = 77 };

/* The size of a trial: `few` under a sanitizer, where each step takes several times as long. */
#ifdef SLUICE_SANITIZED
enum { TEST_SANITIZED = true };
#else
enum { TEST_SANITIZED = false };
#endif
static inline uint32_t test_fewer(uint32_t n, uint32_t few)
{
    return TEST_SANITIZED ? few : n;
}

/* The tests of a program that have threads (`pattern`, with *): the thread sanitizer, which sees
 * nothing in the others, runs them alone. */
static inline void test_threaded(const char *pattern)
{
#ifdef __SANITIZE_THREAD__
    cmocka_set_test_filter(pattern);
#else
    (void)pattern;
#endif
}

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

/* Skips the test. CTest counts a program as passed where one of its tests ran; `./dev check` lists
 * the lines that begin so. */
static inline void test_skip(const char *reason)
{
    print_message("skipped: %s\n", reason);
    skip();
}

/* The folder of real data that $SLUICE_TEST_DATA names. Skips the test where it names none. */
static inline const char *test_data(void)
{
    const char *folder = getenv("SLUICE_TEST_DATA");

    if (folder == NULL)
        test_skip("SLUICE_TEST_DATA names no folder of real data");
    return folder;
}

/* How many times the captures of a check this trial is to take. */
static inline uint32_t test_times(void)
{
    const char *const times = getenv("SLUICE_TEST_TIMES");

    return times != NULL && atoi(times) > 0 ? (uint32_t)atoi(times) : 1;
}

/* A line of /proc/self/status, bytes. */
static inline size_t test_memory_of(const char *what)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtoul(line + strlen(what), NULL, 10);
    (void)fclose(file);
    return kib << 10;
}

/* From here on "VmHWM:" is the peak anew. */
static inline void test_forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    assert_non_null(file);
    assert_true(fputs("5", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
