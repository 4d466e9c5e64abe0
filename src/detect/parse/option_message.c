/* SPDX-License-Identifier: MIT */
/* The options that choose a value of a flow's message as the buffer of contents. */
#include <string.h>

#include "detect/rule_time.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum { ANY_IP = RULE_IP | RULE_IPV4 | RULE_IPV6 };

static const struct value_buffer {
    const char *name;
    uint8_t side; /* enum rule_side */
    uint8_t id;   /* of rule_buffer_id */
} buffers[] = {
    {"http.method", RULE_OF_CLIENT, SL_HTTP_METHOD},
    {"http.uri", RULE_OF_CLIENT, SL_HTTP_URI},
    {"http.uri.raw", RULE_OF_CLIENT, SL_HTTP_URI_RAW},
    {"http.host", RULE_OF_CLIENT, SL_HTTP_HOST},
    {"http.host.raw", RULE_OF_CLIENT, SL_HTTP_HOST_RAW},
    {"http.protocol", RULE_OF_SENDER, SL_HTTP_PROTOCOL},
    {"http_protocol", RULE_OF_SENDER, SL_HTTP_PROTOCOL},
    {"http.request_line", RULE_OF_CLIENT, SL_HTTP_START_LINE},
    {"http_request_line", RULE_OF_CLIENT, SL_HTTP_START_LINE},
    {"http.response_line", RULE_OF_SERVER, SL_HTTP_START_LINE},
    {"http_response_line", RULE_OF_SERVER, SL_HTTP_START_LINE},
    {"http.start", RULE_OF_SENDER, SL_HTTP_START},
    {"http_start", RULE_OF_SENDER, SL_HTTP_START},
    {"http.header", RULE_OF_SENDER, SL_HTTP_HEADER},
    {"http.header.raw", RULE_OF_SENDER, SL_HTTP_HEADER_RAW},
    {"http.header_names", RULE_OF_SENDER, SL_HTTP_HEADER_NAMES},
    {"http_header_names", RULE_OF_SENDER, SL_HTTP_HEADER_NAMES},
    {"http.cookie", RULE_OF_SENDER, SL_HTTP_COOKIE},
    {"http.request_header", RULE_OF_CLIENT, RULE_HTTP_FIELD_LINES},
    {"http.response_header", RULE_OF_SERVER, RULE_HTTP_FIELD_LINES},
    {"http.stat_code", RULE_OF_SERVER, SL_HTTP_STAT_CODE},
    {"http.stat_msg", RULE_OF_SERVER, SL_HTTP_STAT_MSG},
    {"http.user_agent", RULE_OF_CLIENT, SL_HTTP_USER_AGENT},
    {"http.referer", RULE_OF_CLIENT, SL_HTTP_REFERER},
    {"http_referer", RULE_OF_CLIENT, SL_HTTP_REFERER},
    {"http.accept", RULE_OF_CLIENT, SL_HTTP_ACCEPT},
    {"http_accept", RULE_OF_CLIENT, SL_HTTP_ACCEPT},
    {"http.accept_lang", RULE_OF_CLIENT, SL_HTTP_ACCEPT_LANG},
    {"http_accept_lang", RULE_OF_CLIENT, SL_HTTP_ACCEPT_LANG},
    {"http.accept_enc", RULE_OF_CLIENT, SL_HTTP_ACCEPT_ENC},
    {"http_accept_enc", RULE_OF_CLIENT, SL_HTTP_ACCEPT_ENC},
    {"http.connection", RULE_OF_SENDER, SL_HTTP_CONNECTION},
    {"http_connection", RULE_OF_SENDER, SL_HTTP_CONNECTION},
    {"http.content_type", RULE_OF_SENDER, SL_HTTP_CONTENT_TYPE},
    {"http_content_type", RULE_OF_SENDER, SL_HTTP_CONTENT_TYPE},
    {"http.content_len", RULE_OF_SENDER, SL_HTTP_CONTENT_LEN},
    {"http_content_len", RULE_OF_SENDER, SL_HTTP_CONTENT_LEN},
    {"http.server", RULE_OF_SERVER, SL_HTTP_SERVER},
    {"http.location", RULE_OF_SERVER, SL_HTTP_LOCATION},
    {"http.request_body", RULE_OF_CLIENT, SL_APP_BODY},
    {"http.response_body", RULE_OF_SERVER, SL_APP_BODY},
    {"file.data", RULE_OF_SENDER, SL_APP_BODY},
    {"file_data", RULE_OF_SENDER, SL_APP_BODY},
    {"file.name", RULE_OF_SENDER, SL_FILE_NAME},
    {"file.magic", RULE_OF_SENDER, SL_FILE_MAGIC},
    {"tls.sni", RULE_OF_CLIENT, SL_TLS_SNI},
    {"tls_sni", RULE_OF_CLIENT, SL_TLS_SNI},
    {"tls.cert_subject", RULE_OF_SERVER, SL_TLS_CERT_SUBJECT},
    {"tls_cert_subject", RULE_OF_SERVER, SL_TLS_CERT_SUBJECT},
    {"tls.cert_issuer", RULE_OF_SERVER, SL_TLS_CERT_ISSUER},
    {"tls_cert_issuer", RULE_OF_SERVER, SL_TLS_CERT_ISSUER},
    {"tls.cert_serial", RULE_OF_SERVER, SL_TLS_CERT_SERIAL},
    {"tls_cert_serial", RULE_OF_SERVER, SL_TLS_CERT_SERIAL},
    {"tls.cert_fingerprint", RULE_OF_SERVER, SL_TLS_CERT_FINGERPRINT},
    {"tls_cert_fingerprint", RULE_OF_SERVER, SL_TLS_CERT_FINGERPRINT},
    {"tls.certs", RULE_OF_SERVER, SL_TLS_CERT},
    {"tls.subjectaltname", RULE_OF_SERVER, SL_TLS_CERT_ALT_NAME},
    {"tls.alpn", RULE_OF_SENDER, SL_TLS_ALPN},
    {"tls.random", RULE_OF_SENDER, SL_TLS_RANDOM},
    {"tls.random_time", RULE_OF_SENDER, RULE_TLS_RANDOM_TIME},
    {"tls.random_bytes", RULE_OF_SENDER, RULE_TLS_RANDOM_BYTES},
    {"ja3.hash", RULE_OF_CLIENT, SL_TLS_JA3_HASH},
    {"ja3_hash", RULE_OF_CLIENT, SL_TLS_JA3_HASH},
    {"ja3.string", RULE_OF_CLIENT, SL_TLS_JA3},
    {"ja3_string", RULE_OF_CLIENT, SL_TLS_JA3},
    {"ja3s.hash", RULE_OF_SERVER, SL_TLS_JA3S_HASH},
    {"ja3s.string", RULE_OF_SERVER, SL_TLS_JA3S},
    {"ja4.hash", RULE_OF_CLIENT, SL_TLS_JA4},
    {"ja4_hash", RULE_OF_CLIENT, SL_TLS_JA4},
    {"quic.sni", RULE_OF_CLIENT, SL_TLS_SNI},
    {"quic.version", RULE_OF_SENDER, RULE_QUIC_VERSION},
    {"quic_version", RULE_OF_SENDER, RULE_QUIC_VERSION},
    {"quic_sni", RULE_OF_CLIENT, SL_TLS_SNI},
    {"smtp.helo", RULE_OF_CLIENT, SL_SMTP_HELO},
    {"smtp.mail_from", RULE_OF_CLIENT, SL_SMTP_MAIL_FROM},
    {"smtp.rcpt_to", RULE_OF_CLIENT, SL_SMTP_RCPT_TO},
    {"email.from", RULE_OF_CLIENT, SL_EMAIL_FROM},
    {"email.to", RULE_OF_CLIENT, SL_EMAIL_TO},
    {"email.cc", RULE_OF_CLIENT, SL_EMAIL_CC},
    {"email.subject", RULE_OF_CLIENT, SL_EMAIL_SUBJECT},
    {"email.date", RULE_OF_CLIENT, SL_EMAIL_DATE},
    {"email.message_id", RULE_OF_CLIENT, SL_EMAIL_MESSAGE_ID},
    {"email.x_mailer", RULE_OF_CLIENT, SL_EMAIL_X_MAILER},
    {"email.received", RULE_OF_CLIENT, SL_EMAIL_RECEIVED},
    {"email.url", RULE_OF_CLIENT, SL_EMAIL_URL},
    {"ssh.proto", RULE_OF_SENDER, SL_SSH_PROTO},
    {"ssh_proto", RULE_OF_SENDER, SL_SSH_PROTO},
    {"ssh.software", RULE_OF_SENDER, SL_SSH_SOFTWARE},
    {"ssh_software", RULE_OF_SENDER, SL_SSH_SOFTWARE},
    {"ssh.hassh", RULE_OF_CLIENT, SL_SSH_HASSH},
    {"ssh.hassh.string", RULE_OF_CLIENT, SL_SSH_HASSH_STRING},
    {"ssh.hassh.server", RULE_OF_SERVER, SL_SSH_HASSH},
    {"ssh.hassh.server.string", RULE_OF_SERVER, SL_SSH_HASSH_STRING},
    {"dcerpc.stub_data", RULE_OF_SENDER, SL_APP_BODY},
    {"dce_stub_data", RULE_OF_SENDER, SL_APP_BODY},
    {"ftp.command", RULE_OF_CLIENT, SL_FTP_COMMAND},
    {"ftp.command_data", RULE_OF_CLIENT, SL_FTP_COMMAND_DATA},
    {"ftp.completion_code", RULE_OF_SERVER, SL_FTP_COMPLETION_CODE},
    {"ftp.reply", RULE_OF_SERVER, SL_FTP_REPLY},
};

