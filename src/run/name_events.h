/* SPDX-License-Identifier: MIT */
/* Hits of names become events: the name found again in its packet, and the rule in words. */
#ifndef RUN_NAME_EVENTS_H
#define RUN_NAME_EVENTS_H

#include "sluice/packet_names.h"
#include "sluice/sink.h"

/* Of one thread at a time. */
struct name_events;

struct name_events *name_events_create(const struct sl_names *names); /* NULL: no memory */
void name_events_free(struct name_events *events);                    /* accepts NULL */

/* Another batch follows, whose items are not those of the one before. */
void name_events_begin(struct name_events *events);

/* Makes the event, of which the packet is described, one of this hit; valid until the next call.
 * False: no memory. */
bool name_events_write(struct name_events *events, const struct sl_batch *batch,
                       const struct sl_hit *hit, struct sl_event *event);

/* The name of the hit's rule, valid until the next call. */
const char *name_events_prefix(struct name_events *events, const struct sl_batch *batch,
                               const struct sl_hit *hit);

#endif
