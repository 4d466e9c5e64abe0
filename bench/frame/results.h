/* SPDX-License-Identifier: MIT */
/* The results of a bench as one JSON object: saved, read again, compared. */
#ifndef CLI_BENCH_RESULTS_H
#define CLI_BENCH_RESULTS_H

#include <jansson.h>
#include <stdbool.h>

enum {
    BENCH_RESULTS_VERSION = 1,
    BENCH_OTHERS_SAID = 5 /* percent of the cores that others took: from here on it is said */
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

/* {"format": "sluice bench", "version": 1, "machine": {...}, "rows": [...], "timelines": [...],
 * "command": [...], "others_percent": ...}; a row is what --json prints of it, a machine what
 * bench_machine.c says, the command is in words. `machine` is taken over. */
json_t *bench_results_new(json_t *machine);

/* Reads a file that bench_results_save wrote. NULL: said, with what is wrong and where. */
json_t *bench_results_load(const char *path);

/* Whether a file can be written there, as far as can be told before. False: said. */
bool bench_results_writable(const char *path);

/* False: said. */
bool bench_results_save(const json_t *results, const char *path);

/* Prints what became slower or faster since `then`, and what is in one of the two alone. */
void bench_results_compare(const json_t *then, const json_t *now, const char *path, bool json);

/* bench_draw.c: rates of engines and of all together over cores and on the GPU, beside ceilings.
 * False: said. */
bool bench_draw(const json_t *results, const char *path);

#endif
