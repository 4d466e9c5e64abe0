/* SPDX-License-Identifier: MIT */
#include "study_table.h"

#include <stdio.h>
#include <string.h>

#include "results.h"

enum { NUMBER_WIDTH = 8, TEXT_WIDTH = 20 /* columns, at least */ };

void study_number(struct study_row *row, const char *name, double number, int decimals)
{
    row->cells[row->n_cells].name = name;
    row->cells[row->n_cells].kind = number < 0 ? STUDY_NONE : STUDY_NUMBER;
    row->cells[row->n_cells].number = number;
    row->cells[row->n_cells++].decimals = decimals;
}

void study_text(struct study_row *row, const char *name, const char *text)
{
    row->cells[row->n_cells].name = name;
    row->cells[row->n_cells].kind = text == NULL ? STUDY_NONE : STUDY_TEXT;
    row->cells[row->n_cells++].text = text;
}

static json_t *json_of(const struct study_table *table, const struct study_row *row)
{
    json_t *line = json_pack("{s:s}", "study", table->name);

    for (unsigned i = 0; i < row->n_cells; i++) {
        json_t *value = json_null();

        if (row->cells[i].kind == STUDY_NUMBER)
            value = row->cells[i].decimals == 0 ? json_integer((json_int_t)row->cells[i].number)
                                                : json_real(row->cells[i].number);
        if (row->cells[i].kind == STUDY_TEXT)
            value = json_string(row->cells[i].text);
        json_object_set_new(line, row->cells[i].name, value);
    }
    if (row->note[0] != '\0')
        json_object_set_new(line, "note", json_string(row->note));
    return line;
}

static int width_of(const struct study_row *row, unsigned i)
{
    const size_t len = strlen(row->cells[i].name);
    const size_t least = row->cells[i].kind == STUDY_TEXT ? TEXT_WIDTH : NUMBER_WIDTH;

    return (int)(len > least ? len : least);
}

static void print_text(const struct study_row *row)
{
    for (unsigned i = 0; i < row->n_cells; i++) {
        const int width = width_of(row, i);

        if (row->cells[i].kind == STUDY_NUMBER)
            printf("%*.*f  ", width, row->cells[i].decimals, row->cells[i].number);
        else
            printf("%*s  ", width, row->cells[i].kind == STUDY_TEXT ? row->cells[i].text : "-");
    }
    puts(row->note);
}

void study_print(struct study_table *table, const struct study_row *row)
{
    json_t *line = json_of(table, row);

    bench_print_head(table->frame);
    if (table->rows != NULL)
        json_array_append(table->rows, line);
    if (table->frame->json) {
        bench_print_json(line);
    } else {
        for (unsigned i = 0; i < row->n_cells && !table->has_heading; i++)
            printf("%*s  ", width_of(row, i), row->cells[i].name);
        if (!table->has_heading)
            putchar('\n');
        table->has_heading = true;
        print_text(row);
    }
    json_decref(line);
    fflush(stdout);
}

void study_print_note(const struct study_table *table, const char *text)
{
    bench_print_head(table->frame);
    if (!table->frame->json)
        puts(text);
}
