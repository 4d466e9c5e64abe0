/* SPDX-License-Identifier: MIT */
/* Where bytes occur in others. */
#ifndef DETECT_CONTENT_FIND_H
#define DETECT_CONTENT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_NOWHERE SIZE_MAX

/* The sought content: len bytes, lower case where case does not count. */
struct content_sought {
    const uint8_t *bytes;
    uint32_t len; /* from 1 on */
    bool nocase;
};

/* Whether it begins at this place, which has len bytes. */
bool content_is_at(const struct content_sought *sought, const uint8_t *text);

/* A search for all places, forward. It knows the places in a block of 16. */
struct content_search {
    struct content_sought sought;
    const uint8_t *text;
    size_t n_places; /* where it could begin */
    size_t block, n_block;
    uint32_t found;  /* in the block, a bit each */
    uint64_t effort; /* of all comparisons so far; a unit is 1 to 2 ns */
    uint64_t most;   /* a search that takes more ends */
};

void content_search_begin(struct content_search *search, const struct content_sought *sought,
                          const uint8_t *text, size_t n, uint64_t most);

/* The first place at or behind `from`, or CONTENT_NOWHERE. `from` is never below that of a call
 * before. */
size_t content_search_next(struct content_search *search, size_t from);

/* Marks all places from `from` on: place i is bit i % 64 of places[i / 64]. The search needs no
 * place that it found before. */
void content_search_mark(struct content_search *search, size_t from, uint64_t *places);

/* Whether it ended because of its effort. */
bool content_search_stopped(const struct content_search *search);

#endif
