/* SPDX-License-Identifier: MIT */
/* Hits of names become events: the name found again in its packet, and the rule in words. */
#ifndef CLI_NAME_TELLER_H
#define CLI_NAME_TELLER_H

#include "sluice/packet_names.h"
#include "sluice/sink.h"

/* Of one thread at a time. */
struct name_teller;

struct name_teller *name_teller_create(const struct sl_names *names); /* NULL: no memory */
void name_teller_free(struct name_teller *teller);                    /* accepts NULL */

/* Another batch follows, whose items are not those of the one before. */
void name_teller_begin(struct name_teller *teller);

/* Makes the event, of which the packet is described, one of this hit; valid until the next call.
 * False: no memory. */
bool name_teller_tell(struct name_teller *teller, const struct sl_batch *batch,
                      const struct sl_hit *hit, struct sl_event *event);

/* The name of the hit's rule, valid until the next call. */
const char *name_teller_prefix(struct name_teller *teller, const struct sl_batch *batch,
                               const struct sl_hit *hit);

#endif
