/* SPDX-License-Identifier: MIT */
/* The options of the payload: content, its modifiers, isdataat. */
#include <string.h>

#include "base/hex.h"
#include "detect/compile/rule_literal.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum {
    PLACE_MAX = 1048576, /* the largest distance or window, as in Suricata */
    OFFSET_MAX = 65535
};

/* The last content. NULL: there is none, and the caller returns SL_EFORMAT. */
static struct rule_payload *last_content(struct rule_parser *parser)
{
    return parser->content != SIZE_MAX ? &parser->payload[parser->content] : NULL;
}

static enum sl_status no_content(struct rule_parser *parser, const char *modifier)
{
    return rule_bad_at(parser, parser->name, "%s has no content before it", modifier);
}

/* Decodes the text between a content's quotes into `bytes`, which has room for text.len. */
static enum sl_status decode(struct rule_parser *parser, struct rule_text text, uint8_t *bytes,
                             uint32_t *len)
{
    bool hex = false;
    int high = -1;

    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.at[i];

        if (c == '|') {
            if (high >= 0)
                return rule_bad(parser, "half a hexadecimal byte in a content");
            hex = !hex;
        } else if (hex) {
            const int digit = hex_digit(c);

            if (digit < 0 && c != ' ')
                return rule_bad(parser, "a content has '%c' between bars, no hexadecimal digit",
                                c >= ' ' && c < 0x7F ? c : '?');
            if (digit >= 0 && high >= 0)
                bytes[(*len)++] = (uint8_t)(high << 4 | digit);
            if (digit >= 0)
                high = high >= 0 ? -1 : digit;
        } else {
            if (c == '\\' && (++i == text.len || strchr("\":;\\", text.at[i]) == NULL))
                return rule_bad(parser, "a content has a backslash before none of \" : ; \\");
            bytes[(*len)++] = (uint8_t)text.at[i];
        }
    }
    if (hex)
        return rule_bad(parser, "a bar in a content has no other");
    if (*len == 0)
        return rule_bad(parser, "a content is empty");
    return SL_OK;
}

static enum sl_status read_modifier(struct rule_parser *parser, struct rule_text name,
                                    struct rule_text value)
{
    const struct rule_option *option = rule_modifier_find(name);

    if (option != NULL)
        return rule_option_apply(parser, option, name, value);
    if (rule_text_is(name, "width") || rule_text_is(name, "endian")) /* Snort 3's */
        return rule_skip(parser, "content ", name);
    return rule_bad_at(parser, name.at, "'%.*s' is no modifier of a content", RULE_QUOTE(name));
}

/* Snort 3: ",depth 5,nocase" behind the quotes. */
static enum sl_status read_modifiers(struct rule_parser *parser, struct rule_text rest)
{
    struct rule_text modifier, name;
    enum sl_status status = SL_OK;

    if (rest.len == 0)
        return SL_OK;
    parser->snort3 = true;
    rest.at++;
    rest.len--;
    if (rest.len == 0)
        return rule_bad_at(parser, rest.at, "no modifier stands behind the comma of a content");
    while (status == SL_OK && rule_text_split(&rest, ',', &modifier)) {
        name = modifier;
        rule_text_split(&modifier, ' ', &name);
        status = read_modifier(parser, name, rule_trim(modifier));
    }
    return status;
}

enum sl_status rule_read_content(struct rule_parser *parser, struct rule_text value)
{
    const struct rule_text inner = parser->option.quoted;
    struct rule_payload *content = rule_payload_add(parser, RULE_CONTENT);

    if (content == NULL)
        return rule_no_memory(parser);
    parser->content = parser->n_payloads - 1;
    content->negated = value.at[0] == '!';
    parser->where = inner.at - 1;
    if (inner.len > UINT32_MAX / 2)
        return rule_bad(parser, "a content is too long");

    uint8_t *bytes = rule_arena_alloc(parser->arena, inner.len);
    if (bytes == NULL)
        return rule_no_memory(parser);
    content->bytes = bytes;

