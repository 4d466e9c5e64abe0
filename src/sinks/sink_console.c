/* SPDX-License-Identifier: MIT */
/* One line an event for a person, fields apart by two spaces:
 *
 * 2026-01-02 10:11:12.123456  ALERT  [1:2000001:3] message  (class, priority 1)  TCP 10.0.0.1:1
 * -> 10.0.0.2:2
 * 2026-01-02 10:11:12.123456  NAME  dns query A ads.example  block  (ads.example, list:3)  UDP ...
 * 2026-01-02 10:11:12.123456  FLOW  http closed, timeout  to server 5 packets, 700 bytes  to client
 * 4 packets, 9000 bytes  3 s  TCP ...
 *
 * and one for the counters that a person follows.
 *
 * Lines are printable ASCII whatever the events hold: a terminal in an 8-bit encoding takes bytes
 * of well-formed UTF-8 for control sequences. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/utf8.h"
#define EVENT_TAKE pick_shown
#include "event_fields.h"
#include "line_sink.h"

/* Opens standard output. With hold_len the sink holds lines instead. */
static enum sl_status make(struct sl_sink **sink, size_t hold_len, struct sl_diag *diag)
{
    struct line_sink *out = malloc(sizeof *out);

    if (out == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a sink");

    const enum sl_status status =
        hold_len != 0 ? line_sink_hold(out, hold_len, diag) : line_sink_open(out, "-", diag);
    if (status != SL_OK) {
        free(out);
        return status;
    }
    *sink = &out->base;
    return SL_OK;
}

static enum sl_status console_open(struct sl_sink **sink, const char *path, struct sl_diag *diag)
{
    (void)path;
    return make(sink, 0, diag);
}

/* Whether one of eight bytes is not from 0x20 to 0x7E. Such a byte has the highest bit, gets it by
 * adding 1, or gets it by taking 0x20 away. Only such a byte changes the next one. */
static bool has_unprintable(const char *text)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x80 * ones;
    uint64_t bytes;

    memcpy(&bytes, text, sizeof bytes);
    return ((bytes | (bytes + ones) | (bytes - 0x20 * ones)) & high) != 0;
}

/* Bytes of a text before the first that is not printable. */
static size_t printable_len(const char *text, size_t len)
{
    size_t n = 0;

    while (len - n >= 8 && !has_unprintable(text + n))
        n += 8;
    while (n < len && text[n] >= 0x20 && text[n] < 0x7F)
        n++;
    return n;
}

static void put_printable(struct line_sink *out, const char *text, size_t len)
{
    for (;;) {
        const size_t n = printable_len(text, len);
        char escaped[UTF8_ESCAPE_LEN];

        line_bytes(out, text, n);
        if (n == len)
            return;
        utf8_escape(escaped, (uint8_t)text[n]);
        line_bytes(out, escaped, sizeof escaped);
        text += n + 1;
        len -= n + 1;
    }
}

static void put_texts(struct line_sink *out, const char *const *texts)
{
    for (size_t i = 0; texts[i] != NULL; i++) {
        line_text(out, i == 0 ? "" : ",");
        put_printable(out, texts[i], strlen(texts[i]));
    }
}

/* "[2001:db8::1]" where a port follows. */
static void put_addr(struct line_sink *out, const struct sl_addr *addr, bool has_port)
{
    const bool bracketed = has_port && !sl_addr_is_ipv4(addr);
    char text[SL_ADDR_TEXT_LEN];

    line_text(out, bracketed ? "[" : "");
    line_text(out, sl_addr_format(addr, text));
    line_text(out, bracketed ? "]" : "");
}

EVENT_INLINE void put_value(struct line_sink *out, const struct sl_field *field)
{
    if (field->type == SL_FIELD_NUMBER)
        line_uint(out, field->number);
    else if (field->type == SL_FIELD_TEXTS)
        put_texts(out, field->texts);
    else
        put_printable(out, field->text, field->n);
}

/* Writes the text before a field, and the field. A field that is absent, unknown or an empty text
 * writes nothing. */
EVENT_INLINE void put_field(struct line_sink *out, const char *before,
                            const struct event_picks *picks, enum event_field id)
{
    const struct sl_field *field = &picks->field[id];

    if (!picks->has[id] || field->type == SL_FIELD_UNKNOWN ||
        (field->type == SL_FIELD_TEXT && field->n == 0))
        return;
    line_text(out, before);
    put_value(out, field);
}

/* "1 packet", "2 packets" */
static void put_count(struct line_sink *out, const char *before, const struct event_picks *picks,
                      enum event_field id, const char *unit)
{
    put_field(out, before, picks, id);
    line_text(out, unit);
    if (picks->field[id].number != 1)
        line_text(out, "s");
}

static void put_alert(struct line_sink *out, const struct event_picks *picks)
{
    put_field(out, "  ALERT  [", picks, FIELD_GID);
    put_field(out, ":", picks, FIELD_SIGNATURE_ID);
    put_field(out, ":", picks, FIELD_REV);
    line_text(out, "] ");
    put_field(out, "", picks, FIELD_SIGNATURE);
    line_text(out, "  (");
    put_field(out, "", picks, FIELD_CLASSTYPE);
    if (picks->field[FIELD_CLASSTYPE].n != 0)
        line_text(out, ", ");
    put_field(out, "priority ", picks, FIELD_SEVERITY);
    line_text(out, ")");
}

