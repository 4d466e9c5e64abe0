/* SPDX-License-Identifier: MIT */
/* Pictures by gnuplot, which gets its script through a pipe. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/new_file.h"

struct plot {
    FILE *script;         /* the commands for gnuplot */
    struct new_file file; /* its standard output */
};

/* Begins an SVG of this size, which appears at the path when it is whole. False: the reason is on
 * stderr. plot_end must follow where it is true. */
bool plot_begin(struct plot *plot, const char *path, unsigned width, unsigned height);

/* Draws. False: the reason is on stderr, and the file at the path is kept. */
bool plot_end(struct plot *plot);

/* Text as a string in gnuplot. */
void plot_quoted(FILE *script, const char *text);

#endif
