/* SPDX-License-Identifier: MIT */
/* The fields of messages of flows and of files: the part of event_fields.h that is about them.
 * Names, order and presence are Suricata 8's, extended. */
#ifndef SINKS_MESSAGE_FIELDS_H
#define SINKS_MESSAGE_FIELDS_H

#include "event_visit.h"
#include "message_text.h"

/* The half's value, where it has one. */
EVENT_INLINE void event_value(void *to, enum event_field id, const struct sl_app_half *half,
                              enum sl_app_value_id value_id)
{
    uint32_t n;
    const struct sl_app_value *value = message_values(half, value_id, &n);

    if (value != NULL)
        event_bytes(to, id, SL_FIELD_TEXT, value->bytes, value->len);
}

/* All of them as a list. */
EVENT_INLINE void event_values(void *to, enum event_field id, const struct sl_app_half *half,
                               enum sl_app_value_id value_id)
{
    uint32_t n;
    const struct sl_app_value *values = message_values(half, value_id, &n);

    if (values != NULL)
        event_take(to, id, (struct sl_field){.type = SL_FIELD_VALUES, .n = n, .values = values});
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* Without its parameters. */
EVENT_INLINE void event_content_type(void *to, const struct sl_app_half *server)
{
    uint32_t n;
    const struct sl_app_value *type = message_values(server, SL_HTTP_CONTENT_TYPE, &n);
    const uint8_t *behind =
        type != NULL && type->len != 0 ? memchr(type->bytes, ';', type->len) : NULL;

    if (type != NULL)
        event_bytes(to, FIELD_HTTP_CONTENT_TYPE, SL_FIELD_TEXT, type->bytes,
                    behind != NULL ? (size_t)(behind - type->bytes) : type->len);
}

EVENT_INLINE void event_content_range(void *to, const struct sl_app_half *server)
{
    struct sl_app_value value;
    struct message_range range;

    if (!message_http_field(server, "content-range", &value))
        return;
    event_object(to, FIELD_HTTP_CONTENT_RANGE);
    event_bytes(to, FIELD_HTTP_RANGE_RAW, SL_FIELD_TEXT, value.bytes, value.len);
    if (message_read_range(&value, &range)) {
        if (range.start >= 0)
            event_number(to, FIELD_HTTP_RANGE_START, (uint64_t)range.start);
        if (range.end >= 0)
            event_number(to, FIELD_HTTP_RANGE_END, (uint64_t)range.end);
        if (range.size >= 0)
            event_number(to, FIELD_HTTP_RANGE_SIZE, (uint64_t)range.size);
    }
    event_end(to);
}

EVENT_PART void event_http_message(void *to, const struct sl_app_message *message)
{
    const struct sl_app_half *client = &message->half[0], *server = &message->half[1];
    struct sl_app_value forwarded;

    event_object(to, FIELD_HTTP);
    event_value(to, FIELD_HTTP_HOSTNAME, client, SL_HTTP_HOST);
    if (message->port != 0)
        event_number(to, FIELD_HTTP_PORT, message->port);
    event_value(to, FIELD_HTTP_URL, client, SL_HTTP_URI_RAW);
    event_value(to, FIELD_HTTP_USER_AGENT, client, SL_HTTP_USER_AGENT);
    if (message_http_field(client, "x-forwarded-for", &forwarded))
        event_bytes(to, FIELD_HTTP_XFF, SL_FIELD_TEXT, forwarded.bytes, forwarded.len);
    event_content_type(to, server);
    event_content_range(to, server);
    event_value(to, FIELD_HTTP_REFER, client, SL_HTTP_REFERER);
    event_value(to, FIELD_HTTP_METHOD, client, SL_HTTP_METHOD);
    event_value(to, FIELD_HTTP_PROTOCOL, client, SL_HTTP_PROTOCOL);
    if (message->status != 0)
        event_number(to, FIELD_HTTP_STATUS, message->status);
    else
        event_value(to, FIELD_HTTP_STATUS_STRING, server, SL_HTTP_STAT_CODE);
    event_value(to, FIELD_HTTP_REDIRECT, server, SL_HTTP_LOCATION);
    event_number(to, FIELD_HTTP_LENGTH, server->wire_len);
    event_end(to);
}

/* ---- TLS and QUIC ---------------------------------------------------------------------------- */

EVENT_INLINE void event_ja3(void *to, enum event_field id, const struct sl_app_half *half,
                            enum sl_app_value_id hash, enum sl_app_value_id text)
{
    uint32_t n;

