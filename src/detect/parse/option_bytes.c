/* SPDX-License-Identifier: MIT */
/* The options that read numbers: byte_test, byte_jump, byte_extract, byte_math. */
#include <string.h>

#include "base/hex.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum {
    BINARY_MAX = 8, /* bytes of a binary number, and of digits, as in Suricata */
    DIGITS_MAX = 23,
    PLACE_MAX = 65535
};

/* ---- numbers and names ----------------------------------------------------------------------- */

/* A number in decimal, or with a prefix as in C. False: it is none, or above max. */
static bool read_unsigned(struct rule_text text, uint64_t max, uint64_t *number)
{
    const bool prefix = text.len > 1 && text.at[0] == '0';
    const bool hex = prefix && text.len > 2 && (text.at[1] == 'x' || text.at[1] == 'X');
    const unsigned base = hex ? 16 : prefix ? 8 : 10;

    *number = 0;
    for (size_t i = hex ? 2 : 0; i < text.len; i++) {
        const int digit = hex_digit(text.at[i]);

        if (digit < 0 || digit >= (int)base || *number > (max - (unsigned)digit) / base)
            return false;
        *number = *number * base + (unsigned)digit;
    }
    return text.len != 0;
}

static bool is_name(struct rule_text text)
{
    return text.len != 0 && !(text.at[0] >= '0' && text.at[0] <= '9') && text.at[0] != '-' &&
           text.at[0] != '+' && rule_is_keyword(text);
}

