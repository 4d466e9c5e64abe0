/* SPDX-License-Identifier: MIT */
/* Vectorscan as an algorithm of the matcher's: a peer to measure against, and a judge in tests. */
#ifndef BENCH_VECTORSCAN_H
#define BENCH_VECTORSCAN_H

/* Adds it under the name "vectorscan", where this build has it. */
void vectorscan_add(void);

#endif