    enum sl_status status = decode(parser, inner, bytes, &content->len);
    if (status == SL_OK)
        status = rule_content_passes(parser, content);
    if (status != SL_OK)
        return status;
    content->fast_len = content->len;
    return read_modifiers(parser, parser->option.behind);
}

static enum sl_status read_nocase(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);

    (void)value;
    if (content == NULL)
        return no_content(parser, "nocase");
    content->nocase = true;
    return SL_OK;
}

/* Reads a number, or the name of one. */
static enum sl_status read_place(struct rule_parser *parser, struct rule_text value,
                                 const char *name, int64_t min, int64_t max, int64_t *number,
                                 uint8_t *named)
{
    const enum sl_status status =
        parser->n_names != 0 ? rule_name_read(parser, value, named) : SL_OK;

    *number = 0;
    if (status != SL_OK || *named != 0)
        return status;
    if (!rule_text_number(value, min, max, number))
        return rule_bad(parser, "%s is '%.*s', not a number of %d to %d", name, RULE_QUOTE(value),
                        (int)min, (int)max);
    return SL_OK;
}

static enum sl_status placed_already(struct rule_parser *parser, const char *name)
{
    return rule_bad_at(parser, parser->name, "%s stands beside another place of the same content",
                       name);
}

/* Sets where a content may begin (`offset`, `distance`). */
static enum sl_status read_begin(struct rule_parser *parser, struct rule_text value,
                                 const char *name, bool relative)
{
    struct rule_payload *content = last_content(parser);
    int64_t number;

    if (content == NULL)
        return no_content(parser, name);

    const bool placed = content->has_begin || (content->has_end && content->relative != relative);
    const enum sl_status status =
        read_place(parser, value, name, relative ? -PLACE_MAX : 0,
                   relative ? PLACE_MAX : OFFSET_MAX, &number, &content->distance_name);

    if (status != SL_OK)
        return status;
    if (placed)
        return placed_already(parser, name);
    content->has_begin = true;
    content->relative = relative;
    content->distance = (int32_t)number;
    return SL_OK;
}

/* Sets how far a content may reach (`depth`, `within`). */
static enum sl_status read_end(struct rule_parser *parser, struct rule_text value, const char *name,
                               bool relative)
{
    struct rule_payload *content = last_content(parser);
    int64_t number;

    if (content == NULL)
        return no_content(parser, name);

    const bool placed = content->has_end || (content->has_begin && content->relative != relative);
    const enum sl_status status = read_place(
        parser, value, name, 0, relative ? PLACE_MAX : OFFSET_MAX, &number, &content->window_name);

    if (status != SL_OK)
        return status;
    if (placed)
        return placed_already(parser, name);
    if (content->window_name == 0 && number < content->len)
        return rule_bad(parser, "%s %d is less than the %u bytes of its content", name, (int)number,
                        content->len);
    content->has_end = true;
    content->relative = relative;
    content->window = (uint32_t)number;
    return SL_OK;
}

static enum sl_status read_offset(struct rule_parser *parser, struct rule_text value)
{
    return read_begin(parser, value, "offset", false);
}

static enum sl_status read_distance(struct rule_parser *parser, struct rule_text value)
{
    return read_begin(parser, value, "distance", true);
}

static enum sl_status read_depth(struct rule_parser *parser, struct rule_text value)
{
    return read_end(parser, value, "depth", false);
}

static enum sl_status read_within(struct rule_parser *parser, struct rule_text value)
{
    return read_end(parser, value, "within", true);
}

static enum sl_status read_startswith(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);

    (void)value;
    if (content == NULL)
        return no_content(parser, "startswith");
    if (content->has_begin || content->has_end)
        return placed_already(parser, "startswith");
    content->has_begin = content->has_end = true;
    content->window = content->len;
    return SL_OK;
}

static enum sl_status read_endswith(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);

    (void)value;
    if (content == NULL)
        return no_content(parser, "endswith");
    content->at_end = true;
    return SL_OK;
}