    if (message_values(half, hash, &n) == NULL)
        return;
    event_object(to, id);
    event_value(to, id == FIELD_JA3 ? FIELD_JA3_HASH : FIELD_JA3S_HASH, half, hash);
    event_value(to, id == FIELD_JA3 ? FIELD_JA3_STRING : FIELD_JA3S_STRING, half, text);
    event_end(to);
}

EVENT_INLINE void event_hello_hashes(void *to, const struct sl_app_message *message)
{
    event_ja3(to, FIELD_JA3, &message->half[0], SL_TLS_JA3_HASH, SL_TLS_JA3);
    event_ja3(to, FIELD_JA3S, &message->half[1], SL_TLS_JA3S_HASH, SL_TLS_JA3S);
    event_value(to, FIELD_JA4, &message->half[0], SL_TLS_JA4);
}

EVENT_PART void event_tls_message(void *to, const struct sl_app_message *message, bool has_chain,
                                  struct event_texts *texts)
{
    const struct sl_app_half *client = &message->half[0], *server = &message->half[1];

    event_object(to, FIELD_TLS);
    event_value(to, FIELD_TLS_SUBJECT, server, SL_TLS_CERT_SUBJECT);
    event_value(to, FIELD_TLS_ISSUER, server, SL_TLS_CERT_ISSUER);
    event_values(to, FIELD_TLS_ALT_NAMES, server, SL_TLS_CERT_ALT_NAME);
    if ((message->seen & SL_TLS_SEEN_RESUMED) != 0)
        event_flag(to, FIELD_TLS_RESUMED, true);
    event_value(to, FIELD_TLS_SERIAL, server, SL_TLS_CERT_SERIAL);
    event_value(to, FIELD_TLS_FINGERPRINT, server, SL_TLS_CERT_FINGERPRINT);
    event_value(to, FIELD_TLS_SNI, client, SL_TLS_SNI);
    event_text(to, FIELD_TLS_VERSION, event_tls_version(message->version[1], texts->tls_version));
    event_value(to, FIELD_TLS_NOT_BEFORE, server, SL_TLS_CERT_NOT_BEFORE);
    event_value(to, FIELD_TLS_NOT_AFTER, server, SL_TLS_CERT_NOT_AFTER);
    if (has_chain)
        event_values(to, FIELD_TLS_CHAIN, server, SL_TLS_CERT);
    event_hello_hashes(to, message);
    event_values(to, FIELD_TLS_CLIENT_ALPNS, client, SL_TLS_ALPN);
    event_values(to, FIELD_TLS_SERVER_ALPNS, server, SL_TLS_ALPN);
    event_end(to);
}

EVENT_INLINE void event_quic_message(void *to, const struct sl_app_message *message,
                                     struct event_texts *texts)
{
    event_object(to, FIELD_QUIC);
    event_text(to, FIELD_QUIC_VERSION,
               message_quic_version(message->quic_version, texts->quic_version));
    event_value(to, FIELD_QUIC_SNI, &message->half[0], SL_TLS_SNI);
    event_hello_hashes(to, message);
    event_end(to);
}

/* ---- SMTP ------------------------------------------------------------------------------------ */

EVENT_PART void event_email(void *to, const struct sl_app_message *message)
{
    static const char *const states[] = {[SL_MAIL_HEAD] = "HEADER_STARTED",
                                         [SL_MAIL_BODY] = "BODY_STARTED",
                                         [SL_MAIL_DONE] = "PARSE_DONE"};
    const struct sl_app_half *client = &message->half[0];

    event_object(to, FIELD_EMAIL);
    event_text(to, FIELD_EMAIL_STATUS, states[message->mail]);
    event_value(to, FIELD_EMAIL_FROM, client, SL_EMAIL_FROM);
    event_values(to, FIELD_EMAIL_TO, client, SL_EMAIL_TO);
    event_values(to, FIELD_EMAIL_CC, client, SL_EMAIL_CC);
    event_value(to, FIELD_EMAIL_SUBJECT, client, SL_EMAIL_SUBJECT);
    event_value(to, FIELD_EMAIL_DATE, client, SL_EMAIL_DATE);
    event_value(to, FIELD_EMAIL_MESSAGE_ID, client, SL_EMAIL_MESSAGE_ID);
    event_value(to, FIELD_EMAIL_X_MAILER, client, SL_EMAIL_X_MAILER);
    event_values(to, FIELD_EMAIL_RECEIVED, client, SL_EMAIL_RECEIVED);
    event_values(to, FIELD_EMAIL_URL, client, SL_EMAIL_URL);
    event_values(to, FIELD_EMAIL_ATTACHMENT, client, SL_EMAIL_ATTACHMENT);
    event_end(to);
}

EVENT_INLINE void event_smtp_message(void *to, const struct sl_app_message *message)
{
    const struct sl_app_half *client = &message->half[0];

    event_object(to, FIELD_SMTP);
    event_value(to, FIELD_SMTP_HELO, client, SL_SMTP_HELO);
    event_value(to, FIELD_SMTP_MAIL_FROM, client, SL_SMTP_MAIL_FROM);
    event_values(to, FIELD_SMTP_RCPT_TO, client, SL_SMTP_RCPT_TO);
    event_end(to);
    if (message->mail != SL_MAIL_NONE)
        event_email(to, message);
}

/* ---- SSH and FTP ----------------------------------------------------------------------------- */

/* The fields of the client's side; those of the server's have the same order. */
EVENT_INLINE void event_ssh_side(void *to, const struct sl_app_message *message, int side)
{
    enum { PROTO = 1, SOFTWARE, HASSH, HASSH_HASH, HASSH_STRING };
    const enum event_field first = side == 0 ? FIELD_SSH_CLIENT : FIELD_SSH_SERVER;
    const struct sl_app_half *half = &message->half[side];
    uint32_t n;

    if (message_values(half, SL_SSH_PROTO, &n) == NULL)
        return;
    event_object(to, first);
    event_value(to, first + PROTO, half, SL_SSH_PROTO);
    event_value(to, first + SOFTWARE, half, SL_SSH_SOFTWARE);
    if (message_values(half, SL_SSH_HASSH, &n) != NULL) {
        event_object(to, first + HASSH);
        event_value(to, first + HASSH_HASH, half, SL_SSH_HASSH);
        event_value(to, first + HASSH_STRING, half, SL_SSH_HASSH_STRING);
        event_end(to);
    }
    event_end(to);
}

EVENT_INLINE void event_ssh_message(void *to, const struct sl_app_message *message)
{
    event_object(to, FIELD_SSH);
    event_ssh_side(to, message, 0);
    event_ssh_side(to, message, 1);
    event_end(to);
}

EVENT_INLINE void event_ftp_message(void *to, const struct sl_app_message *message)
{
    const struct sl_app_half *client = &message->half[0], *server = &message->half[1];
    uint32_t n;

    event_object(to, FIELD_FTP);
    event_value(to, FIELD_FTP_COMMAND, client, SL_FTP_COMMAND);
    event_value(to, FIELD_FTP_COMMAND_DATA, client, SL_FTP_COMMAND_DATA);
    event_flag(to, FIELD_FTP_COMMAND_CUT, message->truncated[0]);
    event_values(to, FIELD_FTP_CODE, server, SL_FTP_COMPLETION_CODE);
    if (message->port != 0)
        event_number(to, FIELD_FTP_PORT, message->port);
    if (message->ftp_mode != SL_FTP_UNSTATED)
        event_text(to, FIELD_FTP_MODE, message->ftp_mode == SL_FTP_ACTIVE ? "active" : "passive");
    event_values(to, FIELD_FTP_REPLY, server, SL_FTP_REPLY);
    event_text(to, FIELD_FTP_REPLY_RECEIVED,
               message_values(server, SL_FTP_REPLY, &n) != NULL ? "yes" : "no");
    event_flag(to, FIELD_FTP_REPLY_CUT, message->truncated[1]);
    event_end(to);
}

/* ---- DCERPC ---------------------------------------------------------------------------------- */

EVENT_INLINE void event_call_side(void *to, const struct sl_app_message *message, int side)
{
    event_object(to, side == 0 ? FIELD_DCERPC_REQ : FIELD_DCERPC_RES);
    if (side == 0)
        event_number(to, FIELD_DCERPC_OPNUM, message->call.opnum);
    event_number(to, FIELD_DCERPC_FRAGMENTS, message->call.n_fragments[side]);
    event_number(to, FIELD_DCERPC_STUB_SIZE, message->half[side].body_len);
    event_end(to);
}

EVENT_INLINE void event_call_interface(void *to, const struct sl_app_message *message,
                                       struct event_texts *texts)
{
    event_take(to, FIELD_DCERPC_INTERFACES, (struct sl_field){.type = SL_FIELD_LIST});
    event_object(to, FIELD_END);
    event_value(to, FIELD_DCERPC_UUID, &message->half[0], SL_DCERPC_INTERFACE);
    snprintf(texts->call_version, sizeof texts->call_version, "%u.%u", message->call.major,
             message->call.minor);
    event_text(to, FIELD_DCERPC_VERSION, texts->call_version);
    event_end(to);
    event_take(to, FIELD_END, (struct sl_field){.type = SL_FIELD_LIST_END});
}

EVENT_INLINE void event_dcerpc_message(void *to, const struct sl_app_message *message,
                                       struct event_texts *texts)
{
    uint32_t n;

