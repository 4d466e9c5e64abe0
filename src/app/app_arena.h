/* SPDX-License-Identifier: MIT */
/* Memory that is taken in small parts and given back all at once. Zeroed at first. Parts stay where
 * they are. The memory is kept from use to use. */
#ifndef APP_ARENA_H
#define APP_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct app_chunk;

struct app_arena {
    struct app_chunk *first, *now; /* those behind `now` are empty */
};

/* len bytes, aligned to 8. NULL: there is no memory. */
void *app_arena_take(struct app_arena *arena, size_t len);

/* All parts are given back. */
void app_arena_reset(struct app_arena *arena);

void app_arena_free(struct app_arena *arena);

#endif
