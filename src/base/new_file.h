/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all. It is written beside its path (PATH.sluice-PID-N), then
 * renamed. No reader meets a part of it, and a process that has mapped the old file keeps it.
 *
 * Its maker holds a lock on it (flock). What a maker that was killed left beside a path has none,
 * and the next maker of a file of this path removes it. */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include <limits.h>
#include <stdint.h>

#include "sluice/status.h"

struct new_file {
    const char *path; /* the caller's, until the end */
    char beside[PATH_MAX];
    int fd;
    int error; /* errno of the first write that failed; 0: none did */
};

/* SL_EIO: the system refused, or the path is no file. */
enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag);

/* Writes behind what was written. new_file_end returns a failure. */
void new_file_write(struct new_file *file, const void *bytes, uint64_t len);

/* Writes the file's first bytes again, as the last write: a head that depends on the rest. */
void new_file_write_first(struct new_file *file, const void *bytes, uint64_t len);

/* Removes the new file; the path keeps its old one. */
void new_file_drop(struct new_file *file);

/* Renames the file to its path where all writes succeeded, else removes it. SL_EIO. */
enum sl_status new_file_end(struct new_file *file, struct sl_diag *diag);

#endif
