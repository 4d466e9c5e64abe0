/* SPDX-License-Identifier: MIT */
/* Filling a diagnostic. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets a diagnostic and returns `status`, so that a failure is one line. file may be NULL; diag
 * too. */
enum sl_status diag_set(struct sl_diag *diag, enum sl_status status, const char *file,
                        uint32_t line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
