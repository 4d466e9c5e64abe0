/* SPDX-License-Identifier: MIT */
/* The table of a study, whose columns the study chooses: printed, and drawn. */
#ifndef BENCH_STUDY_TABLE_H
#define BENCH_STUDY_TABLE_H

#include <jansson.h>

#include "bench_frame.h"

enum { STUDY_COLUMNS_MAX = 16, STUDY_PANELS_MAX = 3 };

/* How a study's table is drawn. Each word has a panel, with the columns that have it in their names
 * over the axis' column. Each of these columns, and each text of the first column of texts, has a
 * line. */
struct study_picture {
    const char *axis; /* NULL: the table is not drawn */
    const char *panels[STUDY_PANELS_MAX];
};

struct study_table {
    const struct bench_frame *frame;
    const char *name;
    json_t *rows;     /* the printed rows, if they are to be drawn; else NULL */
    bool has_heading; /* the names of the columns were printed */
};

/* A row that is being filled. A cell without a value is a dash in the table and null in JSON. */
struct study_row {
    struct {
        const char *name;
        enum { STUDY_NONE, STUDY_NUMBER, STUDY_TEXT } kind;
        double number;
        int decimals;
        const char *text;
    } cells[STUDY_COLUMNS_MAX];
    unsigned n_cells;
    char note[320]; /* at the end of the row: what could not be run, and why */
};

/* Adds a cell. A number below 0 is no value. */
void study_number(struct study_row *row, const char *name, double number, int decimals);
void study_text(struct study_row *row, const char *name, const char *text);

void study_print(struct study_table *table, const struct study_row *row);

/* Prints lines above the table: the paper's experiment, and the differences here. */
void study_print_note(const struct study_table *table, const char *text);

/* Draws the table to a file. False: an error was printed. */
bool study_draw(const struct study_table *table, const struct study_picture *picture,
                const char *path);

#endif
