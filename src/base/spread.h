/* SPDX-License-Identifier: MIT */
/* Work on many things that do not depend on each other, by threads. */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include <stddef.h>

enum { SPREAD_THREADS_MAX = 16 };

/* Does the work on thing i, on the thread of this number, which is below SPREAD_THREADS_MAX. */
typedef void spread_work(void *context, unsigned thread, size_t i);

/* Calls `work` once for each i below n, and returns when all is done. The caller's thread is number
 * 0. Others help, so that there are at most `threads`, and for each of them `share` things; where
 * none can be started, there are fewer. */
void spread(unsigned threads, size_t n, size_t share, spread_work *work, void *context);

#endif
