/* SPDX-License-Identifier: MIT */
/* The tables of names that a command line names. */
#ifndef CLI_NAME_TABLES_H
#define CLI_NAME_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/names.h"

enum { NAME_TABLES_MAX = 256 };

struct name_tables {
    struct sl_names_file file[NAME_TABLES_MAX];
    int n;
    const char *format; /* of the tables behind it; NULL: their first lines decide */
    const char *unused; /* a format that no table was named behind; NULL: there is none */
    const char *plane;  /* NULL: the engine's choice */
    bool updates;       /* a saved table is made ready for them */
};

/* The formats, for --help. */
void name_tables_print_formats(void);

/* The two options, `option` as the user wrote it. False: the reason is on stderr. */
bool name_tables_set_format(struct name_tables *tables, const char *option, const char *name);
bool name_tables_add(struct name_tables *tables, const char *option, const char *path);

/* Checks behind the last option that each format, given by `option`, had a table behind it. False:
 * the reason is on stderr. */
bool name_tables_check(const struct name_tables *tables, const char *option);

/* Opens the table of all of them. False: the reason is on stderr, and *names is NULL. */
bool name_tables_open(const struct name_tables *tables, struct sl_names **names);

/* Prints on stderr how many lines were ignored or skipped and why; with `each`, each of them. */
void name_tables_report_ignored(const struct sl_names *names, bool each);

#endif