enum { N_BUFFERS = sizeof buffers / sizeof buffers[0] };

/* The modifiers of Suricata and Snort 2: they put the content before them into a buffer. Snort 3
 * writes the same names before contents, as buffers. */
static const struct value_buffer modifiers[] = {
    {"http_method", RULE_OF_CLIENT, SL_HTTP_METHOD},
    {"http_uri", RULE_OF_CLIENT, SL_HTTP_URI},
    {"http_raw_uri", RULE_OF_CLIENT, SL_HTTP_URI_RAW},
    {"http_host", RULE_OF_CLIENT, SL_HTTP_HOST},
    {"http_raw_host", RULE_OF_CLIENT, SL_HTTP_HOST_RAW},
    {"http_header", RULE_OF_SENDER, SL_HTTP_HEADER},
    {"http_raw_header", RULE_OF_SENDER, SL_HTTP_HEADER_RAW},
    {"http_cookie", RULE_OF_SENDER, SL_HTTP_COOKIE},
    {"http_user_agent", RULE_OF_CLIENT, SL_HTTP_USER_AGENT},
    {"http_stat_code", RULE_OF_SERVER, SL_HTTP_STAT_CODE},
    {"http_stat_msg", RULE_OF_SERVER, SL_HTTP_STAT_MSG},
    {"http_client_body", RULE_OF_CLIENT, SL_APP_BODY},
    {"http_server_body", RULE_OF_SERVER, SL_APP_BODY},
};

