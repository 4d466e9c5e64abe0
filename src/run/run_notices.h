/* SPDX-License-Identifier: MIT */
/* Notices of a run to its caller: any thread sends them, the caller gets one at a time. */
#ifndef RUN_NOTICES_H
#define RUN_NOTICES_H

#include <pthread.h>

#include "sluice/run.h"

struct run_notices {
    void (*notice)(void *user, const struct sl_run_notice *notice); /* NULL: they are dropped */
    void *user;
    pthread_mutex_t lock; /* held while the caller has one */
};

void run_notices_init(struct run_notices *notices, const struct sl_run_config *config);
void run_notices_clear(struct run_notices *notices);

/* Sends a notice whose text is complete. */
void run_notices_send(struct run_notices *notices, const struct sl_run_notice *notice);

/* Sends one of this kind that has a text alone. */
void run_notices_text(struct run_notices *notices, enum sl_run_notice_kind kind,
                      const struct sl_diag *diag);

#endif
