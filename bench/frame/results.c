/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "cli/console.h"

static const char format[] = "sluice bench";

enum { FILE_MAX = 64 << 20 /* bytes of a file of results that are read */ };

void bench_print_json(const json_t *line)
{
    json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
    putchar('\n');
    fflush(stdout);
}

json_t *bench_results_new(json_t *machine)
{
    return json_pack("{s:s, s:i, s:o, s:[], s:[]}", "format", format, "version",
                     BENCH_RESULTS_VERSION, "machine", machine, "rows", "timelines");
}

bool bench_results_writable(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    struct stat stat_of;

    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    if (access(folder, W_OK) == 0 && (stat(path, &stat_of) != 0 || S_ISREG(stat_of.st_mode)))
        return true;
    cli_error("--save '%s': no file can be written there", path);
    return false;
}

bool bench_results_save(const json_t *results, const char *path)
{
    char *text = json_dumps(results, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    struct new_file file;
    struct sl_diag diag = {0};
    bool good = false;

    if (text == NULL) {
        cli_error("no memory for the results");
    } else if (new_file_create(&file, path, &diag) != SL_OK) {
        cli_diag(&diag);
    } else {
        new_file_write(&file, text, strlen(text));
        new_file_write(&file, "\n", 1);
        good = new_file_end(&file, &diag) == SL_OK;
        if (!good)
            cli_diag(&diag);
    }
    free(text);
    return good;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_texts(const json_t *object, const char *const *names)
{
    for (; *names != NULL; names++)
        if (!json_is_string(json_object_get(object, *names)))
            return false;
    return true;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return true;
    return false;
}

/* Texts are printed as they are: nothing that a terminal would act on. The parser bounds depth. */
static bool is_printable(json_t *value)
{
    const char *name;
    json_t *member;
    size_t i;

    if (json_is_string(value))
        return !has_control(json_string_value(value));
    json_object_foreach(value, name,
                        member) if (has_control(name) || !is_printable(member)) return false;
    json_array_foreach(value, i, member) if (!is_printable(member)) return false;
    return true;
}

/* The fault of a row, or NULL. */
static const char *row_defect(const json_t *row)
{
    static const char *const names[] = {"bench", "variant", NULL};
    static const char *const reason[] = {"why", NULL};
    static const char *const measured[] = {"data", "unit", NULL};
    static const char *const ascending[] = {"min", "q1", "median", "q3", "max", NULL};
    double before = 0;

    if (!json_is_object(row) || !has_texts(row, names))
        return "no bench and variant";
    if (has_texts(row, reason))
        return NULL;
    if (!has_texts(row, measured))
        return "no data and unit";
    for (const char *const *name = ascending; *name != NULL; name++) {
        const double number = bench_number_of(row, *name);

        if (!json_is_number(json_object_get(row, *name)) || number < before)
            return "min, q1, median, q3 and max are no ascending rates";
        before = number;
    }
    return bench_number_of(row, "median") > 0 ? NULL : "its median is no rate";
}

static bool check(json_t *results, const char *path)
{
    static const char *const names[] = {"sluice", "time", "cpu", "level", NULL};
    const json_t *rows = json_object_get(results, "rows");
    const json_t *version = json_object_get(results, "version");

    if (strcmp(bench_text_of(results, "format"), format) != 0 || !json_is_integer(version)) {
        cli_error("%s: is no file of sluice bench --save", path);
        return false;
    }
    if (json_integer_value(version) != BENCH_RESULTS_VERSION) {
        cli_error("%s: version %lld of results (this sluice reads %d)", path,
                  (long long)json_integer_value(version), BENCH_RESULTS_VERSION);
        return false;
    }
    if (!has_texts(json_object_get(results, "machine"), names) || !json_is_array(rows)) {
        cli_error("%s: has no machine or no rows", path);
        return false;
    }
    if (!is_printable(results)) {
        cli_error("%s: control characters in a text", path);
        return false;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *defect = row_defect(json_array_get(rows, i));

        if (defect != NULL) {
            cli_error("%s: row %zu: %s", path, i + 1, defect);
            return false;
        }
    }
    return true;
}

json_t *bench_results_load(const char *path)
{
    json_error_t error;
    struct stat stat;

    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &stat) != 0) {
        cli_error("%s: %s", path, strerror(errno));
        if (file != NULL)
            (void)fclose(file);
        return NULL;
    }
    json_t *results = NULL;
    if (!S_ISREG(stat.st_mode) || stat.st_size > FILE_MAX) {
        cli_error("%s: is no regular file of at most %d MiB", path, FILE_MAX >> 20);
    } else {
        results = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
        if (results == NULL)
            cli_error("%s:%d: %s (expected what sluice bench --save wrote)", path, error.line,
                      error.text);
        else if (!check(results, path)) {
            json_decref(results);
            results = NULL;
        }
    }
    (void)fclose(file);
    return results;
}
