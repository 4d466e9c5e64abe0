/* SPDX-License-Identifier: MIT */
/* Scanners of windows, which threads share. */
#ifndef RUN_VIRUS_SCANNER_H
#define RUN_VIRUS_SCANNER_H

#include <pthread.h>

#include "clamav/payload.h"

/* What a thread scans windows with. */
struct virus_scanner {
    struct virus_scanner *next;
    struct sl_clamav_scanner *scanner;
    struct clam_open open;
    struct sl_hits hits; /* of the window */
    uint8_t *bytes;      /* of the last window, from `begin` to `end` of its half's stream */
    size_t bytes_max;
    uint64_t flow, begin, end;
    uint8_t half;
    struct sl_clamav_match *match; /* of the window, and behind them of the bytes before its part */
    size_t n, max;
    bool no_memory;
};

/* There are as many as threads scan at once. */
struct virus_scanners {
    const struct sl_clamav_db *database;
    pthread_mutex_t lock; /* guards: */
    struct virus_scanner *idle;
};

void virus_scanners_init(struct virus_scanners *scanners, const struct sl_clamav_db *database);
void virus_scanners_clear(struct virus_scanners *scanners);

/* A scanner for this thread. NULL: no memory. */
struct virus_scanner *virus_scanner_take(struct virus_scanners *scanners);
void virus_scanner_return(struct virus_scanners *scanners, struct virus_scanner *scanner);

#endif
