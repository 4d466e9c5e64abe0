/* SPDX-License-Identifier: MIT */
/* Streams of names: answers come in the order of the texts, however the texts come and whoever
 * looks them up; lines; updates from a file descriptor. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "sluice/names.h"
#include "test.h"

enum { N_TEXTS = 20000 };

/* The results that a taker has seen. */
struct seen {
    uint32_t n, n_names, n_blocked, n_calls;
    enum sl_status status; /* that it returns, from text `fails_at` on */
    uint32_t fails_at;
    bool in_order; /* text i is "nI.example" */
};

static enum sl_status take(void *user, const struct sl_names_result *results, uint32_t n)
{
    struct seen *seen = user;

    seen->n_calls++;
    for (uint32_t i = 0; i < n; i++) {
        char expected[32];
        const int len = snprintf(expected, sizeof expected, "n%u.example", seen->n + i);

        seen->in_order = seen->in_order && results[i].text_len == (size_t)len &&
                         memcmp(results[i].text, expected, (size_t)len) == 0;
        seen->n_names += results[i].name != NULL;
        assert_true((results[i].why == NULL) == (results[i].name != NULL));
        assert_true((results[i].name != NULL) == (results[i].answer != NULL));
        seen->n_blocked += results[i].answer != NULL && results[i].answer->action != SL_NAMES_NONE;
    }
    seen->n += n;
    return seen->n > seen->fails_at ? seen->status : SL_OK;
}

/* Blocks n7.example and all below. */
static struct sl_names *table(void)
{
    static const char list[] = "0.0.0.0 n7.example\n0.0.0.0 gone.example\n";
    struct sl_names *names;

    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_load_text(names, "list", "hosts", list, strlen(list), NULL), SL_OK);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    return names;
}

static struct sl_names_stream *open_threads(struct sl_names *names, struct seen *seen,
                                            uint32_t n_threads)
{
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;

    *seen = (struct seen){.in_order = true, .status = SL_OK};
    sl_names_stream_config_init(&config);
    config.names = names;
    config.take = take;
    config.user = seen;
    config.n_threads = n_threads;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    return stream;
}

static struct sl_names_stream *open_stream(struct sl_names *names, struct seen *seen)
{
    return open_threads(names, seen, 0);
}

static void test_texts_come_back_in_order(void **state)
{
    static char text[N_TEXTS][20];
    struct sl_names *names = table();
    struct seen seen;
    struct sl_names_stream *stream = open_stream(names, &seen);

    (void)state;
    for (uint32_t i = 0; i < N_TEXTS; i++) {
        const int len = snprintf(text[i], sizeof text[i], " n%u.example\r", i);

        assert_int_equal(sl_names_stream_add(stream, text[i], (size_t)len, NULL), SL_OK);
    }
    assert_int_equal(sl_names_stream_flush(stream, NULL), SL_OK);
    assert_int_equal(seen.n, N_TEXTS);
    assert_int_equal(seen.n_names, N_TEXTS);
    assert_int_equal(seen.n_blocked, 1);
    assert_true(seen.in_order);
    assert_true(seen.n_calls > 1);
    assert_int_equal(sl_names_stream_flush(stream, NULL), SL_OK); /* nothing waits */
    assert_int_equal(seen.n, N_TEXTS);
    sl_names_stream_close(stream);
    sl_names_free(names);
}

static void test_the_takers_status_ends_the_call(void **state)
{
    struct sl_names *names = table();
    struct seen seen;
    struct sl_names_stream *stream = open_stream(names, &seen);

    (void)state;
    seen.status = SL_EIO;
    assert_int_equal(sl_names_stream_add(stream, "n0.example", 10, NULL), SL_OK);
    assert_int_equal(sl_names_stream_flush(stream, NULL), SL_EIO);
    assert_int_equal(seen.n, 1);
    sl_names_stream_close(stream);
    sl_names_stream_close(NULL);
    sl_names_free(names);
}

static void test_wrong_configs_are_refused(void **state)
{
    struct sl_names *names = table();
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;

    (void)state;
    sl_names_stream_config_init(&config);
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_EINVAL);
    assert_null(stream);
    config.names = names;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_EINVAL);
    config.take = take;
    config.n_threads = SL_NAMES_THREADS_MAX + 1;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_EINVAL);
    config.n_threads = 0;
    config.device = "abacus";
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_EINVAL);
    assert_null(stream);
    sl_names_free(names);
}

