/* SPDX-License-Identifier: MIT */
#include "data_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/file_bytes.h"
#include "base/hex.h"
#include "base/new_file.h"
#include "detect/transform/base64.h"

enum { REPUTATION_MAX = 65535, QUOTED = 80 };

static const char *const kinds[] = {[DATA_STRING] = "base64",
                                    [DATA_MD5] = "a MD5 digest of 32 hexadecimal digits",
                                    [DATA_SHA256] = "a SHA-256 digest of 64 hexadecimal digits",
                                    [DATA_IPV4] = "an IPv4 address",
                                    [DATA_IP] = "an IPv4 or IPv6 address"};

/* ---- reading --------------------------------------------------------------------------------- */

/* Texts of values, with room for the longest. */
struct reader {
    struct data_set *set;
    const char *name;
    struct sl_diag *diag;
    const struct data_form *form;
    uint32_t line;
    bool any;   /* a line was read */
    bool found; /* an object had the key */
    uint8_t *bytes;
};

static enum sl_status bad(const struct reader *reader, const char *reason, const char *at,
                          size_t len)
{
    return diag_set(reader->diag, SL_EFORMAT, reader->name, reader->line, "'%.*s' %s",
                    (int)(len < QUOTED ? len : QUOTED), at, reason);
}

/* The number of bytes that digits stand for; 0: they are none. */
static uint32_t read_hex(const char *text, size_t len, uint8_t *bytes)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

        if (high < 0 || low < 0)
            return 0;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return len % 2 == 0 ? (uint32_t)(len / 2) : 0;
}

static uint32_t read_address(const char *text, size_t len, uint8_t *bytes)
{
    char copy[INET6_ADDRSTRLEN];

    if (len >= sizeof copy || memchr(text, '\0', len) != NULL)
        return 0;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, bytes) == 1)
        return 4;
    return inet_pton(AF_INET6, copy, bytes) == 1 ? 16 : 0;
}

/* The number of bytes of a value; 0: the text is none. */
static uint32_t read_value(const struct reader *reader, const char *text, size_t len)
{
    switch (reader->set->type) {
    case DATA_STRING:
        if (reader->form->format != DATA_LINES) {
            memcpy(reader->bytes, text, len);
            return (uint32_t)len;
        }
        return base64_decode(BASE64_STRICT, (const uint8_t *)text, (uint32_t)len, reader->bytes);
    case DATA_MD5:
    case DATA_SHA256:
        return read_hex(text, len, reader->bytes);
    default:
        return read_address(text, len, reader->bytes);
    }
}

static bool read_reputation(const char *text, size_t len, uint16_t *reputation)
{
    uint32_t number = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
        if (number > REPUTATION_MAX)
            return false;
    }
    *reputation = (uint16_t)number;
    return len != 0;
}

