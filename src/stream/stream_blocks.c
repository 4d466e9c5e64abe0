/* SPDX-License-Identifier: MIT */
/* Chains of blocks, and lists of those who hold them. */
#include <string.h>

#include "stream_shard.h"

uint32_t stream_blocks_take(struct stream_shard *shard, uint32_t n)
{
    uint32_t first = 0;

    if (n > shard->n_free)
        return 0;
    shard->n_free -= n;
    while (n-- > 0) {
        uint32_t index = shard->free;

        if (index != 0)
            shard->free = stream_block_at(shard, index)->data.next_block;
        else
            index = shard->n_used++;
        stream_block_at(shard, index)->data.next_block = first;
        first = index;
    }

    struct stream_piece *head = &stream_block_at(shard, first)->first.piece;

    *head = (struct stream_piece){.next_block = head->next_block};
    return first;
}

void stream_blocks_give(struct stream_shard *shard, uint32_t first)
{
    while (first != 0) {
        struct stream_block *block = stream_block_at(shard, first);
        const uint32_t next = block->data.next_block;

        block->data.next_block = shard->free;
        shard->free = first;
        shard->n_free++;
        first = next;
    }
}

struct stream_cursor stream_cursor_at(const struct stream_shard *shard, uint32_t first, uint32_t at)
{
    uint32_t head = STREAM_HEAD_LEN;

    while (at >= STREAM_BLOCK_LEN - head) {
        at -= STREAM_BLOCK_LEN - head;
        head = STREAM_NEXT_LEN;
        first = stream_block_at(shard, first)->data.next_block;
    }
    return (struct stream_cursor){first, head + at};
}

uint8_t *stream_cursor_next(const struct stream_shard *shard, struct stream_cursor *cursor,
                            uint32_t max_len, uint32_t *len)
{
    struct stream_block *block = stream_block_at(shard, cursor->block);
    const uint32_t rest = STREAM_BLOCK_LEN - cursor->at;
    uint8_t *bytes = block->all + cursor->at;

    *len = rest < max_len ? rest : max_len;
    cursor->at += *len;
    if (cursor->at == STREAM_BLOCK_LEN)
        *cursor = (struct stream_cursor){block->data.next_block, STREAM_NEXT_LEN};
    return bytes;
}

void stream_blocks_write(const struct stream_shard *shard, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(shard, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        uint8_t *to = stream_cursor_next(shard, &cursor, len, &part);

        memcpy(to, bytes, part);
    }
}

void stream_blocks_read(const struct stream_shard *shard, uint32_t first, uint32_t at,
                        uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(shard, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        const uint8_t *from = stream_cursor_next(shard, &cursor, len, &part);

        memcpy(bytes, from, part);
    }
}

bool stream_blocks_equal(const struct stream_shard *shard, uint32_t first, uint32_t at,
                         const uint8_t *bytes, uint32_t len)
{
    struct stream_cursor cursor = stream_cursor_at(shard, first, at);

    for (uint32_t part; len != 0; bytes += part, len -= part) {
        const uint8_t *held = stream_cursor_next(shard, &cursor, len, &part);

        if (memcmp(held, bytes, part) != 0)
            return false;
    }
    return true;
}

void stream_holder_append(struct stream_shard *shard, struct stream_holders *list, uint32_t index)
{
    struct stream_holder *holder = &stream_block_at(shard, index)->holder;

    holder->older = list->newest;
    holder->newer = 0;
    if (list->newest != 0)
        stream_block_at(shard, list->newest)->holder.newer = index;
    else
        list->oldest = index;
    list->newest = index;
}

void stream_holder_remove(struct stream_shard *shard, struct stream_holders *list, uint32_t index)
{
    const struct stream_holder *holder = &stream_block_at(shard, index)->holder;

    if (holder->older != 0)
        stream_block_at(shard, holder->older)->holder.newer = holder->newer;
    else
        list->oldest = holder->newer;
    if (holder->newer != 0)
        stream_block_at(shard, holder->newer)->holder.older = holder->older;
    else
        list->newest = holder->older;
}
