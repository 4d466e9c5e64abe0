/* SPDX-License-Identifier: MIT */
/* Answers as lines of tab-separated values or JSON. */
#include <string.h>

#include "base/utf8.h"
#include "lookup.h"

enum { TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64 }; /* a written name: four characters a byte at most */

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F;
}

/* How many bytes of printable ASCII it begins with. */
static size_t plain_len(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *const begin = at;

    while (at < end && is_plain(*at))
        at++;
    return (size_t)(at - begin);
}

static void put_escapes(struct line_sink *out, const uint8_t *bytes, size_t n, const char *before)
{
    for (size_t i = 0; i < n; i++) {
        char escape[UTF8_ESCAPE_LEN];

        utf8_escape(escape, bytes[i]);
        line_text(out, before);
        line_bytes(out, escape, sizeof escape);
    }
}

/* As UTF-8; what would end a column or control a terminal, and what is no UTF-8, as \xNN. */
static void put_column(struct line_sink *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + len;

    while (at < end) {
        const size_t plain = plain_len(at, end);

        line_bytes(out, at, plain);
        at += plain;
        if (at == end)
            break;
        const size_t n = utf8_len(at, end);
        if (n > 1 && !utf8_is_control(at))
            line_bytes(out, at, n);
        else
            put_escapes(out, at, n > 0 ? n : 1, "");
        at += n > 0 ? n : 1;
    }
}

static void put_json(struct line_sink *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + len;

    line_text(out, "\"");
    while (at < end) {
        const size_t n = utf8_len(at, end);

        if (n == 0) {
            put_escapes(out, at++, 1, "\\");
            continue;
        }
        if (*at == '"' || *at == '\\') {
            line_text(out, "\\");
            line_bytes(out, at, 1);
        } else if (utf8_is_control(at)) {
            char code[8];
            line_bytes(out, code, (size_t)snprintf(code, sizeof code, "\\u%04x", at[n - 1]));
        } else {
            line_bytes(out, at, n);
        }
        at += n;
    }
    line_text(out, "\"");
}

/* The rule's name, in the syntax of the name that was looked up. */
static size_t write_prefix(const struct sl_name *name, const struct sl_names_answer *answer,
                           char text[TEXT_MAX])
{
    struct sl_name prefix = *name;

    prefix.len = answer->prefix_len;
    if (prefix.host_len > prefix.len)
        prefix.host_len = prefix.len;
    return sl_name_write(&prefix, text, TEXT_MAX);
}

/* ---- tab-separated values -------------------------------------------------------------------- */

static void write_values(struct lookup *lookup, const struct sl_names_answer *answer)
{
    const char *value;
    size_t len;

    for (uint32_t i = 0; (value = sl_names_value(lookup->names, answer, i, &len)) != NULL; i++) {
        if (i > 0)
            line_text(lookup->out, ",");
        put_column(lookup->out, value, len);
    }
    if (sl_names_value(lookup->names, answer, 0, &len) == NULL)
        line_text(lookup->out, "-");
}

static void write_tsv(struct lookup *lookup, uint32_t i)
{
    const struct sl_names_answer *answer = &lookup->answer[lookup->asked[i].answered];
    struct line_sink *out = lookup->out;
    char text[TEXT_MAX];

    put_column(out, lookup->asked[i].text, lookup->asked[i].len);
    if (lookup->asked[i].why != NULL) {
        line_text(out, "\t-\tinvalid\t");
        line_text(out, lookup->asked[i].why);
        line_text(out, lookup->explain ? "\t-\t-\n" : "\n");
        return;
    }
    if (answer->action == SL_NAMES_NONE) {
        line_text(out, lookup->explain ? "\t-\tnone\t-\t-\t-\n" : "\t-\tnone\t-\n");
        return;
    }
    line_text(out, "\t");
    put_column(out, text, write_prefix(&lookup->name[lookup->asked[i].answered], answer, text));
    line_text(out, "\t");
    line_text(out, sl_names_action_text(answer->action));
    line_text(out, "\t");
    write_values(lookup, answer);
    if (lookup->explain) {
        const char *list = sl_names_list(lookup->names, answer->list, NULL);

        line_text(out, "\t");
        put_column(out, list, strlen(list));
        line_text(out, "\t");
        line_uint(out, answer->line);
    }
    line_text(out, "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* "FACE COST", or a port alone. */
static void write_hop(struct line_sink *out, const char *value, size_t len)
{
    const char *blank = memchr(value, ' ', len);

    line_text(out, "{\"hop\":");
    put_json(out, value, blank != NULL ? (size_t)(blank - value) : len);
    if (blank != NULL) {
        line_text(out, ",\"cost\":");
        line_bytes(out, blank + 1, (size_t)(value + len - blank - 1));
    }
    line_text(out, "}");
}

static void write_json_values(struct lookup *lookup, const struct sl_names_answer *answer)
{
    const bool hops = answer->action == SL_NAMES_FORWARD;
    const char *value;
    size_t len;

    if (sl_names_value(lookup->names, answer, 0, &len) == NULL)
        return;
    line_text(lookup->out, hops ? ",\"next_hops\":[" : ",\"values\":[");
    for (uint32_t i = 0; (value = sl_names_value(lookup->names, answer, i, &len)) != NULL; i++) {
        if (i > 0)
            line_text(lookup->out, ",");
        if (hops)
            write_hop(lookup->out, value, len);
        else
            put_json(lookup->out, value, len);
    }
    line_text(lookup->out, "]");
}

static void write_json(struct lookup *lookup, uint32_t i)
{
    const struct sl_names_answer *answer = &lookup->answer[lookup->asked[i].answered];
    struct line_sink *out = lookup->out;
    char text[TEXT_MAX];

    line_text(out, "{\"name\":");
    put_json(out, lookup->asked[i].text, lookup->asked[i].len);
    if (lookup->asked[i].why != NULL) {
        line_text(out, ",\"action\":\"invalid\",\"reason\":");
        put_json(out, lookup->asked[i].why, strlen(lookup->asked[i].why));
        line_text(out, "}\n");
        return;
    }
    line_text(out, ",\"action\":\"");
    line_text(out, sl_names_action_text(answer->action));
    line_text(out, "\"");
    if (answer->action != SL_NAMES_NONE) {
        line_text(out, ",\"prefix\":");
        put_json(out, text, write_prefix(&lookup->name[lookup->asked[i].answered], answer, text));
        write_json_values(lookup, answer);
        if (lookup->explain) {
            const char *format = "", *list = sl_names_list(lookup->names, answer->list, &format);

            line_text(out, ",\"list\":");
            put_json(out, list, strlen(list));
            line_text(out, ",\"format\":\"");
            line_text(out, format);
            line_text(out, "\",\"line\":");
            line_uint(out, answer->line);
        }
    }
    line_text(out, "}\n");
}

void lookup_write(struct lookup *lookup)
{
    for (uint32_t i = 0; i < lookup->n_asked; i++) {
        line_begin(lookup->out);
        (lookup->json ? write_json : write_tsv)(lookup, i);
    }
}