enum { N_MODIFIERS = sizeof modifiers / sizeof modifiers[0] };

static const struct value_buffer *find(const struct value_buffer *among, size_t n,
                                       struct rule_text name)
{
    for (size_t i = 0; i < n; i++)
        if (rule_text_is(name, among[i].name))
            return &among[i];
    return NULL;
}

const char *rule_value_name(enum rule_buffer buffer)
{
    for (size_t i = 0; i < N_BUFFERS; i++)
        if (rule_buffer_of((enum rule_side)buffers[i].side, buffers[i].id) == buffer)
            return buffers[i].name;
    return "";
}

/* ---- protocols ------------------------------------------------------------------------------- */

/* Files and their bytes. */
static bool is_of_files(uint32_t id)
{
    return id == SL_APP_BODY || rule_value_is_of_file(id);
}

/* The data of a call of DCERPC is a body, as that of a file is. */
static bool is_stub(const struct rule_parser *parser)
{
    return rule_text_is(parser->option.name, "dce_stub_data") ||
           rule_text_is(parser->option.name, "dcerpc.stub_data");
}

/* An option on files of any protocol that has some. */
static bool is_of_any_files(const struct rule_parser *parser, uint32_t id)
{
    const struct rule_text name = parser->option.name;

    return is_of_files(id) && name.len > strlen("file") &&
           rule_text_is((struct rule_text){name.at, strlen("file")}, "file");
}

static bool has_files(enum sl_app app)
{
    return app == SL_APP_HTTP || app == SL_APP_SMTP;
}

/* SL_APP_UNKNOWN: a value of TLS and QUIC. */
static enum sl_app app_of(const struct rule_parser *parser, uint32_t id)
{
    if (id >= SL_SMTP_HELO && id <= SL_EMAIL_ATTACHMENT)
        return SL_APP_SMTP;
    if (id >= SL_SSH_PROTO && id <= SL_SSH_HASSH_STRING)
        return SL_APP_SSH;
    if (id >= SL_FTP_COMMAND && id <= SL_FTP_REPLY)
        return SL_APP_FTP;
    if (id == SL_DCERPC_INTERFACE || is_stub(parser))
        return SL_APP_DCERPC;
    if (is_of_any_files(parser, id) && parser->rule->app == SL_APP_SMTP)
        return SL_APP_SMTP;
    return id < SL_TLS_SNI || is_of_files(id) || id == RULE_HTTP_FIELD_LINES ? SL_APP_HTTP
                                                                             : SL_APP_UNKNOWN;
}

/* Sets the protocol of the rule's messages, TLS and QUIC as far as the header shows. */
static enum sl_status take_app(struct rule_parser *parser, uint32_t id)
{
    struct rule *rule = parser->rule;
    const bool tcp = (rule->protocol & (RULE_TCP | ANY_IP)) != 0;
    const bool udp = (rule->protocol & (RULE_UDP | ANY_IP)) != 0;
    enum sl_app app = app_of(parser, id);
    const bool of_tls = app == SL_APP_UNKNOWN;

    if (rule->app > SL_APP_SMTP && is_of_files(id) &&
        !is_stub(parser)) /* has files, which are not made */
        return rule_skip(parser, "", parser->option.name);
    if (is_of_any_files(parser, id) && rule->app == SL_APP_UNKNOWN && tcp) {
        parser->asks_files = true;
        return SL_OK;
    }
    if (of_tls && (!tcp || !udp))
        app = tcp ? SL_APP_TLS : SL_APP_QUIC;
    if ((!tcp && !udp) || (!of_tls && !tcp) || (parser->asks_files && !has_files(app)) ||
        (rule->app != SL_APP_UNKNOWN && rule->app != app &&
         (!of_tls || (rule->app != SL_APP_TLS && rule->app != SL_APP_QUIC)))) {
        if (app == SL_APP_DCERPC) /* over SMB or UDP, where it is not read */
            return rule_skip(parser, "", parser->option.name);
        return rule_bad_at(parser, parser->name, "'%.*s' is no buffer of the rule's protocol",
                           RULE_QUOTE(parser->option.name));
    }
    if (rule->app == SL_APP_UNKNOWN)
        rule->app = (uint8_t)app;
    return SL_OK;
}

enum sl_status rule_app_take(struct rule_parser *parser, enum sl_app app)
{
    struct rule *rule = parser->rule;

    if ((rule->protocol & (RULE_TCP | ANY_IP)) == 0 || (parser->asks_files && !has_files(app)) ||
        (rule->app != SL_APP_UNKNOWN && rule->app != app))
        return rule_bad_at(parser, parser->name, "the rule's protocol is not %s", sl_app_name(app));
    rule->app = (uint8_t)app;
    return SL_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static struct rule_payload section_of(const struct value_buffer *buffer, uint32_t number)
{
    return (struct rule_payload){
        .section = number, .buffer = rule_buffer_of((enum rule_side)buffer->side, buffer->id)};
}

static enum sl_status begin(struct rule_parser *parser, const struct value_buffer *buffer)
{
    enum sl_status status = rule_section_end(parser);

