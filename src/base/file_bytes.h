/* SPDX-License-Identifier: MIT */
/* All bytes of a compiled file.
 *
 * Bytes in memory stay as they were checked. Bytes of a mapped file change where the file is
 * written to in place, and reading them raises SIGBUS where it was cut. So files are read up to a
 * length, and mapped above it alone. */
#ifndef BASE_FILE_BYTES_H
#define BASE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FILE_BYTES_READ_MAX ((size_t)256 << 20) /* of most files */

struct file_bytes {
    void *at; /* at a page; NULL where the file is empty */
    size_t len;
    size_t room; /* bytes of the memory; 0: the file is mapped */
};

/* Reads a regular file of at most `read_max` bytes, and maps a longer one. `writable`: writes
 * change this process' copy alone. SL_EIO: the system refused, the file shrank meanwhile, or the
 * path is no regular file. SL_ENOMEM. */
enum sl_status file_bytes_open(struct file_bytes *bytes, const char *path, size_t read_max,
                               bool writable, struct sl_diag *diag);

/* Accepts zeros. */
void file_bytes_close(struct file_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