/* The name, the action of the table, and the rule. */
static void put_name(struct line_sink *out, const struct event_picks *picks)
{
    put_field(out, "  NAME  ", picks, FIELD_EVENT_TYPE);
    put_field(out, " ", picks, FIELD_DNS_TYPE);
    put_field(out, " ", picks, FIELD_HTTP_METHOD);
    put_field(out, " ", picks, FIELD_NDN_TYPE);
    put_field(out, " ", picks, FIELD_DNS_RRTYPE);
    line_text(out, " ");
    put_field(out, "", picks, FIELD_NAMES_NAME);
    put_field(out, "  ", picks, FIELD_NAMES_ACTION);
    put_field(out, " ", picks, FIELD_NAMES_NEXT_HOPS);
    put_field(out, " ", picks, FIELD_NAMES_VALUES);
    line_text(out, "  (");
    put_field(out, "", picks, FIELD_NAMES_PREFIX);
    line_text(out, ", ");
    put_field(out, "", picks, FIELD_NAMES_LIST);
    put_field(out, ":", picks, FIELD_NAMES_LINE);
    line_text(out, ")");
}

/* How it ended, the traffic of both ends, and how long it was. */
static void put_flow(struct line_sink *out, const struct event_picks *picks)
{
    line_text(out, "  FLOW");
    put_field(out, "  ", picks, FIELD_APP_PROTO);
    put_field(out, picks->has[FIELD_APP_PROTO] ? " " : "  ", picks, FIELD_FLOW_STATE);
    put_field(out, ", ", picks, FIELD_FLOW_REASON);
    if (picks->field[FIELD_FLOW_ALERTED].type == SL_FIELD_TRUE)
        line_text(out, ", alerted");
    put_count(out, "  to server ", picks, FIELD_FLOW_PKTS_TOSERVER, " packet");
    put_count(out, ", ", picks, FIELD_FLOW_BYTES_TOSERVER, " byte");
    put_count(out, "  to client ", picks, FIELD_FLOW_PKTS_TOCLIENT, " packet");
    put_count(out, ", ", picks, FIELD_FLOW_BYTES_TOCLIENT, " byte");
    put_field(out, "  ", picks, FIELD_FLOW_AGE);
    line_text(out, " s");
}

/* A DNS message: its kind, its first question, and how it was answered. */
static void put_message(struct line_sink *out, const struct event_picks *picks)
{
    put_field(out, "  DNS  ", picks, FIELD_DNS_TYPE);
    put_field(out, " ", picks, FIELD_DNS_RRTYPE);
    put_field(out, " ", picks, FIELD_DNS_RRNAME);
    put_field(out, "  ", picks, FIELD_DNS_RCODE);
}

/* "HTTP  GET shop.test/basket  200, 1234 bytes" */
static void put_http(struct line_sink *out, const struct event_picks *picks)
{
    put_field(out, "  HTTP  ", picks, FIELD_HTTP_METHOD);
    if (!picks->has[FIELD_HTTP_METHOD])
        line_text(out, "  HTTP ");
    put_field(out, " ", picks, FIELD_HTTP_HOSTNAME);
    put_field(out, picks->has[FIELD_HTTP_HOSTNAME] ? "" : " ", picks, FIELD_HTTP_URL);
    line_text(out, " ");
    put_field(out, " ", picks, FIELD_HTTP_STATUS);
    put_count(out, picks->has[FIELD_HTTP_STATUS] ? ", " : " ", picks, FIELD_HTTP_LENGTH, " byte");
}

/* "TLS  shop.test  TLS 1.3", "QUIC  shop.test  1" */
static void put_handshake(struct line_sink *out, const struct event_picks *picks, bool is_quic)
{
    line_text(out, is_quic ? "  QUIC" : "  TLS");
    put_field(out, "  ", picks, is_quic ? FIELD_QUIC_SNI : FIELD_TLS_SNI);
    put_field(out, "  ", picks, is_quic ? FIELD_QUIC_VERSION : FIELD_TLS_VERSION);
    put_field(out, "  ", picks, FIELD_TLS_SUBJECT);
}

/* "SMTP  <a@shop.test>  Subject", "FTP  RETR setup.exe",
 * "SSH  OpenSSH_9.2  OpenSSH_8.4" */
static void put_session(struct line_sink *out, const struct event_picks *picks,
                        enum sl_event_kind kind)
{
    line_text(out, kind == SL_EVENT_SMTP_MESSAGE  ? "  SMTP"
                   : kind == SL_EVENT_SSH_MESSAGE ? "  SSH"
                                                  : "  FTP");
    put_field(out, "  ", picks, FIELD_SMTP_MAIL_FROM);
    put_field(out, "  ", picks, FIELD_EMAIL_SUBJECT);
    put_field(out, "  ", picks, FIELD_SSH_CLIENT_SOFTWARE);
    put_field(out, "  ", picks, FIELD_SSH_SERVER_SOFTWARE);
    put_field(out, "  ", picks, FIELD_FTP_COMMAND);
    put_field(out, " ", picks, FIELD_FTP_COMMAND_DATA);
}

