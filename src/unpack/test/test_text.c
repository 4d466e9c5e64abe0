/* SPDX-License-Identifier: MIT */
/* Texts in their normal form, and searches that read blocks, beside a byte at a time. */
#include "test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "unpack/unpack.h"

enum { LEN_MAX = 120, TRIALS = 20000 };

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* Words, runs of blanks, other characters, or all of them. */
static uint8_t random_byte(uint32_t *random, unsigned kind)
{
    static const char blanks[] = " \t\n\v\f\rA";
    const uint32_t value = next_random(random);

    switch (kind) {
    case 0:
        return (uint8_t)(value % 30 == 0 ? ' ' : 'A' + value % 58);
    case 1:
        return (uint8_t)blanks[value % (sizeof blanks - 1)];
    case 2:
        return (uint8_t)value;
    default:
        return (uint8_t)(value % 20 == 0 ? next_random(random) : ' ' + value % 96);
    }
}

/* Lower case in the C locale. */
static size_t expected_form(const uint8_t *in, size_t len, uint8_t *out)
{
    bool blank = false;
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (isspace(in[i]) != 0) {
            if (!blank)
                out[n++] = ' ';
            blank = true;
        } else if (isprint(in[i]) != 0 || in[i] == 0x7F) {
            out[n++] = (uint8_t)tolower(in[i]);
            blank = false;
        }
    }
    return n;
}

/* Buffers end where memory does that the sanitizer watches. */
static void test_normal_form(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t len = next_random(&random) % LEN_MAX;
        uint8_t *in = malloc(len + 1), *out = malloc(len), expected[LEN_MAX];

        assert_true(in != NULL && (out != NULL || len == 0));
        for (size_t i = 0; i < len; i++)
            in[i] = random_byte(&random, (unsigned)trial % 4);
        const size_t n = expected_form(in, len, expected);
        assert_int_equal(text_normalize(in, len, out), n);
        assert_memory_equal(out, expected, n);
        free(in);
        free(out);
    }
}

static const uint8_t *expected_local(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 4; at++)
        if (memcmp(at, "PK\3\4", 4) == 0)
            return at;
    return NULL;
}

static void test_local_headers(void **state)
{
    static const char letters[] = "PPKK\3\3\4\4a";
    uint32_t random = 1;

    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t len = next_random(&random) % LEN_MAX;
        uint8_t bytes[LEN_MAX];

        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)letters[next_random(&random) % (sizeof letters - 1)];
        for (size_t at = 0; at <= len; at++)
            assert_ptr_equal(kind_next_local(bytes + at, bytes + len),
                             expected_local(bytes + at, bytes + len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_normal_form),
                                       cmocka_unit_test(test_local_headers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
