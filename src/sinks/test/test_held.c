/* SPDX-License-Identifier: MIT */
/* Events that one sink holds for another, and the code that makes their text fast: whatever way an
 * event takes to a file, its line is the same. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sinks/event_text.h"
#include "sinks/payload_text.h"
#include "test_sink_events.h"

enum { N_EVENTS = 3000 };

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "r");
    char *bytes = NULL;
    size_t cap = 0;

    assert_non_null(file);
    const ssize_t n = getdelim(&bytes, &cap, EOF, file);
    *len = n > 0 ? (size_t)n : 0;
    fclose(file);
    return bytes;
}

static void assert_same_files(const char *left, const char *right)
{
    size_t left_len, right_len;
    char *left_bytes = read_file(left, &left_len), *right_bytes = read_file(right, &right_len);

    assert_int_equal(left_len, right_len);
    assert_true(left_len > 0);
    assert_memory_equal(left_bytes, right_bytes, left_len);
    free(left_bytes);
    free(right_bytes);
}

/* Writes the events of a seed one by one. */
static void write_directly(struct sl_sink *sink, uint64_t seed)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag;

    for (int i = 0; i < N_EVENTS; i++) {
        make_hostile(made, &seed);
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    }
    free(made);
}

/* Writes them through one that holds: events that it does not take are written directly, once all
 * before them were passed; now and then some are passed although there is room. */
static void write_held(struct sl_sink *sink, uint64_t seed, size_t hold_len)
{
    struct made_event *made = malloc(sizeof *made);
    uint64_t random = seed + 1, n_held = 0, n_refused = 0;
    struct sl_sink *held;
    struct sl_diag diag;

    assert_int_equal(sl_sink_hold(&held, sink, hold_len, &diag), SL_OK);
    for (int i = 0; i < N_EVENTS; i++) {
        make_hostile(made, &seed);

        const enum sl_status status = sl_sink_write(held, &made->event, &diag);

        n_held += status == SL_OK;
        assert_int_equal(sl_sink_written(held), n_held);
        if (status == SL_OK && test_below(&random, 300) != 0)
            continue;
        if (status == SL_EOVERFLOW) {
            /* It stays full, also for an event that would fit. */
            assert_int_equal(sl_sink_write(held, &made->event, &diag), SL_EOVERFLOW);
            assert_int_equal(sl_sink_written(held), n_held);
            n_refused++;
        }
        assert_int_equal(sl_sink_pass(held, sink, &diag), SL_OK);
        n_held = 0;
        assert_int_equal(sl_sink_written(held), 0);
        if (status != SL_OK) {
            assert_int_equal(status, SL_EOVERFLOW);
            assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
        }
    }
    assert_int_equal(sl_sink_pass(held, sink, &diag), SL_OK);
    assert_int_equal(sl_sink_close(held, NULL, &diag), SL_OK);
    assert_true(hold_len > 1000000 ? n_refused == 0 : n_refused > 0);
    free(made);
}

static void test_held_lines_are_the_same(void **state)
{
    static const size_t hold_lens[] = {1, 300, 5000, 140000, 400000, 64 << 20};

    (void)state;
    for (uint64_t i = 0; i < sizeof hold_lens / sizeof *hold_lens; i++) {
        struct sl_sink *direct = open_sink(scratch_spec("eve", "direct.json"));
        struct sl_sink *held = open_sink(scratch_spec("eve", "held.json"));

        write_directly(direct, 7 + i);
        close_sink(direct, N_EVENTS);
        write_held(held, 7 + i, hold_lens[i]);
        close_sink(held, N_EVENTS);
        assert_same_files(scratch_path("direct.json"), scratch_path("held.json"));
        unlink(scratch_path("direct.json"));
        unlink(scratch_path("held.json"));
    }
}

