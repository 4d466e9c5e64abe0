/* SPDX-License-Identifier: MIT */
/* Records and messages of TLS, and the interface of parsers. */
#include "tls.h"

enum {
    RECORD_HEAD = 5,
    MESSAGE_HEAD = 4,
    CHANGE_CIPHER = 20,
    ALERT = 21,
    APPLICATION = 23,
    CLIENT_HELLO = 1,
    SERVER_HELLO = 2,
    CERTIFICATE = 11,
    SERVER_KEYS = 12,
    SERVER_DONE = 14,
    CLIENT_KEYS = 16,
    TLS13 = 0x0304
};

struct tls_side {
    struct app_text message; /* of the handshake, with its head */
    uint8_t head[RECORD_HEAD];
    uint8_t n_head;    /* bytes of the record's head that came */
    uint16_t left;     /* bytes of the record to come */
    bool over, is_bad; /* over: it has encrypted */
    bool changed;      /* it has changed its cipher, which says nothing in TLS 1.3 */
};

struct tls_flow {
    struct tls_side side[2];
    struct tls_session session;
    const struct app_listener *listener;
    void *note; /* see struct app_news */
    bool done, no_memory;
};

/* ---- reporting ------------------------------------------------------------------------------ */

static void report(struct tls_flow *flow, enum app_side side, enum app_news_kind kind,
                   const char *event)
{
    const struct app_news news = {.parser = &tls_parser,
                                  .transaction = &flow->session,
                                  .note = &flow->note,
                                  .event = event,
                                  .kind = (uint8_t)kind,
                                  .side = (uint8_t)side};

    app_report(flow->listener, &news);
}

static void report_done(struct tls_flow *flow)
{
    if (!flow->done && flow->session.seen != 0)
        report(flow, APP_CLIENT, APP_DONE, NULL);
    flow->done = true;
}

