/* SPDX-License-Identifier: MIT */
/* The links of an HTML, each with what a reader of it sees. The rules are ClamAV's: attributes have
 * at most LINK_LEN_MAX bytes, and so has the text of a link. */
#ifndef UNPACK_LINKS_H
#define UNPACK_LINKS_H

#include "unpack/unpack.h"

enum { LINK_LEN_MAX = 1024, LINK_ATTRIBUTES = 5 };

/* A text that is put together byte by byte. */
struct link_text {
    char bytes[LINK_LEN_MAX + 1];
    size_t len;
    uint32_t high; /* up to three bytes above 0x7F, which may be a dot */
    bool there;
};

struct links {
    struct unpack *unpack;
    const struct unpack_object *object;
    struct link_text values[LINK_ATTRIBUTES]; /* of the tag that is read */
    struct link_text form;                    /* the place that the form around is sent to */
    struct link_text link, shown;             /* the link that is open, and its text so far */
    const uint8_t *text;                      /* the text's next part; NULL: it does not go on */
    uint32_t high;                            /* of the last value */
    struct unpack_buffer found, held;         /* records; those inside the open link */
    size_t n;                                 /* links of all kinds */
};

void links_begin(struct links *links, struct unpack *unpack, const struct unpack_object *object);

/* An attribute of the tag that is read. */
void links_attribute(struct links *links, const char *name, const uint8_t *value, size_t len,
                     bool quoted);

/* A tag or a comment begins at `at`. */
void links_text_ends(struct links *links, const uint8_t *at);

/* A tag was read up to `behind`. */
void links_tag(struct links *links, const char *name, const uint8_t *behind);

/* Gives what is left. Where there was no link, addresses in the text are. */
void links_end(struct links *links, const uint8_t *end);

#endif
