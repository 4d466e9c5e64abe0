/* SPDX-License-Identifier: MIT */
/* clamscan, as a process of its own. */
#ifndef BENCH_CLAMSCAN_H
#define BENCH_CLAMSCAN_H

/* Scans a file with a database; returns the seconds that the process took, below 0 where it cannot
 * be started or ends with an error. */
double clamscan_run(char *database, char *path);

#endif
