/* SPDX-License-Identifier: MIT */
#include "unpack/mail_head.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "unpack/transfer.h"

enum { FIELD_MAX = 8192 /* bytes of a field that are read */ };

/* Copies a value up to `stops`, or between quotes. Returns the place behind it. */
static const char *take_value(const char *at, char *to, size_t cap)
{
    size_t n = 0;

    while (*at == ' ' || *at == '\t')
        at++;
    const bool quoted = *at == '"';
    at += quoted;
    while (*at != '\0' && (quoted ? *at != '"' : *at != ';')) {
        if (quoted && *at == '\\' && at[1] != '\0')
            at++;
        if (n + 1 < cap)
            to[n++] = *at;
        at++;
    }
    while (!quoted && n > 0 && isspace((unsigned char)to[n - 1]))
        n--;
    to[n] = '\0';
    return at + (*at == '"');
}

/* The value of a parameter; false: it is not there. Numbered parts of RFC 2231 are its first part
 * here. */
static bool take_parameter(const char *value, const char *name, char *to, size_t cap)
{
    const size_t n = strlen(name);
    char skipped[FIELD_MAX];

    for (const char *at = strchr(value, ';'); at != NULL; at = strchr(at, ';')) {
        at++;
        while (isspace((unsigned char)*at))
            at++;
        const char *behind = at + n;
        if (strncasecmp(at, name, n) == 0) {
            while (*behind == '*' || isdigit((unsigned char)*behind) || *behind == ' ')
                behind++;
            if (*behind == '=') {
                (void)take_value(behind + 1, to, cap);
                return true;
            }
        }
        const char *equals = at + strcspn(at, "=;");
        at = *equals == '=' ? take_value(equals + 1, skipped, sizeof skipped) : equals;
    }
    return false;
}

static void take_type(struct mail_head *head, const char *value)
{
    size_t n = 0;

    while (isspace((unsigned char)*value))
        value++;
    for (; value[n] != '\0' && value[n] != ';' && !isspace((unsigned char)value[n]) &&
           n + 1 < sizeof head->type;
         n++)
        head->type[n] = (char)tolower((unsigned char)value[n]);
    head->type[n] = '\0';
    if (take_parameter(value, "boundary", head->boundary, sizeof head->boundary))
        head->has_boundary = true;
    if (head->name[0] == '\0')
        head->named_by_type = take_parameter(value, "name", head->name, sizeof head->name);
}

static void take_encoding(struct mail_head *head, const char *value)
{
    static const struct {
        const char *name;
        enum mail_encoding encoding;
    } names[] = {{"base64", MAIL_BASE64},       {"quoted-printable", MAIL_QUOTED},
                 {"x-uuencode", MAIL_UUENCODE}, {"x-uue", MAIL_UUENCODE},
                 {"uuencode", MAIL_UUENCODE},   {"x-yencode", MAIL_YENC},
                 {"8bit", MAIL_PLAIN},          {"binary", MAIL_PLAIN}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasestr(value, names[i].name) != NULL) {
            head->encoding = names[i].encoding;
            return;
        }
    head->encoding = MAIL_7BIT;
}

static void take_field(struct mail_head *head, const char *name, const char *value)
{
    if (strcasecmp(name, "Content-Type") == 0) {
        take_type(head, value);
    } else if (strcasecmp(name, "Content-Transfer-Encoding") == 0) {
        take_encoding(head, value);
    } else if (strcasecmp(name, "Content-Disposition") == 0) {
        char disposition[16];

        head->has_disposition = true;
        (void)take_value(value, disposition, sizeof disposition);
        head->is_attached = disposition[0] != '\0' && strcasecmp(disposition, "inline") != 0;
        if (take_parameter(value, "filename", head->name, sizeof head->name))
            head->named_by_type = false;
    }
}

/* ClamAV's names of members have letters, digits, "." and "_" alone. */
static void clean_name(char *name)
{
    for (; *name != '\0'; name++) {
        *name &= 0x7F;
        if (!isalnum((unsigned char)*name) && *name != '.')
            *name = '_';
    }
}

/* Joins the lines of a field into `text`. Returns the place behind them. */
static const uint8_t *unfold(const uint8_t *at, const uint8_t *end, char text[FIELD_MAX])
{
    size_t n = 0;

    do {
        const size_t len = transfer_line(at, end);

        for (size_t i = 0; i < len && n + 1 < FIELD_MAX; i++)
            if (at[i] != '\r' && at[i] != '\n' && at[i] != '\0')
                text[n++] = (char)at[i];
        at += len;
    } while (at < end && (*at == ' ' || *at == '\t'));
    text[n] = '\0';
    return at;
}

static const uint8_t *read_fields(const uint8_t *bytes, const uint8_t *end, struct mail_head *head)
{
    char text[FIELD_MAX];

    memset(head, 0, sizeof *head);
    while (bytes < end) {
        if (*bytes == '\n')
            return bytes + 1;
        if (*bytes == '\r' && bytes + 1 < end && bytes[1] == '\n')
            return bytes + 2;
        const uint8_t *behind = unfold(bytes, end, text);
        char *colon = strchr(text, ':');
        const bool is_envelope = strncmp(text, "From ", 5) == 0 || strncmp(text, ">From ", 6) == 0;

        if (!is_envelope && (colon == NULL || colon == text))
            return bytes; /* a body without a head, or without an empty line before it */
        head->any = true;
        if (!is_envelope) {
            const char *value = colon + 1;

            while (colon > text && isspace((unsigned char)colon[-1]))
                colon--;
            *colon = '\0';
            take_field(head, text, value);
        }
        bytes = behind;
    }
    return end;
}

const uint8_t *mail_head_read(const uint8_t *bytes, const uint8_t *end, struct mail_head *head)
{
    const uint8_t *body = read_fields(bytes, end, head);

    clean_name(head->name);
    return body;
}
