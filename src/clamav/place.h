/* SPDX-License-Identifier: MIT */
/* Objects whose kind and place in containers the caller knows. */
#ifndef CLAMAV_PLACE_H
#define CLAMAV_PLACE_H

#include "sluice/clamav.h"
#include "unpack/kind.h"

enum { CLAM_CONTAINERS_MAX = 32 };

/* The kind of an object, and the containers that it was found in. */
struct clam_place {
    bool known;          /* else the kind is found by content */
    uint8_t kind;        /* enum kind */
    uint64_t stated_len; /* of what it is a form of; 0: its own */
    bool hashes_only;    /* no body is searched for */
    uint8_t n_containers;
    uint8_t containers[CLAM_CONTAINERS_MAX]; /* enum kind, the file's first */
};

/* Bytes, at most the scanner's batch_len, which are copied; or, where they are NULL, a regular
 * file.
 */
struct clam_given {
    const uint8_t *bytes;
    uint64_t len;
    int fd;
    struct clam_place place;
    void *token;
};

/* A member, as its container describes it; numbers are UINT64_MAX where it states none. */
struct clam_metadata {
    const char *name;
    uint64_t container_len, packed_len, len, position;
    bool encrypted;
    uint8_t container; /* enum kind */
};

/* Reports signatures of containers (.cdb) that match. */
void clam_scan_metadata(struct sl_clamav_scanner *scanner, const struct clam_metadata *metadata,
                        void *token);

/* The passwords that archives are tried with, each behind its length in one byte. */
const uint8_t *clam_passwords(const struct sl_clamav_db *db, size_t *len);

/* Whether the database has lists of phishing domains or addresses. */
bool clam_has_links(const struct sl_clamav_db *db);

/* Records of links (unpack/message.h) of a text in a mail. */
struct clam_links {
    const uint8_t *records;
    size_t len;
    bool finds_ssl;   /* also in links that lead to no protected domain: what is shown has TLS, */
    bool finds_cloak; /* or the address has a NUL */
    uint64_t deadline_ns; /* of the monotonic clock; 0: none */
};

/* Calls `found` with the heuristic's name for each link that is one of phishing. False: the
 * deadline is over before the last one. */
bool clam_scan_links(struct sl_clamav_scanner *scanner, const struct clam_links *links,
                     void (*found)(void *user, const char *name), void *user);

/* SL_ENOMEM, SL_EDEVICE. */
SL_CHECK enum sl_status clam_scan_given(struct sl_clamav_scanner *scanner,
                                        const struct clam_given *given);

#endif
