/* SPDX-License-Identifier: MIT */
/* A boundary is found by the automaton of Knuth, Morris and Pratt (1977), so that a piece may end
 * in it: the bytes that it held back are its own first ones. */
#include "multipart.h"

#include "base/least.h"
#include "http_head.h"

enum { DELIMITER_MAX = MULTIPART_BOUNDARY_MAX + 4 };

enum multipart_state {
    IN_PREAMBLE, /* before the first boundary */
    IN_PART,
    BEHIND_BOUNDARY, /* up to the end of its line; "--" ends the body */
    IN_HEAD,
    IN_EPILOGUE
};

struct multipart {
    uint8_t delimiter[DELIMITER_MAX]; /* CR LF "--" and the boundary */
    uint8_t border[DELIMITER_MAX];    /* of each prefix: bytes of the longest that also ends it */
    uint32_t delimiter_len;
    uint32_t matched; /* bytes of the delimiter that came last */
    uint32_t before;  /* of them, those that came before the part */
    uint8_t state;
    uint8_t behind;       /* bytes behind a boundary: 1: '-', 2: CR */
    bool in_line;         /* the head's last line is not empty so far */
    struct app_text head; /* of the part */
};

/* ---- parameters of fields -------------------------------------------------------------------- */

static struct app_span rest_of(struct app_span span, uint32_t at)
{
    return (struct app_span){span.bytes + at, span.len - at};
}

static uint32_t find_byte(struct app_span span, uint8_t byte)
{
    const uint8_t *at = span.len != 0 ? memchr(span.bytes, byte, span.len) : NULL;

    return at != NULL ? (uint32_t)(at - span.bytes) : span.len;
}

/* Where the parameter ends: at a semicolon outside quotes. */
static uint32_t parameter_len(struct app_span span)
{
    bool quoted = false;
    uint32_t n = 0;

    for (; n < span.len && (quoted || span.bytes[n] != ';'); n++)
        if (quoted && span.bytes[n] == '\\' && n + 1 < span.len)
            n++;
        else if (span.bytes[n] == '"')
            quoted = !quoted;
    return n;
}

static struct app_span unquoted(struct app_span value)
{
    if (value.len == 0 || value.bytes[0] != '"')
        return value;
    value = rest_of(value, 1);
    if (value.len != 0 && value.bytes[value.len - 1] == '"')
        value.len--;
    return value;
}

struct app_span multipart_parameter(struct app_span field, const char *name)
{
    uint32_t at = parameter_len(field);

    while (at < field.len) {
        const struct app_span left = rest_of(field, at + 1);
        const struct app_span one = {left.bytes, parameter_len(left)};
        const uint32_t equals = find_byte(one, '=');

        if (equals < one.len && http_span_is(http_trim((struct app_span){one.bytes, equals}), name))
            return unquoted(http_trim(rest_of(one, equals + 1)));
        at += 1 + one.len;
    }
    return (struct app_span){0};
}

/* ---- opening --------------------------------------------------------------------------------- */

static void make_borders(struct multipart *multipart)
{
    uint32_t border = 0;

    for (uint32_t i = 1; i < multipart->delimiter_len; i++) {
        while (border != 0 && multipart->delimiter[i] != multipart->delimiter[border])
            border = multipart->border[border - 1];
        border += multipart->delimiter[i] == multipart->delimiter[border];
        multipart->border[i] = (uint8_t)border;
    }
}

struct multipart *multipart_open(struct app_span content_type, bool *none)
{
    static const char type[] = "multipart/form-data";
    const struct app_span boundary = multipart_parameter(content_type, "boundary");
    const uint32_t type_len = parameter_len(content_type);

    *none = boundary.len == 0 || boundary.len > MULTIPART_BOUNDARY_MAX ||
            !http_span_is(http_trim((struct app_span){content_type.bytes, type_len}), type);
    struct multipart *multipart = *none ? NULL : calloc(1, sizeof *multipart);
    if (multipart == NULL)
        return NULL;
    memcpy(multipart->delimiter, "\r\n--", 4);
    memcpy(multipart->delimiter + 4, boundary.bytes, boundary.len);
    multipart->delimiter_len = 4 + boundary.len;
    make_borders(multipart);
    multipart->matched = multipart->before = 2; /* the first boundary may begin the body */
    return multipart;
}

void multipart_close(struct multipart *multipart)
{
    if (multipart == NULL)
        return;
    app_text_free(&multipart->head);
    free(multipart);
}

