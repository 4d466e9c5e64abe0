/* SPDX-License-Identifier: MIT */
/* Sinks under full disks, closed and slow pipes, and a killed process: the events reported as
 * written are those in the file. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_sink_events.h"

/* Writes up to n plain events, with a flush behind each flush_every; the first failure ends it. */
static enum sl_status write_until_failure(struct sl_sink *sink, uint32_t n, uint32_t flush_every,
                                          struct sl_diag *diag)
{
    struct made_event *made = malloc(sizeof *made);
    enum sl_status status = SL_OK;

    for (uint32_t i = 1; i <= n && status == SL_OK; i++) {
        make_plain(made, i);
        status = sl_sink_write(sink, &made->event, diag);
        if (status == SL_OK && i % flush_every == 0)
            status = sl_sink_flush(sink, diag);
    }
    free(made);
    return status;
}

/* A sink that failed says so again whatever is asked of it, and writes nothing further. */
static uint64_t close_failed(struct sl_sink *sink, const char *reason)
{
    const uint64_t written_before = sl_sink_written(sink);
    struct sl_diag diag = {.text = ""};
    uint64_t written = 0;

    assert_int_equal(write_until_failure(sink, 1, 1, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, reason));
    diag.text[0] = '\0';
    assert_int_equal(sl_sink_flush(sink, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, reason));
    diag.text[0] = '\0';
    assert_int_equal(sl_sink_close(sink, &written, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, reason));
    assert_int_equal(written, written_before);
    return written;
}

static uint64_t lines_in(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t n = 0;
    int byte;

    assert_non_null(file);
    while ((byte = getc(file)) != EOF)
        n += byte == '\n';
    fclose(file);
    return n;
}

/* The alerts of a sound database; they must be numbered from 1. */
static uint64_t rows_in(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(rows, 0), "ok");
    sqlite3_finalize(rows);

    const char *sql = "SELECT count(*), count(DISTINCT sid), coalesce(max(sid), 0) FROM alerts";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    const sqlite3_int64 n = sqlite3_column_int64(rows, 0);
    assert_int_equal(sqlite3_column_int64(rows, 1), n);
    assert_int_equal(sqlite3_column_int64(rows, 2), n);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return (uint64_t)n;
}

static void test_full_device(void **state)
{
    struct sl_diag diag = {.text = ""};

    (void)state;
    struct sl_sink *sink = open_sink("eve:/dev/full");
    assert_int_equal(write_until_failure(sink, 10, 100, &diag), SL_OK);
    assert_int_equal(sl_sink_flush(sink, &diag), SL_EIO);
    assert_string_equal(diag.file, "/dev/full");
    assert_int_equal(close_failed(sink, strerror(ENOSPC)), 0);

    /* The failure comes at the write that fills the buffer, too, and at close alone. */
    sink = open_sink("eve:/dev/full");
    assert_int_equal(write_until_failure(sink, 1000000, 2000000, &diag), SL_EIO);
    assert_int_equal(close_failed(sink, strerror(ENOSPC)), 0);

    uint64_t written = 1;
    sink = open_sink("eve:/dev/full");
    assert_int_equal(write_until_failure(sink, 1, 2, &diag), SL_OK);
    assert_int_equal(sl_sink_close(sink, &written, &diag), SL_EIO);
    assert_int_equal(written, 0);
}

/* Both sinks that know standard output. */
static void test_full_stdout(void **state)
{
    static const char *const specs[] = {"console", "eve:-"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sl_diag diag = {.text = ""};
        const int saved = stdout_to(open("/dev/full", O_WRONLY));
        struct sl_sink *sink = open_sink(specs[i]);
        const enum sl_status status = write_until_failure(sink, 10, 10, &diag);

        stdout_back(saved);
        assert_int_equal(status, SL_EIO);
        assert_string_equal(diag.file, "standard output");
        assert_int_equal(close_failed(sink, strerror(ENOSPC)), 0);
    }
}

