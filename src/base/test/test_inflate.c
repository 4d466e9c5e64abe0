/* SPDX-License-Identifier: MIT */
/* Streams of deflate, whole, cut and damaged, beside a judge: the same bytes come out, with the
 * same ends, however the streams are cut. */
#include "test.h"

#include <zlib.h>

#include "deflate64_make.h"
#include "inflate_ref.h"

enum { TEXT_MAX = 1 << 18, PACKED_MAX = TEXT_MAX + 4096 };

static uint8_t text[TEXT_MAX], packed[PACKED_MAX];
static struct inflated expected, found;

/* Words that come again, runs, and noise. */
static uint32_t make_text(uint64_t *seed)
{
    const uint32_t len = 1 + test_below(seed, test_below(seed, 8) == 0 ? TEXT_MAX : 20000);
    const uint32_t letters = 2 + test_below(seed, 60);

    for (uint32_t at = 0; at < len;) {
        const uint32_t left = len - at, n = 1 + test_below(seed, left < 300 ? left : 300);
        const uint32_t kind = test_below(seed, 8);
        const uint32_t back = 1 + test_below(seed, at < 40000 ? at + 1 : 40000);

        for (uint32_t i = 0; i < n; i++, at++)
            text[at] = kind == 0               ? (uint8_t)test_below(seed, 256)
                       : kind < 3 || back > at ? (uint8_t)(' ' + test_below(seed, letters))
                                               : text[at - back];
    }
    return len;
}

/* The parts that a head of gzip may have. */
static void set_head(uint64_t *seed, z_stream *stream)
{
    static uint8_t extra[] = "extra", name[] = "name", comment[] = "comment";
    static gz_header head;

    head = (gz_header){.hcrc = (int)test_below(seed, 2)};
    head.extra = test_below(seed, 2) != 0 ? extra : NULL;
    head.extra_len = test_below(seed, sizeof extra);
    head.name = test_below(seed, 2) != 0 ? name : NULL;
    head.comment = test_below(seed, 2) != 0 ? comment : NULL;
    assert_int_equal(deflateSetHeader(stream, &head), Z_OK);
}

static uint32_t pack(uint64_t *seed, uint32_t len, enum inflate_format format)
{
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE,
                                     Z_FIXED};
    const int bits = 9 + (int)test_below(seed, 7);
    z_stream stream = {.next_in = text,
                       .avail_in = test_below(seed, 4) == 0 ? len / 2 : len,
                       .next_out = packed,
                       .avail_out = PACKED_MAX};

    assert_int_equal(deflateInit2(&stream, (int)test_below(seed, 10), Z_DEFLATED,
                                  format == INFLATE_BARE   ? -bits
                                  : format == INFLATE_GZIP ? bits + 16
                                                           : bits,
                                  1 + (int)test_below(seed, 9), strategies[test_below(seed, 5)]),
                     Z_OK);
    if (format == INFLATE_GZIP)
        set_head(seed, &stream);
    if (stream.avail_in != len)
        assert_int_equal(deflate(&stream, test_below(seed, 2) ? Z_SYNC_FLUSH : Z_FULL_FLUSH), Z_OK);
    stream.avail_in = len - (uint32_t)stream.total_in;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const uint32_t packed_len = (uint32_t)stream.total_out;
    (void)deflateEnd(&stream);
    return packed_len;
}

/* Leaves the stream, cuts it, changes bits of it or of its head, or puts another head there. */
static uint32_t damage(uint64_t *seed, uint32_t len)
{
    const uint32_t head = len < 100 ? len : 100;
    const uint32_t how = test_below(seed, 5);

    if (how == 1)
        return 1 + test_below(seed, len);
    for (uint32_t i = 0; how == 2 && i < 3; i++)
        packed[test_below(seed, len)] ^= (uint8_t)(1 << test_below(seed, 8));
    for (uint32_t i = 0; how == 3 && i < 2; i++)
        packed[test_below(seed, head)] ^= (uint8_t)(1 << test_below(seed, 8));
    for (uint32_t i = 0; how == 4 && i < head; i++)
        packed[i] = (uint8_t)test_below(seed, 256);
    if (how == 4 && test_below(seed, 2) == 0)
        packed[0] = (uint8_t)((packed[0] & ~7) | 4); /* a block with codes of its own */
    return len;
}

/* Pieces and rooms of one size, or of all sizes. */
struct cuts {
    uint64_t seed;
    uint32_t most;
    bool equal;
};

static uint32_t cut(void *user)
{
    struct cuts *cuts = user;

    return cuts->equal ? cuts->most : 1 + test_below(&cuts->seed, cuts->most);
}

