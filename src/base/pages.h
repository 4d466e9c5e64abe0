/* SPDX-License-Identifier: MIT */
/* Memory whose bytes are needed no more: the system gets its pages back before it is freed. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the whole pages of memory back. It is the process' own, and holds zeros then, or is a
 * mapping, and holds the file's bytes. Bytes on other pages stay. */
void pages_discard(const void *from, size_t len);

/* Copies bytes, and discards their pages meanwhile: the two together take little more than one. */
void pages_move(void *to, const void *from, size_t len);

#ifdef __cplusplus
}
#endif
#endif
