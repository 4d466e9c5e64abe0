/* SPDX-License-Identifier: MIT */
/* The packets of a batch that hold a DNS message, for the events of type dns. Each flow counts its
 * messages. */
#ifndef RUN_DNS_MESSAGES_H
#define RUN_DNS_MESSAGES_H

#include "sluice/batch.h"
#include "sluice/dissect.h"

/* Zeroed at first; it grows to the largest batch. */
struct dns_messages {
    uint32_t *item; /* ascending */
    uint32_t *nth;  /* of its flow's messages, from 1 on; 0: not counted yet */
    size_t n, cap;
};

/* A flow's slot: how many messages it had. */
extern const struct sl_flow_slot dns_messages_slot;

/* Lists the messages that sl_app_find has found. SL_ENOMEM. */
enum sl_status dns_messages_list(struct dns_messages *messages, const struct sl_batch *batch,
                                 struct sl_diag *diag);

/* Counts the message of this item in its flow. The flow's messages come in order, on any thread. */
void dns_messages_count(const struct dns_messages *messages, uint32_t item, void *slot);

/* The number of an item's message; 0: it has none, or it is not counted. */
uint32_t dns_messages_nth(const struct dns_messages *messages, uint32_t item);

void dns_messages_free(struct dns_messages *messages);

#endif
