/* SPDX-License-Identifier: MIT */
/* Virus signatures in the payloads of a batch. An engine has found anchors, and their signatures
 * are verified here. */
#ifndef RUN_PAYLOAD_SCAN_H
#define RUN_PAYLOAD_SCAN_H

#include "sluice/clamav.h"
#include "sluice/detect.h"

enum { VIRUS_GID = 600, VIRUS_NAME_LEN = 1024 };

/* A match of a virus signature as alerts have it. */
struct virus_signature {
    char text[VIRUS_NAME_LEN];
    struct sl_signature signature;
};

/* Returns `to->signature`. */
const struct sl_signature *virus_signature_of(struct virus_signature *to,
                                              const struct sl_clamav_match *match);

/* The matches in one batch after another. One thread at a time. All calls but create accept NULL:
 * payloads are not scanned. */
struct payload_scan;

/* *scan is NULL where `database` is. */
enum sl_status payload_scan_create(struct payload_scan **scan, const struct sl_clamav_db *database,
                                   struct sl_diag *diag);
void payload_scan_free(struct payload_scan *scan);

/* Scans a batch with the sorted hits of the database's engine. */
enum sl_status payload_scan_run(struct payload_scan *scan, const struct sl_batch *batch,
                                const struct sl_hits *hits, struct sl_diag *diag);

/* The matches of the batch in the order of items; signatures as alerts have them, lent until the
 * next. */
size_t payload_scan_count(const struct payload_scan *scan);
uint32_t payload_scan_item(const struct payload_scan *scan, size_t i);
const struct sl_clamav_match *payload_scan_match(const struct payload_scan *scan, size_t i);
const struct sl_signature *payload_scan_signature(struct payload_scan *scan, size_t i);

/* The number that stands for a signature, which ClamAV gives a name alone. */
uint32_t payload_scan_sid(const struct sl_clamav_match *match);

#endif
