/* SPDX-License-Identifier: MIT */
#include "stream_shard.h"

static struct stream_holder *holder_at(const struct stream_shard *shard, uint32_t index)
{
    return (struct stream_holder *)stream_block_at(&shard->arena, index);
}

void stream_holder_append(struct stream_shard *shard, struct stream_holders *list, uint32_t index)
{
    struct stream_holder *holder = holder_at(shard, index);

    holder->older = list->newest;
    holder->newer = 0;
    if (list->newest != 0)
        holder_at(shard, list->newest)->newer = index;
    else
        list->oldest = index;
    list->newest = index;
}

void stream_holder_remove(struct stream_shard *shard, struct stream_holders *list, uint32_t index)
{
    const struct stream_holder *holder = holder_at(shard, index);

    if (holder->older != 0)
        holder_at(shard, holder->older)->newer = holder->newer;
    else
        list->oldest = holder->newer;
    if (holder->newer != 0)
        holder_at(shard, holder->newer)->older = holder->older;
    else
        list->newest = holder->older;
}

void stream_holder_replace(struct stream_shard *shard, struct stream_holders *list, uint32_t index,
                           uint32_t copy)
{
    const struct stream_holder *holder = holder_at(shard, index);

    if (holder->older != 0)
        holder_at(shard, holder->older)->newer = copy;
    else
        list->oldest = copy;
    if (holder->newer != 0)
        holder_at(shard, holder->newer)->older = copy;
    else
        list->newest = copy;
}