static void test_closed_pipe(void **state)
{
    static const char *const specs[] = {"console", "eve:-"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sl_diag diag = {.text = ""};
        int ends[2];

        assert_int_equal(pipe(ends), 0);
        const int saved = stdout_to(ends[1]);
        struct sl_sink *sink = open_sink(specs[i]);
        const enum sl_status open_status = write_until_failure(sink, 10, 10, &diag);
        const uint64_t open_written = sl_sink_written(sink);
        close(ends[0]);
        const enum sl_status closed_status = write_until_failure(sink, 5, 5, &diag);
        stdout_back(saved);

        assert_int_equal(open_status, SL_OK);
        assert_int_equal(open_written, 10);
        assert_int_equal(closed_status, SL_EIO);
        assert_int_equal(close_failed(sink, strerror(EPIPE)), 10);
    }
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* Pipe flags, and whether signals interrupt the writes. */
static void write_to_slow_reader(int flags, bool with_signals)
{
    enum { N_EVENTS = 5000 };
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART: EINTR */
    struct sl_diag diag = {.text = ""};
    int ends[2], status;

    assert_int_equal(pipe2(ends, flags), 0);
    const pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        char bytes[3000];
        uint32_t n_lines = 0;
        ssize_t len;

        close(ends[1]);
        fcntl(ends[0], F_SETFL, 0);
        while ((len = read(ends[0], bytes, sizeof bytes)) > 0) {
            for (ssize_t i = 0; i < len; i++)
                n_lines += bytes[i] == '\n';
            usleep(100);
        }
        _exit(n_lines == N_EVENTS && len == 0 ? 0 : 1);
    }
    close(ends[0]);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);

    const int saved = stdout_to(ends[1]);
    struct sl_sink *sink = open_sink("eve:-");
    if (with_signals)
        setitimer(ITIMER_REAL, &often, NULL);
    const enum sl_status written = write_until_failure(sink, N_EVENTS, N_EVENTS, &diag);
    setitimer(ITIMER_REAL, &never, NULL);
    stdout_back(saved);

    assert_int_equal(written, SL_OK);
    close_sink(sink, N_EVENTS);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
}

static void test_slow_pipe(void **state)
{
    (void)state;
    write_to_slow_reader(0, true);
    write_to_slow_reader(O_NONBLOCK, false);
    write_to_slow_reader(O_NONBLOCK, true);
}

/* Files may not grow beyond a limit: EFBIG, after a write of a part. */
static void limit_files(rlim_t limit)
{
    struct rlimit file_limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &file_limit), 0);
    file_limit.rlim_cur = limit < file_limit.rlim_max ? limit : file_limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &file_limit), 0);
}

static void test_eve_limit(void **state)
{
    static const rlim_t limits[] = {0, 1, 700, 262144, 1000000};
    struct stat stat;

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct sl_diag diag = {.text = ""};
        struct sl_sink *sink = open_sink(scratch_spec("eve", "limit.json"));

        limit_files(limits[i]);
        const enum sl_status status = write_until_failure(sink, 100000, 333, &diag);
        const uint64_t written = close_failed(sink, strerror(EFBIG));
        limit_files(RLIM_INFINITY);

        assert_int_equal(status, SL_EIO);
        assert_string_equal(diag.file, scratch_path("limit.json"));
        assert_int_equal(lstat(scratch_path("limit.json"), &stat), 0);
        assert_int_equal(stat.st_size, limits[i]);
        assert_int_equal(written, lines_in(scratch_path("limit.json")));
        assert_int_equal(unlink(scratch_path("limit.json")), 0);
    }
}

static void test_sqlite_limit(void **state)
{
    static const rlim_t limits[] = {200000, 1000000, 3000000};
    const char *path;

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char name[32];
        struct sl_diag diag = {.text = ""};

        snprintf(name, sizeof name, "limit%zu.db", i);
        path = scratch_path(name);
        struct sl_sink *sink = open_sink(scratch_spec("sqlite", name));
        limit_files(limits[i]);
        const enum sl_status status = write_until_failure(sink, 100000, 200, &diag);
        const uint64_t written = close_failed(sink, "disk");
        limit_files(RLIM_INFINITY);

        assert_int_equal(status, SL_EIO);
        assert_string_equal(diag.file, path);
        assert_true(written > 0 && written % 200 == 0);
        assert_int_equal(written, rows_in(path));
    }
}

