/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all: written beside its path (PATH.PID-N), then renamed, so
 * that no reader meets a part of it, and who has mapped the one before keeps it. */
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

/* SL_EIO: the system refused, or path is something else than a file. */
enum sl_status new_file_create(struct new_file *file, const char *path, struct sl_diag *diag);

/* Goes on behind what was written. What fails is told at the end. */
void new_file_write(struct new_file *file, const void *bytes, uint64_t len);

/* Writes the file's first bytes again, and nothing goes on behind them: a head that is known when
 * all else is written. */
void new_file_write_first(struct new_file *file, const void *bytes, uint64_t len);

/* Gives it up: the path has what it had. */
void new_file_drop(struct new_file *file);

/* Puts the file in its place where all went well, else removes it. SL_EIO. */
enum sl_status new_file_end(struct new_file *file, struct sl_diag *diag);

#endif
