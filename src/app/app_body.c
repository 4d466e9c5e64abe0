/* SPDX-License-Identifier: MIT */
#include "app_body.h"

#include <stdlib.h>
#include <string.h>

#include "sluice/app.h"

enum {
    LEN_MIN = 256,                 /* bytes of a block; each size is twice the one before, */
    LARGEST = APP_BLOCK_SIZES - 1, /* but for this one, which has room for each body */
    FREE_MAX = 1 << 20             /* bytes that a shard keeps */
};

/* Steps of a body are shown in a block that it never grows out of: none is copied once more. */
_Static_assert(LEN_MIN << (LARGEST - 1) < SL_APP_BODY_STEP, "steps are shown in the largest");

static size_t len_of(uint32_t size)
{
    return size == LARGEST ? (size_t)SL_APP_BODY_MAX : (size_t)LEN_MIN << size;
}

static struct app_block *take(struct app_blocks *blocks, uint32_t size)
{
    struct app_block *block = blocks->first[size];

    if (block != NULL) {
        blocks->first[size] = block->next;
        blocks->len -= len_of(size);
        return block;
    }
    block = malloc(sizeof *block + len_of(size));
    if (block != NULL)
        block->size = size;
    return block;
}

static void give(struct app_blocks *blocks, struct app_block *block)
{
    const size_t len = len_of(block->size);

    if (blocks->len + len > FREE_MAX) {
        free(block);
        return;
    }
    block->next = blocks->first[block->size];
    blocks->first[block->size] = block;
    blocks->len += len;
}

static void leave(struct app_body *body, struct app_blocks *blocks, struct app_block **left)
{
    struct app_block *const block = body->block;

    if (!body->is_shown) {
        give(blocks, block);
        return;
    }
    block->next = *left;
    *left = block;
    body->is_shown = false;
}

static uint32_t size_of(size_t len)
{
    uint32_t size = 0;

    while (len_of(size) < len)
        size++;
    return size;
}

/* ---- bytes in packets ------------------------------------------------------------------------ */

bool app_body_lend(struct app_body *body, struct app_blocks *blocks, struct app_arena *arena,
                   const uint8_t *bytes, uint32_t len)
{
    struct sl_app_part *part = app_arena_take(arena, sizeof *part);

    if (part == NULL)
        return false;
    *part = (struct sl_app_part){NULL, bytes, len};
    if (body->part != NULL) {
        body->last->next = part;
    } else {
        body->part = part;
        body->link = &blocks->in_packets;
        body->next = blocks->in_packets;
        if (body->next != NULL)
            body->next->link = &body->next;
        blocks->in_packets = body;
    }
    body->last = part;
    body->len += len;
    return true;
}

/* The body has no parts any more. */
static void unlist(struct app_body *body)
{
    if (body->part == NULL)
        return;
    *body->link = body->next;
    if (body->next != NULL)
        body->next->link = body->link;
    body->part = body->last = NULL;
}

void app_parts_read(const struct sl_app_part *part, uint32_t from, uint32_t len, uint8_t *to)
{
    for (; len != 0; part = part->next) {
        if (from >= part->len) {
            from -= part->len;
            continue;
        }
        const uint32_t n = len < part->len - from ? len : part->len - from;

        memcpy(to, part->bytes + from, n);
        to += n;
        len -= n;
        from = 0;
    }
}

bool app_body_gather(struct app_body *body, struct app_blocks *blocks)
{
    const struct sl_app_part *const part = body->part;

    if (part == NULL)
        return true;
    unlist(body);
    body->block = take(blocks, size_of(body->len));
    if (body->block == NULL) {
        body->len = 0;
        return false;
    }
    app_parts_read(part, 0, body->len, body->block->bytes);
    return true;
}

/* ---- bytes in blocks ------------------------------------------------------------------------- */

bool app_body_add(struct app_body *body, struct app_blocks *blocks, struct app_block **left,
                  const uint8_t *bytes, uint32_t len)
{
    if (!app_body_gather(body, blocks))
        return false;
    const uint32_t size = size_of((size_t)body->len + len);

    if (body->block == NULL || size != body->block->size) {
        struct app_block *const block = take(blocks, size);

        if (block == NULL)
            return false;
        if (body->block != NULL) {
            memcpy(block->bytes, body->block->bytes, body->len);
            leave(body, blocks, left);
        }
        body->block = block;
    }
    memcpy(body->block->bytes + body->len, bytes, len);
    body->len += len;
    return true;
}

void app_body_end(struct app_body *body, struct app_blocks *blocks, struct app_block **left)
{
    unlist(body);
    if (body->block != NULL)
        leave(body, blocks, left);
    *body = (struct app_body){0};
}

uint32_t app_body_held(const struct app_body *body)
{
    return body->len != 0 ? (uint32_t)len_of(size_of(body->len)) : 0;
}

void app_blocks_take_back(struct app_blocks *blocks, struct app_block **left)
{
    while (*left != NULL) {
        struct app_block *const block = *left;

        *left = block->next;
        give(blocks, block);
    }
}

void app_blocks_free_left(struct app_block *left)
{
    while (left != NULL) {
        struct app_block *const next = left->next;

        free(left);
        left = next;
    }
}

void app_blocks_free(struct app_blocks *blocks)
{
    for (int size = 0; size < APP_BLOCK_SIZES; size++)
        app_blocks_free_left(blocks->first[size]);
}
