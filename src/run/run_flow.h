/* SPDX-License-Identifier: MIT */
/* What a run keeps of a flow beside its entry in the flow table, also while it is idle. */
#ifndef RUN_RUN_FLOW_H
#define RUN_RUN_FLOW_H

#include "app/app_messages.h"
#include "stream/stream.h"

/* The names that are cut off: of each side the first block of its bytes; 0: there are none. */
struct name_side {
    uint16_t carry[2];
};

/* Zeroed at first. */
struct run_flow {
    _Alignas(64) struct stream stream;
    struct app_slot app;
    struct name_side names;
};
_Static_assert(sizeof(struct run_flow) == 128, "an idle flow is two cache lines");

/* The flow that the stream of a record is of. */
static inline struct run_flow *run_flow_of(struct stream *stream)
{
    return (struct run_flow *)stream;
}

#endif
