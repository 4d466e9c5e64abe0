/* SPDX-License-Identifier: MIT */
/* Mails (RFC 5322, 2045 to 2047, 2183), read line by line: the head's fields, the names and bytes
 * of attachments, and URLs in texts. The reports do not depend on the pieces that long lines come
 * in, but for those of attachments, whose bytes joined are the same.
 *
 * A mail holds MIME_TEXTS_MAX bytes of each field, of URLs and of names, and a field of a head up
 * to the piece that reaches MIME_FIELD_MAX bytes. Deeper parts than MIME_DEPTH_MAX are bytes of the
 * part around them. */
#ifndef APP_MIME_H
#define APP_MIME_H

#include "app_text.h"
#include "sluice/app.h"

enum {
    MIME_PIECE_MAX = 1024, /* bytes of a piece of a line */
    MIME_FIELD_MAX = 8192,
    MIME_TEXTS_MAX = 16384,
    MIME_TEXT_MAX = 1024, /* bytes of a line of a text that URLs are sought in */
    MIME_BOUNDARY_MAX = 200,
    MIME_DEPTH_MAX = 8
};

struct mime_listener {
    void (*begin)(void *to, struct app_span name); /* an attachment */
    void (*give)(void *to, const uint8_t *bytes, uint32_t len);
    void (*end)(void *to, bool is_cut);
    void *to;
};

/* The fields and texts of a mail: enum sl_app_value_id from SL_EMAIL_FROM to SL_EMAIL_ATTACHMENT.
 */
enum { MIME_N_TEXTS = SL_EMAIL_ATTACHMENT - SL_EMAIL_FROM + 1 };

enum mime_encoding { MIME_PLAIN, MIME_BASE64, MIME_QUOTED };

struct mime {
    struct app_text texts[MIME_N_TEXTS]; /* a NUL behind each */
    struct app_text field;               /* of a head, so far */
    struct app_text text;                /* a decoded line of a text */
    struct app_text name;                /* of the part's file */
    char boundary[MIME_DEPTH_MAX][MIME_BOUNDARY_MAX + 1];
    uint8_t depth;
    uint8_t state;     /* enum sl_mail_state of the mail */
    uint8_t encoding;  /* of the part: enum mime_encoding */
    bool in_head;      /* of the mail, or of a part */
    bool is_part;      /* its fields are those of a part */
    bool is_file;      /* the part's bytes are an attachment, */
    bool is_text;      /* or a text, */
    bool is_mail;      /* or a mail */
    bool is_multipart; /* or parts */
    uint8_t n_break;   /* bytes of a line's end that is not given yet */
    uint8_t n_sextets; /* of base64 that wait */
    uint32_t sextets;
    bool lacks_head; /* there is a gap in the head: where its part ends is not known */
    bool no_memory;
};

/* The next line, or a piece of one of at most MIME_PIECE_MAX bytes: `is_first` begins it, and with
 * n_break 1 or 2, of LF or CR LF, it ends. */
void mime_line(struct mime *mime, struct app_span line, bool is_first, uint8_t n_break,
               const struct mime_listener *listener);

/* Bytes are missing. */
void mime_gap(struct mime *mime);

/* The mail is over; with is_cut its end did not come. */
void mime_end(struct mime *mime, bool is_cut, const struct mime_listener *listener);

void mime_free(struct mime *mime);
uint64_t mime_held(const struct mime *mime); /* bytes of memory, but for the struct */

#endif