    if (status == SL_OK)
        status = take_app(parser, buffer->id);
    if (status != SL_OK)
        return status;
    parser->section = section_of(buffer, ++parser->n_sections);
    parser->content = SIZE_MAX;
    return SL_OK;
}

/* A value that both sides may have takes a side. */
enum sl_status rule_read_value(struct rule_parser *parser, struct rule_text value)
{
    struct value_buffer buffer = *find(buffers, N_BUFFERS, parser->option.name);
    const bool to_server = rule_text_is(value, "to_server");

    if (value.len != 0 && buffer.side != RULE_OF_SENDER)
        return rule_bad(parser, "%s takes no value", buffer.name);
    if (value.len != 0 && !to_server && !rule_text_is(value, "to_client"))
        return rule_bad(parser, "%s does not know '%.*s'", buffer.name, RULE_QUOTE(value));
    if (value.len != 0)
        buffer.side = to_server ? RULE_OF_CLIENT : RULE_OF_SERVER;
    return begin(parser, &buffer);
}

/* Puts a step of the payload into a buffer, beside those that are there. */
static enum sl_status put(struct rule_parser *parser, struct rule_payload *step,
                          const struct value_buffer *buffer)
{
    const enum sl_status status = take_app(parser, buffer->id);
    const struct rule_payload section = section_of(buffer, 0);

    if (status != SL_OK)
        return status;
    step->section = 0;
    if (parser->section.section != 0 && parser->section.buffer == section.buffer &&
        parser->section.chain == NULL)
        step->section = parser->section.section;
    for (size_t i = 0; i < parser->n_payloads; i++)
        if (parser->payload[i].section != 0 && parser->payload[i].buffer == section.buffer &&
            parser->payload[i].chain == NULL)
            step->section = parser->payload[i].section;
    if (step->section == 0)
        step->section = ++parser->n_sections;
    step->buffer = section.buffer;
    step->moved = true;
    return SL_OK;
}

/* Snort 3's "http_header:field NAME". NULL: the field is no buffer of its own. */
static const struct value_buffer *field_of(const struct rule_parser *parser, struct rule_text value)
{
    static const struct value_buffer fields[] = {
        {"user-agent", RULE_OF_CLIENT, SL_HTTP_USER_AGENT},
        {"referer", RULE_OF_CLIENT, SL_HTTP_REFERER},
        {"accept", RULE_OF_CLIENT, SL_HTTP_ACCEPT},
        {"accept-language", RULE_OF_CLIENT, SL_HTTP_ACCEPT_LANG},
        {"accept-encoding", RULE_OF_CLIENT, SL_HTTP_ACCEPT_ENC},
        {"connection", RULE_OF_SENDER, SL_HTTP_CONNECTION},
        {"content-type", RULE_OF_SENDER, SL_HTTP_CONTENT_TYPE},
        {"content-length", RULE_OF_SENDER, SL_HTTP_CONTENT_LEN},
        {"server", RULE_OF_SERVER, SL_HTTP_SERVER},
        {"location", RULE_OF_SERVER, SL_HTTP_LOCATION},
    };
    struct rule_text word;

    if (!rule_text_is(parser->option.name, "http_header") || !rule_text_split(&value, ' ', &word) ||
        !rule_text_is(word, "field"))
        return NULL;
    return find(fields, sizeof fields / sizeof fields[0], rule_trim(value));
}

enum sl_status rule_read_value_or_modifier(struct rule_parser *parser, struct rule_text value)
{
    const struct value_buffer *buffer = find(modifiers, N_MODIFIERS, parser->option.name);
    const bool of_content = parser->section.section == 0 && parser->content != SIZE_MAX;

    const struct value_buffer *field = parser->snort3 ? field_of(parser, value) : NULL;

    if (field != NULL)
        return begin(parser, field);
    if (parser->snort3 && value.len != 0)
        return rule_skip(parser, "a value of ", parser->option.name);
    if (value.len != 0)
        return rule_bad(parser, "%s takes no value", buffer->name);
    if (parser->snort3)
        return begin(parser, buffer);
    if (!of_content)
        return rule_bad_at(parser, parser->name, "%s has no content before it", buffer->name);
    return put(parser, &parser->payload[parser->content], buffer);
}

enum sl_status rule_read_uricontent(struct rule_parser *parser, struct rule_text value)
{
    static const struct value_buffer uri = {"uricontent", RULE_OF_CLIENT, SL_HTTP_URI};
    const enum sl_status status = rule_read_content(parser, value);

    return status == SL_OK ? put(parser, &parser->payload[parser->content], &uri) : status;
}

/* "n", "n<>m" and the like, with ",norm" or ",raw" behind it. */
enum sl_status rule_read_urilen(struct rule_parser *parser, struct rule_text value)
{
    struct value_buffer uri = {"urilen", RULE_OF_CLIENT, SL_HTTP_URI};
    struct rule_check check;
    struct rule_text number;

