/* SPDX-License-Identifier: MIT */
/* Where bytes occur in others. */
#ifndef DETECT_CONTENT_FIND_H
#define DETECT_CONTENT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sought content: len bytes, lower case where case does not count. Longer ones than this are
 * not for content_find: each place would cost more than a place of memmem. */
enum { CONTENT_FIND_MAX = 32 };

struct content_sought {
    const uint8_t *bytes;
    uint32_t len; /* from 1 on; of content_find to CONTENT_FIND_MAX */
    bool nocase;
};

/* Whether it begins at this place, which has len bytes. */
bool content_is_at(const struct content_sought *sought, const uint8_t *text);

/* The first place in n bytes, or NULL. */
const uint8_t *content_find(const struct content_sought *sought, const uint8_t *text, size_t n);

#endif
