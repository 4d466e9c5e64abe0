/* SPDX-License-Identifier: MIT */
/* The fields of messages of flows and of files: the part of event_fields.h that is about them.
 * Names, order and presence are Suricata 8's, extended. */
#ifndef SINKS_MESSAGE_FIELDS_H
#define SINKS_MESSAGE_FIELDS_H

#include "event_visit.h"
#include "message_text.h"

/* The half's value, where it has one. */
EVENT_INLINE void event_value(const struct event_visit *visit, enum event_field id,
                              const struct sl_app_half *half, enum sl_app_value_id value_id)
{
    uint32_t n;
    const struct sl_app_value *value = message_values(half, value_id, &n);

    if (value != NULL)
        event_bytes(visit, id, SL_FIELD_TEXT, value->bytes, value->len);
}

/* All of them as a list. */
EVENT_INLINE void event_values(const struct event_visit *visit, enum event_field id,
                               const struct sl_app_half *half, enum sl_app_value_id value_id)
{
    uint32_t n;
    const struct sl_app_value *values = message_values(half, value_id, &n);

    if (values != NULL)
        event_take(visit, id, (struct sl_field){.type = SL_FIELD_VALUES, .n = n, .values = values});
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* Without its parameters. */
EVENT_INLINE void event_content_type(const struct event_visit *visit,
                                     const struct sl_app_half *server)
{
    uint32_t n;
    const struct sl_app_value *type = message_values(server, SL_HTTP_CONTENT_TYPE, &n);
    const uint8_t *behind =
        type != NULL && type->len != 0 ? memchr(type->bytes, ';', type->len) : NULL;

    if (type != NULL)
        event_bytes(visit, FIELD_HTTP_CONTENT_TYPE, SL_FIELD_TEXT, type->bytes,
                    behind != NULL ? (size_t)(behind - type->bytes) : type->len);
}

EVENT_INLINE void event_content_range(const struct event_visit *visit,
                                      const struct sl_app_half *server)
{
    struct sl_app_value value;
    struct message_range range;

    if (!message_http_field(server, "content-range", &value))
        return;
    event_object(visit, FIELD_HTTP_CONTENT_RANGE);
    event_bytes(visit, FIELD_HTTP_RANGE_RAW, SL_FIELD_TEXT, value.bytes, value.len);
    if (message_read_range(&value, &range)) {
        if (range.start >= 0)
            event_number(visit, FIELD_HTTP_RANGE_START, (uint64_t)range.start);
        if (range.end >= 0)
            event_number(visit, FIELD_HTTP_RANGE_END, (uint64_t)range.end);
        if (range.size >= 0)
            event_number(visit, FIELD_HTTP_RANGE_SIZE, (uint64_t)range.size);
    }
    event_end(visit);
}

EVENT_INLINE void event_http_message(const struct event_visit *visit,
                                     const struct sl_app_message *message)
{
    const struct sl_app_half *client = &message->half[0], *server = &message->half[1];
    struct sl_app_value forwarded;

    event_object(visit, FIELD_HTTP);
    event_value(visit, FIELD_HTTP_HOSTNAME, client, SL_HTTP_HOST);
    if (message->port != 0)
        event_number(visit, FIELD_HTTP_PORT, message->port);
    event_value(visit, FIELD_HTTP_URL, client, SL_HTTP_URI_RAW);
    event_value(visit, FIELD_HTTP_USER_AGENT, client, SL_HTTP_USER_AGENT);
    if (message_http_field(client, "x-forwarded-for", &forwarded))
        event_bytes(visit, FIELD_HTTP_XFF, SL_FIELD_TEXT, forwarded.bytes, forwarded.len);
    event_content_type(visit, server);
    event_content_range(visit, server);
    event_value(visit, FIELD_HTTP_REFER, client, SL_HTTP_REFERER);
    event_value(visit, FIELD_HTTP_METHOD, client, SL_HTTP_METHOD);
    event_value(visit, FIELD_HTTP_PROTOCOL, client, SL_HTTP_PROTOCOL);
    if (message->status != 0)
        event_number(visit, FIELD_HTTP_STATUS, message->status);
    else
        event_value(visit, FIELD_HTTP_STATUS_STRING, server, SL_HTTP_STAT_CODE);
    event_value(visit, FIELD_HTTP_REDIRECT, server, SL_HTTP_LOCATION);
    event_number(visit, FIELD_HTTP_LENGTH, server->wire_len);
    event_end(visit);
}

/* ---- TLS and QUIC ---------------------------------------------------------------------------- */

EVENT_INLINE void event_ja3(const struct event_visit *visit, enum event_field id,
                            const struct sl_app_half *half, enum sl_app_value_id hash,
                            enum sl_app_value_id text)
{
    uint32_t n;

    if (message_values(half, hash, &n) == NULL)
        return;
    event_object(visit, id);
    event_value(visit, id == FIELD_JA3 ? FIELD_JA3_HASH : FIELD_JA3S_HASH, half, hash);
    event_value(visit, id == FIELD_JA3 ? FIELD_JA3_STRING : FIELD_JA3S_STRING, half, text);
    event_end(visit);
}

EVENT_INLINE void event_hello_hashes(const struct event_visit *visit,
                                     const struct sl_app_message *message)
{
    event_ja3(visit, FIELD_JA3, &message->half[0], SL_TLS_JA3_HASH, SL_TLS_JA3);
    event_ja3(visit, FIELD_JA3S, &message->half[1], SL_TLS_JA3S_HASH, SL_TLS_JA3S);
    event_value(visit, FIELD_JA4, &message->half[0], SL_TLS_JA4);
}

EVENT_INLINE void event_tls_message(const struct event_visit *visit,
                                    const struct sl_app_message *message, bool has_chain,
                                    struct event_texts *texts)
{
    const struct sl_app_half *client = &message->half[0], *server = &message->half[1];

    event_object(visit, FIELD_TLS);
    event_value(visit, FIELD_TLS_SUBJECT, server, SL_TLS_CERT_SUBJECT);
    event_value(visit, FIELD_TLS_ISSUER, server, SL_TLS_CERT_ISSUER);
    event_values(visit, FIELD_TLS_ALT_NAMES, server, SL_TLS_CERT_ALT_NAME);
    if ((message->seen & SL_TLS_SEEN_RESUMED) != 0)
        event_flag(visit, FIELD_TLS_RESUMED, true);
    event_value(visit, FIELD_TLS_SERIAL, server, SL_TLS_CERT_SERIAL);
    event_value(visit, FIELD_TLS_FINGERPRINT, server, SL_TLS_CERT_FINGERPRINT);
    event_value(visit, FIELD_TLS_SNI, client, SL_TLS_SNI);
    event_text(visit, FIELD_TLS_VERSION,
               event_tls_version(message->version[1], texts->tls_version));
    event_value(visit, FIELD_TLS_NOT_BEFORE, server, SL_TLS_CERT_NOT_BEFORE);
    event_value(visit, FIELD_TLS_NOT_AFTER, server, SL_TLS_CERT_NOT_AFTER);
    if (has_chain)
        event_values(visit, FIELD_TLS_CHAIN, server, SL_TLS_CERT);
    event_hello_hashes(visit, message);
    event_values(visit, FIELD_TLS_CLIENT_ALPNS, client, SL_TLS_ALPN);
    event_values(visit, FIELD_TLS_SERVER_ALPNS, server, SL_TLS_ALPN);
    event_end(visit);
}

EVENT_INLINE void event_quic_message(const struct event_visit *visit,
                                     const struct sl_app_message *message,
                                     struct event_texts *texts)
{
    event_object(visit, FIELD_QUIC);
    event_text(visit, FIELD_QUIC_VERSION,
               message_quic_version(message->quic_version, texts->quic_version));
    event_value(visit, FIELD_QUIC_SNI, &message->half[0], SL_TLS_SNI);
    event_hello_hashes(visit, message);
    event_end(visit);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The part of a whole that the server sent. */
EVENT_INLINE void event_file_range(const struct event_visit *visit,
                                   const struct sl_app_message *message)
{
    struct sl_app_value value;
    struct message_range range;

    if (message->side == 0 || !message_http_field(&message->half[1], "content-range", &value) ||
        !message_read_range(&value, &range) || range.start < 0 || range.end < 0)
        return;
    event_number(visit, FIELD_FILE_START, (uint64_t)range.start);
    event_number(visit, FIELD_FILE_END, (uint64_t)range.end);
}

/* The members of a file's object. */
EVENT_INLINE void event_file(const struct event_visit *visit, const struct sl_app_message *message,
                             struct event_texts *texts)
{
    static const enum event_field fields[SL_N_FILE_HASHES] = {FIELD_FILE_MD5, FIELD_FILE_SHA1,
                                                              FIELD_FILE_SHA256};
    const struct sl_app_file *file = message->file;

    event_bytes(visit, FIELD_FILE_NAME, SL_FIELD_TEXT, file->name.bytes, file->name.len);
    if (file->magic.len != 0)
        event_bytes(visit, FIELD_FILE_MAGIC, SL_FIELD_TEXT, file->magic.bytes, file->magic.len);
    event_flag(visit, FIELD_FILE_GAPS, file->has_gaps);
    event_text(visit, FIELD_FILE_STATE, file->state == SL_FILE_CLOSED ? "CLOSED" : "TRUNCATED");
    for (size_t i = 0; i < SL_N_FILE_HASHES; i++)
        if ((file->hashes >> i & 1) != 0)
            event_text(visit, fields[i],
                       message_hash(file, (enum sl_file_hash)i, texts->file_hash[i]));
    event_flag(visit, FIELD_FILE_STORED, file->is_stored);
    event_number(visit, FIELD_FILE_SIZE, file->size);
    event_file_range(visit, message);
    event_number(visit, FIELD_FILE_TX_ID, message->transaction);
}

/* ---- anomalies ------------------------------------------------------------------------------- */

EVENT_INLINE void event_message_anomaly(const struct event_visit *visit,
                                        const struct sl_app_message *message,
                                        struct event_texts *texts)
{
    event_number(visit, FIELD_TX_ID, message->transaction);
    event_object(visit, FIELD_ANOMALY);
    event_text(visit, FIELD_ANOMALY_APP, sl_app_name((enum sl_app)message->app));
    event_text(visit, FIELD_ANOMALY_TYPE, "applayer");
    event_text(visit, FIELD_ANOMALY_EVENT, message_event(message, texts->app_event));
    event_text(visit, FIELD_ANOMALY_LAYER, "proto_parser");
    event_end(visit);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The object of the message's protocol. */
EVENT_INLINE void event_protocol_object(const struct event_visit *visit,
                                        const struct sl_app_message *message, bool has_chain,
                                        struct event_texts *texts)
{
    if (message->app == SL_APP_HTTP)
        event_http_message(visit, message);
    else if (message->app == SL_APP_TLS)
        event_tls_message(visit, message, has_chain, texts);
    else if (message->app == SL_APP_QUIC)
        event_quic_message(visit, message, texts);
}

EVENT_INLINE void event_fileinfo(const struct event_visit *visit,
                                 const struct sl_app_message *message, struct event_texts *texts)
{
    event_protocol_object(visit, message, false, texts);
    event_text(visit, FIELD_APP_PROTO, sl_app_name((enum sl_app)message->app));
    event_object(visit, FIELD_FILEINFO);
    event_file(visit, message, texts);
    event_end(visit);
}

/* The fields that an alert shows of the message that the rule matches. */
EVENT_INLINE void event_alert_message(const struct event_visit *visit,
                                      const struct sl_app_message *message,
                                      struct event_texts *texts)
{
    event_protocol_object(visit, message, false, texts);
    if (message->file == NULL)
        return;
    event_take(visit, FIELD_FILES, (struct sl_field){.type = SL_FIELD_LIST});
    event_object(visit, FIELD_END);
    event_file(visit, message, texts);
    event_end(visit);
    event_take(visit, FIELD_END, (struct sl_field){.type = SL_FIELD_LIST_END});
}

#endif
