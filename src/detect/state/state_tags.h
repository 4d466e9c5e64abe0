/* SPDX-License-Identifier: MIT */
/* Packets that rules tag: those of a flow or host behind an alert. The table of hosts has what is
 * left to each. Tags that limit the same metrics are one: what the largest of them leaves. */
#ifndef DETECT_STATE_TAGS_H
#define DETECT_STATE_TAGS_H

#include "state_filter.h"

enum { STATE_TAG_SETS = 1 << STATE_N_TAG_METRICS }; /* sets of metrics, a bit each */

struct state_tags {
    int64_t end[2][STATE_TAG_SETS]; /* seconds of the packets' clock: no tag of a host, or of a
                                       flow, that limits these metrics counts beyond */
    int64_t last;                   /* of them */
};

/* Tags the packets behind the packet of an alert. The packet counts for the limits. */
void state_tags_start(struct state_tags *tags, struct state_table *table,
                      const struct rule_state *rule, const struct state_packet *packet);

/* Whether a packet before has tagged this one, which counts for the limits. Once a packet. */
bool state_tags_take(struct state_tags *tags, struct state_table *table,
                     const struct state_packet *packet);

#endif
