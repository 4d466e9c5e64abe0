/* SPDX-License-Identifier: MIT */
/* The part that sinks of lines share: a file descriptor behind a buffer of fixed size, and the
 * count of the lines that the system took.
 *
 * The buffer is written between lines, so that a reader of the file sees whole ones. A line of more
 * than half the buffer is written in parts. The first failure is kept in `error`, and all later
 * bytes are dropped. A kind that writes a line in many parts checks once, at its end.
 *
 * A sink that holds has a larger buffer and no file. Another sink takes its whole lines. */
#ifndef SINKS_LINE_SINK_H
#define SINKS_LINE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/decimal.h"
#include "sink_kind.h"

enum { LINE_SINK_CAP = 256 * 1024 };

/* The beginning of a block from malloc. */
struct line_sink {
    struct sl_sink base;
    char *name; /* of the file, for diagnostics */
    int fd;
    bool is_stdout;
    int error;      /* errno of the write that failed; 0: none did */
    uint64_t lines; /* whole lines that the system took */
    size_t len;     /* bytes in the buffer */
    char *bytes;
    size_t cap; /* bytes of the buffer */

    bool holds;
    bool full;       /* the line at hand does not fit */
    size_t hold_len; /* bytes of lines that it may hold; one more line fits behind them, to be
                        dropped */
    size_t begin;    /* where the line at hand begins */
};

/* Opens a file. Writes go behind its last line, which is ended where it is cut. "-" is standard
 * output. After a failure the caller closes nothing. SL_EIO, SL_ENOMEM. */
enum sl_status line_sink_open(struct line_sink *out, const char *path, struct sl_diag *diag);

/* One that holds up to hold_len bytes of lines; they are counted in `lines`. SL_ENOMEM. */
enum sl_status line_sink_hold(struct line_sink *out, size_t hold_len, struct sl_diag *diag);

/* Writes the buffer. */
void line_sink_drain(struct line_sink *out);

/* Makes room for LINE_SINK_CAP bytes: writes the buffer. A sink that holds drops the line instead.
 */
void line_sink_make_room(struct line_sink *out);

/* For struct sink_kind. */
enum sl_status line_sink_flush(struct sl_sink *sink, struct sl_diag *diag);
enum sl_status line_sink_pass(struct sl_sink *held, struct sl_sink *sink, struct sl_diag *diag);
uint64_t line_sink_written(const struct sl_sink *sink);
enum sl_status line_sink_close(struct sl_sink *sink, struct sl_diag *diag);

/* Every line begins with this call. */
static inline void line_begin(struct line_sink *out)
{
    if (out->holds)
        out->begin = out->len;
    else if (out->len > LINE_SINK_CAP / 2)
        line_sink_drain(out);
}

/* Every line of a kind that may hold ends with this call. SL_EOVERFLOW: the line was not held. */
enum sl_status line_end(struct line_sink *out, struct sl_diag *diag);

/* In all of a sink's many calls: its function would be called per part of a line otherwise. */
#define LINE_INLINE static inline __attribute__((always_inline))

/* Room for len bytes in a row, at most LINE_SINK_CAP; the caller adds what it used to out->len. */
LINE_INLINE char *line_room(struct line_sink *out, size_t len)
{
    if (len > out->cap - out->len)
        line_sink_make_room(out);
    return out->bytes + out->len;
}

LINE_INLINE void line_bytes(struct line_sink *out, const void *bytes, size_t len)
{
    const char *at = bytes;

    for (; len > LINE_SINK_CAP; at += LINE_SINK_CAP, len -= LINE_SINK_CAP) {
        memcpy(line_room(out, LINE_SINK_CAP), at, LINE_SINK_CAP);
        out->len += LINE_SINK_CAP;
    }
    memcpy(line_room(out, len), at, len);
    out->len += len;
}

LINE_INLINE void line_text(struct line_sink *out, const char *text)
{
    line_bytes(out, text, strlen(text));
}

LINE_INLINE void line_uint(struct line_sink *out, uint64_t value)
{
    out->len = (size_t)(decimal_write(line_room(out, DECIMAL_LEN), value) - out->bytes);
}

#endif