static bool same_name(struct rule_text a, struct rule_text b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

enum sl_status rule_name_read(struct rule_parser *parser, struct rule_text text, uint8_t *name)
{
    *name = 0;
    if (!is_name(text))
        return SL_OK;
    for (uint8_t i = parser->n_names; i > 0; i--) {
        if (!same_name(parser->named[i - 1].text, text))
            continue;
        if (parser->named[i - 1].section > parser->section.section) /* it is walked later */
            return rule_skip(parser, "a name of another buffer", (struct rule_text){NULL, 0});
        *name = i;
        return SL_OK;
    }
    return rule_bad_at(parser, text.at,
                       "'%.*s' is no number, and no byte_extract or byte_math before it sets it",
                       RULE_QUOTE(text));
}

/* Gives a result its name. */
static enum sl_status set_name(struct rule_parser *parser, struct rule_text text, uint8_t *name)
{
    if (!is_name(text))
        return rule_bad_at(parser, text.at, "'%.*s' is no name of a result", RULE_QUOTE(text));
    if (parser->n_names == RULE_NAMES_MAX)
        return rule_skip(parser, "more than 16 results", (struct rule_text){NULL, 0});
    parser->named[parser->n_names].text = text;
    parser->named[parser->n_names].section = parser->section.section;
    *name = ++parser->n_names;
    return SL_OK;
}

/* ---- the parts of an option ------------------------------------------------------------------ */

/* An option while it is read. */
struct reading {
    struct rule_parser *parser;
    struct rule_payload *step;
    struct rule_bytes *bytes;
    struct rule_text rest; /* of the value */
    bool has_base;
};

/* Takes the next part, which has to be there. `what` it is, for the diagnostic. */
static enum sl_status take(struct reading *reading, const char *what, struct rule_text *part)
{
    if (rule_text_split(&reading->rest, ',', part) && part->len != 0)
        return SL_OK;
    return rule_bad(reading->parser, "%.*s lacks %s", RULE_QUOTE(reading->parser->option.name),
                    what);
}

/* A signed number of at most this size, or a name where names are taken. */
static enum sl_status read_signed(struct reading *reading, const char *what, struct rule_text text,
                                  int64_t max, bool named, struct rule_operand *operand)
{
    if (named && is_name(text))
        return rule_name_read(reading->parser, text, &operand->name);
    if (!rule_text_number(text, -max, max, &operand->number))
        return rule_bad_at(reading->parser, text.at, "%s is '%.*s', not a number of -%d to %d",
                           what, RULE_QUOTE(text), (int)max, (int)max);
    return SL_OK;
}

static enum sl_status read_number(struct reading *reading, const char *what, struct rule_text text,
                                  uint64_t min, uint64_t max, uint64_t *number)
{
    if (read_unsigned(text, max, number) && *number >= min)
        return SL_OK;
    return rule_bad_at(reading->parser, text.at, "%s is '%.*s', not a number of %llu to %llu", what,
                       RULE_QUOTE(text), (unsigned long long)min, (unsigned long long)max);
}

/* An unsigned number, or a name. */
static enum sl_status read_operand(struct reading *reading, const char *what, struct rule_text text,
                                   uint64_t max, struct rule_operand *operand)
{
    uint64_t number = 0;
    const enum sl_status status = is_name(text)
                                      ? rule_name_read(reading->parser, text, &operand->name)
                                      : read_number(reading, what, text, 0, max, &number);

    operand->number = (int64_t)number;
    return status;
}

/* The count is checked once the option is read: its limit is another for digits. */
static enum sl_status read_count(struct reading *reading, struct rule_text text)
{
    return read_operand(reading, "the number of bytes", text, DIGITS_MAX, &reading->bytes->count);
}

static enum sl_status read_base(struct reading *reading, struct rule_text word)
{
    const bool hex = rule_text_is(word, "hex"), dec = rule_text_is(word, "dec");

    if (!hex && !dec && !rule_text_is(word, "oct"))
        return rule_bad_at(reading->parser, word.at, "'%.*s' is no base: hex, dec or oct",
                           RULE_QUOTE(word));
    reading->has_base = true;
    reading->bytes->base = hex ? 16 : dec ? 10 : 8;
    return SL_OK;
}

static enum sl_status read_mask(struct reading *reading, struct rule_text text)
{
    uint64_t mask;
    const enum sl_status status = read_number(reading, "bitmask", text, 1, UINT32_MAX, &mask);

    reading->bytes->mask = (uint32_t)mask;
    return status;
}

/* ---- words that options share ---------------------------------------------------------------- */

enum { TEST = 1, JUMP = 2, EXTRACT = 4, MATH = 8, ALL = 15 };

typedef enum sl_status word_reader(struct reading *reading, struct rule_text value);

static enum sl_status read_relative(struct reading *reading, struct rule_text value)
{
    (void)value;
    reading->step->relative = true;
    return SL_OK;
}

static enum sl_status read_little(struct reading *reading, struct rule_text value)
{
    (void)value;
    reading->bytes->little = true;
    return SL_OK;
}

static enum sl_status read_big(struct reading *reading, struct rule_text value)
{
    (void)value;
    reading->bytes->little = false;
    return SL_OK;
}

static enum sl_status read_endian(struct reading *reading, struct rule_text value)
{
    reading->bytes->little = rule_text_is(value, "little");
    if (reading->bytes->little || rule_text_is(value, "big"))
        return SL_OK;
    return rule_bad_at(reading->parser, value.at, "endian is '%.*s', not big or little",
                       RULE_QUOTE(value));
}

/* The call of DCERPC says which byte comes first. */
static enum sl_status read_dce(struct reading *reading, struct rule_text value)
{
    const struct rule_parser *parser = reading->parser;

    (void)value;
    if (parser->section.section == 0 || parser->rule->app != SL_APP_DCERPC)
        return rule_skip(reading->parser, "dce in ", reading->parser->option.name);
    reading->bytes->dce = true;
    return SL_OK;
}

static enum sl_status read_string(struct reading *reading, struct rule_text value)
{
    reading->bytes->digits = true;
    return value.len != 0 ? read_base(reading, value) : SL_OK;
}

static enum sl_status read_hex(struct reading *reading, struct rule_text value)
{
    (void)value;
    return read_base(reading, (struct rule_text){"hex", 3});
}

static enum sl_status read_dec(struct reading *reading, struct rule_text value)
{
    (void)value;
    return read_base(reading, (struct rule_text){"dec", 3});
}

static enum sl_status read_oct(struct reading *reading, struct rule_text value)
{
    (void)value;
    return read_base(reading, (struct rule_text){"oct", 3});
}

/* byte_jump rounds up to a multiple of 4, whatever number Snort 3 gives. */
static enum sl_status read_align(struct reading *reading, struct rule_text value)
{
    const bool jump = reading->step->kind == RULE_BYTE_JUMP;
    uint64_t align = 4;

    if (value.len != 0 || !jump) {
        const enum sl_status status = read_number(reading, "align", value, 0, 4, &align);

        if (status != SL_OK)
            return status;
    }
    reading->bytes->align = jump ? 4 : (uint8_t)align;
    return SL_OK;
}

static enum sl_status read_multiplier(struct reading *reading, struct rule_text value)
{
    uint64_t number;
    const enum sl_status status = read_number(reading, "multiplier", value, 1, PLACE_MAX, &number);

    reading->bytes->multiplier = (uint32_t)number;
    return status;
}

static enum sl_status read_post_offset(struct reading *reading, struct rule_text value)
{
    return read_signed(reading, "post_offset", value, PLACE_MAX, true, &reading->bytes->operand);
}

static enum sl_status read_origin(struct reading *reading, const char *word,
                                  enum rule_origin origin)
{
    if (reading->bytes->origin != RULE_FROM_NUMBER && reading->bytes->origin != origin)
        return rule_bad(reading->parser, "%s stands beside its opposite", word);
    reading->bytes->origin = origin;
    return SL_OK;
}

static enum sl_status read_from_beginning(struct reading *reading, struct rule_text value)
{
    (void)value;
    return read_origin(reading, "from_beginning", RULE_FROM_BEGIN);
}

static enum sl_status read_from_end(struct reading *reading, struct rule_text value)
{
    (void)value;
    return read_origin(reading, "from_end", RULE_FROM_END);
}

static const struct {
    const char *name;
    word_reader *read;
    uint8_t options;
    enum rule_takes takes;
} words[] = {
    {"relative", read_relative, ALL, RULE_NO_VALUE},
    {"little", read_little, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"big", read_big, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"endian", read_endian, MATH, RULE_A_VALUE},
    {"dce", read_dce, ALL, RULE_NO_VALUE},
    {"string", read_string, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"string", read_string, MATH, RULE_A_VALUE},
    {"hex", read_hex, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"dec", read_dec, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"oct", read_oct, TEST | JUMP | EXTRACT, RULE_NO_VALUE},
    {"bitmask", read_mask, ALL, RULE_A_VALUE},
    {"align", read_align, JUMP, RULE_MAYBE_VALUE},
    {"align", read_align, EXTRACT, RULE_A_VALUE},
    {"multiplier", read_multiplier, JUMP | EXTRACT, RULE_A_VALUE},
    {"post_offset", read_post_offset, JUMP, RULE_A_VALUE},
    {"from_beginning", read_from_beginning, JUMP, RULE_NO_VALUE},
    {"from_end", read_from_end, JUMP, RULE_NO_VALUE},
};

static enum sl_status read_word(struct reading *reading, struct rule_text part, uint8_t option)
{
    struct rule_text value = part, name = part;

    if (rule_text_split(&value, ' ', &name))
        value = rule_trim(value);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((words[i].options & option) == 0 || !rule_text_is(name, words[i].name))
            continue;
        reading->parser->where = part.at;
        if (words[i].takes == RULE_A_VALUE && value.len == 0)
            return rule_bad(reading->parser, "%s needs a value", words[i].name);
        if (words[i].takes == RULE_NO_VALUE && value.len != 0)
            return rule_bad(reading->parser, "%s takes no value", words[i].name);
        return words[i].read(reading, value);
    }
    return rule_bad_at(reading->parser, part.at, "%.*s does not know '%.*s'",
                       RULE_QUOTE(reading->parser->option.name), RULE_QUOTE(part));
}

