/* SPDX-License-Identifier: MIT */
/* The rate at which cores read a file that lies in the page cache. */
#ifndef BENCH_PAGE_CACHE_H
#define BENCH_PAGE_CACHE_H

#include "bench.h"

/* Measures and prints; *median is in bytes a second. False: an error was printed. */
bool bench_page_cache(const struct bench *bench, const char *path, unsigned cores, double *median);

#endif
