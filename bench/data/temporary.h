/* SPDX-License-Identifier: MIT */
/* Files of a benchmark that do not outlive it, in TMPDIR or /tmp. */
#ifndef BENCH_TEMPORARY_H
#define BENCH_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens a file to write to, which the caller closes and removes. NULL: an error was printed. */
FILE *bench_temporary(char path[64]);

/* Makes a folder, which the caller removes. False: an error was printed, and the path is "". */
bool bench_make_folder(char path[64]);

/* Removes a folder and all in it. */
void bench_remove_folder(const char *path);

/* Writes a file. False: an error was printed. */
bool bench_write_file(const char *path, const void *bytes, size_t len);

#endif
