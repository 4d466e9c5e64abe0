/* SPDX-License-Identifier: MIT */
#include "evaluate_message.h"

#include <string.h>

/* Of TLS the server's certificates are later than its hello, of HTTP a body than its head. */
uint8_t rule_message_sees(const struct sl_app_message *message)
{
    const bool head = message->step == SL_APP_HEAD;
    const bool later = head ? message->side == 1 && message->n_certificates != 0 : true;

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

void rule_view_message(const struct sl_app_message *message, uint8_t sees, struct rule_view *view)
{
    const bool from_server = (view->flow & SL_FLOW_TO_SERVER) == 0;

    view->turned = (view->flow & RULE_FLOW_KNOWN) != 0 && from_server != (message->side == 1);
    if (view->turned)
        rule_view_turn(view);
    view->message = message;
    view->sees = sees;
    view->app = message->app;
    view->body_len = message->body_len;
    view->said = said(message);
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

bool rule_message_value(const struct rule_view *view, enum rule_buffer buffer, size_t i,
                        struct sl_app_value *value)
{
    const bool lines = rule_buffer_id(buffer) == RULE_HTTP_FIELD_LINES;
    const size_t index = lines ? 0 : i;
    const enum sl_app_value_id id = rule_buffer_source(buffer);
    const struct sl_app_message *message = view->message;
    const int side = half_of(message, buffer);
    const struct sl_app_half *half = &message->half[side];
    uint32_t k = 0;

    while (k < half->n_values && half->value[k].id < id)
        k++;
    if (index >= half->n_values - k || half->value[k + index].id != id)
        return false;
    *value = half->value[k + index];
    if (lines)
        return take_line(value, i);
    if (id == SL_APP_BODY && side == message->side)
        value->len = view->body_len;
    return id != SL_APP_BODY || value->len != 0;
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