/* Reads the words behind the places, and checks the whole. */
static enum sl_status read_words(struct reading *reading, uint8_t option, struct rule_text count)
{
    struct rule_parser *parser = reading->parser;
    struct rule_bytes *bytes = reading->bytes;
    enum sl_status status = SL_OK;
    struct rule_text part;

    while (status == SL_OK && rule_text_split(&reading->rest, ',', &part))
        status = read_word(reading, part, option);
    if (status != SL_OK)
        return status;
    if (bytes->count.name == 0 && bytes->count.number > BINARY_MAX && !bytes->digits)
        return rule_bad_at(parser, count.at, "a binary number has at most %d bytes", BINARY_MAX);
    if (bytes->count.name == 0 && bytes->count.number == 0 && option != JUMP &&
        (option != TEST || !bytes->digits))
        return rule_bad_at(parser, count.at, "a number of 0 bytes");
    if (reading->has_base && !bytes->digits)
        return rule_bad(parser, "%.*s has a base without 'string'",
                        RULE_QUOTE(parser->option.name));
    return SL_OK;
}

static enum sl_status begin(struct reading *reading, struct rule_parser *parser,
                            struct rule_text value, enum rule_payload_kind kind)
{
    *reading = (struct reading){.parser = parser, .rest = value};
    reading->bytes = rule_arena_alloc(parser->arena, sizeof *reading->bytes);
    if (reading->bytes == NULL)
        return rule_no_memory(parser);
    reading->step = rule_payload_add(parser, kind);
    if (reading->step == NULL)
        return rule_no_memory(parser);
    reading->step->number = reading->bytes;
    reading->bytes->multiplier = 1;
    return SL_OK;
}

