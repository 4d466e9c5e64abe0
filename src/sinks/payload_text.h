/* SPDX-License-Identifier: MIT */
/* Payloads as text. They are most of an alert's bytes, so blocks of them go through vectors. Only a
 * block that holds a line's end, a quote or a backslash takes a branch. */
#ifndef SINKS_PAYLOAD_TEXT_H
#define SINKS_PAYLOAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that may be written for a payload of len bytes, by either. */
static inline size_t payload_text_room(uint32_t len)
{
    return 2 * (size_t)len + 32;
}

/* Both write the text of a payload, without a NUL, and return its length.
 *
 * Base64 of RFC 4648, section 4. */
size_t payload_base64(char *out, const uint8_t *bytes, uint32_t len);

/* The inside of a JSON string: printable ASCII, line feeds and carriage returns; all other bytes as
 * '.'. */
size_t payload_printable(char *out, const uint8_t *bytes, uint32_t len);

#endif
