/* SPDX-License-Identifier: MIT */
/* Suricata counts in 64 bits, and Snort 3 in 32. Snort takes a text that the payload's end cuts, no
 * minus before digits, and no sum or product that overflows. */
#include "evaluate_bytes.h"

#include "base/hex.h"

/* The bytes of a number: [begin, behind) of the payload. */
struct place {
    uint32_t begin, behind;
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

uint64_t rule_operand_value(const struct rule_operand *operand, const struct rule_numbers *numbers)
{
    return operand->name != 0 ? numbers->named[operand->name] : (uint64_t)operand->number;
}

/* Where the bytes lie that a number is read from. False: not in the payload. */
static bool find_place(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                       uint32_t base, struct place *place)
{
    const int64_t offset = (int64_t)rule_operand_value(&bytes->offset, numbers);
    const bool none = bytes->count.name == 0 && bytes->count.number == 0;
    const bool all = none && bytes->digits; /* that are digits */
    uint64_t count = rule_operand_value(&bytes->count, numbers);

    if (offset > INT32_MAX || offset < -INT32_MAX)
        return false;

    const int64_t begin = base + offset;
    if (begin < 0 || begin > numbers->len)
        return false;
    const uint64_t left = numbers->len - (uint64_t)begin;
    if (all || (bytes->digits && bytes->snort3 && count > left))
        count = left;
    if (count > left || (count == 0 && (bytes->has_operator || (bytes->snort3 && !none))))
        return false;
    *place = (struct place){(uint32_t)begin, (uint32_t)((uint64_t)begin + count)};
    return true;
}

static uint64_t read_binary(bool little, const uint8_t *at, uint32_t n)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < n; i++)
        value = value << 8 | at[little ? n - 1 - i : i];
    return value;
}

/* Passes over the text that may precede digits: the prefix of a base. */
static const uint8_t *skip_prefix(const uint8_t *at, const uint8_t *end, unsigned *base)
{
    const bool is_hex =
        end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' && hex_digit((char)at[2]) >= 0;

    if (is_hex && (*base == 0 || *base == 16)) {
        *base = 16;
        return at + 2;
    }
    if (*base == 0)
        *base = at < end && at[0] == '0' ? 8 : 10;
    return at;
}

/* Reads digits, and ends the place behind them. False: there are none, or too many. */
static bool read_digits(const struct rule_bytes *bytes, const uint8_t *payload, struct place *place,
                        uint64_t *value)
{
    const uint64_t max = bytes->snort3 ? UINT32_MAX : UINT64_MAX;
    const uint8_t *at = payload + place->begin, *end = payload + place->behind;
    unsigned base = bytes->base;
    bool minus = false;

    while (at < end && is_blank(*at))
        at++;
    if (at < end && (*at == '+' || *at == '-'))
        minus = *at++ == '-';
    at = skip_prefix(at, end, &base);

    const uint8_t *first = at;
    for (*value = 0; at < end; at++) {
        const int digit = hex_digit((char)*at);

        if (digit < 0 || digit >= (int)base)
            break;
        if (*value > (max - (uint64_t)digit) / base)
            return false;
        *value = *value * base + (uint64_t)digit;
    }
    if (at == first || (minus && bytes->snort3))
        return false;
    if (minus)
        *value = -*value;
    place->behind = (uint32_t)(at - payload);
    return true;
}

static uint64_t masked(const struct rule_bytes *bytes, uint64_t value)
{
    return bytes->mask == 0 ? value : (value & bytes->mask) >> __builtin_ctz(bytes->mask);
}

static bool read_number(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                        struct place *place, uint64_t *value)
{
    const uint32_t n = place->behind - place->begin;

    *value = 0;
    if (bytes->digits && n != 0)
        return read_digits(bytes, numbers->payload, place, value);
    if (n > sizeof *value) /* a count by name */
        return false;
    *value = read_binary(bytes->dce ? numbers->little : bytes->little,
                         numbers->payload + place->begin, n);
    return true;
}

/* The number of bits that the dialect has. */
static uint64_t wrap(const struct rule_bytes *bytes, uint64_t value)
{
    return bytes->snort3 ? (uint32_t)value : value;
}

