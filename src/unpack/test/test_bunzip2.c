/* SPDX-License-Identifier: MIT */
/* bzip2 beside libbz2: all streams that it writes, and what is left of damaged ones. */
#include "test.h"

#include <bzlib.h>
#include <stdlib.h>
#include <string.h>

#include "unpack/bunzip2.h"

enum { LEN_MAX = 150000, PACKED_MAX = LEN_MAX + LEN_MAX / 50 + 1000 };
enum { DAMAGED = TEST_SANITIZED ? 500 : 2000 };

static uint8_t text[LEN_MAX], packed[PACKED_MAX], expected[LEN_MAX];

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* Noise, a few letters, runs, a period, or zeros. */
static void make_text(size_t len, unsigned kind)
{
    uint32_t random = (uint32_t)len + kind;
    size_t run = 0;

    for (size_t i = 0; i < len; i++, run--) {
        if (run == 0)
            run = kind == 2 ? 1 + next_random(&random) % 300 : 1;
        text[i] = kind == 0   ? (uint8_t)next_random(&random)
                  : kind == 1 ? (uint8_t)('a' + next_random(&random) % 4)
                  : kind == 2 ? (uint8_t)(run / 64 + len)
                  : kind == 3 ? (uint8_t)(i % 3)
                              : 0;
    }
}

static unsigned pack(size_t len, int level)
{
    unsigned packed_len = PACKED_MAX;

    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)packed, &packed_len, (char *)text,
                                              (unsigned)len, level, 0, 0),
                     BZ_OK);
    return packed_len;
}

static void test_whole_streams(void **state)
{
    static const size_t lens[] = {0, 1, 3, 4, 5, 15, 16, 17, 258, 259, 260, 4096, 99999, LEN_MAX};

    (void)state;
    for (unsigned kind = 0; kind < 5; kind++)
        for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
            struct unpack_buffer buffer = {.max = SIZE_MAX / 4};
            size_t used;

            make_text(lens[i], kind);
            const unsigned len = pack(lens[i], 1 + (int)(i % 2) * 8);
            packed[len] = 'B'; /* belongs to another stream */
            assert_true(bunzip2(packed, len + 1, &buffer, &used));
            assert_int_equal(used, len);
            assert_int_equal(buffer.len, lens[i]);
            if (lens[i] > 0)
                assert_memory_equal(buffer.bytes, text, lens[i]);
            unpack_buffer_free(&buffer);
        }
}

/* Whether libbz2, too, takes a damaged stream for a whole one, of the same bytes. */
static void check_damaged(const uint8_t *in, size_t len)
{
    struct unpack_buffer buffer = {.max = LEN_MAX};
    unsigned expected_len = LEN_MAX;
    size_t used;

    if (bunzip2(in, len, &buffer, &used)) {
        assert_int_equal(BZ2_bzBuffToBuffDecompress((char *)expected, &expected_len, (char *)in,
                                                    (unsigned)used, 0, 0),
                         BZ_OK);
        assert_int_equal(buffer.len, expected_len);
        assert_memory_equal(buffer.bytes, expected, expected_len);
    }
    unpack_buffer_free(&buffer);
}

static void test_damaged_streams(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (unsigned trial = 0; trial < DAMAGED; trial++) {
        make_text(1 + next_random(&random) % 600, trial % 5);
        const unsigned len = pack(1 + next_random(&random) % 600, 1);
        uint8_t *in = malloc(len);

        assert_non_null(in);
        memcpy(in, packed, len);
        for (unsigned n = next_random(&random) % 3; n > 0; n--)
            in[next_random(&random) % len] ^= (uint8_t)(1u << next_random(&random) % 8);
        check_damaged(in, trial % 3 == 0 ? next_random(&random) % (len + 1) : len);
        free(in);
    }
}

/* Of what does not fit all that does is added. */
static void test_a_limit_is_reached_and_not_passed(void **state)
{
    static const size_t limits[] = {0, 1, 4095, LEN_MAX / 2, LEN_MAX - 1, LEN_MAX};

    (void)state;
    for (unsigned kind = 0; kind < 5; kind++) {
        make_text(LEN_MAX, kind);
        const unsigned len = pack(LEN_MAX, 9);

        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            struct unpack_buffer buffer = {.max = limits[i]};
            size_t used;

            assert_int_equal(bunzip2(packed, len, &buffer, &used), limits[i] == LEN_MAX);
            assert_int_equal(buffer.cut, limits[i] < LEN_MAX);
            assert_int_equal(buffer.len, limits[i]);
            if (limits[i] > 0)
                assert_memory_equal(buffer.bytes, text, limits[i]);
            unpack_buffer_free(&buffer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_streams),
                                       cmocka_unit_test(test_damaged_streams),
                                       cmocka_unit_test(test_a_limit_is_reached_and_not_passed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
