/* SPDX-License-Identifier: MIT */
/* Files in memory and mapped files: which is which, and what a handler of SIGBUS learns. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_bytes.h"
#include "base/mapped_file.h"
#include "test.h"

enum { PAGE = 4096, MAPPED_LEN = 3 * PAGE + 5, ROUNDS = 2000 };

static char path[] = "/tmp/sluice-mapped-XXXXXX";

static int set_up(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd >= 0 && ftruncate(fd, MAPPED_LEN) == 0 && close(fd) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void *map(bool writable)
{
    const int fd = open(path, O_RDONLY);
    void *memory = mapped_file_map(fd, MAPPED_LEN, writable, path);

    assert_int_equal(close(fd), 0);
    assert_non_null(memory);
    return memory;
}

static void test_an_address_has_its_file(void **state)
{
    uint8_t *first = map(false), *second = map(true);

    (void)state;
    assert_string_equal(sl_mapped_file(first), path);
    assert_string_equal(sl_mapped_file(first + MAPPED_LEN - 1), path);
    assert_string_equal(sl_mapped_file(second + PAGE), path);
    assert_ptr_not_equal(sl_mapped_file(first), sl_mapped_file(second));
    assert_null(sl_mapped_file(NULL));
    assert_null(sl_mapped_file(path));
    second[0] = 1;
    assert_int_equal(first[0], 0);
    assert_true(mapped_file_unmap(first));
    assert_null(sl_mapped_file(first));
    assert_string_equal(sl_mapped_file(second), path);
    assert_true(mapped_file_unmap(second));
    assert_false(mapped_file_unmap(second));
}

static void test_only_mappings_are_discarded(void **state)
{
    uint8_t *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *mapped = map(false);

    (void)state;
    memory[7] = 1;
    mapped_file_discard(memory, PAGE);
    assert_int_equal(memory[7], 1);
    assert_int_equal(munmap(memory, PAGE), 0);
    assert_int_equal(mapped[PAGE], 0);
    mapped_file_discard(mapped, MAPPED_LEN);
    assert_int_equal(mapped[PAGE], 0);
    assert_true(mapped_file_unmap(mapped));
}

static void *map_and_unmap(void *user)
{
    (void)user;
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *memory = map(false);

        assert_string_equal(sl_mapped_file(memory + i % MAPPED_LEN), path);
        assert_true(mapped_file_unmap(memory));
    }
    return NULL;
}

static void test_threads_map_at_once(void **state)
{
    pthread_t thread[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, map_and_unmap, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const char *file = sl_mapped_file(info->si_addr);

    (void)number;
    (void)context;
    _exit(file != NULL && strcmp(file, path) == 0 ? 3 : 4);
}

static void test_a_handler_names_the_file_that_was_cut(void **state)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    volatile uint8_t *memory = map(false);
    int status;

    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        if (sigaction(SIGBUS, &action, NULL) != 0 || truncate(path, 0) != 0)
            _exit(5);
        _exit(memory[2 * PAGE]);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_true(mapped_file_unmap((void *)(uintptr_t)memory));
    assert_int_equal(truncate(path, MAPPED_LEN), 0);
}

/* ---- all bytes of a file --------------------------------------------------------------------- */

/* Threads each read a share of it. */
static void test_all_bytes_come_where_they_belong(void **state)
{
    enum { STEP = 1 << 20, N = 35 };
    struct file_bytes bytes;
    struct sl_diag diag;
    const int fd = open(path, O_WRONLY);

    (void)state;
    assert_int_equal(ftruncate(fd, 0), 0);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(pwrite(fd, &i, sizeof i, (off_t)i * STEP), sizeof i);
    close(fd);
    assert_int_equal(file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, &diag), SL_OK);
    assert_true(bytes.len == (size_t)(N - 1) * STEP + sizeof(uint32_t));
    for (size_t at = 0; at < bytes.len; at += sizeof(uint32_t)) {
        uint32_t word;

        memcpy(&word, (const uint8_t *)bytes.at + at, sizeof word);
        if (word != (at % STEP == 0 ? at / STEP : 0))
            fail_msg("byte %zu is wrong", at);
    }
    file_bytes_close(&bytes);
    assert_int_equal(truncate(path, MAPPED_LEN), 0);
}

static void test_a_small_file_is_read_and_a_large_one_is_mapped(void **state)
{
    struct file_bytes bytes;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(truncate(path, (off_t)FILE_BYTES_READ_MAX), 0);
    assert_int_equal(file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, &diag), SL_OK);
    assert_true(bytes.len == FILE_BYTES_READ_MAX);
    assert_null(sl_mapped_file(bytes.at));
    file_bytes_close(&bytes);

    assert_int_equal(truncate(path, (off_t)FILE_BYTES_READ_MAX + 1), 0);
    assert_int_equal(file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, &diag), SL_OK);
    assert_true(bytes.len == FILE_BYTES_READ_MAX + 1);
    assert_string_equal(sl_mapped_file(bytes.at), path);
    file_bytes_close(&bytes);
    assert_null(bytes.at);
    assert_int_equal(truncate(path, MAPPED_LEN), 0);
}

static void test_what_was_read_stays(void **state)
{
    struct file_bytes bytes;

    (void)state;
    assert_int_equal(file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, true, NULL), SL_OK);
    assert_int_equal(truncate(path, 0), 0);
    for (size_t i = 0; i < MAPPED_LEN; i++)
        assert_int_equal(((uint8_t *)bytes.at)[i], 0);
    file_bytes_close(&bytes);
    assert_int_equal(file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, NULL), SL_OK);
    assert_null(bytes.at);
    assert_true(bytes.len == 0);
    file_bytes_close(&bytes);
    assert_int_equal(truncate(path, MAPPED_LEN), 0);
}

static void test_other_paths_are_refused(void **state)
{
    struct file_bytes bytes;
    struct sl_diag diag;

    (void)state;
    assert_int_equal(file_bytes_open(&bytes, "/tmp", FILE_BYTES_READ_MAX, false, &diag), SL_EIO);
    assert_string_equal(diag.text, "cannot be read: Is a directory");
    assert_int_equal(file_bytes_open(&bytes, "/nowhere/file", FILE_BYTES_READ_MAX, false, &diag),
                     SL_EIO);
    assert_string_equal(diag.file, "/nowhere/file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_has_its_file),
        cmocka_unit_test(test_only_mappings_are_discarded),
        cmocka_unit_test(test_threads_map_at_once),
        cmocka_unit_test(test_a_handler_names_the_file_that_was_cut),
        cmocka_unit_test(test_all_bytes_come_where_they_belong),
        cmocka_unit_test(test_a_small_file_is_read_and_a_large_one_is_mapped),
        cmocka_unit_test(test_what_was_read_stays),
        cmocka_unit_test(test_other_paths_are_refused),
    };

    test_threaded("test_threads_map_at_once");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