static void test_held_console_lines_are_the_same(void **state)
{
    (void)state;
    for (int through = 0; through < 2; through++) {
        const char *path = scratch_path(through ? "held.txt" : "direct.txt");
        const int saved = stdout_to(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
        struct sl_sink *sink = open_sink("console");

        (through ? write_held(sink, 3, 20000) : write_directly(sink, 3));
        close_sink(sink, N_EVENTS);
        stdout_back(saved);
    }
    assert_same_files(scratch_path("direct.txt"), scratch_path("held.txt"));
}

static void test_what_cannot_be_held_is_said(void **state)
{
    struct sl_sink *sqlite = open_sink(scratch_spec("sqlite", "held.db"));
    struct sl_sink *eve = open_sink(scratch_spec("eve", "held.json"));
    struct sl_sink *held;
    struct sl_diag diag = {.text = ""};

    (void)state;
    assert_int_equal(sl_sink_hold(&held, sqlite, 1000, &diag), SL_EUNSUPPORTED);
    assert_non_null(strstr(diag.text, "sqlite"));
    assert_null(held);
    assert_int_equal(sl_sink_hold(&held, eve, 0, &diag), SL_EINVAL);
    assert_int_equal(sl_sink_hold(&held, eve, SIZE_MAX, &diag), SL_EINVAL);
    close_sink(sqlite, 0);

    /* Events that are not passed go with the sink that holds them. */
    assert_int_equal(sl_sink_hold(&held, eve, 1 << 20, &diag), SL_OK);
    write_directly(eve, 1);
    assert_int_equal(sl_sink_flush(held, &diag), SL_OK);
    assert_int_equal(sl_sink_close(held, NULL, &diag), SL_OK);
    close_sink(eve, N_EVENTS);
}

static struct sl_sink *hold_plain(const struct sl_sink *sink, uint32_t n)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_sink *held;
    struct sl_diag diag;

    assert_int_equal(sl_sink_hold(&held, sink, 64 << 20, &diag), SL_OK);
    for (uint32_t i = 1; i <= n; i++) {
        make_plain(made, i);
        assert_int_equal(sl_sink_write(held, &made->event, &diag), SL_OK);
    }
    free(made);
    return held;
}

static uint64_t lines_in(const char *path)
{
    size_t len;
    char *bytes = read_file(path, &len);
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\n';
    free(bytes);
    return n;
}

/* A file that may not grow any more: the lines that it took are counted, and the reason is said. */
static void test_a_sink_fails_while_events_are_passed(void **state)
{
    static const rlim_t limits[] = {0, 1, 700, 262144, 1000000};
    struct rlimit limit;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct sl_sink *sink = open_sink(scratch_spec("eve", "limit.json"));
        struct sl_sink *held = hold_plain(sink, 5000);
        const struct rlimit small = {limits[i], limit.rlim_max};
        struct sl_diag diag = {.text = ""};
        uint64_t written = 0;

        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const enum sl_status status = sl_sink_pass(held, sink, &diag);
        const enum sl_status again = sl_sink_pass(held, sink, &diag);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(status, SL_EIO);
        assert_int_equal(again, SL_EIO);
        assert_non_null(strstr(diag.text, "cannot be written"));
        assert_int_equal(sl_sink_close(held, NULL, &diag), SL_OK);
        assert_int_equal(sl_sink_close(sink, &written, &diag), SL_EIO);
        assert_int_equal(written, lines_in(scratch_path("limit.json")));
        unlink(scratch_path("limit.json"));
    }
}

/* Every day that 64 bits of nanoseconds reach. */
static void test_dates_are_those_of_the_c_library(void **state)
{
    (void)state;
    for (int64_t day = -106751; day <= 106751; day++) {
        const time_t seconds = day * 86400 + (day & 0xFFFF);
        char made[EVENT_TIME_LEN + 1] = "", expected[32];
        struct tm tm;

        event_time(made, (int64_t)seconds * 1000000000 + 7000, 'T');
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000007", gmtime_r(&seconds, &tm));
        assert_string_equal(made, expected);
    }
}

