/* SPDX-License-Identifier: MIT */
/* Answers as lines of tab-separated values or JSON. */
#include "names_lines.h"

#include <emmintrin.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/utf8.h"
#include "names/syntax/name_plain.h"
#include "names/syntax/name_text.h"

enum {
    TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64, /* a written name: four characters a byte at most */
    VECTOR = 16
};

/* ---- the buffer ------------------------------------------------------------------------------ */

static void drain(struct names_lines *out)
{
    out->drain(out->user, out->bytes, out->len);
    out->len = 0;
}

static inline void put(struct names_lines *out, const void *bytes, size_t len)
{
    const char *at = bytes;

    for (size_t room; len > (room = sizeof out->bytes - out->len); at += room, len -= room) {
        memcpy(out->bytes + out->len, at, room);
        out->len += room;
        drain(out);
    }
    memcpy(out->bytes + out->len, at, len);
    out->len += len;
}

static inline void put_text(struct names_lines *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_uint(struct names_lines *out, uint32_t value)
{
    char digits[DECIMAL_LEN];

    put(out, digits, (size_t)(decimal_write(digits, value) - digits));
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F;
}

/* Whether all eight are. A byte below 0x80 and its sums are below 0x100: none carries. */
static bool are_plain(const uint8_t bytes[8])
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t eight;

    memcpy(&eight, bytes, sizeof eight);
    const uint64_t low = eight & each * 0x7F;
    return (((low + each * (0x80 - 0x20)) & ~(low + each) & ~eight) & each * 0x80) == each * 0x80;
}

/* A bit for each of sixteen bytes that is not plain. */
static uint32_t not_plain(const uint8_t *bytes)
{
    const __m128i each = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i low = _mm_cmplt_epi8(each, _mm_set1_epi8(0x20)); /* and from 0x80 on */

    return (uint32_t)_mm_movemask_epi8(
        _mm_or_si128(low, _mm_cmpeq_epi8(each, _mm_set1_epi8(0x7F))));
}

/* How many bytes of printable ASCII it begins with. The last of many are looked at together with
 * some before them. */
static size_t plain_len(const uint8_t *text, const uint8_t *end)
{
    const uint8_t *at = text;

    for (; end - at >= VECTOR; at += VECTOR) {
        const uint32_t others = not_plain(at);
        if (others != 0)
            return (size_t)(at - text) + (uint32_t)__builtin_ctz(others);
    }
    if (at > text) {
        const uint32_t others = not_plain(end - VECTOR);
        return (size_t)(end - text) - (others == 0 ? 0 : VECTOR - (uint32_t)__builtin_ctz(others));
    }
    if (end - at >= 8 && are_plain(at) && are_plain(end - 8))
        return (size_t)(end - text);
    while (at < end && is_plain(*at))
        at++;
    return (size_t)(at - text);
}

static void put_escapes(struct names_lines *out, const uint8_t *bytes, size_t n, const char *before)
{
    for (size_t i = 0; i < n; i++) {
        char escape[UTF8_ESCAPE_LEN];

        utf8_escape(escape, bytes[i]);
        put_text(out, before);
        put(out, escape, sizeof escape);
    }
}

/* As UTF-8; bytes that would end a column or control a terminal, and those of no UTF-8, as \xNN. */
static void put_column(struct names_lines *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + len;

    while (at < end) {
        const size_t plain = plain_len(at, end);

        put(out, at, plain);
        at += plain;
        if (at == end)
            break;
        const size_t n = utf8_len(at, end);
        if (n > 1 && !utf8_is_control(at))
            put(out, at, n);
        else
            put_escapes(out, at, n > 0 ? n : 1, "");
        at += n > 0 ? n : 1;
    }
}

static void put_json(struct names_lines *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + len;

    put_text(out, "\"");
    while (at < end) {
        const size_t n = utf8_len(at, end);

        if (n == 0) {
            put_escapes(out, at++, 1, "\\");
            continue;
        }
        if (*at == '"' || *at == '\\') {
            put_text(out, "\\");
            put(out, at, 1);
        } else if (utf8_is_control(at)) {
            char code[8];
            put(out, code, (size_t)snprintf(code, sizeof code, "\\u%04x", at[n - 1]));
        } else {
            put(out, at, n);
        }
        at += n;
    }
    put_text(out, "\"");
}

