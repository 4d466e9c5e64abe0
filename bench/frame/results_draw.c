/* SPDX-License-Identifier: MIT */
/* Rates over cores as a picture: a line for each series of rows, ceilings dashed, all engines
 * together thick. Rows of GPUs stand at the right, in the colour of their engine. */
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "cli/plot.h"
#include "machine.h"
#include "rate.h"
#include "results.h"

enum { SERIES_MAX = 48, COLUMNS_MAX = BENCH_CORES_MAX };

/* Colours that colour-blind readers distinguish (Okabe and Ito, "Color universal design", 2008). */
static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                      "#56B4E9", "#D55E00", "#8C6D31", "#44AA99"};

struct series {
    const char *name, *bench, *role;
    bool gpu;
};

struct drawing {
    const json_t *rows;
    struct series series[SERIES_MAX];
    unsigned n_series;
    json_int_t cores[COLUMNS_MAX]; /* ascending: the columns */
    unsigned n_columns;
    bool gpu; /* one column more */
};

/* Rates in bytes are drawn for rows with a role. */
static bool is_drawn(const json_t *row)
{
    return *bench_text_of(row, "role") != '\0' && *bench_text_of(row, "series") != '\0' &&
           strcmp(bench_text_of(row, "unit"), "GB/s") == 0;
}

static void add_column(struct drawing *drawing, json_int_t cores)
{
    unsigned at = 0;

    while (at < drawing->n_columns && drawing->cores[at] < cores)
        at++;
    if ((at < drawing->n_columns && drawing->cores[at] == cores) ||
        drawing->n_columns == COLUMNS_MAX)
        return;
    memmove(&drawing->cores[at + 1], &drawing->cores[at],
            (drawing->n_columns - at) * sizeof *drawing->cores);
    drawing->cores[at] = cores;
    drawing->n_columns++;
}

static void add_row(struct drawing *drawing, const json_t *row)
{
    const json_int_t cores = json_integer_value(json_object_get(row, "cores"));
    const struct series made = {bench_text_of(row, "series"), bench_text_of(row, "bench"),
                                bench_text_of(row, "role"), cores == 0};

    if (cores != 0)
        add_column(drawing, cores);
    drawing->gpu |= cores == 0;
    for (unsigned i = 0; i < drawing->n_series; i++)
        if (strcmp(drawing->series[i].name, made.name) == 0 && drawing->series[i].gpu == made.gpu)
            return;
    if (drawing->n_series < SERIES_MAX)
        drawing->series[drawing->n_series++] = made;
}

static unsigned column_of(const struct drawing *drawing, json_int_t cores)
{
    unsigned at = 0;

    while (at < drawing->n_columns && drawing->cores[at] != cores)
        at++;
    return at; /* the GPU's is behind the last */
}

static bool is_ceiling(const struct series *series)
{
    return strcmp(series->role, "ceiling") == 0;
}

/* On a GPU the link bounds all engines to about the same: they stand side by side. */
static double shift_of(const struct drawing *drawing, unsigned s)
{
    unsigned before = 0, all = 0;

    for (unsigned i = 0; i < drawing->n_series; i++) {
        const bool counts = drawing->series[i].gpu && !is_ceiling(&drawing->series[i]);

        before += counts && i < s;
        all += counts;
    }
    return drawing->series[s].gpu && all > 1 ? 0.6 * before / (all - 1) - 0.3 : 0;
}

/* Where, median, and the spread of the runs. A ceiling of the GPU spans its column. */
static void put_row(FILE *to, const struct drawing *drawing, unsigned s, const json_t *row)
{
    const unsigned column = column_of(drawing, json_integer_value(json_object_get(row, "cores")));
    const bool spans = drawing->series[s].gpu && is_ceiling(&drawing->series[s]);
    const double shift = spans ? -0.45 : shift_of(drawing, s);

    for (int end = 0; end <= spans; end++)
        fprintf(to, "%.3g %.6g %.6g %.6g\n", column + (end == 0 ? shift : -shift),
                bench_number_of(row, "median"), bench_number_of(row, "min"),
                bench_number_of(row, "max"));
}

static void put_data(FILE *to, const struct drawing *drawing)
{
    for (unsigned s = 0; s < drawing->n_series; s++) {
        fprintf(to, "$data%u << EOD\n", s);
        for (size_t i = 0; i < json_array_size(drawing->rows); i++) {
            const json_t *row = json_array_get(drawing->rows, i);
            const bool gpu = json_integer_value(json_object_get(row, "cores")) == 0;

            if (is_drawn(row) &&
                strcmp(bench_text_of(row, "series"), drawing->series[s].name) == 0 &&
                gpu == drawing->series[s].gpu)
                put_row(to, drawing, s, row);
        }
        fputs("EOD\n", to);
    }
}