static enum sl_status read_fast_pattern(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);
    struct rule_text first;
    int64_t offset, len;

    if (content == NULL)
        return no_content(parser, "fast_pattern");
    content->marked = true;
    content->unplaced = rule_text_is(value, "only");
    if (content->unplaced || value.len == 0)
        return SL_OK;
    rule_text_split(&value, ',', &first);
    if (!rule_text_number(first, 0, content->len, &offset) ||
        !rule_text_number(rule_trim(value), 1, content->len - offset, &len))
        return rule_bad(parser, "fast_pattern has no offset and length inside its content");
    content->fast_offset = (uint32_t)offset;
    content->fast_len = (uint32_t)len;
    return SL_OK;
}

static enum sl_status read_fast_pattern_offset(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);
    int64_t offset;

    if (content == NULL)
        return no_content(parser, "fast_pattern_offset");
    if (!rule_text_number(value, 0, (int64_t)content->len - 1, &offset))
        return rule_bad(parser, "fast_pattern_offset is outside its content");
    content->fast_offset = (uint32_t)offset;
    if (content->fast_len > content->len - content->fast_offset)
        content->fast_len = content->len - content->fast_offset;
    return SL_OK;
}

static enum sl_status read_fast_pattern_length(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *content = last_content(parser);
    int64_t len;

    if (content == NULL)
        return no_content(parser, "fast_pattern_length");
    if (!rule_text_number(value, 1, UINT32_MAX, &len))
        return rule_bad(parser, "fast_pattern_length is no number from 1");
    if (len < content->len - content->fast_offset)
        content->fast_len = (uint32_t)len;
    return SL_OK;
}

const struct rule_option *rule_modifier_find(struct rule_text name)
{
    static const struct rule_option modifiers[] = {
        {"nocase", read_nocase, RULE_NO_VALUE},
        {"offset", read_offset, RULE_A_VALUE},
        {"depth", read_depth, RULE_A_VALUE},
        {"distance", read_distance, RULE_A_VALUE},
        {"within", read_within, RULE_A_VALUE},
        {"startswith", read_startswith, RULE_NO_VALUE},
        {"endswith", read_endswith, RULE_NO_VALUE},
        {"fast_pattern", read_fast_pattern, RULE_MAYBE_VALUE},
        {"fast_pattern_offset", read_fast_pattern_offset, RULE_A_VALUE},
        {"fast_pattern_length", read_fast_pattern_length, RULE_A_VALUE},
        /* The payload is never decoded: the option asks for the payload that is there. */
        {"rawbytes", rule_read_nothing, RULE_NO_VALUE},
    };

    return rule_option_find(modifiers, sizeof modifiers / sizeof modifiers[0], name);
}

/* "n", "n,relative", "n,relative,rawbytes", each with '!' in front. */
enum sl_status rule_read_isdataat(struct rule_parser *parser, struct rule_text value)
{
    struct rule_payload *payload = rule_payload_add(parser, RULE_DATA_AT);
    struct rule_text word;
    int64_t number;

    if (payload == NULL)
        return rule_no_memory(parser);
    payload->negated = value.at[0] == '!';
    if (payload->negated)
        value = (struct rule_text){value.at + 1, value.len - 1};
    if (!rule_text_split(&value, ',', &word))
        word = value;

    const enum sl_status status =
        read_place(parser, word, "isdataat", 0, OFFSET_MAX, &number, &payload->distance_name);
    if (status != SL_OK)
        return status;
    payload->distance = (int32_t)number;
    while (rule_text_split(&value, ',', &word)) {
        if (rule_text_is(word, "relative"))
            payload->relative = true;
        else if (!rule_text_is(word, "rawbytes"))
            return rule_bad_at(parser, word.at, "isdataat does not know '%.*s'", RULE_QUOTE(word));
    }
    return SL_OK;
}

/* Whether a step behind a content takes any later cursor where it takes an earlier one. */
static bool takes_later_cursors(const struct rule_payload *step)
{
    if (!step->relative)
        return true;
    if (step->kind == RULE_EXPRESSION)
        return !step->negated && step->expression->own == 0;
    if (step->kind != RULE_CONTENT && step->kind != RULE_DATA_AT)
        return false;
    return !step->negated && step->window == RULE_NO_WINDOW;
}

