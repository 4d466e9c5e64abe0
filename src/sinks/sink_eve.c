/* SPDX-License-Identifier: MIT */
/* EVE JSON: one object a line, fields named and formed as Suricata's, so that its users' tools read
 * them. The fields and their order are in event_fields.h.
 *
 * - A line is UTF-8 whatever rules, file names and payloads hold; base/utf8.h has the details.
 * - proto is the protocol's name where Suricata has one in use, else its number as a string.
 * - IPv6 addresses are in the short form of RFC 5952.
 * - Alerts carry a payload, as Base64 and as printable text. Tagged packets are in Base64.
 * - Stats are an object that the caller made.
 *
 * All strings that are not sluice's own pass eve_put_characters or the keys of metadata.
 * The writer is sluice's own: a tree of values, built and dumped for each alert, costs five times
 * as much. */
#include <stdlib.h>

#include "app/dns_eve.h"
#include "base/diag.h"
#include "eve_lists.h"
#include "eve_object.h"
#include "eve_text.h"
#define EVENT_TAKE put_field
#include "event_fields.h"
#include "line_sink.h"
#include "payload_text.h"

enum { VALUE_ROOM = 64 }; /* bytes of a time, an address or a number, with quotes */

struct eve_sink {
    struct line_sink out;
    char separator;    /* before the next field: '{' where it is the first of its object */
    bool failed;       /* no memory for this event */
    uint64_t tx_id;    /* of this event, or DNS_NO_TX_ID */
    int64_t second_ns; /* begin of the last event's second; INT64_MAX: out of range; */
    char second[EVENT_TIME_LEN]; /* and a time in it: most events are in the last one's second */
    struct eve_metadata metadata;
};

/* Opens a file. Without a path the sink holds lines. */
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
    event_time(eve->second, 0, 'T');
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

/* The first second that 64 bits reach begins before it. */
static bool keep_second(struct eve_sink *eve, int64_t time_ns)
{
    const int64_t second_ns = 1000000000, rest = time_ns % second_ns;
    const int64_t past = rest < 0 ? rest + second_ns : rest;

    event_time(eve->second, time_ns, 'T');
    eve->second_ns = time_ns < INT64_MIN + past ? INT64_MAX : time_ns - past;
    return eve->second_ns != INT64_MAX;
}

static char *put_time(struct eve_sink *eve, char *at, int64_t time_ns)
{
    const size_t micros_at = EVENT_TIME_LEN - 6;
    const bool is_kept = time_ns >= eve->second_ns && eve->second_ns != INT64_MAX &&
                         (uint64_t)time_ns - (uint64_t)eve->second_ns < 1000000000;
    char micros[8];

    *at++ = '"';
    if (is_kept || keep_second(eve, time_ns)) {
        memcpy(at, eve->second, micros_at);
        decimal_fixed(micros, (uint32_t)((time_ns - eve->second_ns) / 1000), 6);
        memcpy(at + micros_at, micros, 6);
    } else {
        memcpy(at, eve->second, EVENT_TIME_LEN);
    }
    memcpy(at + EVENT_TIME_LEN, "+0000\"", 6);
    return at + EVENT_TIME_LEN + 6;
}

static char *put_addr(char *at, const struct sl_addr *addr)
{
    *at++ = '"';
    at = strchr(sl_addr_format(addr, at), '\0');
    *at = '"';
    return at + 1;
}

static void put_base64(struct line_sink *out, const uint8_t *bytes, uint32_t len)
{
    line_text(out, "\"");
    out->len += payload_base64(line_room(out, payload_text_room(len)), bytes, len);
    line_text(out, "\"");
}

/* A packet, or the payload's two forms; the key of the first is written. */
static void put_payload(struct line_sink *out, enum event_field id, const uint8_t *bytes,
                        uint32_t len)
{
    put_base64(out, bytes, len);
    if (id == FIELD_PACKET)
        return;
    line_text(out, ",\"payload_printable\":\"");
    out->len += payload_printable(line_room(out, payload_text_room(len)), bytes, len);
    line_text(out, "\"");
}

static void put_numbers(struct line_sink *out, const uint16_t *numbers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        line_text(out, i == 0 ? "[" : ",");
        line_uint(out, numbers[i]);
    }
    line_text(out, "]");
}

static void put_list(struct line_sink *out, enum event_field id, const char *const *texts)
{
    if (id == FIELD_NAMES_NEXT_HOPS)
        eve_put_hops(out, texts);
    else
        eve_put_texts(out, texts);
}

/* Certificates as Base64, as they are not text. */
static void put_values(struct line_sink *out, enum event_field id, const struct sl_field *field)
{
    for (uint32_t i = 0; i < field->n; i++) {
        const struct sl_app_value *value = &field->values[i];

        line_text(out, i == 0 ? "[" : ",");
        if (id == FIELD_TLS_CHAIN)
            put_base64(out, value->bytes, value->len);
        else
            eve_put_string(out, (const char *)value->bytes, value->len);
    }
    line_text(out, "]");
}

/* Writes the separator and the key, and returns room for a short value behind them. */
EVENT_INLINE char *put_key(struct eve_sink *eve, enum event_field id)
{
#define EVE_TEXT(name) ",\"" name "\":"
#define EVE_KEY(id, name) {EVE_TEXT(name), sizeof EVE_TEXT(name) - 1},
    static const struct {
        const char *text;
        size_t len;
    } keys[] = {EVENT_FIELDS(EVE_KEY)};
    const size_t len = keys[id].len;
    char *at = line_room(&eve->out, len + VALUE_ROOM);

    memcpy(at, keys[id].text, len);
    *at = eve->separator;
    eve->separator = ',';
    eve->out.len += len;
    return at + len;
}