static void put_axes(FILE *to, const struct drawing *drawing, const char *machine)
{
    char title[640];

    snprintf(title, sizeof title, "sluice bench on %s", machine);
    fputs("set title ", to);
    plot_quoted(to, title);
    fputs(" noenhanced\nset lmargin 10\nset rmargin 36\nset key outside right top "
          "vertical Left reverse samplen 3 noenhanced\n"
          "set logscale y\nset format y '%g'\nset grid ytics mytics lc rgb 'gray75', lc rgb "
          "'gray92'\nset border 3\nset tics nomirror\n"
          "set ylabel 'rate (GB/s, logarithmic)'\nset xlabel ",
          to);
    plot_quoted(to, drawing->gpu ? "CPU cores, and the GPU" : "CPU cores");
    fprintf(to, "\nset xrange [-0.3:%.1f]\nset xtics (",
            drawing->n_columns + (drawing->gpu ? 0.5 : -0.7));
    for (unsigned i = 0; i < drawing->n_columns; i++)
        fprintf(to, "%s'%lld' %u", i > 0 ? ", " : "", (long long)drawing->cores[i], i);
    if (drawing->gpu)
        fprintf(to, "%s'GPU' %u", drawing->n_columns > 0 ? ", " : "", drawing->n_columns);
    fputs(")\n", to);
}

/* The first series of the same bench: its colour and mark are those of all. */
static unsigned first_of(const struct drawing *drawing, unsigned s)
{
    unsigned first = 0;

    while (strcmp(drawing->series[first].bench, drawing->series[s].bench) != 0)
        first++;
    return first;
}

/* The number of the series' bench among those that are drawn in colours. */
static unsigned number_of(const struct drawing *drawing, unsigned s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < first_of(drawing, s); i++)
        n += first_of(drawing, i) == i && !is_ceiling(&drawing->series[i]) &&
             strcmp(drawing->series[i].role, "together") != 0;
    return n;
}

/* How many variants of its bench come before it: they differ in marks. */
static unsigned variant_of(const struct drawing *drawing, unsigned s)
{
    const struct series *of = &drawing->series[s];
    unsigned n = 0;

    for (unsigned i = 0; i < s; i++)
        n += strcmp(drawing->series[i].bench, of->bench) == 0 &&
             strcmp(drawing->series[i].role, of->role) == 0 && drawing->series[i].gpu == of->gpu;
    return n;
}

static void put_style(FILE *to, const struct drawing *drawing, unsigned s)
{
    const struct series *series = &drawing->series[s];
    const unsigned number = number_of(drawing, s);
    const char *colour = colours[number % (sizeof colours / sizeof *colours)];
    const unsigned mark =
        2 * ((number + variant_of(drawing, s)) % 5); /* of gnuplot's: 5, 7, 9, 11, 13 are filled */

    if (is_ceiling(series))
        fprintf(to, "with lines lw 2 dt 2 lc rgb 'gray%u'",
                strstr(series->name, "copy") != NULL ? 60 : 30);
    else if (strcmp(series->role, "together") == 0)
        fputs("with linespoints lw 4 pt 7 ps 1 lc rgb 'black'", to);
    else if (strcmp(series->role, "peer") == 0)
        fprintf(to, "with linespoints lw 2 dt 3 pt %u ps 0.9 lc rgb '%s'", 4 + mark, colour);
    else
        fprintf(to, "with linespoints lw 2 pt %u ps 0.9 lc rgb '%s'", 5 + mark, colour);
}

/* A GPU's rows have the colours and marks of the CPU's rows. */
static bool is_titled(const struct drawing *drawing, unsigned s)
{
    return !drawing->series[s].gpu || is_ceiling(&drawing->series[s]) || first_of(drawing, s) == s;
}

static void put_lines(FILE *to, const struct drawing *drawing)
{
    for (unsigned s = 0; s < drawing->n_series; s++) {
        fprintf(to, "%s$data%u using 1:2 ", s == 0 ? "plot " : ", ", s);
        put_style(to, drawing, s);
        fputs(" title ", to);
        plot_quoted(to, is_titled(drawing, s) ? drawing->series[s].name : "");
        if (!is_ceiling(&drawing->series[s]))
            fprintf(to,
                    ", $data%u using 1:3:(0):($4-$3) with vectors nohead lw 1 lc rgb 'gray40' "
                    "notitle",
                    s);
    }
    fputc('\n', to);
}

bool bench_results_draw(const json_t *results, const char *path)
{
    struct drawing drawing = {.rows = json_object_get(results, "rows")};
    struct plot plot;
    char machine[512];

    for (size_t i = 0; i < json_array_size(drawing.rows); i++)
        if (is_drawn(json_array_get(drawing.rows, i)))
            add_row(&drawing, json_array_get(drawing.rows, i));
    if (drawing.n_series == 0) {
        cli_error("--plot '%s': there are no rows that can be drawn (sluice bench without a name "
                  "makes them)",
                  path);
        return false;
    }
    if (!plot_begin(&plot, path, 1000, 560))
        return false;
    FILE *const script = plot.script;
    bench_machine_text(json_object_get(results, "machine"), machine, sizeof machine);
    put_data(script, &drawing);
    put_axes(script, &drawing, machine);
    put_lines(script, &drawing);
    return plot_end(&plot);
}