static bool write_to(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY);
    const bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* Gives this process a small file system at path, seen by nobody else. */
static bool mount_small(const char *path)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    char map[64];

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", uid);
        if (!write_to("/proc/self/uid_map", map) || !write_to("/proc/self/setgroups", "deny"))
            return false;
        snprintf(map, sizeof map, "0 %u 1", gid);
        if (!write_to("/proc/self/gid_map", map))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tmpfs", 0, "size=2m") == 0;
}

/* Fills a disk with each sink in turn. The database is read after room was made again, as its log
 * needs a little to be brought in. */
static void fill_disk(void)
{
    struct sl_diag diag = {.text = ""};
    const char *path;

    path = scratch_path("disk/full.json");
    struct sl_sink *sink = open_sink(scratch_spec("eve", "disk/full.json"));
    assert_int_equal(write_until_failure(sink, 100000, 100, &diag), SL_EIO);
    const uint64_t n_lines = close_failed(sink, strerror(ENOSPC));
    assert_true(n_lines > 0);
    assert_int_equal(n_lines, lines_in(path));
    assert_int_equal(truncate(path, 500000), 0);

    sink = open_sink(scratch_spec("sqlite", "disk/full.db"));
    assert_int_equal(write_until_failure(sink, 100000, 100, &diag), SL_EIO);
    assert_string_equal(diag.file, scratch_path("disk/full.db"));
    const uint64_t n_rows = close_failed(sink, "disk is full");
    assert_int_equal(unlink(path), 0);
    assert_true(n_rows > 0 && n_rows % 100 == 0);
    assert_int_equal(n_rows, rows_in(scratch_path("disk/full.db")));

    /* The sink that stopped goes on. */
    sink = open_sink(scratch_spec("sqlite", "disk/full.db"));
    close_sink(sink, 0);
}

/* cmocka's failures do not leave a child: each line of the test is run there as a group of its own.
 */
static void fill_disk_test(void **state)
{
    (void)state;
    fill_disk();
}

/* In a child, which alone sees the disk; a group of its own there turns failures into an exit
 * status. */
static void test_full_disk(void **state)
{
    const struct CMUnitTest in_child[] = {cmocka_unit_test(fill_disk_test)};
    int status;

    (void)state;
    assert_int_equal(mkdir(scratch_path("disk"), 0700), 0);
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!mount_small(scratch_path("disk")))
            _exit(TEST_SKIPPED);
        _exit(cmocka_run_group_tests_name("on a disk of 2 MiB", in_child, NULL, NULL));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == TEST_SKIPPED)
        test_skip("no right to mount a small file system");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The results that the killed writer has seen, in memory that it shares with its killer. */
struct progress {
    _Atomic uint64_t written;
};

static void write_forever(struct progress *progress, const char *spec, uint32_t flush_every)
{
    struct sl_sink *sink = open_sink(spec);
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag;

    for (uint32_t i = 1;; i++) {
        make_plain(made, i);
        if (sl_sink_write(sink, &made->event, &diag) != SL_OK ||
            (i % flush_every == 0 && sl_sink_flush(sink, &diag) != SL_OK))
            _exit(1);
        progress->written = sl_sink_written(sink);
    }
}

/* Starts a writer, kills it after it reported some events and a little more; returns what it
 * reported. */
static uint64_t kill_writer(const char *spec, uint32_t flush_every, uint64_t enough,
                            useconds_t more)
{
    struct progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    assert_true(progress != MAP_FAILED);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0)
        write_forever(progress, spec, flush_every);
    while (progress->written < enough)
        usleep(1000);
    usleep(more);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status));

    const uint64_t written = progress->written;
    munmap(progress, sizeof *progress);
    return written;
}

/* Rows are those of whole transactions: all that were reported, and at most one more, whose report
 * the kill cut off. */
