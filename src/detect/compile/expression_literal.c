/* SPDX-License-Identifier: MIT */
/* Only text outside of all groups counts, and only where no alternative lets a match do without it.
 * Text that is not understood for certain ends a run of bytes, or gives the expression up. */
#include "expression_literal.h"

#include <stdbool.h>
#include <string.h>

#include "base/hex.h"
#include "detect/expression.h"

struct reader {
    const char *at, *end;
    uint8_t *run; /* the bytes that follow each other here */
    uint32_t run_len;
    uint8_t *best;
    uint32_t best_len;
    bool given_up;
};

/* Ends the run. */
static void cut(struct reader *reader)
{
    if (reader->run_len > reader->best_len) {
        memcpy(reader->best, reader->run, reader->run_len);
        reader->best_len = reader->run_len;
    }
    reader->run_len = 0;
}

/* Takes the last byte back, which need not be there, and ends the run before it. */
static void cut_before_last(struct reader *reader)
{
    reader->run_len -= reader->run_len != 0;
    cut(reader);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Passes over a class, behind its '['. */
static void skip_class(struct reader *reader)
{
    reader->at += reader->at < reader->end && *reader->at == '^';
    reader->at += reader->at < reader->end && *reader->at == ']';
    for (; reader->at < reader->end && *reader->at != ']'; reader->at++) {
        if (*reader->at == '\\')
            reader->at++;
        else if (*reader->at == '[') /* "[:alpha:]", which holds a ']' */
            reader->given_up = true;
    }
    reader->at++;
}

/* Passes over a group, behind its '('. */
static void skip_group(struct reader *reader)
{
    for (uint32_t depth = 1; depth != 0 && reader->at < reader->end;) {
        const char c = *reader->at++;

        if (c == '\\')
            reader->at++;
        else if (c == '[')
            skip_class(reader);
        else
            depth += (uint32_t)(c == '(') - (uint32_t)(c == ')');
    }
}

/* Whether verbs, quotations, comments or options change how characters are read. */
static bool has_modes(const char *text, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++) {
        const char c = i + 2 < len ? text[i + 2] : '\0';

        if ((text[i] == '(' && text[i + 1] == '*') || (text[i] == '\\' && text[i + 1] == 'Q') ||
            (text[i] == '(' && text[i + 1] == '?' &&
             (c == '#' || c == '^' || c == '-' || (is_letter(c) && c != 'P'))))
            return true;
    }
    return false;
}

/* An escape, behind its backslash. */
static void read_escape(struct reader *reader)
{
    static const char letters[] = "nrtfae", bytes[] = "\n\r\t\f\a\x1B";
    const char c = reader->at < reader->end ? *reader->at++ : '\0';
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    const bool two_digits = c == 'x' && reader->end - reader->at >= 2 &&
                            hex_digit(reader->at[0]) >= 0 && hex_digit(reader->at[1]) >= 0;

    if (two_digits) {
        reader->run[reader->run_len++] =
            (uint8_t)(hex_digit(reader->at[0]) << 4 | hex_digit(reader->at[1]));
        reader->at += 2;
    } else if (letter != NULL) {
        reader->run[reader->run_len++] = (uint8_t)bytes[letter - letters];
    } else if (c > ' ' && c < 0x7F && !is_letter(c) && hex_digit(c) < 0) {
        reader->run[reader->run_len++] = (uint8_t)c;
    } else if (c != '\0' && strchr("dDwWsSbBAzZhHvVRX", c) != NULL) {
        cut(reader);
    } else {
        reader->given_up = true;
    }
}

/* A character that means something else. */
static void read_special(struct reader *reader, char c)
{
    switch (c) {
    case '\\':
        read_escape(reader);
        break;
    case '(':
        cut(reader);
        skip_group(reader);
        break;
    case '[':
        cut(reader);
        skip_class(reader);
        break;
    case '?':
    case '*':
        cut_before_last(reader);
        break;
    case '{': /* a count, which may be 0, or the character */
        cut_before_last(reader);
        while (reader->at < reader->end && *reader->at++ != '}')
            ;
        break;
    case '|':
        reader->given_up = true;
        break;
    default: /* . ^ $ + */
        cut(reader);
        break;
    }
}

uint32_t rule_expression_literal(const char *text, size_t len, uint32_t options, uint8_t *bytes)
{
    uint8_t run[256];
    struct reader reader = {.at = text, .end = text + len, .run = run, .best = bytes};

    if (len > sizeof run || (options & RULE_EXTENDED) != 0 || has_modes(text, len))
        return 0;
    while (reader.at < reader.end && !reader.given_up) {
        const char c = *reader.at++;

        if (strchr("\\([?*{|.^$+", c) != NULL)
            read_special(&reader, c);
        else
            run[reader.run_len++] = (uint8_t)c;
    }
    cut(&reader);
    return reader.given_up ? 0 : reader.best_len;
}
