/* SPDX-License-Identifier: MIT */
/* The events that parsers report, by their names in Suricata's rules. */
#include "app_event.h"

#include <string.h>
#include <strings.h>

static const struct {
    enum sl_app app;
    const char *name;
} events[] = {
    {SL_APP_UNKNOWN, ""}, /* no event has the number 0 */
    {SL_APP_HTTP, "request_too_many_headers"},
    {SL_APP_HTTP, "response_too_many_headers"},
    {SL_APP_HTTP, "request_field_too_long"},
    {SL_APP_HTTP, "response_field_too_long"},
    {SL_APP_HTTP, "invalid_content_length_field_in_request"},
    {SL_APP_HTTP, "invalid_content_length_field_in_response"},
    {SL_APP_HTTP, "unable_to_match_response_to_request"},
    {SL_APP_HTTP, "invalid_transfer_encoding_value_in_request"},
    {SL_APP_HTTP, "invalid_transfer_encoding_value_in_response"},
    {SL_APP_HTTP, "request_line_missing_protocol"},
    {SL_APP_HTTP, "request_auth_unrecognized"},
    {SL_APP_HTTP, "request_chunk_extension"},
    {SL_APP_HTTP, "response_chunk_extension"},
    {SL_APP_HTTP, "invalid_request_chunk_len"},
    {SL_APP_HTTP, "invalid_response_chunk_len"},
    {SL_APP_HTTP, "compression_bomb"},
    {SL_APP_HTTP, "gzip_decompression_failed"},
    {SL_APP_HTTP, "double_encoded_uri"},
    {SL_APP_HTTP, "request_header_host_invalid"},
    {SL_APP_TLS, "invalid_record_type"},
    {SL_APP_TLS, "invalid_handshake_message"},
    {SL_APP_TLS, "invalid_certificate"},
    {SL_APP_TLS, "handshake_invalid_length"},
    {SL_APP_TLS, "certificate_invalid_length"},
    {SL_APP_FTP, "request_command_too_long"},
    {SL_APP_FTP, "response_command_too_long"},
};

enum { N_EVENTS = sizeof events / sizeof *events };

_Static_assert((int)N_EVENTS <= 64, "a message has a bit for each event");

static bool is_named(uint32_t event, const char *name, size_t len)
{
    return strlen(events[event].name) == len && strncasecmp(events[event].name, name, len) == 0;
}

uint32_t app_event_of(enum sl_app app, const char *name)
{
    for (uint32_t i = 1; i < N_EVENTS; i++)
        if (events[i].app == app && is_named(i, name, strlen(name)))
            return i;
    return 0;
}

const char *app_event_name(uint32_t event)
{
    return events[event < N_EVENTS ? event : 0].name;
}

uint32_t sl_app_event_find(const char *name, size_t len, enum sl_app *app)
{
    for (uint32_t i = 1; i < N_EVENTS; i++) {
        const char *const prefix = sl_app_name(events[i].app);
        const size_t n = strlen(prefix);

        if (len > n && strncasecmp(name, prefix, n) == 0 && name[n] == '.' &&
            is_named(i, name + n + 1, len - n - 1)) {
            *app = events[i].app;
            return i;
        }
    }
    return 0;
}
