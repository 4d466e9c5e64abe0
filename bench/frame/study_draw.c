/* SPDX-License-Identifier: MIT */
/* The table of a study as a picture. */
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "cli/plot.h"
#include "study_table.h"

enum { GROUPS_MAX = 16, WIDTH = 900, PANEL_HEIGHT = 350 };

/* Rows of one text, in the first column that has texts. */
struct groups {
    const char *names[GROUPS_MAX];
    unsigned n;
};

/* "" where no column has texts. */
static const char *group_of(const json_t *row)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)row, name,
                        value) if (json_is_string(value) && strcmp(name, "study") != 0 &&
                                   strcmp(name, "note") != 0) return json_string_value(value);
    return "";
}

static struct groups find_groups(const json_t *rows)
{
    struct groups groups = {.n = 0};

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *const name = group_of(json_array_get(rows, i));
        unsigned g = 0;

        while (g < groups.n && strcmp(groups.names[g], name) != 0)
            g++;
        if (g == groups.n && g < GROUPS_MAX)
            groups.names[groups.n++] = name;
    }
    return groups;
}

static bool is_in_panel(const char *column, const char *panel, const char *axis)
{
    return strcmp(column, axis) != 0 && strcmp(column, "study") != 0 && strstr(column, panel);
}

/* One line a row: the axis' number and the column's. */
static void put_points(FILE *script, const json_t *rows, const char *axis, const char *column,
                       const char *group)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *const row = json_array_get(rows, i);
        const json_t *const value = json_object_get(row, column);

        if (strcmp(group_of(row), group) == 0 && json_is_number(value))
            fprintf(script, "%.6g %.6g\n", json_number_value(json_object_get(row, axis)),
                    json_number_value(value));
    }
}

/* Goes over the columns of a panel twice: for their numbers, and for the lines. */
static void put_panel(FILE *script, const json_t *rows, const struct groups *groups,
                      const char *axis, const char *panel)
{
    const char *separator = "plot ", *column;
    unsigned n = 0;
    json_t *value;

    for (int drawing = 0; drawing < 2; drawing++, n = 0)
        json_object_foreach(json_array_get(rows, 0), column, value)
        {
            if (json_is_string(value) || !is_in_panel(column, panel, axis))
                continue;
            const bool says_all = strcmp(column, panel) == 0; /* the panel's name does */
            for (unsigned g = 0; g < groups->n; g++, n++) {
                char title[128];

                if (drawing == 0) {
                    fprintf(script, "$data%u << EOD\n", n);
                    put_points(script, rows, axis, column, groups->names[g]);
                    fputs("EOD\n", script);
                    continue;
                }
                snprintf(title, sizeof title, "%s%s%s", groups->names[g],
                         groups->names[g][0] != '\0' && !says_all ? ": " : "",
                         says_all ? "" : column);
                fprintf(script, "%s$data%u using 1:2 with linespoints lw 2 title ", separator, n);
                plot_quoted(script, title);
                separator = ", ";
            }
        }
    fputc('\n', script);
}

bool study_draw(const struct study_table *table, const struct study_picture *picture,
                const char *path)
{
    const struct groups groups = find_groups(table->rows);
    struct plot plot;
    unsigned n_panels = 0;

    while (n_panels < STUDY_PANELS_MAX && picture->panels[n_panels] != NULL)
        n_panels++;
    if (!plot_begin(&plot, path, WIDTH, n_panels * PANEL_HEIGHT))
        return false;
    FILE *const script = plot.script;
    fprintf(script,
            "set multiplot layout %u,1\nset lmargin 11\nset grid lc rgb 'gray85'\nset key above\n"
            "set yrange [0:*]\nset xlabel ",
            n_panels);
    plot_quoted(script, picture->axis);
    fputc('\n', script);
    for (unsigned i = 0; i < n_panels; i++) {
        fputs("set ylabel ", script);
        plot_quoted(script, picture->panels[i]);
        fputc('\n', script);
        put_panel(script, table->rows, &groups, picture->axis, picture->panels[i]);
    }
    fputs("unset multiplot\n", script);
    return plot_end(&plot);
}
