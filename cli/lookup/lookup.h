/* SPDX-License-Identifier: MIT */
/* Types and calls that the parts of sluice lookup share. */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sluice/names.h"

/* ---- timing (lookup_bench.c) ----------------------------------------------------------------- */

struct lookup_bench {
    struct sl_names *names;
    const char *device;
    enum sl_name_syntax syntax;
    bool json;
    int stop_fd;              /* ends the reading of standard input when it can be read */
    const char *const *texts; /* n_texts of them; NULL: the lines of standard input */
    int n_texts;
};

/* Times look-ups of the names and prints the rates. False: the reason is on stderr. */
bool lookup_bench(const struct lookup_bench *bench);

/* ---- the table (lookup_report.c) ------------------------------------------------------------- */

struct lookup_report {
    const struct sl_names *names;
    const char *saved; /* --build, or NULL */
    bool updates;      /* --update */
    struct sl_names_updated updated;
};

void lookup_report_text(const struct lookup_report *report, FILE *out);
void lookup_report_json(const struct lookup_report *report, FILE *out);

#endif
