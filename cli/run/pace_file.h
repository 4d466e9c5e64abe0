/* SPDX-License-Identifier: MIT */
/* The file of what runs took: paces, in sluice's folder of the user's caches. */
#ifndef CLI_PACE_FILE_H
#define CLI_PACE_FILE_H

#include <limits.h>

/* NULL: the user has no such folder, and none can be made. Else its path, in `path`. */
const char *pace_file(char path[PATH_MAX]);

#endif
