/* SPDX-License-Identifier: MIT */
/* Numbers and ranges of numbers, as options of all dialects write them. */
#include <string.h>

#include "base/hex.h"
#include "rule_fail.h"
#include "rule_option.h"

const char *rule_take_relation(struct rule_text *value)
{
    static const char *const relations[] = {"<=", ">=", "!=", "<", ">", "!", "="};

    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        const size_t len = strlen(relations[i]);

        if (value->len >= len && memcmp(value->at, relations[i], len) == 0) {
            *value = rule_trim((struct rule_text){value->at + len, value->len - len});
            return relations[i];
        }
    }
    return "";
}

/* A number from 0 to max, decimal, or hexadecimal behind "0x". */
static bool read_number(struct rule_text text, int64_t max, int64_t *number)
{
    int64_t value = 0;

    if (text.len < 3 || text.len > 10 || text.at[0] != '0' || (text.at[1] | 0x20) != 'x')
        return rule_text_number(text, 0, max, number);
    for (size_t i = 2; i < text.len; i++) {
        const int digit = hex_digit(text.at[i]);

        if (digit < 0)
            return false;
        value = value << 4 | digit;
    }
    *number = value;
    return value <= max;
}

/* A range, without the text before it. */
struct range {
    int64_t first, last;
    uint32_t mask;
    bool negated;
};

/* Takes the text before a separator off the front. False: the separator is not there. */
static bool take_before(struct rule_text *rest, const char *separator, struct rule_text *piece)
{
    const size_t len = strlen(separator);
    const char *at = memmem(rest->at, rest->len, separator, len);

    if (at == NULL)
        return false;
    *piece = rule_trim((struct rule_text){rest->at, (size_t)(at - rest->at)});
    rest->len -= (size_t)(at - rest->at) + len;
    rest->at = at + len;
    *rest = rule_trim(*rest);
    return true;
}

/* "a<>b" and "a-b" hold the numbers between a and b, as in Suricata. Snort 3's "a<=>b" holds a and
 * b too. So do the open ranges of Snort 2, "-b" and "a-". */
static bool read_between(struct rule_text high, int64_t max, struct range *range)
{
    static const struct {
        const char *separator;
        int64_t inside;
        bool open;
    } forms[] = {{"<=>", 0, false}, {"<>", 1, false}, {"-", 1, true}};
    struct rule_text low;
    size_t i = 0;

    while (i < sizeof forms / sizeof forms[0] && !take_before(&high, forms[i].separator, &low))
        i++;
    if (i == sizeof forms / sizeof forms[0])
        return false;
    *range = (struct range){.first = 0, .last = max, .mask = UINT32_MAX};
    if (forms[i].open && low.len == 0)
        return read_number(high, max, &range->last);
    if (forms[i].open && high.len == 0)
        return read_number(low, max, &range->first);
    if (!read_number(low, max, &range->first) || !read_number(high, max, &range->last))
        return false;
    range->first += forms[i].inside;
    range->last -= forms[i].inside;
    return true;
}

/* "&mask=value", or "!=": the bits of the mask are those of the value. */
static bool read_masked(struct rule_text value, int64_t max, struct range *range)
{
    struct rule_text mask_text;
    int64_t mask, bits;

    if (value.len == 0 || value.at[0] != '&')
        return false;
    value = (struct rule_text){value.at + 1, value.len - 1};
    if (!take_before(&value, "=", &mask_text))
        return false;
    const bool negated = mask_text.len != 0 && mask_text.at[mask_text.len - 1] == '!';
    if (negated)
        mask_text = rule_trim((struct rule_text){mask_text.at, mask_text.len - 1});
    if (!read_number(mask_text, max, &mask) || !read_number(value, max, &bits) ||
        (bits & mask) != bits)
        return false;
    *range = (struct range){bits, bits, (uint32_t)mask, negated};
    return true;
}

