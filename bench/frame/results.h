/* SPDX-License-Identifier: MIT */
/* The results of a bench as one JSON object: saved, read again, compared. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <jansson.h>
#include <stdbool.h>

enum {
    BENCH_RESULTS_VERSION = 1,
    BENCH_OTHERS_SHOWN = 5 /* percent of the cores that others took, and more, is printed */
};

/* A member's text, "" where there is none; its number, 0 where there is none. */
static inline const char *bench_text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL ? text : "";
}

static inline double bench_number_of(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* Prints a JSON object as one line. */
void bench_print_json(const json_t *line);

/* {"format": "sluice bench", "version": 1, "machine": {...}, "rows": [...], "timelines": [...],
 * "command": [...], "others_percent": ...}. A row is the object that --json prints. machine.c fills
 * the machine, and the command is in words. Owns the machine afterwards. */
json_t *bench_results_new(json_t *machine);

/* Reads a file that bench_results_save wrote. NULL: an error was printed. */
json_t *bench_results_load(const char *path);

/* Whether a file can be written there, as far as a test before shows. False: an error was printed.
 */
bool bench_results_writable(const char *path);

/* False: an error was printed. */
bool bench_results_save(const json_t *results, const char *path);

/* Prints the rows that became slower or faster since `then`, and those in one of the two alone.
 * results_compare.c */
void bench_results_compare(const json_t *then, const json_t *now, const char *path, bool json);

/* Draws rates of engines and of all together over cores and on the GPU, beside ceilings. False: an
 * error was printed. results_draw.c */
bool bench_results_draw(const json_t *results, const char *path);

#endif
