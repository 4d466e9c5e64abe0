/* SPDX-License-Identifier: MIT */
/* The options that transform a buffer before its contents are looked for. */
#include <pthread.h>
#include <string.h>

#include "base/hex.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum { KEY_LEN_MAX = 255, OFFSET_MAX = 65535 };

/* The transforms without a value. */
static const struct plain {
    const char *name;
    enum transform_kind kind;
} plain[] = {
    {"dotprefix", TRANSFORM_DOT_PREFIX},
    {"to_lowercase", TRANSFORM_LOWER},
    {"to_uppercase", TRANSFORM_UPPER},
    {"strip_whitespace", TRANSFORM_STRIP_WHITESPACE},
    {"compress_whitespace", TRANSFORM_COMPRESS_WHITESPACE},
    {"url_decode", TRANSFORM_URL_DECODE},
    {"to_md5", TRANSFORM_MD5},
    {"to_sha1", TRANSFORM_SHA1},
    {"to_sha256", TRANSFORM_SHA256},
    {"strip_pseudo_headers", TRANSFORM_STRIP_PSEUDO_HEADERS},
    {"header_lowercase", TRANSFORM_HEADER_LOWER},
};

/* ---- chains ---------------------------------------------------------------------------------- */

/* The text of a chain with one more option, in the arena of the rule. NULL: no memory. */
static char *chain_text(struct rule_parser *parser, const struct transform_chain *before)
{
    const struct rule_text name = parser->option.name, value = parser->option.value;
    const size_t before_len = before != NULL ? strlen(before->text) : 0;
    char *text = rule_arena_alloc(parser->arena, before_len + name.len + value.len + 3);
    size_t len = before_len;

    if (text == NULL)
        return NULL;
    if (before != NULL)
        memcpy(text, before->text, before_len);
    if (before != NULL)
        text[len++] = ';';
    for (size_t i = 0; i < name.len; i++)
        text[len++] =
            (char)(name.at[i] >= 'A' && name.at[i] <= 'Z' ? name.at[i] + ('a' - 'A') : name.at[i]);
    if (value.len != 0)
        text[len++] = ':';
    memcpy(text + len, value.at, value.len);
    text[len + value.len] = '\0';
    return text;
}

/* The set's chain of this text, made where it is new. NULL: no memory. */
static const struct transform_chain *find_chain(struct sl_rules *rules, const char *text,
                                                const struct transform_chain *before,
                                                const struct transform *last)
{
    const size_t len = strlen(text);
    struct transform_chain *chain = rule_map_get(&rules->chains, text, len);

    if (chain != NULL)
        return chain;
    chain = rule_arena_alloc(&rules->shared, sizeof *chain);
    if (chain == NULL)
        return NULL;
    *chain = before != NULL ? *before : (struct transform_chain){0};
    chain->step[chain->n++] = *last;
    chain->text = rule_arena_text(&rules->shared, text, len);
    if (chain->text == NULL || !rule_map_put(&rules->chains, chain->text, len, chain))
        return NULL;
    return chain;
}

/* Whether a transform may stand here. Behind contents of a buffer without transforms it begins
 * another section of that buffer. */
static enum sl_status check_place(struct rule_parser *parser)
{
    const struct rule_text name = parser->option.name;
    const struct transform_chain *chain = parser->section.chain;

    if (parser->section.decoded)
        return rule_skip(parser, "a transform of ", (struct rule_text){"base64_data", 11});
    if (parser->section.section == 0 || (rule_section_has_steps(parser) && chain != NULL))
        return rule_bad_at(parser, parser->name, "%.*s does not stand behind a buffer",
                           RULE_QUOTE(name));
    if (chain != NULL && chain->n == TRANSFORMS_MAX)
        return rule_bad_at(parser, parser->name, "a buffer has more than %d transforms",
                           TRANSFORMS_MAX);
    if (rule_section_has_steps(parser)) {
        parser->section.section = ++parser->n_sections;
        parser->content = SIZE_MAX;
    }
    return SL_OK;
}

static enum sl_status add_transform(struct rule_parser *parser, const struct transform *transform)
{
    const struct transform_chain *before = parser->section.chain;
    const char *text = chain_text(parser, before);

