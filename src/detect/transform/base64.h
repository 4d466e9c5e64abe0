/* SPDX-License-Identifier: MIT */
/* Base64 in the three readings that rules can ask for. */
#ifndef DETECT_BASE64_H
#define DETECT_BASE64_H

#include <stdint.h>

enum base64_mode {
    BASE64_RFC4648, /* ends at the first byte that is not of the alphabet */
    BASE64_RFC2045, /* passes such bytes over */
    BASE64_STRICT   /* all or nothing, with its padding */
};

/* Decodes len bytes to `out`, which has room for as many. Returns the number of bytes; 0: there are
 * none, or the text is damaged. */
uint32_t base64_decode(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out);

/* The same where `out` begins at the text or before. Where it returns 0, `out` is as it was. */
uint32_t base64_decode_over(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out);

#endif
