/* SPDX-License-Identifier: MIT */
#include "http_head.h"

#include <strings.h>

#include "base/letters.h"

enum { REPETITIONS_MAX = 64 }; /* of all fields of a head that are joined; libhtp has the same */

/* Whether bytes begin with a word, in any case, and NULs within it. *at: where it was behind. */
static bool begins(struct app_span span, const char *word, uint32_t *at)
{
    for (*at = 0; *at < span.len && *word != '\0'; ++*at) {
        if (span.bytes[*at] == '\0')
            continue;
        if (letter_lower(span.bytes[*at]) != (uint8_t)*word++)
            return false;
    }
    return *word == '\0';
}

bool http_span_is(struct app_span span, const char *word)
{
    uint32_t at;

    if (!begins(span, word, &at))
        return false;
    while (at < span.len && span.bytes[at] == '\0')
        at++;
    return at == span.len;
}

bool http_span_has(struct app_span span, const char *word)
{
    uint32_t behind;

    for (uint32_t at = 0; at < span.len; at++) /* from a NUL the same begins as behind it */
        if (span.bytes[at] != '\0' &&
            begins((struct app_span){span.bytes + at, span.len - at}, word, &behind))
            return true;
    return false;
}

bool http_span_number(struct app_span span, uint64_t *number)
{
    uint32_t at = 0;

    while (at < span.len && (span.bytes[at] < '0' || span.bytes[at] > '9'))
        at++;
    const uint32_t begin = at;
    for (*number = 0; at < span.len && span.bytes[at] >= '0' && span.bytes[at] <= '9'; at++)
        if (__builtin_mul_overflow(*number, UINT64_C(10), number) ||
            __builtin_add_overflow(*number, (uint64_t)(span.bytes[at] - '0'), number))
            return false;
    return at != begin;
}

bool http_span_is_number(struct app_span span)
{
    while (span.len != 0 && span.bytes[span.len - 1] >= '0' && span.bytes[span.len - 1] <= '9')
        span.len--;
    return span.len == 0;
}

/* ---- the first line -------------------------------------------------------------------------- */

static struct http_part part_of(const struct http_head *head, struct app_span span)
{
    return (struct http_part){(uint16_t)(span.bytes - head->bytes), (uint16_t)span.len};
}

/* Cuts the first word off a span. */
static struct app_span cut_word(struct app_span *span)
{
    struct app_span word = {span->bytes, 0};

    while (word.len < span->len && !http_is_blank(word.bytes[word.len]))
        word.len++;
    span->bytes += word.len;
    span->len -= word.len;
    *span = http_trim(*span);
    return word;
}

/* Cuts what is behind the last blank that `is` accepts off a span: a URI may have blanks. */
static struct app_span cut_protocol(struct app_span *span, bool any_blank)
{
    for (uint32_t at = span->len; at-- != 0;) {
        if (span->bytes[at] != ' ' && !(any_blank && http_is_blank(span->bytes[at])))
            continue;
        const struct app_span protocol = {span->bytes + at + 1, span->len - at - 1};
        span->len = at;
        *span = http_trim(*span);
        return protocol;
    }
    return (struct app_span){span->bytes + span->len, 0};
}

/* The method, the URI and the protocol of a request line. */
static void cut_request(struct app_span line, struct app_span part[3])
{
    line = http_trim(line);
    part[0] = cut_word(&line);
    part[2] = cut_protocol(&line, false);
    if (part[2].len == 0)
        part[2] = cut_protocol(&line, true);
    part[1] = line;
}

/* A URI that ends as a protocol does lacks a blank, or is missing. */
bool http_line_is_brief(const uint8_t *line, uint32_t len)
{
    static const char protocol[] = "http/1.";
    const uint32_t protocol_len = sizeof protocol; /* with a digit */
    struct app_span part[3];

    cut_request((struct app_span){line, len}, part);
    if (part[2].len != 0)
        return false;
    if (part[1].len < protocol_len)
        return true;
    part[1].bytes += part[1].len - protocol_len;
    part[1].len = protocol_len;
    return !http_span_has(part[1], protocol);
}

