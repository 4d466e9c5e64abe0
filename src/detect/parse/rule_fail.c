/* SPDX-License-Identifier: MIT */
#include "rule_fail.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"

enum sl_status rule_bad(struct rule_parser *parser, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return diag_set(parser->diag, SL_EFORMAT, NULL, 0, "%s", text);
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
