/* SPDX-License-Identifier: MIT */
/* The exchange between a scan and its unpacker: fixed messages over a socket, bytes in a shared
 * arena. The scan trusts no message. */
#ifndef UNPACK_MESSAGE_H
#define UNPACK_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unpack/kind.h"

enum {
    UNPACK_SOCKET = 3, /* descriptors of the unpacker */
    UNPACK_ARENA = 4,
    UNPACK_ARENA_LEN = 2 << 20,
    UNPACK_ARENA_HEAD = 64, /* its first byte is a flag: the scan wants nothing more of the file */
    UNPACK_PASSWORDS_LEN_MAX = 1 << 20,
    UNPACK_CONTAINERS_MAX = 32, /* deepest nesting, whatever the limits say */
    UNPACK_TEXT_LEN = 256,
    UNPACK_LINKS_LEN_MAX = 1 << 20
};

#define UNPACK_UNKNOWN UINT64_MAX

/* Passwords of archives, each behind its length in one byte. They lie in the arena from its head
 * on when the program begins. */
struct unpack_passwords {
    uint32_t len;
    uint8_t bytes[];
};

/* clamscan's; 0: no limit. */
struct unpack_limits {
    uint64_t file_len_max; /* bytes of an object */
    uint64_t scan_len_max; /* bytes of all objects of a file */
    uint32_t depth_max;    /* levels, the file itself is the first */
    uint32_t files_max;    /* objects of a file */

    /* Bytes of objects that are brought into normal form, */
    uint64_t html_len_max;
    uint64_t html_text_len_max; /* also without tags, */
    uint64_t text_len_max;
};

/* Kinds that are left closed; bits of unpack_request.closed. */
enum unpack_group {
    UNPACK_ARCHIVES,
    UNPACK_MAILS,
    UNPACK_PDFS,
    UNPACK_OLE2S,
    UNPACK_HTMLS,
    UNPACK_SWFS,
    UNPACK_XMLS,
    UNPACK_ONENOTES,
    UNPACK_HWPS,
    UNPACK_GROUPS
};

/* A file is sent with it as a descriptor. */
struct unpack_request {
    struct unpack_limits limits;
    uint32_t closed;
    bool normalizes;
    bool wants_links; /* of texts in mails */
};

enum unpack_event_type {
    UNPACK_OBJECT, /* an object to scan: in the arena, or in a descriptor */
    UNPACK_MEMBER, /* what a container says about a member */
    UNPACK_ALERT,  /* `text` is found in the file */
    UNPACK_LINKS,  /* records of links, in the arena */
    UNPACK_ROOM,   /* the arena is full; an answer of one byte says that it has been read */
    UNPACK_END,    /* `kind` is the file's; `text`: why it was not fully opened, or "" */
    UNPACK_EVENTS
};

/* A record of a link is its kind in one byte, its address and what is shown of it. A NUL is behind
 * each of the two. */
enum unpack_link {
    UNPACK_LINK_TEXT,
    UNPACK_LINK_IMAGE,
    UNPACK_LINK_OTHER, /* also one of which nothing is shown */
    UNPACK_LINK_KINDS
};

enum unpack_alert {
    UNPACK_ENCRYPTED_ARCHIVE,
    UNPACK_ENCRYPTED_DOC,
    UNPACK_MACROS,
    UNPACK_BROKEN_EXE,
    UNPACK_BROKEN_MEDIA,
    UNPACK_ALERTS
};

struct unpack_event {
    uint8_t type;
    uint8_t kind;     /* enum kind */
    uint8_t alert;    /* enum unpack_alert */
    bool in_arena;    /* else a descriptor comes with it */
    bool hashes_only; /* the raw bytes of what was normalised */
    bool limited;     /* END: `text` is a limit's name */
    bool died;        /* END, by the client: the unpacker ended before */
    bool encrypted;   /* of a member */
    uint8_t n_containers;
    uint8_t containers[UNPACK_CONTAINERS_MAX];
    uint64_t stated_len;                          /* of what an object is a form of; 0: its own */
    uint64_t at, len;                             /* of an object; len is a member's, too */
    uint64_t packed_len, position, container_len; /* of a member; UNPACK_UNKNOWN */
    char text[UNPACK_TEXT_LEN]; /* an object's path in the file, a member's name, a reason */
};

#endif