/* Begins an option whose first part is the number of its bytes. */
static enum sl_status begin_count(struct reading *reading, struct rule_parser *parser,
                                  struct rule_text value, enum rule_payload_kind kind,
                                  struct rule_text *count)
{
    enum sl_status status = begin(reading, parser, value, kind);

    if (status == SL_OK)
        status = take(reading, "a number of bytes", count);
    return status == SL_OK ? read_count(reading, *count) : status;
}

/* ---- options --------------------------------------------------------------------------------- */

static enum sl_status read_comparison(struct reading *reading, struct rule_text text)
{
    static const struct {
        const char *text;
        enum rule_operator operator;
    } comparisons[] = {
        {"=", RULE_EQUAL},          {"<", RULE_LESS},       {"<=", RULE_LESS_EQUAL},
        {">", RULE_GREATER},        {"&", RULE_COMMON_BIT}, {"^", RULE_OTHER_BIT},
        {">=", RULE_GREATER_EQUAL}, {"", RULE_EQUAL},
    };
    struct rule_text sign = text;

    reading->bytes->negated = text.at[0] == '!';
    if (reading->bytes->negated)
        sign = rule_trim((struct rule_text){text.at + 1, text.len - 1});
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (rule_text_is(sign, comparisons[i].text)) {
            reading->bytes->operator= comparisons[i].operator;
            return SL_OK;
        }
    }
    return rule_bad_at(reading->parser, text.at, "'%.*s' is no comparison: = < > <= >= & ^ or !",
                       RULE_QUOTE(text));
}

/* byte_test: bytes, comparison, value, offset, words. */
enum sl_status rule_read_byte_test(struct rule_parser *parser, struct rule_text value)
{
    struct reading reading;
    struct rule_text count = value, part;
    enum sl_status status = begin_count(&reading, parser, value, RULE_BYTE_TEST, &count);

    if (status == SL_OK)
        status = take(&reading, "a comparison", &part);
    if (status == SL_OK)
        status = read_comparison(&reading, part);
    if (status == SL_OK)
        status = take(&reading, "a value", &part);
    if (status == SL_OK)
        status = read_operand(&reading, "the value", part, UINT64_MAX, &reading.bytes->operand);
    if (status == SL_OK)
        status = take(&reading, "an offset", &part);
    if (status == SL_OK)
        status = read_signed(&reading, "the offset", part, INT32_MAX, true, &reading.bytes->offset);
    return status == SL_OK ? read_words(&reading, TEST, count) : status;
}

/* byte_jump: bytes, offset, words. */
enum sl_status rule_read_byte_jump(struct rule_parser *parser, struct rule_text value)
{
    struct reading reading;
    struct rule_text count = value, part;
    enum sl_status status = begin_count(&reading, parser, value, RULE_BYTE_JUMP, &count);

    if (status == SL_OK)
        status = take(&reading, "an offset", &part);
    if (status == SL_OK)
        status = read_signed(&reading, "the offset", part, PLACE_MAX, true, &reading.bytes->offset);
    return status == SL_OK ? read_words(&reading, JUMP, count) : status;
}

/* byte_extract: bytes, offset, name, words. */
enum sl_status rule_read_byte_extract(struct rule_parser *parser, struct rule_text value)
{
    struct reading reading;
    struct rule_text count = value, part, name = value;
    enum sl_status status = begin_count(&reading, parser, value, RULE_BYTE_SET, &count);

    if (status == SL_OK)
        status = take(&reading, "an offset", &part);
    if (status == SL_OK)
        status =
            read_signed(&reading, "the offset", part, PLACE_MAX, false, &reading.bytes->offset);
    if (status == SL_OK)
        status = take(&reading, "a name", &name);
    if (status == SL_OK)
        status = read_words(&reading, EXTRACT, count);
    return status == SL_OK ? set_name(parser, name, &reading.bytes->result) : status;
}