/* A file that holds these bytes, read from its begin. */
static int file_of(const char *bytes, size_t len)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fflush(file), 0);
    const int fd = dup(fileno(file));
    fclose(file);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void read_from(struct sl_names *names, struct seen *seen, const char *bytes, size_t len)
{
    struct sl_names_stream *stream = open_stream(names, seen);
    const int fd = file_of(bytes, len);

    assert_int_equal(sl_names_stream_read(stream, fd, -1, NULL), SL_OK);
    close(fd);
    sl_names_stream_close(stream);
}

static void test_lines_of_a_file(void **state)
{
    static char text[N_TEXTS * 20];
    struct sl_names *names = table();
    struct seen seen;
    size_t len = 0;

    (void)state;
    for (uint32_t i = 0; i < N_TEXTS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "n%u.example\n", i);
    read_from(names, &seen, text, len);
    assert_int_equal(seen.n, N_TEXTS);
    assert_true(seen.in_order);
    read_from(names, &seen, text, len - 1); /* the last line has no end */
    assert_int_equal(seen.n, N_TEXTS);
    assert_true(seen.in_order);
    read_from(names, &seen, text, 0);
    assert_int_equal(seen.n, 0);
    read_from(names, &seen, "\n\n \n", 4);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.n_names, 0);
    read_from(names, &seen, "n0.example\n..\nn2.example\n", 25);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.n_names, 2);
    sl_names_free(names);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { N_LINES = TEST_SANITIZED ? 30000 : 60000 }; /* several blocks */

/* "nI.example" a line, but each 7,000th is "..". Returns the file. */
static int many_lines(void)
{
    char *const text = malloc(N_LINES * 20);
    size_t len = 0;

    for (uint32_t i = 0; i < N_LINES; i++)
        len += (size_t)(i % 7000 == 6999 ? sprintf(text + len, "..\n")
                                         : sprintf(text + len, "n%u.example\n", i));
    const int fd = file_of(text, len);
    free(text);
    return fd;
}

/* Lines of the whole file, from so many threads. Returns how many bytes they are. */
static size_t lines_of(struct sl_names *names, uint32_t n_threads, bool json, char *lines,
                       size_t cap)
{
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    FILE *const out = tmpfile();
    const int in = many_lines();

    sl_names_stream_config_init(&config);
    config.names = names;
    config.out = fileno(out);
    config.json = json;
    config.explain = true;
    config.n_threads = n_threads;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    assert_int_equal(sl_names_stream_read(stream, in, -1, NULL), SL_OK);
    assert_int_equal(sl_names_stream_missing(stream), N_LINES - 1);
    sl_names_stream_close(stream);
    close(in);
    assert_int_equal(fseek(out, 0, SEEK_SET), 0);
    const size_t len = fread(lines, 1, cap, out);
    fclose(out);
    return len;
}

static void test_lines_do_not_depend_on_threads(void **state)
{
    enum { CAP = N_LINES * 60 };
    struct sl_names *names = table();
    char *const one = malloc(CAP), *const several = malloc(CAP);
    static const char first[] = "n0.example\t-\tnone\t-\t-\t-\n";

    (void)state;
    for (int json = 0; json < 2; json++) {
        const size_t len = lines_of(names, 1, json != 0, one, CAP);

        assert_true(len > N_LINES * 20 && len < CAP);
        assert_int_equal(memcmp(one, first, sizeof first - 1) == 0, !json);
        for (uint32_t n = 2; n < 6; n += 3) {
            assert_int_equal(lines_of(names, n, json != 0, several, CAP), len);
            assert_memory_equal(several, one, len);
        }
    }
    free(one);
    free(several);
    sl_names_free(names);
}

/* Routes with many values, short and long ones, and rules of several ranks below some of them. */
static struct sl_names *mixed_table(void)
{
    static const char rules[] = "||n1.a^\n@@||x.n1.a^\n||n2.a^$important\n@@||x.n2.a^\n";
    char *const routes = malloc(2000 * 200);
    struct sl_names *names;
    size_t len = 0;

    for (int i = 0; i < 2000; i++) {
        len += (size_t)sprintf(routes + len, "/%c/n%d%s\t%d", "ab"[i % 2], i / 2, i % 3 ? "" : "/x",
                               i);
        for (int k = 0; k < i % 20; k++)
            len += (size_t)sprintf(routes + len, ",%d", 10000 + k);
        routes[len++] = '\n';
    }
    assert_int_equal(sl_names_create(&names, NULL), SL_OK);
    assert_int_equal(sl_names_load_text(names, "routes", "prefix", routes, len, NULL), SL_OK);
    assert_int_equal(sl_names_load_text(names, "rules", "adblock", rules, strlen(rules), NULL),
                     SL_OK);
    assert_int_equal(sl_names_build(names, NULL, NULL), SL_OK);
    free(routes);
    return names;
}

