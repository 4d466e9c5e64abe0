/* SPDX-License-Identifier: MIT */
/* One line an event for a person, fields apart by two spaces:
 *
 * 2026-01-02 10:11:12.123456  ALERT  [1:2000001:3] message  (class, priority 1)  TCP 10.0.0.1:1
 * -> 10.0.0.2:2
 * 2026-01-02 10:11:12.123456  NAME  dns query A ads.example  block  (ads.example, list:3)  UDP ...
 *
 * and one for the counters, those that a person follows.
 *
 * Lines are printable ASCII whatever the events hold: a terminal in an 8-bit encoding takes bytes
 * of well-formed UTF-8 for control sequences. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/utf8.h"
#include "sinks/event_names.h"
#include "sinks/event_text.h"
#include "sinks/line_sink.h"
#include "sinks/stats_text.h"

/* Of standard output; or, hold_len not 0, one that holds. */
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

static void put_printable(struct line_sink *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const uint8_t byte = (uint8_t)*text;
        char escaped[UTF8_ESCAPE_LEN];

        if (byte >= 0x20 && byte < 0x7F) {
            line_bytes(out, text, 1);
            continue;
        }
        utf8_escape(escaped, byte);
        line_bytes(out, escaped, sizeof escaped);
    }
}

static void put_alert(struct line_sink *out, const struct sl_signature *signature)
{
    line_text(out, "  ALERT  [");
    line_uint(out, signature->gid);
    line_text(out, ":");
    line_uint(out, signature->sid);
    line_text(out, ":");
    line_uint(out, signature->rev);
    line_text(out, "] ");
    put_printable(out, signature->msg);
    line_text(out, "  (");
    if (signature->classtype[0] != '\0') {
        put_printable(out, signature->classtype);
        line_text(out, ", ");
    }
    line_text(out, "priority ");
    line_uint(out, signature->priority);
    line_text(out, ")");
}

/* What was found, what the table says of it, and which rule does. */
static void put_name(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_name_match *match = event->match;
    char number[EVENT_NUMBER_LEN];
    size_t len;
    const char *kind = event_name_kind(event, &len);

    line_text(out, "  NAME  ");
    line_text(out, sl_names_protocol_text(match->found->protocol));
    if (kind != NULL) {
        line_text(out, " ");
        line_bytes(out, kind, len);
    }
    if (match->found->protocol == SL_NAMES_DNS) {
        line_text(out, " ");
        line_text(out, event_dns_type(match->found->dns.rrtype, number));
    }
    line_text(out, " ");
    put_printable(out, match->name);
    line_text(out, "  ");
    line_text(out, sl_names_action_text(match->action));
    for (size_t i = 0; match->values[i] != NULL; i++) {
        line_text(out, i == 0 ? " " : ",");
        put_printable(out, match->values[i]);
    }
    line_text(out, "  (");
    put_printable(out, match->prefix);
    line_text(out, ", ");
    put_printable(out, match->list);
    line_text(out, ":");
    line_uint(out, match->line);
    line_text(out, ")");
}

/* "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80". */
static void put_endpoint(struct line_sink *out, const struct sl_addr *addr, uint16_t port,
                         bool has_port)
{
    const bool bracketed = has_port && !sl_addr_is_ipv4(addr);
    char text[SL_ADDR_TEXT_LEN];

    line_text(out, bracketed ? "[" : "");
    line_text(out, sl_addr_format(addr, text));
    line_text(out, bracketed ? "]" : "");
    if (has_port) {
        line_text(out, ":");
        line_uint(out, port);
    }
}

static void put_tuple(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_tuple *tuple = &event->tuple;
    const bool has_transport = event_has_transport(event);
    const bool has_ports = has_transport && event_has_ports(event);
    char number[4];

    line_text(out, "  ");
    line_text(out, event_protocol(tuple->protocol, number));
    line_text(out, " ");
    put_endpoint(out, &tuple->src, tuple->src_port, has_ports);
    line_text(out, " -> ");
    put_endpoint(out, &tuple->dst, tuple->dst_port, has_ports);
    if (has_transport && event_is_icmp(event)) {
        line_text(out, " type ");
        line_uint(out, tuple->src_port);
        line_text(out, " code ");
        line_uint(out, tuple->dst_port);
    }
}

static enum sl_status console_write(struct sl_sink *sink, const struct sl_event *event,
                                    struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;
    char time[EVENT_TIME_LEN];

    line_begin(out);
    event_time(time, event->origin.time_ns, ' ');
    line_bytes(out, time, sizeof time);
    if (event->kind == SL_EVENT_ALERT) {
        put_alert(out, event->signature);
    } else if (event->kind == SL_EVENT_NAME) {
        put_name(out, event);
    } else {
        line_text(out, "  ANOMALY  ");
        line_text(out, sl_header_check_name(event->check));
    }
    if (event->has_tuple)
        put_tuple(out, event);
    line_text(out, "\n");
    return line_end(out, diag);
}

static void put_count(struct line_sink *out, uint64_t n, const char *what)
{
    line_text(out, "  ");
    line_uint(out, n);
    line_text(out, what);
}

static enum sl_status console_write_stats(struct sl_sink *sink, const struct sl_stats *stats,
                                          struct sl_diag *diag)
{
    struct line_sink *out = (struct line_sink *)sink;
    char time[EVENT_TIME_LEN];

    line_begin(out);
    event_time(time, stats->time_ns, ' ');
    line_bytes(out, time, sizeof time);
    line_text(out, "  STATS");
    put_count(out, stats->uptime_ns / 1000000000, " s");
    put_count(out, stats->packets, " packets");
    put_count(out, stats->bytes, " bytes");
    if (stats->live)
        put_count(out, stats->kernel_drops, " dropped");
    put_count(out, stats->flows.active, " active flows");
    if (stats->has_header_checks)
        put_count(out, stats_anomalies(stats), " anomalies");
    if (stats->has_rules)
        put_count(out, stats->alerts, " alerts");
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