/* Whether the cursor behind a step is another than before it. */
static bool sets_cursor(const struct rule_payload *step)
{
    return ((step->kind == RULE_CONTENT || step->kind == RULE_EXPRESSION) && !step->negated) ||
           step->kind == RULE_BYTE_JUMP || step->kind == RULE_BASE64 ||
           (step->kind == RULE_BYTE_SET && !step->number->keeps_cursor);
}

/* Whether the first of a content's occurrences will do. Until a step sets the cursor anew, each
 * step that is relative to it accepts any later place. A smaller cursor then allows all that a
 * larger one does. */
static bool first_will_do(const struct rule_payload *step, size_t n_behind)
{
    /* A later match of an expression may end earlier. */
    const bool first_ends_first = step->kind != RULE_EXPRESSION;

    for (size_t i = 1; i <= n_behind; i++) {
        if (!takes_later_cursors(&step[i]) || (step[i].relative && !first_ends_first))
            return false;
        if (sets_cursor(&step[i]))
            return true;
    }
    return true;
}

/* In Suricata "isdataat:n,relative" asks for n bytes behind the cursor, in Snort for one more: the
 * byte n behind it. The number 0 holds always in Suricata's sense, so Snort's sense is meant. */
static void place_data_at(const struct rule_parser *parser, struct rule_payload *payload)
{
    if (payload->relative && !parser->snort3 &&
        (payload->distance > 0 || payload->distance_name != 0))
        payload->distance--;
}

/* Suricata refuses a place for a content of fast_pattern:only, and a content relative to it. */
static enum sl_status check_unplaced(struct rule_parser *parser)
{
    const struct rule_payload *before = NULL;

    for (size_t i = 0; i < parser->n_payloads; i++) {
        const struct rule_payload *content = &parser->payload[i];

        if (content->kind != RULE_CONTENT)
            continue;
        if (content->unplaced && (content->has_begin || content->has_end || content->negated))
            return rule_bad(parser, "fast_pattern:only stands beside a place, or '!'");
        if (content->relative && before != NULL && before->unplaced &&
            before->section == content->section)
            return rule_bad(parser, "a content is relative to one of fast_pattern:only");
        before = content;
    }
    return SL_OK;
}

static void fold(struct rule_payload *content)
{
    /* The bytes are the parser's own, in the rule's arena. They are const for later users. */
    uint8_t *bytes = (uint8_t *)(uintptr_t)content->bytes;

    for (uint32_t i = 0; i < content->len; i++)
        if (bytes[i] >= 'A' && bytes[i] <= 'Z')
            bytes[i] = (uint8_t)(bytes[i] + ('a' - 'A'));
}

static void finish_step(const struct rule_parser *parser, size_t i)
{
    struct rule_payload *payload = &parser->payload[i];
    size_t end = i + 1;

    while (end < parser->n_payloads && parser->payload[end].section == payload->section)
        end++;
    if (payload->kind == RULE_DATA_AT)
        place_data_at(parser, payload);
    if (payload->number != NULL)
        rule_bytes_finish(parser, payload);
    if (payload->nocase)
        fold(payload);
    payload->first_only = first_will_do(payload, end - i - 1);
}

enum sl_status rule_content_finish(struct rule_parser *parser)
{
    struct rule *rule = parser->rule;
    enum sl_status status = rule_section_end(parser);

    if (status != SL_OK)
        return status;
    rule_section_follow(parser);
    rule_section_sort(parser);
    status = check_unplaced(parser);
    if (status == SL_OK)
        status = rule_base64_check(parser);
    if (status == SL_OK)
        status = rule_absent_check(parser);
    if (status != SL_OK)
        return status;
    for (size_t i = parser->n_payloads; i > 0; i--) /* first_only asks for what is behind */
        finish_step(parser, i - 1);
    rule->n_payloads = parser->n_payloads;
    rule->payload = rule_arena_copy(parser->arena, parser->payload,
                                    parser->n_payloads * sizeof *parser->payload);
    if (rule->payload == NULL)
        return rule_no_memory(parser);
    rule->literal = rule_literal_choose(rule);
    return SL_OK;
}
