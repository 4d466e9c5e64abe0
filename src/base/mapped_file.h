/* SPDX-License-Identifier: MIT */
/* Private mappings of files, each known to sl_mapped_file by its path. */
#ifndef BASE_MAPPED_FILE_H
#define BASE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/mapped.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the first `len` bytes of an open file, at least one. `writable`: writes change this process'
 * copy alone. `path` is copied. NULL: errno has the reason. */
void *mapped_file_map(int fd, size_t len, bool writable, const char *path);

/* Ends a mapping. False: the memory is none. */
bool mapped_file_unmap(void *memory);

/* Discards whole pages of a mapping from this process' memory. A later read brings them back. It
 * does nothing where `from` lies in no mapping of this kind. The mapping was not written to. */
void mapped_file_discard(const void *from, size_t len);

#ifdef __cplusplus
}
#endif
#endif
