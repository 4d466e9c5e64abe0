/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sluice/scan.h"

enum { N_FILES = 300, FILE_LEN = 5000 };

static char root[64];
static struct sl_clamav_db *db;

/* ---- the tree: files f000 to f299 in two directories, each third with the signature -----------
 */

static void path_of(char path[128], int i)
{
    snprintf(path, 128, "%s/%c/f%03d", root, i % 2 == 0 ? 'a' : 'b', i);
}

static void write_file(const char *path, int with)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    for (int i = 0; i < FILE_LEN; i++)
        assert_int_not_equal(fputc('x', file), EOF);
    if (with)
        assert_true(fputs("SIGNATURE", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    static const char text[] = "Test:0:*:5349474e4154555245\n";
    struct sl_clamav_set *set;
    char path[128];

    (void)state;
    snprintf(root, sizeof root, "/tmp/sluice-test-scan-%d", (int)getpid());
    assert_int_equal(mkdir(root, 0700), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%c", root, 'a' + i);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (int i = 0; i < N_FILES; i++) {
        path_of(path, i);
        write_file(path, i % 3 == 0);
    }
    assert_int_equal(sl_clamav_set_create(&set, NULL), SL_OK);
    assert_int_equal(sl_clamav_set_read_text(set, "test.ndb", text, sizeof text - 1, NULL), SL_OK);
    assert_int_equal(sl_clamav_compile(&db, set, SL_DEVICE_CPU, NULL), SL_OK);
    sl_clamav_set_free(set);
    return 0;
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    for (int i = 0; i < N_FILES; i++) {
        path_of(path, i);
        (void)unlink(path);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%c", root, 'a' + i);
        (void)rmdir(path);
    }
    (void)rmdir(root);
    sl_clamav_free(db);
    return 0;
}

/* ---- a scan of it ---------------------------------------------------------------------------- */

struct seen {
    struct sl_scan *scan;
    atomic_int n;
    int stop_after; /* 0: never */
    struct {
        char path[128];
        char name[64];
        char error[64];
        char not_opened[64];
        enum sl_scan_verdict verdict;
        uint64_t len;
    } files[N_FILES + 8];
};

static void see_file(void *user, const struct sl_scan_file *file)
{
    struct seen *seen = user;
    const int n = atomic_load(&seen->n);
    struct sl_scan_counts counts;

    assert_true(n < N_FILES + 8);
    snprintf(seen->files[n].path, sizeof seen->files[n].path, "%s", file->path);
    snprintf(seen->files[n].name, sizeof seen->files[n].name, "%s",
             file->n_names > 0 ? file->names[0] : "");
    snprintf(seen->files[n].error, sizeof seen->files[n].error, "%s",
             file->error != NULL ? file->error : "");
    snprintf(seen->files[n].not_opened, sizeof seen->files[n].not_opened, "%s",
             file->not_opened != NULL ? file->not_opened : "");
    seen->files[n].verdict = file->verdict;
    seen->files[n].len = file->len;
    assert_int_equal(file->n_names, file->verdict == SL_SCAN_FOUND);
    atomic_store(&seen->n, n + 1);

    sl_scan_snapshot(seen->scan, &counts);
    assert_true(counts.files + counts.failed <= (uint64_t)n + 1);
    if (n + 1 == seen->stop_after)
        sl_scan_stop(seen->scan);
}

static void init(struct sl_scan_config *config, struct seen *seen)
{
    static const char *paths[1];

    paths[0] = root;
    sl_scan_config_init(config);
    config->unpacker = UNPACKER;
    config->paths = paths;
    config->n_paths = 1;
    config->recursive = true;
    config->file = see_file;
    config->user = seen;
}

static void assert_tree(const struct seen *seen, int n)
{
    char path[128];

    assert_int_equal(atomic_load(&seen->n), n);
    for (int k = 0; k < n; k++) {
        const int i = k < N_FILES / 2 ? 2 * k : 2 * (k - N_FILES / 2) + 1;
        const bool found = i % 3 == 0;

        path_of(path, i);
        assert_string_equal(seen->files[k].path, path);
        assert_int_equal(seen->files[k].verdict, found ? SL_SCAN_FOUND : SL_SCAN_CLEAN);
        assert_string_equal(seen->files[k].name, found ? "Test.UNOFFICIAL" : "");
        assert_int_equal(seen->files[k].len, found ? FILE_LEN + 9 : FILE_LEN);
    }
}

static void test_files_are_reported_in_order(void **state)
{
    (void)state;
    for (uint32_t n_threads = 0; n_threads <= 4; n_threads++) {
        struct seen *seen = calloc(1, sizeof *seen);
        struct sl_scan_config config;
        struct sl_scan_counts counts;

        assert_non_null(seen);
        init(&config, seen);
        config.n_threads = n_threads;
        assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
        sl_scan_snapshot(seen->scan, &counts);
        assert_int_equal(counts.files + counts.directories + counts.elapsed_ns, 0);
        assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
        assert_tree(seen, N_FILES);

        sl_scan_snapshot(seen->scan, &counts);
        assert_int_equal(counts.directories, 3);
        assert_int_equal(counts.files, N_FILES);
        assert_int_equal(counts.found, N_FILES / 3);
        assert_int_equal(counts.failed + counts.suspect, 0);
        assert_int_equal(counts.bytes, N_FILES * FILE_LEN + N_FILES / 3 * 9);
        assert_int_equal(counts.scanned_bytes, counts.bytes);
        assert_true(counts.elapsed_ns > 0);
        sl_scan_close(seen->scan);
        free(seen);
    }
}

static void test_what_is_to_be_scanned_is_counted(void **state)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct sl_scan_config config;
    struct sl_scan_counts counts;

    (void)state;
    assert_non_null(seen);
    init(&config, seen);
    config.count = true;
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    sl_scan_snapshot(seen->scan, &counts);
    if (counts.counted) { /* the count may be slower than the scan */
        assert_int_equal(counts.all_files, N_FILES);
        assert_int_equal(counts.all_bytes, counts.bytes);
        assert_int_equal(counts.left_ns, 0);
    }
    assert_tree(seen, N_FILES);
    sl_scan_close(seen->scan);
    free(seen);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void test_a_callback_stops_the_scan(void **state)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct sl_scan_config config;

    (void)state;
    assert_non_null(seen);
    init(&config, seen);
    config.n_threads = 2;
    seen->stop_after = 5;
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    assert_true(atomic_load(&seen->n) >= 5);
    assert_tree(seen, atomic_load(&seen->n)); /* files that were taken before are the last */
    sl_scan_close(seen->scan);
    free(seen);
}

