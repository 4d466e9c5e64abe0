/* SPDX-License-Identifier: MIT */
/* The values of a session of TLS. */
#include "tls.h"

static bool get_string(struct app_span *value, const char *string)
{
    *value = (struct app_span){(const uint8_t *)string, (uint32_t)strlen(string)};
    return value->len != 0;
}

static bool get_text(struct app_span *value, const struct app_text *text)
{
    *value = app_text_span(text);
    return value->len != 0;
}

/* "1.2"; "": none of TLS. */
static const char *version_number(uint16_t version)
{
    static const char *const numbers[] = {"1.0", "1.1", "1.2", "1.3"};

    return version > 0x0300 && version <= 0x0304 ? numbers[version - 0x0301] : "";
}

bool tls_value_get(struct app_span *value, const struct tls_session *session,
                   enum sl_app_value_id id)
{
    switch (id) {
    case SL_TLS_SNI:
        return get_text(value, &session->sni);
    case SL_TLS_VERSION:
        return get_string(value, version_number(session->version));
    case SL_TLS_CERT_SUBJECT:
        return get_text(value, &session->subject);
    case SL_TLS_CERT_ISSUER:
        return get_text(value, &session->issuer);
    case SL_TLS_CERT_SERIAL:
        return get_text(value, &session->serial);
    case SL_TLS_CERT_FINGERPRINT:
        return get_string(value, session->fingerprint);
    case SL_TLS_CERT_NOT_BEFORE:
        return get_string(value, session->not_before);
    case SL_TLS_CERT_NOT_AFTER:
        return get_string(value, session->not_after);
    case SL_TLS_JA3_HASH:
        return get_string(value, session->ja3_hash);
    case SL_TLS_JA3:
        return get_text(value, &session->ja3);
    case SL_TLS_JA3S_HASH:
        return get_string(value, session->ja3s_hash);
    case SL_TLS_JA3S:
        return get_text(value, &session->ja3s);
    default:
        return get_string(value, session->ja4);
    }
}

static void show_certificates(struct app_show *show, const struct tls_session *session)
{
    struct app_span list = app_text_span(&session->chain), certificate;

    if (!app_show_wants(show, SL_TLS_CERT))
        return;
    while (list.len != 0 && tls_cut_vector(&list, 3, &certificate))
        app_show_add(show, SL_TLS_CERT, certificate);
}

static enum app_side side_of(enum sl_app_value_id id)
{
    return id == SL_TLS_SNI || id == SL_TLS_JA3_HASH || id == SL_TLS_JA3 || id == SL_TLS_JA4
               ? APP_CLIENT
               : APP_SERVER;
}

void tls_show(struct app_show *show, const void *of, enum app_side side)
{
    const struct tls_session *session = of;
    const uint8_t hello = side == APP_CLIENT ? SL_TLS_SEEN_CLIENT_HELLO : SL_TLS_SEEN_SERVER_HELLO;
    struct app_span value;

    for (int id = SL_TLS_SNI; id <= SL_TLS_JA4; id++)
        if (side_of((enum sl_app_value_id)id) == side &&
            app_show_wants(show, (enum sl_app_value_id)id) &&
            tls_value_get(&value, session, (enum sl_app_value_id)id))
            app_show_add(show, (enum sl_app_value_id)id, value);
    if (side == APP_SERVER) {
        show_certificates(show, session);
        app_show_texts(show, SL_TLS_CERT_ALT_NAME, &session->names, UINT32_MAX);
    }
    app_show_texts(show, SL_TLS_ALPN,
                   side == APP_CLIENT ? &session->client_alpns : &session->server_alpns,
                   UINT32_MAX);
    if (app_show_wants(show, SL_TLS_RANDOM) && (session->seen & hello) != 0)
        app_show_add(show, SL_TLS_RANDOM,
                     (struct app_span){session->random[side], sizeof session->random[side]});
}

void tls_describe(struct sl_app_message *message, const void *of)
{
    const struct tls_session *session = of;

    message->seen = session->seen;
    message->version[0] = session->client_version;
    message->version[1] = session->version;
    message->n_certificates = session->n_certificates;
    message->later = message->side == 1 && session->n_certificates != 0;
    message->half[0].has_head = (session->seen & SL_TLS_SEEN_CLIENT_HELLO) != 0;
    message->half[1].has_head =
        (session->seen & (SL_TLS_SEEN_CERTIFICATE | SL_TLS_SEEN_RESUMED)) != 0 ||
        session->version >= 0x0304;
}
