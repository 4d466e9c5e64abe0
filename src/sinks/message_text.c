/* SPDX-License-Identifier: MIT */
#include "message_text.h"

#include <stdio.h>
#include <string.h>

#include "app/app_event.h"
#include "app/http_head.h"
#include "base/hex.h"

const struct sl_app_value *message_values(const struct sl_app_half *half, enum sl_app_value_id id,
                                          uint32_t *n)
{
    uint32_t first = 0;

    while (first < half->n_values && half->value[first].id < (uint32_t)id)
        first++;
    for (*n = 0; first + *n < half->n_values && half->value[first + *n].id == (uint32_t)id;)
        (*n)++;
    return *n != 0 ? &half->value[first] : NULL;
}

/* ---- fields of HTTP -------------------------------------------------------------------------- */

bool message_http_field(const struct sl_app_half *half, const char *name, struct sl_app_value *out)
{
    uint32_t n;
    const struct sl_app_value *header = message_values(half, SL_HTTP_HEADER, &n);
    const uint8_t *at = header != NULL ? header->bytes : NULL;
    const uint8_t *const end = header != NULL ? at + header->len : NULL;

    while (at < end) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        const uint8_t *const behind = line != NULL ? line : end;
        const uint8_t *colon = memchr(at, ':', (size_t)(behind - at));

        if (colon != NULL && http_span_is((struct app_span){at, (uint32_t)(colon - at)}, name)) {
            const uint8_t *value = colon + 1, *last = behind;

            while (value < last && *value == ' ')
                value++;
            while (last > value && last[-1] == '\r')
                last--;
            *out = (struct sl_app_value){value, (uint32_t)(last - value), SL_HTTP_HEADER};
            return true;
        }
        at = behind + (behind < end);
    }
    return false;
}

/* Reads a number, or '*' where it is not known. */
static bool read_number(const char **at, const char *end, int64_t *number)
{
    const char *const begin = *at;

    if (*at < end && **at == '*') {
        (*at)++;
        return true;
    }
    for (*number = 0; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        if (*number > (INT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return *at > begin;
}

static bool read_text(const char **at, const char *end, const char *text)
{
    const size_t len = strlen(text);

    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

bool message_read_range(const struct sl_app_value *value, struct message_range *range)
{
    const char *at = (const char *)value->bytes, *const end = at + value->len;

    *range = (struct message_range){-1, -1, -1};
    return read_text(&at, end, "bytes ") && read_number(&at, end, &range->start) &&
           (range->start < 0 || (read_text(&at, end, "-") && read_number(&at, end, &range->end))) &&
           read_text(&at, end, "/") && read_number(&at, end, &range->size) && at == end;
}

/* ---- numbers --------------------------------------------------------------------------------- */

const char *message_quic_version(uint32_t version, char text[MESSAGE_VERSION_LEN])
{
    const uint32_t version_2 = 0x6b3343cf, draft = 0xff000000;

    if (version == 1 || version == version_2)
        snprintf(text, MESSAGE_VERSION_LEN, "%d", version == 1 ? 1 : 2);
    else if ((version & 0xffffff00) == draft)
        snprintf(text, MESSAGE_VERSION_LEN, "draft-%u", version & 0xff);
    else
        snprintf(text, MESSAGE_VERSION_LEN, "0x%08x", version);
    return text;
}

const char *message_hash(const struct sl_app_file *file, enum sl_file_hash hash,
                         char text[MESSAGE_HASH_LEN])
{
    static const uint8_t lens[SL_N_FILE_HASHES] = {16, 20, 32};

    hex_write(text, file->hash[hash], lens[hash]);
    return text;
}

const char *message_event(const struct sl_app_message *message, char text[MESSAGE_EVENT_LEN])
{
    const char *const name = app_event_name(message->event);
    const bool is_lower = message->app == SL_APP_FTP; /* as Suricata has them */
    uint32_t n = 0;

    for (; name[n] != '\0' && n < MESSAGE_EVENT_LEN - 1; n++)
        text[n] =
            (char)(name[n] >= 'a' && name[n] <= 'z' && !is_lower ? name[n] - ('a' - 'A') : name[n]);
    text[n] = '\0';
    return text;
}
