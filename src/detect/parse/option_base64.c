/* SPDX-License-Identifier: MIT */
/* base64_decode decodes a part of a buffer, and base64_data begins the options on the result. */
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum { BYTES = 1, OFFSET = 2, RELATIVE = 4, PLACE_MAX = 65535 };

static unsigned word_of(struct rule_text name)
{
    return rule_text_is(name, "bytes")      ? BYTES
           : rule_text_is(name, "offset")   ? OFFSET
           : rule_text_is(name, "relative") ? RELATIVE
                                            : 0;
}

/* "bytes n", "offset n", "relative", each at most once. */
static enum sl_status read_word(struct rule_parser *parser, struct rule_text word,
                                struct rule_bytes *bytes, unsigned *seen)
{
    struct rule_text value = word, name = word;

    if (rule_text_split(&value, ' ', &name))
        value = rule_trim(value);

    const unsigned what = word_of(name);

    if (what == 0 || (*seen & what) != 0 || (what == RELATIVE && value.len != 0))
        return rule_bad_at(parser, word.at,
                           "base64_decode takes bytes, offset and relative once each, not '%.*s'",
                           RULE_QUOTE(word));
    *seen |= what;
    if (what == RELATIVE)
        return SL_OK;

    struct rule_operand *operand = what == BYTES ? &bytes->count : &bytes->offset;

    if (!rule_text_number(value, what == BYTES, PLACE_MAX, &operand->number))
        return rule_bad_at(parser, word.at, "'%.*s' has no number of %d to %d", RULE_QUOTE(word),
                           what == BYTES, PLACE_MAX);
    return SL_OK;
}

enum sl_status rule_read_base64_decode(struct rule_parser *parser, struct rule_text value)
{
    struct rule_bytes *bytes = rule_arena_alloc(parser->arena, sizeof *bytes);
    struct rule_payload *step = rule_payload_add(parser, RULE_BASE64);
    enum sl_status status = SL_OK;
    struct rule_text word;
    unsigned seen = 0;

    if (bytes == NULL || step == NULL)
        return rule_no_memory(parser);
    if (step->decoded)
        return rule_skip(parser, "base64_decode in ", (struct rule_text){"base64_data", 11});
    while (status == SL_OK && rule_text_split(&value, ',', &word))
        status = read_word(parser, word, bytes, &seen);
    step->number = bytes;
    step->relative = (seen & RELATIVE) != 0;
    parser->base64 = parser->section;
    parser->base64.decoded = true;
    parser->base64.chain = NULL;
    return status;
}

enum sl_status rule_read_base64_data(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    if (!parser->base64.decoded)
        return rule_bad_at(parser, parser->name, "base64_data has no base64_decode before it");
    parser->section = parser->base64;
    parser->content = SIZE_MAX;
    return SL_OK;
}

enum sl_status rule_base64_check(struct rule_parser *parser)
{
    for (size_t i = 0; i < parser->n_payloads; i++) {
        const struct rule_payload *step = &parser->payload[i];
        const struct rule_payload *before = i != 0 ? step - 1 : step;

        if (step->decoded && step->kind == RULE_DATA)
            return rule_skip(parser, "a set of data in ", (struct rule_text){"base64_data", 11});
        if (!step->decoded && step->section == before->section && before != step &&
            (before->decoded || before->kind == RULE_BASE64))
            return rule_skip(parser, "options of the buffer behind ",
                             (struct rule_text){"base64_decode", 13});
    }
    return SL_OK;
}