static enum sl_status read_calculation(struct reading *reading, struct rule_text text)
{
    static const struct {
        const char *text;
        enum rule_operator operator;
    } calculations[] = {{"+", RULE_PLUS},    {"-", RULE_MINUS}, {"*", RULE_TIMES},
                        {"/", RULE_DIVIDED}, {"<<", RULE_LEFT}, {">>", RULE_RIGHT}};

    for (size_t i = 0; i < sizeof calculations / sizeof calculations[0]; i++) {
        if (rule_text_is(text, calculations[i].text)) {
            reading->bytes->operator= calculations[i].operator;
            reading->bytes->has_operator = true;
            return SL_OK;
        }
    }
    return rule_bad_at(reading->parser, text.at, "'%.*s' is no operator: + - * / << or >>",
                       RULE_QUOTE(text));
}

/* The parts of byte_math that have to be there, in any order. */
enum { MATH_BYTES, MATH_OFFSET, MATH_OPER, MATH_RVALUE, MATH_RESULT, MATH_PARTS };

static const char *const math_parts[MATH_PARTS] = {"bytes", "offset", "oper", "rvalue", "result"};

static enum sl_status read_math_part(struct reading *reading, struct rule_text part,
                                     struct rule_text *values)
{
    struct rule_text value = part, name = part;

    if (rule_text_split(&value, ' ', &name))
        value = rule_trim(value);
    for (size_t i = 0; i < MATH_PARTS; i++) {
        if (!rule_text_is(name, math_parts[i]))
            continue;
        if (value.len == 0 || values[i].len != 0)
            return rule_bad_at(reading->parser, part.at, "%s %s", math_parts[i],
                               value.len == 0 ? "needs a value" : "stands there twice");
        values[i] = value;
        return SL_OK;
    }
    return read_word(reading, part, MATH);
}

static enum sl_status read_math_values(struct reading *reading, const struct rule_text *values)
{
    struct rule_bytes *bytes = reading->bytes;
    const struct rule_text rvalue = values[MATH_RVALUE];
    enum sl_status status = read_count(reading, values[MATH_BYTES]);

    if (status == SL_OK)
        status = read_signed(reading, "the offset", values[MATH_OFFSET], PLACE_MAX, true,
                             &bytes->offset);
    if (status == SL_OK)
        status = read_calculation(reading, values[MATH_OPER]);
    if (status == SL_OK)
        status = read_operand(reading, "rvalue", rvalue, UINT32_MAX, &bytes->operand);
    if (status == SL_OK && bytes->operator== RULE_DIVIDED && bytes->operand.name == 0 &&
                           bytes->operand.number == 0)
        status = rule_bad_at(reading->parser, rvalue.at, "a division by 0");
    return status;
}

/* byte_math: its parts with their names, and words. */
enum sl_status rule_read_byte_math(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text values[MATH_PARTS] = {{NULL, 0}}, part;
    struct reading reading;
    enum sl_status status = begin(&reading, parser, value, RULE_BYTE_SET);

    while (status == SL_OK && rule_text_split(&reading.rest, ',', &part))
        status = read_math_part(&reading, part, values);
    for (size_t i = 0; status == SL_OK && i < MATH_PARTS; i++)
        if (values[i].len == 0)
            status = rule_bad_at(parser, value.at, "byte_math lacks '%s'", math_parts[i]);
    if (status == SL_OK)
        status = read_math_values(&reading, values);
    if (status == SL_OK)
        status = read_words(&reading, MATH, values[MATH_BYTES]);
    return status == SL_OK ? set_name(parser, values[MATH_RESULT], &reading.bytes->result) : status;
}

/* Snort's meaning, where the rule is one of Snort 3. */
void rule_bytes_finish(const struct rule_parser *parser, struct rule_payload *step)
{
    /* The option is the parser's own, in the rule's arena. It is const for later users. */
    struct rule_bytes *bytes = (struct rule_bytes *)(uintptr_t)step->number;

    bytes->snort3 = parser->snort3;
    bytes->keeps_cursor = parser->snort3 && bytes->has_operator;
    if (bytes->digits && bytes->base == 0 && (parser->snort3 || step->kind == RULE_BYTE_SET))
        bytes->base = 10;
}
