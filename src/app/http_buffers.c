/* SPDX-License-Identifier: MIT */
/* The values that a transaction of HTTP has. */
#include "http.h"
#include "http_uri.h"

bool http_field_get(struct app_span *value, const struct http_transaction *transaction,
                    enum app_side side, enum http_name name, struct app_text *text)
{
    const struct http_head *head = &transaction->message[side].head;
    const struct http_field *field = http_field_find(head, name);

    if (field == NULL)
        return false;
    *value = http_field_value(head, field, text);
    return true;
}

/* ---- the host -------------------------------------------------------------------------------- */

/* "[::1" */
static bool is_open_v6(struct app_span host)
{
    return host.len != 0 && host.bytes[0] == '[' && host.bytes[host.len - 1] != ']';
}

/* Host and port of the URI, else of the field Host. *of_uri says which. CONNECT has no other URI
 * than a host: one that is none leaves it to the field, as libhtp has it. */
static void find_host(struct http_host *host, const struct http_head *head)
{
    const struct app_span text = http_head_span(head, head->first[1]);
    const struct http_field *field;
    struct http_uri uri;

    host->of_uri = true;
    if (http_span_is(http_head_span(head, head->first[0]), "connect")) {
        http_host_cut(&host->name, &host->port, text);
        if (is_open_v6(host->name))
            host->name = (struct app_span){0};
    } else {
        http_uri_cut(&uri, text);
        host->name = uri.host;
        host->port = uri.port;
    }
    if (host->name.len != 0)
        return;
    field = http_field_find(head, HTTP_HOST);
    host->of_uri = false;
    host->is_absent = field == NULL;
    if (field != NULL)
        http_host_cut(&host->name, &host->port, http_head_span(head, field->value));
}

void http_host_read(struct http_transaction *transaction)
{
    struct http_host *const host = &transaction->host;
    uint64_t number = 0;

    *host = (struct http_host){.is_absent = false};
    find_host(host, &transaction->message[APP_CLIENT].head);
    if (!host->is_absent && host->port.len != 0 && http_span_number(host->port, &number) &&
        number <= UINT16_MAX)
        transaction->port = (uint16_t)number;
}

static bool get_host(struct app_span *value, const struct http_transaction *transaction,
                     bool is_raw, struct app_text *text)
{
    const struct http_host *const host = &transaction->host;
    const uint32_t begin = text->len;

    if (host->is_absent)
        return false;
    if (is_raw && !host->of_uri)
        return http_field_get(value, transaction, APP_CLIENT, HTTP_HOST, text);
    *value = host->name;
    if (is_raw)
        return true;
    http_host_normal(text, host->name, host->of_uri);
    *value = app_text_since(text, begin);
    return value->len != 0;
}

static enum http_name cookie_of(enum app_side side)
{
    return side == APP_CLIENT ? HTTP_COOKIE : HTTP_SET_COOKIE;
}

/* ---- what is put together -------------------------------------------------------------------- */

static void add_fields(struct app_text *text, const struct http_head *head, enum http_name but)
{
    for (uint32_t i = 0; i < head->n_fields; i++) {
        const struct app_span name = http_head_span(head, head->field[i].name);

        if (head->field[i].repeats || (but != HTTP_NO_NAME && head->field[i].known == but))
            continue;
        app_text_add(text, name.bytes, name.len);
        app_text_add(text, ": ", 2);
        const uint32_t before = text->len;
        const struct app_span value = http_field_value(head, &head->field[i], text);
        if (text->len == before)
            app_text_add(text, value.bytes, value.len);
        app_text_add(text, "\r\n", 2);
    }
}

static void add_names(struct app_text *text, const struct http_head *head)
{
    app_text_add(text, "\r\n", head->n_fields != 0 ? 2 : 0);
    for (uint32_t i = 0; i < head->n_fields; i++) {
        const struct app_span name = http_head_span(head, head->field[i].name);

        if (head->field[i].repeats)
            continue;
        app_text_add(text, name.bytes, name.len);
        app_text_add(text, "\r\n", 2);
    }
    app_text_add(text, "\r\n", head->n_fields != 0 ? 2 : 0);
}

/* The fields, or the whole head, where they are as the head has them. */
static bool get_plain(struct app_span *value, const struct http_head *head, enum app_side side,
                      enum sl_app_value_id id)
{
    const uint32_t at = id == SL_HTTP_HEADER ? head->fields_at : 0;
    const uint32_t empty_line = id == SL_HTTP_HEADER ? 2 : 0;

    if (!head->is_plain || (id != SL_HTTP_HEADER && id != SL_HTTP_START) ||
        (id == SL_HTTP_HEADER && http_field_find(head, cookie_of(side)) != NULL))
        return false;
    *value = (struct app_span){head->bytes + at, head->len - at - empty_line};
    return true;
}

static bool get_made(struct app_span *value, const struct http_head *head, enum app_side side,
                     enum sl_app_value_id id, struct app_text *text)
{
    const struct app_span line = http_head_span(head, head->line);
    const uint32_t begin = text->len;
    struct http_uri uri;

