/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

enum sl_status diag_set(struct sl_diag *diag, enum sl_status status, const char *file,
                        uint32_t line, const char *format, ...)
{
    if (diag == NULL)
        return status;
    snprintf(diag->file, sizeof diag->file, "%s", file != NULL ? file : "");
    diag->line = line;
    diag->column = 0;

    va_list args;
    va_start(args, format);
    vsnprintf(diag->text, sizeof diag->text, format, args);
    va_end(args);
    return status;
}