    rule_text_split(&value, ',', &number);
    value = rule_trim(value);
    if (rule_text_is(value, "raw"))
        uri.id = SL_HTTP_URI_RAW;
    else if (value.len != 0 && !rule_text_is(value, "norm"))
        return rule_bad_at(parser, value.at, "urilen does not know '%.*s'", RULE_QUOTE(value));
    enum sl_status status = rule_read_range(parser, number, "urilen", RULE_SIZE_MAX, &check);
    if (status == SL_OK)
        status = rule_size_add(parser, &check);
    return status == SL_OK ? put(parser, &parser->payload[parser->n_payloads - 1], &uri) : status;
}

enum sl_status rule_value_of_flag(struct rule_parser *parser, char flag, struct rule_payload *step)
{
    static const struct {
        char flag;
        struct value_buffer buffer;
    } flags[] = {
        {'U', {"", RULE_OF_CLIENT, SL_HTTP_URI}},
        {'I', {"", RULE_OF_CLIENT, SL_HTTP_URI_RAW}},
        {'P', {"", RULE_OF_CLIENT, SL_APP_BODY}},
        {'Q', {"", RULE_OF_SENDER, SL_APP_BODY}},
        {'H', {"", RULE_OF_SENDER, SL_HTTP_HEADER}},
        {'D', {"", RULE_OF_SENDER, SL_HTTP_HEADER_RAW}},
        {'M', {"", RULE_OF_CLIENT, SL_HTTP_METHOD}},
        {'C', {"", RULE_OF_SENDER, SL_HTTP_COOKIE}},
        {'K', {"", RULE_OF_SENDER, SL_HTTP_COOKIE}},
        {'S', {"", RULE_OF_SERVER, SL_HTTP_STAT_CODE}},
        {'Y', {"", RULE_OF_SERVER, SL_HTTP_STAT_MSG}},
        {'V', {"", RULE_OF_CLIENT, SL_HTTP_USER_AGENT}},
        {'W', {"", RULE_OF_CLIENT, SL_HTTP_HOST}},
        {'Z', {"", RULE_OF_CLIENT, SL_HTTP_HOST_RAW}},
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].flag == flag)
            return put(parser, step, &flags[i].buffer);
    return SL_EFORMAT;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The sides whose messages complete the values that a rule asks for. A value of one side is known
 * when the other side answers. */
static uint32_t sides_of(const struct rule_parser *parser, uint32_t asked)
{
    const struct rule *rule = parser->rule;
    const uint32_t client = 1u << RULE_OF_CLIENT, server = 1u << RULE_OF_SERVER;

    if (rule->both_sides)
        return server;
    if ((rule->flow_mask & SL_FLOW_TO_SERVER) != 0)
        return (rule->flow_flags & SL_FLOW_TO_SERVER) != 0 ? client : server;
    if ((asked & server) != 0)
        return server;
    return (asked & client) != 0 ? client : client | server;
}

/* Adds the sides that options ask for, as bits of enum rule_side, and those of them that are asked
 * for later values. */
static void add_values(const struct rule_parser *parser, uint32_t *asked, uint32_t *later)
{
    for (size_t i = 0; i < parser->n_payloads; i++) {
        const enum rule_buffer buffer = parser->payload[i].buffer;

        if (!rule_buffer_is_value(buffer))
            continue;
        *asked |= 1u << rule_buffer_side(buffer);
        if (rule_value_is_later(rule_buffer_id(buffer)))
            *later |= 1u << rule_buffer_side(buffer);
    }
}

/* The state of a handshake stands beside contents of its payload, up to the certificates. The
 * values that came with an event are known when its side ends. */
static void add_checks(const struct rule_parser *parser, uint32_t *asked, uint32_t *later)
{
    for (size_t i = 0; i < parser->n_checks; i++) {
        const uint8_t field = parser->check[i].field;

        if (field == RULE_TLS_VERSION || field == RULE_TLS_SEEN || field == RULE_APP_EVENT ||
            (field >= RULE_FTP_PORT && field <= RULE_CALL_VERSION))
            *asked |= 1u << RULE_OF_SENDER;
        if (field >= RULE_TLS_CHAIN && field <= RULE_TLS_EXPIRED) {
            *asked |= 1u << RULE_OF_SERVER;
            *later |= 1u << RULE_OF_SERVER;
        }
        if (field == RULE_APP_EVENT)
            *later |= 1u << RULE_OF_SENDER;
        if (field == RULE_TLS_SEEN && parser->n_payloads != 0)
            *later |= 1u << RULE_OF_SERVER;
    }
}

static bool asks_file(const struct rule_parser *parser)
{
    for (size_t i = 0; i < parser->n_checks; i++)
        if (parser->check[i].field == RULE_FILE_SIZE)
            return true;
    for (size_t i = 0; i < parser->n_payloads; i++)
        if (rule_buffer_is_value(parser->payload[i].buffer) &&
            rule_value_is_of_file(rule_buffer_id(parser->payload[i].buffer)))
            return true;
    return false;
}

/* Messages of DNS and SIP are datagrams, or come in streams. */
static bool asks_whole(const struct rule_parser *parser)
{
    for (size_t i = 0; i < parser->n_checks; i++) {
        const uint8_t field = parser->check[i].field;

        if (field == RULE_DNS_OPCODE || field == RULE_DNS_RCODE || field == RULE_DNS_EVENTS ||
            field == RULE_DNS_RRTYPE)
            return true;
    }
    for (size_t i = 0; i < parser->n_payloads; i++)
        if (rule_buffer_is_name(parser->payload[i].buffer) ||
            rule_buffer_is_sip(parser->payload[i].buffer))
            return true;
    return false;
}

static uint32_t count_events(const struct rule_parser *parser)
{
    uint32_t n = 0;

    for (size_t i = 0; i < parser->n_checks; i++)
        n += parser->check[i].field == RULE_APP_EVENT;
    return n;
}

static uint16_t sees_of(const struct rule_parser *parser)
{
    const uint32_t sender = 1u << RULE_OF_SENDER, client = 1u << RULE_OF_CLIENT,
                   server = 1u << RULE_OF_SERVER;
    uint32_t asked = 0, later = 0;
    uint16_t sees = 0;

    if (asks_file(parser))
        return RULE_SEES_FILES;
    if (parser->n_payloads == 0 && count_events(parser) != 0)
        return RULE_SEES_EVENTS;
    if (asks_whole(parser) && (parser->rule->protocol & (RULE_TCP | ANY_IP)) != 0)
        return RULE_SEES_PACKETS | RULE_SEES_OTHERS | RULE_SEES_CLIENT | RULE_SEES_SERVER;
    add_values(parser, &asked, &later);
    add_checks(parser, &asked, &later);
    if (asked == 0)
        return 0;

    const uint32_t sides = sides_of(parser, asked);

    if ((sides & client) != 0)
        sees |= (later & (client | sender)) != 0 ? RULE_SEES_CLIENT_LATER : RULE_SEES_CLIENT;
    if ((sides & server) != 0)
        sees |= (later & (server | sender)) != 0 ? RULE_SEES_SERVER_LATER : RULE_SEES_SERVER;
    return sees;
}

/* Messages report events one by one, and those of TLS have no end. */
static bool joins_events(const struct rule_parser *parser)
{
    const uint32_t n = count_events(parser);

    return n > 1 || (n == 1 && (asks_file(parser) ||
                                (parser->n_payloads != 0 && parser->rule->app != SL_APP_HTTP)));
}

enum sl_status rule_value_finish(struct rule_parser *parser)
{
    struct rule *rule = parser->rule;
    const uint16_t sees = sees_of(parser);