    if (get_plain(value, head, side, id))
        return value->len != 0;
    if (id == SL_HTTP_URI) {
        http_uri_cut(&uri, http_head_span(head, head->first[1]));
        http_uri_normal(text, &uri);
    } else if (id == SL_HTTP_HEADER) {
        add_fields(text, head, cookie_of(side));
    } else if (id == SL_HTTP_HEADER_NAMES) {
        add_names(text, head);
    } else {
        app_text_add(text, line.bytes, line.len);
        app_text_add(text, "\r\n", 2);
        add_fields(text, head, HTTP_NO_NAME);
        app_text_add(text, "\r\n", 2);
    }
    *value = app_text_since(text, begin);
    return value->len != 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum http_name field_of(enum sl_app_value_id id)
{
    static const enum http_name names[] = {
        [0] = HTTP_USER_AGENT, /* SL_HTTP_USER_AGENT */
        [SL_HTTP_REFERER - SL_HTTP_USER_AGENT] = HTTP_REFERER,
        [SL_HTTP_ACCEPT - SL_HTTP_USER_AGENT] = HTTP_ACCEPT,
        [SL_HTTP_ACCEPT_LANG - SL_HTTP_USER_AGENT] = HTTP_ACCEPT_LANGUAGE,
        [SL_HTTP_ACCEPT_ENC - SL_HTTP_USER_AGENT] = HTTP_ACCEPT_ENCODING,
        [SL_HTTP_CONNECTION - SL_HTTP_USER_AGENT] = HTTP_CONNECTION,
        [SL_HTTP_CONTENT_TYPE - SL_HTTP_USER_AGENT] = HTTP_CONTENT_TYPE,
        [SL_HTTP_CONTENT_LEN - SL_HTTP_USER_AGENT] = HTTP_CONTENT_LENGTH,
        [SL_HTTP_SERVER - SL_HTTP_USER_AGENT] = HTTP_SERVER,
        [SL_HTTP_LOCATION - SL_HTTP_USER_AGENT] = HTTP_LOCATION,
    };

    return names[id - SL_HTTP_USER_AGENT];
}

/* A part of the first line; one that is not there is none. */
static bool get_part(struct app_span *value, const struct http_head *head, struct http_part part)
{
    *value = http_head_span(head, part);
    return part.len != 0;
}

static bool get_of_side(struct app_span *value, const struct http_transaction *transaction,
                        enum app_side side, enum sl_app_value_id id, struct app_text *text)
{
    const struct http_head *head = &transaction->message[side].head;
    const struct http_part fields = {head->fields_at, (uint16_t)(head->len - head->fields_at)};

    switch (id) {
    case SL_HTTP_PROTOCOL:
        return get_part(value, head, head->first[side == APP_CLIENT ? 2 : 0]);
    case SL_HTTP_START_LINE:
        return get_part(value, head, head->line);
    case SL_HTTP_HEADER_RAW:
        return get_part(value, head, fields);
    case SL_HTTP_COOKIE:
        return http_field_get(value, transaction, side, cookie_of(side), text);
    default:
        return id >= SL_HTTP_USER_AGENT
                   ? http_field_get(value, transaction, side, field_of(id), text)
                   : get_made(value, head, side, id, text);
    }
}

bool http_value_get(struct app_span *value, const struct http_transaction *transaction,
                    enum app_side side, enum sl_app_value_id id, struct app_text *text)
{
    const struct http_message *message = &transaction->message[side];
    const bool of_request = id <= SL_HTTP_HOST_RAW && side == APP_CLIENT;
    const bool of_response =
        (id == SL_HTTP_STAT_CODE || id == SL_HTTP_STAT_MSG) && side == APP_SERVER;

    if (!message->has_head)
        return false;
    if (of_response)
        return get_part(value, &message->head, message->head.first[id - SL_HTTP_STAT_CODE + 1]);
    if (of_request && (id == SL_HTTP_HOST || id == SL_HTTP_HOST_RAW))
        return get_host(value, transaction, id == SL_HTTP_HOST_RAW, text);
    if (of_request && id != SL_HTTP_URI)
        return get_part(value, &message->head, message->head.first[id == SL_HTTP_URI_RAW]);
    if (id == SL_HTTP_STAT_CODE || id == SL_HTTP_STAT_MSG ||
        (id <= SL_HTTP_HOST_RAW && !of_request))
        return false;
    return get_of_side(value, transaction, side, id, text);
}

void http_show(struct app_show *show, const void *of, enum app_side side)
{
    const struct http_transaction *transaction = of;
    const struct http_message *message = &transaction->message[side];
    struct app_span value;

    if (!message->has_head)
        return;
    show->from = (struct app_span){message->head.bytes, message->head.len};
    for (int id = SL_HTTP_METHOD; id <= SL_HTTP_LOCATION; id++) {
        show->text.len = 0;
        if (app_show_wants(show, (enum sl_app_value_id)id) &&
            http_value_get(&value, transaction, side, (enum sl_app_value_id)id, &show->text))
            app_show_add(show, (enum sl_app_value_id)id, value);
    }
    show->no_memory |= show->text.no_memory;
}

void http_describe(struct sl_app_message *message, const void *of)
{
    const struct http_transaction *transaction = of;

    message->status = transaction->status;
    message->port = transaction->port;
    for (int side = 0; side < 2; side++) {
        const struct http_message *sent = &transaction->message[side];

        message->half[side].has_head = sent->has_head;
        message->half[side].has_ended = sent->has_ended;
        message->half[side].body_len = sent->decoded_len;
        message->half[side].wire_len = sent->body_len;
    }
}
