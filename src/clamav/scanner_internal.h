/* SPDX-License-Identifier: MIT */
/* A scanner, and the parts of its work. */
#ifndef CLAMAV_SCANNER_INTERNAL_H
#define CLAMAV_SCANNER_INTERNAL_H

#include <stdio.h>

#include "clamav/authenticode.h"
#include "clamav/db.h"
#include "clamav/filter.h"
#include "clamav/match.h"
#include "clamav/payload.h"

struct sl_clamav_scanner {
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct clam_filter filter;
    struct scanner_source *large; /* the object of the pieces in flight */
    bool large_is_late;           /* and whose time is over */
    struct clam_match match;
    struct clam_object object;
    struct clam_exe exe;
    uint8_t window[CLAM_WINDOW_LEN];

    /* Of the object that is evaluated. */
    uint32_t *seen; /* by signature: the epoch in which it became a candidate */
    uint32_t *candidates;
    size_t n_candidates;
    uint32_t object_hits;
    struct sl_clamav_result result;
    void *token;
    struct clam_authenticode *signature; /* of a program that may be trusted; or NULL */
    bool over;                           /* no more matches are wanted */
    bool all_hits;                       /* of a part: the matcher searched all of it */
    bool lacks_bytes;                    /* an expression may hold with more bytes than a part's */
    struct clam_open *open;              /* takes hits of parts; NULL: they are not wanted */

    struct scanner_domains *domains; /* expressions of domains; NULL: none was needed */
    struct scanner_names *names;     /* expressions of members' names; NULL: none was needed */

    uint8_t *fed; /* sl_clamav_feed's bytes */
    size_t fed_len, fed_cap;
    FILE *fed_file;
    uint64_t fed_total;
};

/* ---- an object ------------------------------------------------------------------------------- */

/* Begins an object, or a part of any file of `len` bytes; the object's bytes are set. */
void scanner_begin_object(struct sl_clamav_scanner *scanner, const struct clam_queued *queued);
void scanner_begin_part(struct sl_clamav_scanner *scanner, void *token, uint64_t len);

/* Verifies the hits from *next on that belong to `item`, which begins at `base` of the object. */
void scanner_take_hits(struct sl_clamav_scanner *scanner, const struct sl_hits *hits, uint32_t item,
                       uint64_t base, size_t *next);

/* Evaluates candidates and hashes, and calls `done`. SL_ENOMEM. */
enum sl_status scanner_end_object(struct sl_clamav_scanner *scanner,
                                  const struct clam_queued *queued);
enum sl_status scanner_end_part(struct sl_clamav_scanner *scanner);

/* ---- reports -------------------------------------------------------------------------------- */

void scanner_report(struct sl_clamav_scanner *scanner, const char *name, bool official);

/* Whether files of this size have hash signatures. */
bool scanner_has_size(const struct clam_block *block, uint64_t size);

/* Whether a part of the object has a hash of that purpose. Each is reported, but for allowed ones.
 */
bool scanner_match_hashes(struct sl_clamav_scanner *scanner, int purpose, uint64_t at,
                          uint64_t len);
void scanner_match_sections(struct sl_clamav_scanner *scanner);

/* Reports blocked certificates of a program's signature. Without one, the signature is kept until
 * scanner_end_certificates: the program may be trusted. */
void scanner_match_certificates(struct sl_clamav_scanner *scanner);
void scanner_end_certificates(struct sl_clamav_scanner *scanner);

/* Frees `names`, and `domains`. */
void scanner_free_names(struct sl_clamav_scanner *scanner);
void scanner_free_domains(struct sl_clamav_scanner *scanner);

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Drops the pieces. */
void scanner_drop_fed(struct sl_clamav_scanner *scanner);

#endif
