/* SPDX-License-Identifier: MIT */
#include "mime.h"

#include <stdio.h>

#include "app_line.h"
#include "base/base64_groups.h"
#include "base/hex.h"
#include "base/least.h"
#include "http_head.h"
#include "multipart.h"

/* ---- fields of heads ------------------------------------------------------------------------- */

static void keep(struct mime *mime, enum sl_app_value_id id, struct app_span text)
{
    struct app_text *const texts = &mime->texts[id - SL_EMAIL_FROM];

    if (text.len != 0)
        app_texts_add(texts, text, MIME_TEXTS_MAX);
    mime->no_memory |= texts->no_memory;
}

/* Addresses have commas between them, but for those in quotes. */
static void keep_addresses(struct mime *mime, enum sl_app_value_id id, struct app_span list)
{
    struct app_span address = {list.bytes, 0};
    bool quoted = false;

    for (uint32_t i = 0; i <= list.len; i++) {
        if (i < list.len && list.bytes[i] == '"')
            quoted = !quoted;
        if (i < list.len && (list.bytes[i] != ',' || quoted))
            continue;
        address.len = (uint32_t)(list.bytes + i - address.bytes);
        keep(mime, id, app_span_trim(address));
        address = (struct app_span){list.bytes + i + 1, 0};
    }
}

static void read_mail_field(struct mime *mime, struct app_span name, struct app_span value)
{
    static const struct {
        const char *name;
        enum sl_app_value_id id;
    } fields[] = {{"from", SL_EMAIL_FROM},
                  {"to", SL_EMAIL_TO},
                  {"cc", SL_EMAIL_CC},
                  {"subject", SL_EMAIL_SUBJECT},
                  {"date", SL_EMAIL_DATE},
                  {"message-id", SL_EMAIL_MESSAGE_ID},
                  {"x-mailer", SL_EMAIL_X_MAILER},
                  {"received", SL_EMAIL_RECEIVED}};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!http_span_is(name, fields[i].name))
            continue;
        if (fields[i].id == SL_EMAIL_TO || fields[i].id == SL_EMAIL_CC)
            keep_addresses(mime, fields[i].id, value);
        else if (fields[i].id == SL_EMAIL_RECEIVED ||
                 mime->texts[fields[i].id - SL_EMAIL_FROM].len == 0)
            keep(mime, fields[i].id, value);
    }
}

/* The value of a parameter, or its parts "name*0", "name*1" (RFC 2231). */
static void take_name(struct mime *mime, struct app_span value, const char *parameter)
{
    enum { N_PARTS = 10 };
    const struct app_span name = multipart_parameter(value, parameter);
    char part[16];

    if (mime->name.len != 0)
        return;
    app_text_add(&mime->name, name.bytes, name.len);
    for (int i = 0; i < N_PARTS && name.bytes == NULL; i++) {
        snprintf(part, sizeof part, "%s*%d", parameter, i);
        const struct app_span next = multipart_parameter(value, part);

        if (next.bytes == NULL)
            break;
        app_text_add(&mime->name, next.bytes, next.len);
    }
    mime->no_memory |= mime->name.no_memory;
}

static void read_type(struct mime *mime, struct app_span value)
{
    const struct app_span boundary = multipart_parameter(value, "boundary");

    mime->is_text = app_span_begins(value, "text/");
    mime->is_mail = app_span_begins(value, "message/rfc822");
    take_name(mime, value, "name");
    if (!app_span_begins(value, "multipart/") || boundary.bytes == NULL || boundary.len == 0 ||
        boundary.len > MIME_BOUNDARY_MAX || mime->depth == MIME_DEPTH_MAX || mime->is_multipart)
        return;
    memcpy(mime->boundary[mime->depth], boundary.bytes, boundary.len);
    mime->boundary[mime->depth++][boundary.len] = 0;
    mime->is_multipart = true;
}

static void read_field(struct mime *mime)
{
    struct app_span value = app_text_span(&mime->field), name;

    mime->field.len = 0;
    if (!app_span_split(&value, ':', &name))
        return;
    name = app_span_trim(name);
    value = app_span_trim(value);
    if (!mime->is_part)
        read_mail_field(mime, name, value);
    if (http_span_is(name, "content-type"))
        read_type(mime, value);
    else if (http_span_is(name, "content-disposition"))
        take_name(mime, value, "filename");
    else if (http_span_is(name, "content-transfer-encoding"))
        mime->encoding = app_span_begins(value, "base64")             ? MIME_BASE64
                         : app_span_begins(value, "quoted-printable") ? MIME_QUOTED
                                                                      : MIME_PLAIN;
}

static void begin_head(struct mime *mime)
{
    mime->in_head = true;
    mime->is_file = mime->is_mail = mime->is_multipart = false;
    mime->is_text = true;
    mime->encoding = MIME_PLAIN;
    mime->n_break = mime->n_sextets = 0;
    mime->name.len = mime->field.len = mime->text.len = 0;
}

