/* SPDX-License-Identifier: MIT */
/* A whole file in memory, read ahead before it is needed. As long as it is mapped the file may be
 * replaced or removed, not written to. */
#ifndef BASE_MAPPED_FILE_H
#define BASE_MAPPED_FILE_H

#include <stddef.h>

#include "sluice/status.h"

/* NULL in *memory, and SL_OK: the file has fewer than `least` bytes, nothing is mapped, and *len
 * says how many. Otherwise munmap ends it. SL_EIO: the system refused, or it is no regular file. */
enum sl_status mapped_file_open(void **memory, size_t *len, const char *path, size_t least,
                                struct sl_diag *diag);

/* Whole pages of a mapped file that nobody has written to no longer count as this process' memory
 * until they are read again. */
void mapped_file_let_go(const void *from, size_t len);

#endif