static void compare(uint32_t trial, const char *how)
{
    if (found.status != expected.status || found.len != expected.len ||
        found.used != expected.used || memcmp(found.bytes, expected.bytes, found.len) != 0)
        fail_msg("trial %u, %s: end %d at %zu after %u bytes, by the judge %d at %zu after %u",
                 trial, how, found.status, found.used, found.len, expected.status, expected.used,
                 expected.len);
}

static void test_judge_agrees(void **state)
{
    static const struct cuts cuts[] = {
        {1, INFLATED_MAX, true}, {1, 1, true}, {2, 40, false}, {3, 4000, false}};
    const uint32_t trials = test_fewer(2000, 300);
    uint32_t n[4][3] = {{0}};
    uint64_t seed = 1;

    (void)state;
    for (uint32_t t = 0; t < trials; t++) {
        const enum inflate_format format = test_below(&seed, 4);
        const uint32_t len =
            damage(&seed, format == INFLATE_64 ? deflate64_make(packed, PACKED_MAX, &seed)
                                               : pack(&seed, make_text(&seed), format));

        inflate_by_judge(&expected, format, packed, len);
        if (expected.len == INFLATED_MAX)
            continue; /* damage made it that long */
        n[format][expected.status]++;
        for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
            struct cuts now = cuts[c];

            if (now.most == 1 && len > 5000)
                continue;
            inflate_by_pieces(&found, format, packed, len, cut, &now);
            compare(t, "in pieces");
            if (format == INFLATE_64)
                continue;
            inflate_by_stream(&found, format, packed, len, cut, &now);
            compare(t, "as a stream");
        }
    }
    for (int i = 0; i < 12; i++)
        assert_true(n[i / 3][i % 3] > trials / 200);
}

/* What no packer writes. */
static void test_rare_streams(void **state)
{
    static const struct {
        const char *what, *bytes;
        uint32_t len;
        enum inflate_format format;
        enum inflate_status status;
        uint32_t out_len;
    } streams[] = {
        {"nothing", "", 0, INFLATE_BARE, INFLATE_GOES_ON, 0},
        {"an empty block", "\x03\x00", 2, INFLATE_BARE, INFLATE_OVER, 0},
        {"an empty stored block", "\x01\x00\x00\xff\xff", 5, INFLATE_BARE, INFLATE_OVER, 0},
        {"a stored block with a wrong length", "\x01\x01\x00\xff\xff", 5, INFLATE_BARE,
         INFLATE_DAMAGED, 0},
        {"a block of no kind", "\x07", 1, INFLATE_BARE, INFLATE_DAMAGED, 0},
        {"a match before the first byte", "\x4b\x04\x12\x00", 4, INFLATE_BARE, INFLATE_DAMAGED, 1},
        {"a dictionary", "\x78\xbb\x00\x00\x00\x01\x03\x00", 8, INFLATE_ZLIB, INFLATE_DAMAGED, 0},
        {"a window of 64 KiB", "\x88\x1c\x03\x00", 4, INFLATE_ZLIB, INFLATE_DAMAGED, 0},
        {"a wrong sum", "\x78\x9c\x03\x00\x00\x00\x00\x02", 8, INFLATE_ZLIB, INFLATE_DAMAGED, 0},
        {"a right sum", "\x78\x9c\x03\x00\x00\x00\x00\x01", 8, INFLATE_ZLIB, INFLATE_OVER, 0},
        {"gzip", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20, INFLATE_GZIP,
         INFLATE_OVER, 0},
        {"gzip with a flag of none", "\x1f\x8b\x08\x20\0\0\0\0\0\x03", 10, INFLATE_GZIP,
         INFLATE_DAMAGED, 0},
        {"gzip with a wrong length", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\1\0\0\0", 20,
         INFLATE_GZIP, INFLATE_DAMAGED, 0},
        {"more behind it", "\x03\0\0\0\0\0\0\0\0\0\0\0", 12, INFLATE_BARE, INFLATE_OVER, 0},
    };
    struct cuts whole = {1, INFLATED_MAX, true};

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const uint8_t *bytes = (const uint8_t *)streams[i].bytes;

        inflate_by_pieces(&found, streams[i].format, bytes, streams[i].len, cut, &whole);
        inflate_by_judge(&expected, streams[i].format, bytes, streams[i].len);
        compare((uint32_t)i, streams[i].what);
        if (found.status != streams[i].status || found.len != streams[i].out_len)
            fail_msg("%s: end %d after %u bytes", streams[i].what, found.status, found.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge_agrees),
        cmocka_unit_test(test_rare_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
