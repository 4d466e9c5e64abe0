/* SPDX-License-Identifier: MIT */
#include "rule_text.h"

#include <string.h>
#include <strings.h>

struct rule_text rule_trim_begin(struct rule_text text)
{
    while (text.len != 0 && rule_blank(text.at[0])) {
        text.at++;
        text.len--;
    }
    return text;
}

struct rule_text rule_trim(struct rule_text text)
{
    text = rule_trim_begin(text);
    while (text.len != 0 && rule_blank(text.at[text.len - 1]))
        text.len--;
    return text;
}

bool rule_text_equals(struct rule_text text, const char *word)
{
    return strlen(word) == text.len && strncasecmp(text.at, word, text.len) == 0;
}

bool rule_text_split(struct rule_text *rest, char separator, struct rule_text *piece)
{
    if (rest->len == 0)
        return false;

    const char *end = memchr(rest->at, separator, rest->len);
    const size_t len = end != NULL ? (size_t)(end - rest->at) : rest->len;
    const size_t taken = end != NULL ? len + 1 : len;

    *piece = rule_trim((struct rule_text){rest->at, len});
    rest->at += taken;
    rest->len -= taken;
    return true;
}

bool rule_text_number(struct rule_text text, int64_t min, int64_t max, int64_t *number)
{
    const bool minus = text.len != 0 && text.at[0] == '-';
    const size_t sign = minus || (text.len != 0 && text.at[0] == '+');
    int64_t value = 0;

    if (text.len == sign || text.len > 18)
        return false;
    for (size_t i = sign; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        value = value * 10 + (text.at[i] - '0');
    }
    *number = minus ? -value : value;
    return *number >= min && *number <= max;
}
