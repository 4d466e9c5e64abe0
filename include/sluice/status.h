/* SPDX-License-Identifier: MIT */
/* Statuses and diagnostics: how every call of sluice reports a failure.
 *
 * A bad packet, file content or name is data: a result or a counter. A bad call or a bad rule is an
 * error: a status, and a text in the caller's struct sl_diag. */
#ifndef SLUICE_STATUS_H
#define SLUICE_STATUS_H

#include <stdint.h>

/* SL_API exports a function. A result of SL_CHECK that is not used is a warning. */
#if defined(__GNUC__)
#define SL_API __attribute__((visibility("default")))
#define SL_CHECK __attribute__((warn_unused_result))
#else
#define SL_API
#define SL_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a call. */
enum sl_status {
    SL_OK = 0,
    SL_END,          /* nothing is left to read; not an error */
    SL_EINVAL,       /* the call is wrong: an argument is out of its documented range, or a
                        config's reserved field is not 0 */
    SL_ENOMEM,       /* host or device memory does not suffice */
    SL_EIO,          /* the system refused; the diagnostic holds its reason */
    SL_EFORMAT,      /* the input is not of the expected format */
    SL_ETRUNCATED,   /* the input ends inside a record; all records before it were delivered */
    SL_EUNSUPPORTED, /* understood, and not supported here */
    SL_EOVERFLOW,    /* the caller's array is too small; the call reports the count needed */
    SL_EDEVICE,      /* the GPU or its driver reported an error */
};

/* Where and why a call failed. The caller owns it. A call that fails overwrites it, and cuts long
 * paths and texts. A call that succeeds does not change it. `file` is empty, and `line` or `column`
 * is 0, where none is the cause. */
struct sl_diag {
    char file[512];
    uint32_t line;
    uint32_t column; /* the byte of the line, from 1 */
    char text[512];
};

enum { SL_WHY_LEN = 160 }; /* bytes of a reason in one line, NUL included */

/* The status in a few words ("out of memory"). Never NULL; static storage; any thread. */
SL_API const char *sl_status_text(enum sl_status status);

/* Writes "FILE:LINE:COLUMN: text", "FILE:LINE: text", "FILE: text" or "text" into out, cut to
 * out_len bytes with the NUL. */
SL_API void sl_diag_format(const struct sl_diag *diag, char *out, uint32_t out_len);

#ifdef __cplusplus
}
#endif
#endif
