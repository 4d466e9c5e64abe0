/* SPDX-License-Identifier: MIT */
/* Memory whose pages are taken as they are used, and those that the system gets back early. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros, aligned to 64 bytes; NULL: no memory. Large memory is a mapping of its own: the system
 * frees it at once, and a sanitizer need not mark pages that nobody used. */
void *pages_alloc(size_t len);

/* Accepts NULL. The length is that of pages_alloc. */
void pages_free(void *memory, size_t len);

/* Gives the whole pages of memory back. It is the process' own, and holds zeros then, or is a
 * mapping, and holds the file's bytes. Bytes on other pages stay. */
void pages_discard(const void *from, size_t len);

/* Copies bytes, and discards their pages meanwhile: the two together take little more than one. */
void pages_move(void *to, const void *from, size_t len);

#ifdef __cplusplus
}
#endif
#endif