    event_object(to, FIELD_DCERPC);
    event_text(to, FIELD_DCERPC_REQUEST, "REQUEST");
    event_call_side(to, message, 0);
    if (message->call.n_fragments[1] != 0) {
        event_text(to, FIELD_DCERPC_RESPONSE, "RESPONSE");
        event_call_side(to, message, 1);
    }
    if (message_values(&message->half[0], SL_DCERPC_INTERFACE, &n) != NULL)
        event_call_interface(to, message, texts);
    event_number(to, FIELD_DCERPC_CALL_ID, message->call.id);
    event_text(to, FIELD_DCERPC_RPC_VERSION, "5.0");
    event_end(to);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The part of a whole that the server sent. */
EVENT_INLINE void event_file_range(void *to, const struct sl_app_message *message)
{
    struct sl_app_value value;
    struct message_range range;

    if (message->side == 0 || !message_http_field(&message->half[1], "content-range", &value) ||
        !message_read_range(&value, &range) || range.start < 0 || range.end < 0)
        return;
    event_number(to, FIELD_FILE_START, (uint64_t)range.start);
    event_number(to, FIELD_FILE_END, (uint64_t)range.end);
}

/* The members of a file's object. */
EVENT_PART void event_file(void *to, const struct sl_app_message *message,
                           struct event_texts *texts)
{
    static const enum event_field fields[SL_N_FILE_HASHES] = {FIELD_FILE_MD5, FIELD_FILE_SHA1,
                                                              FIELD_FILE_SHA256};
    const struct sl_app_file *file = message->file;

