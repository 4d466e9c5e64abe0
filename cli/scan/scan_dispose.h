/* SPDX-License-Identifier: MIT */
/* The disposal of a file in which something was found, as clamscan does it. */
#ifndef CLI_SCAN_DISPOSE_H
#define CLI_SCAN_DISPOSE_H

#include <limits.h>
#include <stdbool.h>

enum scan_disposal { SCAN_KEEP, SCAN_MOVE, SCAN_COPY, SCAN_REMOVE };

enum { SCAN_DISPOSED_LEN = PATH_MAX + 32 };

/* Moves or copies a file into a directory, where it gets a name that nothing has, or removes it.
 * Only a regular file is touched. *text: what was done ("moved to '/quarantine/a'"), or why it was
 * not. False: it was not. */
bool scan_dispose(enum scan_disposal disposal, const char *directory, const char *path,
                  char text[SCAN_DISPOSED_LEN]);

#endif