/* One number with or without a comparison. */
static bool read_compared(const char *relation, struct rule_text value, int64_t max,
                          struct range *range)
{
    int64_t number;

    if (!read_number(value, max, &number))
        return false;
    *range = (struct range){.mask = UINT32_MAX, .negated = relation[0] == '!'};
    range->first = relation[0] == '>'   ? number + (relation[1] == '\0')
                   : relation[0] == '<' ? 0
                                        : number;
    range->last = relation[0] == '<'   ? number - (relation[1] == '\0')
                  : relation[0] == '>' ? max
                                       : number;
    return true;
}

/* "!" before a range. */
static bool read_outside(const char *relation, struct rule_text value, int64_t max,
                         struct range *range)
{
    if (strcmp(relation, "!") != 0 || !read_between(value, max, range))
        return false;
    range->negated = true;
    return true;
}

static enum sl_status read_range(struct rule_parser *parser, struct rule_text value,
                                 const char *name, int64_t max, struct range *range)
{
    struct rule_text number = value;
    const char *relation = rule_take_relation(&number);

    if (!read_compared(relation, number, max, range) &&
        !read_outside(relation, number, max, range) &&
        (relation[0] != '\0' ||
         (!read_masked(value, max, range) && !read_between(value, max, range))))
        return rule_bad(parser, "%s is '%.*s', not n, <n, >n or a<>b of numbers up to %lld", name,
                        RULE_QUOTE(value), (long long)max);
    if (range->first > range->last)
        return rule_bad(parser, "%s is '%.*s', which no number meets", name, RULE_QUOTE(value));
    return SL_OK;
}

enum sl_status rule_read_wide_range(struct rule_parser *parser, struct rule_text value,
                                    const char *name, int64_t max, struct rule_check *check)
{
    struct range range = {0};
    const enum sl_status status = read_range(parser, value, name, max, &range);

    if (status != SL_OK)
        return status;
    if (range.mask != UINT32_MAX)
        return rule_bad(parser, "%s takes no mask", name);

    const struct rule_wide_range wide = {(uint64_t)range.first, (uint64_t)range.last};

    *check = (struct rule_check){.negated = range.negated, .mask = UINT32_MAX};
    check->wide = rule_arena_copy(parser->arena, &wide, sizeof wide);
    return check->wide != NULL ? SL_OK : rule_no_memory(parser);
}

enum sl_status rule_read_range(struct rule_parser *parser, struct rule_text value, const char *name,
                               int64_t max, struct rule_check *check)
{
    struct range range = {0};
    const enum sl_status status = read_range(parser, value, name, max, &range);

    if (status != SL_OK)
        return status;
    *check = (struct rule_check){.negated = range.negated,
                                 .mask = range.mask,
                                 .first = (uint32_t)range.first,
                                 .last = (uint32_t)range.last};
    return SL_OK;
}

enum sl_status rule_read_which(struct rule_parser *parser, struct rule_text word, int min, int max,
                               int8_t *which)
{
    static const char *const others[] = {"all_or_absent", "or_absent"};
    int64_t number;

    *which = RULE_ANY;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (rule_text_is(word, others[i]))
            return rule_skip(parser, "index ", word);
    if (rule_text_is(word, "all"))
        *which = RULE_ALL;
    else if (rule_text_number(word, min, max, &number))
        *which = (int8_t)number;
    else if (word.len != 0 && !rule_text_is(word, "any"))
        return rule_bad_at(parser, word.at, "the index is '%.*s', not any, all or %d to %d",
                           RULE_QUOTE(word), min, max);
    return SL_OK;
}

enum sl_status rule_check_add(struct rule_parser *parser, struct rule_check check)
{
    struct rule_check *grown =
        rule_grow(parser->check, &parser->cap_checks, parser->n_checks, sizeof check);

    if (grown == NULL)
        return rule_no_memory(parser);
    parser->check = grown;
    parser->check[parser->n_checks++] = check;
    return SL_OK;
}
