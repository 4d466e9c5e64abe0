/* SPDX-License-Identifier: MIT */
/* Counters, as sinks take them. */
#include <jansson.h>
#include <unistd.h>

#include "test_sink_events.h"

static const struct sl_stats_event stats = {.time_ns = INT64_C(1767348672123456789),
                                            .json = "{\"uptime\":10,\"flow\":{\"total\":11}}",
                                            .line = "10 s  11 flows"};

/* Writes the counters to a sink of the kind, alone; returns the file's only line. */
static char *line_of(const char *kind)
{
    char name[32];

    snprintf(name, sizeof name, "stats.%s", kind);
    const bool is_console = strcmp(kind, "console") == 0;
    FILE *file = fopen(scratch_path(name), "w+");
    const int saved = is_console ? stdout_to(dup(fileno(file))) : -1;
    struct sl_sink *sink = open_sink(is_console ? "console" : scratch_spec(kind, name));
    char *line = NULL;
    size_t cap = 0;

    assert_true(sl_sink_takes_stats(sink));
    assert_int_equal(sl_sink_write_stats(sink, &stats, NULL), SL_OK);
    close_sink(sink, 1);
    if (is_console)
        stdout_back(saved);
    fclose(file);
    file = fopen(scratch_path(name), "r");
    assert_non_null(file);
    assert_true(getline(&line, &cap, file) > 0);
    assert_int_equal(getc(file), EOF);
    fclose(file);
    return line;
}

static void test_eve_has_an_event(void **state)
{
    char *line = line_of("eve");
    json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    json_t *counters = json_object_get(event, "stats");

    (void)state;
    free(line);
    assert_int_equal(json_object_size(event), 3);
    assert_string_equal(json_string_value(json_object_get(event, "timestamp")),
                        "2026-01-02T10:11:12.123456+0000");
    assert_string_equal(json_string_value(json_object_get(event, "event_type")), "stats");
    assert_int_equal(json_object_size(counters), 2);
    assert_int_equal(json_integer_value(json_object_get(counters, "uptime")), 10);
    json_decref(event);
}

static void test_console_has_a_line(void **state)
{
    char *line = line_of("console");

    (void)state;
    assert_string_equal(line, "2026-01-02 10:11:12.123456  STATS  10 s  11 flows\n");
    free(line);
}

static void test_sqlite_takes_none(void **state)
{
    struct sl_sink *sink = open_sink(scratch_spec("sqlite", "stats.db"));
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag = {.text = ""};

    (void)state;
    make_plain(made, 1);
    assert_false(sl_sink_takes_stats(sink));
    assert_int_equal(sl_sink_write_stats(sink, &stats, &diag), SL_EUNSUPPORTED);
    assert_non_null(strstr(diag.text, "sqlite"));
    assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    close_sink(sink, 1);
    free(made);
}

static void test_counters_are_held(void **state)
{
    struct sl_sink *sink = open_sink(scratch_spec("eve", "held.eve")), *held;

    (void)state;
    assert_int_equal(sl_sink_hold(&held, sink, 1 << 16, NULL), SL_OK);
    assert_int_equal(sl_sink_write_stats(held, &stats, NULL), SL_OK);
    assert_int_equal(sl_sink_written(held), 1);
    assert_int_equal(sl_sink_pass(held, sink, NULL), SL_OK);
    assert_int_equal(sl_sink_close(held, NULL, NULL), SL_OK);
    assert_int_equal(sl_sink_hold(&held, sink, 50, NULL), SL_OK);
    assert_int_equal(sl_sink_write_stats(held, &stats, NULL), SL_EOVERFLOW);
    assert_int_equal(sl_sink_written(held), 0);
    assert_int_equal(sl_sink_pass(held, sink, NULL), SL_OK);
    assert_int_equal(sl_sink_close(held, NULL, NULL), SL_OK);
    close_sink(sink, 1);
}

static void test_a_full_disk_is_an_error(void **state)
{
    struct sl_sink *sink = open_sink("eve:/dev/full");
    struct sl_diag diag = {.text = ""};
    uint64_t written = 1;

    (void)state;
    assert_int_equal(sl_sink_write_stats(sink, &stats, &diag), SL_OK); /* it is buffered */
    assert_int_equal(sl_sink_flush(sink, NULL), SL_EIO);
    assert_int_equal(sl_sink_write_stats(sink, &stats, &diag), SL_EIO);
    assert_non_null(strstr(diag.text, "No space left"));
    assert_int_equal(sl_sink_close(sink, &written, &diag), SL_EIO);
    assert_int_equal(written, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eve_has_an_event),        cmocka_unit_test(test_console_has_a_line),
        cmocka_unit_test(test_sqlite_takes_none),       cmocka_unit_test(test_counters_are_held),
        cmocka_unit_test(test_a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
