/* SPDX-License-Identifier: MIT */
#include "evaluate_message.h"

#include <string.h>

#include "base/least.h"

/* Of TLS the server's certificates are later than its hello, of HTTP a body than its head, of SMTP
 * a mail than its envelope, of SSH keys than a banner. */
uint16_t rule_message_sees(const struct sl_app_message *message)
{
    const bool head = message->step == SL_APP_HEAD;
    const bool later = head ? message->later : true;

    if (message->step == SL_APP_FILE && message->file != NULL)
        return RULE_SEES_FILES;
    if (message->step == SL_APP_EVENT)
        return RULE_SEES_EVENTS;
    if (!head && message->step != SL_APP_MORE && message->step != SL_APP_END)
        return 0;
    if (message->side == 0)
        return later ? RULE_SEES_CLIENT_LATER : RULE_SEES_CLIENT;
    return later ? RULE_SEES_SERVER_LATER : RULE_SEES_SERVER;
}

static uint32_t said(const struct sl_app_message *message)
{
    uint64_t len = 0;

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < message->half[side].n_values; i++)
            len += message->half[side].value[i].len;
    return len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
}

void rule_view_message(const struct sl_app_message *message, uint16_t sees, struct rule_view *view)
{
    const bool from_server = (view->flow & SL_FLOW_TO_SERVER) == 0;

    rule_view_behind(view);
    view->turned = (view->flow & RULE_FLOW_KNOWN) != 0 && from_server != (message->side == 1);
    if (view->turned)
        rule_view_turn(view);
    view->message = message;
    view->knows_dns_events = false;
    view->sees = sees;
    view->app = message->app;
    view->asks_app = message->app == SL_APP_DCERPC; /* the body of a call is no file */
    view->body_len = message->body_len;
    view->said = said(message);
    for (int i = 0; i < 4; i++)
        view->quic_version[i] = (uint8_t)(message->quic_version >> (24 - 8 * i));
}

static int half_of(const struct sl_app_message *message, enum rule_buffer buffer)
{
    const enum rule_side side = rule_buffer_side(buffer);

    return side == RULE_OF_SENDER ? message->side : side == RULE_OF_SERVER;
}

/* The i-th line behind the first, which is followed by an empty one. */
static bool take_line(struct sl_app_value *value, size_t i)
{
    const uint8_t *at = value->bytes, *const end = at + value->len;

    for (size_t line = 0; at < end; line++) {
        const uint8_t *stop = memmem(at, (size_t)(end - at), "\r\n", 2);

        if (stop == NULL || (line != 0 && stop == at))
            return false;
        if (line == i + 1) {
            *value = (struct sl_app_value){at, (uint32_t)(stop - at), value->id};
            return true;
        }
        at = stop + 2;
    }
    return false;
}

/* The time and the bytes of a hello's random number. */
static bool take_random(struct sl_app_value *value, uint32_t id)
{
    enum { TIME_LEN = 4 };
    const bool is_whole = value->len > TIME_LEN;

    if (id == RULE_TLS_RANDOM_BYTES && is_whole)
        value->bytes += TIME_LEN;
    value->len = id == RULE_TLS_RANDOM_TIME ? TIME_LEN : value->len - TIME_LEN;
    return is_whole;
}

/* The known value of the message's file. */
static bool take_of_file(const struct sl_app_file *file, uint32_t id, struct sl_app_value *value)
{
    static const struct {
        uint32_t id;
        enum sl_file_hash hash;
        uint32_t len;
    } hashes[] = {{RULE_FILE_MD5, SL_FILE_MD5, 16},
                  {RULE_FILE_SHA1, SL_FILE_SHA1, 20},
                  {RULE_FILE_SHA256, SL_FILE_SHA256, 32}};

    if (file == NULL)
        return false;
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
        if (hashes[i].id == id) {
            *value = (struct sl_app_value){file->hash[hashes[i].hash], hashes[i].len, id};
            return (file->hashes >> hashes[i].hash & 1) != 0;
        }
    *value = id == SL_FILE_NAME ? file->name : file->magic;
    return value->len != 0;
}

/* The i-th value of a buffer, of which `most` bytes are at hand. */
static bool find_value(const struct rule_view *view, enum rule_buffer buffer, size_t i,
                       uint32_t most, struct sl_app_value *value)
{
    const bool lines = rule_buffer_id(buffer) == RULE_HTTP_FIELD_LINES;
    const size_t index = lines ? 0 : i;
    const enum sl_app_value_id id = rule_buffer_source(buffer);
    const struct sl_app_message *message = view->message;
    const int side = half_of(message, buffer);
    const struct sl_app_half *half = &message->half[side];
    uint32_t k = 0;

    if (rule_buffer_id(buffer) == RULE_QUIC_VERSION) {
        *value = (struct sl_app_value){view->quic_version, sizeof view->quic_version, 0};
        return i == 0 && message->app == SL_APP_QUIC;
    }
    if (rule_value_is_of_file(rule_buffer_id(buffer)))
        return i == 0 && take_of_file(message->file, rule_buffer_id(buffer), value);
    while (k < half->n_values && half->value[k].id < id)
        k++;
    if (index >= half->n_values - k || half->value[k + index].id != id)
        return false;
    *value = half->value[k + index];
    if (lines)
        return take_line(value, i);
    if (id == SL_TLS_RANDOM && rule_buffer_id(buffer) != SL_TLS_RANDOM)
        return take_random(value, rule_buffer_id(buffer));
    if (id == SL_APP_BODY && value->bytes == NULL)
        value->bytes = rule_body_join(view->body, message->parts, least(value->len, most));
    if (id == SL_APP_BODY && side == message->side && view->body_len < value->len)
        value->len = view->body_len;
    return id != SL_APP_BODY || (value->len != 0 && value->bytes != NULL);
}

bool rule_message_value(const struct rule_view *view, enum rule_buffer buffer, size_t i,
                        struct sl_app_value *value)
{
    return find_value(view, buffer, i, UINT32_MAX, value);
}

bool rule_message_opening(const struct rule_view *view, enum rule_buffer buffer, uint32_t len,
                          struct sl_app_value *value)
{
    return find_value(view, buffer, 0, len, value) && value->len >= len;
}

bool rule_message_begin(const struct rule_view *view, enum rule_buffer buffer, uint32_t most,
                        struct sl_app_value *value)
{
    if (!find_value(view, buffer, 0, most, value))
        return false;
    value->len = (uint32_t)least(value->len, most);
    return true;
}

bool rule_message_goes_on(const struct rule_view *view, enum rule_buffer buffer)
{
    const int side = half_of(view->message, buffer);

    return rule_buffer_id(buffer) == SL_APP_BODY &&
           (!view->message->half[side].has_ended ||
            (side == view->message->side && view->body_len != view->message->body_len));
}

bool rule_message_lacks(const struct rule_view *view, enum rule_buffer buffer)
{
    const struct sl_app_half *half = &view->message->half[half_of(view->message, buffer)];
    struct sl_app_value value;

    if (rule_message_value(view, buffer, 0, &value))
        return false;
    return rule_buffer_id(buffer) == SL_APP_BODY ? half->has_ended : half->has_head;
}
