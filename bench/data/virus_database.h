/* SPDX-License-Identifier: MIT */
/* A database of signatures of viruses that do not exist, and the files of a benchmark. */
#ifndef BENCH_VIRUS_DATABASE_H
#define BENCH_VIRUS_DATABASE_H

#include <stdbool.h>
#include <stddef.h>

/* n signatures as the text of an .ndb file, which the caller frees. NULL: an error was printed. */
char *virus_database_make(size_t n, size_t *len);

/* Makes a folder for temporary files. False: an error was printed. */
bool bench_make_folder(char path[64]);

/* Writes a file. False: an error was printed. */
bool bench_write_file(const char *path, const void *bytes, size_t len);

#endif
