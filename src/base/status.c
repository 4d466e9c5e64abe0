/* SPDX-License-Identifier: MIT */
#include "sluice/status.h"

#include <stdio.h>

const char *sl_status_text(enum sl_status status)
{
    switch (status) {
    case SL_OK:
        return "done";
    case SL_END:
        return "end of input";
    case SL_EINVAL:
        return "invalid argument";
    case SL_ENOMEM:
        return "out of memory";
    case SL_EIO:
        return "input or output failed";
    case SL_EFORMAT:
        return "not in the expected format";
    case SL_ETRUNCATED:
        return "truncated input";
    case SL_EUNSUPPORTED:
        return "not supported";
    case SL_EOVERFLOW:
        return "results exceed the caller's array";
    case SL_EDEVICE:
        return "device failure";
    }
    return "unknown status";
}

void sl_diag_format(const struct sl_diag *diag, char *out, uint32_t out_len)
{
    if (diag->file[0] != '\0' && diag->line != 0 && diag->column != 0)
        snprintf(out, out_len, "%s:%u:%u: %s", diag->file, diag->line, diag->column, diag->text);
    else if (diag->file[0] != '\0' && diag->line != 0)
        snprintf(out, out_len, "%s:%u: %s", diag->file, diag->line, diag->text);
    else if (diag->file[0] != '\0')
        snprintf(out, out_len, "%s: %s", diag->file, diag->text);
    else
        snprintf(out, out_len, "%s", diag->text);
}
