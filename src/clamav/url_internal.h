/* SPDX-License-Identifier: MIT */
#ifndef CLAMAV_URL_INTERNAL_H
#define CLAMAV_URL_INTERNAL_H

/* A part of a text, which is changed in place. What it loses stays behind its last byte, where
 * ClamAV may look at it once more. */
struct url_part {
    char *at, *last;
};

/* Undoes "%41", again where that makes another "%". Escapes that end with the part stay. */
void url_unescape(struct url_part *part);

static inline char url_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

#endif