/* Names that the mixed table has or nearly has, most of them plain. */
static size_t mixed_line(uint64_t *random, char line[200])
{
    static const char *const ends[] = {"",      "/",   "/x", "/x/y.z", "/%41", "/v=3",     "/x!",
                                       "/long", "//x", "\r", " ",      ".x",   "/\xC3\xA9"};
    static const char *const begins[] = {"/", "/", "/", "/", " /", "ndn:/", ""};
    const uint32_t end = test_below(random, 3) ? test_below(random, 4) : test_below(random, 13);
    size_t len = (size_t)sprintf(line, "%s%c/n%u%s",
                                 begins[test_below(random, test_below(random, 8) ? 4 : 7)],
                                 "aabbc"[test_below(random, 5)],
                                 test_below(random, test_below(random, 3) ? 1200 : 4), ends[end]);

    for (uint32_t n = end == 7 ? test_below(random, 100) : 0; n > 0; n--)
        line[len++] = (char)('a' + n % 26);
    return len;
}

/* The lines of answers to a text of lines: of the file that holds it, or of its texts one by one.
 * */
static size_t answers_of(struct sl_names_stream_config config, char *text, size_t text_len,
                         bool of_file, char *lines, size_t cap)
{
    struct sl_names_stream *stream;
    FILE *const out = tmpfile();
    const int in = file_of(text, text_len);

    config.out = fileno(out);
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    for (char *line = text, *end; !of_file && line < text + text_len; line = end + 1) {
        end = memchr(line, '\n', text_len - (size_t)(line - text));
        assert_int_equal(sl_names_stream_add(stream, line, (size_t)(end - line), NULL), SL_OK);
    }
    assert_int_equal(of_file ? sl_names_stream_read(stream, in, -1, NULL)
                             : sl_names_stream_flush(stream, NULL),
                     SL_OK);
    sl_names_stream_close(stream);
    close(in);
    rewind(out);
    const size_t len = fread(lines, 1, cap, out);
    fclose(out);
    return len;
}

static void test_lines_of_a_file_are_as_texts(void **state)
{
    enum { N_MIXED = 30000, CAP = N_MIXED * 400 };
    struct sl_names_stream_config config;
    char *const text = malloc(N_MIXED * 200), *const each = malloc(CAP), *const all = malloc(CAP);
    uint64_t random = 11;
    size_t text_len = 0;

    (void)state;
    for (uint32_t i = 0; i < test_fewer(N_MIXED, 4000); i++) {
        text_len += mixed_line(&random, text + text_len);
        text[text_len++] = '\n';
    }
    sl_names_stream_config_init(&config);
    config.names = mixed_table();
    for (uint32_t i = 0; i < 8; i++) {
        config.explain = i % 2 != 0;
        config.json = i / 2 % 2 != 0;
        config.syntax = i < 4 ? SL_NAME_AUTO : i < 6 ? SL_NAME_NDN : SL_NAME_URL;
        config.n_threads = 1 + i % 3;
        const size_t len = answers_of(config, text, text_len, false, each, CAP);

        assert_true(len > text_len && len < CAP);
        assert_int_equal(answers_of(config, text, text_len, true, all, CAP), len);
        assert_memory_equal(all, each, len);
    }
    free(text);
    free(each);
    free(all);
    sl_names_free(config.names);
}

/* The name and the answer of a line are those of its text, read and looked up alone. */
static enum sl_status check_answers(void *user, const struct sl_names_result *results, uint32_t n)
{
    struct sl_names_reader *const reader = user;

    for (uint32_t i = 0; i < n; i++) {
        uint8_t bytes[400];
        struct sl_name name;
        struct sl_names_answer answer;
        const char *const why = sl_name_read(&name, SL_NAME_AUTO, bytes, sizeof bytes,
                                             results[i].text, results[i].text_len);

        assert_true(why == results[i].why);
        if (why != NULL)
            continue;
        assert_int_equal(name.len, results[i].name->len);
        assert_int_equal(name.syntax, results[i].name->syntax);
        assert_int_equal(sl_names_lookup(reader, &name, 1, &answer), SL_OK);
        assert_memory_equal(&answer, results[i].answer, sizeof answer);
    }
    return SL_OK;
}

