/* SPDX-License-Identifier: MIT */
/* Bytes of a body. In its first batch they lie in packets, where all of them do: then they are not
 * copied. Else they are in a block, and messages point there. Memory with such bytes is left to the
 * batch when the body ends or grows out of it. A shard takes it back with the batch after. */
#ifndef APP_BODY_H
#define APP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app_arena.h"
#include "sluice/app.h"

enum { APP_BLOCK_SIZES = 8 };

struct app_block {
    struct app_block *next;
    uint32_t size; /* below APP_BLOCK_SIZES */
    uint8_t bytes[];
};

/* Free memory of a shard, at most 1 MiB. Neither it nor what was left counts as held. Zeroed at
 * first. */
struct app_blocks {
    struct app_block *first[APP_BLOCK_SIZES];
    size_t len;                  /* bytes */
    struct app_body *in_packets; /* a list */
};

/* Zeroed at first. */
struct app_body {
    struct app_block *block; /* NULL: it is empty, or lies in packets */
    uint32_t len;
    bool is_shown;                   /* a message points into the block */
    struct sl_app_part *part, *last; /* of packets; NULL: it is empty, or has a block */
    struct app_body *next, **link;   /* among those in packets */
};

/* Appends bytes of a packet to a body without a block. False: no memory. */
bool app_body_lend(struct app_body *body, struct app_blocks *blocks, struct app_arena *arena,
                   const uint8_t *bytes, uint32_t len);

/* Copies bytes that lie in packets into a block. False: no memory; the body is empty. */
bool app_body_gather(struct app_body *body, struct app_blocks *blocks);

/* Copies bytes [from, from + len) of parts. */
void app_parts_read(const struct sl_app_part *part, uint32_t from, uint32_t len, uint8_t *to);

/* Appends bytes, up to SL_APP_BODY_MAX in all. `left` is of the batch. False: no memory. */
bool app_body_add(struct app_body *body, struct app_blocks *blocks, struct app_block **left,
                  const uint8_t *bytes, uint32_t len);

/* The body becomes empty. */
void app_body_end(struct app_body *body, struct app_blocks *blocks, struct app_block **left);

/* Bytes; those in packets count as those in a block. */
uint32_t app_body_held(const struct app_body *body);

/* No message points into what was left any more. */
void app_blocks_take_back(struct app_blocks *blocks, struct app_block **left);

void app_blocks_free(struct app_blocks *blocks);
void app_blocks_free_left(struct app_block *left);

#endif
