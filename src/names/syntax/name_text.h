/* SPDX-License-Identifier: MIT */
/* Text into a caller's array that may be too small, as snprintf counts it; and hexadecimal. */
#ifndef NAMES_NAME_TEXT_H
#define NAMES_NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "name_host_core.h"
#include "sluice/name_syntax.h"

struct text_out {
    char *text;
    size_t cap, len; /* len is what all of it takes, without the NUL */
};

static inline void text_put(struct text_out *out, const char *bytes, size_t len)
{
    if (out->len < out->cap && len != 0)
        memcpy(out->text + out->len, bytes, len <= out->cap - out->len ? len : out->cap - out->len);
    out->len += len;
}

static inline void text_put_hex(struct text_out *out, uint8_t byte, const char digits[16])
{
    const char pair[2] = {digits[byte >> 4], digits[byte & 15]};

    text_put(out, pair, sizeof pair);
}

static inline void text_put_escaped(struct text_out *out, uint8_t byte)
{
    if (name_is_unreserved(byte)) {
        text_put(out, (const char *)&byte, 1);
    } else {
        text_put(out, "%", 1);
        text_put_hex(out, byte, "0123456789ABCDEF");
    }
}

/* Writers of one syntax each; name_write_host is also what URLs begin with. */
void name_write_ndn(struct text_out *out, const struct sl_name *name);
void name_write_host(struct text_out *out, const struct sl_name *name);

/* How many bytes of the text, which was read as the name, are its first prefix_len bytes as they
 * are written. 0: that is not known. */
size_t name_ndn_prefix_text(const struct sl_name *name, uint32_t prefix_len, const char *text,
                            size_t text_len);

#endif
