/* SPDX-License-Identifier: MIT */
/* Pictures by gnuplot, which gets its script through a pipe. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* A script that will draw an SVG of this size to a file; NULL: the reason is on stderr. plot_end
 * must follow. */
FILE *plot_begin(const char *path, unsigned width, unsigned height);

/* Draws. False: the reason is on stderr. */
bool plot_end(FILE *script, const char *path);

/* Text as a string in gnuplot. */
void plot_quoted(FILE *script, const char *text);

#endif
