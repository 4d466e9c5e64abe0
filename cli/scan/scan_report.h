/* SPDX-License-Identifier: MIT */
/* The output of sluice scan: a line or a JSON object a file, progress, the summary, and a report on
 * databases. */
#ifndef CLI_SCAN_REPORT_H
#define CLI_SCAN_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "scan_dispose.h"
#include "sluice/scan.h"

struct scan_report {
    const char *log_path; /* NULL: no log */
    bool json, infected_only, suppress_ok, quiet, summary;
    bool bell;                   /* for each file with a match */
    enum scan_disposal disposal; /* of such a file */
    const char *directory;       /* where it goes */

    FILE *log;
    bool kept;            /* a file was not disposed of */
    struct sl_scan *scan; /* the scan that progress is shown of; NULL: none */
    bool shown;
    uint64_t shown_ns; /* of the scan's time, when progress was shown last */
};

/* Whether to show progress: a line for each file on the terminal is progress enough. */
bool scan_report_wants_progress(const struct scan_report *report);

/* Opens the log. False: it failed, with an error printed. */
bool scan_report_begin(struct scan_report *report);

/* The callback of a scan; `user` is the report. */
void scan_report_file(void *user, const struct sl_scan_file *file);

/* Removes progress, prints why the scan failed (NULL: it did not), and closes the log. False: the
 * log could not be written, with an error printed. */
bool scan_report_end(struct scan_report *report, const struct sl_diag *failed);

void scan_report_summary(const struct scan_report *report, const struct sl_clamav_db *db,
                         const struct sl_scan_counts *counts, double seconds, time_t begin);

/* The list of a scan's omissions. */
void scan_report_help(FILE *out);

/* Lists wrong lines and signatures that are not supported. */
void scan_report_notes(const struct sl_clamav_set *set);

/* Says how many there are, if any. */
void scan_report_left_out(const struct sl_clamav_set *set);

/* Prints counts of supported and omitted signatures, and the size of the block. */
void scan_report_database(const struct sl_clamav_set *set, const struct sl_clamav_db *db,
                          double seconds);

#endif