bool http_line_is_status(const uint8_t *line, uint32_t len)
{
    while (len != 0 && (http_is_blank(*line) || *line == '\0')) {
        line++;
        len--;
    }
    return len >= 4 && strncasecmp((const char *)line, "http", 4) == 0;
}

/* The protocol, the status and the reason, which keeps blanks at its end. */
static void cut_status(struct app_span line, struct app_span part[3])
{
    while (line.len != 0 && (http_is_blank(*line.bytes) || *line.bytes == '\0')) {
        line.bytes++;
        line.len--;
    }
    const uint8_t *const end = line.bytes + line.len;

    part[0] = cut_word(&line);
    part[1] = cut_word(&line);
    while (line.bytes < end && http_is_blank(*line.bytes))
        line.bytes++;
    part[2] = (struct app_span){line.bytes, (uint32_t)(end - line.bytes)};
}

static void read_first_line(struct http_head *head, struct app_span line, bool is_request)
{
    struct app_span part[3];

    if (is_request) {
        cut_request(line, part);
    } else {
        cut_status(line, part);
    }
    for (int i = 0; i < 3; i++)
        head->first[i] = part_of(head, part[i]);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The line at *at, without its end. *at moves behind it. In responses CRs end a line, too. */
static struct app_span next_line(struct app_span text, bool cr_ends, uint32_t *at)
{
    const uint8_t *const begin = text.bytes + *at, *const over = text.bytes + text.len;
    const uint8_t *const lf = memchr(begin, '\n', (size_t)(over - begin));
    const uint8_t *end = lf != NULL ? lf : over, *next = lf != NULL ? lf + 1 : over;
    const uint8_t *const cr = cr_ends ? memchr(begin, '\r', (size_t)(end - begin)) : NULL;

    if (cr != NULL) {
        const uint8_t *behind = cr;

        while (behind < end && *behind == '\r')
            behind++;
        next = behind < end ? behind : next;
        end = cr;
    } else if (end != begin && end[-1] == '\r') {
        end--;
    }
    *at = (uint32_t)(next - text.bytes);
    return (struct app_span){begin, (uint32_t)(end - begin)};
}

static bool ends_line(const struct http_head *head, uint32_t at)
{
    return head->len - at >= 2 && head->bytes[at] == '\r' && head->bytes[at + 1] == '\n';
}

static struct app_span next_line_of(const struct http_head *head, uint32_t *at)
{
    return next_line((struct app_span){head->bytes, head->len}, head->cr_ends, at);
}

/* The name that is asked for, if it is one. Its NULs do not count, as libhtp has it: `len` is that
 * of the other bytes. */
static enum http_name known_of(struct app_span name, uint32_t len)
{
    static const struct {
        const char *text;
        uint32_t len;
    } names[HTTP_N_NAMES] = {
#define NAME(id, text) [id] = {text, sizeof(text) - 1}
        NAME(HTTP_HOST, "host"),
        NAME(HTTP_ACCEPT, "accept"),
        NAME(HTTP_COOKIE, "cookie"),
        NAME(HTTP_EXPECT, "expect"),
        NAME(HTTP_SERVER, "server"),
        NAME(HTTP_REFERER, "referer"),
        NAME(HTTP_LOCATION, "location"),
        NAME(HTTP_CONNECTION, "connection"),
        NAME(HTTP_SET_COOKIE, "set-cookie"),
        NAME(HTTP_USER_AGENT, "user-agent"),
        NAME(HTTP_CONTENT_TYPE, "content-type"),
        NAME(HTTP_AUTHORIZATION, "authorization"),
        NAME(HTTP_CONTENT_LENGTH, "content-length"),
        NAME(HTTP_ACCEPT_ENCODING, "accept-encoding"),
        NAME(HTTP_ACCEPT_LANGUAGE, "accept-language"),
        NAME(HTTP_CONTENT_ENCODING, "content-encoding"),
        NAME(HTTP_TRANSFER_ENCODING, "transfer-encoding"),
        NAME(HTTP_CONTENT_DISPOSITION, "content-disposition"),
#undef NAME
    };

    for (int id = HTTP_NO_NAME + 1; id < HTTP_N_NAMES && names[id].len <= len; id++)
        if (names[id].len == len && http_span_is(name, names[id].text))
            return (enum http_name)id;
    return HTTP_NO_NAME;
}

/* What a field is called. */
static void read_name(struct http_field *field, struct app_span name)
{
    uint32_t hash = 0, len = 0;

    for (uint32_t i = 0; i < name.len; i++) {
        if (name.bytes[i] == '\0')
            continue;
        hash = (hash ^ (name.bytes[i] | 0x20)) * UINT32_C(0x01000193);
        len++;
    }
    field->hash = (uint16_t)(hash >> 16);
    field->known = (uint8_t)known_of(name, len);
}

/* A line without a colon is a value without a name. */
static void read_field(struct http_head *head, struct http_field *field, struct app_span line)
{
    const uint8_t *colon = memchr(line.bytes, ':', line.len);
    const uint32_t name_len = colon != NULL ? (uint32_t)(colon - line.bytes) : 0;
    const uint32_t skipped = colon != NULL ? name_len + 1 : 0;

    *field = (struct http_field){
        .has_colon = colon != NULL,
        .name = part_of(head, http_trim((struct app_span){line.bytes, name_len})),
        .value =
            part_of(head, http_trim((struct app_span){line.bytes + skipped, line.len - skipped}))};
    read_name(field, http_head_span(head, field->name));
}

/* The field goes on in this line. Its colon may be here: then the part so far is its name. */
static void extend_field(struct http_head *head, struct http_field *field, struct app_span line)
{
    const uint8_t *begin = head->bytes + field->value.at;

    if (!field->has_colon && memchr(line.bytes, ':', line.len) != NULL) {
        read_field(head, field,
                   (struct app_span){begin, (uint32_t)(line.bytes + line.len - begin)});
        return;
    }
    line = http_trim(line);
    if (line.len == 0)
        return;
    if (field->value.len == 0)
        begin = line.bytes;
    field->folded |= begin != line.bytes;
    field->value =
        part_of(head, (struct app_span){begin, (uint32_t)(line.bytes + line.len - begin)});
}

/* In any case. Of fields that repeat, NULs are in the same places. */
static bool same_name(const struct http_head *head, const struct http_field *a,
                      const struct http_field *b)
{
    bool same = a->hash == b->hash && a->name.len == b->name.len;

    for (uint32_t i = 0; i < a->name.len && same; i++)
        same =
            letter_lower(head->bytes[a->name.at + i]) == letter_lower(head->bytes[b->name.at + i]);
    return same;
}

static void find_repeated(struct http_head *head)
{
    for (uint32_t i = 1; head->field != NULL && i < head->n_fields; i++)
        for (uint32_t before = 0; before < i; before++)
            if (!head->field[before].repeats &&
                same_name(head, &head->field[before], &head->field[i])) {
                head->field[before].repeated = true;
                head->field[i].repeats = true;
                break;
            }
}

/* Lines that may begin a field. */
static uint32_t count_lines(const struct http_head *head)
{
    uint32_t n = 0;

    for (uint32_t at = head->fields_at; at < head->len; n++)
        (void)next_line_of(head, &at);
    return n;
}

/* Whether a line goes on with the field before it. In a response of HTTP/1.1 one with a colon of
 * its own is a field, as libhtp has it. */
static bool is_fold(const struct http_head *head, const struct http_field *before,
                    struct app_span line)
{
    if (before == NULL || (*line.bytes != ' ' && *line.bytes != '\t' && *line.bytes != '\0'))
        return false;
    return !head->cr_ends || !before->has_colon || memchr(line.bytes, ':', line.len) == NULL ||
           !http_span_is(http_head_span(head, head->first[0]), "http/1.1");
}

/* Whether the text from `at` on is what a plain head's field is, without its value. */
static bool is_plain_field(const struct http_head *head, const struct http_field *field,
                           uint32_t at)
{
    const uint32_t colon = (uint32_t)field->name.at + field->name.len;
    const uint32_t end = (uint32_t)field->value.at + field->value.len;

    return !field->repeated && !field->repeats && !field->folded && field->has_colon &&
           field->name.at == at && field->value.at == colon + 2 && head->bytes[colon + 1] == ' ' &&
           ends_line(head, end);
}

/* Whether the lines are plain, one behind another. */
static bool is_plain(const struct http_head *head)
{
    uint32_t at = head->fields_at;

    if (head->line.at != 0 || at != head->line.len + 2u || !ends_line(head, head->line.len))
        return false;
    for (uint32_t i = 0; i < head->n_fields; i++) {
        const struct http_field *field = &head->field[i];

        if (!is_plain_field(head, field, at))
            return false;
        at = (uint32_t)field->value.at + field->value.len + 2;
    }
    return at + 2 == head->len && ends_line(head, at);
}

static bool read_fields(struct http_head *head)
{
    const uint32_t n = count_lines(head);
    const uint32_t max = n < HTTP_FIELDS_MAX ? n : HTTP_FIELDS_MAX;
    struct http_field *last = NULL;

    head->field = max != 0 ? calloc(max, sizeof *head->field) : NULL;
    if (max != 0 && head->field == NULL)
        return false;
    for (uint32_t at = head->fields_at; at < head->len;) {
        const struct app_span line = next_line_of(head, &at);

        if (line.len == 0)
            continue;
        if (is_fold(head, last, line)) {
            extend_field(head, last, line);
        } else if (head->n_fields < max) {
            last = &head->field[head->n_fields++];
            read_field(head, last, line);
        } else {
            head->n_left_out++;
        }
    }
    find_repeated(head);
    head->is_plain = is_plain(head);
    return true;
}

bool http_head_read(struct http_head *head, uint8_t *bytes, uint32_t len, bool is_request)
{
    uint32_t at = 0;

    *head = (struct http_head){.bytes = bytes, .len = (uint16_t)len, .cr_ends = !is_request};
    const struct app_span line = next_line_of(head, &at);

    head->line = part_of(head, line);
    head->fields_at = (uint16_t)at;
    read_first_line(head, line, is_request);
    if (read_fields(head))
        return true;
    http_head_free(head);
    return false;
}

void http_head_free(struct http_head *head)
{
    free(head->bytes);
    free(head->field);
    *head = (struct http_head){0};
}

/* ---- values ---------------------------------------------------------------------------------- */

const struct http_field *http_field_find(const struct http_head *head, enum http_name name)
{
    for (uint32_t i = 0; i < head->n_fields; i++)
        if (head->field[i].known == name)
            return &head->field[i];
    return NULL;
}

/* A fold is one blank: the first of its line. */
static void add_unfolded(struct app_text *text, struct app_span value, bool cr_ends)
{
    for (uint32_t at = 0; at < value.len;) {
        const struct app_span line = next_line(value, cr_ends, &at);

        app_text_add(text, line.bytes, line.len);
        if (at < value.len)
            app_text_add_byte(text, value.bytes[at]);
        while (at < value.len && (value.bytes[at] == ' ' || value.bytes[at] == '\t'))
            at++;
    }
}

static void add_value(const struct http_head *head, const struct http_field *field,
                      struct app_text *text)
{
    const struct app_span value = http_head_span(head, field->value);

    if (field->folded)
        add_unfolded(text, value, head->cr_ends);
    else
        app_text_add(text, value.bytes, value.len);
}

struct app_span http_field_value(const struct http_head *head, const struct http_field *field,
                                 struct app_text *text)
{
    const uint32_t begin = text->len;
    uint32_t left = REPETITIONS_MAX;
    const bool joins = field->repeated && field->known != HTTP_CONTENT_LENGTH;

    if (!joins && !field->folded)
        return http_head_span(head, field->value);
    add_value(head, field, text);
    for (const struct http_field *other = field + 1;
         joins && other < head->field + head->n_fields && left != 0; other++) {
        if (!other->repeats || !same_name(head, field, other))
            continue;
        app_text_add(text, ", ", 2);
        add_value(head, other, text);
        left--;
    }
    return app_text_since(text, begin);
}
