/* SPDX-License-Identifier: MIT */
/* Features of heads that no honest client needs, or that are no HTTP. */
#include "http_flow.h"

#include <ctype.h>

#include "base/hex.h"
#include "http_uri.h"

/* A field's value. `value` is valid until `text` changes. */
static bool has_field(const struct http_transaction *transaction, enum app_side side,
                      enum http_name name, struct app_text *text, struct app_span *value)
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

/* Whether some byte of a URI is an escape once it is decoded: "%252e". */
static bool is_encoded_twice(struct app_span uri)
{
    for (uint32_t i = 0; i + 5 <= uri.len; i++)
        if (memcmp(uri.bytes + i, "%25", 3) == 0 && hex_digit((char)uri.bytes[i + 3]) >= 0 &&
            hex_digit((char)uri.bytes[i + 4]) >= 0)
            return true;
    return false;
}

static bool is_of_host(uint8_t c, bool is_address)
{
    return isalnum(c) || (is_address ? c == ':' || c == '.' : c == '-' || c == '_' || c == '.');
}

/* A name of labels with at most 63 bytes, or an IPv6 address in brackets. */
static bool is_host(struct app_span host)
{
    enum { HOST_MAX = 255, LABEL_MAX = 63 };
    const bool is_address = host.len > 2 && host.bytes[0] == '[' && host.bytes[host.len - 1] == ']';
    uint32_t label = 0;

    if (is_address)
        host = (struct app_span){host.bytes + 1, host.len - 2};
    for (uint32_t i = 0; i < host.len; i++) {
        label = host.bytes[i] == '.' ? 0 : label + 1;
        if (label > LABEL_MAX || !is_of_host(host.bytes[i], is_address))
            return false;
    }
    return host.len != 0 && host.len <= HOST_MAX && host.bytes[0] != '.';
}

static void report_request_events(struct http_flow *flow,
                                  const struct http_transaction *transaction, struct app_text *text)
{
    const struct http_head *const head = &transaction->message[APP_CLIENT].head;
    struct app_span value, host, port;

    if (is_encoded_twice(http_head_span(head, head->first[1])))
        http_report_event(flow, APP_CLIENT, "double_encoded_uri");
    if (!has_field(transaction, APP_CLIENT, HTTP_HOST, text, &value))
        return;
    http_host_cut(&host, &port, http_trim(value));
    if (!is_host(host))
        http_report_event(flow, APP_CLIENT, "request_header_host_invalid");
}

void http_report_head_events(struct http_flow *flow, enum app_side side,
                             const struct http_transaction *transaction)
{
    const struct http_head *const head = &transaction->message[side].head;
    struct app_text text = {0};
    struct app_span value;

    if (side == APP_CLIENT && head->first[2].len == 0 && head->n_fields != 0)
        http_report_event(flow, side, "request_line_missing_protocol");
    if (has_field(transaction, side, HTTP_TRANSFER_ENCODING, &text, &value) &&
        !http_span_is(http_trim(value), "chunked"))
        http_report_event(flow, side,
                          side == APP_CLIENT ? "invalid_transfer_encoding_value_in_request"
                                             : "invalid_transfer_encoding_value_in_response");
    if (side == APP_CLIENT && has_field(transaction, side, HTTP_AUTHORIZATION, &text, &value) &&
        !is_known_scheme(value))
        http_report_event(flow, side, "request_auth_unrecognized");
    if (side == APP_CLIENT)
        report_request_events(flow, transaction, &text);
    flow->no_memory |= text.no_memory;
    app_text_free(&text);
}
