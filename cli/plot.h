/* SPDX-License-Identifier: MIT */
/* Pictures by gnuplot, which gets its script through a pipe. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* A script that will draw an SVG of this size to a file; NULL: said. plot_end must follow. */
FILE *plot_begin(const char *path, unsigned width, unsigned height);

/* Draws. False: said. */
bool plot_end(FILE *script, const char *path);

/* Text as a string of gnuplot's. */
void plot_quoted(FILE *script, const char *text);

#endif
