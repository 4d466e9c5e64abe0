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
    char **text; /* what was read of each file: the literals' bytes lie in it */
    size_t n_files;
};

/* Reads these files, one after another. False: said, with file, line and reason. In any case to be
 * freed. */
bool literal_files_load(struct literal_files *files, const char *const *paths, size_t n_paths);

void literal_files_free(struct literal_files *files);

#endif