    if (joins_events(parser))
        return rule_skip(parser, "app-layer-event in a rule with more",
                         (struct rule_text){NULL, 0});

    if (sees == 0)
        return rule->both_sides ? rule_bad_at(parser, parser->direction,
                                              "=> stands in a rule without buffers of messages")
                                : SL_OK;
    rule->sees = sees;
    if (rule->both_sides && sees != RULE_SEES_FILES) { /* the response completes it */
        const struct rule_endpoint from = rule->from;

        rule->from = rule->to;
        rule->to = from;
    }
    if (parser->has_service) /* on any port */
        rule->from.ports = rule->to.ports = NULL;
    return SL_OK;
}

/* ---- numbers of TLS -------------------------------------------------------------------------- */

struct bit {
    const char *name;
    uint32_t bit;
};

/* Reads names of bits with commas between them, or with '!' before all or each. */
static enum sl_status read_bits(struct rule_parser *parser, struct rule_text value,
                                enum rule_field field, const struct bit *bits, size_t n)
{
    struct rule_check check = {.field = (uint8_t)field, .first = 1, .last = UINT32_MAX};
    struct rule_text word;
    const enum sl_status status = take_app(parser, SL_TLS_VERSION);

    if (status != SL_OK)
        return status;
    while (rule_text_split(&value, ',', &word)) {
        size_t i = 0;

        if (word.len != 0 && word.at[0] == '!') {
            check.negated = true;
            word = rule_trim((struct rule_text){word.at + 1, word.len - 1});
        }
        while (i < n && !rule_text_is(word, bits[i].name))
            i++;
        if (i == n)
            return rule_bad_at(parser, word.at, "%.*s does not know '%.*s'",
                               RULE_QUOTE(parser->option.name), RULE_QUOTE(word));
        check.mask |= bits[i].bit;
    }
    return rule_check_add(parser, check);
}

enum sl_status rule_read_tls_version(struct rule_parser *parser, struct rule_text value)
{
    static const struct bit versions[] = {
        {"sslv2", 1},   {"sslv3", 2}, {"tls1.0", 4}, {"tls1.1", 8}, {"tls1.2", 16},
        {"tls1.3", 32}, {"1.0", 4},   {"1.1", 8},    {"1.2", 16},   {"1.3", 32},
    };

    if (value.len > 2 && value.at[0] == '"' && value.at[value.len - 1] == '"')
        value = (struct rule_text){value.at + 1, value.len - 2};
    return read_bits(parser, value, RULE_TLS_VERSION, versions,
                     sizeof versions / sizeof versions[0]);
}

enum sl_status rule_read_ssl_state(struct rule_parser *parser, struct rule_text value)
{
    static const struct bit states[] = {
        {"client_hello", SL_TLS_SEEN_CLIENT_HELLO},
        {"server_hello", SL_TLS_SEEN_SERVER_HELLO},
        {"client_keyx", SL_TLS_SEEN_CLIENT_KEYS},
        {"server_keyx", SL_TLS_SEEN_SERVER_KEYS},
    };
    struct rule_text word = value;

