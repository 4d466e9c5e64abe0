/* SPDX-License-Identifier: MIT */
/* How often each virus signature was found. */
#ifndef RUN_VIRUS_COUNTS_H
#define RUN_VIRUS_COUNTS_H

#include "file_scan.h"
#include "payload_scan.h"
#include "sluice/run.h"

struct virus_counts {
    void *names; /* a tree of struct sl_run_virus: those that were found */
    size_t n_names;
    uint64_t n_found, n_payloads, n_files; /* payloads and files in which some was found */

    struct sl_run_virus *ranked; /* once they are ranked */
};

/* Adds the matches of a batch. False: no memory. */
bool virus_counts_add(struct virus_counts *counts, const struct payload_scan *scan);

/* Those of the file that the message reports, if it does. */
bool virus_counts_add_file(struct virus_counts *counts, const struct file_scan *scan,
                           const struct sl_app_message *message);

/* Sorts, most frequent first, for `ranked`. False: no memory. */
bool virus_counts_rank(struct virus_counts *counts);

void virus_counts_clear(struct virus_counts *counts);

#endif
