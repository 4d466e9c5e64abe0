/* SPDX-License-Identifier: MIT */
/* Bytes of a body, copied once: messages point to where they are. Memory with such bytes is left to
 * the batch when the body ends or grows out of it. A shard takes it back with the batch after. */
#ifndef APP_BODY_H
#define APP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    size_t len; /* bytes */
};

/* Zeroed at first. */
struct app_body {
    struct app_block *block; /* NULL: it is empty */
    uint32_t len;
    bool is_shown; /* a message points into the block */
};

/* Appends bytes, up to SL_APP_BODY_MAX in all. `left` is of the batch. False: no memory. */
bool app_body_add(struct app_body *body, struct app_blocks *blocks, struct app_block **left,
                  const uint8_t *bytes, uint32_t len);

/* The body becomes empty. */
void app_body_end(struct app_body *body, struct app_blocks *blocks, struct app_block **left);

uint32_t app_body_held(const struct app_body *body); /* bytes */

/* No message points into what was left any more. */
void app_blocks_take_back(struct app_blocks *blocks, struct app_block **left);

void app_blocks_free(struct app_blocks *blocks);
void app_blocks_free_left(struct app_block *left);

#endif