/* The rule's name, in the syntax of the name that was looked up. */
static size_t write_prefix(const struct sl_names_result *result, char text[TEXT_MAX])
{
    struct sl_name prefix = *result->name;

    prefix.len = result->answer->prefix_len;
    if (prefix.host_len > prefix.len)
        prefix.host_len = prefix.len;
    return sl_name_write(&prefix, text, TEXT_MAX);
}

/* As a column: where it lies, and where that will not do once more. */
static void put_prefix(struct names_lines *out, const struct sl_names_result *result)
{
    const size_t same = name_ndn_prefix_text(result->name, result->answer->prefix_len, result->text,
                                             result->text_len);
    char text[TEXT_MAX];

    if (same > 0) {
        put(out, result->text, same);
        return;
    }
    if (sizeof out->bytes - out->len < TEXT_MAX)
        drain(out);
    char *const to = out->bytes + out->len;
    const size_t len = write_prefix(result, to);
    if (plain_len((const uint8_t *)to, (const uint8_t *)to + len) == len) {
        out->len += len;
        return;
    }
    memcpy(text, to, len);
    put_column(out, text, len);
}

/* ---- tab-separated values -------------------------------------------------------------------- */

static void write_values(struct names_lines *out, const struct sl_names_answer *answer)
{
    const char *value;
    uint32_t n = 0;
    size_t len;

    for (; (value = sl_names_value(out->names, answer, n, &len)) != NULL; n++) {
        if (n > 0)
            put_text(out, ",");
        put_column(out, value, len);
    }
    if (n == 0)
        put_text(out, "-");
}

/* False: the tail is long or not plain, and is not kept. */
static bool make_tail(struct names_lines *out, const struct sl_names_answer *answer,
                      struct names_tail *tail)
{
    const char *value, *const end = tail->text + sizeof tail->text;
    char *to = tail->text;
    uint32_t n = 0;
    size_t len;

    tail->len = 0;
    *to++ = '\t';
    to = stpcpy(to, sl_names_action_name(answer->action));
    *to++ = '\t';
    for (; (value = sl_names_value(out->names, answer, n, &len)) != NULL; n++) {
        if (len + 1 >= (size_t)(end - to) ||
            plain_len((const uint8_t *)value, (const uint8_t *)value + len) != len)
            return false;
        if (n > 0)
            *to++ = ',';
        memcpy(to, value, len);
        to += len;
    }
    if (n == 0)
        *to++ = '-';
    tail->values = answer->values;
    tail->len = (uint32_t)(to - tail->text);
    return true;
}

static void put_tail(struct names_lines *out, const struct sl_names_answer *answer)
{
    struct names_tail *const tail = &out->tail[answer->values % NAMES_TAILS];

    if ((tail->len == 0 || tail->values != answer->values) && !make_tail(out, answer, tail)) {
        put_text(out, "\t");
        put_text(out, sl_names_action_name(answer->action));
        put_text(out, "\t");
        write_values(out, answer);
        return;
    }
    if (sizeof out->bytes - out->len < sizeof tail->text)
        drain(out);
    memcpy(out->bytes + out->len, tail->text, sizeof tail->text);
    out->len += tail->len;
}

/* The columns behind the prefix. */
static void put_answer(struct names_lines *out, const struct sl_names_answer *answer)
{
    put_tail(out, answer);
    if (out->explain) {
        const char *list = sl_names_list(out->names, answer->list, NULL);

        put_text(out, "\t");
        put_column(out, list, strlen(list));
        put_text(out, "\t");
        put_uint(out, answer->line);
    }
    put_text(out, "\n");
}

