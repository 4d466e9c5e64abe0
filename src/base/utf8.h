/* SPDX-License-Identifier: MIT */
/* Text of unknown encoding becomes UTF-8 in one way everywhere. Well-formed sequences stay, and
 * each other byte becomes the four characters \xNN. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UTF8_ESCAPE_LEN = 4,
    UTF8_MAX = 4 /* bytes of a character */
};

/* Bytes of the well-formed UTF-8 sequence (RFC 3629, section 4) at text, 0 where there is none. */
size_t utf8_len(const uint8_t *text, const uint8_t *end);

/* Whether the sequence at text, which is well-formed, is a control that terminals obey: C0, DEL, or
 * C1 (U+0080 to U+009F, C2 80 to C2 9F). */
bool utf8_is_control(const uint8_t *text);

/* Writes \xNN. */
void utf8_escape(char out[UTF8_ESCAPE_LEN], uint8_t byte);

/* Writes a character of at most 21 bits. Returns the number of its bytes. */
size_t utf8_put(uint32_t c, char to[UTF8_MAX]);

#endif
