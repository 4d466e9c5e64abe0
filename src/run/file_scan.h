/* SPDX-License-Identifier: MIT */
/* Virus signatures in the files of flows: each is scanned whole, once it is over. */
#ifndef RUN_FILE_SCAN_H
#define RUN_FILE_SCAN_H

#include "run_apps.h"
#include "sluice/clamav.h"

/* The matches in one batch after another. One thread at a time. */
struct file_scan;

/* *scan is NULL where `database` is. */
enum sl_status file_scan_create(struct file_scan **scan, const struct sl_clamav_db *database,
                                struct sl_diag *diag);
void file_scan_free(struct file_scan *scan); /* accepts NULL */

/* Scans the batch's files. Their contents have the matches. Does nothing where `scan` is NULL. */
enum sl_status file_scan_run(struct file_scan *scan, const struct app_batch *apps,
                             struct sl_diag *diag);

/* How often the file that the message reports matches; the i-th match. */
uint32_t file_scan_count(const struct sl_app_message *message);
const struct sl_clamav_match *file_scan_match(const struct file_scan *scan,
                                              const struct sl_app_message *message, uint32_t i);

#endif
