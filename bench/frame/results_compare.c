/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "results.h"

static const double least_change = 2; /* percent that count, however quiet both runs were */

enum change_kind { SAME, SLOWER, FASTER };

struct change {
    enum change_kind kind;
    double percent; /* of the medians, from then to now */
    double noise;   /* percent: a larger change counts */
};

/* A change counts where the medians differ by more than 2 %, and by more than the sum of the middle
 * halves of both rows' runs. */
static struct change judge(const json_t *then, const json_t *now)
{
    const double before = bench_number_of(then, "median"), after = bench_number_of(now, "median");
    const double wide = bench_number_of(then, "q3") - bench_number_of(then, "q1") +
                        bench_number_of(now, "q3") - bench_number_of(now, "q1");
    struct change change = {.percent = (after - before) / before * 100,
                            .noise = wide / before * 100};
    const bool time = strcmp(bench_text_of(now, "unit"), "ms") == 0;

    if (change.noise < least_change)
        change.noise = least_change;
    if (fabs(change.percent) > change.noise)
        change.kind = (change.percent < 0) != time ? SLOWER : FASTER;
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

/* The differences of two machines, as "cores: 2 then, 16 now". Figures of different machines cannot
 * be judged. Returns the number of characters, 0 where nothing differs. */
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

    if (before >= BENCH_OTHERS_SHOWN || after >= BENCH_OTHERS_SHOWN)
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
    bench_print_json(line);
    json_decref(line);
}

/* Prints the rows without figures on both sides. */
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
