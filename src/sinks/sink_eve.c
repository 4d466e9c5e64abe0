/* SPDX-License-Identifier: MIT */
/* EVE JSON: one object a line, fields named and formed as Suricata's, so that its users' tools read
 * them.
 *
 * - A line is UTF-8 whatever rules, file names and payloads hold; event_text.h says how.
 * - Keys of metadata are printable ASCII without quote and backslash, other bytes are '_'; as in
 *   Suricata entries without a value are left out, and keys that differ in case alone are one.
 * - References to the systems url and cve are written as the addresses that Suricata's
 *   configuration makes of them, all others as in the rule ("bugtraq,1234").
 * - proto is the protocol's name where Suricata has one in use, else its number as a string.
 * - IPv6 addresses are in the short form of RFC 5952.
 * - Alerts carry a payload and anomalies none.
 * - Names that a table has a rule for are events of type dns, http or tls with Suricata's fields,
 * as far as one packet tells them, or ndn, and an object `names` with what `sluice lookup` says.
 * - Stats are totals; stats_json.c says what they hold.
 *
 * All strings that are not constants of this file pass put_characters or put_key. The writer is
 * sluice's own because building and dumping a tree of values an alert costs five times as much. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/diag.h"
#include "base/utf8.h"
#include "sinks/event_names.h"
#include "sinks/event_text.h"
#include "sinks/line_sink.h"
#include "sinks/payload_text.h"
#include "sinks/stats_text.h"

#define KEY(name) ",\"" name "\":"

struct metadata {
    const char *key;
    size_t key_len;
    const char *value;
    size_t order; /* in the rule */
};

struct eve_sink {
    struct line_sink out;
    struct metadata *metadata; /* of the alert at hand */
    size_t metadata_cap;
};

/* Of a file; or, path NULL, one that holds. */
static enum sl_status make(struct sl_sink **sink, const char *path, size_t hold_len,
                           struct sl_diag *diag)
{
    struct eve_sink *eve = calloc(1, sizeof *eve);

    if (eve == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a sink");

    const enum sl_status status = path == NULL ? line_sink_hold(&eve->out, hold_len, diag)
                                               : line_sink_open(&eve->out, path, diag);
    if (status != SL_OK) {
        free(eve);
        return status;
    }
    *sink = &eve->out.base;
    return SL_OK;
}

static enum sl_status eve_open(struct sl_sink **sink, const char *path, struct sl_diag *diag)
{
    return make(sink, path, 0, diag);
}

static enum sl_status eve_hold(struct sl_sink **held, size_t hold_len, struct sl_diag *diag)
{
    return make(held, NULL, hold_len, diag);
}

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

/* Whether all eight bytes are plain, by the zero-byte test of Mycroft, which is exact for "any". */
static bool are_plain(const uint8_t *at)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    uint64_t word;

    memcpy(&word, at, sizeof word);
    const uint64_t quote = word ^ '"' * ones, backslash = word ^ '\\' * ones;
    const uint64_t del = word ^ 0x7F * ones;

