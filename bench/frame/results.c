/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "cli/console.h"

static const char format[] = "sluice bench";

enum { FILE_MAX = 64 << 20 /* bytes of a file of results that are read */ };

static const double least_change = 2; /* percent that count, however quiet both runs were */

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

/* What is wrong with a row, or NULL. */
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
    char safe[512], text[sizeof error.text];

    cli_printable(path, safe, sizeof safe);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &stat) != 0) {
        cli_error("%s: %s", safe, strerror(errno));
        if (file != NULL)
            (void)fclose(file);
        return NULL;
    }
    json_t *results = NULL;
    if (!S_ISREG(stat.st_mode) || stat.st_size > FILE_MAX) {
        cli_error("%s: is no regular file of at most %d MiB", safe, FILE_MAX >> 20);
    } else {
        results = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
        if (results == NULL)
            cli_error("%s:%d: %s (expected what sluice bench --save wrote)", safe, error.line,
                      cli_printable(error.text, text, sizeof text));
        else if (!check(results, safe)) {
            json_decref(results);
            results = NULL;
        }
    }
    (void)fclose(file);
    return results;
}

/* ---- comparing ------------------------------------------------------------------------------- */

enum change_kind { SAME, SLOWER, FASTER };

struct change {
    enum change_kind kind;
    double percent; /* of the medians, from then to now */
    double noise;   /* percent: what a change must exceed to count */
};

/* A change counts where the medians differ by more than the middle halves of both rows' runs are
 * wide together, and by more than 2 %. */
static struct change judge(const json_t *then, const json_t *now)
{
    const double before = bench_number_of(then, "median"), after = bench_number_of(now, "median");
    const double wide = bench_number_of(then, "q3") - bench_number_of(then, "q1") +
                        bench_number_of(now, "q3") - bench_number_of(now, "q1");
    struct change change = {.percent = (after - before) / before * 100,
                            .noise = wide / before * 100};

    if (change.noise < least_change)
        change.noise = least_change;
    if (fabs(change.percent) > change.noise)
        change.kind = change.percent < 0 ? SLOWER : FASTER;
    return change;
}

static size_t differ(const json_t *then, const json_t *now, const char *name, char *why,
                     size_t why_len)
{
    const json_t *a = json_object_get(then, name), *b = json_object_get(now, name);
    int n;

    if (a == NULL || b == NULL ? a == b : json_equal(a, b))
        return 0;
    if (json_is_integer(a) && json_is_integer(b))
        n = snprintf(why, why_len, "%s: %lld then, %lld now; ", name,
                     (long long)json_integer_value(a), (long long)json_integer_value(b));
    else
        n = snprintf(why, why_len, "%s: %.80s then, %.80s now; ", name,
                     json_is_string(a) ? json_string_value(a) : "none",
                     json_is_string(b) ? json_string_value(b) : "none");
    return n < 0 ? 0 : (size_t)n < why_len ? (size_t)n : why_len - 1;
}

/* Why figures of two machines cannot be judged: what differs, as "cores: 2 then, 16 now". Returns
 * the number of characters, 0 where nothing does. */
static size_t machines_differ(const json_t *then, const json_t *now, char *why, size_t why_len)
{
    static const char *const names[] = {"cpu", "level", "cores", "gpu", NULL};
    size_t len = 0;

    why[0] = '\0';
    for (const char *const *name = names; *name != NULL; name++)
        len += differ(json_object_get(then, "machine"), json_object_get(now, "machine"), *name,
                      why + len, why_len - len);
    if (len >= 2)
        why[len -= 2] = '\0';
    return len;
}

/* The row of the same bench and variant, or NULL. */
static const json_t *find_row(const json_t *results, const json_t *row)
{
    const json_t *rows = json_object_get(results, "rows");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *other = json_array_get(rows, i);

        if (strcmp(bench_text_of(other, "bench"), bench_text_of(row, "bench")) == 0 &&
            strcmp(bench_text_of(other, "variant"), bench_text_of(row, "variant")) == 0)
            return other;
    }
    return NULL;
}

static void print_others(const json_t *then, const json_t *now)
{
    const double before = bench_number_of(then, "others_percent");
    const double after = bench_number_of(now, "others_percent");

    if (before >= BENCH_OTHERS_SAID || after >= BENCH_OTHERS_SAID)
        printf("NOT ALONE: other work took %.0f %% of all cores then, %.0f %% now\n", before,
               after);
}

