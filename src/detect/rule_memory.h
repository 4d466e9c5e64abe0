/* SPDX-License-Identifier: MIT */
/* Memory of a rule set: an arena that lives as long as the set, arrays that grow, and a map by
 * bytes. */
#ifndef DETECT_RULE_MEMORY_H
#define DETECT_RULE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct rule_arena {
    struct rule_chunk *chunk; /* the newest; NULL: empty */
};

struct rule_mark {
    struct rule_chunk *chunk;
    size_t used;
};

/* Zeroed, aligned for any type; NULL: no memory. */
void *rule_arena_alloc(struct rule_arena *arena, size_t len);

/* A copy of the array, or of the text with a NUL behind it; NULL: no memory. */
void *rule_arena_copy(struct rule_arena *arena, const void *bytes, size_t len);
char *rule_arena_text(struct rule_arena *arena, const char *text, size_t len);

/* Releases all memory that was taken since the mark. */
struct rule_mark rule_arena_mark(const struct rule_arena *arena);
void rule_arena_release(struct rule_arena *arena, struct rule_mark mark);

void rule_arena_free(struct rule_arena *arena);

/* Where `array` (malloc'ed, or NULL) lies when there is room for one more element behind the n that
 * it holds. NULL: no memory; the array stays as it is. */
void *rule_grow(void *array, size_t *cap, size_t n, size_t element_len);

/* Keys are not copied; they, and the values, live as long as the map. */
struct rule_map {
    struct rule_slot *slot;
    size_t n_slots; /* 0 or a power of two */
    size_t n_used;
};

/* The key's value; NULL: not there. */
void *rule_map_get(const struct rule_map *map, const void *key, size_t key_len);

/* Adds a key, or gives a known one another value (not NULL). False: no memory. */
bool rule_map_put(struct rule_map *map, const void *key, size_t key_len, void *value);

/* Forgets all keys. */
void rule_map_free(struct rule_map *map);

#endif
