/* SPDX-License-Identifier: MIT */
/* Bodies of several parts (RFC 2046, section 5.1; RFC 7578), read as they come. The reports do not
 * depend on the cuts between pieces, but for the pieces of parts, whose bytes joined are the same.
 */
#ifndef APP_MULTIPART_H
#define APP_MULTIPART_H

#include "app_text.h"

enum {
    MULTIPART_BOUNDARY_MAX = 200, /* bytes; RFC 2046 allows 70 */
    MULTIPART_HEAD_MAX = 2048     /* bytes of a part's head that are read */
};

struct multipart_listener {
    /* A part begins. The name of its file, in its head; empty: it is none. */
    void (*begin)(void *to, struct app_span filename);
    void (*give)(void *to, const uint8_t *bytes, uint32_t len); /* the next bytes of the part */
    void (*end)(void *to);                                      /* the part is whole */
    void *to;
};

struct multipart;

/* By a field Content-Type. NULL: there is no memory, or, with *none set, the field names no
 * multipart/form-data with a boundary. */
struct multipart *multipart_open(struct app_span content_type, bool *none);

/* The next bytes of the body. False: there is no memory. */
bool multipart_give(struct multipart *multipart, const uint8_t *bytes, uint32_t len,
                    const struct multipart_listener *listener);

/* Bytes that are missing: they end the match of a boundary, or the head of a part. The bytes of a
 * boundary that may have begun are reported. */
void multipart_gap(struct multipart *multipart, const struct multipart_listener *listener);

/* The body is over. A part that is open is not reported as whole. Accepts NULL. */
void multipart_close(struct multipart *multipart);

uint64_t multipart_held(const struct multipart *multipart); /* bytes of memory */

/* The value of a parameter of a field, without quotes: `filename` of Content-Disposition, or
 * `boundary` of Content-Type. `name` is in lower case. bytes NULL: there is none. */
struct app_span multipart_parameter(struct app_span field, const char *name);

#endif
