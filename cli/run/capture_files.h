/* SPDX-License-Identifier: MIT */
/* Capture files that a command line names, one by one or by their folder. */
#ifndef CLI_CAPTURE_FILES_H
#define CLI_CAPTURE_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct capture_files {
    const char **paths;
    size_t n, room;
    char **owned; /* the paths among them that lie in folders */
    size_t n_owned, owned_room;
};

/* Adds a file, or the captures that lie in a folder (not in folders below), in the order of the
 * times of their first packets. False: the reason is on stderr. */
bool capture_files_add(struct capture_files *files, const char *path);

void capture_files_free(struct capture_files *files);

#endif
