/* SPDX-License-Identifier: MIT */
/* Virus signatures in the payloads of a batch. An engine has found anchors, and their signatures
 * are verified here. */
#ifndef RUN_PAYLOAD_SCAN_H
#define RUN_PAYLOAD_SCAN_H

#include "clamav/payload.h"
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

/* The matches in one batch after another. One thread at a time. Free, run and count accept NULL:
 * payloads are not scanned. */
struct payload_scan;

/* *scan is NULL where `database` is, which outlives it. SL_ENOMEM. */
enum sl_status payload_scan_create(struct payload_scan **scan, const struct sl_clamav_db *database,
                                   struct sl_diag *diag);
void payload_scan_free(struct payload_scan *scan);

/* Scans a batch with the sorted hits of the database's engine. Where `joins` is, two lists are set
 * aside: hits in made items, and hits of bodies that payloads before or behind may complete.
 * Without it no hits lie in made items. SL_ENOMEM, SL_EINVAL. */
enum sl_status payload_scan_run(struct payload_scan *scan, const struct sl_batch *batch,
                                const struct sl_hits *hits, bool joins, struct sl_diag *diag);

/* These lists, by item; lent until the next batch. */
const struct sl_hits *payload_scan_made(const struct payload_scan *scan);
const struct sl_hits *payload_scan_alone(const struct payload_scan *scan);
const struct sl_hits *payload_scan_open(const struct payload_scan *scan);

/* The index of the first match of the item or of those behind, or the count. Matches are in the
 * order of items: none was added since the batch was scanned, or they were sorted. */
size_t payload_scan_first(const struct payload_scan *scan, uint32_t item);

/* Adds a match to those of the batch; puts all in order again: those of an item as they came.
 * SL_ENOMEM: some were not added. */
void payload_scan_add(struct payload_scan *scan, uint32_t item,
                      const struct sl_clamav_match *match);
enum sl_status payload_scan_sort(struct payload_scan *scan, struct sl_diag *diag);

/* The matches of the batch in the order of items; signatures as alerts have them, lent until the
 * next. */
size_t payload_scan_count(const struct payload_scan *scan);
uint32_t payload_scan_item(const struct payload_scan *scan, size_t i);
const struct sl_clamav_match *payload_scan_match(const struct payload_scan *scan, size_t i);
const struct sl_signature *payload_scan_signature(struct payload_scan *scan, size_t i);

/* The number that stands for a signature, which ClamAV gives a name alone. */
uint32_t payload_scan_sid(const struct sl_clamav_match *match);

#endif
