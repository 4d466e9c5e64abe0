/* SPDX-License-Identifier: MIT */
#include "sip.h"

#include <string.h>
#include <strings.h>

enum {
    FIRST_LINE_MAX = 2048, /* of a probe: longer ones are not searched for their end */
    METHOD_MAX = 32
};

struct message {
    const uint8_t *at;
    uint32_t len;
};

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

/* "SIP/2.0", with any digits. */
static bool is_version(const uint8_t *at, uint32_t len)
{
    return len == 7 && memcmp(at, "SIP/", 4) == 0 && is_digit(at[4]) && at[5] == '.' &&
           is_digit(at[6]);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line that begins at `at`, without its end. *next is behind it. */
static struct sip_span line_at(const struct message *message, uint32_t at, uint32_t *next)
{
    const uint8_t *end = memchr(message->at + at, '\n', message->len - at);
    struct sip_span line = {at,
                            end != NULL ? (uint32_t)(end - message->at) - at : message->len - at};

    *next = end != NULL ? at + line.len + 1 : message->len;
    if (line.len != 0 && message->at[at + line.len - 1] == '\r')
        line.len--;
    return line;
}

static struct sip_span trim(const struct message *message, struct sip_span span)
{
    while (span.len != 0 && is_blank(message->at[span.at])) {
        span.at++;
        span.len--;
    }
    while (span.len != 0 && is_blank(message->at[span.at + span.len - 1]))
        span.len--;
    return span;
}

/* A line with those that continue it: they begin with a blank. */
static struct sip_span header_at(const struct message *message, uint32_t at, uint32_t *next)
{
    struct sip_span line = line_at(message, at, next);

    while (line.len != 0 && *next < message->len && is_blank(message->at[*next])) {
        const struct sip_span more = line_at(message, *next, next);

        line.len = more.at + more.len - line.at;
    }
    return line;
}

/* ---- the first line -------------------------------------------------------------------------- */

/* The parts of a line "METHOD URI SIP/2.0". False: it is none. */
static bool read_request(const struct message *message, struct sip_span line,
                         struct sip_span parts[3])
{
    const uint8_t *const at = message->at + line.at;
    const uint8_t *first = memchr(at, ' ', line.len < METHOD_MAX ? line.len : METHOD_MAX);
    const uint8_t *last = memrchr(at, ' ', line.len);

    if (first == NULL || first == at || last == first ||
        !is_version(last + 1, line.len - (uint32_t)(last + 1 - at)))
        return false;
    for (const uint8_t *byte = at; byte < first; byte++)
        if (*byte < 'A' || *byte > 'Z')
            return false;
    parts[0] = (struct sip_span){line.at, (uint32_t)(first - at)};
    parts[1] =
        (struct sip_span){line.at + (uint32_t)(first + 1 - at), (uint32_t)(last - first - 1)};
    parts[2] = (struct sip_span){line.at + (uint32_t)(last + 1 - at), 7};
    return true;
}

/* The parts of a line "SIP/2.0 200 OK". False: it is none. */
static bool read_response(const struct message *message, struct sip_span line,
                          struct sip_span parts[3])
{
    const uint8_t *const at = message->at + line.at;

    if (line.len < 11 || !is_version(at, 7) || at[7] != ' ' || !is_digit(at[8]) ||
        !is_digit(at[9]) || !is_digit(at[10]) || (line.len > 11 && at[11] != ' '))
        return false;
    parts[0] = (struct sip_span){line.at, 7};
    parts[1] = (struct sip_span){line.at + 8, 3};
    parts[2] =
        (struct sip_span){line.at + (line.len > 11 ? 12 : 11), line.len > 11 ? line.len - 12 : 0};
    return true;
}

bool sip_probe(const uint8_t *bytes, uint32_t len)
{
    const struct message message = {bytes, len < FIRST_LINE_MAX ? len : FIRST_LINE_MAX};
    struct sip_span parts[3];
    uint32_t next;

    if (len < 11 || bytes[0] < 'A' || bytes[0] > 'Z')
        return false;
    const struct sip_span line = line_at(&message, 0, &next);

    return read_response(&message, line, parts) || read_request(&message, line, parts);
}

static bool first_line_field(const struct message *message, enum sip_field field,
                             struct sip_span *value)
{
    struct sip_span request[3] = {{0, 0}}, response[3] = {{0, 0}};
    uint32_t next;
    const struct sip_span line = line_at(message, 0, &next);
    const bool asks = read_request(message, line, request);
    const bool answers = !asks && read_response(message, line, response);

    switch (field) {
    case SIP_METHOD:
    case SIP_URI:
        *value = request[field - SIP_METHOD];
        return asks;
    case SIP_PROTOCOL:
        *value = asks ? request[2] : response[0];
        return asks || answers;
    case SIP_STAT_CODE:
    case SIP_STAT_MSG:
        *value = response[1 + field - SIP_STAT_CODE];
        return answers;
    default:
        *value = line;
        return field == SIP_REQUEST_LINE ? asks : answers;
    }
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool is_name(const struct message *message, struct sip_span name, const char *word)
{
    return name.len == strlen(word) &&
           strncasecmp((const char *)message->at + name.at, word, name.len) == 0;
}

static bool is_header(const struct message *message, struct sip_span name, enum sip_field field)
{
    static const struct {
        const char *name, *brief;
    } names[] = {
        [0] = {"From", "f"}, /* SIP_FROM */
        [SIP_TO - SIP_FROM] = {"To", "t"},
        [SIP_VIA - SIP_FROM] = {"Via", "v"},
        [SIP_USER_AGENT - SIP_FROM] = {"User-Agent", "User-Agent"},
        [SIP_CONTENT_TYPE - SIP_FROM] = {"Content-Type", "c"},
        [SIP_CONTENT_LENGTH - SIP_FROM] = {"Content-Length", "l"},
    };

    return is_name(message, name, names[field - SIP_FROM].name) ||
           is_name(message, name, names[field - SIP_FROM].brief);
}

/* The next value of a header. *at is the next line, and the body's first where it is false. */
static bool next_header(const struct message *message, uint32_t *at, enum sip_field field,
                        struct sip_span *value)
{
    while (*at < message->len) {
        const struct sip_span line = header_at(message, *at, at);
        const uint8_t *const begin = message->at + line.at;
        const uint8_t *colon = memchr(begin, ':', line.len);

        if (line.len == 0)
            return false;
        if (colon == NULL)
            continue;

        const uint32_t name_len = (uint32_t)(colon - begin);

        if (!is_header(message, trim(message, (struct sip_span){line.at, name_len}), field))
            continue;
        *value = trim(message, (struct sip_span){line.at + name_len + 1, line.len - name_len - 1});
        return true;
    }
    return false;
}

/* ---- SDP ------------------------------------------------------------------------------------- */

/* Finds the body's first line, where it is SDP. */
static bool find_sdp(const struct message *message, uint32_t *at)
{
    static const char type[] = "application/sdp";
    struct sip_span value;
    bool is_sdp = false;

    while (next_header(message, at, SIP_CONTENT_TYPE, &value))
        is_sdp |= value.len >= sizeof type - 1 &&
                  strncasecmp((const char *)message->at + value.at, type, sizeof type - 1) == 0;
    return is_sdp;
}

static bool next_sdp(const struct message *message, struct sip_walk *walk, enum sip_field field,
                     struct sip_span *value)
{
    static const char letters[] = "osiuepcbtrzkamick";
    const char letter = letters[field - SDP_ORIGIN];
    const bool of_media = field >= SDP_MEDIA;

    while (walk->at < message->len) {
        const struct sip_span line = line_at(message, walk->at, &walk->at);
        const uint8_t *const begin = message->at + line.at;

        if (line.len < 2 || begin[1] != '=')
            continue;
        walk->media |= begin[0] == 'm';
        if (begin[0] != (uint8_t)letter || walk->media != of_media)
            continue;
        *value = (struct sip_span){line.at + 2, line.len - 2};
        return true;
    }
    return false;
}

bool sip_next(struct sip_span *value, struct sip_walk *walk, const uint8_t *bytes, uint32_t len,
              enum sip_field field)
{
    const struct message message = {bytes, len};
    const bool begins = !walk->begun;

    if (len == 0)
        return false;
    walk->begun = true;
    if (sip_field_is_single(field))
        return begins && first_line_field(&message, field, value);
    if (begins)
        (void)line_at(&message, 0, &walk->at);
    if (field < SDP_ORIGIN)
        return next_header(&message, &walk->at, field, value);
    if (begins && !find_sdp(&message, &walk->at))
        walk->at = len;
    return next_sdp(&message, walk, field, value);
}
