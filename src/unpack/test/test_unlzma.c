/* SPDX-License-Identifier: MIT */
/* xz, LZMA and LZMA2 beside liblzma: what it writes, and what is left of damaged streams. */
#include "test.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "unpack/unlzma.h"
#include "unpack/unxz.h"

enum { LEN_MAX = 400000, PACKED_MAX = LEN_MAX + LEN_MAX / 10 + 1000 };
enum { DAMAGED = TEST_SANITIZED ? 250 : 1000 };

static uint8_t text[LEN_MAX], packed[PACKED_MAX], expected[LEN_MAX], unpacked[LEN_MAX];

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* Noise, a few letters, runs, a period, zeros, or parts of what came before at any distance. */
static void make_text(size_t len, unsigned kind)
{
    uint32_t random = (uint32_t)len + kind;
    size_t run = 0, from = 0;

    for (size_t i = 0; i < len; i++, run--) {
        if (run == 0) {
            run = kind == 2 || kind == 5 ? 1 + next_random(&random) % 300 : 1;
            from = i > 0 && next_random(&random) % 8 != 0 ? next_random(&random) % i : i;
        }
        text[i] = kind == 0   ? (uint8_t)next_random(&random)
                  : kind == 1 ? (uint8_t)('a' + next_random(&random) % 4)
                  : kind == 2 ? (uint8_t)(run / 64 + len)
                  : kind == 3 ? (uint8_t)(i % 3)
                  : kind == 4 ? 0
                  : from < i  ? text[from++]
                              : (uint8_t)next_random(&random);
    }
}

static lzma_options_lzma options_of(unsigned number)
{
    static const uint8_t bits[][3] = {{3, 0, 2}, {0, 0, 0}, {4, 0, 4}, {0, 4, 1}, {2, 2, 0}};
    const uint8_t *of = bits[number % 5];
    lzma_options_lzma options;

    assert_false(lzma_lzma_preset(&options, number % 3 == 0 ? 1 : 6));
    options.dict_size = 1 << (16 + number % 4);
    options.lc = of[0];
    options.lp = of[1];
    options.pb = of[2];
    return options;
}

/* A stream of one block or, where its parts are shorter, of more. */
static size_t pack(size_t len, unsigned number, lzma_check check, size_t part)
{
    lzma_options_lzma options = options_of(number);
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    lzma_stream stream = LZMA_STREAM_INIT;

    assert_int_equal(lzma_stream_encoder(&stream, filters, check), LZMA_OK);
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    for (size_t at = 0; at < len; at += part) {
        stream.next_in = text + at;
        stream.avail_in = part < len - at ? part : len - at;
        assert_int_equal(lzma_code(&stream, LZMA_FULL_FLUSH), LZMA_STREAM_END);
    }
    assert_int_equal(lzma_code(&stream, LZMA_FINISH), LZMA_STREAM_END);
    const size_t packed_len = sizeof packed - stream.avail_out;
    lzma_end(&stream);
    return packed_len;
}

static void test_whole_streams(void **state)
{
    static const size_t lens[] = {0, 1, 2, 15, 273, 274, 4096, 65535, 65537, LEN_MAX};
    static const lzma_check checks[] = {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64};
    unsigned number = 0;

    (void)state;
    for (unsigned kind = 0; kind < 6; kind++)
        for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
            struct unpack_buffer buffer = {.max = SIZE_MAX / 4};
            size_t used;

            make_text(lens[i], kind);
            const size_t part = i % 2 == 0 ? LEN_MAX : 50000,
                         len = pack(lens[i], number, checks[number % 3], part);
            packed[len] = 0xFD; /* belongs to another stream */
            assert_true(unxz(packed, len + 1, &buffer, &used));
            assert_int_equal(used, len);
            assert_int_equal(buffer.len, lens[i]);
            if (lens[i] > 0)
                assert_memory_equal(buffer.bytes, text, lens[i]);
            unpack_buffer_free(&buffer);
            number++;
        }
}

/* Whether liblzma, too, takes a damaged stream for a whole one, of the same bytes. */
static void check_damaged(const uint8_t *in, size_t len)
{
    struct unpack_buffer buffer = {.max = LEN_MAX};
    uint64_t memory = UINT64_MAX;
    size_t used, at = 0, out = 0;

    if (unxz(in, len, &buffer, &used)) {
        assert_int_equal(lzma_stream_buffer_decode(&memory, 0, NULL, in, &at, used, expected, &out,
                                                   sizeof expected),
                         LZMA_OK);
        assert_int_equal(at, used);
        assert_int_equal(buffer.len, out);
        if (out > 0)
            assert_memory_equal(buffer.bytes, expected, out);
    }
    unpack_buffer_free(&buffer);
}