    event_bytes(to, FIELD_FILE_NAME, SL_FIELD_TEXT, file->name.bytes, file->name.len);
    if (file->magic.len != 0)
        event_bytes(to, FIELD_FILE_MAGIC, SL_FIELD_TEXT, file->magic.bytes, file->magic.len);
    event_flag(to, FIELD_FILE_GAPS, file->has_gaps);
    event_text(to, FIELD_FILE_STATE, file->state == SL_FILE_CLOSED ? "CLOSED" : "TRUNCATED");
    for (size_t i = 0; i < SL_N_FILE_HASHES; i++)
        if ((file->hashes >> i & 1) != 0)
            event_text(to, fields[i],
                       message_hash(file, (enum sl_file_hash)i, texts->file_hash[i]));
    event_flag(to, FIELD_FILE_STORED, file->is_stored);
    event_number(to, FIELD_FILE_SIZE, file->size);
    event_file_range(to, message);
    event_number(to, FIELD_FILE_TX_ID, message->transaction);
}

/* ---- anomalies ------------------------------------------------------------------------------- */

EVENT_INLINE void event_message_anomaly(void *to, const struct sl_app_message *message,
                                        struct event_texts *texts)
{
    event_number(to, FIELD_TX_ID, message->transaction);
    event_object(to, FIELD_ANOMALY);
    event_text(to, FIELD_ANOMALY_APP, sl_app_name((enum sl_app)message->app));
    event_text(to, FIELD_ANOMALY_TYPE, "applayer");
    event_text(to, FIELD_ANOMALY_EVENT, message_event(message, texts->app_event));
    event_text(to, FIELD_ANOMALY_LAYER, "proto_parser");
    event_end(to);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The object of the message's protocol. */
EVENT_PART void event_protocol_object(void *to, const struct sl_app_message *message,
                                      bool has_chain, struct event_texts *texts)
{
    if (message->app == SL_APP_HTTP)
        event_http_message(to, message);
    else if (message->app == SL_APP_TLS)
        event_tls_message(to, message, has_chain, texts);
    else if (message->app == SL_APP_QUIC)
        event_quic_message(to, message, texts);
    else if (message->app == SL_APP_SMTP)
        event_smtp_message(to, message);
    else if (message->app == SL_APP_SSH)
        event_ssh_message(to, message);
    else if (message->app == SL_APP_FTP)
        event_ftp_message(to, message);
    else if (message->app == SL_APP_DCERPC)
        event_dcerpc_message(to, message, texts);
}

EVENT_INLINE void event_fileinfo(void *to, const struct sl_app_message *message,
                                 struct event_texts *texts)
{
    event_protocol_object(to, message, false, texts);
    event_text(to, FIELD_APP_PROTO, sl_app_name((enum sl_app)message->app));
    event_object(to, FIELD_FILEINFO);
    event_file(to, message, texts);
    event_end(to);
}

/* The fields that an alert shows of the message that the rule matches. */
EVENT_INLINE void event_alert_message(void *to, const struct sl_app_message *message,
                                      struct event_texts *texts)
{
    event_protocol_object(to, message, false, texts);
    if (message->file == NULL)
        return;
    event_take(to, FIELD_FILES, (struct sl_field){.type = SL_FIELD_LIST});
    event_object(to, FIELD_END);
    event_file(to, message, texts);
    event_end(to);
    event_take(to, FIELD_END, (struct sl_field){.type = SL_FIELD_LIST_END});
}

#endif
