/* SPDX-License-Identifier: MIT */
/* Bytes that a parser puts together, in memory that is kept from use to use. Zeroed at first. */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct app_text {
    uint8_t *bytes;
    uint32_t len, max;
    bool no_memory; /* bytes are missing */
};

/* Bytes of another owner. */
struct app_span {
    const uint8_t *bytes;
    uint32_t len;
};

/* Room for len more bytes. NULL: there is no memory. */
static inline uint8_t *app_text_room(struct app_text *text, uint32_t len)
{
    const uint64_t need = (uint64_t)text->len + len;
    uint64_t max = text->max != 0 ? text->max : 256;

    while (max < need)
        max *= 2;
    if (max > text->max) {
        uint8_t *bytes = max <= UINT32_MAX ? realloc(text->bytes, max) : NULL;

        if (bytes == NULL) {
            text->no_memory = true;
            return NULL;
        }
        text->bytes = bytes;
        text->max = (uint32_t)max;
    }
    return text->bytes + text->len;
}

static inline void app_text_add(struct app_text *text, const void *bytes, uint32_t len)
{
    uint8_t *to = len != 0 ? app_text_room(text, len) : NULL;

    if (to == NULL)
        return;
    memcpy(to, bytes, len);
    text->len += len;
}

static inline void app_text_add_byte(struct app_text *text, uint8_t byte)
{
    app_text_add(text, &byte, 1);
}

/* Appends bytes and a NUL, or neither. */
static inline void app_text_add_ended(struct app_text *text, struct app_span span)
{
    uint8_t *to = app_text_room(text, span.len + 1);

    if (to == NULL)
        return;
    if (span.len != 0)
        memcpy(to, span.bytes, span.len);
    to[span.len] = '\0';
    text->len += span.len + 1;
}

static inline struct app_span app_text_span(const struct app_text *text)
{
    return (struct app_span){text->bytes, text->len};
}

/* The bytes appended since the text had `begin` bytes. */
static inline struct app_span app_text_since(const struct app_text *text, uint32_t begin)
{
    if (text->len == begin)
        return (struct app_span){0};
    return (struct app_span){text->bytes + begin, text->len - begin};
}

static inline void app_text_free(struct app_text *text)
{
    free(text->bytes);
    *text = (struct app_text){0};
}

/* Appends a text and a NUL, as far as all of them have at most `max` bytes. Bytes of NUL become
 * blanks. */
static inline void app_texts_add(struct app_text *texts, struct app_span span, uint32_t max)
{
    const uint32_t begin = texts->len;

    if (span.len >= max - begin)
        return;
    app_text_add_ended(texts, span);
    for (uint32_t i = begin; i + 1 < texts->len; i++)
        texts->bytes[i] = texts->bytes[i] == 0 ? ' ' : texts->bytes[i];
}

/* The next of texts that have a NUL behind each. *at is 0 at first. */
static inline bool app_texts_next(struct app_span *text, const struct app_text *texts, uint32_t *at)
{
    if (*at >= texts->len)
        return false;
    *text = (struct app_span){texts->bytes + *at, (uint32_t)strlen((char *)texts->bytes + *at)};
    *at += text->len + 1;
    return true;
}

#endif