static enum sl_status add(const struct reader *reader, const char *text, size_t len,
                          uint16_t reputation)
{
    const uint32_t n = read_value(reader, text, len);

    switch (n != 0 ? data_set_add(reader->set, reader->bytes, n, reputation) : DATA_UNFIT) {
    case DATA_UNFIT:
        return diag_set(reader->diag, SL_EFORMAT, reader->name, reader->line, "'%.*s' is not %s",
                        (int)(len < QUOTED ? len : QUOTED), text,
                        reader->set->type == DATA_STRING && reader->form->format != DATA_LINES
                            ? "a text"
                            : kinds[reader->set->type]);
    case DATA_NO_ROOM:
        return diag_set(reader->diag, SL_EFORMAT, reader->name, reader->line,
                        "does not fit the memcap of %llu bytes",
                        (unsigned long long)reader->set->memory_max);
    default:
        return SL_OK; /* a value that stands there twice has its first reputation */
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The member that a key with dots between its parts leads to. NULL: none. */
static json_t *member(json_t *json, const char *key)
{
    while (json != NULL && key != NULL) {
        const char *dot = strchr(key, '.');
        char *part = strndup(key, dot != NULL ? (size_t)(dot - key) : strlen(key));

        json = part != NULL ? json_object_get(json, part) : NULL;
        free(part);
        key = dot != NULL ? dot + 1 : NULL;
    }
    return json;
}

static enum sl_status add_object(struct reader *reader, json_t *object)
{
    const json_t *value = member(object, reader->form->value);

    if (value == NULL)
        return SL_OK;
    reader->found = true;
    if (!json_is_string(value))
        return bad(reader, "is no text", reader->form->value, strlen(reader->form->value));
    return add(reader, json_string_value(value), json_string_length(value), 0);
}

static enum sl_status add_array(struct reader *reader, json_t *json)
{
    const json_t *array = member(json, reader->form->array);
    enum sl_status status = SL_OK;

    if (!json_is_array(array))
        return diag_set(reader->diag, SL_EFORMAT, reader->name, 0, "has no array of objects%s%s",
                        reader->form->array != NULL ? " at " : "",
                        reader->form->array != NULL ? reader->form->array : "");
    for (size_t i = 0; i < json_array_size(array) && status == SL_OK; i++)
        status = add_object(reader, json_array_get(array, i));
    return status;
}

static enum sl_status read_json(struct reader *reader, const char *text, size_t len)
{
    json_error_t error;
    json_t *json = json_loadb(text, len, 0, &error);
    enum sl_status status;

    if (json == NULL)
        return diag_set(reader->diag, SL_EFORMAT, reader->name,
                        reader->line != 0 ? reader->line : (uint32_t)error.line, "is no JSON: %s",
                        error.text);
    status = reader->form->format == DATA_JSON ? add_array(reader, json) : add_object(reader, json);
    json_decref(json);
    return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum sl_status read_line(struct reader *reader, const char *text, size_t len)
{
    const char *comma = memchr(text, ',', len);
    uint16_t reputation = 0;

    if (!reader->any)
        reader->set->has_reputations = comma != NULL;
    reader->any = true;
    if ((comma != NULL) != reader->set->has_reputations)
        return bad(reader,
                   comma != NULL ? "has a reputation, as lines before have not"
                                 : "has no reputation, as lines before have",
                   text, len);
    if (comma == NULL)
        return add(reader, text, len, 0);
    if (!read_reputation(comma + 1, len - (size_t)(comma + 1 - text), &reputation))
        return bad(reader, "does not end in a reputation of 0 to 65535", text, len);
    return add(reader, text, (size_t)(comma - text), reputation);
}

static enum sl_status read_lines(struct reader *reader, const char *text, size_t len)
{
    enum sl_status status = SL_OK;

    while (len != 0 && status == SL_OK) {
        const char *newline = memchr(text, '\n', len);
        size_t line_len = newline != NULL ? (size_t)(newline - text) : len;
        const size_t behind = line_len + (newline != NULL);

        reader->line++;
        while (line_len != 0 && (text[line_len - 1] == '\r' || text[line_len - 1] == ' '))
            line_len--;
        if (line_len != 0)
            status = reader->form->format == DATA_LINES ? read_line(reader, text, line_len)
                                                        : read_json(reader, text, line_len);
        text += behind;
        len -= behind;
    }
    return status;
}

enum sl_status data_text_read(struct data_set *set, const struct data_form *form, const char *name,
                              const char *text, size_t len, struct sl_diag *diag)
{
    struct reader reader = {.set = set,
                            .name = name,
                            .diag = diag,
                            .form = form,
                            .any = set->n != 0,
                            .bytes = malloc(len + 16)};
    enum sl_status status;

    if (reader.bytes == NULL || len > UINT32_MAX) {
        free(reader.bytes);
        return diag_set(diag, SL_ENOMEM, name, 0, "no memory for %zu bytes", len);
    }
    status =
        form->format == DATA_JSON ? read_json(&reader, text, len) : read_lines(&reader, text, len);
    free(reader.bytes);
    if (status == SL_OK && form->format != DATA_LINES && !reader.found)
        return diag_set(diag, SL_EFORMAT, name, 0, "no object has the key '%s'", form->value);
    return status;
}

enum sl_status data_file_read(struct data_set *set, const struct data_form *form, const char *path,
                              bool optional, struct sl_diag *diag)
{
    struct file_bytes bytes;
    struct stat found;

    if (optional && stat(path, &found) != 0 && errno == ENOENT)
        return SL_OK;

    enum sl_status status = file_bytes_open(&bytes, path, FILE_BYTES_READ_MAX, false, diag);

    if (status != SL_OK)
        return status;
    status = data_text_read(set, form, path, bytes.at, bytes.len, diag);
    file_bytes_close(&bytes);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { BUFFERED = 1 << 16 };

struct writer {
    struct new_file file;
    size_t n;
    char text[BUFFERED];
};

static void flush(struct writer *writer)
{
    new_file_write(&writer->file, writer->text, writer->n);
    writer->n = 0;
}

static void put(struct writer *writer, const char *text, size_t len)
{
    if (writer->n + len > BUFFERED)
        flush(writer);
    memcpy(writer->text + writer->n, text, len);
    writer->n += len;
}

static void put_base64(struct writer *writer, const uint8_t *bytes, uint32_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (uint32_t i = 0; i < len; i += 3) {
        const uint32_t rest = len - i;
        const uint32_t second = rest > 1 ? bytes[i + 1] : 0, third = rest > 2 ? bytes[i + 2] : 0;
        const uint32_t group = (uint32_t)bytes[i] << 16 | second << 8 | third;
        const char text[4] = {digits[group >> 18], digits[group >> 12 & 63],
                              rest > 1 ? digits[group >> 6 & 63] : '=',
                              rest > 2 ? digits[group & 63] : '='};

        put(writer, text, sizeof text);
    }
}

static void put_hex(struct writer *writer, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        char text[3];

        hex_write(text, &bytes[i], 1);
        put(writer, text, 2);
    }
}

static void put_address(struct writer *writer, const uint8_t *bytes)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    const bool ipv4 = memcmp(bytes, mapped, sizeof mapped) == 0;
    char text[INET6_ADDRSTRLEN] = "";

    (void)inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? bytes + 12 : bytes, text, sizeof text);
    put(writer, text, strlen(text));
}

static void put_line(struct writer *writer, const struct data_set *set,
                     const struct data_value *value)
{
    char end[16];

    if (set->type == DATA_STRING)
        put_base64(writer, value->bytes, value->len);
    else if (set->type == DATA_IP || set->type == DATA_IPV4)
        put_address(writer, value->bytes);
    else
        put_hex(writer, value->bytes, value->len);
    const int len =
        snprintf(end, sizeof end, set->has_reputations ? ",%u\n" : "\n", value->reputation);
    put(writer, end, (size_t)len);
}

enum sl_status data_file_write(const struct data_set *set, const char *path, struct sl_diag *diag)
{
    struct writer *writer = malloc(sizeof *writer);
    struct data_value value;
    size_t at = 0;

    if (writer == NULL)
        return diag_set(diag, SL_ENOMEM, path, 0, "no memory to write it");

    enum sl_status status = new_file_create(&writer->file, path, diag);

    writer->n = 0;
    if (status == SL_OK) {
        while (data_set_next(set, &at, &value))
            put_line(writer, set, &value);
        flush(writer);
        status = new_file_end(&writer->file, diag);
    }
    free(writer);
    return status;
}