    if (memmem(value.at, value.len, "unknown", strlen("unknown")) != NULL)
        return rule_skip(parser, "ssl_state unknown", (struct rule_text){NULL, 0});
    if (memchr(value.at, '|', value.len) != NULL) {
        char *text = rule_arena_text(parser->arena, value.at, value.len);

        for (size_t i = 0; text != NULL && i < value.len; i++)
            text[i] = (char)(text[i] == '|' ? ',' : text[i]);
        word.at = text;
    }
    if (word.at == NULL)
        return rule_no_memory(parser);
    return read_bits(parser, word, RULE_TLS_SEEN, states, sizeof states / sizeof states[0]);
}

/* ---- numbers of FTP -------------------------------------------------------------------------- */

enum sl_status rule_read_ftp_port(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    enum sl_status status = rule_read_range(parser, value, "ftp.dynamic_port", UINT16_MAX, &check);

    check.field = RULE_FTP_PORT;
    if (status == SL_OK)
        status = take_app(parser, SL_FTP_COMMAND);
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

enum sl_status rule_read_ftp_mode(struct rule_parser *parser, struct rule_text value)
{
    const bool is_active = rule_text_is(value, "active");
    const uint32_t mode = is_active ? SL_FTP_ACTIVE : SL_FTP_PASSIVE;
    const struct rule_check check = {
        .field = RULE_FTP_MODE, .mask = UINT32_MAX, .first = mode, .last = mode};
    const enum sl_status status = take_app(parser, SL_FTP_COMMAND);

    if (!is_active && !rule_text_is(value, "passive"))
        return rule_bad(parser, "ftp.mode is not active or passive");
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

/* ---- certificates ---------------------------------------------------------------------------- */

enum sl_status rule_read_tls_chain(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    enum sl_status status =
        rule_read_range(parser, value, "tls.cert_chain_len", UINT16_MAX, &check);

    check.field = RULE_TLS_CHAIN;
    if (status == SL_OK)
        status = rule_app_take(parser, SL_APP_TLS);
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

/* A number of seconds, or a date. */
static bool read_date(struct rule_text word, uint32_t *seconds)
{
    int64_t number;

    if (rule_text_number(word, 0, UINT32_MAX, &number)) {
        *seconds = (uint32_t)number;
        return true;
    }
    return rule_time_read(word.at, word.len, seconds);
}

/* "2024-01-31", "<2024-01-31 12:00", "2024-01<>2024-02": ends are inside. */
enum sl_status rule_read_tls_date(struct rule_parser *parser, struct rule_text value)
{
    const bool before = rule_text_is(parser->option.name, "tls_cert_notbefore");
    struct rule_check check = {.field = before ? RULE_TLS_NOT_BEFORE : RULE_TLS_NOT_AFTER,
                               .mask = UINT32_MAX};
    const char *between = memmem(value.at, value.len, "<>", 2);
    struct rule_text first = value, last = value;

    if (between != NULL) {
        first.len = (size_t)(between - value.at);
        last = (struct rule_text){between + 2, value.len - first.len - 2};
    } else if (value.len != 0 && value.at[0] == '<') {
        first.len = 0;
        last = (struct rule_text){value.at + 1, value.len - 1};
    } else if (value.len != 0 && value.at[0] == '>') {
        first = (struct rule_text){value.at + 1, value.len - 1};
        last.len = 0;
    }
    check.last = UINT32_MAX;
    if ((first.len != 0 && !read_date(rule_trim(first), &check.first)) ||
        (last.len != 0 && !read_date(rule_trim(last), &check.last)) || first.len + last.len == 0 ||
        check.first > check.last)
        return rule_bad(parser,
                        "%.*s has no date such as 2024-01-31T12:00:00, <date, >date or "
                        "date<>date",
                        RULE_QUOTE(parser->option.name));

    const enum sl_status status = rule_app_take(parser, SL_APP_TLS);

    return status == SL_OK ? rule_check_add(parser, check) : status;
}

enum sl_status rule_read_tls_validity(struct rule_parser *parser, struct rule_text value)
{
    const uint32_t expired = rule_text_is(parser->option.name, "tls_cert_expired");
    const enum sl_status status = rule_app_take(parser, SL_APP_TLS);

    (void)value;
    return status == SL_OK ? rule_check_add(parser, (struct rule_check){.field = RULE_TLS_EXPIRED,
                                                                        .mask = UINT32_MAX,
                                                                        .first = expired,
                                                                        .last = expired})
                           : status;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Takes '!' and quotes off. */
static struct rule_text bare(struct rule_text value, bool *negated)
{
    *negated = value.len != 0 && value.at[0] == '!';
    if (*negated)
        value = rule_trim((struct rule_text){value.at + 1, value.len - 1});
    if (value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"')
        value = rule_trim((struct rule_text){value.at + 1, value.len - 2});
    return value;
}

/* A content that an option has as its value. */
static enum sl_status add_text(struct rule_parser *parser, struct rule_text value, bool extension,
                               bool nocase, const struct value_buffer *buffer)
{
    struct rule_payload *content;
    bool negated;

    value = bare(value, &negated);
    if (value.len == 0 || value.len > UINT16_MAX)
        return rule_bad(parser, "%.*s has no text", RULE_QUOTE(parser->option.name));

    uint8_t *bytes = rule_arena_alloc(parser->arena, value.len + 1);

    content = rule_payload_add(parser, RULE_CONTENT);
    if (bytes == NULL || content == NULL)
        return rule_no_memory(parser);
    bytes[0] = '.';
    memcpy(bytes + extension, value.at, value.len);
    content->bytes = bytes;
    content->len = content->fast_len = (uint32_t)(value.len + extension);
    content->negated = negated;
    content->nocase = nocase;
    content->at_end = extension;
    return put(parser, content, buffer);
}

/* What stands behind a word that Snort 3 writes before it. */
static struct rule_text behind_word(struct rule_text text, const char *word)
{
    struct rule_text rest = text, first;

    return rule_text_split(&rest, ' ', &first) && rule_text_is(first, word) ? rule_trim(rest)
                                                                            : text;
}

/* "UUID", with a relation to a version, "any_frag" or both behind it. All fragments of a call are
 * looked at. */
enum sl_status rule_read_call_interface(struct rule_parser *parser, struct rule_text value)
{
    enum { UUID_LEN = 36 };
    static const struct value_buffer buffer = {"", RULE_OF_SENDER, SL_DCERPC_INTERFACE};
    struct rule_text uuid, word;
    struct rule_check check;

    rule_text_split(&value, ',', &uuid);
    uuid = behind_word(uuid, "uuid");
    if (uuid.len != UUID_LEN)
        return rule_bad(parser, "'%.*s' is no UUID", RULE_QUOTE(uuid));
    enum sl_status status = add_text(parser, uuid, false, true, &buffer);

    while (status == SL_OK && rule_text_split(&value, ',', &word)) {
        if (rule_text_is(word, "any_frag"))
            continue;
        word = behind_word(word, "version");
        if (word.len != 0 && word.at[0] == '=')
            word = rule_trim((struct rule_text){word.at + 1, word.len - 1});
        status = rule_read_range(parser, word, "dcerpc.iface", UINT16_MAX, &check);
        check.field = RULE_CALL_VERSION;
        if (status == SL_OK)
            status = rule_check_add(parser, check);
    }
    return status;
}

/* A number, also with a relation before it. Lists and ranges skip the rule. */
enum sl_status rule_read_call_opnum(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;

    if (value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"')
        value = rule_trim((struct rule_text){value.at + 1, value.len - 2});
    if (memchr(value.at, ',', value.len) != NULL || memchr(value.at, '-', value.len) != NULL)
        return rule_skip(parser, "a list in ", parser->option.name);
    enum sl_status status = rule_read_range(parser, value, "dcerpc.opnum", UINT16_MAX, &check);

    check.field = RULE_CALL_OPNUM;
    if (status == SL_OK)
        status = take_app(parser, SL_DCERPC_INTERFACE);
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

/* A content of the file's name or kind, in any case. An extension stands behind a period, and ends
 * the name. */
enum sl_status rule_read_file_text(struct rule_parser *parser, struct rule_text value)
{
    const bool is_magic = rule_text_is(parser->option.name, "filemagic");
    const struct value_buffer buffer = {"", RULE_OF_SENDER,
                                        is_magic ? SL_FILE_MAGIC : SL_FILE_NAME};

    return add_text(parser, value, rule_text_is(parser->option.name, "fileext"), true, &buffer);
}

/* The older options on certificates. */
enum sl_status rule_read_tls_text(struct rule_parser *parser, struct rule_text value)
{
    static const struct value_buffer texts[] = {
        {"tls.subject", RULE_OF_SERVER, SL_TLS_CERT_SUBJECT},
        {"tls.issuerdn", RULE_OF_SERVER, SL_TLS_CERT_ISSUER},
        {"tls.fingerprint", RULE_OF_SERVER, SL_TLS_CERT_FINGERPRINT},
    };

    const struct value_buffer *buffer =
        find(texts, sizeof texts / sizeof texts[0], parser->option.name);

    return add_text(parser, value, false, buffer->id == SL_TLS_CERT_FINGERPRINT, buffer);
}

/* The file's size; "to_server," or "to_client," before it is that of the file's side. */
enum sl_status rule_read_filesize(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    struct rule_text side = value, rest = value;

    rule_text_split(&rest, ',', &side);
    if (rule_text_is(side, "to_server") || rule_text_is(side, "to_client"))
        value = rule_trim(rest);

    enum sl_status status = rule_read_range(parser, value, "filesize", UINT32_MAX, &check);
    check.field = RULE_FILE_SIZE;
    if (status == SL_OK)
        status = take_app(parser, SL_FILE_NAME);
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

/* The rule is about files, of any size. Of a direction or scope the file that matches is stored
 * alone. */
enum sl_status rule_read_filestore(struct rule_parser *parser, struct rule_text value)
{
    const struct rule_check any = {
        .field = RULE_FILE_SIZE, .mask = UINT32_MAX, .first = 0, .last = UINT32_MAX};
    const enum sl_status status = take_app(parser, SL_FILE_NAME);

    (void)value;
    parser->rule->stores_file = true;
    return status == SL_OK ? rule_check_add(parser, any) : status;
}

enum sl_status rule_read_file_digest(struct rule_parser *parser, struct rule_text value)
{
    const bool is_md5 = rule_text_is(parser->option.name, "filemd5");
    const struct value_buffer buffer = {"", RULE_OF_SENDER,
                                        is_md5 ? RULE_FILE_MD5 : RULE_FILE_SHA256};
    const struct rule_payload section = parser->section;
    const size_t content = parser->content;
    bool negated;

    enum sl_status status = take_app(parser, buffer.id);
    if (status != SL_OK)
        return status;
    value = bare(value, &negated);
    parser->section = section_of(&buffer, ++parser->n_sections);
    status = rule_data_list(parser, value, is_md5 ? "md5" : "sha256", negated);
    parser->section = section;
    parser->content = content;
    return status;
}
