/* SPDX-License-Identifier: MIT */
/* Slots: what modules know of a flow once its packets are settled. They lie apart from what
 * tracking knows, which may be several batches ahead. The first slot is the dissector's own. */
#ifndef DISSECT_FLOW_SLOTS_H
#define DISSECT_FLOW_SLOTS_H

#include "sluice/dissect.h"

/* The dissector's own slot: the fields that the record of an ended flow reports. */
struct flow_settled {
    bool alerted, passed, dropped;
    uint8_t app; /* 0: none so far */
};

/* How the slots of a flow lie. */
struct flow_slots {
    struct sl_flow_slot slot[SL_FLOW_SLOTS_MAX + 1];
    uint32_t at[SL_FLOW_SLOTS_MAX + 1]; /* bytes from the first */
    uint32_t n;
    uint32_t len;      /* bytes of a flow; 0: ends are not kept, and nothing is settled */
    uint32_t more_len; /* bytes of a flow that modules have elsewhere */
};

/* SL_EINVAL: a slot is out of its range. */
enum sl_status flow_slots_lay_out(struct flow_slots *slots, const struct sl_flow_config *config,
                                  struct sl_diag *diag);

/* The slots that the config has, for a settler. */
void flow_slots_list(const struct flow_slots *slots, uint8_t *of_flow,
                     void *slot[SL_FLOW_SLOTS_MAX]);

/* The flow has ended: the next one of the entry begins with zeros. */
void flow_slots_release(const struct flow_slots *slots, uint32_t shard, uint8_t *of_flow);

static inline struct flow_settled *flow_slots_settled(uint8_t *of_flow)
{
    return (struct flow_settled *)of_flow;
}

#endif