/* Whether the text is one of sluice's own: plain, and short enough for the room behind its key. */
EVENT_INLINE bool is_own_text(enum event_field id)
{
    return id == FIELD_EVENT_TYPE || id == FIELD_PROTO || id == FIELD_PKT_SRC ||
           id == FIELD_ANOMALY_TYPE || id == FIELD_ACTION || id == FIELD_DIRECTION;
}

EVENT_INLINE char *put_own_text(char *at, const struct sl_field *field)
{
    *at++ = '"';
    memcpy(at, field->text, field->n);
    at += field->n;
    *at = '"';
    return at + 1;
}

/* A value that was written into the room behind its key. */
static void put_value(struct line_sink *out, const char *end)
{
    out->len = (size_t)(end - out->bytes);
}

/* Metadata is sorted before its key is written: where no entry has a value, no key is written. */
static void put_metadata(struct eve_sink *eve, const char *const *texts)
{
    if (!eve_metadata_sort(&eve->metadata, texts)) {
        eve->failed = true;
    } else if (eve->metadata.n != 0) {
        put_key(eve, FIELD_METADATA);
        eve_put_metadata(&eve->out, &eve->metadata);
    }
}

/* All members of a message. */
static void put_message(struct eve_sink *eve, const struct sl_field *field)
{
    struct eve_object object;

    eve_object_begin(&object, &eve->out);
    (void)dns_eve_visit(&object.visit, field->bytes, field->n, eve->tx_id);
}

EVENT_INLINE void put_field(void *to, enum event_field id, const struct sl_field *field)
{
    struct eve_sink *eve = to;
    struct line_sink *out = &eve->out;
    char *at;

    if (field->type == SL_FIELD_END || field->type == SL_FIELD_LIST_END) {
        if (eve->separator != ',') /* nothing is in it */
            line_bytes(out, &eve->separator, 1);
        line_text(out, field->type == SL_FIELD_END ? "}" : "]");
        eve->separator = ',';
        return;
    }
    if (field->type == SL_FIELD_OBJECT && id == FIELD_END) {
        line_bytes(out, &eve->separator, 1);
        eve->separator = '{';
        return;
    }
    if (id == FIELD_METADATA) {
        put_metadata(eve, field->texts);
        return;
    }
    if (field->type == SL_FIELD_MESSAGE) {
        put_message(eve, field);
        return;
    }
    at = put_key(eve, id);
    switch (field->type) {
    case SL_FIELD_OBJECT:
        eve->separator = '{';
        break;
    case SL_FIELD_LIST:
        eve->separator = '[';
        break;
    case SL_FIELD_VALUES:
        put_values(out, id, field);
        break;
    case SL_FIELD_NUMBER:
    case SL_FIELD_UNKNOWN:
        line_uint(out, field->number);
        break;
    case SL_FIELD_TRUE:
        line_text(out, "true");
        break;
    case SL_FIELD_FALSE:
        line_text(out, "false");
        break;
    case SL_FIELD_TEXT:
        if (is_own_text(id))
            put_value(out, put_own_text(at, field));
        else
            eve_put_string(out, field->text, field->n);
        break;
    case SL_FIELD_TEXTS:
        put_list(out, id, field->texts);
        break;
    case SL_FIELD_NUMBERS:
        put_numbers(out, field->numbers, field->n);
        break;
    case SL_FIELD_BYTES:
        put_payload(out, id, field->bytes, field->n);
        break;
    case SL_FIELD_TIME:
        put_value(out, put_time(eve, at, field->time_ns));
        break;
    default:
        put_value(out, put_addr(at, field->addr));
    }
}

static enum sl_status eve_write(struct sl_sink *sink, const struct sl_event *event,
                                struct sl_diag *diag)
{
    struct eve_sink *eve = (struct eve_sink *)sink;
    struct event_texts texts;

    line_begin(&eve->out);
    eve->separator = '{';
    eve->tx_id = event->nth_message != 0 ? event->nth_message - 1 : DNS_NO_TX_ID;
    event_visit(eve, event, &texts);
    if (eve->failed)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a rule's metadata");
    line_text(&eve->out, "}\n");
    return line_end(&eve->out, diag);
}

static enum sl_status eve_write_stats(struct sl_sink *sink, const struct sl_stats_event *stats,
                                      struct sl_diag *diag)
{
    struct eve_sink *eve = (struct eve_sink *)sink;
    struct line_sink *out = &eve->out;
    char time[VALUE_ROOM];

    line_begin(out);
    line_text(out, "{\"timestamp\":");
    line_bytes(out, time, (size_t)(put_time(eve, time, stats->time_ns) - time));
    line_text(out, ",\"event_type\":\"stats\",\"stats\":");
    line_text(out, stats->json);
    line_text(out, "}\n");
    return line_end(out, diag);
}

static enum sl_status eve_close(struct sl_sink *sink, struct sl_diag *diag)
{
    eve_metadata_free(&((struct eve_sink *)sink)->metadata);
    return line_sink_close(sink, diag);
}

const struct sink_kind sink_eve = {
    .name = "eve",
    .usage = "eve:FILE, eve:-",
    .has_path = true,
    .shows_community_id = true,
    .open = eve_open,
    .hold = eve_hold,
    .pass = line_sink_pass,
    .write = eve_write,
    .write_stats = eve_write_stats,
    .flush = line_sink_flush,
    .written = line_sink_written,
    .close = eve_close,
};
