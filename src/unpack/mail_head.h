/* SPDX-License-Identifier: MIT */
/* The head of a mail, or of a part of one (RFC 2045, 2183, 2231). */
#ifndef UNPACK_MAIL_HEAD_H
#define UNPACK_MAIL_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mail_encoding {
    MAIL_UNSTATED,
    MAIL_PLAIN,
    MAIL_7BIT, /* stated, or one that is not known */
    MAIL_BASE64,
    MAIL_QUOTED,
    MAIL_UUENCODE,
    MAIL_YENC
};

struct mail_head {
    char type[64];      /* "text/plain", in lower case; "": none is stated */
    char boundary[200]; /* may be "" where one is stated */
    bool has_boundary;
    char name[256]; /* of a file, as ClamAV writes it; "": none */
    enum mail_encoding encoding;
    bool has_disposition;
    bool is_attached;   /* the disposition is another one than "inline" */
    bool named_by_type; /* and not by the disposition */
    bool any;           /* it has a field at all */
};

/* Reads a head. Returns the place of the body. */
const uint8_t *mail_head_read(const uint8_t *bytes, const uint8_t *end, struct mail_head *head);

#endif
