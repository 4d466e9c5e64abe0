/* SPDX-License-Identifier: MIT */
/* Parts of files whose other bytes come later, or came before: payloads of packets, and windows of
 * streams. Hits that are not decided in one part are taken to the next. */
#ifndef CLAMAV_PAYLOAD_H
#define CLAMAV_PAYLOAD_H

#include "sluice/clamav.h"

struct clam_object;

/* Of an open hit: a body was found there, and an expression waits for others. */
#define CLAM_OPEN_MATCHES (UINT64_C(1) << 63)

/* Hits whose signatures may match with other bytes than those of the part. Zeroed at first. */
struct clam_open {
    struct sl_hits hits; /* as they were given, with CLAM_OPEN_MATCHES */
    size_t n_before;     /* that bytes before the part alone may complete, and none come */
    bool has_before;     /* bytes before the part may come into one with it */
    bool no_memory;      /* hits are missing */
    size_t n_decided;    /* those before were in parts that are over */
};

void clam_open_free(struct clam_open *open);

/* Adds a hit to a list, which belongs to the caller. False: no memory. */
bool clam_hits_add(struct sl_hits *hits, const struct sl_hit *hit);

/* Takes a hit of the present part, whose body lies there or not. */
void clam_open_add(struct clam_open *open, const struct sl_hit *hit, bool matches,
                   const struct clam_object *object);

/* As sl_clamav_scan_hits, and sets `open` to the hits that are not decided. */
enum sl_status clam_scan_payloads(struct sl_clamav_scanner *scanner, const struct sl_batch *batch,
                                  const struct sl_hits *hits, struct clam_open *open);

/* A range of a stream. */
struct clam_window {
    const uint8_t *bytes;
    uint64_t len;
    bool goes_on;   /* the stream has bytes behind the window, so that its end is none of a file */
    uint64_t begin; /* of the window, in the stream. Absolute offsets count from the stream's begin,
                       or from behind the head of HTTP that begins window and stream */
};

/* Scans a window by hits in it, all of item 0, in any order. `open` may be NULL. `match` is called
 * with `token`. SL_ENOMEM: also where `open` lacks hits. */
enum sl_status clam_scan_window(struct sl_clamav_scanner *scanner, const struct clam_window *window,
                                const struct sl_hits *hits, void *token, struct clam_open *open);

/* Bytes of a literal of the matcher. */
uint32_t clam_literal_len(const struct sl_clamav_db *db, uint64_t literal);

#endif
