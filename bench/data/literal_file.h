/* SPDX-License-Identifier: MIT */
/* Files of literals: one a line, as contents are written in rules (docs/measuring.md). */
#ifndef CLI_LITERAL_FILE_H
#define CLI_LITERAL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/mpm.h"

struct literal_files {
    struct sl_literal *literal;
    size_t n;
    char **text; /* the bytes of each file: the literals lie in them */
    size_t n_files;
};

/* Reads these files, one after another. False: an error was printed, with file, line and reason. In
 * any case to be freed. */
bool literal_files_load(struct literal_files *files, const char *const *paths, size_t n_paths);

void literal_files_free(struct literal_files *files);

#endif