/* "FILE  /setup.exe  1234 bytes, CLOSED  sha256 ..." */
static void put_file(struct line_sink *out, const struct event_picks *picks)
{
    line_text(out, "  FILE");
    put_field(out, "  ", picks, FIELD_FILE_NAME);
    put_count(out, "  ", picks, FIELD_FILE_SIZE, " byte");
    put_field(out, ", ", picks, FIELD_FILE_STATE);
    put_field(out, "  ", picks, FIELD_FILE_MAGIC);
    put_field(out, "  sha256 ", picks, FIELD_FILE_SHA256);
}

/* "PACKET  1500 bytes" */
static void put_packet(struct line_sink *out, const struct event_picks *picks)
{
    line_text(out, "  PACKET  ");
    line_uint(out, picks->field[FIELD_PACKET].n);
    line_text(out, " bytes");
}

static void put_message_of_flow(struct line_sink *out, const struct event_picks *picks,
                                enum sl_event_kind kind)
{
    if (kind == SL_EVENT_HTTP_MESSAGE)
        put_http(out, picks);
    else if (kind == SL_EVENT_TLS_MESSAGE || kind == SL_EVENT_QUIC_MESSAGE)
        put_handshake(out, picks, kind == SL_EVENT_QUIC_MESSAGE);
    else if (kind == SL_EVENT_FILE)
        put_file(out, picks);
    else if (kind >= SL_EVENT_SMTP_MESSAGE && kind <= SL_EVENT_FTP_MESSAGE)
        put_session(out, picks, kind);
}

/* "TCP 192.0.2.1:80 -> 192.0.2.2:80", "ICMP 192.0.2.1 -> 192.0.2.2 type 8 code 0". */
static void put_tuple(struct line_sink *out, const struct event_picks *picks)
{
    const bool has_ports =
        picks->has[FIELD_SRC_PORT] && picks->field[FIELD_SRC_PORT].type == SL_FIELD_NUMBER;

    put_field(out, "  ", picks, FIELD_PROTO);
    line_text(out, " ");
    put_addr(out, picks->field[FIELD_SRC_IP].addr, has_ports);
    put_field(out, ":", picks, FIELD_SRC_PORT);
    line_text(out, " -> ");
    put_addr(out, picks->field[FIELD_DEST_IP].addr, has_ports);
    put_field(out, ":", picks, FIELD_DEST_PORT);
    put_field(out, " type ", picks, FIELD_ICMP_TYPE);
    put_field(out, " code ", picks, FIELD_ICMP_CODE);
}

/* Skips texts that no line shows, so that their lengths are not counted. */
EVENT_INLINE void pick_shown(void *to, enum event_field id, const struct sl_field *field)
{
    if (id != FIELD_PKT_SRC && id != FIELD_COMMUNITY_ID && id != FIELD_IN_IFACE &&
        id != FIELD_PCAP_FILENAME && id != FIELD_CATEGORY && id != FIELD_ACTION &&
        id != FIELD_DIRECTION)
        event_pick_field(to, id, field);
}

static enum sl_status console_write(struct sl_sink *sink, const struct sl_event *event,
                                    struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;
    struct event_picks picks;
    char time[EVENT_TIME_LEN];

    event_pick(&picks, event);
    line_begin(out);
    event_time(time, picks.field[FIELD_TIMESTAMP].time_ns, ' ');
    line_bytes(out, time, sizeof time);
    if (picks.has[FIELD_ALERT])
        put_alert(out, &picks);
    if (picks.has[FIELD_NAMES])
        put_name(out, &picks);
    if (picks.has[FIELD_FLOW])
        put_flow(out, &picks);
    if (event->kind == SL_EVENT_DNS_MESSAGE)
        put_message(out, &picks);
    if (event->kind == SL_EVENT_PACKET)
        put_packet(out, &picks);
    put_message_of_flow(out, &picks, event->kind);
    put_field(out, "  ANOMALY  ", &picks, FIELD_ANOMALY_EVENT);
    if (picks.has[FIELD_SRC_IP])
        put_tuple(out, &picks);
    line_text(out, "\n");
    return line_end(out, diag);
}

static enum sl_status console_write_stats(struct sl_sink *sink, const struct sl_stats_event *stats,
                                          struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;
    char time[EVENT_TIME_LEN];

    line_begin(out);
    event_time(time, stats->time_ns, ' ');
    line_bytes(out, time, sizeof time);
    line_text(out, "  STATS  ");
    line_text(out, stats->line);
    line_text(out, "\n");
    return line_end(out, diag);
}

const struct sink_kind sink_console = {
    .name = "console",
    .usage = "console",
    .has_path = false,
    .open = console_open,
    .hold = make,
    .pass = line_sink_pass,
    .write = console_write,
    .write_stats = console_write_stats,
    .flush = line_sink_flush,
    .written = line_sink_written,
    .close = line_sink_close,
};
