/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all. It is written beside its path, then renamed. No reader
 * meets a part of it, and a process that has the old file open keeps it.
 *
 * The name beside is PATH.sluice-new-N, and the writer holds a lock on that file. The lock ends
 * with the writer, however it ends. The next writer of the path removes what has no lock. */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

struct new_file {
    char path[PATH_MAX]; /* the path that the file will replace; a link there was followed */
    char beside[PATH_MAX];
    int fd;
    bool replaces; /* the path had a file when this one was created */
    int error;     /* errno of the first write that failed; 0: none did */
};

/* Creates the file, with owner and mode of the one that it will replace. SL_EIO: the system
 * refused, or the path is no regular file. */
enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag);

/* Writes behind what was written. new_file_end returns a failure. */
void new_file_write(struct new_file *file, const void *bytes, uint64_t len);

/* Writes the file's first bytes again, as the last write: a head that depends on the rest. */
void new_file_write_first(struct new_file *file, const void *bytes, uint64_t len);

/* Removes the new file; the path keeps its old one. */
void new_file_drop(struct new_file *file);

/* Renames the file to its path where all writes succeeded, else removes it. A file that replaces
 * another is brought to disk first. SL_EIO. */
enum sl_status new_file_end(struct new_file *file, struct sl_diag *diag);

#endif
