/* SPDX-License-Identifier: MIT */
/* Handshakes of TLS and SSL 3: what both sides say before they encrypt. app_parser.h has the
 * interface. A flow has one transaction, a struct tls_session. Its news are APP_HEAD for a hello of
 * either side, and for the server's certificates, then APP_DONE.
 *
 * Behind the handshake a side is given up: encrypted bytes say nothing. A flow holds one message of
 * the handshake a side, of at most TLS_MESSAGE_MAX bytes, and what it has read. */
#ifndef APP_TLS_H
#define APP_TLS_H

#include "app_parser.h"
#include "sluice/app.h"

enum {
    TLS_HANDSHAKE = 22,      /* kind of records, their first byte */
    TLS_MESSAGE_MAX = 65536, /* a longer one ends its side */
    TLS_NAMES_MAX = 4096,    /* bytes of all alternative names that are kept */
    TLS_JA4_LEN = 36
};

struct tls_session {
    uint16_t client_version; /* that the hello offers: of its extension, else of its head */
    uint16_t version;        /* that the server chose; 0: not seen */
    uint8_t seen;            /* SL_TLS_SEEN_* */
    uint8_t n_certificates;
    char ja3_hash[33], ja3s_hash[33], ja4[TLS_JA4_LEN + 1]; /* "": there is no hello */
    char fingerprint[60];                                   /* SHA-1 of the first certificate */
    char not_before[20], not_after[20];                     /* "2024-01-31T23:59:59" */
    uint8_t random[2][32];                                  /* of the hellos */
    struct app_text sni, ja3, ja3s, subject, issuer, serial;
    struct app_text client_alpns, server_alpns, names; /* a NUL behind each */
    struct app_text chain; /* certificates, 3 bytes of length before each */
};

extern const struct app_parser tls_parser;

enum app_likeness tls_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

/* A value SL_TLS_SNI to SL_TLS_JA4. False: the session has none so far. */
bool tls_value_get(struct app_span *value, const struct tls_session *session,
                   enum sl_app_value_id id);

/* As struct app_parser has them. */
void tls_show(struct app_show *show, const void *of, enum app_side side);
void tls_describe(struct sl_app_message *message, const void *of);

/* ---- parts of the parser --------------------------------------------------------------------- */

/* Reads the body of a hello. False: it is damaged; the parts read before count. */
bool tls_read_client_hello(struct tls_session *session, struct app_span body);
bool tls_read_server_hello(struct tls_session *session, struct app_span body);

/* JA4 of a client's hello; `kind` is 't' for TCP, 'q' for QUIC. False as above. */
bool tls_read_ja4(char ja4[TLS_JA4_LEN + 1], struct app_span body, char kind);

/* Reads the first certificate, in DER. False: it is damaged. */
bool tls_read_certificate(struct tls_session *session, struct app_span der);

/* Of a damaged one: whether the length of an element of its body, or of what the body is in, is
 * cut or of no known form. */
bool tls_certificate_lacks_length(struct app_span der);

void tls_session_free(struct tls_session *session);

/* Cuts n bytes off the begin of a span. False: it is shorter, and becomes empty. */
static inline bool tls_cut(struct app_span *from, uint32_t n, struct app_span *part)
{
    const bool there = n <= from->len;

    *part = (struct app_span){from->bytes, there ? n : 0};
    from->bytes += there ? n : from->len;
    from->len -= there ? n : from->len;
    return there;
}

/* Cuts a number of n bytes, and so many bytes behind it. */
static inline bool tls_cut_vector(struct app_span *from, uint32_t n, struct app_span *part)
{
    struct app_span len;
    uint32_t number = 0;

    if (!tls_cut(from, n, &len) || len.bytes == NULL) {
        *part = (struct app_span){0};
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        number = number << 8 | len.bytes[i];
    return tls_cut(from, number, part);
}

static inline bool tls_cut_number(struct app_span *from, uint16_t *number)
{
    struct app_span part;
    *number = 0;
    if (!tls_cut(from, 2, &part) || part.bytes == NULL)
        return false;
    *number = (uint16_t)(part.bytes[0] << 8 | part.bytes[1]);
    return true;
}

#endif
