/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/block_file.h"
#include "sluice/mapped.h"

enum { BODY = 3 << 20, LEN = sizeof(struct block_head) + BODY };

static bool sum_all(const void *block, uint64_t *sum)
{
    const struct block_head *head = block;

    *sum = block_sum(head + 1, head->len - sizeof *head);
    return ((const uint8_t *)(head + 1))[0] != 'x'; /* a part that lies elsewhere */
}

static const struct block_kind kind = {.name = "block of the test",
                                       .magic = UINT64_C(0x0102030405060708),
                                       .version = 7,
                                       .pointer_len = sizeof(void *),
                                       .len_min = sizeof(struct block_head) + 1,
                                       .read_max = LEN - 1,
                                       .sum = sum_all};

static char path[64];
static uint8_t *block;

static int set_up(void **state)
{
    const struct block_head head = block_head_make(&kind, LEN);

    (void)state;
    snprintf(path, sizeof path, "/tmp/sluice-test-block-%d", (int)getpid());
    block = malloc(LEN);
    assert_non_null(block);
    memcpy(block, &head, sizeof head);
    for (size_t i = sizeof head; i < LEN; i++)
        block[i] = (uint8_t)(i * i >> 3);
    block_seal(&kind, block);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    free(block);
    return 0;
}

static void write_file(const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void assert_refused(enum sl_status status, const char *reason)
{
    const void *mapped = NULL;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(block_file_load(&kind, &mapped, path, &diag), status);
    assert_null(mapped);
    assert_string_equal(diag.file, path);
    if (strstr(diag.text, reason) == NULL)
        fail_msg("'%s' (expected '%s')", diag.text, reason);
}

static void test_what_is_saved_is_mapped(void **state)
{
    const void *mapped, *again;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(block_file_save(&kind, block, path, &diag), SL_OK);
    assert_true(block_file_is(&kind, path));
    assert_int_equal(block_file_load(&kind, &mapped, path, &diag), SL_OK);
    assert_string_equal(sl_mapped_file(mapped), path);
    assert_memory_equal(mapped, block, LEN);

    /* Over the file that is mapped: the mapping keeps the file before. */
    block[LEN - 1]++;
    assert_int_equal(block_file_save(&kind, block, path, &diag), SL_OK);
    assert_int_equal(block_file_load(&kind, &again, path, &diag), SL_OK);
    assert_int_equal(((const uint8_t *)again)[LEN - 1], block[LEN - 1]);
    assert_int_not_equal(((const uint8_t *)mapped)[LEN - 1], block[LEN - 1]);
    block_file_unload(again);
    block_file_unload(mapped);
    block[LEN - 1]--;
}

static void test_each_wrong_byte_is_refused(void **state)
{
    (void)state;
    for (size_t at = 0; at < LEN; at += at < sizeof(struct block_head) ? 1 : LEN / 7) {
        block[at] ^= 0x10;
        write_file(block, LEN);
        assert_refused(SL_EFORMAT, "");
        block[at] ^= 0x10;
    }
    block[LEN - 1] ^= 1;
    write_file(block, LEN);
    assert_refused(SL_EFORMAT, "is damaged: its checksum is wrong");
    block[LEN - 1] ^= 1;
}

static void test_parts_that_lie_elsewhere_are_refused(void **state)
{
    const uint8_t first = block[sizeof(struct block_head)];

    (void)state;
    block[sizeof(struct block_head)] = 'x';
    block_seal(&kind, block);
    write_file(block, LEN);
    assert_refused(SL_EFORMAT, "is damaged: its checksum is wrong");
    block[sizeof(struct block_head)] = first;
    block_seal(&kind, block);
}

static void test_other_lengths_are_refused(void **state)
{
    (void)state;
    write_file(block, LEN);
    assert_int_equal(truncate(path, LEN + 1), 0);
    assert_refused(SL_EFORMAT, "has 3145761 bytes (expected 3145760): it was cut or damaged");
    assert_int_equal(truncate(path, LEN - 1), 0);
    assert_refused(SL_EFORMAT, "has 3145759 bytes (expected 3145760): it was cut or damaged");
    for (off_t len = sizeof(struct block_head); len >= 0; len--) {
        assert_int_equal(truncate(path, len), 0);
        assert_refused(SL_EFORMAT, "is no block of the test: it is too short");
    }
    assert_false(block_file_is(&kind, path));
}

static void refuse_head(const struct block_head *head, const char *reason)
{
    const struct block_head right = *(const struct block_head *)block;

    memcpy(block, head, sizeof *head);
    write_file(block, LEN);
    assert_refused(SL_EFORMAT, reason);
    memcpy(block, &right, sizeof right);
}

static void test_other_kinds_are_refused(void **state)
{
    struct block_head head = *(const struct block_head *)block;

    (void)state;
    head.magic++;
    refuse_head(&head, "is no block of the test");
    assert_false(block_file_is(&kind, path));
    head.magic = __builtin_bswap64(kind.magic);
    refuse_head(&head, "was compiled on a machine of another byte order");
    assert_true(block_file_is(&kind, path));
    head.magic = kind.magic;
    head.version = 8;
    refuse_head(&head, "is a block of the test of version 8 (expected 7)");
    head.version = kind.version;
    head.pointer_len = 2;
    refuse_head(&head, "was compiled for pointers of 2 bytes (expected 8)");
}

static void test_other_files_are_refused(void **state)
{
    const char *const directory = "/tmp";
    const void *mapped;
    struct sl_diag diag;

    (void)state;
    (void)unlink(path);
    assert_refused(SL_EIO, "cannot be opened: No such file or directory");
    assert_false(block_file_is(&kind, path));
    assert_int_equal(block_file_load(&kind, &mapped, directory, &diag), SL_EIO);
    assert_int_equal(block_file_save(&kind, block, directory, &diag), SL_EIO);
    assert_int_equal(block_file_save(&kind, block, "/nowhere/block", &diag), SL_EIO);
    assert_string_equal(diag.file, "/nowhere/block");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(block_file_is(&kind, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_saved_is_mapped),
        cmocka_unit_test(test_each_wrong_byte_is_refused),
        cmocka_unit_test(test_parts_that_lie_elsewhere_are_refused),
        cmocka_unit_test(test_other_lengths_are_refused),
        cmocka_unit_test(test_other_kinds_are_refused),
        cmocka_unit_test(test_other_files_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