struct comparison {
    const char *path;
    bool json;
    bool elsewhere; /* another machine: nothing is judged */
    size_t n_same;
};

static void print_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(line);
}

/* What has no figures on both sides that could be compared. */
static void print_missing(const struct comparison *comparison, const char *kind, const json_t *row,
                          const char *why)
{
    if (comparison->json)
        print_line(json_pack("{s:s, s:s, s:s, s:s}", "change", kind, "bench",
                             bench_text_of(row, "bench"), "variant", bench_text_of(row, "variant"),
                             "why", why));
    else
        printf("  %-8s %-18s %-34s %s\n", kind, bench_text_of(row, "bench"),
               bench_text_of(row, "variant"), why);
}

static void print_change(struct comparison *comparison, const json_t *then, const json_t *now)
{
    static const char *const kinds[] = {"same", "slower", "faster"};
    const struct change change = judge(then, now);
    const char *kind = comparison->elsewhere ? "differs" : kinds[change.kind];

    if (comparison->json) {
        print_line(json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f}", "change", kind, "bench",
                             bench_text_of(now, "bench"), "variant", bench_text_of(now, "variant"),
                             "unit", bench_text_of(now, "unit"), "then",
                             bench_number_of(then, "median"), "now", bench_number_of(now, "median"),
                             "percent", change.percent, "noise_percent", change.noise));
        return;
    }
    comparison->n_same += !comparison->elsewhere && change.kind == SAME;
    if (comparison->elsewhere || change.kind != SAME)
        printf("  %-8s %-18s %-34s %9.3f -> %.3f %s  %+.1f %% (noise %.1f %%)\n", kind,
               bench_text_of(now, "bench"), bench_text_of(now, "variant"),
               bench_number_of(then, "median"), bench_number_of(now, "median"),
               bench_text_of(now, "unit"), change.percent, change.noise);
}

static void compare_row(struct comparison *comparison, const json_t *then, const json_t *now)
{
    const bool was = json_object_get(then, "why") == NULL;
    const bool is = json_object_get(now, "why") == NULL;

    if (!was && !is)
        return;
    if (!is)
        print_missing(comparison, "gone", now, bench_text_of(now, "why"));
    else if (!was)
        print_missing(comparison, "new", now, bench_text_of(then, "why"));
    else if (strcmp(bench_text_of(then, "data"), bench_text_of(now, "data")) != 0 ||
             strcmp(bench_text_of(then, "unit"), bench_text_of(now, "unit")) != 0)
        print_missing(comparison, "other", now, "other data: cannot be compared");
    else
        print_change(comparison, then, now);
}

static void print_heading(const struct comparison *comparison, const json_t *then,
                          const json_t *now, const char *why)
{
    const json_t *machine = json_object_get(then, "machine");
    char safe[512];

    cli_printable(comparison->path, safe, sizeof safe);
    if (comparison->json) {
        print_line(json_pack("{s:s, s:b, s:s, s:f}", "against", safe, "comparable",
                             !comparison->elsewhere, "why", why, "least_percent", least_change));
        return;
    }
    printf("\nagainst %s (sluice %s, %s)\n", safe, bench_text_of(machine, "sluice"),
           bench_text_of(machine, "time"));
    if (comparison->elsewhere)
        printf("ANOTHER MACHINE, so nothing is judged: %s\n", why);
    else
        printf("a change counts above the noise: both rows' middle halves of runs together, and "
               "%.0f %%\n",
               least_change);
    print_others(then, now);
}

void bench_results_compare(const json_t *then, const json_t *now, const char *path, bool json)
{
    const json_t *before = json_object_get(then, "rows"), *after = json_object_get(now, "rows");
    struct comparison comparison = {.path = path, .json = json};
    char why[512];

    comparison.elsewhere = machines_differ(then, now, why, sizeof why) != 0;
    print_heading(&comparison, then, now, why);
    for (size_t i = 0; i < json_array_size(after); i++) {
        const json_t *row = json_array_get(after, i), *other = find_row(then, row);

        if (other != NULL)
            compare_row(&comparison, other, row);
        else
            print_missing(&comparison, "new", row, "not in the file");
    }
    for (size_t i = 0; i < json_array_size(before); i++) {
        const json_t *row = json_array_get(before, i);

        if (find_row(now, row) == NULL)
            print_missing(&comparison, "gone", row, "in the file alone");
    }
    if (!json && !comparison.elsewhere)
        printf("  %zu rows are as they were\n", comparison.n_same);
    fflush(stdout);
}