    if (text == NULL)
        return rule_no_memory(parser);
    pthread_mutex_lock(&parser->rules->lock);
    parser->section.chain = find_chain(parser->rules, text, before, transform);
    pthread_mutex_unlock(&parser->rules->lock);
    return parser->section.chain != NULL ? SL_OK : rule_no_memory(parser);
}

/* ---- options --------------------------------------------------------------------------------- */

enum sl_status rule_read_transform(struct rule_parser *parser, struct rule_text value)
{
    struct transform transform = {.kind = TRANSFORM_LOWER};
    const enum sl_status status = check_place(parser);
    size_t i = 0;

    (void)value;
    if (status != SL_OK)
        return status;
    while (!rule_text_is(parser->option.name, plain[i].name))
        i++;
    transform.kind = plain[i].kind;
    return add_transform(parser, &transform);
}

/* Takes a word and the blanks behind it off the front. False: another word stands there. */
static bool take_word(struct rule_text *rest, const char *word)
{
    const size_t len = strlen(word);

    if (rest->len <= len || strncmp(rest->at, word, len) != 0 || !rule_blank(rest->at[len]))
        return false;
    *rest = rule_trim((struct rule_text){rest->at + len, rest->len - len});
    return true;
}

/* The bytes of a key in hexadecimal digits, with or without quotes, in the set's memory. */
static enum sl_status read_key(struct rule_parser *parser, struct rule_text digits,
                               struct transform *transform)
{
    if (digits.len >= 2 && digits.at[0] == '"' && digits.at[digits.len - 1] == '"')
        digits = (struct rule_text){digits.at + 1, digits.len - 2};
    parser->where = digits.len != 0 ? digits.at : parser->where;
    if (digits.len == 0 || digits.len % 2 != 0 || digits.len > 2 * KEY_LEN_MAX)
        return rule_bad(parser, "xor needs a key of 1 to %d bytes in hexadecimal digits",
                        KEY_LEN_MAX);

    pthread_mutex_lock(&parser->rules->lock);
    uint8_t *key = rule_arena_alloc(&parser->rules->shared, digits.len / 2);
    pthread_mutex_unlock(&parser->rules->lock);
    if (key == NULL)
        return rule_no_memory(parser);
    for (size_t i = 0; i < digits.len; i += 2) {
        const int high = hex_digit(digits.at[i]), low = hex_digit(digits.at[i + 1]);

        if (high < 0 || low < 0)
            return rule_bad(parser, "the key of xor has a letter that is no hexadecimal digit");
        key[i / 2] = (uint8_t)(high << 4 | low);
    }
    transform->key = key;
    transform->len = (uint32_t)(digits.len / 2);
    return SL_OK;
}

/* A key, or "offset n," and a key. */
enum sl_status rule_read_xor(struct rule_parser *parser, struct rule_text value)
{
    struct transform transform = {.kind = TRANSFORM_XOR};
    enum sl_status status = check_place(parser);
    struct rule_text number;
    int64_t offset = 0;

    if (status != SL_OK)
        return status;
    parser->where = value.at;
    if (take_word(&value, "offset")) {
        rule_text_split(&value, ',', &number);
        if (!rule_text_number(number, 0, OFFSET_MAX, &offset))
            return rule_bad(parser, "the offset of xor is no number up to %d", OFFSET_MAX);
        value = rule_trim(value);
    }
    if (take_word(&value, "extract")) /* the key is in the buffer */
        return rule_skip(parser, "xor ", (struct rule_text){"extract", strlen("extract")});
    transform.offset = (uint32_t)offset;
    status = read_key(parser, value, &transform);
    return status == SL_OK ? add_transform(parser, &transform) : status;
}

static enum sl_status read_mode(struct rule_parser *parser, struct rule_text word,
                                enum base64_mode *mode)
{
    static const char *const names[] = {
        [BASE64_RFC4648] = "rfc4648", [BASE64_RFC2045] = "rfc2045", [BASE64_STRICT] = "strict"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rule_text_is(word, names[i])) {
            *mode = (enum base64_mode)i;
            return SL_OK;
        }
    }
    return rule_bad_at(parser, word.at, "from_base64 has no mode '%.*s'", RULE_QUOTE(word));
}