/* The side cannot be read any further. */
static void give_up(struct tls_flow *flow, enum app_side side, const char *event)
{
    flow->side[side].is_bad = true;
    report(flow, side, APP_EVENT, event);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void read_certificates(struct tls_flow *flow, struct app_span body)
{
    struct tls_session *const session = &flow->session;
    struct app_span list, certificate;
    const char *event = "invalid_certificate";
    uint32_t n = 0;
    bool whole = tls_cut_vector(&body, 3, &list);

    session->chain.len = 0;
    app_text_add(&session->chain, list.bytes, list.len);
    while (whole && list.len != 0) {
        whole = tls_cut_vector(&list, 3, &certificate);
        if (whole && n++ == 0) {
            whole = tls_read_certificate(session, certificate);
            if (!whole && tls_certificate_lacks_length(certificate))
                event = "certificate_invalid_length";
        }
    }
    session->seen |= n != 0 ? SL_TLS_SEEN_CERTIFICATE : 0;
    session->n_certificates = (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
    if (n != 0)
        report(flow, APP_SERVER, APP_HEAD, NULL);
    if (!whole) {
        report(flow, APP_SERVER, APP_EVENT, event);
        report(flow, APP_SERVER, APP_EVENT, "invalid_handshake_message");
    }
}

static bool lacks_memory(const struct tls_session *session)
{
    return session->sni.no_memory || session->ja3.no_memory || session->ja3s.no_memory ||
           session->subject.no_memory || session->issuer.no_memory || session->serial.no_memory ||
           session->client_alpns.no_memory || session->server_alpns.no_memory ||
           session->names.no_memory || session->chain.no_memory;
}

static void read_hello(struct tls_flow *flow, enum app_side side, struct app_span body)
{
    const bool whole = side == APP_CLIENT ? tls_read_client_hello(&flow->session, body)
                                          : tls_read_server_hello(&flow->session, body);
    const uint8_t seen = side == APP_CLIENT ? SL_TLS_SEEN_CLIENT_HELLO : SL_TLS_SEEN_SERVER_HELLO;

    if (!whole)
        report(flow, side, APP_EVENT, "invalid_handshake_message");
    if ((flow->session.seen & seen) != 0)
        report(flow, side, APP_HEAD, NULL);
}

static void read_message(struct tls_flow *flow, enum app_side side, uint8_t type,
                         struct app_span body)
{
    if ((type == CLIENT_HELLO && side == APP_CLIENT) ||
        (type == SERVER_HELLO && side == APP_SERVER))
        read_hello(flow, side, body);
    else if (type == CERTIFICATE && side == APP_SERVER)
        read_certificates(flow, body);
    else if (type == SERVER_KEYS && side == APP_SERVER)
        flow->session.seen |= SL_TLS_SEEN_SERVER_KEYS;
    else if (type == CLIENT_KEYS && side == APP_CLIENT)
        flow->session.seen |= SL_TLS_SEEN_CLIENT_KEYS;
    flow->no_memory |= lacks_memory(&flow->session);
}

/* Reads the whole messages that were gathered. */
static void read_messages(struct tls_flow *flow, enum app_side side)
{
    struct app_text *const message = &flow->side[side].message;
    struct app_span left = app_text_span(message), head, body;

    while (!flow->side[side].is_bad && left.bytes != NULL && left.len >= MESSAGE_HEAD) {
        struct app_span rest = left;

        (void)tls_cut(&rest, 1, &head);
        if (!tls_cut_vector(&rest, 3, &body)) {
            const uint32_t len =
                (uint32_t)left.bytes[1] << 16 | (uint32_t)left.bytes[2] << 8 | left.bytes[3];
            if (len > TLS_MESSAGE_MAX)
                give_up(flow, side, "handshake_invalid_length");
            break;
        }
        read_message(flow, side, head.bytes[0], body);
        left = rest;
    }
    if (left.bytes == NULL || left.len == 0 || flow->side[side].is_bad) {
        app_text_free(message);
        return;
    }
    memmove(message->bytes, left.bytes, left.len);
    message->len = left.len;
}

/* ---- records --------------------------------------------------------------------------------- */

/* The side encrypts from here on. */
static void end_side(struct tls_flow *flow, enum app_side side)
{
    struct tls_session *const session = &flow->session;

    flow->side[side].over = true;
    app_text_free(&flow->side[side].message);
    if (side == APP_SERVER && session->version != 0 && session->version < TLS13 &&
        (session->seen & (SL_TLS_SEEN_CERTIFICATE | SL_TLS_SEEN_SERVER_KEYS)) == 0)
        session->seen |= SL_TLS_SEEN_RESUMED;
    if (flow->side[!side].over)
        report_done(flow);
}

/* From TLS 1.3 on a change of cipher may stand between two hellos. Where the version is not known
 * yet the next record decides. */
static bool ends_at_change(const struct tls_session *session)
{
    return (session->seen & SL_TLS_SEEN_CLIENT_KEYS) != 0 ||
           (session->version != 0 && session->version < TLS13);
}

/* The head of a record is whole. */
static void begin_record(struct tls_flow *flow, enum app_side side)
{
    struct tls_side *const mine = &flow->side[side];
    const uint8_t type = mine->head[0];

    mine->left = (uint16_t)(mine->head[3] << 8 | mine->head[4]);
    if (mine->head[1] != 3 || type < CHANGE_CIPHER || type > APPLICATION)
        give_up(flow, side, "invalid_record_type");
    else if (type == APPLICATION || (type == CHANGE_CIPHER && ends_at_change(&flow->session)))
        end_side(flow, side);
    mine->changed |= type == CHANGE_CIPHER;
    if (mine->left == 0)
        mine->n_head = 0;
}

static uint32_t take(struct tls_flow *flow, enum app_side side, const uint8_t *bytes, uint32_t len)
{
    struct tls_side *const mine = &flow->side[side];
    const uint32_t n = len < mine->left ? len : mine->left;

    if (mine->n_head < RECORD_HEAD) {
        mine->head[mine->n_head++] = *bytes;
        if (mine->n_head == RECORD_HEAD)
            begin_record(flow, side);
        return 1;
    }
    if (mine->head[0] == TLS_HANDSHAKE && mine->changed && mine->message.len == 0 &&
        bytes[0] != (side == APP_CLIENT ? CLIENT_HELLO : SERVER_HELLO)) {
        end_side(flow, side);
        return 1;
    }
    if (mine->head[0] == TLS_HANDSHAKE) {
        app_text_add(&mine->message, bytes, n);
        flow->no_memory |= mine->message.no_memory;
        if (!flow->no_memory)
            read_messages(flow, side);
    }
    mine->left -= (uint16_t)n;
    if (mine->left == 0)
        mine->n_head = 0;
    return n;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void *open_flow(void)
{
    return calloc(1, sizeof(struct tls_flow));
}

static enum app_verdict verdict_of(const struct tls_flow *flow, enum app_side side)
{
    if (flow->no_memory)
        return APP_NO_MEMORY;
    return flow->side[side].over || flow->side[side].is_bad ? APP_GIVEN_UP : APP_GOES_ON;
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct tls_flow *const flow = of;

    flow->listener = listener;
    *taken = 0;
    while (*taken < len && verdict_of(flow, side) == APP_GOES_ON)
        *taken += take(flow, side, bytes + *taken, len - *taken);
    return verdict_of(flow, side);
}

/* Behind a gap there is no knowing where records begin. */
static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct tls_flow *const flow = of;

    (void)len;
    flow->listener = listener;
    flow->side[side].is_bad = true;
    app_text_free(&flow->side[side].message);
    return APP_GIVEN_UP;
}

static void end_flow(void *of, enum app_side side, const struct app_listener *listener)
{
    struct tls_flow *const flow = of;

    flow->listener = listener;
    app_text_free(&flow->side[side].message);
}

void tls_session_free(struct tls_session *session)
{
    struct app_text *const texts[] = {
        &session->sni,    &session->ja3,    &session->ja3s,         &session->subject,
        &session->issuer, &session->serial, &session->client_alpns, &session->server_alpns,
        &session->names,  &session->chain};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        app_text_free(texts[i]);
}

static void close_flow(void *of, const struct app_listener *listener)
{
    struct tls_flow *const flow = of;

    flow->listener = listener;
    report_done(flow);
    app_text_free(&flow->side[0].message);
    app_text_free(&flow->side[1].message);
    tls_session_free(&flow->session);
    free(flow);
}

static uint64_t held_by(const void *of)
{
    const struct tls_flow *const flow = of;
    const struct tls_session *const session = &flow->session;

    return sizeof *flow + flow->side[0].message.max + flow->side[1].message.max + session->sni.max +
           session->ja3.max + session->ja3s.max + session->subject.max + session->issuer.max +
           session->serial.max + session->client_alpns.max + session->server_alpns.max +
           session->names.max + session->chain.max;
}

const struct app_parser tls_parser = {.app = SL_APP_TLS,
                                      .open = open_flow,
                                      .give = give_flow,
                                      .gap = gap_flow,
                                      .end = end_flow,
                                      .close = close_flow,
                                      .held = held_by,
                                      .show = tls_show,
                                      .describe = tls_describe};

/* A record of the handshake with a hello, or an alert. */
enum app_likeness tls_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    const uint8_t hello = side == APP_CLIENT ? CLIENT_HELLO : SERVER_HELLO;

    if ((len > 0 && bytes[0] != TLS_HANDSHAKE && (bytes[0] != ALERT || side == APP_CLIENT)) ||
        (len > 1 && bytes[1] != 3) || (len > 2 && bytes[2] > 4))
        return APP_UNLIKE;
    if (len < RECORD_HEAD + 1)
        return APP_TOO_SHORT;
    if (bytes[0] == ALERT)
        return bytes[3] == 0 && bytes[4] == 2 && bytes[5] <= 2 ? APP_LIKE : APP_UNLIKE;
    return bytes[5] == hello ? APP_LIKE : APP_UNLIKE;
}
