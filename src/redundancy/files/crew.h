/* SPDX-License-Identifier: MIT */
/* Threads that do one set of tasks after another. A result must not depend on who does a task. */
#ifndef REDUNDANCY_CREW_H
#define REDUNDANCY_CREW_H

#include <stdint.h>

#include "sluice/redundancy.h"

struct crew;

/* Does task i. `thread` is 0 for the caller of crew_end, and else below the crew's number. */
typedef void crew_work(void *user, unsigned thread, uint32_t i);

/* Of n_threads, 1 to SL_REDUNDANCY_THREADS_MAX, the caller's among them. The others start where
 * there is something to do, and where one cannot be started the rest do its tasks. SL_ENOMEM. */
SL_CHECK enum sl_status crew_create(struct crew **crew, unsigned n_threads, struct sl_diag *diag);

/* Offers tasks 0 to n - 1 to the other threads. The set before has ended. */
void crew_begin(struct crew *crew, crew_work *work, void *user, uint32_t n);

/* Takes part, and returns when all tasks are done. */
void crew_end(struct crew *crew);

/* Accepts NULL. */
void crew_free(struct crew *crew);

#endif