static void test_killed_sqlite(void **state)
{
    uint64_t random = 5;

    (void)state;
    for (int round = 0; round < 12; round++) {
        /* The last rounds leave the transactions to the sink. */
        const uint32_t flush_every = round < 8 ? 128 : 1000000000;
        char name[32];
        const char *path;

        snprintf(name, sizeof name, "killed%d.db-wal", round);
        const char *log = scratch_path(name);
        snprintf(name, sizeof name, "killed%d.db", round);
        path = scratch_path(name);
        const uint64_t written = kill_writer(scratch_spec("sqlite", name), flush_every,
                                             round < 8 ? 256 : 10000, test_below(&random, 30000));
        const uint64_t rows = rows_in(path);
        const uint64_t transaction = round < 8 ? 128 : 10240;

        assert_int_equal(rows % 128, 0); /* a slow one commits earlier, at such a row */
        assert_in_range(rows, written, written + transaction);

        /* And the file goes on. */
        close_sink(open_sink(scratch_spec("sqlite", name)), 0);
        assert_int_equal(access(log, F_OK), -1);
    }
}

/* All lines that were reported are there, behind those of the writers before; the last may be cut,
 * as a kill stops a write half-way. */
static void test_killed_eve(void **state)
{
    uint64_t random = 6, before = 0;

    (void)state;
    for (int round = 0; round < 8; round++) {
        const uint64_t written =
            kill_writer(scratch_spec("eve", "killed.json"), 700, 700, test_below(&random, 10000));
        const uint64_t lines = lines_in(scratch_path("killed.json"));

        assert_true(lines >= before + written);
        before = lines;
    }
}

/* Copies the first `len` bytes of a file of one event to another. */
static void cut_copy(const char *from, const char *to, size_t len)
{
    char bytes[2000];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");

    assert_non_null(in);
    assert_non_null(out);
    assert_true(fread(bytes, 1, len, in) == len && fwrite(bytes, 1, len, out) == len);
    fclose(in);
    fclose(out);
}

/* A file that is cut at any byte of its last line gets whole lines behind the cut one. */
static void test_torn_line(void **state)
{
    struct sl_diag diag = {.text = ""};
    struct stat whole, now;

    (void)state;
    struct sl_sink *sink = open_sink(scratch_spec("eve", "whole.json"));
    assert_int_equal(write_until_failure(sink, 1, 1, &diag), SL_OK);
    close_sink(sink, 1);
    assert_int_equal(stat(scratch_path("whole.json"), &whole), 0);
    for (off_t len = 0; len <= whole.st_size; len++) {
        const char *const from = strdup(scratch_path("whole.json"));
        const bool torn = len > 0 && len < whole.st_size;

        cut_copy(from, scratch_path("torn.json"), (size_t)len);
        free((void *)(uintptr_t)from);
        sink = open_sink(scratch_spec("eve", "torn.json"));
        assert_int_equal(write_until_failure(sink, 1, 1, &diag), SL_OK);
        close_sink(sink, 1);
        assert_int_equal(stat(scratch_path("torn.json"), &now), 0);
        assert_int_equal(now.st_size, len + torn + whole.st_size);
        assert_int_equal(lines_in(scratch_path("torn.json")), 1 + (len > 0));
    }
}

/* The newline of a torn line finds the disk full, too. */
static void test_torn_line_on_a_full_disk(void **state)
{
    struct sl_diag diag = {.text = ""};
    struct sl_sink *sink = open_sink(scratch_spec("eve", "full-torn.json"));

    (void)state;
    limit_files(700);
    assert_int_equal(write_until_failure(sink, 100000, 333, &diag), SL_EIO);
    (void)close_failed(sink, strerror(EFBIG));
    assert_int_equal(sl_sink_open(&sink, scratch_spec("eve", "full-torn.json"), &diag), SL_EIO);
    limit_files(RLIM_INFINITY);
    assert_string_equal(diag.file, scratch_path("full-torn.json"));
    assert_non_null(strstr(diag.text, strerror(EFBIG)));
    assert_null(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_full_stdout),
        cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_slow_pipe),
        cmocka_unit_test(test_eve_limit),
        cmocka_unit_test(test_sqlite_limit),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_killed_sqlite),
        cmocka_unit_test(test_killed_eve),
        cmocka_unit_test(test_torn_line),
        cmocka_unit_test(test_torn_line_on_a_full_disk),
    };

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