static void test_a_scan_stopped_before_it_begins_scans_nothing(void **state)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct sl_scan_config config;

    (void)state;
    assert_non_null(seen);
    init(&config, seen);
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    sl_scan_stop(seen->scan);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    assert_int_equal(atomic_load(&seen->n), 0);
    sl_scan_close(seen->scan);
    free(seen);
}

static void *stop_later(void *user)
{
    struct seen *seen = user;

    while (atomic_load(&seen->n) == 0)
        usleep(1000);
    sl_scan_stop(seen->scan);
    return NULL;
}

/* Standard input is a pipe that nothing is written to and nobody closes. */
static void test_another_thread_stops_a_scan_that_waits_for_input(void **state)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct sl_scan_config config;
    char path[128];
    const char *paths[] = {path, "-"};
    const int input = dup(STDIN_FILENO);
    pthread_t thread;
    int ends[2];

    (void)state;
    assert_non_null(seen);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    path_of(path, 0);
    init(&config, seen);
    config.paths = paths;
    config.n_paths = 2;
    config.n_threads = 2;
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    assert_int_equal(pthread_create(&thread, NULL, stop_later, seen), 0);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&seen->n) >= 1);
    if (atomic_load(&seen->n) == 2) { /* the other thread had taken it */
        assert_string_equal(seen->files[1].path, "stdin");
        assert_int_equal(seen->files[1].verdict, SL_SCAN_FAILED);
        assert_non_null(strstr(seen->files[1].error, "stopped"));
    }
    sl_scan_close(seen->scan);
    if (input >= 0)
        assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    (void)close(input);
    (void)close(ends[0]);
    (void)close(ends[1]);
    free(seen);
}

