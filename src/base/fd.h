/* SPDX-License-Identifier: MIT */
/* Bytes of file descriptors. A descriptor may be shared with a program that made it non-blocking:
 * reading and writing wait there, too. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

/* Reads what is there, and waits for a byte at least. 0: the input ends; -1: errno. */
int64_t fd_read_some(int fd, void *bytes, size_t len);

/* Reads until `len` bytes are there or the input ends. -1: errno. */
int64_t fd_read(int fd, void *bytes, size_t len);

/* Reads a regular file from the byte `at` on until `len` bytes are there or the file ends. -1:
 * errno. */
int64_t fd_read_at(int fd, void *bytes, size_t len, uint64_t at);

/* Writes once. Returns the bytes that the system took, 0 where it has to be asked again, or -1:
 * errno. */
int64_t fd_write_some(int fd, const void *bytes, size_t len);

/* False: errno. */
bool fd_write(int fd, const void *bytes, size_t len);

/* SL_EIO: `what` failed, for the reason in errno. */
enum sl_status fd_failed(const char *what, struct sl_diag *diag);

#endif
