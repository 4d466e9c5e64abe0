/* SPDX-License-Identifier: MIT */
/* The blocks of contexts that were drawn, and the bytes in them. */
#ifndef STREAM_STREAM_CONTEXT_H
#define STREAM_STREAM_CONTEXT_H

#include "stream_half.h"

static inline struct stream_context *stream_context_at(const struct stream_shard *shard,
                                                       uint32_t context)
{
    return (struct stream_context *)stream_block_at(&shard->arena, context);
}

/* Draws the block of a context without bytes, which was counted. */
uint32_t stream_context_begin(struct stream_shard *shard);

/* Returns or retires the blocks of a context. They stay counted. */
void stream_context_return(struct stream_shard *shard, uint32_t context);

#endif
