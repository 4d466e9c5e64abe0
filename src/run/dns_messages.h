/* SPDX-License-Identifier: MIT */
/* The packets of a batch that hold a DNS message, for the events of type dns. */
#ifndef RUN_DNS_MESSAGES_H
#define RUN_DNS_MESSAGES_H

#include "sluice/batch.h"

/* Zeroed at first; it grows to the largest batch. */
struct dns_messages {
    uint32_t *item; /* ascending */
    size_t n, cap;
};

/* Lists the messages that sl_app_find has found. SL_ENOMEM. */
enum sl_status dns_messages_list(struct dns_messages *messages, const struct sl_batch *batch,
                                 struct sl_diag *diag);

void dns_messages_free(struct dns_messages *messages);

#endif