/* Damage is behind the sums of the heads, which else would find it. */
static void test_damaged_streams(void **state)
{
    enum { HEADS = 24 };
    uint32_t random = 1;

    (void)state;
    for (unsigned trial = 0; trial < DAMAGED; trial++) {
        make_text(1 + next_random(&random) % 600, trial % 6);
        const size_t len = pack(1 + next_random(&random) % 600, trial, LZMA_CHECK_NONE, 100);
        uint8_t *in = malloc(len);

        assert_non_null(in);
        memcpy(in, packed, len);
        for (unsigned n = next_random(&random) % 3; n > 0; n--)
            in[HEADS + next_random(&random) % (len - HEADS)] ^=
                (uint8_t)(1u << next_random(&random) % 8);
        check_damaged(in, trial % 3 == 0 ? next_random(&random) % (len + 1) : len);
        free(in);
    }
}

static void test_a_limit_is_not_passed(void **state)
{
    struct unpack_buffer buffer = {.max = LEN_MAX / 2};
    size_t used;

    (void)state;
    make_text(LEN_MAX, 1);
    assert_false(unxz(packed, pack(LEN_MAX, 0, LZMA_CHECK_CRC64, LEN_MAX), &buffer, &used));
    assert_true(buffer.len <= LEN_MAX / 2);
    unpack_buffer_free(&buffer);
}

/* What liblzma unpacks of a raw stream, up to its end or damage. */
static size_t expect_raw(lzma_options_lzma *options, const uint8_t *in, size_t len, size_t most)
{
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, options}, {LZMA_VLI_UNKNOWN, NULL}};
    lzma_stream stream = LZMA_STREAM_INIT;

    assert_int_equal(lzma_raw_decoder(&stream, filters), LZMA_OK);
    stream.next_in = in;
    stream.avail_in = len;
    stream.next_out = expected;
    stream.avail_out = most;
    while (lzma_code(&stream, LZMA_RUN) == LZMA_OK && stream.avail_out > 0)
        continue;
    const size_t n = most - stream.avail_out;
    lzma_end(&stream);
    return n;
}

/* In pieces, as members of a 7z are read. */
static size_t run_raw(struct unlzma *lzma, uint32_t *random, size_t len)
{
    size_t at = 0;

    while (at < len) {
        const size_t room = len - at, piece = 1 + next_random(random) % 700,
                     end = at + (piece < room ? piece : room);

        at = unlzma_run(lzma, unpacked, at, end);
        if (at < end)
            break;
    }
    return at;
}

/* Of a damaged stream that ends in a match, both have what comes before the match. */
static void test_raw_streams_are_unpacked_in_pieces(void **state)
{
    static struct unlzma lzma;
    uint32_t random = 1;

    (void)state;
    for (unsigned trial = 0; trial < DAMAGED; trial++) {
        lzma_options_lzma options = options_of(trial);
        const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, NULL}};
        const size_t len = 1 + next_random(&random) % 3000;
        size_t n = 0;

        make_text(len, trial % 6);
        assert_int_equal(
            lzma_raw_buffer_encode(filters, NULL, text, len, packed, &n, sizeof packed), LZMA_OK);
        if (trial % 2 == 1)
            packed[next_random(&random) % n] ^= (uint8_t)(1u << next_random(&random) % 8);
        lzma.begin = 0;
        lzma.dictionary_len = options.dict_size;
        unlzma_reset(&lzma);
        assert_true(unlzma_set_properties(
            &lzma, (uint8_t)((options.pb * 5 + options.lp) * 9 + options.lc)));
        const size_t has = unlzma_begin(&lzma, packed, n) ? run_raw(&lzma, &random, len) : 0;
        assert_int_equal(has, expect_raw(&options, packed, n, len));
        assert_memory_equal(unpacked, expected, has);
        assert_true(trial % 2 == 1 || has == len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_streams),
                                       cmocka_unit_test(test_damaged_streams),
                                       cmocka_unit_test(test_a_limit_is_not_passed),
                                       cmocka_unit_test(test_raw_streams_are_unpacked_in_pieces)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
