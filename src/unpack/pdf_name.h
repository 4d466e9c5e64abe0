/* SPDX-License-Identifier: MIT */
/* Names, numbers and texts of PDF. */
#ifndef UNPACK_PDF_NAME_H
#define UNPACK_PDF_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unpack/unpack_buffer.h"

/* The place of a text, or NULL. */
const uint8_t *pdf_find(const uint8_t *at, const uint8_t *end, const char *text);

const uint8_t *pdf_skip_blanks(const uint8_t *at, const uint8_t *end);

/* The value behind a key of a dictionary ("Length"), some of whose letters may be written as "#4C".
 * NULL: it has none. */
const uint8_t *pdf_find_key(const uint8_t *at, const uint8_t *end, const char *key);

/* The bytes of a name in the file, behind its "/". */
size_t pdf_name_len(const uint8_t *at, const uint8_t *end);

/* Whether a name in the file is this one. */
bool pdf_is_name(const uint8_t *at, size_t len, const char *name);

/* A number, up to one that no object has; without one it is `otherwise`. Accepts NULL. */
int64_t pdf_number(const uint8_t *at, const uint8_t *end, int64_t otherwise);

/* The number and the generation before an "obj" at `mark`. False: it is no object. */
bool pdf_object_number(const uint8_t *begin, const uint8_t *mark, uint32_t *number,
                       uint32_t *generation);

/* A text in parentheses, which may nest, or in hexadecimal digits. Returns the place behind it. */
const uint8_t *pdf_text(const uint8_t *at, const uint8_t *end, struct unpack_buffer *buffer);

#endif