static void test_results_are_as_of_one_name(void **state)
{
    enum { N_MIXED = 10000 };
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    struct sl_names_reader *reader;
    char *const text = malloc(N_MIXED * 200);
    uint64_t random = 12;
    size_t len = 0;

    (void)state;
    for (uint32_t i = 0; i < N_MIXED; i++) {
        len += mixed_line(&random, text + len);
        text[len++] = '\n';
    }
    sl_names_stream_config_init(&config);
    config.names = mixed_table();
    assert_int_equal(sl_names_reader_open(&reader, config.names, "cpu", NULL), SL_OK);
    config.take = check_answers;
    config.user = reader;
    config.n_threads = 1;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    const int in = file_of(text, len);
    assert_int_equal(sl_names_stream_read(stream, in, -1, NULL), SL_OK);
    close(in);
    free(text);
    sl_names_stream_close(stream);
    sl_names_reader_close(reader);
    sl_names_free(config.names);
}

/* The taker is called by one thread after the other, also behind a failure. */
static void test_takers_take_turns(void **state)
{
    struct sl_names *names = table();
    struct seen seen;
    struct sl_names_stream *stream = open_threads(names, &seen, 4);
    int fd = many_lines();

    (void)state;
    assert_int_equal(sl_names_stream_read(stream, fd, -1, NULL), SL_OK);
    close(fd);
    assert_int_equal(seen.n, N_LINES);
    assert_int_equal(seen.n_names, N_LINES - N_LINES / 7000);
    seen = (struct seen){.in_order = true, .status = SL_EIO, .fails_at = 20000};
    fd = many_lines();
    assert_int_equal(sl_names_stream_read(stream, fd, -1, NULL), SL_EIO);
    close(fd);
    assert_true(seen.n > 20000 && seen.n <= 20000 + SL_NAMES_BATCH_MAX);
    read_from(names, &seen, "n0.example\n", 11); /* another stream, and this one goes on */
    assert_int_equal(sl_names_stream_add(stream, "n1.example", 10, NULL), SL_OK);
    assert_int_equal(sl_names_stream_flush(stream, NULL), SL_OK);
    assert_int_equal(seen.n, 2);
    sl_names_stream_close(stream);
    sl_names_free(names);
}

/* A pipe's other end, which keeps it open until it is asked to end. */
struct writer {
    int fd, go_on_fd;
};

static void *write_and_wait(void *user)
{
    const struct writer *writer = user;
    char text[200 * 1000];
    char byte;

    memset(text, '\n', sizeof text);
    for (size_t done = 0; done < sizeof text;) {
        const ssize_t n = write(writer->fd, text + done, sizeof text - done);

        if (n < 0)
            break;
        done += (size_t)n;
    }
    assert_int_equal(read(writer->go_on_fd, &byte, 1), 0); /* it was closed */
    close(writer->fd);
    return NULL;
}

/* The thread that waits for input hears of another's failure, while the pipe stays open. */
static void test_a_failure_ends_the_wait_for_input(void **state)
{
    struct sl_names *names = table();
    struct seen seen;
    struct sl_names_stream *stream = open_threads(names, &seen, 4);
    int in[2], go_on[2];
    pthread_t thread;

    (void)state;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(go_on), 0);
    struct writer writer = {in[1], go_on[0]};
    seen.in_order = false;
    seen.status = SL_EIO;
    seen.fails_at = 150000;
    assert_int_equal(pthread_create(&thread, NULL, write_and_wait, &writer), 0);
    assert_int_equal(sl_names_stream_read(stream, in[0], -1, NULL), SL_EIO);
    close(go_on[1]);
    pthread_join(thread, NULL);
    close(in[0]);
    close(go_on[0]);
    sl_names_stream_close(stream);
    sl_names_free(names);
}

static void test_a_file_that_takes_no_lines(void **state)
{
    struct sl_names *names = table();
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    struct sl_diag diag = {0};
    const int in = many_lines(), out = open("/dev/full", O_WRONLY);

    (void)state;
    sl_names_stream_config_init(&config);
    config.names = names;
    config.out = out;
    config.n_threads = 3;
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    assert_int_equal(sl_names_stream_read(stream, in, -1, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, "cannot be written: No space left"));
    assert_int_equal(sl_names_stream_add(stream, "n1.example", 10, NULL), SL_OK);
    assert_int_equal(sl_names_stream_flush(stream, &diag), SL_EIO);
    sl_names_stream_close(stream);
    close(in);
    close(out);
    sl_names_free(names);
}

/* Takes one line of `len` bytes that ends with " n7.example", and n1.example behind it. */
static void check_long_line(struct sl_names *names, size_t len, bool is_name_line)
{
    static const char tail[] = " n7.example\nn1.example";
    char *text = malloc(len + sizeof tail);
    struct seen seen;

    memset(text, is_name_line ? ' ' : '\0', len);
    memcpy(text + len - 11, tail, sizeof tail - 1);
    read_from(names, &seen, text, len + sizeof tail - 1 - 11);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.n_blocked, is_name_line);
    assert_int_equal(seen.n_names, 1 + is_name_line);
    free(text);
}