/* Times of events in the same second, and far from the last one. */
static void test_times_of_events_in_any_order(void **state)
{
    struct sl_sink *sink = open_sink(scratch_spec("eve", "times.json"));
    struct sl_event event = {.kind = SL_EVENT_ANOMALY, .check = "ipv4-checksum", .source = ""};
    static int64_t times[N_EVENTS];
    struct sl_diag diag;
    uint64_t random = 5;
    size_t len;

    (void)state;
    for (int i = 0; i < N_EVENTS; i++) {
        const int64_t near = i != 0 ? times[i - 1] : 0;
        const uint64_t step = test_below(&random, 1500000000) - 750000000;

        switch (test_below(&random, 6)) {
        case 0:
            times[i] = (int64_t)test_random(&random);
            break;
        case 1:
            times[i] = test_below(&random, 2) == 0 ? INT64_MAX : INT64_MIN;
            break;
        default:
            times[i] = (int64_t)((uint64_t)near + step);
        }
        event.origin.time_ns = times[i];
        assert_int_equal(sl_sink_write(sink, &event, &diag), SL_OK);
    }
    close_sink(sink, N_EVENTS);
    char *const lines = read_file(scratch_path("times.json"), &len), *line = lines;

    for (int i = 0; i < N_EVENTS; i++, line = strchr(line, '\n') + 1) {
        char expected[] = "{\"timestamp\":\"2026-01-02T10:11:12.123456+0000\"";

        event_time(expected + 14, times[i], 'T');
        assert_memory_equal(line, expected, sizeof expected - 1);
    }
    unlink(scratch_path("times.json"));
    free(lines);
}

static void check_base64(const uint8_t *bytes, uint32_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(payload_text_room(len));
    const size_t text_len = payload_base64(text, bytes, len);

    assert_int_equal(text_len, ((size_t)len + 2) / 3 * 4);
    for (size_t i = 0; i < text_len; i++) {
        uint32_t value = 0;

        for (size_t bit = 6 * i; bit < 6 * i + 6; bit++)
            value = value << 1 | (bit / 8 < len ? bytes[bit / 8] >> (7 - bit % 8) & 1 : 0);
        assert_int_equal(text[i], 6 * i < 8 * (size_t)len ? digits[value] : '=');
    }
    free(text);
}

static void check_printable(const uint8_t *bytes, uint32_t len)
{
    char *text = malloc(payload_text_room(len));
    const size_t text_len = payload_printable(text, bytes, len);
    size_t at = 0;

    for (uint32_t i = 0; i < len; i++) {
        const uint8_t b = bytes[i];

        if (b == '\n' || b == '\r' || b == '"' || b == '\\')
            assert_int_equal(text[at++], '\\');
        assert_int_equal(text[at++], b == '\n'               ? 'n'
                                     : b == '\r'             ? 'r'
                                     : b >= 0x20 && b < 0x7F ? b
                                                             : '.');
    }
    assert_int_equal(text_len, at);
    free(text);
}

/* All lengths up to some blocks, and all bytes at all places of a block; memory ends where the
 * payload does. */
static void test_text_of_payloads(void **state)
{
    uint64_t random = 11;

    (void)state;
    for (uint32_t len = 0; len <= 600; len++) {
        uint8_t *const memory = malloc((size_t)len + 1), *const bytes = memory + 1;

        for (uint32_t round = 0; round < 4; round++) {
            for (uint32_t i = 0; i < len; i++) {
                bytes[i] = (uint8_t)(i * 7 + len);
                if (round == 1)
                    bytes[i] = (uint8_t) "\n\r\"\\"[test_below(&random, 4)];
                else if (round > 1)
                    bytes[i] = (uint8_t)(test_random(&random) >> 32);
            }
            check_base64(bytes, len);
            check_printable(bytes, len);
        }
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_lines_are_the_same),
        cmocka_unit_test(test_held_console_lines_are_the_same),
        cmocka_unit_test(test_what_cannot_be_held_is_said),
        cmocka_unit_test(test_a_sink_fails_while_events_are_passed),
        cmocka_unit_test(test_dates_are_those_of_the_c_library),
        cmocka_unit_test(test_times_of_events_in_any_order),
        cmocka_unit_test(test_text_of_payloads),
    };

    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