/* "bytes n", "offset n", "mode name", each at most once, with commas between them. */
static enum sl_status read_base64_word(struct rule_parser *parser, struct rule_text word,
                                       struct transform *transform, unsigned *seen)
{
    enum { BYTES = 1, OFFSET = 2, MODE = 4 };
    const char *at = word.at;
    int64_t number;
    const unsigned what = take_word(&word, "bytes")    ? BYTES
                          : take_word(&word, "offset") ? OFFSET
                          : take_word(&word, "mode")   ? MODE
                                                       : 0;

    if (what == 0 || (*seen & what) != 0)
        return rule_bad_at(parser, at,
                           "from_base64 takes bytes, offset and mode once each, not '%.*s'",
                           RULE_QUOTE(word));
    *seen |= what;
    if (what == MODE)
        return read_mode(parser, word, &transform->mode);
    if (!rule_text_number(word, 0, OFFSET_MAX, &number))
        return rule_bad_at(parser, word.at, "'%.*s' is no number up to %d", RULE_QUOTE(word),
                           OFFSET_MAX);
    *(what == BYTES ? &transform->len : &transform->offset) = (uint32_t)number;
    return SL_OK;
}

enum sl_status rule_read_from_base64(struct rule_parser *parser, struct rule_text value)
{
    struct transform transform = {.kind = TRANSFORM_BASE64, .mode = BASE64_RFC4648};
    enum sl_status status = check_place(parser);
    struct rule_text word;
    unsigned seen = 0;

    while (status == SL_OK && rule_text_split(&value, ',', &word))
        status = read_base64_word(parser, word, &transform, &seen);
    return status == SL_OK ? add_transform(parser, &transform) : status;
}

/* "max-size n". Names of DNS are too many to unpack each. */
enum sl_status rule_read_unpack(struct rule_parser *parser, struct rule_text value)
{
    enum { SIZE_USUAL = 1024 };
    const bool is_gzip = rule_text_is(parser->option.name, "gunzip");
    struct transform transform = {.kind = is_gzip ? TRANSFORM_GUNZIP : TRANSFORM_ZLIB};
    const enum sl_status status = check_place(parser);
    int64_t size = SIZE_USUAL;

    if (status != SL_OK)
        return status;
    if (rule_buffer_is_name(parser->section.buffer))
        return rule_skip(parser, "names behind ", parser->option.name);
    if (value.len != 0 &&
        (!take_word(&value, "max-size") || !rule_text_number(value, 1, UINT32_MAX, &size)))
        return rule_bad(parser, "%.*s takes max-size and a number",
                        RULE_QUOTE(parser->option.name));
    if (size > TRANSFORM_INFLATED_MAX)
        return rule_skip(parser, "a large max-size of ", parser->option.name);
    transform.len = (uint32_t)size;
    return add_transform(parser, &transform);
}

/* An expression in quotes, without flags, with one group. */
enum sl_status rule_read_pcrexform(struct rule_parser *parser, struct rule_text value)
{
    struct transform transform = {.kind = TRANSFORM_CAPTURE};
    const struct rule_text quoted = parser->option.quoted;
    enum sl_status status = check_place(parser);
    char reason[128];
    size_t at = 0;

    if (status != SL_OK)
        return status;
    if (quoted.at == NULL || value.at[0] != '"' || quoted.len == 0)
        return rule_bad(parser, "pcrexform needs an expression in quotes");
    status = rule_expression_read(parser->rules, quoted.at, quoted.len, RULE_CAPTURES,
                                  &transform.expression, reason, sizeof reason, &at);
    if (status == SL_ENOMEM)
        return rule_no_memory(parser);
    if (status != SL_OK)
        return rule_bad_at(parser, quoted.at + at, "in the expression: %s", reason);
    if (rule_expression_groups(transform.expression) != 1)
        return rule_bad_at(parser, quoted.at, "the expression of pcrexform has not one group");
    return add_transform(parser, &transform);
}

enum sl_status rule_content_passes(struct rule_parser *parser, const struct rule_payload *content)
{
    const struct transform_chain *chain = content->chain;

    if (chain == NULL || content->negated ||
        transform_lets_through(&chain->step[chain->n - 1], content->bytes, content->len))
        return SL_OK;
    return rule_bad(parser, "a content has bytes that the transform before it takes away");
}
