/* SPDX-License-Identifier: MIT */
/* The encodings of mail. Each call appends what a text holds to a buffer. */
#ifndef UNPACK_TRANSFER_H
#define UNPACK_TRANSFER_H

#include "unpack/unpack_buffer.h"

/* The length of the line at `at`, its end included. */
size_t transfer_line(const uint8_t *at, const uint8_t *end);

/* `by_line`: the rest of a line behind a "=" is none of it. */
void transfer_base64(const uint8_t *in, size_t len, bool by_line, struct unpack_buffer *buffer);

/* The lines that ClamAV leaves out of a text, by the part of a mail that it is. */
struct transfer_joins {
    bool empty;  /* empty lines behind an empty one, */
    bool blanks; /* and lines of blanks behind such a line */
};

void transfer_quoted(const uint8_t *in, size_t len, bool joins, struct unpack_buffer *buffer);

/* As it is, but for the ends of lines, which become "\n", and lines of blanks, which become one
 * blank. The last line gets an end, too. */
void transfer_plain(const uint8_t *in, size_t len, struct transfer_joins joins,
                    struct unpack_buffer *buffer);

/* uuencode, from its "begin" line on, or yEnc, from its "=ybegin" line on. Returns the bytes that
 * were used. *whole: its end was there. */
size_t transfer_uuencode(const uint8_t *in, size_t len, struct unpack_buffer *buffer, bool *whole);
size_t transfer_yenc(const uint8_t *in, size_t len, struct unpack_buffer *buffer, bool *whole);

/* Whether a line begins one of these: "begin 644 name" or "=ybegin part...". */
bool transfer_begins_uuencode(const uint8_t *line, size_t len);
bool transfer_begins_yenc(const uint8_t *line, size_t len);

#endif