uint64_t multipart_held(const struct multipart *multipart)
{
    return sizeof *multipart + multipart->head.max;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Reports bytes of the part that is open. */
static void report(const struct multipart *multipart, const struct multipart_listener *listener,
                   const uint8_t *bytes, uint32_t len)
{
    if (multipart->state == IN_PART && len != 0)
        listener->give(listener->to, bytes, len);
}

/* Those of `held` bytes that the automaton no longer holds back. */
static void release(struct multipart *multipart, const struct multipart_listener *listener,
                    uint32_t held)
{
    const uint32_t n = held - multipart->matched;
    const uint32_t skipped = least(n, multipart->before);

    multipart->before -= skipped;
    report(multipart, listener, multipart->delimiter + skipped, n - skipped);
}

static void find_border(struct multipart *multipart, uint8_t byte)
{
    while (multipart->matched != 0 && multipart->delimiter[multipart->matched] != byte)
        multipart->matched = multipart->border[multipart->matched - 1];
}

/* Reads up to behind a boundary. Returns how many bytes it took. */
static uint32_t take_part(struct multipart *multipart, const uint8_t *bytes, uint32_t len,
                          const struct multipart_listener *listener)
{
    uint32_t at = 0;

    while (at < len) {
        if (multipart->matched == 0) { /* no byte is held back */
            const uint32_t n = find_byte((struct app_span){bytes + at, len - at}, '\r');

            report(multipart, listener, bytes + at, n);
            at += n;
            if (at == len)
                break;
        }
        const uint32_t held = multipart->matched;

        find_border(multipart, bytes[at]);
        release(multipart, listener, held);
        if (multipart->delimiter[multipart->matched] != bytes[at])
            continue; /* now no byte is held back */
        at++;
        if (++multipart->matched < multipart->delimiter_len)
            continue;
        if (multipart->state == IN_PART)
            listener->end(listener->to);
        multipart->state = BEHIND_BOUNDARY;
        multipart->behind = 0;
        multipart->matched = 0;
        return at;
    }
    return len;
}

/* The rest of a boundary's line: "--" ends the body, and an end of line begins a part. */
static uint32_t take_behind(struct multipart *multipart, uint8_t byte)
{
    if (byte == '-' && multipart->behind <= 1) {
        multipart->state = multipart->behind == 1 ? IN_EPILOGUE : BEHIND_BOUNDARY;
        multipart->behind = 1;
        return 1;
    }
    multipart->behind = 2;
    if (byte == '\n') {
        multipart->state = IN_HEAD;
        multipart->head.len = 0;
        multipart->in_line = false;
    }
    return 1;
}

/* ---- heads of parts -------------------------------------------------------------------------- */

/* The value of Content-Disposition among the lines of a head. */
static struct app_span disposition_of(struct app_span head)
{
    while (head.len != 0) {
        const uint32_t n = find_byte(head, '\n');
        const struct app_span line = {head.bytes, n};
        const uint32_t colon = find_byte(line, ':');

        if (colon < n &&
            http_span_is(http_trim((struct app_span){line.bytes, colon}), "content-disposition"))
            return http_trim(rest_of(line, colon + 1));
        head = rest_of(head, n < head.len ? n + 1 : n);
    }
    return (struct app_span){0};
}

/* A head ends with an empty line. Bytes behind the first MULTIPART_HEAD_MAX are passed over. */
static uint32_t take_head(struct multipart *multipart, const uint8_t *bytes, uint32_t len,
                          const struct multipart_listener *listener)
{
    const uint32_t n = find_byte((struct app_span){bytes, len}, '\n');
    const bool is_whole = n < len;
    const uint32_t room = MULTIPART_HEAD_MAX - multipart->head.len;

    app_text_add(&multipart->head, bytes, least(n + is_whole, room));
    for (uint32_t i = 0; i < n && !multipart->in_line; i++)
        multipart->in_line = bytes[i] != '\r';
    if (!is_whole)
        return n;
    if (!multipart->in_line) {
        const struct app_span disposition = disposition_of(app_text_span(&multipart->head));

        multipart->state = IN_PART;
        multipart->matched = multipart->before = 2; /* an empty part ends with the head's end */
        listener->begin(listener->to, multipart_parameter(disposition, "filename"));
        app_text_free(&multipart->head);
    }
    multipart->in_line = false;
    return n + 1;
}

bool multipart_give(struct multipart *multipart, const uint8_t *bytes, uint32_t len,
                    const struct multipart_listener *listener)
{
    for (uint32_t at = 0; at < len && multipart->state != IN_EPILOGUE;) {
        if (multipart->state == BEHIND_BOUNDARY)
            at += take_behind(multipart, bytes[at]);
        else if (multipart->state == IN_HEAD)
            at += take_head(multipart, bytes + at, len - at, listener);
        else
            at += take_part(multipart, bytes + at, len - at, listener);
    }
    return !multipart->head.no_memory;
}

void multipart_gap(struct multipart *multipart, const struct multipart_listener *listener)
{
    const uint32_t held = multipart->matched;

    multipart->matched = 0;
    if (multipart->state == IN_PART)
        release(multipart, listener, held);
    else if (multipart->state != IN_EPILOGUE)
        multipart->state = IN_PREAMBLE;
}