static uint64_t scaled(const struct rule_bytes *bytes, uint64_t value)
{
    value = wrap(bytes, value * bytes->multiplier);
    if (bytes->align != 0 && value % bytes->align != 0)
        value = wrap(bytes, value + bytes->align - value % bytes->align);
    return value;
}

static bool compares(enum rule_operator operator, uint64_t left, uint64_t right)
{
    switch (operator) {
    case RULE_LESS:
        return left < right;
    case RULE_LESS_EQUAL:
        return left <= right;
    case RULE_GREATER:
        return left > right;
    case RULE_GREATER_EQUAL:
        return left >= right;
    case RULE_COMMON_BIT:
        return (left & right) != 0;
    case RULE_OTHER_BIT:
        return left != right;
    default:
        return left == right;
    }
}

bool rule_bytes_test(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                     uint32_t base)
{
    struct place place;
    uint64_t value;

    if (!find_place(bytes, numbers, base, &place) || !read_number(bytes, numbers, &place, &value))
        return false;

    const uint64_t right = wrap(bytes, rule_operand_value(&bytes->operand, numbers));
    return compares(bytes->operator, masked(bytes, value), right) != bytes->negated;
}

bool rule_bytes_jump(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                     uint32_t base, uint32_t *to)
{
    struct place place;
    uint64_t value;

    if (!find_place(bytes, numbers, base, &place) || !read_number(bytes, numbers, &place, &value))
        return false;
    value = scaled(bytes, masked(bytes, value)) + rule_operand_value(&bytes->operand, numbers);

    const uint64_t origin = bytes->origin == RULE_FROM_BEGIN ? 0
                            : bytes->origin == RULE_FROM_END ? numbers->len
                                                             : place.behind;
    const uint64_t at = wrap(bytes, origin + value);

    if (!bytes->snort3 && (int64_t)at < 0) { /* Suricata stays at the begin */
        *to = 0;
        return true;
    }
    *to = (uint32_t)at;
    return at <= numbers->len;
}

/* The result of byte_math's operator. False: there is none. */
static bool calculate(const struct rule_bytes *bytes, uint64_t left, uint64_t right,
                      uint64_t *result)
{
    const uint64_t bits = bytes->snort3 ? 32 : 64;
    bool too_large = false;

    switch (bytes->operator) {
    case RULE_PLUS:
        *result = left + right;
        too_large = *result > UINT32_MAX;
        break;
    case RULE_MINUS:
        *result = left - right;
        too_large = left < right;
        break;
    case RULE_TIMES:
        *result = left * right;
        too_large = right != 0 && left > UINT32_MAX / right;
        break;
    case RULE_DIVIDED:
        if (right == 0)
            return false;
        *result = left / right;
        break;
    case RULE_LEFT:
        *result = right < bits ? wrap(bytes, left << right) : 0;
        break;
    default:
        *result = right < bits ? left >> right : 0;
        break;
    }
    return !bytes->snort3 || !too_large;
}

/* Names hold signed numbers. */
static uint64_t extended(const struct rule_bytes *bytes, uint64_t value)
{
    return bytes->snort3 ? (uint64_t)(int64_t)(int32_t)value : value;
}

bool rule_bytes_value(const struct rule_bytes *bytes, const struct rule_numbers *numbers,
                      uint32_t base, uint64_t *value, uint32_t *behind)
{
    struct place place;

    if (!find_place(bytes, numbers, base, &place) || !read_number(bytes, numbers, &place, value))
        return false;
    *behind = place.behind;
    if (!bytes->has_operator) {
        *value = extended(bytes, scaled(bytes, masked(bytes, *value)));
        return true;
    }

    /* Snort masks what it reads, Suricata the result. */
    const uint64_t left = bytes->snort3 ? masked(bytes, *value) : *value;
    const uint64_t right = wrap(bytes, rule_operand_value(&bytes->operand, numbers));

    if (!calculate(bytes, left, right, value))
        return false;
    *value = bytes->snort3 ? extended(bytes, *value) : masked(bytes, *value);
    return true;
}