/* One line in, one result out: nothing of a line's tail is a text of its own. */
static void test_long_lines_have_one_result(void **state)
{
    struct sl_names *names = table();

    (void)state;
    check_long_line(names, SL_NAMES_LINE_MAX - 1, true);
    check_long_line(names, SL_NAMES_LINE_MAX, true);
    check_long_line(names, SL_NAMES_LINE_MAX, false);
    check_long_line(names, SL_NAMES_LINE_MAX + 1, false);
    check_long_line(names, SL_NAMES_LINE_MAX + 12, false);
    check_long_line(names, 2 * SL_NAMES_LINE_MAX, false);
    check_long_line(names, 2 * SL_NAMES_LINE_MAX + 1, false);
    check_long_line(names, 5 * SL_NAMES_LINE_MAX + 7, false);
    sl_names_free(names);
}

/* A byte that no column has, at each place of texts of each length. */
static void test_a_byte_that_is_escaped_is_found(void **state)
{
    static char expected[1 << 17], lines[1 << 17];
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    FILE *const out = tmpfile();
    size_t n = 0;

    (void)state;
    sl_names_stream_config_init(&config);
    config.names = table();
    config.out = fileno(out);
    assert_int_equal(sl_names_stream_open(&stream, &config, NULL), SL_OK);
    for (int i = 0; i < 41 * 40; i++) {
        const int len = i / 41, at = i % 41;
        char text[41];

        if (at >= len)
            continue;
        memset(text, 'a', sizeof text);
        text[at] = '\x7F';
        assert_int_equal(sl_names_stream_add(stream, text, (size_t)len, NULL), SL_OK);
        assert_int_equal(sl_names_stream_flush(stream, NULL), SL_OK);
        n += (size_t)sprintf(expected + n, "%.*s\\x7f%.*s\t-\tinvalid\t%s\n", at, text,
                             len - at - 1, text + at + 1, "a character that no host name has");
    }
    sl_names_stream_close(stream);
    assert_int_equal(fseek(out, 0, SEEK_SET), 0);
    assert_int_equal(fread(lines, 1, sizeof lines, out), n);
    assert_memory_equal(lines, expected, n);
    fclose(out);
    sl_names_free(config.names);
}

static void test_updates_from_a_file(void **state)
{
    static const char changes[] = "-0.0.0.0 gone.example\n+0.0.0.0 n9.example\nno sign\n";
    struct sl_names *names = table();
    struct sl_names_updated updated = {0};
    struct sl_diag diag = {0};
    struct seen seen;
    int fd = file_of(changes, sizeof changes - 1);
    char *line = malloc(SL_NAMES_LINE_MAX + 2);

    (void)state;
    assert_int_equal(sl_names_update_from(names, "changes", "hosts", fd, -1, &updated, &diag),
                     SL_OK);
    close(fd);
    read_from(names, &seen, "n7.example\nn9.example\ngone.example\n", 35);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.n_blocked, 2);

    memset(line, 'a', SL_NAMES_LINE_MAX + 2);
    fd = file_of(line, SL_NAMES_LINE_MAX + 2);
    assert_int_equal(sl_names_update_from(names, "changes", "hosts", fd, -1, &updated, &diag),
                     SL_EFORMAT);
    close(fd);
    fd = open("/", O_RDONLY); /* a folder cannot be read */
    assert_int_equal(sl_names_update_from(names, "changes", "hosts", fd, -1, &updated, &diag),
                     SL_EIO);
    close(fd);
    free(line);
    sl_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_come_back_in_order),
        cmocka_unit_test(test_the_takers_status_ends_the_call),
        cmocka_unit_test(test_wrong_configs_are_refused),
        cmocka_unit_test(test_lines_of_a_file),
        cmocka_unit_test(test_lines_do_not_depend_on_threads),
        cmocka_unit_test(test_lines_of_a_file_are_as_texts),
        cmocka_unit_test(test_results_are_as_of_one_name),
        cmocka_unit_test(test_takers_take_turns),
        cmocka_unit_test(test_a_failure_ends_the_wait_for_input),
        cmocka_unit_test(test_a_file_that_takes_no_lines),
        cmocka_unit_test(test_long_lines_have_one_result),
        cmocka_unit_test(test_a_byte_that_is_escaped_is_found),
        cmocka_unit_test(test_updates_from_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
