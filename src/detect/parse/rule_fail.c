/* SPDX-License-Identifier: MIT */
#include "rule_fail.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"

static enum sl_status set_bad(struct rule_parser *parser, const char *format, va_list args)
{
    char text[256];

    vsnprintf(text, sizeof text, format, args);
    return diag_set(parser->diag, SL_EFORMAT, NULL, 0, "%s", text);
}

enum sl_status rule_bad(struct rule_parser *parser, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const enum sl_status status = set_bad(parser, format, args);
    va_end(args);
    return status;
}

enum sl_status rule_bad_at(struct rule_parser *parser, const char *at, const char *format, ...)
{
    va_list args;

    parser->where = at;
    va_start(args, format);
    const enum sl_status status = set_bad(parser, format, args);
    va_end(args);
    return status;
}

enum sl_status rule_skip(struct rule_parser *parser, const char *what, struct rule_text keyword)
{
    char lower[81];
    size_t len = 0;

    for (; len < keyword.len && len < sizeof lower - 1; len++) {
        const char c = keyword.at[len];

        lower[len] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    lower[len] = '\0';
    return diag_set(parser->diag, SL_EUNSUPPORTED, NULL, 0, "%s%s", what, lower);
}

enum sl_status rule_no_memory(struct rule_parser *parser)
{
    return diag_set(parser->diag, SL_ENOMEM, NULL, 0, "out of memory");
}
