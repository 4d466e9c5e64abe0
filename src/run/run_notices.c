/* SPDX-License-Identifier: MIT */
#include "run_notices.h"

void run_notices_init(struct run_notices *notices, const struct sl_run_config *config)
{
    notices->notice = config->notice;
    notices->user = config->user;
    pthread_mutex_init(&notices->lock, NULL);
}

void run_notices_clear(struct run_notices *notices)
{
    pthread_mutex_destroy(&notices->lock);
}

void run_notices_send(struct run_notices *notices, const struct sl_run_notice *notice)
{
    if (notices->notice == NULL)
        return;
    pthread_mutex_lock(&notices->lock);
    notices->notice(notices->user, notice);
    pthread_mutex_unlock(&notices->lock);
}

void run_notices_text(struct run_notices *notices, enum sl_run_notice_kind kind,
                      const struct sl_diag *diag)
{
    const struct sl_run_notice notice = {.kind = kind, .diag = diag};

    run_notices_send(notices, &notice);
}
