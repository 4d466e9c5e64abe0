/* SPDX-License-Identifier: MIT */
/* The head of a message of HTTP/1: its first line and its header fields. Lines are read as libhtp
 * reads them with Suricata's settings, as rules are written for that. */
#ifndef APP_HTTP_HEAD_H
#define APP_HTTP_HEAD_H

#include "app_text.h"

enum {
    HTTP_HEAD_MAX = 65535,  /* bytes of a head */
    HTTP_FIELD_MAX = 18000, /* of a line, behind which it is an event */
    HTTP_FIELDS_MAX = 1024  /* later ones are passed over, and counted */
};

/* The names of fields that are asked for, from short to long: who looks one up stops at a longer.
 */
enum http_name {
    HTTP_NO_NAME, /* any other */
    HTTP_HOST,
    HTTP_ACCEPT,
    HTTP_COOKIE,
    HTTP_EXPECT,
    HTTP_SERVER,
    HTTP_REFERER,
    HTTP_LOCATION,
    HTTP_CONNECTION,
    HTTP_SET_COOKIE,
    HTTP_USER_AGENT,
    HTTP_CONTENT_TYPE,
    HTTP_AUTHORIZATION,
    HTTP_CONTENT_LENGTH,
    HTTP_ACCEPT_ENCODING,
    HTTP_ACCEPT_LANGUAGE,
    HTTP_CONTENT_ENCODING,
    HTTP_TRANSFER_ENCODING,
    HTTP_CONTENT_DISPOSITION,
    HTTP_N_NAMES
};

/* Bytes of the head. */
struct http_part {
    uint16_t at, len;
};

struct http_field {
    struct http_part name, value; /* without blanks around; value: with its folds */
    uint16_t hash;                /* of the name without NULs, the same in any case */
    uint8_t known;                /* enum http_name */
    bool has_colon;               /* else it has no name */
    bool folded;                  /* the value goes over several lines */
    bool repeats;                 /* a field before has this name */
    bool repeated;                /* the first of several */
};

struct http_head {
    uint8_t *bytes; /* with the empty line */
    struct http_field *field;
    uint16_t len, n_fields;
    uint16_t n_left_out;       /* fields behind HTTP_FIELDS_MAX */
    uint16_t fields_at;        /* behind the first line */
    bool cr_ends;              /* a response: a CR ends a line, as a LF does */
    bool is_plain;             /* fields of different names are "name: value" each, CR LF ends all
                                  lines, and the empty one is the last */
    struct http_part line;     /* the first, without its end */
    struct http_part first[3]; /* method, URI, protocol; or protocol, status, reason */
};

/* Reads a whole head, and takes over its bytes. At most HTTP_HEAD_MAX. False: there is no memory,
 * and the bytes are freed. */
bool http_head_read(struct http_head *head, uint8_t *bytes, uint32_t len, bool is_request);

void http_head_free(struct http_head *head);

/* Whether a line is a request's that says nothing behind its URI: no fields follow (HTTP/0.9). */
bool http_line_is_brief(const uint8_t *line, uint32_t len);

/* Whether a line can begin a response. Others are the body of a response without head. */
bool http_line_is_status(const uint8_t *line, uint32_t len);

/* The first field of this name. NULL: there is none. */
const struct http_field *http_field_find(const struct http_head *head, enum http_name name);

/* A field's value, joined with those of fields that repeat it, and unfolded. A value that has to be
 * put together is appended to `text`, and its span is valid until `text` changes. */
struct app_span http_field_value(const struct http_head *head, const struct http_field *field,
                                 struct app_text *text);

static inline struct app_span http_head_span(const struct http_head *head, struct http_part part)
{
    return (struct app_span){head->bytes + part.at, part.len};
}

/* Whether a span is a word, in any case. The word is in lower case. NULs of the span do not count,
 * here and below, as libhtp has it. */
bool http_span_is(struct app_span span, const char *word);

/* Whether a word occurs in a span, in any case. The word is in lower case. */
bool http_span_has(struct app_span span, const char *word);

/* The first run of decimal digits. False: there is none, or it is too large. */
bool http_span_number(struct app_span span, uint64_t *number);

/* Whether a span has digits alone. */
bool http_span_is_number(struct app_span span);

static inline bool http_is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static inline struct app_span http_trim(struct app_span span)
{
    while (span.len != 0 && http_is_blank(span.bytes[0])) {
        span.bytes++;
        span.len--;
    }
    while (span.len != 0 && http_is_blank(span.bytes[span.len - 1]))
        span.len--;
    return span;
}

#endif