static void write_tsv(struct names_lines *out, const struct sl_names_result *result)
{
    const struct sl_names_answer *answer = result->answer;

    put_column(out, result->text, result->text_len);
    if (result->why != NULL) {
        put_text(out, "\t-\tinvalid\t");
        put_text(out, result->why);
        put_text(out, out->explain ? "\t-\t-\n" : "\n");
        return;
    }
    if (answer->action == SL_NAMES_NONE) {
        put_text(out, out->explain ? "\t-\tnone\t-\t-\t-\n" : "\t-\tnone\t-\n");
        return;
    }
    put_text(out, "\t");
    put_prefix(out, result);
    put_answer(out, answer);
}

/* Of a plain name that has an answer, which is not the root's. There is room, and copies are of one
 * length: what follows is written over their ends. */
static void write_plain(struct names_lines *out, const struct sl_names_result *result,
                        uint64_t heads)
{
    char *to = out->bytes + out->len;

    memcpy(to, result->text, NAME_MARKS_LEN);
    to += result->text_len;
    *to++ = '\t';
    memcpy(to, result->text, NAME_MARKS_LEN);
    to += name_plain_prefix(heads, result->answer->prefix_len);
    out->len = (size_t)(to - out->bytes);
    put_answer(out, result->answer);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* "FACE COST", or a port alone. */
static void write_hop(struct names_lines *out, const char *value, size_t len)
{
    const char *blank = memchr(value, ' ', len);

    put_text(out, "{\"hop\":");
    put_json(out, value, blank != NULL ? (size_t)(blank - value) : len);
    if (blank != NULL) {
        put_text(out, ",\"cost\":");
        put(out, blank + 1, (size_t)(value + len - blank - 1));
    }
    put_text(out, "}");
}

static void write_json_values(struct names_lines *out, const struct sl_names_answer *answer)
{
    const bool hops = answer->action == SL_NAMES_FORWARD;
    const char *value;
    size_t len;

    if (sl_names_value(out->names, answer, 0, &len) == NULL)
        return;
    put_text(out, hops ? ",\"next_hops\":[" : ",\"values\":[");
    for (uint32_t i = 0; (value = sl_names_value(out->names, answer, i, &len)) != NULL; i++) {
        if (i > 0)
            put_text(out, ",");
        if (hops)
            write_hop(out, value, len);
        else
            put_json(out, value, len);
    }
    put_text(out, "]");
}

static void write_json(struct names_lines *out, const struct sl_names_result *result)
{
    const struct sl_names_answer *answer = result->answer;
    char text[TEXT_MAX];

    put_text(out, "{\"name\":");
    put_json(out, result->text, result->text_len);
    if (result->why != NULL) {
        put_text(out, ",\"action\":\"invalid\",\"reason\":");
        put_json(out, result->why, strlen(result->why));
        put_text(out, "}\n");
        return;
    }
    put_text(out, ",\"action\":\"");
    put_text(out, sl_names_action_name(answer->action));
    put_text(out, "\"");
    if (answer->action != SL_NAMES_NONE) {
        put_text(out, ",\"prefix\":");
        put_json(out, text, write_prefix(result, text));
        write_json_values(out, answer);
        if (out->explain) {
            const char *format = "", *list = sl_names_list(out->names, answer->list, &format);

            put_text(out, ",\"list\":");
            put_json(out, list, strlen(list));
            put_text(out, ",\"format\":\"");
            put_text(out, format);
            put_text(out, "\",\"line\":");
            put_uint(out, answer->line);
        }
    }
    put_text(out, "}\n");
}

void names_lines_put(struct names_lines *out, const struct sl_names_result *results,
                     const uint64_t *heads, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        /* A reader of the other end gets whole lines, but of a line of half the buffer. */
        if (out->len > sizeof out->bytes / 2)
            drain(out);
        if (out->json)
            write_json(out, &results[i]);
        else if (heads[i] != 0 && results[i].answer->prefix_len > 0)
            write_plain(out, &results[i], heads[i]);
        else
            write_tsv(out, &results[i]);
        out->n_missing += results[i].why != NULL || results[i].answer->action == SL_NAMES_NONE;
    }
}

void names_lines_end(struct names_lines *out)
{
    if (out->len > 0)
        drain(out);
}
