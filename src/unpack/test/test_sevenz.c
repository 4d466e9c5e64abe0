/* SPDX-License-Identifier: MIT */
/* A member that does not fit is unpacked only where a member behind it needs that. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unpack/sevenz.h"

enum { FILE_MAX = 1 << 16, SCAN_MAX = 1 << 20, LARGE = 4 << 20, SLACK = 1 << 18 };

static uint64_t n_read;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the names are the linker's (--wrap) */
size_t __real_sevenz_source_read(struct sevenz_source *source, uint8_t *to, size_t len);
size_t __wrap_sevenz_source_read(struct sevenz_source *source, uint8_t *to, size_t len);

size_t __wrap_sevenz_source_read(struct sevenz_source *source, uint8_t *to, size_t len)
{
    n_read += len;
    return __real_sevenz_source_read(source, to, len);
}

/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* Keeps the last object. */
static bool keep(void *user, struct unpack_event *event, const uint8_t *bytes)
{
    if (event->type == UNPACK_OBJECT)
        snprintf(user, 16, "%.*s", (int)event->len, (const char *)bytes);
    return true;
}

static void put_number(uint8_t **at, size_t value)
{
    *(*at)++ = 0xE0;
    for (int i = 0; i < 3; i++, value >>= 8)
        *(*at)++ = (uint8_t)value;
}

static void put(uint8_t **at, const char *bytes, size_t len)
{
    memcpy(*at, bytes, len);
    *at += len;
}

/* Zeros and "hello". Returns their length as they are packed. */
static size_t pack(size_t len, uint8_t *to, size_t room)
{
    uint8_t *plain = calloc(1, len);
    z_stream stream = {
        .next_in = plain, .avail_in = (uInt)len, .next_out = to, .avail_out = (uInt)room};

    assert_non_null(plain);
    memcpy(plain + len - 5, "hello", 5);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    free(plain);
    return stream.total_out;
}

/* An archive of one folder, which has two members or, with first_len 0, one. */
static size_t make_archive(size_t first_len, size_t last_len, uint8_t *bytes, size_t room)
{
    const size_t len = first_len + last_len;
    const size_t packed_len = pack(len, bytes + SEVENZ_HEADER_LEN, room - 256);
    uint8_t *const header = bytes + SEVENZ_HEADER_LEN + packed_len, *at = header;
    const char n_members = first_len > 0 ? 2 : 1;

    put(&at, "\1\4\6\0\1\x09", 6);
    put_number(&at, packed_len);
    put(&at, "\0\7\x0B\1\0\1\3\4\1\x08\x0C", 11);
    put_number(&at, len);
    put(&at, "\0\x08\x0D", 3);
    put(&at, &n_members, 1);
    if (first_len > 0) {
        put(&at, "\x09", 1);
        put_number(&at, first_len);
    }
    put(&at, "\0\0\5", 3);
    put(&at, &n_members, 1);
    put(&at, "\0\0", 2);
    memcpy(bytes, "7z\xBC\xAF\x27\x1C\0\4", 8);
    for (int i = 0; i < 3; i++)
        bytes[12 + i] = (uint8_t)(packed_len >> 8 * i);
    bytes[20] = (uint8_t)(at - header);
    return (size_t)(at - bytes);
}

static void scan(size_t first_len, size_t last_len, char last[16])
{
    static uint8_t bytes[SCAN_MAX / 2];
    struct unpack *unpack = unpack_create(keep, last);
    const struct unpack_request request = {.limits = {FILE_MAX, SCAN_MAX, 9, 99}};

    assert_non_null(unpack);
    memset(bytes, 0, sizeof bytes);
    const size_t len = make_archive(first_len, last_len, bytes, sizeof bytes);
    n_read = 0;
    last[0] = '\0';
    unpack_file_as(unpack, &request, bytes, len, KIND_SEVENZIP);
    unpack_free(unpack);
}

static void test_what_is_left_out(void **state)
{
    char last[16];

    (void)state;
    scan(0, 5, last);
    assert_string_equal(last, "hello");
    assert_int_equal(n_read, 5);
    scan(0, LARGE, last);
    assert_in_range(n_read, 5, FILE_MAX + SLACK);
    scan(2 * FILE_MAX, 5, last);
    assert_string_equal(last, "hello");
    scan(LARGE, 5, last);
    assert_string_equal(last, "");
    assert_in_range(n_read, FILE_MAX, SCAN_MAX + FILE_MAX + SLACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_left_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
