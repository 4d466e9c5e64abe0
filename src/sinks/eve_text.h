/* SPDX-License-Identifier: MIT */
/* JSON strings of EVE: a line is UTF-8 whatever its texts hold (base/utf8.h). */
#ifndef SINKS_EVE_TEXT_H
#define SINKS_EVE_TEXT_H

#include <stdbool.h>

#include "line_sink.h"

/* Whether the byte stands for itself in a JSON string. */
static inline bool eve_is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

/* Whether all bytes do. */
bool eve_are_plain(const void *text, size_t len);

/* The inside of a string. */
void eve_put_characters(struct line_sink *out, const void *text, size_t len);

/* A string with its quotes. */
void eve_put_string(struct line_sink *out, const void *text, size_t len);

#endif