/* ---- verdicts and wrong calls ---------------------------------------------------------------- */

static void test_each_verdict_is_given(void **state)
{
    static const enum sl_scan_verdict expected[] = {SL_SCAN_FOUND,    SL_SCAN_TOO_LARGE,
                                                    SL_SCAN_EXCLUDED, SL_SCAN_EMPTY,
                                                    SL_SCAN_LINK,     SL_SCAN_FAILED};
    const char *exclude[] = {"f002$"};
    struct seen *seen = calloc(1, sizeof *seen);
    struct sl_scan_config config;
    struct sl_scan_counts counts;
    char path[6][128];
    const char *paths[6];

    (void)state;
    assert_non_null(seen);
    for (int i = 0; i < 6; i++)
        paths[i] = path[i];
    path_of(path[0], 3);
    snprintf(path[1], 128, "%s/large", root);
    write_file(path[1], true);
    assert_int_equal(truncate(path[1], FILE_LEN + 100), 0);
    path_of(path[2], 2);
    snprintf(path[3], 128, "%s/empty", root);
    write_file(path[3], false);
    assert_int_equal(truncate(path[3], 0), 0);
    snprintf(path[4], 128, "%s/link", root);
    assert_int_equal(symlink(path[0], path[4]), 0);
    snprintf(path[5], 128, "%s/nothing", root);
    init(&config, seen);
    config.paths = paths;
    config.n_paths = 6;
    config.follow_files = SL_SCAN_FOLLOW_NEVER;
    config.file_len_max = FILE_LEN + 50;
    config.exclude = (struct sl_scan_patterns){exclude, 1};
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    assert_int_equal(atomic_load(&seen->n), 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(seen->files[i].path, path[i]);
        assert_int_equal(seen->files[i].verdict, expected[i]);
        assert_int_equal(seen->files[i].error[0] != '\0', expected[i] == SL_SCAN_FAILED);
    }
    sl_scan_snapshot(seen->scan, &counts);
    assert_int_equal(counts.files, 1);
    assert_int_equal(counts.failed, 1);
    sl_scan_close(seen->scan);
    (void)unlink(path[1]);
    (void)unlink(path[3]);
    (void)unlink(path[4]);
    free(seen);
}

/* A program that ends, and one that is not there: each file has that as its reason, and the scan
 * goes on. */