/* The empty line behind a head. */
static void begin_body(struct mime *mime, const struct mime_listener *listener)
{
    mime->in_head = false;
    mime->state = SL_MAIL_BODY;
    if (mime->is_multipart)
        return;
    if (mime->name.len != 0) {
        mime->is_file = true;
        keep(mime, SL_EMAIL_ATTACHMENT, app_text_span(&mime->name));
        listener->begin(listener->to, app_text_span(&mime->name));
    } else if (mime->is_mail) {
        begin_head(mime);
    }
    mime->is_part = true;
}

/* A field goes on with a blank. */
static void take_head(struct mime *mime, struct app_span line, bool is_first, uint8_t n_break,
                      const struct mime_listener *listener)
{
    const bool goes_on = line.len != 0 && (line.bytes[0] == ' ' || line.bytes[0] == '\t');

    mime->state = mime->state == SL_MAIL_NONE ? SL_MAIL_HEAD : mime->state;
    if (is_first && !goes_on && mime->field.len != 0)
        read_field(mime);
    if (is_first && line.len == 0 && n_break != 0) {
        begin_body(mime, listener);
        return;
    }
    if (is_first && goes_on) /* as Suricata joins them */
        line = app_span_trim(line);
    if (mime->field.len < MIME_FIELD_MAX)
        app_text_add(&mime->field, line.bytes, line.len);
    mime->no_memory |= mime->field.no_memory;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static bool ends_url(uint8_t byte)
{
    return byte <= ' ' || byte >= 0x7F || byte == '"' || byte == '\'' || byte == '<' || byte == '>';
}

/* The bytes of the scheme that a text ends with. 0: none. */
static uint32_t scheme_len(struct app_span text)
{
    static const char *const schemes[] = {"http", "https", "ftp"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const uint32_t n = (uint32_t)strlen(schemes[i]);

        if (text.len >= n &&
            app_span_begins((struct app_span){text.bytes + text.len - n, n}, schemes[i]))
            return n;
    }
    return 0;
}

/* Keeps the URLs of a line. */
static void read_text(struct mime *mime)
{
    const struct app_span line = app_text_span(&mime->text);
    const uint8_t *colon;
    uint32_t at = 0, begin = 0; /* of the next URL at the least */

    while (at < line.len && (colon = memmem(line.bytes + at, line.len - at, "://", 3)) != NULL) {
        const uint32_t before = (uint32_t)(colon - line.bytes);
        const uint32_t n = scheme_len((struct app_span){line.bytes + begin, before - begin});

        at = before + 3;
        if (n == 0)
            continue;
        while (at < line.len && !ends_url(line.bytes[at]))
            at++;
        keep(mime, SL_EMAIL_URL, (struct app_span){colon - n, at - before + n});
        begin = at;
    }
    mime->text.len = 0;
}

static void take_text(struct mime *mime, struct app_span bytes)
{
    while (bytes.len != 0) {
        if (bytes.bytes[0] == '\n' || mime->text.len == MIME_TEXT_MAX)
            read_text(mime);
        const uint8_t *const end = memchr(bytes.bytes + 1, '\n', bytes.len - 1);
        const uint32_t n = least(end != NULL ? (uint32_t)(end - bytes.bytes) : bytes.len,
                                 MIME_TEXT_MAX - mime->text.len);

        app_text_add(&mime->text, bytes.bytes, n);
        bytes = (struct app_span){bytes.bytes + n, bytes.len - n};
    }
    mime->no_memory |= mime->text.no_memory;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void give(struct mime *mime, const uint8_t *bytes, uint32_t len,
                 const struct mime_listener *listener)
{
    if (len == 0)
        return;
    if (mime->is_file)
        listener->give(listener->to, bytes, len);
    else if (mime->is_text)
        take_text(mime, (struct app_span){bytes, len});
}

/* Writes the bytes of the sextets that came, of which the last may lack. Returns how many. */
static uint32_t end_group(struct mime *mime, uint8_t bytes[3])
{
    const uint32_t n = mime->n_sextets, group = n != 0 ? mime->sextets << 6 * (4 - n) : 0;

    for (int i = 0; i < 3; i++)
        bytes[i] = (uint8_t)(group >> (16 - 8 * i));
    mime->n_sextets = 0;
    mime->sextets = 0;
    return n > 1 && n <= 4 ? n - 1 : 0;
}

/* Takes one letter, and leaves out what is none. Returns how many bytes it ends. */
static uint32_t take_letter(struct mime *mime, uint8_t letter, uint8_t bytes[3])
{
    const uint8_t value = base64_values[letter];

    if (value < BASE64_PAD) {
        mime->sextets = mime->sextets << 6 | value;
        mime->n_sextets++;
    }
    return mime->n_sextets == 4 || value == BASE64_PAD ? end_group(mime, bytes) : 0;
}

static void give_base64(struct mime *mime, struct app_span line,
                        const struct mime_listener *listener)
{
    uint8_t bytes[MIME_PIECE_MAX + 3];
    uint32_t n = 0, i = 0;

    while (i < line.len) {
        if (mime->n_sextets == 0) {
            const size_t n_groups = base64_groups(line.bytes + i, line.len - i, bytes + n);

            i += 4 * (uint32_t)n_groups;
            n += 3 * (uint32_t)n_groups;
        }
        if (i < line.len)
            n += take_letter(mime, line.bytes[i++], bytes + n);
    }
    give(mime, bytes, n, listener);
}

/* "=" and two digits are a byte; at the end of a line "=" takes the break away. */
static void give_quoted(struct mime *mime, struct app_span line,
                        const struct mime_listener *listener)
{
    uint8_t bytes[MIME_PIECE_MAX];
    uint32_t n = 0;

    for (uint32_t i = 0; i < line.len; i++) {
        const bool has_two = line.bytes[i] == '=' && line.len - i > 2;
        const int high = has_two ? hex_digit((char)line.bytes[i + 1]) : -1;
        const int low = has_two ? hex_digit((char)line.bytes[i + 2]) : -1;

        if (line.bytes[i] == '=' && i + 1 == line.len && mime->n_break != 0) {
            mime->n_break = 0;
        } else if (high >= 0 && low >= 0) {
            bytes[n++] = (uint8_t)(high << 4 | low);
            i += 2;
        } else {
            bytes[n++] = line.bytes[i];
        }
    }
    give(mime, bytes, n, listener);
}

/* The break before a boundary belongs to it, so that each is given with the next line. */
static void take_body(struct mime *mime, struct app_span line, uint8_t n_break,
                      const struct mime_listener *listener)
{
    static const uint8_t breaks[] = "\r\n";

    if (mime->encoding == MIME_BASE64) {
        give_base64(mime, line, listener);
        return;
    }
    give(mime, breaks + 2 - mime->n_break, mime->n_break, listener);
    mime->n_break = n_break;
    if (mime->encoding == MIME_QUOTED)
        give_quoted(mime, line, listener);
    else
        give(mime, line.bytes, line.len, listener);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void end_part(struct mime *mime, bool is_cut, const struct mime_listener *listener)
{
    uint8_t bytes[3] = {0};

    give(mime, bytes, end_group(mime, bytes), listener);
    read_text(mime);
    if (mime->is_file)
        listener->end(listener->to, is_cut);
    mime->is_file = false;
    mime->n_break = 0;
}

/* The number of the boundary that a line is, from 1 on, the outermost first. 0: none. */
static uint8_t boundary_of(const struct mime *mime, struct app_span line, bool *is_last)
{
    if (line.len < 2 || line.bytes[0] != '-' || line.bytes[1] != '-')
        return 0;
    for (uint8_t i = mime->depth; i != 0; i--) {
        const char *const boundary = mime->boundary[i - 1];
        const uint32_t n = (uint32_t)strlen(boundary) + 2;

        if (line.len < n || memcmp(line.bytes + 2, boundary, n - 2) != 0)
            continue;
        *is_last = line.len >= n + 2 && memcmp(line.bytes + n, "--", 2) == 0;
        return i;
    }
    return 0;
}

static void take_boundary(struct mime *mime, uint8_t number, bool is_last,
                          const struct mime_listener *listener)
{
    if (mime->in_head && mime->field.len != 0)
        read_field(mime);
    end_part(mime, false, listener);
    mime->depth = is_last ? number - 1 : number;
    begin_head(mime);
    mime->lacks_head = false;
    mime->is_part = true;
    if (is_last) { /* nothing up to the next one */
        mime->in_head = false;
        mime->is_multipart = true;
    }
}

void mime_line(struct mime *mime, struct app_span line, bool is_first, uint8_t n_break,
               const struct mime_listener *listener)
{
    bool is_last;
    const uint8_t number = is_first ? boundary_of(mime, line, &is_last) : 0;

    if (mime->state == SL_MAIL_NONE)
        begin_head(mime);
    if (number != 0)
        take_boundary(mime, number, is_last, listener);
    else if (mime->in_head)
        take_head(mime, line, is_first, n_break, listener);
    else if (!mime->is_multipart)
        take_body(mime, line, n_break, listener);
}

void mime_gap(struct mime *mime)
{
    mime->lacks_head |= mime->in_head || mime->state == SL_MAIL_NONE;
}

void mime_end(struct mime *mime, bool is_cut, const struct mime_listener *listener)
{
    if (mime->in_head && mime->field.len != 0)
        read_field(mime);
    end_part(mime, is_cut || mime->depth != 0, listener);
    if (!is_cut)
        mime->state = SL_MAIL_DONE;
}

void mime_free(struct mime *mime)
{
    for (int i = 0; i < MIME_N_TEXTS; i++)
        app_text_free(&mime->texts[i]);
    app_text_free(&mime->field);
    app_text_free(&mime->text);
    app_text_free(&mime->name);
}

uint64_t mime_held(const struct mime *mime)
{
    uint64_t held = mime->field.max + mime->text.max + mime->name.max;

    for (int i = 0; i < MIME_N_TEXTS; i++)
        held += mime->texts[i].max;
    return held;
}
