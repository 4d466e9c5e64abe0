/* SPDX-License-Identifier: MIT */
/* Features of heads that no honest client needs, or that are no HTTP. */
#include "http_flow.h"

/* A field's value. `value` is valid until `text` changes. */
static bool has_field(const struct http_transaction *transaction, enum app_side side,
                      const char *name, struct app_text *text, struct app_span *value)
{
    text->len = 0;
    return http_field_get(value, transaction, side, name, text);
}

static struct app_span first_word(struct app_span text)
{
    uint32_t len = 0;

    while (len < text.len && text.bytes[len] != ' ' && text.bytes[len] != '\t')
        len++;
    return (struct app_span){text.bytes, len};
}

static bool is_known_scheme(struct app_span authorization)
{
    const struct app_span scheme = first_word(http_trim(authorization));

    return http_span_is(scheme, "basic") || http_span_is(scheme, "digest") ||
           http_span_is(scheme, "bearer");
}

void http_report_head_events(struct http_flow *flow, enum app_side side,
                             const struct http_transaction *transaction)
{
    const struct http_head *const head = &transaction->message[side].head;
    struct app_text text = {0};
    struct app_span value;

    if (side == APP_CLIENT && head->first[2].len == 0 && head->n_fields != 0)
        http_report_event(flow, side, "request_line_missing_protocol");
    if (has_field(transaction, side, "transfer-encoding", &text, &value) &&
        !http_span_is(http_trim(value), "chunked"))
        http_report_event(flow, side,
                          side == APP_CLIENT ? "invalid_transfer_encoding_value_in_request"
                                             : "invalid_transfer_encoding_value_in_response");
    if (side == APP_CLIENT && has_field(transaction, side, "authorization", &text, &value) &&
        !is_known_scheme(value))
        http_report_event(flow, side, "request_auth_unrecognized");
    flow->no_memory |= text.no_memory;
    app_text_free(&text);
}
