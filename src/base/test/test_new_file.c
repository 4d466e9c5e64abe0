/* SPDX-License-Identifier: MIT */
/* A new file appears whole or not at all, and a writer that was killed leaves nothing for long. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/new_file.h"
#include "test.h"

static char folder[] = "/tmp/sluice-new-XXXXXX";
static char path[sizeof folder + 16];

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

/* Files of the folder, whose names begin so. */
static int count_files(const char *begin)
{
    DIR *directory = opendir(folder);
    int n = 0;

    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        n += entry->d_name[0] != '.' && strncmp(entry->d_name, begin, strlen(begin)) == 0;
    assert_int_equal(closedir(directory), 0);
    return n;
}

static void begin_file(struct new_file *file, const char *text)
{
    assert_int_equal(new_file_create(file, path, NULL), SL_OK);
    new_file_write(file, text, strlen(text));
}

static void write_path(const char *text)
{
    struct new_file file;

    begin_file(&file, text);
    assert_int_equal(new_file_end(&file, NULL), SL_OK);
}

static void assert_content(const char *text)
{
    char content[64] = "";
    const int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_true(read(fd, content, sizeof content - 1) >= 0);
    assert_int_equal(close(fd), 0);
    assert_string_equal(content, text);
}

static void test_the_path_has_the_old_file_until_the_end(void **state)
{
    struct new_file file;

    (void)state;
    begin_file(&file, "first");
    assert_false(file.replaces);
    assert_int_equal(count_files("file"), 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(new_file_end(&file, NULL), SL_OK);
    assert_content("first");

    begin_file(&file, "second");
    assert_true(file.replaces);
    assert_content("first");
    new_file_drop(&file);
    assert_content("first");

    begin_file(&file, "third");
    new_file_write_first(&file, "T", 1);
    assert_int_equal(new_file_end(&file, NULL), SL_OK);
    assert_content("Third");
    assert_int_equal(count_files(""), 1);
}

static void test_two_writers_do_not_meet(void **state)
{
    struct new_file one, other;

    (void)state;
    begin_file(&one, "one");
    begin_file(&other, "other");
    assert_int_equal(new_file_end(&one, NULL), SL_OK);
    assert_content("one");
    assert_int_equal(new_file_end(&other, NULL), SL_OK);
    assert_content("other");
    assert_int_equal(count_files(""), 1);
}

static void begin_files_and_die(int n)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        struct new_file file[4];

        for (int i = 0; i < n; i++)
            if (new_file_create(&file[i], path, NULL) != SL_OK)
                _exit(1);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void test_the_next_writer_removes_what_dead_ones_left(void **state)
{
    struct new_file live;

    (void)state;
    write_path("old");
    begin_file(&live, "live");
    begin_files_and_die(3);
    assert_int_equal(count_files("file.sluice-new-"), 4);
    assert_content("old");
    write_path("new");
    assert_content("new");
    assert_int_equal(count_files("file.sluice-new-"), 1);
    assert_int_equal(new_file_end(&live, NULL), SL_OK);
    assert_content("live");
    assert_int_equal(count_files(""), 1);
}

static void test_mode_and_links_stay(void **state)
{
    struct stat file;
    char link[sizeof path + 8];

    (void)state;
    write_path("old");
    assert_int_equal(chmod(path, 0640), 0);
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink("file", link), 0);

    struct new_file through;
    assert_int_equal(new_file_create(&through, link, NULL), SL_OK);
    new_file_write(&through, "new", 3);
    assert_int_equal(new_file_end(&through, NULL), SL_OK);
    assert_content("new");
    assert_int_equal(lstat(link, &file), 0);
    assert_true(S_ISLNK(file.st_mode));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0640);
    assert_int_equal(unlink(link), 0);
}

static void test_failures_keep_the_old_file(void **state)
{
    const struct rlimit small = {2, RLIM_INFINITY};
    struct rlimit before;
    struct new_file file;
    struct sl_diag diag;

    (void)state;
    write_path("old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    begin_file(&file, "longer than two bytes");
    assert_int_equal(new_file_end(&file, &diag), SL_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_string_equal(diag.file, path);
    assert_string_equal(diag.text, "cannot be written: File too large");
    assert_content("old");
    assert_int_equal(count_files(""), 1);

    assert_int_equal(new_file_create(&file, folder, &diag), SL_EIO);
    assert_string_equal(diag.text, "is no regular file");
    assert_int_equal(new_file_create(&file, "/dev/null", &diag), SL_EIO);
    assert_int_equal(new_file_create(&file, "/nowhere/file", &diag), SL_EIO);
    assert_string_equal(diag.text, "cannot be created: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_path_has_the_old_file_until_the_end),
        cmocka_unit_test(test_two_writers_do_not_meet),
        cmocka_unit_test(test_the_next_writer_removes_what_dead_ones_left),
        cmocka_unit_test(test_mode_and_links_stay),
        cmocka_unit_test(test_failures_keep_the_old_file),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