static void test_an_unpacker_that_fails_is_a_reason(void **state)
{
    static const char *const unpackers[] = {"/bin/false", "/nothing/at/all"};
    struct sl_scan_config config;
    char path[128];
    const char *paths[] = {path, path};

    (void)state;
    path_of(path, 4);
    for (int i = 0; i < 2; i++) {
        struct seen *seen = calloc(1, sizeof *seen);

        assert_non_null(seen);
        init(&config, seen);
        config.paths = paths;
        config.n_paths = 2;
        config.unpacker = unpackers[i];
        assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
        assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
        assert_int_equal(atomic_load(&seen->n), 2);
        assert_int_equal(seen->files[0].verdict, SL_SCAN_INCOMPLETE);
        assert_int_equal(seen->files[1].verdict, SL_SCAN_INCOMPLETE);
        sl_scan_close(seen->scan);
        free(seen);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The file whose bytes crash an unpacker is never clean, and has the reason. Those around it, one
 * of them for a new process, are as they were. */
static void test_a_crash_is_one_file_s_reason(void **state)
{
    static const char *const texts[] = {"before", "crash", "between", "crash", "crash, SIGNATURE"};
    static const enum sl_scan_verdict verdicts[] = {
        SL_SCAN_CLEAN, SL_SCAN_INCOMPLETE, SL_SCAN_CLEAN, SL_SCAN_INCOMPLETE, SL_SCAN_FOUND};
    enum { N = sizeof texts / sizeof *texts };
    struct seen *seen = calloc(1, sizeof *seen);
    char path[N][128];
    const char *paths[N];
    struct sl_scan_config config;
    struct sl_scan_counts counts;

    (void)state;
    assert_non_null(seen);
    for (int i = 0; i < N; i++) {
        snprintf(path[i], sizeof path[i], "%s/crash%d", root, i);
        write_text(path[i], texts[i]);
        paths[i] = path[i];
    }
    init(&config, seen);
    config.paths = paths;
    config.n_paths = N;
    config.unpacker = CRASHING_UNPACKER;
    assert_int_equal(sl_scan_open(&seen->scan, &config, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(seen->scan, db, NULL), SL_OK);
    sl_scan_snapshot(seen->scan, &counts);
    assert_int_equal(counts.not_opened, 3);
    assert_int_equal(atomic_load(&seen->n), N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(seen->files[i].verdict, verdicts[i]);
        assert_string_equal(seen->files[i].not_opened,
                            texts[i][0] == 'c' ? "text: the unpacker crashed (signal 11)" : "");
        (void)unlink(path[i]);
    }
    sl_scan_close(seen->scan);
    free(seen);
}

static void assert_refused(const struct sl_scan_config *config, const char *reason)
{
    struct sl_scan *scan = NULL;
    struct sl_diag diag = {.text = ""};

    assert_int_equal(sl_scan_open(&scan, config, &diag), SL_EINVAL);
    assert_null(scan);
    if (strstr(diag.text, reason) == NULL)
        fail_msg("'%s' (expected '%s')", diag.text, reason);
}

static void test_wrong_calls_are_refused(void **state)
{
    const char *wrong[] = {"a", "("};
    const char *many[SL_SCAN_PATTERNS_MAX + 1];
    struct sl_scan_config config;
    struct sl_scan *scan;

    (void)state;
    sl_scan_config_init(&config);
    config.unpacker = UNPACKER;
    config.include = (struct sl_scan_patterns){wrong, 2};
    assert_refused(&config, "'(' is no regular expression");
    for (int i = 0; i <= SL_SCAN_PATTERNS_MAX; i++)
        many[i] = "a";
    config.include = (struct sl_scan_patterns){many, SL_SCAN_PATTERNS_MAX + 1};
    assert_refused(&config, "more than 64 expressions");
    sl_scan_config_init(&config);
    config.unpacker = UNPACKER;
    config.n_threads = SL_SCAN_THREADS_MAX + 1;
    assert_refused(&config, "threads");
    sl_scan_config_init(&config);
    config.unpacker = UNPACKER;
    config.depth_max = SL_SCAN_DEPTH_MAX + 1;
    assert_refused(&config, "directories");

    sl_scan_config_init(&config);

    config.unpacker = UNPACKER;
    assert_int_equal(sl_scan_open(&scan, &config, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(scan, db, NULL), SL_OK);
    assert_int_equal(sl_scan_execute(scan, db, NULL), SL_EINVAL);
    sl_scan_close(scan);
    sl_scan_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_reported_in_order),
        cmocka_unit_test(test_what_is_to_be_scanned_is_counted),
        cmocka_unit_test(test_a_callback_stops_the_scan),
        cmocka_unit_test(test_a_scan_stopped_before_it_begins_scans_nothing),
        cmocka_unit_test(test_another_thread_stops_a_scan_that_waits_for_input),
        cmocka_unit_test(test_each_verdict_is_given),
        cmocka_unit_test(test_an_unpacker_that_fails_is_a_reason),
        cmocka_unit_test(test_a_crash_is_one_file_s_reason),
        cmocka_unit_test(test_wrong_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