    return ((((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((del - ones) & ~del) |
             ((word - 0x20 * ones) & ~word) | word) &
            high) == 0;
}

static size_t plain_len(const uint8_t *text, const uint8_t *end)
{
    const uint8_t *at = text;

    while (end - at >= 8 && are_plain(at))
        at += 8;
    while (at < end && is_plain(*at))
        at++;
    return (size_t)(at - text);
}

static void put_control(struct line_sink *out, uint8_t code)
{
    static const char hex[] = "0123456789abcdef";
    const char escaped[6] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};

    line_bytes(out, escaped, sizeof escaped);
}

/* Writes the character at text, which is not plain; returns its bytes. */
static size_t put_special(struct line_sink *out, const uint8_t *text, const uint8_t *end)
{
    const size_t len = utf8_len(text, end);

    if (len == 0) {
        char escaped[UTF8_ESCAPE_LEN];

        utf8_escape(escaped, *text);
        line_text(out, "\\");
        line_bytes(out, escaped, sizeof escaped);
        return 1;
    }
    if (len == 2 && utf8_is_control(text))
        put_control(out, text[1]);
    else if (len > 1)
        line_bytes(out, text, len);
    else if (*text == '"')
        line_text(out, "\\\"");
    else if (*text == '\\')
        line_text(out, "\\\\");
    else if (*text == '\n')
        line_text(out, "\\n");
    else if (*text == '\r')
        line_text(out, "\\r");
    else
        put_control(out, *text);
    return len;
}

/* The inside of a string. */
static void put_characters(struct line_sink *out, const void *text, size_t len)
{
    const uint8_t *at = text;
    const uint8_t *const end = at + len;

    while (at < end) {
        const size_t plain = plain_len(at, end);

        line_bytes(out, at, plain);
        at += plain;
        if (at < end)
            at += put_special(out, at, end);
    }
}

static void put_string(struct line_sink *out, const void *text, size_t len)
{
    line_text(out, "\"");
    put_characters(out, text, len);
    line_text(out, "\"");
}

static void put_text(struct line_sink *out, const char *key, const char *text)
{
    line_text(out, key);
    put_string(out, text, strlen(text));
}

static void put_uint(struct line_sink *out, const char *key, uint64_t value)
{
    line_text(out, key);
    line_uint(out, value);
}

static void put_payload(struct line_sink *out, const struct sl_event *event)
{
    const uint32_t len = event_payload_len(event);

    line_text(out, KEY("payload") "\"");
    out->len += payload_base64(line_room(out, payload_text_room(len)), event->payload, len);
    line_text(out, "\"" KEY("payload_printable") "\"");
    out->len += payload_printable(line_room(out, payload_text_room(len)), event->payload, len);
    line_text(out, "\"");
}

static void put_addresses(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_tuple *tuple = &event->tuple;
    char addr[SL_ADDR_TEXT_LEN], number[4];

    put_text(out, KEY("src_ip"), sl_addr_format(&tuple->src, addr));
    if (event_has_ports(event))
        put_uint(out, KEY("src_port"), tuple->src_port);
    put_text(out, KEY("dest_ip"), sl_addr_format(&tuple->dst, addr));
    if (event_has_ports(event))
        put_uint(out, KEY("dest_port"), tuple->dst_port);
    put_text(out, KEY("proto"), event_protocol(tuple->protocol, number));
    if (event_is_icmp(event) && event_has_transport(event)) {
        put_uint(out, KEY("icmp_type"), tuple->src_port);
        put_uint(out, KEY("icmp_code"), tuple->dst_port);
    }
}

static void put_vlan(struct line_sink *out, const uint16_t vlan[2])
{
    if (vlan[0] == SL_NO_VLAN)
        return;
    put_uint(out, KEY("vlan") "[", vlan[0]);
    if (vlan[1] != SL_NO_VLAN)
        put_uint(out, ",", vlan[1]);
    line_text(out, "]");
}

static const char *event_type(const struct sl_event *event)
{
    switch (event->kind) {
    case SL_EVENT_ALERT:
        return "alert";
    case SL_EVENT_ANOMALY:
        return "anomaly";
    default:
        return sl_names_protocol_text(event->match->found->protocol);
    }
}

static void put_head(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_origin *origin = &event->origin;
    char time[EVENT_TIME_LEN];

    event_time(time, origin->time_ns, 'T');
    line_text(out, "{\"timestamp\":\"");
    line_bytes(out, time, sizeof time);
    line_text(out, "+0000\"");
    if (origin->flow != 0)
        put_uint(out, KEY("flow_id"), origin->flow);
    if (event->live)
        put_text(out, KEY("in_iface"), event->source);
    else if (origin->position != 0)
        put_uint(out, KEY("pcap_cnt"), origin->position);
    put_text(out, KEY("event_type"), event_type(event));
    put_vlan(out, origin->vlan);
    if (event->has_tuple)
        put_addresses(out, event);
    line_text(out, KEY("pkt_src") "\"wire/pcap\"");
}

static void put_reference(struct line_sink *out, const char *reference)
{
    const char *comma = strchr(reference, ',');
    const size_t system_len = comma != NULL ? (size_t)(comma - reference) : 0;
    const char *prefix = "";

    if (system_len == 3 && strncasecmp(reference, "url", 3) == 0) {
        reference = comma + 1;
        prefix = strstr(reference, "://") != NULL ? "" : "https://";
    } else if (system_len == 3 && strncasecmp(reference, "cve", 3) == 0) {
        reference = comma + 1;
        prefix = "https://cve.mitre.org/cgi-bin/cvename.cgi?name=";
    }
    line_text(out, "\"");
    line_text(out, prefix);
    put_characters(out, reference, strlen(reference));
    line_text(out, "\"");
}

static void put_references(struct line_sink *out, const char *const *references)
{
    if (*references == NULL)
        return;
    for (const char *before = KEY("references") "["; *references != NULL; references++) {
        line_text(out, before);
        put_reference(out, *references);
        before = ",";
    }
    line_text(out, "]");
}

/* What stands for a byte of a metadata key. Keys that this makes equal are one key, so that none is
 * twice in the object. */
static uint8_t key_byte(char byte)
{
    return is_plain((uint8_t)byte) ? (uint8_t)byte : '_';
}

static int compare_keys(const struct metadata *a, const struct metadata *b)
{
    for (size_t i = 0; i < a->key_len && i < b->key_len; i++) {
        const int difference = tolower(key_byte(a->key[i])) - tolower(key_byte(b->key[i]));

        if (difference != 0)
            return difference;
    }
    return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int compare_metadata(const void *a, const void *b)
{
    const struct metadata *left = a, *right = b;
    const int keys = compare_keys(left, right);

    return keys != 0 ? keys : (left->order > right->order) - (left->order < right->order);
}

/* Splits "key value" entries and sorts them by key; returns their number, or SIZE_MAX: no memory.
 */
static size_t sort_metadata(struct eve_sink *eve, const char *const *entries)
{
    size_t n_entries = 0, n = 0;

    while (entries[n_entries] != NULL)
        n_entries++;
    if (n_entries > eve->metadata_cap) {
        struct metadata *grown = reallocarray(eve->metadata, n_entries, sizeof *grown);

        if (grown == NULL)
            return SIZE_MAX;
        eve->metadata = grown;
        eve->metadata_cap = n_entries;
    }
    for (size_t i = 0; i < n_entries; i++) {
        const char *key = entries[i] + strspn(entries[i], " \t");
        const size_t key_len = strcspn(key, " \t");
        const char *value = key + key_len + strspn(key + key_len, " \t");

        if (*value != '\0')
            eve->metadata[n++] = (struct metadata){key, key_len, value, i};
    }
    if (n != 0)
        qsort(eve->metadata, n, sizeof *eve->metadata, compare_metadata);
    return n;
}

static void put_key(struct line_sink *out, const struct metadata *metadata)
{
    for (size_t i = 0; i < metadata->key_len; i++) {
        const uint8_t byte = key_byte(metadata->key[i]);

        line_bytes(out, &byte, 1);
    }
}

/* {"key":["value",...],...} */
static void put_metadata(struct line_sink *out, const struct metadata *metadata, size_t n)
{
    if (n == 0)
        return;
    line_text(out, KEY("metadata") "{");
    for (size_t i = 0; i < n; i++) {
        const bool opens = i == 0 || compare_keys(&metadata[i - 1], &metadata[i]) != 0;
        const bool closes = i + 1 == n || compare_keys(&metadata[i], &metadata[i + 1]) != 0;

        if (opens) {
            line_text(out, i == 0 ? "\"" : ",\"");
            put_key(out, &metadata[i]);
        }
        put_text(out, opens ? "\":[" : ",", metadata[i].value);
        if (closes)
            line_text(out, "]");
    }
    line_text(out, "}");
}

static enum sl_status put_alert(struct eve_sink *eve, const struct sl_event *event,
                                struct sl_diag *diag)
{
    const struct sl_signature *signature = event->signature;
    struct line_sink *out = &eve->out;
    const size_t n_metadata = sort_metadata(eve, signature->metadata);

    if (n_metadata == SIZE_MAX)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a rule's metadata");

    line_text(out, KEY("alert") "{\"action\":\"allowed\"");
    put_uint(out, KEY("gid"), signature->gid);
    put_uint(out, KEY("signature_id"), signature->sid);
    put_uint(out, KEY("rev"), signature->rev);
    put_text(out, KEY("signature"), signature->msg);
    put_text(out, KEY("category"), signature->category);
    put_uint(out, KEY("severity"), signature->priority);
    put_references(out, signature->references);
    put_metadata(out, eve->metadata, n_metadata);
    line_text(out, "}");
    if (event->origin.flow != 0)
        put_text(out, KEY("direction"), event_direction(event));
    if (event->payload_len != 0)
        put_payload(out, event);
    line_text(out, KEY("stream") "0");
    return SL_OK;
}

/* Query and answer in version 2 of Suricata's format. */
static void put_dns(struct line_sink *out, const struct sl_name_match *match)
{
    static const struct {
        uint16_t bit;
        const char *key;
    } flags[] = {{0x8000, KEY("qr") "true"},
                 {0x0400, KEY("aa") "true"},
                 {0x0200, KEY("tc") "true"},
                 {0x0100, KEY("rd") "true"},
                 {0x0080, KEY("ra") "true"}};
    const struct sl_packet_name *found = match->found;
    const bool answer = (found->dns.flags & 0x8000) != 0;
    char number[EVENT_NUMBER_LEN];

    line_text(out, KEY("dns") "{\"version\":2,\"type\":");
    line_text(out, answer ? "\"answer\"" : "\"query\"");
    put_uint(out, KEY("id"), found->dns.id);
    if (answer) {
        snprintf(number, sizeof number, "%x", found->dns.flags);
        put_text(out, KEY("flags"), number);
    }
    for (size_t i = 0; answer && i < sizeof flags / sizeof *flags; i++)
        if ((found->dns.flags & flags[i].bit) != 0)
            line_text(out, flags[i].key);
    put_text(out, KEY("rrname"), match->name);
    put_text(out, KEY("rrtype"), event_dns_type(found->dns.rrtype, number));
    if (answer)
        put_text(out, KEY("rcode"), event_dns_rcode(found->dns.flags, number));
    put_uint(out, KEY("opcode"), found->dns.flags >> 11 & 15);
    line_text(out, "}");
}

static void put_span(struct line_sink *out, const char *key, const struct sl_event *event,
                     const struct sl_span *span)
{
    line_text(out, key);
    put_string(out, event->payload + span->offset, span->len);
}

static void put_http(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_packet_name *found = event->match->found;
    const char digit[2] = {(char)('0' + found->http.minor), '\0'};

    put_text(out, KEY("http") "{\"hostname\":", event->match->host);
    if (found->http.port != 0)
        put_uint(out, KEY("http_port"), found->http.port);
    put_span(out, KEY("url"), event, &found->http.target);
    put_span(out, KEY("http_method"), event, &found->http.method);
    line_text(out, KEY("protocol") "\"HTTP/1.");
    line_text(out, digit);
    line_text(out, "\"}");
}

static void put_ndn(struct line_sink *out, const struct sl_event *event)
{
    size_t len;
    const char *kind = event_name_kind(event, &len);

    line_text(out, KEY("ndn") "{\"type\":");
    put_string(out, kind, len);
    put_text(out, KEY("name"), event->match->name);
    line_text(out, "}");
}

static bool is_json_number(const char *text)
{
    const size_t len = strspn(text, "0123456789");

    return len != 0 && text[len] == '\0' && (len == 1 || text[0] != '0');
}

/* {"hop":"262","cost":10} of "262 10", or a port alone. */
static void put_hop(struct line_sink *out, const char *value)
{
    const char *blank = strchr(value, ' ');
    const bool cost = blank != NULL && is_json_number(blank + 1);

    line_text(out, "{\"hop\":");
    put_string(out, value, cost ? (size_t)(blank - value) : strlen(value));
    if (cost) {
        line_text(out, KEY("cost"));
        line_text(out, blank + 1);
    }
    line_text(out, "}");
}

/* The fields of `sluice lookup --json --explain`, and the verdict. */
static void put_rule(struct line_sink *out, const struct sl_name_match *match)
{
    const bool hops = match->action == SL_NAMES_FORWARD;
    const char *verdict = event_verdict(match->action);

    put_text(out, KEY("names") "{\"name\":", match->name);
    put_text(out, KEY("prefix"), match->prefix);
    put_text(out, KEY("action"), sl_names_action_text(match->action));
    if (verdict != NULL)
        put_text(out, KEY("verdict"), verdict);
    for (size_t i = 0; match->values[i] != NULL; i++) {
        line_text(out, i != 0 ? "," : hops ? KEY("next_hops") "[" : KEY("values") "[");
        if (hops)
            put_hop(out, match->values[i]);
        else
            put_string(out, match->values[i], strlen(match->values[i]));
    }
    line_text(out, match->values[0] != NULL ? "]" : "");
    put_text(out, KEY("list"), match->list);
    put_text(out, KEY("format"), match->format);
    put_uint(out, KEY("line"), match->line);
    line_text(out, "}");
}

static void put_name(struct line_sink *out, const struct sl_event *event)
{
    const struct sl_packet_name *found = event->match->found;
    char number[EVENT_NUMBER_LEN];

    switch (found->protocol) {
    case SL_NAMES_DNS:
        put_dns(out, event->match);
        break;
    case SL_NAMES_HTTP:
        put_http(out, event);
        break;
    case SL_NAMES_TLS:
        put_text(out, KEY("tls") "{\"sni\":", event->match->name);
        put_text(out, KEY("version"), event_tls_version(found->tls.version, number));
        line_text(out, "}");
        break;
    default:
        put_ndn(out, event);
    }
    put_rule(out, event->match);
}

static enum sl_status eve_write(struct sl_sink *sink, const struct sl_event *event,
                                struct sl_diag *diag)
{
    struct eve_sink *eve = (struct eve_sink *)sink;
    struct line_sink *out = &eve->out;

    line_begin(out);
    put_head(out, event);
    if (event->kind == SL_EVENT_ALERT) {
        const enum sl_status status = put_alert(eve, event, diag);

        if (status != SL_OK)
            return status;
    } else if (event->kind == SL_EVENT_NAME) {
        put_name(out, event);
    } else {
        put_text(out, KEY("anomaly") "{\"type\":\"decode\"" KEY("event"),
                 sl_header_check_name(event->check));
        line_text(out, "}");
    }
    if (!event->live)
        put_text(out, KEY("pcap_filename"), event->source);
    line_text(out, "}\n");
    return line_end(out, diag);
}

static enum sl_status eve_write_stats(struct sl_sink *sink, const struct sl_stats *stats,
                                      struct sl_diag *diag)
{
    struct line_sink *out = &((struct eve_sink *)sink)->out;
    char time[EVENT_TIME_LEN];
    char *object = stats_json(stats);

    if (object == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a stats event");
    line_begin(out);
    event_time(time, stats->time_ns, 'T');
    line_text(out, "{\"timestamp\":\"");
    line_bytes(out, time, sizeof time);
    line_text(out, "+0000\"" KEY("event_type") "\"stats\"" KEY("stats"));
    line_text(out, object);
    line_text(out, "}\n");
    free(object);
    return line_end(out, diag);
}

static enum sl_status eve_close(struct sl_sink *sink, struct sl_diag *diag)
{
    free(((struct eve_sink *)sink)->metadata);
    return line_sink_close(sink, diag);
}

const struct sink_kind sink_eve = {
    .name = "eve",
    .usage = "eve:FILE, eve:-",
    .has_path = true,
    .open = eve_open,
    .hold = eve_hold,
    .pass = line_sink_pass,
    .write = eve_write,
    .write_stats = eve_write_stats,
    .flush = line_sink_flush,
    .written = line_sink_written,
    .close = eve_close,
};
