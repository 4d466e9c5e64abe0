/* SPDX-License-Identifier: MIT */
#include "explain_text.h"

#include <stdarg.h>
#include <stdio.h>

void explain_put(struct explain_text *text, const char *format, ...)
{
    const size_t room = text->cap - text->len;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(text->at + text->len, room, format, args);
    va_end(args);
    if (n > 0)
        text->len += (size_t)n < room ? (size_t)n : room - 1;
}
