/* SPDX-License-Identifier: MIT */
/* The hits of a packet. A matcher may leave out those inside runs (sl_limits.run_ends). */
#ifndef DETECT_RULE_HITS_H
#define DETECT_RULE_HITS_H

#include "detect/compile/rule_compile.h"

/* Those in its made items as well. */
struct rule_hits {
    const struct sl_hit *hit;
    size_t n;
};

/* Whether a hit in the packet itself, behind this offset, stands for one that was left out there:
 * its literal is a run, and ends there too. Where a range of offsets has none of a literal's hits,
 * one may have been left out at the last of them. The packet lies in a batch, and the offset is at
 * most its length: the byte there is read. */
bool rule_hits_had(const struct rule_index *index, const struct sl_hit *hit, const uint8_t *packet,
                   uint64_t offset);

#endif
