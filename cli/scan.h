/* SPDX-License-Identifier: MIT */
/* sluice scan: what its files share. */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "sluice/clamav.h"

enum {
    SCAN_PATTERNS_MAX = 64,
    SCAN_DEPTH_MAX = 15 /* directories below a named one: clamscan's */
};

struct scan_patterns {
    regex_t regex[SCAN_PATTERNS_MAX];
    size_t n;
};

struct scan_options {
    const char **databases;
    size_t n_databases;
    const char *compile; /* write the compiled database here and end */
    const char *device;
    const char *file_list;
    const char *log;
    struct scan_patterns exclude, include, exclude_dir, include_dir;
    uint64_t max_file_len, max_scan_len; /* bytes; 0: no limit */
    uint32_t max_batch_hits, max_object_hits;
    unsigned n_threads;
    int follow_files, follow_dirs; /* 0 never, 1 named ones, 2 always */
    int depth_max;
    bool recursive, infected_only, suppress_ok, all_matches, cross_fs, summary, json, quiet, debug;
};

struct scan_totals {
    uint64_t directories, files, infected, suspect, errors;
    uint64_t bytes, scanned_bytes;
};

/* Maps the compiled database that the options name, or reads and compiles what they name. */
enum sl_status scan_open_database(const struct scan_options *options,
                                  const struct sl_device *device, struct sl_clamav_db **db,
                                  struct sl_diag *diag);

/* Scans paths and what the file list names; prints a line a file. False: it could not be done. */
bool scan_run(const struct scan_options *options, const struct sl_clamav_db *db,
              const struct sl_device *device, char **paths, int n_paths,
              struct scan_totals *totals);

/* Walks the named paths; calls the job for each file that is to be scanned. */
struct scan_walk {
    const struct scan_options *options;
    struct scan_totals *totals;
    void *user;
    void (*file)(void *user, const char *path, uint64_t len);     /* to be scanned */
    void (*note)(void *user, const char *path, const char *note); /* "Excluded", ... */
    void (*error)(void *user, const char *path, const char *reason);
    bool (*stopped)(void *user);
};

void scan_walk_path(struct scan_walk *walk, const char *path);

#endif
