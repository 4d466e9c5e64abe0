/* SPDX-License-Identifier: MIT */
/* A scan: its configuration, checked and compiled, and the counters of its threads. */
#ifndef RUN_SCAN_TREE_H
#define RUN_SCAN_TREE_H

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>

#include "sluice/scan.h"

struct scan_patterns {
    regex_t *regex;
    size_t n;
};

struct sl_scan {
    struct sl_scan_config config; /* n_threads is above 0 */
    struct scan_patterns exclude, include, exclude_directories, include_directories;
    atomic_bool stopped;

    pthread_mutex_t lock; /* of the members below */
    struct sl_scan_counts counts;
    uint64_t begin_ns; /* 0: not executed yet */
    bool ended;
};

/* The calls of a walk, by what is there. */
struct scan_walk {
    const struct sl_scan *scan;
    void *user;
    void (*file)(void *user, const char *path, uint64_t len); /* to be scanned */
    void (*skipped)(void *user, const char *path, enum sl_scan_verdict verdict);
    void (*failed)(void *user, const char *path, const char *reason);
    void (*entered)(void *user); /* a directory */
    bool (*stopped)(void *user);
};

/* Walks one path. */
void scan_walk_path(const struct scan_walk *walk, const char *path);

/* Walks the paths that a list names. */
void scan_walk_list(const struct scan_walk *walk, const char *list);

/* A walk ahead of the scan, in a thread of its own, which counts files and bytes to scan. */
struct scan_count;

/* NULL: nothing is counted, as it was not asked for or cannot be. */
struct scan_count *scan_count_begin(struct sl_scan *scan);

/* Ends it, also where it is not over. Accepts NULL. */
void scan_count_end(struct scan_count *count);

#endif
