/* SPDX-License-Identifier: MIT */
/* Lines of a side, put together from pieces. A line ends with LF, or CR LF. */
#ifndef APP_APP_LINE_H
#define APP_APP_LINE_H

#include <strings.h>

#include "app_text.h"

struct app_line {
    struct app_text text; /* of the line so far, up to a bound */
    bool is_cut;          /* bytes of it are not kept */
    bool is_over;         /* the next byte begins a line */
};

/* Takes the bytes up to the end of a line. Returns how many; the line is whole where `is_over` is
 * set. Behind `max` bytes it is cut. */
static inline uint32_t app_line_take(struct app_line *line, const uint8_t *bytes, uint32_t len,
                                     uint32_t max)
{
    const uint8_t *end = memchr(bytes, '\n', len);
    const uint32_t taken = end != NULL ? (uint32_t)(end - bytes) + 1 : len;
    const uint32_t n = end != NULL ? taken - 1 : taken;

    if (line->is_over) {
        line->text.len = 0;
        line->is_cut = false;
    }
    const uint32_t room = max - line->text.len;

    app_text_add(&line->text, bytes, n < room ? n : room);
    line->is_cut |= n > room;
    line->is_over = end != NULL;
    if (line->is_over && !line->is_cut && line->text.len != 0)
        line->text.len -= line->text.bytes[line->text.len - 1] == '\r';
    return taken;
}

/* Bytes are missing: the line is cut. */
static inline void app_line_gap(struct app_line *line)
{
    if (line->is_over)
        line->text.len = 0;
    line->is_over = false;
    line->is_cut = true;
}

/* Whether the next byte begins a line. */
static inline bool app_line_begins(const struct app_line *line)
{
    return line->is_over || (line->text.len == 0 && !line->is_cut);
}

/* Of a span: without blanks around it. */
static inline struct app_span app_span_trim(struct app_span span)
{
    while (span.len != 0 && (span.bytes[0] == ' ' || span.bytes[0] == '\t')) {
        span.bytes++;
        span.len--;
    }
    while (span.len != 0 && (span.bytes[span.len - 1] == ' ' || span.bytes[span.len - 1] == '\t'))
        span.len--;
    return span;
}

/* Whether a span begins with a word, in any case. */
static inline bool app_span_begins(struct app_span span, const char *word)
{
    const size_t n = strlen(word);

    return span.len >= n && strncasecmp((const char *)span.bytes, word, n) == 0;
}

/* Cuts a span at the first such byte, which goes. False: it has none, and is the first part. */
static inline bool app_span_split(struct app_span *rest, uint8_t at, struct app_span *first)
{
    const uint8_t *found = rest->len != 0 ? memchr(rest->bytes, at, rest->len) : NULL;

    *first = *rest;
    if (found == NULL) {
        if (rest->len != 0) /* an empty span may have no bytes to count from */
            rest->bytes += rest->len;
        rest->len = 0;
        return false;
    }
    first->len = (uint32_t)(found - rest->bytes);
    rest->bytes += first->len + 1;
    rest->len -= first->len + 1;
    return true;
}

#endif
