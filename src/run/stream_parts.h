/* SPDX-License-Identifier: MIT */
/* Records of a shard become the parts of its packets. */
#ifndef RUN_STREAM_PARTS_H
#define RUN_STREAM_PARTS_H

#include "run_streams.h"

/* Fills the parts of a shard that was collected, and lists them. */
void stream_parts_list(struct stream_batch *mine, const struct sl_batch *batch, uint32_t shard);

/* Returns the memory that was lent for the shard's records. Where records are kept, those in it
 * move to the batch's room, or, where that is full, to memory of the output. */
void stream_parts_keep(struct stream_batch *mine, uint32_t shard);

#endif
