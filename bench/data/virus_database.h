/* SPDX-License-Identifier: MIT */
/* A database of signatures of viruses that do not exist. */
#ifndef BENCH_VIRUS_DATABASE_H
#define BENCH_VIRUS_DATABASE_H

#include <stddef.h>

/* n signatures as the text of an .ndb file, which the caller frees. NULL: an error was printed. */
char *virus_database_make(size_t n, size_t *len);

#endif
